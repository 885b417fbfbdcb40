// restride for C++17: what restride.h has, owned, with exceptions instead of statuses.
#ifndef RESTRIDE_HPP
#define RESTRIDE_HPP

#include "restride.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace restride {

// What went wrong, in words and as restride_failure has it.
class Error : public std::runtime_error {
 public:
  explicit Error(const restride_failure &of)
      : std::runtime_error(of.message ? of.message : "unknown"),
        status(of.status),
        label(of.label ? of.label : ""),
        position(of.position),
        value(of.value),
        limit(of.limit) {}

  restride_status status;
  std::string label;
  std::int64_t position, value, limit;
};

namespace detail {

inline void check(restride_status status) {
  if (status != RESTRIDE_OK) {
    restride_failure failure = RESTRIDE_INIT(restride_failure);
    restride_last_failure(&failure);
    failure.status = status;
    throw Error(failure);
  }
}

struct Destroy {
  void operator()(restride_engine *it) const { restride_engine_destroy(it); }
  void operator()(restride_template *it) const { restride_template_destroy(it); }
  void operator()(restride_program *it) const { restride_program_destroy(it); }
};

template <class Read>
std::string text(Read read) {
  std::size_t needed = 0;
  check(read(nullptr, 0, &needed));
  std::string text(needed, '\0');
  check(read(text.data(), needed + 1, &needed));
  return text;
}

}  // namespace detail

// Memory that a program reads or writes: elements in a row.
struct Buffer {
  void *data = nullptr;
  std::size_t bytes = 0;

  Buffer() = default;
  Buffer(void *data, std::size_t bytes) : data(data), bytes(bytes) {}
  Buffer(const void *data, std::size_t bytes) : data(const_cast<void *>(data)), bytes(bytes) {}
  // Anything with data() and size(): vectors, arrays, strings, spans.
  template <class Container, class = decltype(std::declval<Container &>().data())>
  Buffer(Container &&of)  // NOLINT: meant to be implicit
      : Buffer(of.data(), of.size() * sizeof(*of.data())) {}
};
static_assert(sizeof(Buffer) == sizeof(restride_buffer), "one is passed for the other");

// The shape of an input, and if it is not dense its layout.
struct Shape {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // empty is dense and row-major
  std::int64_t offset = 0;
};

// A compiled program; cheap to move, and to be called from any thread.
class Program {
 public:
  std::size_t inputs() const { return restride_program_input_count(it_.get()); }
  std::size_t outputs() const { return restride_program_output_count(it_.get()); }

  // Counts what a call moves: nothing for every call.
  restride_summary summary() const {
    restride_summary summary = RESTRIDE_INIT(restride_summary);
    detail::check(restride_program_summary(it_.get(), &summary));
    return summary;
  }
  restride_tensor input(std::size_t n) const {
    restride_tensor tensor = RESTRIDE_INIT(restride_tensor);
    detail::check(restride_program_input(it_.get(), n, &tensor));
    return tensor;
  }
  restride_tensor output(std::size_t n) const {
    restride_tensor tensor = RESTRIDE_INIT(restride_tensor);
    detail::check(restride_program_output(it_.get(), n, &tensor));
    return tensor;
  }

  // The loops that run.
  std::string kernel() const { return text(RESTRIDE_TEXT_KERNEL); }
  std::string assembly() const { return text(RESTRIDE_TEXT_ASSEMBLY); }

  // A buffer for each input and each output; those of outputs that are views are not looked at.
  void run(const std::vector<Buffer> &inputs, const std::vector<Buffer> &outputs) const {
    detail::check(restride_program_run(it_.get(), raw(inputs), inputs.size(), raw(outputs), outputs.size()));
  }

  // The same, shared out by `pool(count, body)`, which calls body(n) for every n below count on any
  // threads, `width` at a time, and returns when all have returned. It must not throw.
  template <class Pool>
  void run_on(const std::vector<Buffer> &inputs, const std::vector<Buffer> &outputs, std::size_t width, Pool &&pool) const {
    auto run = [](void *user, std::size_t count, restride_body body, void *context) {
      auto &pool = *static_cast<std::remove_reference_t<Pool> *>(user);
      pool(count, [=](std::size_t n) { body(context, n); });
    };
    detail::check(restride_program_run_on(it_.get(), raw(inputs), inputs.size(), raw(outputs), outputs.size(), width, run,
                                          const_cast<void *>(static_cast<const void *>(&pool))));
  }

  // Asks `allocate(output, tensor)` for a Buffer for each output that is no view, and answers with a
  // buffer for every output: what was given, or the input that it is a view of. What it throws is
  // thrown again.
  template <class Allocate>
  std::vector<Buffer> run_with(const std::vector<Buffer> &inputs, Allocate &&allocate) const {
    struct Ask {
      Allocate &allocate;
      std::exception_ptr thrown;
    } ask{allocate, nullptr};
    auto give = [](void *user, std::size_t output, const restride_tensor *tensor, restride_buffer *buffer) -> restride_status {
      auto &ask = *static_cast<Ask *>(user);
      try {
        Buffer given = ask.allocate(output, *tensor);
        *buffer = {given.data, given.bytes};
        return RESTRIDE_OK;
      } catch (...) {
        ask.thrown = std::current_exception();
        return RESTRIDE_CALLBACK;
      }
    };
    std::vector<Buffer> answers(outputs());
    restride_status status = restride_program_run_with(it_.get(), raw(inputs), inputs.size(), give, &ask,
                                                       reinterpret_cast<restride_buffer *>(answers.data()), answers.size());
    if (ask.thrown) std::rethrow_exception(ask.thrown);
    detail::check(status);
    return answers;
  }

  const restride_program *get() const { return it_.get(); }

 private:
  friend class Engine;
  explicit Program(restride_program *it) : it_(it) {}

  static const restride_buffer *raw(const std::vector<Buffer> &buffers) {
    return reinterpret_cast<const restride_buffer *>(buffers.data());
  }
  std::string text(std::uint32_t what) const {
    return detail::text([&](char *buffer, std::size_t capacity, std::size_t *needed) {
      return restride_program_text(it_.get(), what, buffer, capacity, needed);
    });
  }

  std::unique_ptr<restride_program, detail::Destroy> it_;
};

// A program whose input shapes are known when it runs.
class Template {
 public:
  explicit Template(std::string_view text) {
    restride_template *made = nullptr;
    detail::check(restride_template_create(text.data(), text.size(), &made));
    it_.reset(made);
  }

 private:
  friend class Engine;
  std::unique_ptr<restride_template, detail::Destroy> it_;
};

inline restride_config default_config() {
  restride_config config = RESTRIDE_INIT(restride_config);
  detail::check(restride_config_default(&config));
  return config;
}

// Compiles and remembers; to be used from any thread.
class Engine {
 public:
  Engine() : Engine(default_config()) {}
  explicit Engine(const restride_config &config) {
    restride_engine *made = nullptr;
    detail::check(restride_engine_create(&config, &made));
    it_.reset(made);
  }

  Program compile(std::string_view text) const {
    restride_program *made = nullptr;
    detail::check(restride_engine_compile(it_.get(), text.data(), text.size(), &made));
    return Program(made);
  }

  Program specialise(const Template &node, const std::vector<Shape> &shapes) const {
    std::vector<restride_shape> raw;
    raw.reserve(shapes.size());
    for (const Shape &shape : shapes) {
      if (!shape.strides.empty() && shape.strides.size() != shape.sizes.size())
        throw std::invalid_argument("a shape has as many strides as sizes, or none");
      raw.push_back({shape.sizes.size(), shape.sizes.data(), shape.strides.empty() ? nullptr : shape.strides.data(), shape.offset});
    }
    restride_program *made = nullptr;
    detail::check(restride_engine_specialise(it_.get(), node.it_.get(), raw.data(), raw.size(), &made));
    return Program(made);
  }

  void settle(const Program &program) const { detail::check(restride_engine_settle(it_.get(), program.get())); }
  void clear() const { detail::check(restride_engine_clear(it_.get())); }
  void stop_background() const { detail::check(restride_engine_stop_background(it_.get())); }
  restride_stats stats() const {
    restride_stats stats = RESTRIDE_INIT(restride_stats);
    detail::check(restride_engine_stats(it_.get(), &stats));
    return stats;
  }

 private:
  std::unique_ptr<restride_engine, detail::Destroy> it_;
};

}  // namespace restride

#endif

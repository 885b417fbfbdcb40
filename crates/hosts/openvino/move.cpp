// restride as an operator of OpenVINO: `Move` of the version `restride`, which `restride rewrite` puts in
// the place of a model's movement. Its attribute `program` is a graph in restride's text form, whose
// input shapes are samples: every shape that comes along is specialised once and kept.
//
// build.sh makes librestride_openvino.so of it, which `core.add_extension(path)` loads.
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/op/op.hpp>

// The threads of a plugin that was built with TBB, as those are that Intel distributes.
#if __has_include(<tbb/parallel_for.h>)
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#define HAS_TBB 1
#endif

#include <algorithm>

#include "restride.hpp"

namespace {

using ov::element::Type;

// The programs of all nodes. Nothing of it has machine code before it has come often enough.
const restride::Engine &engine() {
  static const restride::Engine engine([] {
    restride_config config = restride::default_config();
    // Outputs are memory of OpenVINO's.
    config.views = RESTRIDE_VIEWS_COPY;
    return config;
  }());
  return engine;
}

// For shapes that are only asked about.
const restride::Engine &sketches() {
  static const restride::Engine engine([] {
    restride_config config = restride::default_config();
    config.code = RESTRIDE_CODE_GENERIC;
    config.views = RESTRIDE_VIEWS_COPY;
    return config;
  }());
  return engine;
}

// Calls that write less are not worth a second thread.
constexpr std::size_t SHARED = 1 << 17;

// A call on as many threads as the plugin has for it.
void run(const restride::Program &program, const std::vector<restride::Buffer> &from, const std::vector<restride::Buffer> &to) {
#ifdef HAS_TBB
  std::size_t written = 0;
  for (const restride::Buffer &buffer : to) written += buffer.bytes;
  const int threads = tbb::this_task_arena::max_concurrency();
  if (written >= SHARED && threads > 1) {
    program.run_on(from, to, std::size_t(threads), [](std::size_t count, auto body) {
      // It may have no memory for a task; then the call says that it is incomplete.
      try {
        tbb::parallel_for(std::size_t(0), count, body);
      } catch (...) {
      }
    });
    return;
  }
#endif
  program.run(from, to);
}

// Elements by the words of the text form.
struct Element {
  std::uint32_t element;
  const char *word;
  Type type;
};

const Element elements[] = {
    {RESTRIDE_BOOL, "bool", ov::element::boolean},   {RESTRIDE_I8, "i8", ov::element::i8},
    {RESTRIDE_U8, "u8", ov::element::u8},            {RESTRIDE_F8E4M3, "f8e4m3", ov::element::f8e4m3},
    {RESTRIDE_F8E5M2, "f8e5m2", ov::element::f8e5m2}, {RESTRIDE_F8E8M0, "f8e8m0", ov::element::f8e8m0},
    {RESTRIDE_I16, "i16", ov::element::i16},         {RESTRIDE_U16, "u16", ov::element::u16},
    {RESTRIDE_F16, "f16", ov::element::f16},         {RESTRIDE_BF16, "bf16", ov::element::bf16},
    {RESTRIDE_I32, "i32", ov::element::i32},         {RESTRIDE_U32, "u32", ov::element::u32},
    {RESTRIDE_F32, "f32", ov::element::f32},         {RESTRIDE_I64, "i64", ov::element::i64},
    {RESTRIDE_U64, "u64", ov::element::u64},         {RESTRIDE_F64, "f64", ov::element::f64},
};

// An element by its number or its type; a null pointer if OpenVINO or restride has none such.
template <class Is>
const Element *element(Is is) {
  const auto found = std::find_if(std::begin(elements), std::end(elements), is);
  return found == std::end(elements) ? nullptr : found;
}

// A program for other elements than those that it was written for: a plugin may turn a model's halves into
// floats before it runs. Nothing is changed of what a program does, but numbers that it holds are bits.
std::string retyped(const std::string &text, const std::vector<std::pair<const Element *, const Element *>> &changes) {
  bool floats = false;
  for (const auto &[from, to] : changes) floats |= from->type.is_real() && from != to;
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(';
    const std::string number = "constant ";
    if (begins && floats && text.compare(at, number.size(), number) == 0 && text.compare(at + number.size(), 2, "0 ") != 0 &&
        text.compare(at + number.size(), 2, "0\n") != 0 && text[at + number.size()] != 'i' && text[at + number.size()] != 'u')
      OPENVINO_THROW("Move: the numbers of its program would be other ones as other elements");
    const Element *found = nullptr;
    for (const auto &[from, to] : changes) {
      const std::string word = std::string(from->word) + "[";
      if (begins && text.compare(at, word.size(), word) == 0) {
        made += to->word;
        at += word.size() - 1;
        found = to;
        break;
      }
    }
    if (!found) made += text[at++];
  }
  return made;
}

std::vector<std::int64_t> sizes_of(const restride_tensor &tensor) {
  return {tensor.sizes, tensor.sizes + tensor.rank};
}

// The sizes of a program's outputs for these inputs.
using Sizes = std::vector<std::vector<std::int64_t>>;

Sizes outputs_for(const restride::Template &node, const Sizes &inputs) {
  std::vector<restride::Shape> shapes;
  for (const auto &sizes : inputs) shapes.push_back({sizes, {}, 0});
  const restride::Program program = sketches().specialise(node, shapes);
  Sizes outputs;
  for (std::size_t at = 0; at < program.outputs(); ++at) outputs.push_back(sizes_of(program.output(at)));
  return outputs;
}

// What a program makes of sizes that are open is seen by trying some: what is the same for all of them
// does not depend on them. Open sizes that are equal in the program's samples are taken to stay equal.
std::vector<ov::PartialShape> outputs_for(const restride::Template &node, const Sizes &samples,
                                          const std::vector<ov::PartialShape> &inputs) {
  Sizes known = samples;
  std::vector<std::int64_t> open;
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    for (std::size_t axis = 0; axis < known[at].size(); ++axis) {
      const ov::Dimension &size = inputs[at][axis];
      if (size.is_static()) {
        known[at][axis] = size.get_length();
      } else if (std::find(open.begin(), open.end(), known[at][axis]) == open.end()) {
        open.push_back(known[at][axis]);
      }
    }
  }
  std::vector<ov::PartialShape> shapes;
  const auto meet = [&](const Sizes &outputs) {
    if (shapes.empty()) {
      shapes.assign(outputs.begin(), outputs.end());
      return;
    }
    for (std::size_t at = 0; at < outputs.size(); ++at) {
      for (std::size_t axis = 0; axis < outputs[at].size(); ++axis) {
        ov::Dimension &size = shapes[at][axis];
        if (size.is_static() && size.get_length() != outputs[at][axis]) size = ov::Dimension::dynamic();
      }
    }
  };
  // Of sizes that are given, all have to fit.
  if (open.empty()) {
    meet(outputs_for(node, known));
    return shapes;
  }
  const auto attempt = [&](std::int64_t sample, std::int64_t size) {
    Sizes tried = known;
    for (std::size_t at = 0; at < inputs.size(); ++at) {
      for (std::size_t axis = 0; axis < tried[at].size(); ++axis) {
        if (inputs[at][axis].is_dynamic() && samples[at][axis] == sample) tried[at][axis] = size;
      }
    }
    try {
      meet(outputs_for(node, tried));
    } catch (const restride::Error &) {
      // That size cannot come along.
    }
  };
  for (std::int64_t sample : open) {
    const std::int64_t step = std::max<std::int64_t>(sample, 1);
    for (std::int64_t size : {sample, sample + 1, step * 2, step * 3, std::int64_t(1), std::int64_t(2)}) attempt(sample, size);
  }
  return shapes;
}

class Move : public ov::op::Op {
 public:
  OPENVINO_OP("Move", "restride");

  Move() = default;
  Move(const ov::OutputVector &inputs, const std::string &text) : Op(inputs), text(text) { constructor_validate_and_infer_types(); }

  void validate_and_infer_types() override {
    try {
      infer();
    } catch (const restride::Error &error) {
      NODE_VALIDATION_CHECK(this, false, error.what());
    }
  }

  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector &inputs) const override {
    return std::make_shared<Move>(inputs, text);
  }

  bool visit_attributes(ov::AttributeVisitor &visitor) override {
    visitor.on_attribute("program", text);
    return true;
  }

  bool has_evaluate() const override { return true; }

  bool evaluate(ov::TensorVector &outputs, const ov::TensorVector &inputs) const override {
    // Null until the text has been seen, and for ever the same after that.
    OPENVINO_ASSERT(node, "Move has no program");
    try {
      std::vector<restride::Shape> shapes;
      std::vector<restride::Buffer> from, to;
      for (const ov::Tensor &input : inputs) {
        const ov::Shape &shape = input.get_shape();
        shapes.push_back({{shape.begin(), shape.end()}, {}, 0});
        from.emplace_back(data(input), input.get_byte_size());
      }
      const restride::Program program = engine().specialise(*node, shapes);
      OPENVINO_ASSERT(outputs.size() == program.outputs(), "Move has another number of outputs");
      for (std::size_t at = 0; at < outputs.size(); ++at) {
        const auto sizes = sizes_of(program.output(at));
        outputs[at].set_shape(ov::Shape(sizes.begin(), sizes.end()));
        to.emplace_back(data(outputs[at]), outputs[at].get_byte_size());
      }
      run(program, from, to);
    } catch (const restride::Error &error) {
      OPENVINO_THROW("Move: ", error.what());
    }
    return true;
  }

 private:
  // Of a tensor without elements, too.
  static void *data(const ov::Tensor &tensor) {
    static char nothing[64];
    return tensor.get_byte_size() == 0 ? nothing : const_cast<void *>(static_cast<const void *>(tensor.data()));
  }

  // The program for the elements at hand.
  void read() {
    std::vector<const Element *> now;
    for (const auto &input : input_values()) {
      const Type type = input.get_element_type();
      now.push_back(element([&](const Element &it) { return it.type == type; }));
    }
    if (node && now == given) return;
    restride::Program sample = sketches().compile(text);
    NODE_VALIDATION_CHECK(this, now.size() == sample.inputs(), "it has ", now.size(), " inputs, its program ", sample.inputs());
    std::vector<std::pair<const Element *, const Element *>> changes;
    bool changed = false;
    for (std::size_t at = 0; at < now.size(); ++at) {
      const std::uint32_t number = sample.input(at).element;
      const Element *from = element([&](const Element &it) { return it.element == number; });
      NODE_VALIDATION_CHECK(this, from, "input ", at, " of its program has elements that OpenVINO does not know");
      // One that is not known yet is taken to be what the program says.
      const Element *to = now[at] ? now[at] : from;
      NODE_VALIDATION_CHECK(this, now[at] || get_input_element_type(at).is_dynamic(), "input ", at, " has elements ", get_input_element_type(at));
      for (const auto &[other, made] : changes) {
        NODE_VALIDATION_CHECK(this, other != from || made == to, "inputs of one type have become inputs of several");
      }
      changes.emplace_back(from, to);
      changed |= from != to;
    }
    const std::string made = changed ? retyped(text, changes) : text;
    if (changed) sample = sketches().compile(made);
    node = std::make_shared<restride::Template>(made);
    given = now;
    samples.clear();
    to.clear();
    ranks.clear();
    for (std::size_t at = 0; at < sample.inputs(); ++at) samples.push_back(sizes_of(sample.input(at)));
    for (std::size_t at = 0; at < sample.outputs(); ++at) {
      const restride_tensor output = sample.output(at);
      const Element *of = element([&](const Element &it) { return it.element == output.element; });
      to.push_back(of ? of->type : ov::element::dynamic);
      ranks.push_back(static_cast<std::int64_t>(output.rank));
    }
  }

  void infer() {
    read();
    std::vector<ov::PartialShape> shapes;
    bool known = true;
    for (std::size_t at = 0; at < samples.size(); ++at) {
      const ov::PartialShape &shape = get_input_partial_shape(at);
      const auto rank = static_cast<std::int64_t>(samples[at].size());
      known &= shape.rank().is_static() && shape.rank().get_length() == rank;
      NODE_VALIDATION_CHECK(this, known || shape.rank().is_dynamic(), "input ", at, " has rank ", shape.rank(), ", its program ", rank);
      shapes.push_back(shape);
    }
    std::vector<ov::PartialShape> made;
    if (known) made = outputs_for(*node, samples, shapes);
    for (std::size_t at = 0; at < to.size(); ++at) {
      set_output_type(at, to[at], at < made.size() ? made[at] : ov::PartialShape::dynamic(ranks[at]));
    }
  }

  std::string text;
  std::shared_ptr<const restride::Template> node;
  Sizes samples;
  std::vector<const Element *> given;
  std::vector<Type> to;
  std::vector<std::int64_t> ranks;
};

}  // namespace

OPENVINO_CREATE_EXTENSIONS(std::vector<ov::Extension::Ptr>({std::make_shared<ov::OpExtension<Move>>()}));

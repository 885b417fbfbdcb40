// The C++ wrapper, used as its comments say.
#include "restride.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>

#define CHECK(condition)                                                \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                     \
    }                                                                   \
  } while (0)

static const char text[] =
    "func @turned(%x: f32[2, 3]) {\n"
    "  %flat = reshape %x shape [-1] dialect onnx\n"
    "  %y = transpose %x perm [1, 0]\n"
    "  return %flat, %y copy\n"
    "}\n";

int main() {
  restride::Engine engine;
  restride::Program program = engine.compile(text);
  std::vector<float> x(6);
  std::iota(x.begin(), x.end(), 0.0f);
  std::array<float, 6> y{};
  program.run({x}, {{}, y});
  CHECK(y[1] == 3 && y[2] == 1);
  CHECK(program.output(0).is_view && program.inputs() == 1 && program.kernel().find("out 1") != std::string::npos);

  std::vector<std::vector<float>> given;
  auto answers = program.run_with({x}, [&](std::size_t, const restride_tensor &tensor) -> restride::Buffer {
    given.emplace_back(tensor.bytes / sizeof(float));
    return given.back();
  });
  CHECK(answers.size() == 2 && answers[0].data == x.data() && given.at(0)[1] == 3);

  restride::Template node(text);
  for (std::int64_t n = 1; n < 200; n *= 3) {
    restride::Program wide = engine.specialise(node, {{{2, n * 64}, {}, 0}});
    std::vector<float> in(2 * n * 64), out(in.size());
    std::iota(in.begin(), in.end(), 0.0f);
    auto pool = [](std::size_t count, auto body) {
      std::vector<std::thread> threads;
      for (std::size_t k = 0; k < count; k++) threads.emplace_back([=] { body(k); });
      for (auto &thread : threads) thread.join();
    };
    wide.run_on({in}, {{}, out}, 2, pool);
    CHECK(out[1] == static_cast<float>(n * 64));
    engine.settle(wide);
  }
  CHECK(engine.stats().entries == 6);

  try {
    engine.compile("func @f(%x: u8[4], %i: i64[1]) { %y = gather %x, %i axis 0 out_of_range error return %y }")
        .run({std::string("abcd"), std::array<std::int64_t, 1>{7}}, {std::array<char, 1>{}});
    CHECK(!"an index was out of range");
  } catch (const restride::Error &error) {
    CHECK(error.status == RESTRIDE_INDEX && error.value == 7 && error.limit == 4 && error.label == "gather %y");
  }
  try {
    program.run_with({x}, [](std::size_t, const restride_tensor &) -> restride::Buffer { throw std::bad_alloc(); });
    CHECK(!"it threw");
  } catch (const std::bad_alloc &) {
  }
  engine.clear();
  std::puts("all passed");
}

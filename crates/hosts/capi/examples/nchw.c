/* An image, pixels interleaved, to planes, rows upside down, in one pass: what a host does with each
 * frame. Built and run by tests/installed.rs as `cc nchw.c $(pkg-config --cflags --libs restride)`. */
#include <restride.h>
#include <stdio.h>
#include <string.h>

static int failed(const char *what) {
  restride_failure why = RESTRIDE_INIT(restride_failure);
  restride_last_failure(&why);
  fprintf(stderr, "%s: %s\n", what, why.message);
  return 1;
}

int main(void) {
  static const char text[] =
      "func @planes(%image: u8[480, 640, 3]) {\n"
      "  %up = reverse %image axes [0]\n"
      "  %planes = transpose %up perm [2, 0, 1]\n"
      "  return %planes copy\n"
      "}\n";
  restride_engine *engine;
  restride_template *node;
  if (restride_engine_create(NULL, &engine) || restride_template_create(text, strlen(text), &node))
    return failed("begin");

  /* Frames come in several sizes; each is compiled once, and found again. */
  static unsigned char image[64 * 48 * 3], planes[64 * 48 * 3];
  for (int64_t frame = 0; frame < 6; frame++) {
    int64_t sizes[3] = {32 + 16 * (frame % 2), 64, 3};
    restride_shape shape = {3, sizes, NULL, 0};
    restride_program *program;
    if (restride_engine_specialise(engine, node, &shape, 1, &program)) return failed("specialise");
    size_t bytes = (size_t)(sizes[0] * sizes[1] * sizes[2]);
    for (size_t k = 0; k < bytes; k++) image[k] = (unsigned char)(k % 251);
    restride_buffer in = {image, bytes}, out = {planes, bytes};
    if (restride_program_run(program, &in, 1, &out, 1)) return failed("run");
    /* The first red byte of the planes is that of the last row. */
    if (planes[0] != image[(sizes[0] - 1) * sizes[1] * 3]) return 2;
    restride_program_destroy(program);
  }
  restride_stats stats = RESTRIDE_INIT(restride_stats);
  restride_engine_stats(engine, &stats);
  printf("%d frames, %d compiled\n", (int)(stats.hits + stats.misses), (int)stats.misses);
  restride_template_destroy(node);
  restride_engine_destroy(engine);
  return 0;
}

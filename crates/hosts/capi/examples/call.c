/* What a call costs: a program of a few bytes, called as often as the first argument says. overhead.sh compares
 * it with call.rs, which does the same without a border between. */
#include <restride.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  static const char text[] = "func @turn(%x: f32[4, 4]) { %y = transpose %x perm [1, 0] return %y copy }";
  long calls = argc > 1 ? atol(argv[1]) : 1;
  int describe = argc > 2 && strcmp(argv[2], "describe") == 0;
  int lookup = describe || (argc > 2 && strcmp(argv[2], "lookup") == 0);
  float from[16], to[16];
  const int64_t sizes[] = {4, 4};
  restride_shape shape = {2, sizes, NULL, 0};
  restride_buffer in = {from, sizeof from}, out = {to, sizeof to};
  restride_engine *engine;
  restride_template *node;
  restride_program *program;
  size_t n;
  long i;
  for (i = 0; i < 16; i++) from[i] = (float)i;
  if (restride_engine_create(NULL, &engine) || restride_template_create(text, strlen(text), &node) ||
      restride_engine_compile(engine, text, strlen(text), &program))
    return 1;
  for (i = 0; i < calls; i++) {
    if (lookup) {
      restride_program *found;
      if (restride_engine_specialise(engine, node, &shape, 1, &found)) return 1;
      for (n = describe ? restride_program_output_count(found) : 0; n > 0; n--) {
        restride_tensor tensor = RESTRIDE_INIT(restride_tensor);
        if (restride_program_output(found, n - 1, &tensor)) return 1;
      }
      restride_program_destroy(found);
    } else if (restride_program_run(program, &in, 1, &out, 1)) {
      return 1;
    }
  }
  restride_program_destroy(program);
  restride_template_destroy(node);
  restride_engine_destroy(engine);
  return 0;
}

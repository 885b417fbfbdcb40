/* Every function of restride.h, used as it is meant to be and as it is not. */
#include "restride.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);        \
      failed = 1;                                                            \
    }                                                                        \
  } while (0)

#define OK(call)                                                             \
  do {                                                                       \
    restride_status got = (call);                                            \
    if (got != RESTRIDE_OK) {                                                \
      restride_failure why = RESTRIDE_INIT(restride_failure);                \
      restride_last_failure(&why);                                           \
      fprintf(stderr, "%s:%d: %s: status %d: %s\n", __FILE__, __LINE__,      \
              #call, (int)got, why.message);                                 \
      exit(1);                                                               \
    }                                                                        \
  } while (0)

static const char turned[] = "func @turned(%x: f32[2, 3]) {\n"
                             "  %flat = reshape %x shape [6]\n"
                             "  %y = transpose %x perm [1, 0]\n"
                             "  return %flat, %y copy\n"
                             "}\n";

static const char rows[] = "func @rows(%x: u8[4, 2], %i: i64[2]) {\n"
                           "  %y = gather %x, %i axis 0 out_of_range error wrap\n"
                           "  return %y\n"
                           "}\n";

static restride_engine *engine_of(uint32_t code) {
  restride_config config = RESTRIDE_INIT(restride_config);
  restride_engine *engine = NULL;
  OK(restride_config_default(&config));
#ifdef GENERIC /* valgrind does not know every instruction of machine code made for this processor */
  code = RESTRIDE_CODE_GENERIC;
#endif
  config.code = code;
  OK(restride_engine_create(&config, &engine));
  return engine;
}

static restride_program *compiled(restride_engine *engine, const char *text) {
  restride_program *program = NULL;
  OK(restride_engine_compile(engine, text, strlen(text), &program));
  return program;
}

static int fails(restride_status got, restride_status expected, const char *words) {
  restride_failure why = RESTRIDE_INIT(restride_failure);
  CHECK(got == expected);
  CHECK(restride_last_failure(&why) == RESTRIDE_OK);
  if (why.status != expected || strstr(why.message, words) == NULL) {
    fprintf(stderr, "status %d: %s\n  which does not say: %s\n", (int)why.status, why.message, words);
    return 0;
  }
  return 1;
}

static void programs_run(void) {
  restride_engine *engine = engine_of(RESTRIDE_CODE_NATIVE);
  restride_program *program = compiled(engine, turned);
  float x[6] = {0, 1, 2, 3, 4, 5}, y[6] = {0};
  restride_buffer in = {x, sizeof x}, out[2] = {{NULL, 0}, {y, sizeof y}};
  const float expected[6] = {0, 3, 1, 4, 2, 5};
  OK(restride_program_run(program, &in, 1, out, 2));
  CHECK(memcmp(y, expected, sizeof y) == 0);

  restride_summary summary = RESTRIDE_INIT(restride_summary);
  OK(restride_program_summary(program, &summary));
  CHECK(summary.inputs == 1 && summary.outputs == 2 && summary.computed == 1 && summary.passes == 1);
  CHECK(summary.bytes_written == sizeof y);
  CHECK(restride_program_input_count(program) == 1 && restride_program_output_count(program) == 2);

  restride_tensor tensor = RESTRIDE_INIT(restride_tensor);
  OK(restride_program_input(program, 0, &tensor));
  CHECK(tensor.element == RESTRIDE_F32 && tensor.rank == 2 && tensor.sizes[1] == 3);
  CHECK(tensor.strides == NULL && tensor.bytes == sizeof x && !tensor.is_view && tensor.why == NULL);
  OK(restride_program_output(program, 0, &tensor));
  CHECK(tensor.is_view && tensor.input == 0 && tensor.rank == 1 && tensor.sizes[0] == 6);
  CHECK(tensor.offset == 0 && tensor.strides[0] == 1 && tensor.bytes == sizeof x);
  OK(restride_program_output(program, 1, &tensor));
  CHECK(!tensor.is_view && tensor.rank == 2 && tensor.sizes[0] == 3 && tensor.bytes == sizeof y);
  CHECK(strcmp(tensor.why, "a copy is asked for") == 0);

  /* A program has as many owners as are wanted, and outlives its engine. */
  restride_program *shared = NULL;
  OK(restride_program_share(program, &shared));
  restride_program_destroy(program);
  restride_engine_destroy(engine);
  memset(y, 0, sizeof y);
  OK(restride_program_run(shared, &in, 1, out, 2));
  CHECK(memcmp(y, expected, sizeof y) == 0);
  restride_program_destroy(shared);
}

static void templates_follow_shapes(void) {
  restride_engine *engine = engine_of(RESTRIDE_CODE_NATIVE);
  restride_template *node = NULL;
  OK(restride_template_create(turned, strlen(turned), &node));
  for (int64_t round = 0; round < 2; round++) {
    for (int64_t n = 1; n <= 5; n++) {
      /* Every second column of a matrix of 2 n columns. */
      int64_t sizes[2] = {2, n}, strides[2] = {2 * n, 2};
      restride_shape shape = {2, sizes, strides, 1};
      restride_program *program = NULL;
      restride_status status = restride_engine_specialise(engine, node, &shape, 1, &program);
      if (n != 3) {
        /* The reshape says 6. */
        CHECK(fails(status, RESTRIDE_COMPILE, "reshape"));
        CHECK(program == NULL);
        continue;
      }
      OK(status);
      float x[12], flat[6] = {0}, y[6] = {0};
      for (int k = 0; k < 12; k++) x[k] = (float)k;
      restride_buffer in = {x, sizeof x}, out[2] = {{flat, sizeof flat}, {y, sizeof y}};
      OK(restride_program_run(program, &in, 1, out, 2));
      CHECK(y[0] == 1 && y[1] == 7 && y[2] == 3);
      OK(restride_engine_settle(engine, program));
      restride_program_destroy(program);
    }
  }
  restride_stats stats = RESTRIDE_INIT(restride_stats);
  OK(restride_engine_stats(engine, &stats));
  CHECK(stats.hits == 1 && stats.entries == 1 && stats.bytes > 0);
  OK(restride_engine_clear(engine));
  OK(restride_engine_stats(engine, &stats));
  CHECK(stats.entries == 0);
  restride_template_destroy(node);
  restride_engine_destroy(engine);
}

static void indices_are_checked(void) {
  restride_engine *engine = engine_of(RESTRIDE_CODE_NATIVE);
  restride_program *program = compiled(engine, rows);
  unsigned char x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[4] = {9, 9, 9, 9};
  int64_t good[2] = {-1, 0}, bad[2] = {0, 4};
  restride_buffer in[2] = {{x, sizeof x}, {good, sizeof good}}, out = {y, sizeof y};
  OK(restride_program_run(program, in, 2, &out, 1));
  CHECK(y[0] == 6 && y[1] == 7 && y[2] == 0 && y[3] == 1);
  in[1].data = bad;
  memset(y, 9, sizeof y);
  CHECK(fails(restride_program_run(program, in, 2, &out, 1), RESTRIDE_INDEX, "index 4 at position 1"));
  restride_failure why = RESTRIDE_INIT(restride_failure);
  CHECK(restride_last_failure(&why) == RESTRIDE_OK);
  CHECK(why.position == 1 && why.value == 4 && why.limit == 4 && strcmp(why.label, "gather %y") == 0);
  CHECK(y[0] == 9 && y[3] == 9);
  restride_program_destroy(program);
  restride_engine_destroy(engine);
}

struct memory {
  size_t asked;
  restride_status answer;
};

static restride_status allocate(void *user, size_t output, const restride_tensor *tensor, restride_buffer *buffer) {
  struct memory *memory = user;
  memory->asked++;
  CHECK(output == 1 && tensor->bytes == 24 && !tensor->is_view);
  if (memory->answer == RESTRIDE_OK) {
    buffer->data = malloc(tensor->bytes);
    buffer->bytes = tensor->bytes;
  }
  return memory->answer;
}

static void memory_is_asked_for(void) {
  restride_engine *engine = engine_of(RESTRIDE_CODE_NATIVE);
  restride_program *program = compiled(engine, turned);
  float x[6] = {0, 1, 2, 3, 4, 5};
  restride_buffer in = {x, sizeof x}, answers[2];
  struct memory memory = {0, RESTRIDE_OK};
  OK(restride_program_run_with(program, &in, 1, allocate, &memory, answers, 2));
  CHECK(memory.asked == 1 && answers[0].data == x && answers[0].bytes == sizeof x);
  CHECK(((float *)answers[1].data)[1] == 3);
  free(answers[1].data);
  memory.answer = 77;
  CHECK(fails(restride_program_run_with(program, &in, 1, allocate, &memory, answers, 2), RESTRIDE_CALLBACK, "77"));
  CHECK(fails(restride_program_run_with(program, &in, 1, allocate, &memory, answers, 1), RESTRIDE_BUFFERS, "outputs of the program: 2"));
  CHECK(fails(restride_program_run_with(program, &in, 1, NULL, NULL, answers, 2), RESTRIDE_INVALID_ARGUMENT, "allocate is null"));
  restride_program_destroy(program);
  restride_engine_destroy(engine);
}

struct one {
  restride_body body;
  void *context;
  size_t n;
};

static void *run_one(void *argument) {
  struct one *one = argument;
  one->body(one->context, one->n);
  return NULL;
}

static void threads_for(void *user, size_t count, restride_body body, void *context) {
  pthread_t threads[8];
  struct one all[8];
  size_t begun = count < 8 ? count : 8;
  (*(size_t *)user)++;
  for (size_t n = 0; n < begun; n++) {
    all[n].body = body;
    all[n].context = context;
    all[n].n = n;
    CHECK(pthread_create(&threads[n], NULL, run_one, &all[n]) == 0);
  }
  for (size_t n = 0; n < begun; n++) pthread_join(threads[n], NULL);
}

static void threads_are_the_hosts(void) {
  restride_engine *engine = engine_of(RESTRIDE_CODE_NATIVE);
  restride_program *program = compiled(engine,
      "func @large(%x: u8[512, 1024]) {\n  %y = transpose %x perm [1, 0]\n  return %y copy\n}\n");
  unsigned char *x = malloc(512 * 1024), *y = malloc(512 * 1024);
  for (int k = 0; k < 512 * 1024; k++) x[k] = (unsigned char)(k * 7 + k / 1024);
  restride_buffer in = {x, 512 * 1024}, out = {y, 512 * 1024};
  size_t loops = 0;
  for (size_t width = 1; width <= 4; width++) {
    memset(y, 0, 512 * 1024);
    OK(restride_program_run_on(program, &in, 1, &out, 1, width, threads_for, &loops));
    int wrong = 0;
    for (int row = 0; row < 512; row++)
      for (int column = 0; column < 1024; column++)
        wrong += y[column * 512 + row] != x[row * 1024 + column];
    CHECK(wrong == 0);
  }
  CHECK(loops > 0);
  CHECK(fails(restride_program_run_on(program, &in, 1, &out, 1, 2, NULL, NULL), RESTRIDE_INVALID_ARGUMENT, "run is null"));
  free(x);
  free(y);
  restride_program_destroy(program);
  restride_engine_destroy(engine);
}

struct crowd {
  restride_engine *engine;
  restride_template *node;
  int wrong;
};

static void *one_of_a_crowd(void *argument) {
  struct crowd *crowd = argument;
  for (int64_t k = 0; k < 200; k++) {
    int64_t sizes[2] = {2, 1 + k % 17};
    restride_shape shape = {2, sizes, NULL, 0};
    restride_program *program = NULL;
    float x[34], y[34];
    OK(restride_engine_specialise(crowd->engine, crowd->node, &shape, 1, &program));
    for (int n = 0; n < 34; n++) x[n] = (float)n;
    restride_buffer in = {x, sizeof x}, out = {y, sizeof y};
    OK(restride_program_run(program, &in, 1, &out, 1));
    crowd->wrong |= y[1] != (float)sizes[1];
    restride_program_destroy(program);
  }
  return NULL;
}

static void a_crowd_shares_an_engine(void) {
  static const char text[] = "func @t(%x: f32[2, 3]) { %y = transpose %x perm [1, 0] return %y copy }";
  struct crowd crowd = {engine_of(RESTRIDE_CODE_BACKGROUND), NULL, 0};
  pthread_t threads[4];
  OK(restride_template_create(text, strlen(text), &crowd.node));
  for (int n = 0; n < 4; n++) CHECK(pthread_create(&threads[n], NULL, one_of_a_crowd, &crowd) == 0);
  for (int n = 0; n < 4; n++) pthread_join(threads[n], NULL);
  CHECK(!crowd.wrong);
  OK(restride_engine_stop_background(crowd.engine));
  restride_template_destroy(crowd.node);
  restride_engine_destroy(crowd.engine);
}

static void texts_go_in_and_out(void) {
  restride_engine *engine = engine_of(RESTRIDE_CODE_NATIVE);
  restride_program *program = compiled(engine, turned);
  char text[4096], small[8];
  size_t needed = 0, again = 0;
  OK(restride_program_text(program, RESTRIDE_TEXT_KERNEL, NULL, 0, &needed));
  CHECK(needed > 20 && needed < sizeof text);
  OK(restride_program_text(program, RESTRIDE_TEXT_KERNEL, text, sizeof text, &again));
  CHECK(again == needed && strlen(text) == needed && strstr(text, "out 1") != NULL);
  OK(restride_program_text(program, RESTRIDE_TEXT_KERNEL, small, sizeof small, NULL));
  CHECK(strlen(small) == 7 && memcmp(small, text, 7) == 0);
  OK(restride_program_text(program, RESTRIDE_TEXT_ASSEMBLY, text, sizeof text, &needed));
  CHECK(fails(restride_program_text(program, 9, text, sizeof text, NULL), RESTRIDE_INVALID_ARGUMENT, "no text 9"));
  CHECK(fails(restride_program_text(program, 0, NULL, 5, NULL), RESTRIDE_INVALID_ARGUMENT, "buffer is null"));
  OK(restride_format(turned, strlen(turned), text, sizeof text, &needed));
  CHECK(strstr(text, "%y = transpose %x perm [1, 0] : f32[3, 2]") != NULL);
  restride_program_destroy(program);
  restride_engine_destroy(engine);
}

static void misuse_is_refused(void) {
  restride_engine *engine = engine_of(RESTRIDE_CODE_NATIVE);
  restride_program *program = compiled(engine, turned), *none = NULL;
  restride_engine *no_engine = NULL;
  restride_template *node = NULL;
  float x[6] = {0}, y[6] = {0};
  restride_buffer in = {x, sizeof x}, out[2] = {{NULL, 0}, {y, sizeof y}};

  /* Null. */
  CHECK(fails(restride_engine_create(NULL, NULL), RESTRIDE_INVALID_ARGUMENT, "engine is null"));
  CHECK(fails(restride_engine_clear(NULL), RESTRIDE_INVALID_ARGUMENT, "engine is null"));
  CHECK(fails(restride_engine_settle(engine, NULL), RESTRIDE_INVALID_ARGUMENT, "program is null"));
  CHECK(fails(restride_engine_stop_background(NULL), RESTRIDE_INVALID_ARGUMENT, "engine is null"));
  CHECK(fails(restride_engine_stats(engine, NULL), RESTRIDE_INVALID_ARGUMENT, "stats is null"));
  CHECK(fails(restride_engine_compile(engine, NULL, 5, &none), RESTRIDE_INVALID_ARGUMENT, "text is null"));
  CHECK(fails(restride_engine_compile(engine, turned, 5, NULL), RESTRIDE_INVALID_ARGUMENT, "program is null"));
  CHECK(fails(restride_template_create(turned, 5, NULL), RESTRIDE_INVALID_ARGUMENT, "template is null"));
  CHECK(fails(restride_program_share(NULL, &none), RESTRIDE_INVALID_ARGUMENT, "program is null"));
  CHECK(fails(restride_program_run(NULL, &in, 1, out, 2), RESTRIDE_INVALID_ARGUMENT, "program is null"));
  CHECK(fails(restride_program_run(program, NULL, 1, out, 2), RESTRIDE_INVALID_ARGUMENT, "inputs is null"));
  CHECK(fails(restride_program_run(program, &in, 1, NULL, 2), RESTRIDE_INVALID_ARGUMENT, "outputs is null"));
  CHECK(restride_last_failure(NULL) == RESTRIDE_INVALID_ARGUMENT);
  CHECK(restride_program_input_count(NULL) == 0 && restride_program_output_count(NULL) == 0);
  restride_engine_destroy(NULL);
  restride_template_destroy(NULL);
  restride_program_destroy(NULL);

  /* Sizes and numbers. */
  restride_config config = RESTRIDE_INIT(restride_config);
  OK(restride_config_default(&config));
  CHECK(config.size == sizeof config && config.cache_entries > 0 && config.native_after_calls == -1);
  config.size = 8;
  CHECK(fails(restride_engine_create(&config, &no_engine), RESTRIDE_INVALID_ARGUMENT, "config.size is 8"));
  CHECK(fails(restride_config_default(&config), RESTRIDE_INVALID_ARGUMENT, "config.size is 8"));
  config.size = sizeof config;
  config.code = 4;
  CHECK(fails(restride_engine_create(&config, &no_engine), RESTRIDE_INVALID_ARGUMENT, "config.code: 4"));
  config.code = 0;
  config.views = 99;
  CHECK(fails(restride_engine_create(&config, &no_engine), RESTRIDE_INVALID_ARGUMENT, "config.views: 99"));
  config.views = 0;
  config.native_after_calls = -2;
  CHECK(fails(restride_engine_create(&config, &no_engine), RESTRIDE_INVALID_ARGUMENT, "native_after_calls: -2"));
  CHECK(no_engine == NULL);
  restride_tensor tensor = RESTRIDE_INIT(restride_tensor);
  CHECK(fails(restride_program_output(program, 2, &tensor), RESTRIDE_INVALID_ARGUMENT, "output 2 of 2"));
  CHECK(fails(restride_program_input(program, 1, &tensor), RESTRIDE_INVALID_ARGUMENT, "input 1 of 1"));
  tensor.size = 1;
  CHECK(fails(restride_program_input(program, 0, &tensor), RESTRIDE_INVALID_ARGUMENT, "tensor.size is 1"));
  restride_failure why = {0};
  CHECK(restride_last_failure(&why) == RESTRIDE_INVALID_ARGUMENT);

  /* Texts. */
  CHECK(fails(restride_engine_compile(engine, "func", 4, &none), RESTRIDE_PARSE, "text:1:5"));
  CHECK(fails(restride_engine_compile(engine, "\xff\xfe", 2, &none), RESTRIDE_PARSE, "utf-8"));
  CHECK(fails(restride_format("func", 4, NULL, 0, NULL), RESTRIDE_PARSE, "text:1:5"));
  config.native_after_calls = -1;
  config.compile_work = 10;
  OK(restride_engine_create(&config, &no_engine));
  CHECK(fails(restride_engine_compile(no_engine, turned, strlen(turned), &none), RESTRIDE_TOO_COSTLY, "work"));
  restride_engine_destroy(no_engine);
  CHECK(none == NULL);

  /* Buffers. */
  CHECK(fails(restride_program_run(program, &in, 0, out, 2), RESTRIDE_BUFFERS, "1 expected, 0 given"));
  CHECK(fails(restride_program_run(program, &in, 1, out, 1), RESTRIDE_BUFFERS, "2 expected, 1 given"));
  out[1].bytes = 23;
  CHECK(fails(restride_program_run(program, &in, 1, out, 2), RESTRIDE_BUFFERS, "23 bytes"));
  out[1].data = NULL;
  CHECK(fails(restride_program_run(program, &in, 1, out, 2), RESTRIDE_INVALID_ARGUMENT, "output 1 is null"));
  out[1].data = x;
  out[1].bytes = sizeof x;
  CHECK(fails(restride_program_run(program, &in, 1, out, 2), RESTRIDE_BUFFERS, "overlap"));
  out[1].data = y;
  out[1].bytes = SIZE_MAX;
  CHECK(fails(restride_program_run(program, &in, 1, out, 2), RESTRIDE_INVALID_ARGUMENT, "output 1 cannot have"));

  /* Shapes. */
  int64_t sizes[2] = {2, -3}, strides[2] = {1, 1};
  restride_shape shape = {2, sizes, NULL, 0};
  OK(restride_template_create(turned, strlen(turned), &node));
  CHECK(fails(restride_engine_specialise(engine, node, &shape, 1, &none), RESTRIDE_COMPILE, "input 0"));
  CHECK(fails(restride_engine_specialise(engine, node, &shape, 0, &none), RESTRIDE_COMPILE, "1 expected"));
  shape.offset = 1;
  CHECK(fails(restride_engine_specialise(engine, node, &shape, 1, &none), RESTRIDE_INVALID_ARGUMENT, "without strides"));
  shape.sizes = NULL;
  CHECK(fails(restride_engine_specialise(engine, node, &shape, 1, &none), RESTRIDE_INVALID_ARGUMENT, "sizes is null"));
  shape.sizes = strides;
  shape.strides = strides;
  shape.rank = SIZE_MAX;
  CHECK(fails(restride_engine_specialise(engine, node, &shape, 1, &none), RESTRIDE_INVALID_ARGUMENT, "there cannot be"));
  CHECK(none == NULL);

  restride_template_destroy(node);
  restride_program_destroy(program);
  restride_engine_destroy(engine);
}

int main(void) {
  CHECK(restride_version() == RESTRIDE_VERSION);
  CHECK(restride_element_width(RESTRIDE_C128) == 16 && restride_element_width(99) == 0);
  programs_run();
  templates_follow_shapes();
  indices_are_checked();
  memory_is_asked_for();
  threads_are_the_hosts();
  a_crowd_shares_an_engine();
  texts_go_in_and_out();
  misuse_is_refused();
  if (!failed) puts("all passed");
  return failed;
}

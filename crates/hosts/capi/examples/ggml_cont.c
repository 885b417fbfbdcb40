/* ggml_cont of a permuted tensor by restride: an operator of ggml's own kind (ggml_custom_4d) that copies any
 * strided tensor into a dense one. ggml counts sizes from the innermost and strides in bytes; restride counts
 * sizes from the outermost and strides in elements.
 *
 *     cc ggml_cont.c -o ggml_cont $(pkg-config --cflags --libs restride) -lggml -lggml-cpu -lggml-base
 *
 * The program compares the two on some tensors and says how long each takes. */
#include <ggml-cpu.h>
#include <ggml.h>
#include <restride.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* For elements of 1, 2, 4 and 8 bytes: what they are does not matter. */
static const struct {
  size_t width;
  const char *text;
} TEXTS[] = {
    {1, "func @cont(%x: u8[2, 3, 4, 5]) { return %x copy }"},
    {2, "func @cont(%x: u16[2, 3, 4, 5]) { return %x copy }"},
    {4, "func @cont(%x: u32[2, 3, 4, 5]) { return %x copy }"},
    {8, "func @cont(%x: u64[2, 3, 4, 5]) { return %x copy }"},
};
#define TEXT_COUNT (sizeof TEXTS / sizeof *TEXTS)

/* What lives as long as any graph with such operators. */
typedef struct {
  restride_engine *engine;
  restride_template *templates[TEXT_COUNT];
} conts;

static void check(restride_status status) {
  if (status != RESTRIDE_OK) {
    restride_failure failure = RESTRIDE_INIT(restride_failure);
    restride_last_failure(&failure);
    fprintf(stderr, "restride: %s\n", failure.message);
    exit(1);
  }
}

static void conts_create(conts *all) {
  size_t i;
  check(restride_engine_create(NULL, &all->engine));
  for (i = 0; i < TEXT_COUNT; i++) check(restride_template_create(TEXTS[i].text, strlen(TEXTS[i].text), &all->templates[i]));
}

static void conts_destroy(conts *all) {
  size_t i;
  for (i = 0; i < TEXT_COUNT; i++) restride_template_destroy(all->templates[i]);
  restride_engine_destroy(all->engine);
}

/* One thread's part of a copy: some of the outermost axis. */
static void cont_run(struct ggml_tensor *dst, int ith, int nth, void *userdata) {
  const conts *all = userdata;
  const struct ggml_tensor *src = dst->src[0];
  const size_t width = ggml_type_size(src->type);
  int axis = 3, i;
  int64_t sizes[4], strides[4], share, from, until;
  size_t which = 0;
  restride_shape shape = {4, sizes, strides, 0};
  restride_program *program;
  restride_buffer in, out;
  while (axis > 0 && src->ne[axis] == 1) axis--;
  share = (src->ne[axis] + nth - 1) / nth;
  from = share * ith;
  until = from + share < src->ne[axis] ? from + share : src->ne[axis];
  if (from >= until || ggml_nelements(src) == 0) return;
  while (TEXTS[which].width != width) which++;
  for (i = 0; i < 4; i++) {
    sizes[3 - i] = i == axis ? until - from : src->ne[i];
    strides[3 - i] = (int64_t)(src->nb[i] / width);
  }
  /* A lookup, but for the first time that a shape comes along. */
  check(restride_engine_specialise(all->engine, all->templates[which], &shape, 1, &program));
  in.data = (char *)src->data + (size_t)from * src->nb[axis];
  in.bytes = width;
  for (i = 0; i < 4; i++) in.bytes += (size_t)(sizes[3 - i] - 1) * src->nb[i];
  out.data = (char *)dst->data + (size_t)from * dst->nb[axis];
  out.bytes = dst->nb[axis] * (size_t)(until - from);
  check(restride_program_run(program, &in, 1, &out, 1));
  restride_program_destroy(program);
}

/* In place of ggml_cont(ctx, a). */
static struct ggml_tensor *restride_cont(struct ggml_context *ctx, struct ggml_tensor *a, const conts *all) {
  const size_t width = ggml_type_size(a->type);
  int i;
  /* Blocks of quantised numbers are ggml's own, as is a stride that is no whole number of elements. */
  if (ggml_blck_size(a->type) != 1 || (width != 1 && width != 2 && width != 4 && width != 8)) return ggml_cont(ctx, a);
  for (i = 0; i < 4; i++) {
    if (a->nb[i] % width != 0) return ggml_cont(ctx, a);
  }
  return ggml_custom_4d(ctx, a->type, a->ne[0], a->ne[1], a->ne[2], a->ne[3], &a, 1, cont_run, GGML_N_TASKS_MAX, (void *)all);
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Both copies of a permuted tensor: whether they are the same, and how long each takes. */
static int compared(enum ggml_type type, const int64_t ne[4], const int order[4], int threads, const conts *all) {
  size_t bytes = (size_t)(ne[0] * ne[1] * ne[2] * ne[3]) * ggml_type_size(type), i;
  struct ggml_init_params params = {bytes * 3 + (1 << 20), NULL, false};
  struct ggml_context *ctx = ggml_init(params);
  struct ggml_tensor *x = ggml_new_tensor_4d(ctx, type, ne[0], ne[1], ne[2], ne[3]);
  struct ggml_tensor *turned = ggml_permute(ctx, x, order[0], order[1], order[2], order[3]);
  struct ggml_tensor *made[2];
  double best[2] = {1e9, 1e9};
  int which, turn, same;
  made[0] = ggml_cont(ctx, turned);
  made[1] = restride_cont(ctx, turned, all);
  for (i = 0; i < bytes; i++) ((unsigned char *)x->data)[i] = (unsigned char)(i * 2654435761u >> 13);
  struct ggml_cgraph *graphs[2];
  for (which = 0; which < 2; which++) {
    graphs[which] = ggml_new_graph(ctx);
    ggml_build_forward_expand(graphs[which], made[which]);
  }
  for (turn = 0; turn < 20; turn++) {
    for (which = 0; which < 2; which++) {
      double begin = seconds(), took;
      if (ggml_graph_compute_with_ctx(ctx, graphs[which], threads) != GGML_STATUS_SUCCESS) return 0;
      took = seconds() - begin;
      if (took < best[which]) best[which] = took;
    }
  }
  same = memcmp(made[0]->data, made[1]->data, bytes) == 0;
  printf("%-4s [%d, %d, %d, %d] permuted to %d %d %d %d, %d threads: ggml_cont %8.1f us, restride %8.1f us, %s\n", ggml_type_name(type),
         (int)ne[0], (int)ne[1], (int)ne[2], (int)ne[3], order[0], order[1], order[2], order[3], threads, best[0] * 1e6,
         best[1] * 1e6, same ? "equal" : "NOT EQUAL");
  ggml_free(ctx);
  return same;
}

int main(void) {
  static const struct {
    enum ggml_type type;
    int64_t ne[4];
    int order[4];
  } cases[] = {
      {GGML_TYPE_F32, {64, 32, 128, 1}, {0, 2, 1, 3}}, /* heads out of tokens, and back */
      {GGML_TYPE_F32, {128, 64, 32, 1}, {1, 0, 2, 3}}, /* values turned for a product */
      {GGML_TYPE_F16, {128, 64, 32, 1}, {1, 0, 2, 3}},
      {GGML_TYPE_F16, {64, 77, 12, 2}, {2, 0, 1, 3}},
      {GGML_TYPE_F32, {3, 320, 240, 1}, {2, 0, 1, 3}}, /* pixels to planes */
      {GGML_TYPE_I32, {5, 7, 11, 3}, {3, 2, 1, 0}},
      {GGML_TYPE_I8, {31, 17, 1, 1}, {1, 0, 2, 3}},
  };
  conts all;
  size_t i;
  int threads, wrong = 0;
  conts_create(&all);
  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (threads = 1; threads <= 2; threads++) wrong += !compared(cases[i].type, cases[i].ne, cases[i].order, threads, &all);
  }
  conts_destroy(&all);
  puts(wrong ? "some are not equal" : "all passed");
  return wrong != 0;
}

/* A stand-in for ggml, with what examples/ggml_cont.c needs of it, so that the example is compiled and run where ggml
 * is not: declarations as ggml 0.20 has them, copies element by element, threads one after the other. */
#ifndef GGML_STAND_IN_H
#define GGML_STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GGML_N_TASKS_MAX (-1)

enum ggml_type { GGML_TYPE_F32 = 0, GGML_TYPE_F16 = 1, GGML_TYPE_Q4_0 = 2, GGML_TYPE_I8 = 24, GGML_TYPE_I16 = 25, GGML_TYPE_I32 = 26, GGML_TYPE_I64 = 27 };
enum ggml_status { GGML_STATUS_FAILED = -1, GGML_STATUS_SUCCESS = 0 };

struct ggml_tensor;
typedef void (*ggml_custom_op_t)(struct ggml_tensor *dst, int ith, int nth, void *userdata);

struct ggml_tensor {
  enum ggml_type type;
  int64_t ne[4];
  size_t nb[4];
  struct ggml_tensor *src[10];
  void *data;
  ggml_custom_op_t fun;
  int n_tasks;
  void *userdata;
};

struct ggml_init_params {
  size_t mem_size;
  void *mem_buffer;
  bool no_alloc;
};

struct ggml_context {
  size_t used, size;
  char *memory;
};

struct ggml_cgraph {
  struct ggml_tensor *last;
};

static inline size_t ggml_type_size(enum ggml_type type) {
  switch (type) {
    case GGML_TYPE_I8: return 1;
    case GGML_TYPE_F16:
    case GGML_TYPE_I16: return 2;
    case GGML_TYPE_I64: return 8;
    case GGML_TYPE_Q4_0: return 18;
    default: return 4;
  }
}

static inline int64_t ggml_blck_size(enum ggml_type type) { return type == GGML_TYPE_Q4_0 ? 32 : 1; }

static inline const char *ggml_type_name(enum ggml_type type) { return type == GGML_TYPE_F32 ? "f32" : type == GGML_TYPE_F16 ? "f16" : "int"; }

static inline int64_t ggml_nelements(const struct ggml_tensor *tensor) { return tensor->ne[0] * tensor->ne[1] * tensor->ne[2] * tensor->ne[3]; }

static inline struct ggml_context *ggml_init(struct ggml_init_params params) {
  struct ggml_context *ctx = malloc(sizeof *ctx);
  ctx->used = 0;
  ctx->size = params.mem_size;
  ctx->memory = malloc(params.mem_size);
  return ctx;
}

static inline void ggml_free(struct ggml_context *ctx) {
  free(ctx->memory);
  free(ctx);
}

static inline void *ggml_stand_in_memory(struct ggml_context *ctx, size_t bytes) {
  void *at = ctx->memory + ctx->used;
  ctx->used += (bytes + 63) / 64 * 64;
  if (ctx->used > ctx->size) abort();
  return at;
}

static inline struct ggml_tensor *ggml_new_tensor_4d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3) {
  const int64_t ne[4] = {ne0, ne1, ne2, ne3};
  struct ggml_tensor *made = ggml_stand_in_memory(ctx, sizeof *made);
  size_t bytes = ggml_type_size(type);
  int i;
  memset(made, 0, sizeof *made);
  made->type = type;
  for (i = 0; i < 4; i++) {
    made->ne[i] = ne[i];
    made->nb[i] = bytes;
    bytes *= (size_t)ne[i];
  }
  made->data = ggml_stand_in_memory(ctx, bytes);
  return made;
}

/* Axis i of a becomes axis axis_i. */
static inline struct ggml_tensor *ggml_permute(struct ggml_context *ctx, struct ggml_tensor *a, int axis0, int axis1, int axis2, int axis3) {
  const int axes[4] = {axis0, axis1, axis2, axis3};
  struct ggml_tensor *made = ggml_stand_in_memory(ctx, sizeof *made);
  int i;
  *made = *a;
  for (i = 0; i < 4; i++) {
    made->ne[axes[i]] = a->ne[i];
    made->nb[axes[i]] = a->nb[i];
  }
  return made;
}

static inline struct ggml_tensor *ggml_custom_4d(struct ggml_context *ctx, enum ggml_type type, int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3,
                                                 struct ggml_tensor **args, int n_args, ggml_custom_op_t fun, int n_tasks, void *userdata) {
  struct ggml_tensor *made = ggml_new_tensor_4d(ctx, type, ne0, ne1, ne2, ne3);
  int i;
  for (i = 0; i < n_args; i++) made->src[i] = args[i];
  made->fun = fun;
  made->n_tasks = n_tasks;
  made->userdata = userdata;
  return made;
}

static inline void ggml_stand_in_cont(struct ggml_tensor *dst, int ith, int nth, void *userdata) {
  const struct ggml_tensor *src = dst->src[0];
  int64_t i[4];
  (void)nth;
  (void)userdata;
  if (ith != 0) return;
  for (i[3] = 0; i[3] < dst->ne[3]; i[3]++)
    for (i[2] = 0; i[2] < dst->ne[2]; i[2]++)
      for (i[1] = 0; i[1] < dst->ne[1]; i[1]++)
        for (i[0] = 0; i[0] < dst->ne[0]; i[0]++) {
          char *to = dst->data;
          const char *from = src->data;
          int axis;
          for (axis = 0; axis < 4; axis++) {
            to += (size_t)i[axis] * dst->nb[axis];
            from += (size_t)i[axis] * src->nb[axis];
          }
          memcpy(to, from, ggml_type_size(dst->type));
        }
}

static inline struct ggml_tensor *ggml_cont(struct ggml_context *ctx, struct ggml_tensor *a) {
  return ggml_custom_4d(ctx, a->type, a->ne[0], a->ne[1], a->ne[2], a->ne[3], &a, 1, ggml_stand_in_cont, GGML_N_TASKS_MAX, NULL);
}

static inline struct ggml_cgraph *ggml_new_graph(struct ggml_context *ctx) { return ggml_stand_in_memory(ctx, sizeof(struct ggml_cgraph)); }

static inline void ggml_build_forward_expand(struct ggml_cgraph *graph, struct ggml_tensor *last) { graph->last = last; }

static inline enum ggml_status ggml_graph_compute_with_ctx(struct ggml_context *ctx, struct ggml_cgraph *graph, int n_threads) {
  struct ggml_tensor *last = graph->last;
  int count = last->n_tasks == GGML_N_TASKS_MAX ? n_threads : last->n_tasks, ith;
  (void)ctx;
  for (ith = 0; ith < count; ith++) last->fun(last, ith, count, last->userdata);
  return GGML_STATUS_SUCCESS;
}

#endif

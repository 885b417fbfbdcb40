/* restride: a compiler for moving tensor data.
 *
 * A program is a text: inputs, operators as the frameworks spell them, outputs. An engine compiles
 * it for the shapes at hand and remembers what it has compiled; a call of the program is then one
 * pass over memory. Outputs that are views of an input are answered as views, and nothing moves.
 *
 *     const char *text = "func @nchw(%x: u8[1, 224, 224, 3]) {"
 *                        "  %y = transpose %x perm [0, 3, 1, 2]"
 *                        "  return %y"
 *                        "}";
 *     restride_engine *engine;
 *     restride_program *program;
 *     restride_engine_create(NULL, &engine);
 *     restride_engine_compile(engine, text, strlen(text), &program);
 *     restride_buffer in = {pixels, sizeof pixels}, out = {planes, sizeof planes};
 *     restride_program_run(program, &in, 1, &out, 1);
 *
 * Rules that hold for all functions:
 *
 * - They return a status. After any other than RESTRIDE_OK nothing has been handed out and, unless it
 *   says otherwise, nothing written; restride_last_failure tells what went wrong.
 * - Engines, templates and programs may be used by any number of threads at once. Each is destroyed
 *   once, by nobody but its owner, when no thread uses it any more. Programs outlive engines.
 * - Structures begin with their size, which the caller sets, so that they can grow.
 *   RESTRIDE_INIT(type) makes one with all else zero.
 * - A null pointer where none may be is RESTRIDE_INVALID_ARGUMENT. Any other pointer has to lead to
 *   what it is said to lead to: that cannot be checked.
 * - No thread is started except for RESTRIDE_CODE_BACKGROUND, nothing is printed, no environment
 *   variable is read, no signal is handled.
 *
 * docs/embedding.md says more about what programs can be and when what is compiled.
 */
#ifndef RESTRIDE_H
#define RESTRIDE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define RESTRIDE_INIT(type) ([] { type made{}; made.size = sizeof(type); return made; }())
#else
#define RESTRIDE_INIT(type) ((type){.size = sizeof(type)})
#endif

/* Of this header: major, minor and patch, a byte for each of the last two. */
#define RESTRIDE_VERSION 256

/* How a call ended. */
typedef int32_t restride_status;
#define RESTRIDE_OK 0
#define RESTRIDE_INVALID_ARGUMENT 1 /* null, or a number that names nothing */
#define RESTRIDE_PARSE 2            /* the text is no program; the message shows where */
#define RESTRIDE_COMPILE 3          /* the operators do not accept these shapes */
#define RESTRIDE_TOO_COSTLY 4       /* compiling would exceed the budget */
#define RESTRIDE_BUFFERS 5          /* too short, overlapping, too many, too few */
#define RESTRIDE_INDEX 6            /* an index is outside its axis; no output was written */
#define RESTRIDE_OUT_OF_MEMORY 7
#define RESTRIDE_CALLBACK 8         /* a function of the host's own failed */
#define RESTRIDE_INCOMPLETE 9       /* the host's threads broke off; outputs are written in part */
#define RESTRIDE_PANIC 10           /* a defect of restride */

/* Element types. Only their width matters, except where they index. */
#define RESTRIDE_BOOL 0
#define RESTRIDE_I8 1
#define RESTRIDE_U8 2
#define RESTRIDE_F8E4M3 3
#define RESTRIDE_F8E4M3FNUZ 4
#define RESTRIDE_F8E5M2 5
#define RESTRIDE_F8E5M2FNUZ 6
#define RESTRIDE_F8E8M0 7
#define RESTRIDE_I16 8
#define RESTRIDE_U16 9
#define RESTRIDE_F16 10
#define RESTRIDE_BF16 11
#define RESTRIDE_I32 12
#define RESTRIDE_U32 13
#define RESTRIDE_F32 14
#define RESTRIDE_I64 15
#define RESTRIDE_U64 16
#define RESTRIDE_F64 17
#define RESTRIDE_C64 18
#define RESTRIDE_I128 19
#define RESTRIDE_U128 20
#define RESTRIDE_C128 21

/* Whether machine code is made. */
#define RESTRIDE_CODE_NATIVE 0     /* where it is faster */
#define RESTRIDE_CODE_BACKGROUND 1 /* the same, by a thread of the engine's own */
#define RESTRIDE_CODE_GENERIC 2    /* never: precompiled moves */
#define RESTRIDE_CODE_SELF_CONTAINED 3 /* always, and it calls nothing */

/* Whether an output may be a view of an input. */
#define RESTRIDE_VIEWS_ANY 0
#define RESTRIDE_VIEWS_DENSE 1 /* if it is all of an input, in order, under another shape */
#define RESTRIDE_VIEWS_COPY 2  /* never: every output is written */

/* Texts of a program. */
#define RESTRIDE_TEXT_KERNEL 0   /* the loops that run */
#define RESTRIDE_TEXT_ASSEMBLY 1 /* their machine code; empty if there is none */

typedef struct restride_engine restride_engine;
typedef struct restride_template restride_template;
typedef struct restride_program restride_program;

/* What went wrong. The texts live until the next failure on the same thread. */
typedef struct restride_failure {
  size_t size;
  restride_status status;
  const char *message;
  const char *label; /* the operator and its value, "gather %rows"; null if it is about none */
  int64_t position;  /* for RESTRIDE_INDEX where in the index tensor, row-major; else -1 */
  int64_t value;     /* for RESTRIDE_INDEX the index, or the nearest number there is; else 0 */
  int64_t limit;     /* for RESTRIDE_INDEX the size of the axis; else 0 */
} restride_failure;

/* What an engine is made with. Begin with restride_config_default. */
typedef struct restride_config {
  size_t size;
  uint32_t code;          /* RESTRIDE_CODE_NATIVE */
  uint32_t views;         /* RESTRIDE_VIEWS_ANY; a text may say less: "return %y dense" or "copy" */
  uint64_t compile_work;  /* units of work, about a nanosecond each; UINT64_MAX is no limit */
  uint64_t compile_bytes; /* UINT64_MAX is no limit */
  size_t cache_entries;   /* programs that are remembered */
  size_t cache_bytes;     /* and what they may have together */
  size_t scratch_bytes;   /* intermediate results: what is kept from call to call, */
  size_t scratch_limit;   /* and what all calls may have together; SIZE_MAX is no limit */
  int64_t native_after_calls; /* lookups after which a template's program gets machine code; -1: when it pays */
} restride_config;

/* What an engine has done and holds. */
typedef struct restride_stats {
  size_t size;
  uint64_t hits;
  uint64_t misses;
  uint64_t evictions;
  uint64_t compiled; /* kernels that were given machine code */
  uint64_t refused;  /* kernels for which the system refused executable memory */
  size_t entries;
  size_t bytes;
  size_t code_bytes;
  size_t scratch_bytes;
} restride_stats;

/* The shape of an input of a template. This structure will never have another size. */
typedef struct restride_shape {
  size_t rank;
  const int64_t *sizes;
  const int64_t *strides; /* in elements, any sign; null is dense and row-major */
  int64_t offset;         /* elements from the start of the buffer to the first; 0 if dense */
} restride_shape;

/* Memory of the host's. This structure will never have another size. */
typedef struct restride_buffer {
  void *data;   /* at any alignment; inputs are only read */
  size_t bytes; /* more than are needed is fine */
} restride_buffer;

/* An input or an output. Its pointers live as long as the program. */
typedef struct restride_tensor {
  size_t size;
  uint32_t element;
  uint32_t is_view; /* outputs only: it lies in an input, and no buffer is used for it */
  size_t input;     /* of a view: which */
  size_t rank;
  const int64_t *sizes;
  const int64_t *strides; /* in elements; null is dense and row-major */
  int64_t offset;
  size_t bytes;     /* what its buffer must have; of a view, its elements laid dense */
  const char *why;  /* of an output that is no view: what keeps it from being one */
} restride_tensor;

/* What a program consists of and what a call of it moves. */
typedef struct restride_summary {
  size_t size;
  size_t inputs;
  size_t outputs;
  size_t computed; /* outputs that a call writes */
  size_t passes;
  size_t scratch_bytes;
  size_t code_bytes;
  uint64_t bytes_read;
  uint64_t bytes_written;
} restride_summary;

/* Of the library: compare it with RESTRIDE_VERSION. */
uint32_t restride_version(void);

/* The width of an element in bytes; 0 for a number that names none. */
size_t restride_element_width(uint32_t element_);

/* What went wrong last on this thread. A call that succeeds leaves it as it is. */
restride_status restride_last_failure(restride_failure *failure);

/* Fills a configuration, of which only the size is set, with what a null one means. */
restride_status restride_config_default(restride_config *config);

/* Makes an engine; a null config is the default. */
restride_status restride_engine_create(const restride_config *config, restride_engine **engine);

/* Null is fine. Does not wait for a compile in the background. */
void restride_engine_destroy(restride_engine *engine);

/* Forgets everything it has compiled, and frees the scratch that no call is using. */
restride_status restride_engine_clear(const restride_engine *engine);

/* Ends its thread, if it has one, and waits for the compile under way. To be called before the
 * library is unloaded. */
restride_status restride_engine_stop_background(const restride_engine *engine);

/* Gives a program machine code now, if it gains by that and has none. */
restride_status restride_engine_settle(const restride_engine *engine, const restride_program *program);

restride_status restride_engine_stats(const restride_engine *engine, restride_stats *stats);

/* Compiles a text of so many bytes; a lookup if the same has been compiled. */
restride_status restride_engine_compile(const restride_engine *engine, const char *text, size_t length, restride_program **program);

/* A text whose input shapes are only samples. Templates belong to no engine. */
restride_status restride_template_create(const char *text, size_t length, restride_template **template_);

/* Null is fine. Programs made of it live on. */
void restride_template_destroy(restride_template *template_);

/* The program of a template for these shapes, one for each input; a lookup if they have been seen. */
restride_status restride_engine_specialise(const restride_engine *engine, const restride_template *template_, const restride_shape *shapes, size_t count, restride_program **program);

/* Another owner of the same program. */
restride_status restride_program_share(const restride_program *program, restride_program **shared);

/* Null is fine. */
void restride_program_destroy(restride_program *program);

/* How many inputs it takes, and how many outputs it answers, views included; 0 for null. */
size_t restride_program_input_count(const restride_program *program);

size_t restride_program_output_count(const restride_program *program);

restride_status restride_program_input(const restride_program *program, size_t input, restride_tensor *tensor);

restride_status restride_program_output(const restride_program *program, size_t output, restride_tensor *tensor);

/* What a call moves is counted anew for each summary, which may take as long as planning the program did. */
restride_status restride_program_summary(const restride_program *program, restride_summary *summary);

/* Writes a text with a null byte after it, cut off where the buffer ends, and how many bytes it has
 * without that. A capacity of 0 only asks for the length. */
restride_status restride_program_text(const restride_program *program, uint32_t what, char *buffer, size_t capacity, size_t *needed);

/* The same for a program's text as restride spells it, with the types of all values. */
restride_status restride_format(const char *text, size_t length, char *buffer, size_t capacity, size_t *needed);

/* Runs on this thread. There is a buffer for each input and for each output of the program; those of
 * outputs that are views are not looked at. Buffers that are written overlap no other. */
restride_status restride_program_run(const restride_program *program, const restride_buffer *inputs, size_t input_count, const restride_buffer *outputs, size_t output_count);

/* What a host's thread is to call, for every n below a count, in any order. */
typedef void (*restride_body)(void *context, size_t n);

/* Runs body(context, n) for every n below count, on any threads, and returns when all have returned. */
typedef void (*restride_parallel_for)(void *user, size_t count, restride_body body, void *context);

/* The same on the host's threads, of which `width` can run at a time. What is too small to be shared
 * out runs on this one. */
restride_status restride_program_run_on(const restride_program *program, const restride_buffer *inputs, size_t input_count, const restride_buffer *outputs, size_t output_count, size_t width, restride_parallel_for run, void *user);

/* Gives memory for an output, of tensor->bytes or more, and returns RESTRIDE_OK; or anything else. */
typedef restride_status (*restride_allocate)(void *user, size_t output, const restride_tensor *tensor, restride_buffer *buffer);

/* Runs with memory that the host is asked for, output by output, for those that are no views.
 * `answers`, if it is not null, has one entry for each output: what was given for it, or the buffer of
 * the input that it is a view of. Memory that was given remains the host's, also after a failure. */
restride_status restride_program_run_with(const restride_program *program, const restride_buffer *inputs, size_t input_count, restride_allocate allocate, void *user, restride_buffer *answers, size_t answer_count);

#ifdef __cplusplus
}
#endif

#endif

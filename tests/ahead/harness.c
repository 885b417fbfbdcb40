// Runs kernels from an object file on cases from standard input, each buffer between pages that may not be touched.
//
// A case is: the number of the kernel (4 bytes), whether an index is out of range (4 bytes), the bytes of each input,
// and those of each output as they are to be afterwards. Outputs hold BEFORE until they are written. Each case runs
// twice: with buffers that end where such a page begins, and with buffers that begin where one ends.
#include "kernels.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BEFORE 0xa5
#define AROUND 0xee
#define MOST 64
#define PAGE 4096ul

struct kernel {
    int (*run)(const void *const in[], void *const out[], void *scratch);
    unsigned inputs, outputs;
    const unsigned long *in_bytes, *out_bytes;
    unsigned long scratch_bytes;
};
// Made by the test from the names of the functions and the constants of the header.
extern const struct kernel kernels[];
extern const unsigned kernel_count;

struct buffer {
    unsigned char *map, *start;
    size_t mapped, bytes;
};

static unsigned long number;

static void fail(const char *what) {
    printf("case %lu: %s\n", number, what);
    exit(1);
}

static void fault(int signal) {
    static char text[64];
    int length = snprintf(text, sizeof text, "case %lu: signal %d\n", number, signal);
    if (write(1, text, length) < 0) _exit(3);
    _exit(2);
}

static int read_all(void *to, size_t bytes) { return fread(to, 1, bytes, stdin) == bytes; }

// Memory of so many bytes, at the end of its pages or at their beginning.
static struct buffer guarded(size_t bytes, int at_front) {
    size_t inner = (bytes / PAGE + 1) * PAGE;
    struct buffer b = {.mapped = inner + 2 * PAGE, .bytes = bytes};
    b.map = mmap(0, b.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b.map == MAP_FAILED || mprotect(b.map + PAGE, inner, PROT_READ | PROT_WRITE)) fail("no memory");
    b.start = b.map + PAGE + (at_front ? 0 : inner - bytes);
    size_t front = b.start - (b.map + PAGE);
    memset(b.map + PAGE, AROUND, front);
    memset(b.start, BEFORE, bytes);
    memset(b.start + bytes, AROUND, inner - front - bytes);
    return b;
}

static void only_read(struct buffer *b) {
    if (mprotect(b->map + PAGE, b->mapped - 2 * PAGE, PROT_READ)) fail("no protection");
}

static int is_intact(const struct buffer *b) {
    const unsigned char *at = b->map + PAGE, *end = b->map + b->mapped - PAGE;
    for (; at < b->start; at++)
        if (*at != AROUND) return 0;
    for (at = b->start + b->bytes; at < end; at++)
        if (*at != AROUND) return 0;
    return 1;
}

static void let_go(struct buffer *b) { munmap(b->map, b->mapped); }

static void run(const struct kernel *k, int refused, unsigned char *const data[], int at_front) {
    struct buffer in[MOST], out[MOST], scratch = guarded(k->scratch_bytes, at_front);
    const void *ins[MOST];
    void *outs[MOST];
    for (unsigned i = 0; i < k->inputs; i++) {
        in[i] = guarded(k->in_bytes[i], at_front);
        memcpy(in[i].start, data[i], in[i].bytes);
        only_read(&in[i]);
        ins[i] = in[i].start;
    }
    for (unsigned i = 0; i < k->outputs; i++) {
        out[i] = guarded(k->out_bytes[i], at_front);
        outs[i] = out[i].start;
    }
    int status = k->run(ins, outs, scratch.start);
    if ((status != 0) != refused) fail(refused ? "an index was not refused" : "it was refused");
    if (!is_intact(&scratch)) fail("wrote outside of scratch");
    for (unsigned i = 0; i < k->outputs; i++) {
        if (!is_intact(&out[i])) fail("wrote outside of an output");
        const unsigned char *wanted = data[k->inputs + i];
        if (memcmp(out[i].start, wanted, out[i].bytes)) {
            size_t at = 0;
            while (out[i].start[at] == wanted[at]) at++;
            printf("output %u of %zu bytes, byte %zu is %#x for %#x\n", i, out[i].bytes, at, out[i].start[at], wanted[at]);
            fail("an output differs");
        }
        let_go(&out[i]);
    }
    for (unsigned i = 0; i < k->inputs; i++) let_go(&in[i]);
    let_go(&scratch);
}

int main(void) {
    unsigned head[2];
    signal(SIGSEGV, fault);
    signal(SIGBUS, fault);
    signal(SIGILL, fault);
    for (; read_all(head, sizeof head); number++) {
        if (head[0] >= kernel_count) fail("no such kernel");
        const struct kernel *k = &kernels[head[0]];
        if (k->inputs + k->outputs > MOST) fail("more buffers than there is room for");
        unsigned char *data[MOST];
        for (unsigned i = 0; i < k->inputs + k->outputs; i++) {
            size_t bytes = i < k->inputs ? k->in_bytes[i] : k->out_bytes[i - k->inputs];
            data[i] = malloc(bytes + 1);
            if (!data[i] || !read_all(data[i], bytes)) fail("the case ends too soon");
        }
        run(k, head[1], data, 0);
        run(k, head[1], data, 1);
        for (unsigned i = 0; i < k->inputs + k->outputs; i++) free(data[i]);
    }
    printf("%lu cases\n", number);
    return 0;
}

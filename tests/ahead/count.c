// A plugin of QEMU that counts the instructions which a program executes in some ranges of addresses.
//
// Its argument is `places=FILE`, a file of lines `first bytes` in hexadecimal; at the end it writes to `counts=FILE` one
// count a line. What it needs of QEMU's interface for plugins is declared here, since its header is in no package.
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The version of the interface: 1 until QEMU 8, 2 and more since.
#ifndef INTERFACE
#define INTERFACE 1
#endif
__attribute__((visibility("default"))) int qemu_plugin_version = INTERFACE;

typedef uint64_t id_t_;
struct qemu_plugin_tb;
void qemu_plugin_register_vcpu_tb_trans_cb(id_t_, void (*)(id_t_, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int flags, void *);
void qemu_plugin_register_atexit_cb(id_t_, void (*)(id_t_, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);

static struct place { uint64_t first, bytes, count; } *places;
static size_t known;
static const char *counts;

// A block of instructions, and for whom it counts.
struct block { struct place *place; uint64_t instructions; };

static void executed(unsigned cpu, void *data) {
    (void)cpu;
    struct block *block = data;
    block->place->count += block->instructions;
}

static void translated(id_t_ id, struct qemu_plugin_tb *tb) {
    (void)id;
    uint64_t at = qemu_plugin_tb_vaddr(tb);
    for (size_t i = 0; i < known; i++) {
        if (at - places[i].first >= places[i].bytes) continue;
        struct block *block = malloc(sizeof *block);
        if (!block) abort();
        *block = (struct block){&places[i], qemu_plugin_tb_n_insns(tb)};
        qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, 0, block);
        return;
    }
}

static void ended(id_t_ id, void *data) {
    (void)id, (void)data;
    FILE *to = fopen(counts, "w");
    if (!to) return;
    for (size_t i = 0; i < known; i++) fprintf(to, "%" PRIu64 "\n", places[i].count);
    fclose(to);
}

__attribute__((visibility("default"))) int qemu_plugin_install(id_t_ id, const void *info, int argc, char **argv) {
    (void)info;
    FILE *from = 0;
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "places=", 7)) from = fopen(argv[i] + 7, "r");
        if (!strncmp(argv[i], "counts=", 7)) counts = strdup(argv[i] + 7);
    }
    if (!from || !counts) return 1;
    struct place place = {0, 0, 0};
    while (fscanf(from, "%" SCNx64 " %" SCNx64, &place.first, &place.bytes) == 2) {
        places = realloc(places, (known + 1) * sizeof place);
        if (!places) return 1;
        places[known++] = place;
    }
    fclose(from);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, 0);
    return 0;
}

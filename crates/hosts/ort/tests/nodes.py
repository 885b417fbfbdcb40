"""Single nodes of ONNX Runtime beside the operator `Move`: the same answers to the bit, and how long each takes.

    python nodes.py path/to/restride path/to/librestride_ort.so [--page docs/onnxruntime.md]

Needs `onnx`, `onnxruntime` and `numpy`. Each case is a model of one node, which is rewritten; both run
on one thread in turns, inputs and outputs bound. Times are of the processor, medians of 25 turns.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from models import publish, session

SHAPES = {"8 kB": [1, 8, 16, 16], "400 kB": [1, 32, 56, 56], "13 MB": [4, 64, 112, 112]}
BEGIN, END = "<!-- measured by crates/hosts/ort/tests/nodes.py -->", "<!-- end of these -->"


def node(op, *tables, outputs=1, shape=None, **attributes):
    """A case: a model of one node, whose further inputs are these tables."""

    def make(sample):
        own = shape(sample) if shape else sample
        lists = [table(sample) if callable(table) else table for table in tables]
        weights = [numpy_helper.from_array(np.array(table, np.int64), f"w{at}") for at, table in enumerate(lists)]
        made = [f"y{at}" for at in range(outputs)]
        one = helper.make_node(op, ["x", *[weight.name for weight in weights]], made, **attributes)
        info = helper.make_tensor_value_info
        graph = helper.make_graph([one], "one", [info("x", 1, own)], [info(name, 1, None) for name in made], weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)

    return make


LAST = 1 << 40
CASES = {
    "Transpose to channels last": node("Transpose", perm=[0, 2, 3, 1]),
    "Transpose to channels first": node("Transpose", perm=[0, 3, 1, 2]),
    "Transpose of heads": node("Transpose", perm=[0, 2, 1, 3]),
    "Transpose of the last two": node("Transpose", perm=[0, 1, 3, 2]),
    "Transpose, reversed": node("Transpose", perm=[3, 2, 1, 0]),
    "Transpose, ends swapped": node("Transpose", perm=[0, 3, 2, 1]),
    "Slice of every second": node("Slice", [0], [LAST], [3], [2]),
    "Slice, reversed": node("Slice", [-1], [-LAST], [3], [-1]),
    "Slice of the inside": node("Slice", [2, 2], [-2, -2], [2, 3]),
    "Slice of channels": node("Slice", [0], [4], [1]),
    "Pad": node("Pad", [0, 0, 1, 1, 0, 0, 1, 1]),
    "Pad, reflected": node("Pad", [0, 0, 1, 1, 0, 0, 1, 1], mode="reflect"),
    "Tile of rows": node("Tile", [1, 1, 1, 2]),
    "Split of rows": node("Split", outputs=2, axis=3, num_outputs=2),
    "Split of channels": node("Split", outputs=2, axis=1, num_outputs=2),
    "DepthToSpace": node("DepthToSpace", blocksize=2, mode="CRD"),
    "SpaceToDepth": node("SpaceToDepth", blocksize=2),
    "Expand": node("Expand", lambda sample: sample, shape=lambda it: [*it[:2], 1, it[3]]),
    "Gather of channels": node("Gather", [1, 3, 5, 7, 0, 2], axis=1),
    "Gather of columns": node("Gather", [1, 3, 5, 7, 0, 2], axis=3),
}


def bound(running, value):
    ends = running.io_binding()
    ends.bind_cpu_input("x", value)
    for one in running.get_outputs():
        ends.bind_output(one.name)
    return lambda: running.run_with_iobinding(ends)


def measured(restride, library, proto, folder):
    """Microseconds of the node and of ours."""
    plain, ours = f"{folder}/one.onnx", f"{folder}/ours.onnx"
    onnx.save(proto, plain)
    subprocess.run([restride, "rewrite", plain, "-o", ours, "--all"], check=True, capture_output=True)
    one, other = session(plain), session(ours, library)
    value = np.random.default_rng(1).standard_normal(one.get_inputs()[0].shape).astype(np.float32)
    pairs = zip(one.run(None, {"x": value}), other.run(None, {"x": value}), strict=True)
    if not all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs):
        raise SystemExit("another answer")
    runs = [bound(one, value), bound(other, value)]
    for run in runs * 20:
        run()
    begin = time.perf_counter()
    runs[0]()
    times = max(1, int(0.004 / (time.perf_counter() - begin + 1e-6)))
    turns = [[], []]
    for _ in range(25):
        for turn, run in zip(turns, runs):
            before = time.process_time()
            for _ in range(times):
                run()
            turn.append((time.process_time() - before) * 1e6 / times)
    return [statistics.median(turn) for turn in turns]


def main():
    said = argparse.ArgumentParser()
    said.add_argument("restride")
    said.add_argument("operator")
    said.add_argument("--page", type=Path)
    said = said.parse_args()
    rows = ["| node | " + " | ".join(SHAPES) + " |", "|---|" + "---|" * len(SHAPES)]
    with tempfile.TemporaryDirectory() as folder:
        for name, make in CASES.items():
            cells = [name]
            for shape in SHAPES.values():
                theirs, ours = measured(said.restride, said.operator, make(shape), folder)
                cells.append(f"{theirs:.3g} -> {ours:.3g} us: {theirs / ours:.1f}x")
            rows.append("| " + " | ".join(cells) + " |")
            print(rows[-1], file=sys.stderr, flush=True)
    text = "\n".join(rows)
    publish(said.page, (BEGIN, END), text)


if __name__ == "__main__":
    main()

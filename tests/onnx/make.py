"""Writes `nodes.jsonl`: the ONNX project's own tests of operators that only move data, and of those
that shapes are worked out with. `python make.py` in this folder; needs the package `onnx`.

A line is one test: the model, and what goes in and comes out, as the bytes of their messages in
hexadecimal digits. Tests on anything but tensors, in training mode, or above 16 kB are left out.
"""

import json
import warnings
from pathlib import Path

import numpy as np
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

MOVEMENT = """Compress Concat CenterCropPad DepthToSpace Dropout Expand Flatten Gather GatherElements
GatherND Identity Pad Reshape ReverseSequence Slice SpaceToDepth Split Squeeze TensorScatter Tile Transpose
Unsqueeze""".split()
SHAPES = "ConstantOfShape Range Shape Size".split()
MOST = 16_000


def hexed(array, name):
    return numpy_helper.from_array(np.asarray(array), name).SerializeToString().hex()


def lines():
    for case in collect_testcases(None):
        ops = [node.op_type for node in case.model.graph.node]
        kind = "CenterCropPad" if "center_crop_pad" in case.name else ops[0] if len(set(ops)) == 1 else None
        if kind not in MOVEMENT + SHAPES or "training" in case.name or len(case.data_sets) != 1:
            continue
        given, expected = case.data_sets[0]
        if any(isinstance(one, (list, type(None))) for one in [*given, *expected]):
            continue
        names = [one.name for one in case.model.graph.input]
        outputs = [one.name for one in case.model.graph.output]
        line = {
            "onnx": case.name, "op": kind, "model": case.model.SerializeToString().hex(),
            "inputs": [hexed(*pair) for pair in zip(given, names)],
            "outputs": [hexed(*pair) for pair in zip(expected, outputs)],
        }
        text = json.dumps(line)
        if len(text) < 2 * MOST:
            yield case.name, text


warnings.simplefilter("ignore")
texts = [text for _, text in sorted(lines())]
(Path(__file__).parent / "nodes.jsonl").write_text("\n".join(texts) + "\n")
print(len(texts), "tests,", sum(map(len, texts)), "bytes")

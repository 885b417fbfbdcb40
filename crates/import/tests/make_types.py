"""Writes `types.txt`: what the ONNX project's own tests of single operators say of the types of their
results. `python make_types.py` in this folder; needs the package `onnx`.

A line is one test: its name, the operator with its domain and version, its inputs, its attributes and
its outputs, with tabs between. What decides a shape is written out as numbers. Tests of strings,
sequences, graphs and lines that say nothing new are left out.
"""

import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx.backend.test.case.node import collect_testcases

# What is tested to the bit elsewhere, learns, or has no tensors.
WITHOUT = """Adagrad Adam Momentum ArrayFeatureExtractor Binarizer TreeEnsemble LabelEncoder ImageDecoder
TfIdfVectorizer OptionalHasElement OptionalGetElement""".split()
NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "bool"}
# The floats of these are scales, bounds and fillings.
SCALED = ["Pad", "Range", "Resize", "Upsample"]
MOST_NUMBERS, MOST_TESTS = 16, 6


def element(dtype):
    name = str(dtype)
    return NAMES.get(name) or name.replace("uint", "u").replace("int", "i")


def known(array):
    return element(array.dtype) in {*NAMES.values(), *(f"{s}{n}" for s in "iu" for n in (8, 16, 32, 64))}


def tensor(array, told):
    shape = ",".join(map(str, array.shape))
    text = f"{element(array.dtype)}[{shape}]"
    if told and array.size <= MOST_NUMBERS:
        text += "=" + ",".join(str(number) for number in array.reshape(-1).astype(
            np.int64 if array.dtype.kind in "iub" else np.float64).tolist())
    return text


def attribute(one):
    value = onnx.helper.get_attribute_value(one)
    kinds = {1: "f", 2: "i", 3: "s", 6: "fs", 7: "is"}
    if one.type not in kinds:
        return None
    if one.type == 3:
        value = value.decode()
    if one.type in (6, 7):
        value = ",".join(map(str, value))
    return f"{one.name}={kinds[one.type]}:{value}"


def lines():
    seen, count = set(), {}
    for case in collect_testcases(None):
        nodes = case.model.graph.node
        if len(nodes) != 1 or len(case.data_sets) != 1 or nodes[0].op_type in WITHOUT:
            continue
        node = nodes[0]
        given, expected = ([np.asarray(one) for one in side] if all(
            isinstance(one, (np.ndarray, np.generic)) for one in side) else None for side in case.data_sets[0])
        if given is None or expected is None or not all(map(known, given + expected)):
            continue
        values = dict(zip((one.name for one in case.model.graph.input), given))
        exact = lambda array: array.dtype.kind in "ib" or array.dtype == np.float32 and node.op_type in SCALED
        inputs = ["-" if not name else tensor(values[name], exact(values[name]) and (at > 0 or values[name].ndim < 2))
                  for at, name in enumerate(node.input)]
        named = dict(zip((one.name for one in case.model.graph.output), expected))
        outputs = [tensor(named[name], False) if name in named else "-" for name in node.output]
        attributes = [attribute(one) for one in node.attribute]
        if None in attributes or any(" " in one or "\t" in one for one in attributes):
            continue
        domain = node.domain or "ai.onnx"
        version = max(one.version for one in case.model.opset_import if (one.domain or "ai.onnx") == domain)
        line = "\t".join([f"{domain} {node.op_type} {version}", " ".join(inputs), " ".join(sorted(attributes)),
                          " ".join(outputs)])
        count[node.op_type] = count.get(node.op_type, 0) + (line not in seen)
        if line not in seen and count[node.op_type] <= MOST_TESTS:
            yield f"{case.name.removeprefix('test_')}\t{line}"
        seen.add(line)


warnings.simplefilter("ignore")
texts = sorted(lines())
(Path(__file__).parent / "types.txt").write_text("\n".join(texts) + "\n")
print(len(texts), "tests,", sum(map(len, texts)), "bytes")

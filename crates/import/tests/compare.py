"""Compares every group of movement in a model with its own runtime, bit by bit.

    python compare.py path/to/restride model.onnx [--shape x=1,3,640,640 ...] [--value n=1 ...]
    python compare.py path/to/restride model.xml

Needs the packages `onnx`, `onnxruntime` and `numpy`, or `openvino` for an IR. The model runs on
random inputs, with all inputs and outputs of groups handed out; then each group runs as a program
of `restride` on what the runtime handed to it. What lies in bodies is not handed out and counted as
such. The last line says how it went.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

def options(words):
    said = {}
    for flag, text in zip(words[::2], words[1::2]):
        name, _, numbers = text.rpartition("=")
        said.setdefault(flag, {})[name] = [int(n) for n in numbers.split(",") if n]
    return said


def run(restride, model, words, folder):
    out = subprocess.run([restride, "model", model, "--json", "--no-times", "--emit", folder, *words],
                         check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def feed(name, dtype, shape, values):
    random = np.random.default_rng(1)
    if name in values:
        return np.array(values[name], dtype).reshape(shape)
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 2, shape).astype(dtype)


def with_onnxruntime(model, shapes, wanted, values):
    """The tensors that are wanted and can be had, by name."""
    import onnx
    import onnxruntime

    types = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16,
             "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(uint8)": np.uint8,
             "tensor(int8)": np.int8, "tensor(bool)": np.bool_}
    proto = onnx.load(model)
    made = {name for node in proto.graph.node for name in node.output}
    made |= {one.name for one in proto.graph.input} | {one.name for one in proto.graph.initializer}
    handed = {one.name for one in proto.graph.output}
    for name in sorted((wanted & made) - handed):
        proto.graph.output.append(onnx.ValueInfoProto(name=name))
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    settings.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    given = {one.name: feed(one.name, types[one.type], shapes[one.name], values) for one in session.get_inputs()}
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, given))) | given


def with_openvino(model, shapes, wanted, values):
    import openvino

    read = openvino.Core().read_model(model)
    named = lambda port: next(iter(sorted(port.names)), port.get_node().friendly_name)
    shape = {id(one): next(shapes[n] for n in [*one.names, one.get_node().friendly_name] if n in shapes) for one in read.inputs}
    inputs = [(one, named(one), shape[id(one)]) for one in read.inputs]
    read.reshape({one: shape for one, _, shape in inputs})
    found = {}
    for op in read.get_ordered_ops():
        for at, port in enumerate(op.outputs()):
            names = sorted(port.names) or [op.friendly_name if len(op.outputs()) < 2 else f"{op.friendly_name}.{at}"]
            found.update((name, port) for name in names if name in wanted)
    given = [feed(name, one.element_type.to_dtype(), shape, values) for one, name, shape in inputs]
    for name, port in found.items():
        if port.get_node().get_type_name() != "Parameter":
            read.add_outputs([port])
    compiled = openvino.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    answers = compiled(given)
    tensors = {}
    for one, value in zip(read.inputs, given):
        tensors |= {name: value for name in [*one.names, one.get_node().friendly_name]}
    for at, result in enumerate(read.get_results()):
        source = result.input_value(0)
        friendly = source.get_node().friendly_name
        for name in [*source.names, friendly, f"{friendly}.{source.get_index()}"]:
            tensors[name] = answers[at]
    return tensors


def main(restride, model, *words):
    counts = {"equal": 0, "different": 0, "in bodies": 0, "failed": 0}
    with tempfile.TemporaryDirectory() as folder:
        report = run(restride, model, words, folder)
        wanted = set()
        for kind in report["groups"]:
            for member in kind["members"]:
                wanted |= {one["tensor"] for one in member["inputs"] + member["outputs"]}
        shapes = {one["name"]: one.get("shape", []) for one in report["inputs"]}
        runtime = with_openvino if model.endswith(".xml") else with_onnxruntime
        tensors = runtime(model, shapes, wanted, options(words).get("--value", {}))
        for kind in report["groups"]:
            first = kind["members"][0]
            for member in kind["members"]:
                ends = member["inputs"] + member["outputs"]
                if member["scope"] or any(one["tensor"] not in tensors for one in ends):
                    counts["in bodies"] += 1
                    continue
                command = [restride, "run", str(Path(folder) / kind["file"])]
                for at, (one, slot) in enumerate(zip(member["inputs"], first["inputs"])):
                    file = f"{folder}/in{at}.npy"
                    np.save(file, np.ascontiguousarray(tensors[one["tensor"]]).reshape(tensors[one["tensor"]].shape))
                    command += ["--input", f"{slot['name']}={file}"]
                # An output may be handed out twice; it is written once.
                outs = {}
                for at, (one, slot) in enumerate(zip(member["outputs"], first["outputs"])):
                    if slot["name"] not in outs:
                        outs[slot["name"]] = (f"{folder}/out{at}.npy", one["tensor"])
                        command += ["--output", f"{slot['name']}={folder}/out{at}.npy"]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode:
                    counts["failed"] += 1
                    print(model, kind["file"], done.stderr.strip())
                    continue
                same = True
                for file, name in outs.values():
                    ours, theirs = np.load(file), tensors[name]
                    same &= ours.shape == theirs.shape and ours.tobytes() == np.ascontiguousarray(theirs).tobytes()
                counts["equal" if same else "different"] += 1
                if not same:
                    print(model, kind["file"], "differs:", kind["operators"])
    nodes, total = report["nodes"], report["total"]
    print(f"{Path(model).name}: {nodes['all']} nodes, {nodes['movement']} of movement, {nodes['hidden']} hidden, "
          f"{total['groups']} groups: " + ", ".join(f"{n} {what}" for what, n in counts.items() if n) +
          f"; {total['one_by_one']} bytes one by one, {total['moved']} together")
    return counts["different"] + counts["failed"]


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))

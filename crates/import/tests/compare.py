"""Compares every group of movement in ONNX models with ONNX Runtime, bit by bit.

    python compare.py path/to/restride model.onnx [--shape x=1,3,640,640 ...] [--value n=1 ...]

Needs the packages `onnx`, `onnxruntime` and `numpy`. The model runs on random inputs without
optimisations, with all inputs and outputs of groups handed out; then each group runs as a program
of `restride` on what ONNX Runtime handed to it. What lies in bodies is not handed out and counted
as such. The last line says how it went.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16,
         "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(uint8)": np.uint8,
         "tensor(int8)": np.int8, "tensor(bool)": np.bool_}


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


def feeds(session, report, values):
    random = np.random.default_rng(1)
    shapes = {one["name"]: one.get("shape", []) for one in report["inputs"]}
    given = {}
    for one in session.get_inputs():
        dtype, shape = TYPES[one.type], shapes[one.name]
        if one.name in values:
            given[one.name] = np.array(values[one.name], dtype).reshape(shape)
        elif np.issubdtype(dtype, np.floating):
            given[one.name] = random.standard_normal(shape).astype(dtype)
        elif dtype == np.bool_:
            given[one.name] = random.integers(0, 2, shape).astype(dtype)
        else:
            given[one.name] = random.integers(0, 2, shape).astype(dtype)
    return given


def main(restride, model, *words):
    counts = {"equal": 0, "different": 0, "in bodies": 0, "failed": 0}
    with tempfile.TemporaryDirectory() as folder:
        report = run(restride, model, words, folder)
        proto = onnx.load(model)
        made = {name for node in proto.graph.node for name in node.output}
        made |= {one.name for one in proto.graph.input} | {one.name for one in proto.graph.initializer}
        handed = {one.name for one in proto.graph.output}
        wanted = set()
        for kind in report["groups"]:
            for member in kind["members"]:
                wanted |= {one["tensor"] for one in member["inputs"] + member["outputs"]}
        for name in sorted((wanted & made) - handed):
            proto.graph.output.append(onnx.ValueInfoProto(name=name))
        settings = onnxruntime.SessionOptions()
        settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        settings.log_severity_level = 4
        session = onnxruntime.InferenceSession(proto.SerializeToString(), settings, providers=["CPUExecutionProvider"])
        given = feeds(session, report, options(words).get("--value", {}))
        names = [one.name for one in session.get_outputs()]
        tensors = dict(zip(names, session.run(names, given))) | given
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

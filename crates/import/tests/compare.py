"""Compares every group of movement in a model with its own runtime, bit by bit.

    python compare.py path/to/restride model.onnx [--shape x=1,3,640,640 ...] [--value n=1 ...] [--feed n=1 ...]
    python compare.py path/to/restride model.xml

Needs the packages `onnx`, `onnxruntime` and `numpy`, or `openvino` for an IR. The model runs on
inputs that are random but for --value and --feed, with all inputs and outputs of groups handed out;
then each group runs as a program of `restride` on what the runtime handed to it. Where the runtime
takes a branch, its nodes are put in place of the If; what lies in other bodies cannot be handed out
and is counted as such. Groups that are templates run once more at sizes that restride has not seen. The last lines say how it went. `real.py` does so for many models.
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


# Runs a command from a small process: what a child is said to have held counts its parent's memory.
LAUNCH = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[2:], stdout=open(sys.argv[1], "wb"))
_, status, used = os.wait4(child.pid, 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, os.waitstatus_to_exitcode(status))
"""


def run(restride, model, words, folder):
    """What restride says of the model, the seconds of processor time that takes at best, and the most bytes it holds."""
    out = f"{folder}/report.json"
    told = [word for pair in zip(words[::2], words[1::2]) if pair[0] != "--feed" for word in pair]
    command = [restride, "model", model, "--json", "--no-times", "--emit", folder, *told]
    seconds = []
    for _ in range(5):
        launch = [sys.executable, "-S", "-c", LAUNCH, out, *command]
        done = subprocess.run(launch, check=True, capture_output=True, text=True)
        took, held, code = map(float, done.stdout.split())
        if code:
            raise SystemExit(f"{model}: {done.stderr}")
        seconds.append(took)
    return json.loads(Path(out).read_text()), min(seconds), held


def feed(name, dtype, shape, values):
    random = np.random.default_rng(1)
    if name in values:
        return np.array(values[name], dtype).reshape(shape)
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 2, shape).astype(dtype)


TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16,
         "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(uint8)": np.uint8,
         "tensor(int8)": np.int8, "tensor(bool)": np.bool_}


def session(proto):
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    settings.log_severity_level = 4
    return onnxruntime.InferenceSession(proto.SerializeToString(), settings, providers=["CPUExecutionProvider"])


def hand_out(proto, names):
    """Makes these tensors outputs, those of them that there are."""
    import onnx

    made = {name for node in proto.graph.node for name in node.output if name}
    made |= {one.name for one in proto.graph.input} | {one.name for one in proto.graph.initializer}
    handed = {one.name for one in proto.graph.output}
    for name in sorted((names & made) - handed):
        proto.graph.output.append(onnx.ValueInfoProto(name=name))


def take_branches(proto, given):
    """Puts the nodes of the branch that is taken in place of each If; gives the paths of these."""
    import onnx

    taken = set()
    while ifs := [node for node in proto.graph.node if node.op_type == "If"]:
        asked = onnx.ModelProto()
        asked.CopyFrom(proto)
        del asked.graph.output[:]
        hand_out(asked, {node.input[0] for node in ifs})
        asking = session(asked)
        answers = dict(zip([one.name for one in asking.get_outputs()], asking.run(None, given)))
        nodes = []
        for node in proto.graph.node:
            if node.op_type != "If":
                nodes.append(node)
                continue
            branch = "then_branch" if answers[node.input[0]].reshape(-1)[0] else "else_branch"
            taken.add(f"{node.name}.{branch}")
            body = next(one.g for one in node.attribute if one.name == branch)
            proto.graph.initializer.extend(body.initializer)
            nodes += body.node
            for inside, outside in zip(body.output, node.output):
                if outside and inside.name != outside:
                    nodes.append(onnx.helper.make_node("Identity", [inside.name], [outside]))
        nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
        del proto.graph.node[:]
        proto.graph.node.extend(nodes)
    return taken


def sizes_beyond(model, report, shapes):
    """The shapes of the inputs at sizes that nobody has read the model at, of what its file leaves open;
    and the names of these sizes."""
    import onnx

    further = {}
    for one in report["dimensions"]:
        if one["tried"]:
            # The size that follows; where multiples are needed, one in between, since those grow fast.
            size, (first, second) = one["size"], one["tried"]
            further[one["name"]] = second + 1 if second == size + 2 else (size + first) // 2
    graph = onnx.load(model, load_external_data=False).graph
    weights = {one.name for one in graph.initializer}
    own = {}
    for one in graph.input:
        if one.name in weights or not one.type.tensor_type.HasField("shape"):
            continue
        shape = list(shapes[one.name])
        for axis, dim in enumerate(one.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value") or dim.dim_value < 0:
                name = dim.dim_param or own.setdefault((axis, shape[axis]), f"axis {axis} of {one.name}")
                shape[axis] = further.get(name, shape[axis])
        shapes = shapes | {one.name: shape}
    return shapes, set(further)


def with_onnxruntime(model, shapes, wanted, values):
    """The tensors that are wanted and can be had, by name, and which branches were taken."""
    import onnx

    proto = onnx.load(model)
    inputs = {one.name: TYPES[one.type] for one in session(proto).get_inputs()}
    given = {name: feed(name, element, shapes[name], values) for name, element in inputs.items()}
    taken = take_branches(proto, given)
    hand_out(proto, wanted)
    running = session(proto)
    names = [one.name for one in running.get_outputs()]
    return dict(zip(names, running.run(names, given))) | given, taken


def with_openvino(model, shapes, wanted, values):
    import openvino

    read = openvino.Core().read_model(model)
    named = lambda port: next(iter(sorted(port.names)), port.get_node().friendly_name)
    inputs = []
    for one in read.inputs:
        names = [*one.names, one.get_node().friendly_name]
        inputs.append((one, named(one), next(shapes[name] for name in names if name in shapes)))
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
    return tensors, set()


def compare(restride, model, words):
    """What restride says of the model, how many groups give what the runtime gives, and how many of
    those that are templates do so at other sizes of what the file leaves open."""
    counts = {"equal": 0, "different": 0, "in bodies": 0, "failed": 0}
    beyond = {"equal": 0, "different": 0, "in bodies": 0, "failed": 0, "not run": 0}
    with tempfile.TemporaryDirectory() as folder:
        report, seconds, held = run(restride, model, words, folder)
        wanted = set()
        for kind in report["groups"]:
            for member in kind["members"]:
                wanted |= {one["tensor"] for one in member["inputs"] + member["outputs"]}
        shapes = {one["name"]: one.get("shape", []) for one in report["inputs"]}
        runtime = with_openvino if model.endswith(".xml") else with_onnxruntime
        said = options(words)
        fed = said.get("--value", {}) | said.get("--feed", {})
        tensors, taken = runtime(model, shapes, wanted, fed)
        compare_groups(restride, model, folder, report["groups"], tensors, taken, counts)
        if runtime is with_onnxruntime and any(one["tried"] for one in report["dimensions"]):
            further, names = sizes_beyond(model, report, shapes)
            templates = [kind for kind in report["groups"] if names <= set(kind["any"])]
            try:
                tensors, taken = runtime(model, further, wanted, fed)
                compare_groups(restride, model, folder, templates, tensors, taken, beyond, "--template")
            except Exception as error:
                print(f"{model} at {further}: {str(error)[:300]}", file=sys.stderr)
                beyond["not run"] = sum(len(kind["members"]) for kind in templates)
    return report, seconds, held, counts, beyond


def compare_groups(restride, model, folder, kinds, tensors, taken, counts, *more):
    for kind in kinds:
        for member in kind["members"]:
            ends = member["inputs"] + member["outputs"]
            there = not member["scope"] or member["scope"] in taken
            if not there or any(one["tensor"] not in tensors for one in ends):
                counts["in bodies"] += 1
                continue
            how = same(restride, folder, kind, member, tensors, *more)
            counts[how] += 1
            if how != "equal":
                print(model, kind["file"], *more, how + ":", kind["operators"], file=sys.stderr)


def same(restride, folder, kind, member, tensors, *more):
    """Whether a group gives what it should: equal, different, or failed."""
    first = kind["members"][0]
    command = [restride, "run", *more, str(Path(folder) / kind["file"])]
    for at, (one, slot) in enumerate(zip(member["inputs"], first["inputs"])):
        file, tensor = f"{folder}/in{at}.npy", tensors[one["tensor"]]
        np.save(file, np.ascontiguousarray(tensor).reshape(tensor.shape))
        command += ["--input", f"{slot['name']}={file}"]
    # An output may be handed out twice; it is written once.
    outs = {}
    for at, (one, slot) in enumerate(zip(member["outputs"], first["outputs"])):
        if slot["name"] not in outs:
            outs[slot["name"]] = (f"{folder}/out{at}.npy", one["tensor"])
            command += ["--output", f"{slot['name']}={folder}/out{at}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr.strip(), file=sys.stderr)
        return "failed"
    for file, name in outs.values():
        ours, theirs = np.load(file), tensors[name]
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            return "different"
        if ours.tobytes() != np.ascontiguousarray(theirs).tobytes():
            return "different"
    return "equal"


def main(restride, model, *words):
    report, _, _, counts, beyond = compare(restride, model, words)
    nodes, total = report["nodes"], report["total"]
    print(f"{Path(model).name}: {nodes['all']} nodes, {nodes['movement']} of movement, {nodes['hidden']} hidden, "
          f"{total['groups']} groups: " + ", ".join(f"{n} {what}" for what, n in counts.items() if n) +
          f"; {total['one_by_one']} bytes one by one, {total['moved']} together")
    if any(beyond.values()):
        print("  templates at other sizes: " + ", ".join(f"{n} {what}" for what, n in beyond.items() if n))
    return counts["different"] + counts["failed"] + beyond["different"] + beyond["failed"]


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))

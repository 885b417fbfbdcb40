"""Real models in ONNX Runtime, as they are and rewritten: the same answers to the bit, and how long each takes.

    python models.py path/to/restride path/to/librestride_ort.so FOLDER [--made] [--page docs/onnxruntime.md] [--only PATTERN]

Needs `onnx`, `onnxruntime` and `numpy`. The models are those of `crates/import/tests/real.py`, which
fetches their wheels into FOLDER, or with `--made` those of `crates/import/tests/made.py`. Each is rewritten
as it is, after ONNX Runtime has optimised it and written it down, and after it has also laid out channels
in blocks for this machine. Answers are compared without the optimisations of ONNX Runtime, since
those add floats up in other orders; times are with all of them. The sessions take turns; times are of
the processor, or with `--wall` of the clock, the medians of many turns, and so are their quotients.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "import" / "tests"))
from compare import TYPES, feed, options  # noqa: E402
from made import listed  # noqa: E402
from real import publish, timed  # noqa: E402

LEVELS = onnxruntime.GraphOptimizationLevel
MARKS = "<!-- measured by crates/hosts/ort/tests/models.py -->", "<!-- end of what is measured -->"
MADE = "<!-- measured by crates/hosts/ort/tests/models.py --made -->", "<!-- end of models that move much -->"


def session(model, library=None, threads=1, level=LEVELS.ORT_ENABLE_ALL, written=None, profile=None):
    settings = onnxruntime.SessionOptions()
    if profile:
        settings.enable_profiling = True
        settings.profile_file_prefix = profile
    settings.log_severity_level = 4
    settings.intra_op_num_threads = threads
    settings.graph_optimization_level = level
    # Threads that wait for work use up the processor meanwhile.
    settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if written:
        settings.optimized_model_filepath = str(written)
    if library:
        settings.register_custom_ops_library(library)
    return onnxruntime.InferenceSession(str(model), settings, providers=["CPUExecutionProvider"])


def rewrite(restride, model, to, words, more):
    told = [word for pair in zip(words[::2], words[1::2]) if pair[0] != "--feed" for word in pair]
    command = [restride, "rewrite", str(model), "-o", str(to), *told, *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{model}: {done.stderr}")
    replaced, groups = re.search(r": (\d+) of (\d+) groups? ", done.stdout).groups()
    return int(replaced), int(groups)


def inputs_of(restride, model, words):
    """Inputs at the sizes that restride takes for what the file leaves open."""
    told = [word for pair in zip(words[::2], words[1::2]) if pair[0] != "--feed" for word in pair]
    done = subprocess.run([restride, "model", "--json", "--no-times", str(model), *told], capture_output=True, check=True)
    shapes = {one["name"]: one.get("shape", []) for one in json.loads(done.stdout)["inputs"]}
    said = options(words)
    values = said.get("--value", {}) | said.get("--feed", {})
    inputs = session(model, level=LEVELS.ORT_DISABLE_ALL).get_inputs()
    return {one.name: feed(one.name, TYPES[one.type], shapes[one.name], values) for one in inputs}


def equal(one, other):
    return all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(one, other))


MOVES = set("""Concat DepthToSpace Expand Flatten Gather GatherElements GatherND Identity Move Pad Reshape ReverseSequence Shape
Size Slice SpaceToDepth Split Squeeze Tile Transpose Unsqueeze""".split())


def spent(model, library, given, folder):
    """Milliseconds of nodes that move data or work out parameters of those, reorders of channels into
    blocks and back included, of these reorders, and of all nodes: the sums of the medians of 15 calls."""
    running = session(model, library, profile=f"{folder}/profile")
    for _ in range(15):
        running.run(None, given)
    path = Path(running.end_profiling())
    times, names = {}, {}
    for event in json.loads(path.read_text()):
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            key = (event["name"], event["args"].get("node_index"))
            times.setdefault(key, []).append(event["dur"])
            names[key] = event["args"]["op_name"]
    path.unlink()
    total = lambda like: sum(statistics.median(all) for key, all in times.items() if like(names[key])) / 1000
    reorders = total(lambda op: op.startswith("Reorder"))
    return total(MOVES.__contains__) + reorders, reorders, total(lambda op: True)


HEAD = [
    "| model | from | groups | replaced | equal to the bit | moving, ms | rewritten | optimised | laid out | of all | reorders "
    "| whole, ms | rewritten | optimised | laid out | two threads, ms | rewritten | optimised | laid out |",
    "|---|---|-:|-:|---|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|",
]


def main():
    said = argparse.ArgumentParser()
    said.add_argument("restride")
    said.add_argument("operator")
    said.add_argument("folder", type=Path)
    said.add_argument("--page", type=Path)
    said.add_argument("--only", default="")
    said.add_argument("--made", action="store_true")
    said.add_argument("--wall", action="store_true", help="times by the clock on the wall, on a machine that does nothing else")
    said.add_argument("--seconds", type=float, default=4.0)
    said.add_argument("--all", action="store_true")
    said.add_argument("--answers", action="store_true", help="no times")
    said = said.parse_args()
    rows, wrong = [], 0
    clock = time.perf_counter if said.wall else time.process_time
    more = ["--all"] if said.all else []
    into = said.folder / "rewritten"
    into.mkdir(parents=True, exist_ok=True)
    for source, model, words in listed(said):
        stem = into / f"{source.partition(' ')[0]}-{model.stem}"
        files = [Path(f"{stem}{end}.onnx") for end in ("", "-optimised", "-both", "-laid", "-all")]
        replaced, groups = rewrite(said.restride, model, files[0], words, more)
        given = inputs_of(said.restride, model, words)
        none = LEVELS.ORT_DISABLE_ALL
        expected = session(model, level=none).run(None, given)
        plain = session(files[0], said.operator, level=none).run(None, given)
        same = [equal(expected, plain)]
        ways = [(model, None), (files[0], said.operator)]
        counts = [replaced]
        # What ONNX Runtime makes of it by itself, without layouts that only this machine has and with them.
        for level, old, new in ((LEVELS.ORT_ENABLE_EXTENDED, *files[1:3]), (LEVELS.ORT_ENABLE_ALL, *files[3:5])):
            session(model, level=level, written=old)
            optimised = session(old, level=none)
            # Of some old files it makes inputs of what were weights.
            if {one.name for one in optimised.get_inputs()} != set(given):
                continue
            counts.append(rewrite(said.restride, old, new, words, more)[0])
            both = session(new, said.operator, level=none)
            same.append(equal(optimised.run(None, given), both.run(None, given)))
            ways.append((new, said.operator))
        wrong += same.count(False)
        cells = [model.stem, source, groups, ", ".join(map(str, counts)), "yes" if all(same) else f"no: {same}"]
        missing = ["-"] * (4 - len(ways))
        if not said.answers:
            profiles = [spent(file, library, given, into) for file, library in ways]
            cells += [f"{moving:.3g}" for moving, _, _ in profiles] + missing
            moving, reorders, everything = profiles[0]
            cells += [f"{100 * moving / everything:.1f} %", f"{100 * reorders / everything:.1f} %"]
            for threads in (1, 2):
                compared = [session(file, library, threads) for file, library in ways]
                times, quotients = timed([lambda s=s: s.run(None, given) for s in compared], said.seconds, clock)
                cells += [f"{times[0]:.3g}", *(f"{quotient:.2f}" for quotient in quotients[1:]), *missing]
        rows.append("| " + " | ".join(str(cell) for cell in cells) + " |")
        print(rows[-1], file=sys.stderr, flush=True)
    text = "\n".join([*HEAD, *rows])
    publish(said.page, MADE if said.made else MARKS, text)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

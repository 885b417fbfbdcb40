"""Real models in OpenVINO, as they are and rewritten: the same answers, and how long each takes.

    python models.py path/to/restride path/to/librestride_openvino.so FOLDER [--made] [--page docs/openvino.md] [--only PATTERN]

Needs `openvino`, `onnx` and `numpy`. The models are those of `crates/import/tests/real.py`, which fetches
their wheels into FOLDER, or with `--made` those of `crates/import/tests/made.py`. Each becomes an IR twice: with the sizes that its file leaves open, and with all
of them known. Times are of the latter, of the processor; the sessions take turns, and what is said are
medians of many of them, and of their quotients.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import openvino as ov

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "import" / "tests"))
from compare import feed, options  # noqa: E402
from made import listed  # noqa: E402
from real import publish, timed  # noqa: E402

MARKS = "<!-- measured by crates/hosts/openvino/tests/models.py -->", "<!-- end of what is measured -->"
MADE = "<!-- measured by crates/hosts/openvino/tests/models.py --made -->", "<!-- end of models that move much -->"


def rewrite(restride, model, to, more):
    done = subprocess.run([restride, "rewrite", str(model), "-o", str(to), *more], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    replaced, groups = re.search(r": (\d+) of (\d+) groups? ", done.stdout).groups()
    return int(replaced), int(groups)


def shapes_of(restride, model, words):
    """The sizes that restride takes for what the file leaves open."""
    told = [word for pair in zip(words[::2], words[1::2]) if pair[0] != "--feed" for word in pair]
    done = subprocess.run([restride, "model", "--json", "--no-times", str(model), *told], capture_output=True, check=True)
    return {one["name"]: one.get("shape", []) for one in json.loads(done.stdout)["inputs"]}


def compiled(core, model, threads=1):
    return core.compile_model(str(model), "CPU", {
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "INFERENCE_PRECISION_HINT": "f32",
    })


def run(request, given):
    answers = request.infer(given)
    return [np.array(answers[output]) for output in request.model_outputs]


def distance(one, other):
    """None if the answers are the same bits, else how far they are apart."""
    if all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(one, other)):
        return None
    return max(float(np.max(np.abs(a.astype("f8") - b.astype("f8")), initial=0)) for a, b in zip(one, other))


HEAD = [
    "| model | from | groups | replaced | open sizes: same answers | known sizes: same answers | whole, ms | rewritten | two threads, ms | rewritten |",
    "|---|---|-:|-:|---|---|-:|-:|-:|-:|",
]


def said_of(apart):
    return "equal" if apart is None else f"within {apart:.1g}"


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
    core = ov.Core()
    core.add_extension(said.operator)
    rows, wrong = [], 0
    clock = time.perf_counter if said.wall else time.process_time
    more = ["--all"] if said.all else []
    made = said.folder / "ir"
    made.mkdir(exist_ok=True)
    for source, model, words in listed(said):
        stem = f"{source.partition(' ')[0]}-{model.stem}"
        try:
            whole = core.read_model(str(model))
        except RuntimeError as error:
            print(f"{stem}: OpenVINO does not read it: {str(error).splitlines()[-1]}", file=sys.stderr)
            continue
        shapes = shapes_of(said.restride, model, words)
        values = options(words)
        values = values.get("--value", {}) | values.get("--feed", {})
        kinds = {port.get_any_name(): str(port.get_element_type().to_dtype().name) for port in whole.inputs}
        given = {name: feed(name, kinds[name], shapes[name], values) for name in kinds}
        cells, answers = [], []
        for known in (False, True):
            if known:
                whole.reshape({name: list(array.shape) for name, array in given.items()})
            old, new = made / f"{stem}-{int(known)}.xml", made / f"{stem}-{int(known)}-fused.xml"
            ov.save_model(whole, str(old), compress_to_fp16=False)
            told = []
            if not known:
                open_ = [port.get_any_name() for port in core.read_model(str(old)).inputs if port.get_partial_shape().is_dynamic]
                told = [word for name in open_ for word in ("--shape", f"{name}={','.join(map(str, shapes[name]))}")]
            try:
                replaced, groups = rewrite(said.restride, old, new, [*more, *told])
                expected = run(compiled(core, old).create_infer_request(), given)
            except RuntimeError as error:
                answers.append("does not run")
                print(f"{stem}: {str(error).splitlines()[-1]}", file=sys.stderr)
                continue
            apart = distance(expected, run(compiled(core, new).create_infer_request(), given))
            answers.append(said_of(apart))
            wrong += apart is not None and apart > 1e-3
            cells = [model.stem, source, groups, replaced, *answers]
        if not cells:
            continue
        if not said.answers:
            for threads in (1, 2):
                requests = [compiled(core, file, threads).create_infer_request() for file in (old, new)]
                times, quotients = timed([lambda r=r: r.infer(given) for r in requests], said.seconds, clock)
                cells += [f"{times[0]:.3g}", f"{quotients[1]:.2f}"]
        rows.append("| " + " | ".join(str(cell) for cell in cells) + " |")
        print(rows[-1], file=sys.stderr, flush=True)
    text = "\n".join([*HEAD, *rows])
    publish(said.page, MADE if said.made else MARKS, text)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

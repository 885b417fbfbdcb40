"""Times lines as they stand in real programs, before and after: `python bench/lines.py [--write]`.

Both run by turns, and the best call of each counts. With `--write` the page `lines.md` and its picture are made anew.
"""

import argparse
import pathlib

import einops
import numpy as np
from workloads import best, draw, mean

import restride

HERE = pathlib.Path(__file__).resolve().parent
RANDOM = np.random.default_rng(1)


def real(*shape, dtype="f4"):
    return RANDOM.random(shape, dtype="f4").astype(dtype)


#: What the lines are about, and what they work on.
THINGS = {
    "frame": RANDOM.integers(0, 255, (1080, 1920, 3), "u1"),
    "image": RANDOM.integers(0, 255, (480, 640, 3), "u1"),
    "batch": np.zeros((8, 3, 480, 640), "u1"),
    "images": real(8, 224, 224, 3),
    "maps": real(8, 64, 56, 56),
    "swin": real(4, 56, 56, 96),
    "x": real(4, 256, 512),
    "heads": real(4, 8, 256, 64),
    "kv": real(4, 8, 512, 64, dtype="f2"),
    "one": real(4, 8, 1, 64, dtype="f2"),
    "beams": RANDOM.permutation(4),
    "table": real(30000, 256),
    "tokens": RANDOM.integers(0, 30000, (8, 256)),
    "sound": real(64000),
    "logits": real(64, 8000),
    "best": RANDOM.integers(0, 8000, (64, 50)),
    "matrix": real(1024, 1024, dtype="f8"),
    "np": np,
    "einops": einops,
    "restride": restride,
    "windows": np.lib.stride_tricks.sliding_window_view,
}

LINES = [
    ("an image for a network", "np.ascontiguousarray(image.transpose(2, 0, 1))", "restride.ascontiguousarray(image.transpose(2, 0, 1))"),
    ("the same from OpenCV, whose colours are reversed", "np.ascontiguousarray(image[..., ::-1].transpose(2, 0, 1))",
     "restride.ascontiguousarray(image[..., ::-1].transpose(2, 0, 1))"),
    ("into its place in a batch", "np.copyto(batch[3], image.transpose(2, 0, 1))", "restride.copyto(batch[3], image.transpose(2, 0, 1))"),
    ("reversed colours", "frame[..., ::-1].copy()", "restride.copy(frame[..., ::-1])"),
    ("mirrored", "np.ascontiguousarray(frame[:, ::-1])", "restride.ascontiguousarray(frame[:, ::-1])"),
    ("a crop", "frame[100:900, 300:1500].copy()", "restride.copy(frame[100:900, 300:1500])"),
    ("half as large", "images[:, ::2, ::2].copy()", "restride.copy(images[:, ::2, ::2])"),
    ("twice as large", "image.repeat(2, 0).repeat(2, 1)", "restride.repeat(image, 'h w c -> (h 2) (w 2) c')"),
    ("a rim of what is reflected", "np.pad(image, ((4, 4), (4, 4), (0, 0)), 'reflect')", "restride.pad(image, ((4, 4), (4, 4), (0, 0)), 'reflect')"),
    ("patches", "einops.rearrange(images, 'b (h p) (w q) c -> b (h w) (p q c)', p=16, q=16)",
     "restride.rearrange(images, 'b (h p) (w q) c -> b (h w) (p q c)', p=16, q=16)"),
    ("windows of Swin, shifted", "np.roll(swin, (-3, -3), (1, 2)).reshape(4, 8, 7, 8, 7, 96).swapaxes(2, 3).reshape(-1, 49, 96)",
     "restride.lazy_namespace.roll(restride.lazy(swin), (-3, -3), axis=(1, 2)).reshape(4, 8, 7, 8, 7, 96).swapaxes(2, 3).reshape(-1, 49, 96).copy()"),
    ("channels last", "np.ascontiguousarray(maps.transpose(0, 2, 3, 1))", "restride.ascontiguousarray(maps.transpose(0, 2, 3, 1))"),
    ("pixel shuffle", "maps.reshape(8, 16, 2, 2, 56, 56).transpose(0, 1, 4, 2, 5, 3).reshape(8, 16, 112, 112)",
     "restride.rearrange(maps, 'b (c p q) h w -> b c (h p) (w q)', p=2, q=2)"),
    ("heads", "x.reshape(4, 256, 8, 64).transpose(0, 2, 1, 3).copy()", "restride.rearrange(x, 'b s (h d) -> b h s d', h=8, copy=True)"),
    ("keys, transposed", "np.ascontiguousarray(heads.swapaxes(2, 3))", "restride.ascontiguousarray(heads.swapaxes(2, 3))"),
    ("one token more", "np.concatenate([kv, one], 2)", "restride.concatenate([kv, one], 2)"),
    ("keys for groups of queries", "np.repeat(kv, 4, 1)", "restride.repeat(kv, 4, 1)"),
    ("beams in another order", "np.take(kv, beams, 0)", "restride.take(kv, beams, 0)"),
    ("embeddings", "np.take(table, tokens, 0)", "restride.take(table, tokens, 0)"),
    ("the best of each row", "np.take_along_axis(logits, best, 1)", "restride.take_along_axis(logits, best, 1)"),
    ("frames of sound, as columns", "windows(sound, 400)[::160].T.copy()", "restride.copy(windows(sound, 400)[::160].T, 'C')"),
    ("a matrix, transposed", "matrix.T.copy()", "restride.copy(matrix.T, 'C')"),
]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each line")
    given = parser.parse_args()
    __import__("restride.lazy_namespace")
    rows, page = [], []
    for name, before, after in LINES:
        theirs, ours = (eval("lambda: " + code, THINGS) for code in (before, after))
        made = np.ascontiguousarray(theirs()) if theirs() is not None else None
        assert made is None or (np.asarray(ours()) == made).all(), name
        for _ in range(40):
            ours()
        a, b = best([ours, theirs], given.seconds)
        rows.append(({"id": name}, (a, b)))
        page.append(f"| {name} | `{before}` | `{after}` | {b * 1e6:.0f} | {a * 1e6:.0f} | {b / a:.1f} |")
        print(f"{name:50} {b * 1e6:10.1f} us, now {a * 1e6:10.1f} us: {b / a:6.2f}", flush=True)
    said = f"{mean([b / a for _, (a, b) in rows]):.1f} times as fast in the geometric mean of {len(rows)} lines"
    print(said)
    if given.write:
        draw(HERE.parent / "lines.svg", rows, ["numpy, or einops on numpy"])
        head = (HERE / "lines.md.in").read_text()
        (HERE.parent / "lines.md").write_text(head.replace("@SAID@", said) + "\n".join(page) + "\n")


if __name__ == "__main__":
    main()

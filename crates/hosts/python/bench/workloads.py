"""Times the project's fifty workloads from Python, call overhead included: `python bench/workloads.py`.

Every workload is a function under `restride.jit`, a chain of numpy with `ascontiguousarray` at its end, and, where they are
installed, the same with transposes by einops, torch with `contiguous`, that under `torch.compile`, jax under `jit`, what numba
makes of the chain of numpy, and opencv's own function where it has one, all on one thread. All sides run by turns, one call
each, and the best call of each counts. `--picture FILE` draws what came out.
"""

import argparse
import json
import math
import pathlib
import time

import numpy as np

import restride

HERE = pathlib.Path(__file__).resolve().parent
WORKLOADS = HERE.parents[3] / "tests/workloads/workloads.json"
DTYPES = {"f32": "f4", "f16": "f2", "u8": "u1", "i32": "i4", "i64": "i8"}


LETTERS = "abcdefgh"


def values(spec):
    """The input that a workload asks for."""
    shape, dtype = spec["shape"], DTYPES[spec["dtype"]]
    if spec["gen"] == "values":
        return np.array(spec["values"], dtype).reshape(shape)
    z = np.arange(1, math.prod(shape) + 1, dtype="u4")
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        z = (z ^ (z >> np.uint32(shift))) * np.uint32(factor)
    if spec["gen"] == "index_hash":
        return ((z >> np.uint32(8)) % np.uint32(spec["mod"])).astype(dtype).reshape(shape)
    shift = {"f4": 8, "f2": 21, "u1": 24, "i4": 1, "i8": 1}[dtype]
    made = (z >> np.uint32(shift)).astype(dtype)
    return (made * np.float32(2.0**-24) if dtype == "f4" else made).reshape(shape)


def followed(work, arrays, ops):
    """The output of a workload, by a library's own operators."""
    known = dict(zip((spec["name"] for spec in work["inputs"]), arrays))
    for op in work["ops"]:
        x = known[op["in"][0]]
        match op["op"]:
            case "StridedSlice":
                bounds = zip(op["start"], op["size"], op["step"])
                y = ops["slice"](x, [(start, start + size * step, step) for start, size, step in bounds])
            case "Reshape":
                y = x.reshape(tuple(op["shape"]))
            case "Transpose":
                y = ops["transpose"](x, tuple(op["perm"]))
            case "Gather":
                y = gathered(x, known[op["in"][1]], op["axis"], op["batch_dims"], ops)
            case "Concat":
                y = ops["concat"]([known[name] for name in op["in"]], op["axis"])
        known[op["out"]] = y
    return known[work["output"]]


def gathered(x, indices, axis, batch, ops):
    if not batch:
        return ops["take"](x, indices, axis)
    # Along the axis of one large row for all batches.
    places = [1 if at >= batch else size for at, size in enumerate(indices.shape)]
    rows = np.arange(math.prod(indices.shape[:batch])).reshape(places)
    x = ops["transpose"](x, (*range(batch), axis, *(at for at in range(batch, x.ndim) if at != axis)))
    if "pick" in ops:
        y = ops["pick"](x, indices, batch)
    else:
        size = x.shape[batch]
        x = x.reshape((-1, *x.shape[batch + 1 :]))
        y = ops["take"](x, ops["index"](rows) * size + indices, 0)
    rank = indices.ndim - batch
    order = list(range(batch)) + [indices.ndim + at for at in range(axis - batch)]
    order += [batch + at for at in range(rank)]
    return ops["transpose"](y, (*order, *(at for at in range(y.ndim) if at not in order)))


def sliced(x, bounds):
    """As the library indexes; a bound before the first element is none at all."""
    return x[tuple(slice(start, stop if stop >= 0 else None, step) for start, stop, step in bounds)]


NUMPY = {
    "slice": sliced, "transpose": np.transpose, "concat": np.concatenate, "index": np.asarray,
    "take": lambda x, indices, axis: np.take(x, indices, axis),
}  # fmt: skip


def ours(work, arrays):
    from restride import lazy_namespace as xp

    def pick(x, indices, batch):
        return x[(*np.ogrid[tuple(slice(size) for size in indices.shape)][:batch], indices)]

    ops = {
        "slice": sliced, "transpose": lambda x, order: x.transpose(order), "index": np.asarray,
        "concat": lambda parts, axis: xp.concat(parts, axis=axis),
        "take": lambda x, indices, axis: xp.take(x, indices, axis=axis), "pick": pick,
    }  # fmt: skip
    function = restride.jit(lambda *args: followed(work, args, ops), copy=True)
    return lambda: function(*arrays)


def with_einops(work, arrays):
    import einops

    def transpose(x, order):
        return einops.rearrange(x, " ".join(LETTERS[: x.ndim]) + " -> " + " ".join(LETTERS[at] for at in order))

    ops = {**NUMPY, "transpose": transpose}
    return lambda: np.ascontiguousarray(followed(work, arrays, ops))


def with_numba(work, arrays):
    """The chain of numpy as a function's text: numba has to see sizes and orders as they are."""
    import numba

    lines, known = [], {spec["name"]: f"x{at}" for at, spec in enumerate(work["inputs"])}
    for at, op in enumerate(work["ops"]):
        x = known[op["in"][0]]
        match op["op"]:
            case "StridedSlice":
                bounds = ((s, s + n * k, k) for s, n, k in zip(op["start"], op["size"], op["step"]))
                y = f"{x}[{', '.join(f'{s}:{e if e >= 0 else None}:{k}' for s, e, k in bounds)}]"
            case "Reshape":
                y = f"np.ascontiguousarray({x}).reshape({tuple(op['shape'])})"
            case "Transpose":
                y = f"{x}.transpose({tuple(op['perm'])})"
            case "Gather" if not op["batch_dims"]:
                y = f"{x}[{':, ' * op['axis']}{known[op['in'][1]]}]"
            case "Concat":
                y = f"np.concatenate(({', '.join(known[name] for name in op['in'])},), {op['axis']})"
            case _:
                return None
        lines.append(f"    y{at} = {y}")
        known[op["out"]] = f"y{at}"
    head = f"def f({', '.join(f'x{at}' for at in range(len(arrays)))}):"
    made = {"np": np}
    exec("\n".join([head, *lines, f"    return np.ascontiguousarray({known[work['output']]})"]), made)
    function = numba.njit(made["f"])
    # Numba has no numbers of 16 bits; bits are as good.
    arrays = [x.view("u2") if x.dtype == "f2" else x for x in arrays]
    try:
        function(*arrays)
    except numba.core.errors.NumbaError:
        return None
    return lambda: function(*arrays)


def with_cv2(work, arrays):
    import cv2

    cv2.setNumThreads(1)
    x = arrays[0]
    x = x.view("u2") if x.dtype == "f2" else x

    def split():
        made = np.empty((1, 3, *x.shape[1:3]), x.dtype)
        cv2.split(x[0], list(made[0]))
        return made

    known = {
        "bgr2rgb_u8": lambda: cv2.cvtColor(x, cv2.COLOR_BGR2RGB),
        "green_channel_u8": lambda: cv2.extractChannel(x, 1),
        "nhwc2nchw_u8": split,
        "nchw2nhwc_u8": lambda: cv2.merge(list(x[0]))[None],
        "transpose_4096_f32": lambda: cv2.transpose(x),
        "transpose_1024_f16": lambda: cv2.transpose(x),
        "hflip_f32_nchw": lambda: cv2.flip(x.reshape(-1, x.shape[-1]), 1).reshape(x.shape),
        "rev_inner_u8": lambda: cv2.flip(x, 1),
        "lstm_reverse_f32": lambda: cv2.flip(x.reshape(x.shape[0], -1), 0).reshape(x.shape),
    }
    return known.get(work["id"])


def with_compiled_torch(work, arrays):
    return with_torch(work, arrays, compiled=True)


def with_torch(work, arrays, compiled=False):
    import torch

    torch.set_num_threads(1)

    def slice_(x, bounds):
        turned = [at for at, (_, _, step) in enumerate(bounds) if step < 0]
        forwards = [(s, e, k) if k > 0 else (s + ((e - s) // k - 1) * k, s + 1, -k) for s, e, k in bounds]
        x = x[tuple(slice(*bound) for bound in forwards)]
        return x.flip(turned) if turned else x

    def take(x, indices, axis):
        made = x.index_select(axis, indices.reshape(-1))
        return made.reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))

    ops = {"slice": slice_, "transpose": lambda x, order: x.permute(order), "concat": torch.cat, "take": take}
    ops["index"] = torch.from_numpy
    tensors = [torch.from_numpy(x) for x in arrays]
    if not compiled:
        return lambda: followed(work, tensors, ops).contiguous()
    torch.compiler.reset()
    function = torch.compile(lambda *args: followed(work, args, ops).contiguous(), dynamic=False)
    return lambda: function(*tensors)


def with_jax(work, arrays):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    ops = {"slice": sliced, "transpose": jnp.transpose, "concat": jnp.concatenate, "index": jnp.asarray}
    ops["take"] = lambda x, indices, axis: jnp.take(x, indices, axis, mode="clip")
    function = jax.jit(lambda *args: followed(work, args, ops))
    tensors = [jnp.asarray(x) for x in arrays]
    return lambda: function(*tensors).block_until_ready()


def with_numpy(work, arrays):
    return lambda: np.ascontiguousarray(followed(work, arrays, NUMPY))


# What each is made by, and what has to be installed for it.
PEERS = {
    "numpy": (with_numpy, "numpy"), "einops": (with_einops, "einops"), "torch": (with_torch, "torch"),
    "torch.compile": (with_compiled_torch, "torch"), "jax": (with_jax, "jax"), "numba": (with_numba, "numba"),
    "opencv": (with_cv2, "cv2"),
}  # fmt: skip


def best(calls, budget):
    """The fewest seconds that each of some calls takes, and no end of them for one that is not there."""
    least, begun, rounds = [math.inf] * len(calls), time.perf_counter(), 0
    while rounds < 30 or time.perf_counter() - begun < budget and rounds < 20000:
        rounds += 1
        for at, call in enumerate(calls):
            if call is None:
                continue
            start = time.perf_counter()
            call()
            least[at] = min(least[at], time.perf_counter() - start)
    return least


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def measured(names, budget, only):
    for work in json.loads(WORKLOADS.read_text())["workloads"]:
        if only and work["id"] not in only:
            continue
        arrays = [values(spec) for spec in work["inputs"]]
        if work["tags"]["kind"] == "view":
            continue
        calls = [ours(work, arrays)] + [PEERS[name][0](work, arrays) for name in names]
        right = calls[1]()
        # No move takes less than copying what comes of it.
        calls.append(right.copy)
        for name, call in zip(["restride", *names], calls):
            made = right if call is None else np.asarray(call())
            made = made.view(right.dtype) if right.dtype == "f2" else made
            assert (made == right).all(), (work["id"], name)
        # Often enough that machine code is there.
        for _ in range(40):
            calls[0]()
        *times, limit = best(calls, budget)
        yield work, times, limit


def draw(path, rows, names):
    """Bars of how many times faster we are than the best of the others, from the most to the least."""
    rows = sorted(((min(times[1:]) / times[0], work["id"], times) for work, times in rows), reverse=True)
    width, left, line = 760, 190, 15
    scale = (width - left - 60) / math.log(max(rows[0][0], 2) / 0.5)
    place = lambda ratio: left + scale * math.log(max(ratio, 0.5) / 0.5)  # noqa: E731
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{line * len(rows) + 50}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="10" y="18" font-size="13">Times faster than the best of {", ".join(names)}; one thread, call included</text>',
        f'<line x1="{place(1):.0f}" x2="{place(1):.0f}" y1="26" y2="{line * len(rows) + 34}" stroke="#888"/>',
    ]
    for at, (ratio, name, _) in enumerate(rows):
        y, (a, b) = 30 + at * line, sorted((place(1), place(ratio)))
        colour = "#3a7d44" if ratio >= 1 else "#b3541e"
        lines.append(f'<text x="{left - 8}" y="{y + 10}" text-anchor="end">{name}</text>')
        lines.append(f'<rect x="{a:.1f}" y="{y}" width="{max(b - a, 1):.1f}" height="{line - 4}" fill="{colour}"/>')
        lines.append(f'<text x="{b + 4:.1f}" y="{y + 10}">{ratio:.2f}</text>')
    pathlib.Path(path).write_text("\n".join([*lines, "</svg>\n"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--only", default="", help="names of workloads, with commas between them")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each workload")
    parser.add_argument("--picture")
    given = parser.parse_args()
    names = []
    for name in given.peers.split(","):
        try:
            __import__(PEERS[name][1])
            names.append(name)
        except ImportError:
            print(f"{name} is not installed")
    rows = []
    only = set(filter(None, given.only.split(",")))
    limits = []
    for work, times, limit in measured(names, given.seconds, only):
        rows.append((work, times))
        limits.append([each / limit for each in times])
        us = "  ".join(f"{name} {each * 1e6:9.2f}" for name, each in zip(["us: restride", *names], times))
        print(f"{work['id']:24} {us}  a copy {limit * 1e6:9.2f}   of the best {min(times[1:]) / times[0]:6.2f}", flush=True)
    for at, name in enumerate(names, 1):
        ratios = [times[at] / times[0] for _, times in rows if times[at] < math.inf] or [math.nan]
        print(f"beside {name}: {mean(ratios):.2f} in the geometric mean of {len(ratios)}")
    ours, theirs = mean([each[0] for each in limits]), mean([min(each[1:]) for each in limits])
    print(f"a copy of the answer: restride takes {ours:.2f} times as long, the best of the others {theirs:.2f}")
    ratios = {work["id"]: min(times[1:]) / times[0] for work, times in rows}
    behind = {name: round(ratio, 2) for name, ratio in ratios.items() if ratio < 0.97}
    print(f"beside the best: {mean(ratios.values()):.2f} in the geometric mean of {len(rows)}; behind by more than 3 %: {behind}")
    if given.picture:
        draw(given.picture, rows, names)


if __name__ == "__main__":
    main()

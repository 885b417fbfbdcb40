"""Times the project's fifty workloads from Python, call overhead included: `python bench/workloads.py`.

Every workload is a function under `restride.jit`, a chain of numpy with `ascontiguousarray` at its end, and, where they are
installed, torch with `contiguous` and jax under `jit`, all on one thread. All sides run by turns, one call each, and the best
call of each counts. `--picture FILE` draws what came out.
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

    picks = [np.asarray(array) for array in arrays]
    ops = {
        "slice": sliced, "transpose": lambda x, order: x.transpose(order), "index": np.asarray,
        "concat": lambda parts, axis: xp.concat(parts, axis=axis),
        "take": lambda x, indices, axis: xp.take(x, indices, axis=axis),
    }  # fmt: skip
    if any(op["op"] == "Gather" and op["batch_dims"] for op in work["ops"]):
        # Arithmetic on indices is numpy's, so such a function is not followed as one.
        return lambda: np.ascontiguousarray(np.asarray(followed(work, [restride.lazy(x) for x in arrays], ops)))
    function = restride.jit(lambda *args: followed(work, args, ops), copy=True)
    return lambda: function(*picks)


def with_torch(work, arrays):
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
    return lambda: followed(work, tensors, ops).contiguous()


def with_jax(work, arrays):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    ops = {"slice": sliced, "transpose": jnp.transpose, "concat": jnp.concatenate, "index": jnp.asarray}
    ops["take"] = lambda x, indices, axis: jnp.take(x, indices, axis, mode="clip")
    function = jax.jit(lambda *args: followed(work, args, ops))
    tensors = [jnp.asarray(x) for x in arrays]
    return lambda: function(*tensors).block_until_ready()


PEERS = {"numpy": lambda work, arrays: lambda: np.ascontiguousarray(followed(work, arrays, NUMPY)), "torch": with_torch, "jax": with_jax}


def best(calls, budget):
    """The fewest seconds that each of some calls takes."""
    least, begun, rounds = [math.inf] * len(calls), time.perf_counter(), 0
    while rounds < 30 or time.perf_counter() - begun < budget and rounds < 20000:
        rounds += 1
        for at, call in enumerate(calls):
            start = time.perf_counter()
            call()
            least[at] = min(least[at], time.perf_counter() - start)
    return least


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def measured(names, budget):
    for work in json.loads(WORKLOADS.read_text())["workloads"]:
        arrays = [values(spec) for spec in work["inputs"]]
        calls = [ours(work, arrays)] + [PEERS[name](work, arrays) for name in names]
        right = calls[1]()
        for call in [calls[0], *calls[2:]]:
            assert (np.asarray(call()) == right).all(), work["id"]
        # Often enough that machine code is there.
        for _ in range(40):
            calls[0]()
        yield work, best(calls, budget)


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
    parser.add_argument("--peers", default="numpy,torch,jax")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each workload")
    parser.add_argument("--picture")
    given = parser.parse_args()
    names = []
    for name in given.peers.split(","):
        try:
            __import__(name)
            names.append(name)
        except ImportError:
            print(f"{name} is not installed")
    rows = []
    for work, times in measured(names, given.seconds):
        if work["tags"]["kind"] == "view":
            continue
        rows.append((work, times))
        us = "  ".join(f"{name} {each * 1e6:9.2f}" for name, each in zip(["us: restride", *names], times))
        print(f"{work['id']:24} {us}   of the best {min(times[1:]) / times[0]:6.2f}", flush=True)
    for at, name in enumerate(names, 1):
        print(f"beside {name}: {mean([times[at] / times[0] for _, times in rows]):.2f} in the geometric mean")
    ratios = {work["id"]: min(times[1:]) / times[0] for work, times in rows}
    behind = {name: round(ratio, 2) for name, ratio in ratios.items() if ratio < 0.97}
    print(f"beside the best: {mean(ratios.values()):.2f} in the geometric mean of {len(rows)}; behind by more than 3 %: {behind}")
    if given.picture:
        draw(given.picture, rows, names)


if __name__ == "__main__":
    main()

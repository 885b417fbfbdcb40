"""Times moves of arrays beside numpy and einops: `python bench/calls.py`, with the package and einops installed.

Both sides run by turns, and the best time of each counts, so that ratios mean something on a machine that is
busy otherwise.
"""

import math
import time

import einops
import numpy as np

import restride

PATCHES = "b (h p) (w q) c -> b (h w) (p q c)"


def best(ours, theirs, rounds=9):
    """The seconds that a call takes, of either."""
    ours()
    begun = time.perf_counter()
    theirs()
    calls = max(1, int(0.003 / (time.perf_counter() - begun)))
    least = [math.inf, math.inf]
    for _ in range(rounds):
        for at, call in enumerate((ours, theirs)):
            begun = time.perf_counter()
            for _ in range(calls):
                call()
            least[at] = min(least[at], (time.perf_counter() - begun) / calls)
    return least


def small():
    for n in (2, 4, 8, 16, 32, 64):
        x, i = np.random.rand(n, n).astype("f4"), np.random.randint(0, n, n)
        b = x.reshape(n // 2, 2, n)
        of = f"of {4 * n * n} bytes"
        yield f"ascontiguousarray(x.T) {of}", lambda: restride.ascontiguousarray(x.T), lambda: np.ascontiguousarray(x.T)
        yield f"copy(x[::-1]) {of}", lambda: restride.copy(x[::-1]), lambda: x[::-1].copy()
        yield f"take(x, i, 0) {of}", lambda: restride.take(x, i, 0), lambda: np.take(x, i, 0)
        yield f"x.take(i, 0) {of}", lambda: restride.take(x, i, 0), lambda: x.take(i, 0)
        p = "h p w -> p (w h)"
        yield f"rearrange {of}", lambda: restride.rearrange(b, p), lambda: einops.rearrange(b, p)


def large():
    def contiguous(name, x):
        return name, lambda: restride.ascontiguousarray(x), lambda: np.ascontiguousarray(x)

    def rearranged(x, pattern, **sizes):
        return pattern, lambda: restride.rearrange(x, pattern, **sizes), lambda: einops.rearrange(x, pattern, **sizes)

    def both(name, *args, **kwargs):
        return name, lambda: getattr(restride, name)(*args, **kwargs), lambda: getattr(np, name)(*args, **kwargs)

    image = np.random.randint(0, 255, (480, 640, 3), dtype="u1")
    images = np.random.rand(8, 224, 224, 3).astype("f4")
    maps = np.random.rand(8, 64, 56, 56).astype("f4")
    heads = np.random.rand(4, 256, 8, 64).astype("f4")
    cache = np.random.rand(4, 8, 512, 64).astype("f2")
    table, tokens = np.random.rand(30000, 256).astype("f4"), np.random.randint(0, 30000, (8, 256))
    matrix, sound = np.random.rand(1024, 1024), np.random.rand(64000).astype("f4")
    frames = np.lib.stride_tricks.sliding_window_view(sound, 400)[::160]
    batch = np.zeros((8, 3, 480, 640), "u1")
    yield contiguous("an image as planes", image.transpose(2, 0, 1))
    yield contiguous("planes of reversed channels", image[..., ::-1].transpose(2, 0, 1))
    yield contiguous("reversed channels", image[..., ::-1])
    yield contiguous("upside down", image[::-1])
    yield contiguous("mirrored", image[:, ::-1])
    yield contiguous("a crop", image[16:464, 96:544])
    yield contiguous("every second pixel", images[:, ::2, ::2])
    yield contiguous("NHWC to NCHW", images.transpose(0, 3, 1, 2))
    yield contiguous("NCHW to NHWC", maps.transpose(0, 2, 3, 1))
    yield contiguous("heads", heads.transpose(0, 2, 1, 3))
    yield contiguous("heads, transposed", heads.transpose(0, 2, 3, 1))
    yield contiguous("a matrix, transposed", matrix.T)
    yield contiguous("records, transposed", np.zeros((512, 512), "u1,<f4").T)
    yield contiguous("frames of sound", frames)
    yield contiguous("frames of sound, transposed", frames.T)
    yield rearranged(images, PATCHES, p=16, q=16)
    yield rearranged(images, "b (h p) (w q) c -> b (h w) (c p q)", p=16, q=16)
    yield rearranged(maps, "b c (h p) (w q) -> b (c p q) h w", p=2, q=2)
    yield rearranged(maps, "b (c p q) h w -> b c (h p) (w q)", p=2, q=2)
    yield rearranged(maps, "b c (h p) (w q) -> (b h w) (p q) c", p=7, q=7)
    yield rearranged(maps, "b (g c) h w -> b (c g) h w", g=4)
    p = "h w c -> (h 2) (w 2) c"
    yield p, lambda: restride.repeat(image, p), lambda: einops.repeat(image, p)
    yield both("repeat", cache, 4, axis=1)
    yield both("take", table, tokens, 0)
    yield both("take", matrix, tokens[0] % 1024, 1)
    yield both("take", cache, np.random.permutation(4), 0)
    yield both("take_along_axis", matrix, np.argsort(matrix[:, :64], 1), 1)
    yield both("concatenate", [cache, cache[:, :, :1]], 2)
    yield both("concatenate", [matrix, matrix], 1)
    yield both("stack", [image[..., 0], image[..., 1]], -1)
    yield both("roll", maps, 3, 2)
    yield both("pad", maps, ((0, 0), (0, 0), (1, 1), (1, 1)))
    yield both("pad", image, ((4, 4), (4, 4), (0, 0)), "reflect")
    yield both("tile", matrix, (2, 2))
    yield both("copyto", batch[3], image.transpose(2, 0, 1))


def main():
    for cases in (small(), large()):
        logarithms = []
        for name, ours, theirs in cases:
            a, b = best(ours, theirs)
            logarithms.append(math.log(b / a))
            print(f"{name:40} {a * 1e6:10.2f} us, theirs {b * 1e6:10.2f} us: {b / a:6.2f}", flush=True)
        mean, behind = math.exp(sum(logarithms) / len(logarithms)), sum(each < -0.03 for each in logarithms)
        print(f"geometric mean {mean:.2f} of {len(logarithms)}, behind by more than 3 % on {behind}\n", flush=True)


if __name__ == "__main__":
    main()

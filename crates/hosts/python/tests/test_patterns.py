"""`rearrange` and `repeat` beside einops."""

import einops
import numpy as np
import pytest
from conftest import arrays, same
from hypothesis import given
from hypothesis import strategies as st

import restride

REARRANGE = [
    ("b (h p) (w q) c -> b (h w) (p q c)", (2, 4, 6, 3), {"p": 2, "q": 3}),
    ("b h w c -> b c h w", (2, 3, 4, 5), {}),
    ("... h w -> ... (w h)", (2, 3, 4, 5), {}),
    ("a ... -> (...) a", (2, 3, 4), {}),
    ("a ... b -> b ... a", (2, 3), {}),
    ("a 1 b -> 1 (b a) ()", (2, 1, 3), {}),
    ("(a b c) -> c a b", (24,), {"a": 2, "c": 3}),
    ("a b -> (a b)", (0, 3), {}),
    (" -> 1 1", (), {}),
    ("t (g c) -> g t c", (6, 8), {"g": 4}),
]
REPEAT = [
    ("h w -> h w c", (2, 3), {"c": 4}),
    ("h w -> (h 2) (w 3)", (2, 3), {}),
    ("h w -> (2 h) (w q)", (2, 3), {"q": 2}),
    ("... -> ... n", (2, 3), {"n": 2}),
    ("a b -> a b", (2, 3), {}),
    ("(a b) -> b n a", (6,), {"a": 2, "n": 3}),
]


@pytest.mark.parametrize(("pattern", "shape", "sizes"), REARRANGE)
def test_rearrange(pattern, shape, sizes):
    x = np.arange(np.prod(shape, dtype=int), dtype="f4").reshape(shape)
    for x in (x, np.copy(x, "F"), np.asarray(x, "c16"), x.astype("S3")):
        theirs = np.asarray(einops.rearrange(x, pattern, **sizes))
        same(restride.rearrange(x, pattern, **sizes), theirs)
        same(restride.rearrange(x, pattern, copy=True, **sizes), theirs)
        out = np.empty_like(theirs, order="C")[..., ::-1][..., ::-1]
        assert restride.rearrange(x, pattern, out=out, **sizes) is out
        same(out, theirs)


@pytest.mark.parametrize(("pattern", "shape", "sizes"), REPEAT)
def test_repeat(pattern, shape, sizes):
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    same(restride.repeat(x, pattern, **sizes), np.asarray(einops.repeat(x, pattern, **sizes)))
    same(restride.repeat(x[::-1], pattern, copy=True, **sizes), np.asarray(einops.repeat(x[::-1], pattern, **sizes)))


@given(arrays(min_rank=3, max_rank=3), st.permutations("abc"), st.sampled_from(["{} {} {}", "({} {}) {}", "{} ({} {})", "({} {} {})"]))
def test_any_array(x, names, form):
    pattern = "a b c -> " + form.format(*names)
    same(restride.rearrange(x, pattern), np.asarray(einops.rearrange(x, pattern)))


def test_views():
    x = np.zeros((4, 6, 3))
    turned = restride.rearrange(x, "h w c -> c h w")
    assert np.shares_memory(turned, x) and turned.strides == (8, 144, 24) and turned.flags.writeable
    assert restride.rearrange(x, "h w c -> c h w", copy=True).flags.c_contiguous
    assert np.shares_memory(restride.rearrange(x, "(h p) w c -> h p (w c)", p=2, copy=False), x)
    assert not np.shares_memory(restride.rearrange(x, "h w c -> (c h w)"), x)
    with pytest.raises(ValueError, match="Unable to avoid creating a copy"):
        restride.rearrange(x, "h w c -> (c h w)", copy=False)
    x.flags.writeable = False
    assert not restride.rearrange(x, "h w c -> c h w").flags.writeable


def test_lists():
    parts = [np.full((2, 3), n) for n in range(4)]
    same(restride.rearrange(parts, "b h w -> h (b w)"), einops.rearrange(parts, "b h w -> h (b w)"))
    same(restride.rearrange(tuple(parts), "b h w -> b h w"), np.stack(parts))
    with pytest.raises(ValueError, match="one shape"):
        restride.rearrange([parts[0], parts[0].T], "b h w -> b w h")
    with pytest.raises(ValueError, match="at least one"):
        restride.rearrange([], "b h w -> b w h")


def test_errors_name_the_axis():
    x = np.zeros((4, 6))
    for pattern, sizes, said in [
        ("h w -> h", {}, "axis 'w' stands only on the left side"),
        ("(h p) w -> h p w", {"p": 3}, "axis 'h': 4 elements cannot be divided into parts of 3"),
        ("h w -> w h", {"q": 3}, "has no axis 'q'"),
        ("h w -> w h", {"h": 3}, "axis 'h' has size 4, not 3"),
        ("h w -> w h", {"h": -1}, "the size of axis 'h' has to be an integer"),
        ("h w c -> w h c", {}, r"of shape \(4, 6\): 3 axes are expected, the array has 2"),
    ]:
        with pytest.raises(ValueError, match=said):
            restride.rearrange(x, pattern, **sizes)
    with pytest.raises(ValueError, match="the size of the new axis 'c' is not given"):
        restride.repeat(x, "h w -> h w c")
    with pytest.raises(TypeError):
        restride.repeat(x, "h w -> w h", 0)
    with pytest.raises(TypeError):
        restride.repeat(x, 2, c=2)
    with pytest.raises(ValueError):
        restride.rearrange(x, "h w -> w h", out=np.zeros((4, 6)))
    with pytest.raises(TypeError):
        restride.rearrange(x, "h w -> w h", out=np.zeros((6, 4), "f4"))


def test_many_patterns_and_texts_made_anew():
    x = np.zeros((2, 3))
    for n in range(3000):
        assert restride.rearrange(x, f"a{n} b -> b a{n}").shape == (3, 2)
    for _ in range(20):
        assert restride.rearrange(x, "".join(["a b", " -> ", "b a"])).shape == (3, 2)

"""Lazy arrays beside numpy's own, einops' test-suite over them, and that nothing moves before it has to."""

import os
import subprocess
import sys

import einops
import numpy as np
import pytest
from conftest import arrays, outcome, same
from hypothesis import given
from hypothesis import strategies as st

import restride
from restride import lazy
from restride import lazy_namespace as xp


@st.composite
def keys(draw, shape):
    """Indices of every kind for a shape, right ones and some that are not."""
    key = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        if draw(st.integers(0, 5)) == 0:
            key.append(None)
        bound = st.one_of(st.none(), st.integers(-size - 2, size + 2))
        key.append(
            draw(
                st.one_of(
                    st.slices(size),
                    st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, -1, -3])),
                    st.integers(-size - 1, size),
                    st.lists(st.integers(-max(size, 1), max(size - 1, 0)), max_size=3),
                    st.lists(st.integers(0, max(size - 1, 0)), min_size=2, max_size=2).map(lambda n: np.array([n, n])),
                )
            )
        )
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), Ellipsis)
    return tuple(key)


@given(arrays(max_rank=4), st.data())
def test_indexing(x, data):
    key = data.draw(keys(x.shape))
    theirs = outcome(lambda: np.asarray(x[key], x.dtype))
    ours = outcome(lambda: np.asarray(lazy(x)[key]))
    if isinstance(theirs, Exception) and not isinstance(ours, Exception):
        # An index that is wrong is not looked at where nothing is picked.
        assert ours.size == 0, (key, theirs)
        return
    same(ours, theirs)


@pytest.mark.parametrize("key", [
    np.array([True, False, True]), (slice(None), np.eye(4, dtype=bool)), np.ones((3, 4), bool), (0, [1, 2], [0, 3]),
    ([0, 1], slice(None), [1, 2]), (Ellipsis, [[0], [1]], [2, 3]), (None, 1, [0, 0]), np.array([], int), [],
    (slice(None), None, [3, 1]), np.uint8(2), (np.array(1), 2), np.array([5]), ([0], [9]), "a", 1.5, (0, 0, 0, 0), (..., ...),
])
def test_indices_of_all_kinds(key):
    x = np.arange(48).reshape(3, 4, 4)
    same(outcome(lambda: np.asarray(lazy(x)[key])), outcome(lambda: np.asarray(x[key])))


def move(draw, x, a):
    """One step, done to an array and to a lazy one."""
    rank = x.ndim
    kind = draw(st.sampled_from(["index", "transpose", "reshape", "flip", "tile", "roll", "stack", "expand", "repeat", "take", "pad"]))
    if kind == "index":
        key = draw(keys(x.shape))
        try:
            return x[key], a[key]
        except IndexError:
            return x, a
    if kind == "transpose":
        order = draw(st.permutations(range(rank)))
        return x.transpose(order), a.transpose(order)
    if kind == "reshape" and x.size:
        parts = [n for n in range(1, x.size + 1) if x.size % n == 0]
        first = draw(st.sampled_from(parts))
        return x.reshape(first, -1), a.reshape(first, -1)
    if kind == "flip":
        return np.flip(x), xp.flip(a)
    if kind == "tile":
        return np.tile(x, (2, 1)), xp.tile(a, (2, 1))
    if kind == "roll":
        return np.roll(x, 3), xp.roll(a, 3)
    if kind == "stack" and x.size < 500:
        return np.stack([x, x], -1), xp.stack([a, a], axis=-1)
    if kind == "expand":
        return np.expand_dims(x, 0), xp.expand_dims(a, axis=0)
    if kind == "repeat" and rank and x.size < 500:
        return np.repeat(x, 2, -1), a.repeat(2, -1)
    if kind == "take" and rank and x.shape[0]:
        return np.take(x, [0, -1], 0), a.take([0, -1], 0)
    if kind == "pad" and rank and x.shape[-1]:
        return np.pad(x, 1, "edge") if 0 not in x.shape else x, xp.pad(a, 1, "edge") if 0 not in x.shape else a
    return x, a


@given(arrays(max_rank=3), st.data())
def test_chains(x, data):
    a = lazy(x)
    for _ in range(data.draw(st.integers(0, 6))):
        if x.ndim > 6 or x.size > 5000:
            break
        x, a = move(data.draw, np.asarray(x), a)
        assert a.shape == x.shape and a.dtype == x.dtype
    same(np.asarray(a), np.asarray(x))
    same(a.copy(), np.asarray(x))
    out = np.empty(x.shape[::-1], x.dtype).T
    assert a.numpy(out=out) is out
    same(out, np.asarray(x))


def test_nothing_moves_before_it_has_to():
    x = np.zeros((4, 6))
    a = lazy(x)[::-1].T.reshape(3, 2, 4)
    x[3, 0] = 7
    assert np.asarray(a)[0, 0, 0] == 7
    view = np.asarray(a)
    assert np.shares_memory(view, x) and view.flags.writeable
    assert a.copy().base is None and not np.shares_memory(a.copy(), x)
    assert a.numpy(copy=True).flags.owndata
    assert not np.shares_memory(np.asarray(a.reshape(24)), x)
    assert np.array(a, "f4").dtype == np.float32
    assert len(a) == 3 and a.nbytes == 192 and a.mT.shape == (3, 4, 2)
    assert [part.shape for part in a] == [(2, 4)] * 3
    assert "canonical" in a.explain() and "loops" in a.explain()
    assert isinstance(a + 1, np.ndarray) and isinstance(np.add(2, a), np.ndarray)
    with pytest.raises(TypeError):
        a.numpy(out=np.zeros((3, 2, 4), "f4"))
    with pytest.raises(ValueError):
        a.numpy(out=np.zeros((3, 2, 5)))


def test_what_reads_itself():
    x = np.arange(12).reshape(3, 4)
    lazy(x)[::-1].numpy(out=x)
    same(x, np.arange(12).reshape(3, 4)[::-1].copy())


def test_joins_and_picks():
    x, y = np.arange(6).reshape(2, 3), np.arange(6, 12).reshape(2, 3)
    a, b = lazy(x), lazy(y)
    same(np.asarray(xp.concat([a, b.T.reshape(2, 3)], axis=1)), np.concatenate([x, y.T.reshape(2, 3)], 1))
    same(np.asarray(xp.concat([a, lazy(y.astype("f4"))])), np.concatenate([x, y.astype("f4")]))
    same(np.asarray(xp.concat([a, b], axis=None)), np.concatenate([x, y], None))
    order = np.argsort(-x, axis=1)
    same(np.asarray(xp.take_along_axis(a, order)), np.take_along_axis(x, order, -1))
    same(np.asarray(xp.take_along_axis(a, order[:1])), np.take_along_axis(x, order[:1], -1))
    same(np.asarray(a[[1, 0]][:, [2, 0]]), x[[1, 0]][:, [2, 0]])
    same(np.asarray(a[lazy(np.array([1, 1]))]), x[[1, 1]])
    same(np.asarray(xp.broadcast_arrays(a, b[:, :1])[1]), np.broadcast_arrays(x, y[:, :1])[1])
    same(np.asarray(xp.moveaxis(a, 0, 1)), np.moveaxis(x, 0, 1))
    same(np.asarray(xp.unstack(a)[1]), x[1])
    same(np.asarray(xp.roll(a, (1, 2), axis=(0, 1))), np.roll(x, (1, 2), (0, 1)))
    same(np.asarray(xp.pad(a, ((1, 0), (0, 2)))), np.pad(x, ((1, 0), (0, 2))))
    for wrong in (lambda: xp.stack([a, b.T]), lambda: xp.concat([]), lambda: a.reshape(5), lambda: a.squeeze(0),
                  lambda: xp.broadcast_to(a, (2, 4)), lambda: a.transpose(0), lambda: xp.pad(a, 3, "reflect")):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(IndexError, match="out of bounds"):
        np.asarray(a[[2]])


def test_einops_is_lazy():
    x = np.arange(2 * 4 * 6 * 3).reshape(2, 4, 6, 3)
    made = einops.rearrange(lazy(x), "b (h p) (w q) c -> b (h w) (p q c)", p=2, q=3)
    assert isinstance(made, restride.LazyArray)
    same(np.asarray(made), einops.rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=2, q=3))
    same(np.asarray(einops.repeat(lazy(x), "a b c d -> a (2 b) c d e", e=2)), np.asarray(einops.repeat(x, "a b c d -> a (2 b) c d e", e=2)))
    assert einops.reduce(lazy(x), "a b c d -> a", "sum").shape == (2,)
    assert einops.pack([lazy(x), lazy(x[0])], "* h w c")[0].shape == (3, 4, 6, 3)


def test_the_test_suite_of_einops(tmp_path):
    einops_tests = pytest.importorskip("einops.tests")
    folder = os.path.dirname(einops_tests.__file__)
    (tmp_path / "with_lazy.py").write_text(
        "import restride, numpy\n"
        "restride.lazy(numpy.zeros(1))\n"
        "from restride._einops import LazyBackend\n"
        "from einops import _backends\n"
        "_backends.NumpyBackend = LazyBackend\n"
        "LazyBackend.framework_name = 'restride'\n"
    )
    environment = {**os.environ, "EINOPS_TEST_BACKENDS": "restride", "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    files = [os.path.join(folder, name) for name in ("test_ops.py", "test_packing.py", "test_examples.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "with_lazy", "-W", "ignore",
               # Its callback is numpy's, of which a lazy array has no methods.
               "-k", "not callable", *files]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout

"""Functions under `restride.jit` beside the same functions of numpy's arrays."""

import numpy as np
import pytest
from conftest import same

import restride
from restride import lazy_namespace as xp


def test_it_is_followed_once_for_each_shape():
    seen = []

    @restride.jit
    def turned(x, count=2):
        seen.append(x.shape)
        return x[::-1].reshape(count, -1).T.reshape(-1)

    for n in (4, 6, 4, 6):
        x = np.arange(n * 3).reshape(n, 3)
        for array in (x, x[:, ::-1], x.astype("f4")):
            same(turned(array), array[::-1].reshape(2, -1).T.reshape(-1))
        same(turned(x, 4) if n == 4 else turned(x, 3), x[::-1].reshape(4 if n == 4 else 3, -1).T.reshape(-1))
    assert len(seen) == 6
    assert turned.__name__ == "turned"


def test_more_shapes_than_are_found_at_once():
    f = restride.jit(lambda x: x.T.reshape(-1))
    for _ in range(3):
        for n in range(1, 40):
            for dtype in ("f4", "i8", ">i8", "u1,<f4"):
                x = np.arange(n * 3).reshape(n, 3).astype(dtype)
                same(f(x), x.T.reshape(-1))
                same(f(x[:, ::-1]), x[:, ::-1].T.reshape(-1))
    x = np.arange(6).reshape(2, 3)
    same(f(restride.lazy(x)), x.T.reshape(-1))
    assert "input strides" in f.explain()
    f(x)
    assert "input strides" in f.explain()
    with pytest.raises(TypeError):
        f(x.astype(object))


def test_arguments_that_index_and_that_are_one_array():
    @restride.jit
    def rows(x, i, y):
        return xp.concat([x[i], y.T], axis=0)

    x = np.arange(12).reshape(3, 4)
    y = np.arange(8).reshape(4, 2)
    for i in ([2, 0], [1, 1]):
        same(rows(x, np.array(i), y), np.concatenate([x[i], y.T]))
    with pytest.raises(IndexError):
        rows(x, np.array([2, 3]), y)
    square = np.arange(9).reshape(3, 3)
    same(rows(square, np.array([0]), square), np.concatenate([square[[0]], square.T]))
    same(rows(square, np.array([0]), square + 9), np.concatenate([square[[0]], square.T + 9]))


def test_answers():
    @restride.jit
    def halves(x):
        return x[: len(x) // 2], x[len(x) // 2 :].T

    x = np.arange(12.0).reshape(4, 3)
    low, high = halves(x)
    assert np.shares_memory(low, x) and np.shares_memory(high, x)
    same(high, x[2:].T)
    outs = np.zeros((2, 3)), np.zeros((3, 2))
    assert halves(x, out=outs)[1] is outs[1]
    same(outs[1], x[2:].T.copy())
    copied = restride.jit(lambda x: x.T, copy=True, threads=2)
    assert copied(x).flags.c_contiguous and not np.shares_memory(copied(x), x)
    with pytest.raises(TypeError, match="lazy arrays, not with float"):
        restride.jit(lambda x: 3.0)(x)


def test_stages_are_shown():
    f = restride.jit(lambda x: x[::-1].T.reshape(-1))
    with pytest.raises(ValueError, match="has not been called"):
        f.explain()
    x = np.zeros((4, 6), "f4")
    assert "<details open><summary>loops</summary><pre>" in f.lower(x)._repr_html_()
    f(x)
    said = f.explain()
    for stage in ("graph", "canonical", "plan", "loops"):
        assert f"# {stage}\n" in said
    assert said == f.explain(x)

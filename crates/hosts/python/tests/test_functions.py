"""Every function beside numpy's of the same name: results, errors, and which of them are views."""

import numpy as np
import pytest
from conftest import DTYPES, arrays, filled, outcome, same
from hypothesis import given
from hypothesis import strategies as st

import restride


def both(name, *args, **kwargs):
    same(
        outcome(lambda: getattr(restride, name)(*args, **kwargs)),
        outcome(lambda: getattr(np, name)(*args, **kwargs)),
    )


@given(arrays(), st.sampled_from("CFKA"))
def test_copies(x, order):
    both("ascontiguousarray", x)
    both("asfortranarray", x)
    both("copy", x, order)
    made = restride.copy(x, order)
    assert made.flags.c_contiguous == np.copy(x, order).flags.c_contiguous
    assert made.flags.f_contiguous == np.copy(x, order).flags.f_contiguous
    assert made.strides == np.copy(x, order).strides or 0 in x.shape or 1 in x.shape
    assert made.flags.writeable and made.flags.owndata
    assert restride.ascontiguousarray(x, order="F").flags.f_contiguous or x.ndim == 0


def test_what_is_contiguous_is_itself():
    x = np.arange(6.0).reshape(2, 3)
    assert restride.ascontiguousarray(x) is x
    assert restride.ascontiguousarray(x.T) is not x
    turned = x.T
    assert restride.asfortranarray(turned) is turned
    assert restride.ascontiguousarray([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert restride.ascontiguousarray(3.0).shape == (1,)
    both("ascontiguousarray", x.T, "f4")


@given(arrays(), st.data())
def test_copyto(x, data):
    to = data.draw(arrays(dtypes=[x.dtype], max_rank=5))
    ours, theirs = np.copy(to, "K"), np.copy(to, "K")
    if ours.ndim and data.draw(st.booleans()):
        ours, theirs = ours[::-1], theirs[::-1]
    a = outcome(lambda: restride.copyto(ours, x) or ours)
    b = outcome(lambda: np.copyto(theirs, x) or theirs)
    same(a, b)


def test_copyto_of_all_kinds():
    for src, kwargs in [(2, {}), ([1, 2, 3], {}), (np.arange(3.0), {}), (np.arange(3), {"where": [True, False, True]}),
                        (np.arange(3.5), {"casting": "unsafe"}), (np.zeros(4, int), {}), (np.arange(3) + 1j, {})]:
        ours, theirs = np.zeros((2, 3), int), np.zeros((2, 3), int)
        same(outcome(lambda: restride.copyto(ours, src, **kwargs) or ours),
             outcome(lambda: np.copyto(theirs, src, **kwargs) or theirs))
    x = np.arange(10)
    restride.copyto(x[1:], x[:-1])
    assert x.tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    x.flags.writeable = False
    with pytest.raises(ValueError):
        restride.copyto(x, x[::-1])


@given(arrays(), st.data())
def test_take(x, data):
    axis = data.draw(st.one_of(st.none(), st.integers(-5, 4)))
    dtype = data.draw(st.sampled_from(["i8", "i4", "i2", "i1", "u1", "u4", "u8", ">i4", "?", "f4"]))
    indices = data.draw(st.lists(st.integers(0, 4), max_size=6))
    if data.draw(st.booleans()) and "i" in dtype:
        indices = [n - 5 for n in indices]
    indices = np.array(indices).astype(dtype)
    if indices.size % 2 == 0 and data.draw(st.booleans()):
        indices = indices.reshape(2, -1).T
    # Numpy does not come back from a wrap along an axis without elements.
    mode = data.draw(st.sampled_from(["raise", "wrap", "clip"] if x.size else ["raise", "clip"]))
    both("take", x, indices, axis=axis, mode=mode)
    both("take", x, indices.tolist(), axis=axis, mode=mode)
    result = outcome(lambda: np.take(x, indices, axis, mode=mode))
    if isinstance(result, np.ndarray):
        out = np.empty_like(result)
        assert restride.take(x, indices, axis, out, mode) is out
        same(out, result)


def test_take_of_scalars_and_its_errors():
    x = np.arange(12).reshape(3, 4)
    both("take", x, 3)
    both("take", x, 1, axis=0)
    both("take", [4, 5, 6], [0, 2])
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        restride.take(x, [0, 3], axis=0)
    with pytest.raises(IndexError, match="index -5 is out of bounds for axis 1 with size 4"):
        restride.take(x, [0, -5], axis=1)
    both("take", x, [0], axis=2)
    both("take", np.zeros((0, 3)), [0], axis=0)
    out = np.zeros((3, 3), int)
    with pytest.raises(ValueError):
        restride.take(x, [0, 1], axis=1, out=out)
    same(restride.take(x, [2, 1, 0], 0, x), np.take(np.arange(12).reshape(3, 4), [2, 1, 0], 0))


@given(arrays(min_rank=1), st.data())
def test_take_along_axis(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    shape = [data.draw(st.sampled_from([1, n])) for n in x.shape]
    shape[axis] = data.draw(st.integers(0, 3))
    size = max(x.shape[axis], 1)
    indices = data.draw(st.lists(st.integers(-size, size - 1), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    both("take_along_axis", x, np.array(indices, "i8").reshape(shape), axis=axis)
    both("take_along_axis", x, np.argsort(np.zeros(x.size), kind="stable"), axis=None)


@given(st.lists(arrays(dtypes=["f4", "V5", "u1,<f4"]), max_size=4), st.integers(-3, 3))
def test_concatenate(parts, axis):
    both("concatenate", parts, axis=axis)
    both("stack", parts, axis=axis)


@given(arrays(), st.integers(1, 4), st.data())
def test_joins_of_what_fits(x, count, data):
    parts = [x] * count
    both("stack", parts, axis=data.draw(st.integers(-x.ndim - 1, x.ndim)))
    both("concatenate", parts, axis=None)
    if x.ndim:
        axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
        both("concatenate", parts, axis=axis)
        theirs = np.concatenate(parts, axis)
        out = np.empty(theirs.shape[::-1], theirs.dtype).T
        assert restride.concatenate(parts, axis, out=out) is out
        same(out, theirs)


def test_joins_of_all_kinds():
    x = np.arange(6).reshape(2, 3)
    both("concatenate", [x, x.astype("f4")])
    both("concatenate", [x, x], dtype="f4")
    both("concatenate", [x, [[1, 2, 3]]])
    both("concatenate", x)
    both("concatenate", [])
    both("concatenate", (part for part in [x, x]))
    both("concatenate", [x, x[0]])
    both("stack", x, axis=1)
    both("stack", [x, x[:1]])
    both("stack", [1, 2, 3])


@given(arrays(), st.one_of(st.integers(-1, 3), st.lists(st.integers(0, 3), max_size=5)))
def test_tile(x, reps):
    both("tile", x, reps)


@given(arrays(), st.data())
def test_repeat(x, data):
    axis = data.draw(st.one_of(st.none(), st.integers(-4, 3)))
    both("repeat", x, data.draw(st.integers(-1, 3)), axis=axis)
    size = x.size if axis is None else x.shape[axis] if -x.ndim <= axis < x.ndim else 2
    both("repeat", x, data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)), axis=axis)
    both("repeat", x, [1, 2, 3], axis=axis)


@given(arrays(), st.data())
def test_roll(x, data):
    axis = data.draw(st.one_of(st.none(), st.integers(-4, 3), st.lists(st.integers(-2, 1), max_size=3)))
    shift = data.draw(st.one_of(st.integers(-7, 7), st.lists(st.integers(-7, 7), min_size=1, max_size=3)))
    axis = tuple(axis) if isinstance(axis, list) else axis
    shift = tuple(shift) if isinstance(shift, list) else shift
    both("roll", x, shift, axis=axis)


@given(arrays(), st.data())
def test_pad(x, data):
    mode = data.draw(st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap", "empty", "maximum", "nonsense"]))
    width = st.integers(0, 4)
    pair = st.tuples(width, width)
    amount = data.draw(st.one_of(st.integers(-1, 4), pair, st.tuples(pair), st.lists(pair, min_size=x.ndim, max_size=x.ndim)))
    if mode == "empty":
        assert isinstance(outcome(lambda: restride.pad(x, 1, mode)), np.ndarray | Exception)
        return
    if mode == "maximum" and x.dtype.kind not in "iuf":
        return
    both("pad", x, amount, mode)


@pytest.mark.parametrize("dtype", ["?", "i1", "f2", ">i4", "f8", "c16"])
def test_pad_with_constants(dtype):
    x = filled((2, 3), dtype)
    for value in [0, 1, 7.0, np.float32(2), (1, 2), ((1, 2), (3, 4))]:
        both("pad", x, ((1, 2), (0, 1)), constant_values=value)
    both("pad", x, {-1: (1, 2)})
    both("pad", x, 1, "reflect", reflect_type="odd") if dtype != "?" else None
    both("pad", x, 1, constant_value=3)


@given(arrays(), st.data())
def test_views(x, data):
    axes = st.integers(-x.ndim - 1, x.ndim)
    axis = data.draw(st.one_of(st.none(), axes, st.lists(axes, max_size=3).map(tuple)))
    both("flip", x, axis)
    order = data.draw(st.one_of(st.none(), st.permutations(range(x.ndim)), st.lists(axes, max_size=4)))
    both("permute_dims", x, order)
    one, other = data.draw(axes), data.draw(axes)
    both("swapaxes", x, one, other)
    both("moveaxis", x, one, other)
    both("moveaxis", x, (one, other), data.draw(st.tuples(axes, axes)))
    shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=2))) + x.shape
    both("broadcast_to", x, shape)
    both("broadcast_to", x, data.draw(st.lists(st.integers(-1, 4), max_size=3)))
    if x.size and x.ndim:
        assert np.shares_memory(restride.flip(x), x)
        assert np.shares_memory(restride.permute_dims(x), x)
        assert restride.flip(x).flags.writeable == x.flags.writeable
    assert not restride.broadcast_to(x, shape).flags.writeable


@given(arrays(), st.data())
def test_reshape(x, data):
    sizes = [n for n in (1, 2, 3, 4, 5, 6, -1) if n < 0 or (x.size or 1) % n == 0]
    shape = data.draw(st.lists(st.sampled_from(sizes), max_size=4))
    both("reshape", x, shape)
    both("reshape", x, [x.size])
    both("reshape", x, x.size)
    both("reshape", x, shape, order="F")
    both("reshape", x, shape, copy=data.draw(st.booleans()))
    made = outcome(lambda: restride.reshape(x, shape))
    theirs = outcome(lambda: np.reshape(x, shape))
    if isinstance(theirs, np.ndarray) and x.size:
        assert np.shares_memory(made, x) or not np.shares_memory(theirs, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_in_every_function(dtype):
    x = filled((3, 4), dtype)
    for name, args in [("ascontiguousarray", ()), ("copy", ()), ("take", ([0, 2],)), ("tile", (2,)), ("roll", (1,)),
                       ("repeat", (2, 0)), ("pad", (1,)), ("flip", ()), ("reshape", ((2, 6),))]:
        both(name, x.T[::-1] if name != "take" else x, *args)
    both("concatenate", [x, x[:, ::-1]])


def test_references_are_refused():
    for x in [np.array([1, None]), np.zeros(2, "O,i4"), np.array(["a"], np.dtypes.StringDType())]:
        with pytest.raises(TypeError, match="no plain bytes"):
            restride.copy(x)


def test_more_axes_than_a_graph_has():
    x = np.zeros((1,) * 40 + (2, 3)).transpose(*range(40), 41, 40)
    both("ascontiguousarray", x)
    both("take", x, [1, 0], axis=-1)
    both("reshape", x, (3, 2))


def test_memory_of_files_and_of_others(tmp_path):
    path = tmp_path / "x"
    mapped = np.memmap(path, "f4", "w+", shape=(5, 7))
    mapped[:] = np.arange(35).reshape(5, 7)
    same(restride.ascontiguousarray(mapped.T), np.ascontiguousarray(mapped.T))
    restride.copyto(mapped, np.ones((5, 7), "f4"))
    mapped.flush()
    read = np.memmap(path, "f4", "r", shape=(5, 7))
    assert restride.copy(read).sum() == 35
    both("copy", memoryview(b"abcdef"))
    both("copy", bytearray(b"abcdef"))
    masked = np.ma.masked_array([1, 2], [True, False])
    same(restride.copy(masked), np.copy(masked))


def test_threads():
    x = np.arange(2_000_000, dtype="f4").reshape(1000, 2000)
    for threads in (1, 2, 7):
        same(restride.ascontiguousarray(x.T, threads=threads), np.ascontiguousarray(x.T))
        same(restride.take(x, np.arange(999, -1, -1), 0, threads=threads), x[::-1].copy())
    restride.set_num_threads(2)
    try:
        assert restride.get_num_threads() == 2
        same(restride.roll(x, 3), np.roll(x, 3))
    finally:
        restride.set_num_threads(1)
    for wrong in (0, 100_000):
        with pytest.raises(ValueError):
            restride.copy(x, threads=wrong)

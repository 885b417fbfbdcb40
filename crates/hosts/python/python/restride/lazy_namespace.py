"""The functions of the Array API that move data, for lazy arrays."""

import numpy as np

from ._lazy import (
    BROADCAST,
    CONCAT,
    FIRST,
    GATHER_ELEMENTS,
    MODES,
    PAD,
    ROLL,
    SLICE,
    TILE,
    _axes,
    _counted,
    _indices,
    _native,
    lazy,
)

__all__ = [
    "asarray",
    "broadcast_arrays",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "pad",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "take",
    "take_along_axis",
    "tile",
    "unstack",
]

asarray = lazy


def reshape(x, /, shape, *, copy=None):
    return lazy(x).reshape(shape)


def permute_dims(x, /, axes):
    return lazy(x).transpose(axes)


def squeeze(x, /, axis):
    return lazy(x).squeeze(axis)


def take(x, indices, /, *, axis=None):
    return lazy(x).take(indices, axis)


def repeat(x, repeats, /, *, axis=None):
    return lazy(x).repeat(repeats, axis)


def expand_dims(x, /, *, axis=0):
    x = lazy(x)
    axes = _axes(axis, x.ndim + (1 if np.ndim(axis) == 0 else len(axis)))
    sizes = iter(x.shape)
    return x.reshape([1 if at in axes else next(sizes) for at in range(x.ndim + len(axes))])


def moveaxis(x, source, destination, /):
    x = lazy(x)
    source, destination = _axes(source, x.ndim), _axes(destination, x.ndim)
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [at for at in range(x.ndim) if at not in source]
    for place, at in sorted(zip(destination, source)):
        order.insert(place, at)
    return x.transpose(order)


def flip(x, /, *, axis=None):
    x = lazy(x)
    axes = range(x.ndim) if axis is None else _axes(axis, x.ndim)
    bounds = [part for at, size in enumerate(x.shape) for part in ((-1, FIRST, -1) if at in axes else (0, size, 1))]
    return x._then(x.shape, SLICE, bounds)


def broadcast_to(x, /, shape):
    x, shape = lazy(x), tuple(shape)
    if np.broadcast_shapes(x.shape, shape) != shape:
        raise ValueError(f"an array of shape {x.shape} cannot be broadcast to {shape}")
    return x._then(shape, BROADCAST, shape)


def broadcast_arrays(*arrays):
    shape = np.broadcast_shapes(*(lazy(x).shape for x in arrays))
    return [broadcast_to(x, shape) for x in arrays]


def tile(x, repetitions, /):
    x, counts = lazy(x), [int(count) for count in np.atleast_1d(repetitions)]
    rank = max(x.ndim, len(counts))
    counts = [1] * (rank - len(counts)) + counts
    x = x.reshape((1,) * (rank - x.ndim) + x.shape)
    return x._then([size * count for size, count in zip(x.shape, counts)], TILE, counts)


def roll(x, /, shift, *, axis=None):
    x = lazy(x)
    if axis is None:
        return roll(x.ravel(), shift, axis=0).reshape(x.shape)
    for step, at in np.broadcast(shift, axis):
        x = x._then(x.shape, ROLL, (int(step), _counted(at, x.ndim)))
    return x


def concat(arrays, /, *, axis=0):
    arrays = [lazy(x) for x in arrays]
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        arrays, axis = [x.ravel() for x in arrays], 0
    first = arrays[0]
    axis = _counted(axis, first.ndim)
    without = [x.shape[:axis] + x.shape[axis + 1 :] for x in arrays]
    if any(shape != without[0] for shape in without):
        raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    if any(x.dtype != first.dtype for x in arrays):
        dtype = np.result_type(*(x.dtype for x in arrays))
        arrays = [x if x.dtype == dtype else lazy(np.asarray(x).astype(dtype)) for x in arrays]
        first = arrays[0]
    shape = list(first.shape)
    shape[axis] = sum(x.shape[axis] for x in arrays)
    return first._then(shape, CONCAT, (axis,), *arrays[1:])


def stack(arrays, /, *, axis=0):
    arrays = [lazy(x) for x in arrays]
    if len({x.shape for x in arrays}) > 1:
        raise ValueError("all input arrays must have the same shape")
    return concat([expand_dims(x, axis=axis) for x in arrays], axis=axis)


def unstack(x, /, *, axis=0):
    x = moveaxis(x, axis, 0)
    return tuple(x[at] for at in range(len(x)))


def take_along_axis(x, indices, /, *, axis=-1):
    x, indices = lazy(x), lazy(_native(np.asarray(_indices(indices))))
    axis = _counted(axis, x.ndim)
    if indices.ndim != x.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    others = [np.broadcast_shapes((a,), (b,))[0] for a, b in zip(x.shape, indices.shape)]
    wide, shape = list(others), list(others)
    wide[axis], shape[axis] = x.shape[axis], indices.shape[axis]
    return broadcast_to(x, wide)._then(shape, GATHER_ELEMENTS, (axis, *shape), indices)


def pad(x, pad_width, mode="constant"):
    """A rim as `numpy.pad` has it, of zeros if it is constant."""
    x = lazy(x)
    widths = np.broadcast_to(np.asarray(pad_width, int), (x.ndim, 2))
    if mode not in MODES or (widths < 0).any():
        raise ValueError("the mode is no mode of a lazy pad, or a width is negative")
    limits = {"reflect": -1, "symmetric": 0, "wrap": 0}
    for (low, high), size in zip(widths, x.shape):
        if mode in limits and max(low, high) > max(size + limits[mode], 0) or mode == "edge" and not size:
            raise ValueError(f"a rim of mode '{mode}' is wider than the array")
    shape = [int(size + low + high) for size, (low, high) in zip(x.shape, widths)]
    return x._then(shape, PAD, (MODES[mode], 0, 0, *map(int, widths[:, 0]), *map(int, widths[:, 1])))

"""Lazy arrays: what is done to them is collected, and done in one pass when an answer is asked for."""

import operator
import sys

import numpy as np

from ._restride import evaluate, from_dlpack, stages, to_dlpack

RESHAPE, TRANSPOSE, SLICE, BROADCAST, GATHER, CONCAT, TILE, ROLL, PAD, GATHER_ELEMENTS = range(10)
FIRST = -(2**63)
MODES = {"constant": 0, "edge": 1, "reflect": 2, "symmetric": 3, "wrap": 4}


def _counted(axis, rank):
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise np.exceptions.AxisError(axis, rank)
    return axis % rank


def _axes(axes, rank):
    try:
        axes = (operator.index(axes),)
    except TypeError:
        axes = tuple(axes)
    axes = tuple(_counted(axis, rank) for axis in axes)
    if len(set(axes)) < len(axes):
        raise ValueError("repeated axis")
    return axes


class LazyArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that is not there yet: see `restride.lazy`. Arithmetic is numpy's, and not lazy."""

    __slots__ = ("_code", "_arguments", "_operands", "_written", "dtype", "shape")
    __array_priority__ = 1000

    def __init__(self, shape, dtype, code, arguments, operands):
        # A source has no code; its only operand is an array. Arguments follow the first operand.
        self.shape = shape
        self.dtype = dtype
        self._code = code
        self._arguments = arguments
        self._operands = operands
        self._written = None

    def _then(self, shape, code, arguments, *others):
        return LazyArray(tuple(shape), self.dtype, code, tuple(arguments), (self, *others))

    # What it is.

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=object))

    @property
    def itemsize(self):
        return self.dtype.itemsize

    @property
    def nbytes(self):
        return self.size * self.itemsize

    @property
    def device(self):
        return "cpu"

    def __array_namespace__(self, api_version=None):
        return sys.modules["restride.lazy_namespace"]

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        return (self[at] for at in range(len(self)))

    def __repr__(self):
        return f"<lazy array of shape {self.shape} and dtype {self.dtype}>"

    # What it becomes.

    def _lines(self):
        """The arrays that are moved, those that index, and the instructions."""
        if self._written is None:
            order, seen, stack = [], set(), [(self, False)]
            while stack:
                node, is_left = stack.pop()
                if is_left:
                    order.append(node)
                elif id(node) not in seen:
                    seen.add(id(node))
                    stack.append((node, True))
                    stack.extend((operand, False) for operand in reversed(node._operands) if isinstance(operand, LazyArray))
            indices = {id(node._operands[1]) for node in order if node._code in (GATHER, GATHER_ELEMENTS)}
            sources = [node for node in order if node._code is None]
            arrays = [node for node in sources if id(node) not in indices]
            picks = [node for node in sources if id(node) in indices]
            number = {id(node): at for at, node in enumerate(arrays + picks)}
            lines = []
            for node in order:
                if node._code is None:
                    continue
                operands = [number[id(operand)] for operand in node._operands]
                number[id(node)] = len(number)
                if node._code == CONCAT:
                    arguments = [*node._arguments, *operands]
                else:
                    arguments = [*operands, *node._arguments]
                lines += [node._code, len(arguments), *arguments]
            array_of = [node._operands[0] for node in arrays]
            pick_of = [node._operands[0] for node in picks]
            self._written = (array_of, pick_of, lines)
        return self._written

    def numpy(self, out=None, *, copy=None, threads=None):
        """The array: a view of what it was made from where one is possible and `copy` is not true."""
        return evaluate(*self._lines(), copy is not True and out is None, out, threads)

    def copy(self, *, threads=None):
        """The array, in memory of its own."""
        return evaluate(*self._lines(), False, None, threads)

    def __array__(self, dtype=None, copy=None):
        made = self.copy() if copy else self.numpy()
        return made if dtype is None else made.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        inputs = [each.numpy() if isinstance(each, LazyArray) else each for each in inputs]
        return getattr(ufunc, method)(*inputs, **kwargs)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if stream is not None or dl_device not in (None, (1, 0)):
            raise BufferError("a lazy array is in the memory of the processor")
        versioned = max_version is not None and max_version[0] >= 1
        if copy is not True:
            capsule = to_dlpack(self.numpy(), versioned, False)
            if capsule is not None:
                return capsule
            if copy is False:
                raise BufferError("this array has to be copied to be given away")
        return to_dlpack(self.copy(), versioned, True)

    def __dlpack_device__(self):
        return (1, 0)

    def explain(self):
        """What is done, as restride sees it: every stage from the graph to the machine code."""
        return "\n".join(f"# {name}\n\n{text.rstrip()}\n" for name, text in stages(*self._lines(), True))

    # What is done to it.

    def reshape(self, *shape, order="C", copy=None):
        if len(shape) == 1 and not hasattr(shape[0], "__index__"):
            shape = tuple(shape[0])
        if order != "C":
            raise ValueError("a lazy array is reshaped in order 'C'")
        shape = [operator.index(size) for size in shape]
        if shape.count(-1) > 1:
            raise ValueError("can only specify one unknown dimension")
        if -1 in shape:
            known = -int(np.prod(shape, dtype=object))
            if not known or self.size % known:
                raise ValueError(f"cannot reshape array of size {self.size} into shape {tuple(shape)}")
            shape[shape.index(-1)] = self.size // known
        if min(shape, default=0) < 0 or np.prod(shape, dtype=object) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {tuple(shape)}")
        return self._then(shape, RESHAPE, shape)

    def transpose(self, *axes):
        if len(axes) == 1 and not hasattr(axes[0], "__index__"):
            axes = axes[0]
        axes = tuple(range(self.ndim))[::-1] if axes is None or axes == () else _axes(axes, self.ndim)
        if len(axes) != self.ndim:
            raise ValueError("axes don't match array")
        return self._then([self.shape[axis] for axis in axes], TRANSPOSE, axes)

    @property
    def T(self):
        return self.transpose()

    @property
    def mT(self):
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.swapaxes(-1, -2)

    def swapaxes(self, axis1, axis2):
        order = list(range(self.ndim))
        one, other = _counted(axis1, self.ndim), _counted(axis2, self.ndim)
        order[one], order[other] = order[other], order[one]
        return self.transpose(order)

    def ravel(self):
        return self.reshape(self.size)

    flatten = ravel

    def squeeze(self, axis=None):
        axes = [at for at, size in enumerate(self.shape) if size == 1] if axis is None else _axes(axis, self.ndim)
        if any(self.shape[at] != 1 for at in axes):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        return self.reshape([size for at, size in enumerate(self.shape) if at not in axes])

    def take(self, indices, axis=None):
        if axis is None:
            return self.ravel().take(indices, 0)
        axis = _counted(axis, self.ndim)
        return self[(slice(None),) * axis + (_indices(indices),)]

    def repeat(self, repeats, axis=None):
        if axis is None:
            return self.ravel().repeat(repeats, 0)
        axis = _counted(axis, self.ndim)
        shape = [*self.shape[: axis + 1], 1, *self.shape[axis + 1 :]]
        spread = self.reshape(shape)
        shape[axis + 1] = operator.index(repeats)
        wide = spread._then(shape, BROADCAST, shape)
        return wide.reshape([*self.shape[:axis], self.shape[axis] * shape[axis + 1], *self.shape[axis + 1 :]])

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        key = tuple(_indices(each) if _is_list(each) else each for each in key)
        used = sum(each.ndim if _is_mask(each) else 1 for each in key if each is not None and each is not Ellipsis)
        if used > self.ndim:
            raise IndexError(
                f"too many indices for array: array is {self.ndim}-dimensional, but {used} were indexed"
            )
        dots = [at for at, each in enumerate(key) if each is Ellipsis]
        if len(dots) > 1:
            raise IndexError("an index can only have a single ellipsis ('...')")
        at = dots[0] if dots else len(key)
        key = (*key[:at], *(slice(None),) * (self.ndim - used), *key[at + 1 :])
        return _indexed(self, key)


def _is_list(each):
    return isinstance(each, (list, np.ndarray, LazyArray, bool, np.bool_))


def _is_mask(each):
    return isinstance(each, np.ndarray) and each.dtype == bool


def _indices(each):
    """An array of integers or a mask."""
    if isinstance(each, LazyArray):
        if each._code is None:
            return each if each.dtype.kind in "iu" else np.asarray(each)
        return np.asarray(each)
    each = np.asarray(each)
    if each.size == 0 and each.dtype.kind == "f":
        each = each.astype(np.intp)
    if each.dtype.kind not in "iub":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return each


def _indexed(x, key):
    """Indexing with one entry for each axis, and None for those that are new."""
    entries = []
    for each in key:
        entries += [np.asarray(part) for part in np.nonzero(each)] if _is_mask(each) else [each]
        if _is_mask(each):
            size = x.shape[len([e for e in entries if e is not None]) - each.ndim :][: each.ndim]
            if size != each.shape:
                raise IndexError("boolean index did not match indexed array")
    bounds, kept, lists = [], [], []
    axis = 0
    for each in entries:
        if each is None:
            kept.append(None)
            continue
        size = x.shape[axis]
        if isinstance(each, slice):
            start, stop, step = each.indices(size)
            count = len(range(start, stop, step))
            bounds += [start, FIRST if stop < 0 else stop, step] if count else [0, 0, 1]
            kept.append(count)
        elif isinstance(each, (np.ndarray, LazyArray)):
            bounds += [0, size, 1]
            lists.append((len(kept), each))
            kept.append(size)
        else:
            try:
                at = operator.index(each)
            except TypeError:
                raise IndexError(
                    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"
                ) from None
            if not -size <= at < size:
                raise IndexError(f"index {at} is out of bounds for axis {axis} with size {size}")
            at %= size
            bounds += [at, at + 1, 1]
            if any(isinstance(other, (np.ndarray, LazyArray)) for other in entries):
                # Beside lists an integer is one that has no axes.
                lists.append((len(kept), np.zeros((), np.intp)))
                kept.append(1)
        axis += 1
    sliced = [len(range(*_plain(bounds[at : at + 3], x.shape[at // 3]))) for at in range(0, len(bounds), 3)]
    if any(bounds[3 * at : 3 * at + 3] != [0, size, 1] for at, size in enumerate(x.shape)):
        x = x._then(sliced, SLICE, bounds)
    if not lists:
        return x.reshape([1 if size is None else size for size in kept])
    x = x.reshape([1 if size is None else size for size in kept])
    return _fancy(x, lists)


def _plain(bounds, size):
    start, stop, step = bounds
    return start, -1 if stop == FIRST else stop, step


def _fancy(x, lists):
    """What lists of indices pick, each along the axis that goes with it."""
    places = [at for at, _ in lists]
    if len(lists) == 1:
        at, indices = lists[0]
        shape = (*x.shape[:at], *indices.shape, *x.shape[at + 1 :])
        return _gathered(x, indices, at, shape)
    # Several are one list along one axis, which those axes become; first if they do not stand together.
    lists = [(at, np.asarray(indices)) for at, indices in lists]
    try:
        shape = np.broadcast_shapes(*(indices.shape for _, indices in lists))
    except ValueError:
        shapes = " ".join(str(indices.shape) for _, indices in lists)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}"
        ) from None
    together = np.zeros(shape, np.intp)
    for at, indices in lists:
        size, indices = x.shape[at], indices.astype(np.intp)
        wrong = indices[(indices < -size) | (indices >= size)]
        if wrong.size:
            raise IndexError(f"index {wrong[0]} is out of bounds for axis {at} with size {size}")
        together = together * size + np.where(indices < 0, indices + size, indices)
    is_block = places == list(range(places[0], places[-1] + 1))
    first = places[0] if is_block else 0
    rest = [at for at in range(x.ndim) if at not in places]
    order = rest[:first] + places + rest[first:]
    x = x.transpose(order)
    before, after = x.shape[:first], x.shape[first + len(places) :]
    joined = x.reshape([*before, int(np.prod(x.shape[first : first + len(places)], dtype=object)), *after])
    return _gathered(joined, together, first, (*before, *shape, *after))


def _gathered(x, indices, axis, shape):
    indices = indices if isinstance(indices, LazyArray) else lazy(_native(indices))
    if not x.shape[axis] and 0 not in shape:
        raise IndexError(f"index is out of bounds for axis {axis} with size 0")
    return x._then(shape, GATHER, (axis,), indices)


def _native(indices):
    if indices.dtype == np.uint64 or not indices.dtype.isnative:
        return indices.astype(np.intp)
    return indices


def lazy(x):
    """An array to which things can be done without anything being moved.

    Indexing, `.T`, `.reshape`, `.transpose` and the functions of `restride.lazy_namespace` give lazy arrays;
    `np.asarray(a)`, `a.numpy(out=)` and `a.copy()` do all of it in one pass. An answer that can be a view
    of `x` is one.

    >>> import numpy as np, restride
    >>> a = restride.lazy(np.arange(24).reshape(2, 3, 4))
    >>> a = a[:, ::-1].transpose(2, 0, 1).reshape(4, 6)
    >>> a
    <lazy array of shape (4, 6) and dtype int64>
    >>> np.asarray(a)[0]
    array([ 8,  4,  0, 20, 16, 12])
    """
    _tell_einops()
    if isinstance(x, LazyArray):
        return x
    if not isinstance(x, np.ndarray) and hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
        x = from_dlpack(x)
    x = np.asarray(x)
    return LazyArray(x.shape, x.dtype, None, (), (x,))


_known_to_einops = False


def _tell_einops():
    global _known_to_einops
    if not _known_to_einops:
        _known_to_einops = True
        try:
            import einops._backends  # noqa: F401
        except ImportError:
            return
        from . import _einops  # noqa: F401

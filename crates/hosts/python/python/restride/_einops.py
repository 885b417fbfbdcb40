"""Lazy arrays as a backend of einops: `einops.rearrange(a, ...)` of a lazy array is lazy."""

import numpy as np
from einops._backends import AbstractBackend

from . import lazy_namespace as xp
from ._lazy import LazyArray, lazy


class LazyBackend(AbstractBackend):
    framework_name = "restride"

    def is_appropriate_type(self, tensor):
        return isinstance(tensor, LazyArray)

    def from_numpy(self, x):
        return lazy(x)

    def to_numpy(self, x):
        return np.asarray(x)

    def arange(self, start, stop):
        return lazy(np.arange(start, stop))

    def reduce(self, x, operation, axes):
        return lazy(getattr(np.asarray(x), operation)(axis=axes))

    def stack_on_zeroth_dimension(self, tensors):
        return xp.stack(tensors)

    def add_axis(self, x, new_position):
        return xp.expand_dims(x, axis=new_position)

    def tile(self, x, repeats):
        return xp.tile(x, repeats)

    def concat(self, tensors, axis):
        return xp.concat(tensors, axis=axis)

    def is_float_type(self, x):
        return x.dtype.kind in "fc"

    def einsum(self, pattern, *x):
        return lazy(np.einsum(pattern, *(np.asarray(each) for each in x)))

"""The fastest way to rearrange an array: numpy's functions that move data, and einops' patterns.

>>> import numpy as np, restride
>>> image = np.zeros((480, 640, 3), np.uint8)
>>> restride.ascontiguousarray(image.transpose(2, 0, 1)).shape
(3, 480, 640)
>>> restride.rearrange(image, "(h p) (w q) c -> (h w) (p q c)", p=16, q=16).shape
(1200, 768)
"""

from ._restride import (
    __version__,
    ascontiguousarray,
    asfortranarray,
    broadcast_to,
    concatenate,
    copy,
    copyto,
    flip,
    from_dlpack,
    get_num_threads,
    moveaxis,
    pad,
    permute_dims,
    rearrange,
    repeat,
    reshape,
    roll,
    set_num_threads,
    stack,
    swapaxes,
    take,
    take_along_axis,
    tile,
)

from ._jit import jit
from ._lazy import LazyArray, lazy

concat = concatenate
transpose = permute_dims

__all__ = [
    "LazyArray",
    "__version__",
    "ascontiguousarray",
    "asfortranarray",
    "broadcast_to",
    "concat",
    "concatenate",
    "copy",
    "copyto",
    "flip",
    "from_dlpack",
    "get_num_threads",
    "jit",
    "lazy",
    "moveaxis",
    "pad",
    "permute_dims",
    "rearrange",
    "repeat",
    "reshape",
    "roll",
    "set_num_threads",
    "stack",
    "swapaxes",
    "take",
    "take_along_axis",
    "tile",
    "transpose",
]

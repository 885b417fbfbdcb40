"""The types of the package, for mypy and pyright."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__version__: Final[str]
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

_Array = NDArray[Any]
_Axes = int | Sequence[int]
_Order = Literal["C", "F"]

def ascontiguousarray(
    a: ArrayLike, dtype: DTypeLike | None = None, *, order: _Order = "C", threads: int | None = None
) -> _Array: ...
def asfortranarray(a: ArrayLike, dtype: DTypeLike | None = None, *, threads: int | None = None) -> _Array: ...
def broadcast_to(array: ArrayLike, shape: _Axes) -> _Array: ...
def concatenate(
    arrays: Sequence[ArrayLike] | _Array,
    axis: int | None = 0,
    out: _Array | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: str | None = None,
    threads: int | None = None,
) -> _Array: ...
def copy(a: ArrayLike, order: Literal["C", "F", "A", "K"] = "K", *, threads: int | None = None) -> _Array: ...
def copyto(
    dst: _Array,
    src: ArrayLike,
    casting: str = "same_kind",
    where: ArrayLike | None = None,
    *,
    threads: int | None = None,
) -> None: ...
def flip(m: ArrayLike, axis: _Axes | None = None) -> _Array: ...
def from_dlpack(x: Any, /) -> _Array: ...
def get_num_threads() -> int: ...
def moveaxis(a: ArrayLike, source: _Axes, destination: _Axes) -> _Array: ...
def pad(
    array: ArrayLike, pad_width: Any, mode: Any = None, *, threads: int | None = None, **kwargs: Any
) -> _Array: ...
def permute_dims(a: ArrayLike, axes: _Axes | None = None) -> _Array: ...
def rearrange(
    x: ArrayLike | Sequence[ArrayLike],
    pattern: str,
    /,
    *,
    out: _Array | None = None,
    copy: bool | None = None,
    threads: int | None = None,
    **axes_lengths: int,
) -> _Array: ...
@overload
def repeat(a: ArrayLike, /, repeats: _Axes | NDArray[np.integer[Any]], axis: int | None = None, *, threads: int | None = None) -> _Array: ...
@overload
def repeat(
    a: ArrayLike | Sequence[ArrayLike],
    /,
    repeats: str,
    *,
    out: _Array | None = None,
    copy: bool | None = None,
    threads: int | None = None,
    **axes_lengths: int,
) -> _Array: ...
def reshape(
    a: ArrayLike,
    /,
    shape: _Axes,
    order: Literal["C", "F", "A"] = "C",
    *,
    copy: bool | None = None,
    threads: int | None = None,
) -> _Array: ...
def roll(a: ArrayLike, shift: _Axes, axis: _Axes | None = None, *, threads: int | None = None) -> _Array: ...
def set_num_threads(threads: int) -> None: ...
def stack(
    arrays: Sequence[ArrayLike] | _Array,
    axis: int = 0,
    out: _Array | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: str | None = None,
    threads: int | None = None,
) -> _Array: ...
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> _Array: ...
def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: int | None = None,
    out: _Array | None = None,
    mode: Literal["raise", "wrap", "clip"] = "raise",
    *,
    threads: int | None = None,
) -> _Array: ...
def take_along_axis(
    arr: ArrayLike, indices: NDArray[np.integer[Any]], axis: int | None = -1, *, threads: int | None = None
) -> _Array: ...
def tile(A: ArrayLike, reps: _Axes, *, threads: int | None = None) -> _Array: ...

class LazyArray(np.lib.mixins.NDArrayOperatorsMixin):
    __array_priority__: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    def __init__(
        self, shape: tuple[int, ...], dtype: np.dtype[Any], code: int | None, arguments: tuple[Any, ...], operands: tuple[Any, ...]
    ) -> None: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def device(self) -> str: ...
    @property
    def T(self) -> LazyArray: ...
    @property
    def mT(self) -> LazyArray: ...
    def __getitem__(self, key: Any) -> LazyArray: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[LazyArray]: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> _Array: ...
    def __array_namespace__(self, api_version: str | None = None) -> Any: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def numpy(self, out: _Array | None = None, *, copy: bool | None = None, threads: int | None = None) -> _Array: ...
    def copy(self, *, threads: int | None = None) -> _Array: ...
    def explain(self) -> str: ...
    def reshape(self, *shape: _Axes, order: Literal["C"] = "C", copy: bool | None = None) -> LazyArray: ...
    def transpose(self, *axes: _Axes | None) -> LazyArray: ...
    def swapaxes(self, axis1: int, axis2: int) -> LazyArray: ...
    def ravel(self) -> LazyArray: ...
    def flatten(self) -> LazyArray: ...
    def squeeze(self, axis: _Axes | None = None) -> LazyArray: ...
    def take(self, indices: ArrayLike, axis: int | None = None) -> LazyArray: ...
    def repeat(self, repeats: int, axis: int | None = None) -> LazyArray: ...

def lazy(x: Any) -> LazyArray: ...

class _Lowered:
    name: str
    stages: list[tuple[str, str]]

class _Jitted:
    def __call__(self, *args: Any, out: Any = None, **names: Any) -> Any: ...
    def lower(self, *args: Any, **names: Any) -> _Lowered: ...
    def explain(self, *args: Any, **names: Any) -> str: ...

@overload
def jit(function: Callable[..., Any], *, copy: bool | None = None, threads: int | None = None) -> _Jitted: ...
@overload
def jit(
    function: None = None, *, copy: bool | None = None, threads: int | None = None
) -> Callable[[Callable[..., Any]], _Jitted]: ...

concat = concatenate
transpose = permute_dims

"""restride for tensors of torch on the processor: `import restride.torch`. Nothing else imports torch.

Every function takes tensors and gives new, contiguous ones, of any dtype. It is an operator of torch,
`torch.ops.restride`, with a rule for shapes and one for gradients, so that `torch.compile` and autograd
know it; where neither is at work it is called without their machinery.

>>> import torch, restride.torch
>>> image = torch.zeros(480, 640, 3, dtype=torch.uint8)
>>> restride.torch.contiguous(image.permute(2, 0, 1)).shape
torch.Size([3, 480, 640])
>>> restride.torch.rearrange(image, "(h p) (w q) c -> (h w) (p q c)", p=16, q=16).shape
torch.Size([1200, 768])
"""

from collections.abc import Sequence

import torch
from torch import Tensor, library

from . import _restride

__all__ = ["cat", "contiguous", "flip", "rearrange", "repeat", "roll", "take"]

#: Integers as wide as elements that numpy has no name for.
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_NAMED = {
    torch.bool, torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.int8, torch.int16, torch.int32,
    torch.int64, torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128,
}  # fmt: skip


def _array(x):
    """The tensor as an array, in the same memory."""
    if x.requires_grad or x.is_conj() or x.is_neg():
        x = x.detach().resolve_conj().resolve_neg()
    return (x if x.dtype in _NAMED else x.view(_BITS[x.itemsize])).numpy()


def _tensor(made, like):
    """The array as a tensor, in the same memory."""
    made = torch.from_numpy(made)
    return made if made.dtype is like.dtype else made.view(like.dtype)


def _is_plain(*tensors):
    """Whether tensors can be moved without torch being told."""
    if torch.compiler.is_compiling() or torch.overrides._is_torch_function_mode_enabled():
        return False
    grads = torch.is_grad_enabled()
    return all(type(x) is Tensor and x.device.type == "cpu" and not (grads and x.requires_grad) for x in tensors)


def _counted(axis, rank):
    if not -rank <= axis < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {axis})")
    return axis % rank


def _axes(axis):
    return [axis] if isinstance(axis, int) else list(axis)


def _op(function):
    return library.custom_op(f"restride::{function.__name__[1:]}", mutates_args=(), device_types="cpu")(function)


def _new(x, shape):
    return torch.empty(shape, dtype=x.dtype, device=x.device)


@_op
def _contiguous(x: Tensor) -> Tensor:
    return _tensor(_restride.copy(_array(x), "C"), x)


@_contiguous.register_fake
def _(x):
    return _new(x, x.shape)


_contiguous.register_autograd(lambda ctx, grad: grad)


def _pattern_op(function, repeats):
    """An operator by patterns, with its shape and its gradient, which both follow what the pattern does."""
    op = _op(function)

    def moves(x, pattern, names, sizes):
        return _restride.moves_of(pattern, [int(size) for size in x.shape], dict(zip(names.split(), sizes)), repeats)

    def keep(ctx, inputs, output):
        ctx.shape, ctx.moves = inputs[0].shape, moves(*inputs)

    def back(ctx, grad):
        split, order, spread, filled, _ = ctx.moves
        grad = grad.reshape(filled)
        new = [at for at, (before, after) in enumerate(zip(spread, filled)) if before != after]
        grad = grad.sum(new) if new else grad
        turned = [split[at] for at in order]
        return grad.reshape(turned).permute(sorted(range(len(order)), key=order.__getitem__)).reshape(ctx.shape), None, None, None

    op.register_fake(lambda x, pattern, names, sizes: _new(x, moves(x, pattern, names, sizes)[-1]))
    op.register_autograd(back, setup_context=keep)
    return op


def _rearrange(x: Tensor, pattern: str, names: str, sizes: Sequence[int]) -> Tensor:
    return _tensor(_restride.rearrange(_array(x), pattern, copy=True, **dict(zip(names.split(), sizes))), x)


def _repeat(x: Tensor, pattern: str, names: str, sizes: Sequence[int]) -> Tensor:
    return _tensor(_restride.repeat(_array(x), pattern, copy=True, **dict(zip(names.split(), sizes))), x)


_rearrange, _repeat = _pattern_op(_rearrange, False), _pattern_op(_repeat, True)


@_op
def _take(x: Tensor, index: Tensor, dim: int) -> Tensor:
    return _tensor(_restride.take(_array(x), _array(index), dim), x)


@_take.register_fake
def _(x, index, dim):
    dim = _counted(dim, x.ndim)
    return _new(x, (*x.shape[:dim], *index.shape, *x.shape[dim + 1 :]))


def _keep_index(ctx, inputs, output):
    x, index, ctx.dim = inputs
    ctx.shape = x.shape
    ctx.save_for_backward(index)


def _added_up(ctx, grad):
    (index,) = ctx.saved_tensors
    dim = _counted(ctx.dim, len(ctx.shape))
    index = index.flatten().long()
    index = torch.where(index < 0, index + ctx.shape[dim], index)
    grad = grad.flatten(dim, dim + ctx.saved_tensors[0].ndim - 1) if ctx.saved_tensors[0].ndim else grad.unsqueeze(dim)
    return grad.new_zeros(ctx.shape).index_add(dim, index, grad), None, None


_take.register_autograd(_added_up, setup_context=_keep_index)


@_op
def _flip(x: Tensor, dims: Sequence[int]) -> Tensor:
    return _tensor(_restride.copy(_restride.flip(_array(x), tuple(dims)), "C"), x)


@_flip.register_fake
def _(x, dims):
    return _new(x, x.shape)


def _keep_dims(ctx, inputs, output):
    ctx.dims = inputs[1]


_flip.register_autograd(lambda ctx, grad: (_flip(grad, ctx.dims), None), setup_context=_keep_dims)


@_op
def _roll(x: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Tensor:
    return _tensor(_restride.roll(_array(x), tuple(shifts), tuple(dims)), x)


@_roll.register_fake
def _(x, shifts, dims):
    return _new(x, x.shape)


def _keep_shifts(ctx, inputs, output):
    _, ctx.shifts, ctx.dims = inputs


def _rolled_back(ctx, grad):
    return _roll(grad, [-shift for shift in ctx.shifts], ctx.dims), None, None


_roll.register_autograd(_rolled_back, setup_context=_keep_shifts)


@_op
def _cat(tensors: Sequence[Tensor], dim: int) -> Tensor:
    return _tensor(_restride.concatenate([_array(x) for x in tensors], dim), tensors[0])


@_cat.register_fake
def _(tensors, dim):
    shape = list(tensors[0].shape)
    shape[dim] = sum(x.shape[dim] for x in tensors)
    return _new(tensors[0], shape)


def _keep_parts(ctx, inputs, output):
    ctx.dim = inputs[1]
    ctx.counts = [x.shape[ctx.dim] for x in inputs[0]]


_cat.register_autograd(lambda ctx, grad: (list(grad.split(ctx.counts, ctx.dim)), None), setup_context=_keep_parts)


def _called(op, *args):
    tensors = args[0] if isinstance(args[0], (list, tuple)) else [each for each in args if isinstance(each, Tensor)]
    return (op._init_fn if _is_plain(*tensors) else op)(*args)


def contiguous(x: Tensor) -> Tensor:
    """As `x.contiguous()`."""
    return x if x.is_contiguous() else _called(_contiguous, x)


def rearrange(x: Tensor, pattern: str, /, **axes_lengths: int) -> Tensor:
    """As `restride.rearrange`; always a copy."""
    return _called(_rearrange, x, pattern, " ".join(axes_lengths), list(axes_lengths.values()))


def repeat(x: Tensor, pattern: str, /, **axes_lengths: int) -> Tensor:
    """As `restride.repeat` with a pattern; always a copy."""
    return _called(_repeat, x, pattern, " ".join(axes_lengths), list(axes_lengths.values()))


def take(x: Tensor, index: Tensor, dim: int = 0) -> Tensor:
    """The slices that the indices name, which may be of any shape: as `numpy.take`."""
    return _called(_take, x, index, dim)


def flip(x: Tensor, dims: int | Sequence[int]) -> Tensor:
    """As `torch.flip`."""
    return _called(_flip, x, _axes(dims))


def roll(x: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int]) -> Tensor:
    """As `torch.roll` along dimensions."""
    return _called(_roll, x, _axes(shifts), _axes(dims))


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """As `torch.cat`, of tensors of one dtype."""
    return _called(_cat, list(tensors), dim)

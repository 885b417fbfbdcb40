"""Tensors of torch, where it is installed."""

import numpy as np
import pytest
from conftest import same

import restride

torch = pytest.importorskip("torch")
from torch import library  # noqa: E402
rt = pytest.importorskip("restride.torch")

X = torch.arange(2 * 6 * 8 * 3, dtype=torch.float64).reshape(2, 6, 8, 3)
INDEX = torch.tensor([[1, -1], [0, 1]])
PATCHES = "b (h p) (w q) c -> b (h w) (p q c)"

CALLS = [
    (lambda x: rt.contiguous(x.permute(0, 3, 1, 2)), lambda x: x.permute(0, 3, 1, 2).contiguous()),
    (lambda x: rt.rearrange(x, PATCHES, p=2, q=2),
     lambda x: x.reshape(2, 3, 2, 4, 2, 3).permute(0, 1, 3, 2, 4, 5).reshape(2, 12, 12)),
    (lambda x: rt.rearrange(x, "b ... -> ... b"), lambda x: x.permute(1, 2, 3, 0)),
    (lambda x: rt.repeat(x, "b h w c -> b (h 2) w c k", k=3),
     lambda x: x.repeat_interleave(2, 1)[..., None].expand(2, 12, 8, 3, 3)),
    (lambda x: rt.take(x, INDEX, 2), lambda x: x[:, :, INDEX]),
    (lambda x: rt.take(x, INDEX[0, 0], -1), lambda x: x[..., 1]),
    (lambda x: rt.flip(x, 1), lambda x: x.flip(1)),
    (lambda x: rt.roll(x, (1, 2), (1, 2)), lambda x: x.roll((1, 2), (1, 2))),
    (lambda x: rt.cat([x, x.flip(2)], 2), lambda x: torch.cat([x, x.flip(2)], 2)),
]  # fmt: skip


@pytest.mark.parametrize("ours, theirs", CALLS)
def test_answers_and_gradients(ours, theirs):
    made = ours(X)
    assert torch.equal(made, theirs(X)) and made.is_contiguous()
    x = X.clone().requires_grad_()
    weights = torch.randn_like(made)
    (ours(x) * weights).sum().backward()
    grad, x.grad = x.grad, None
    (theirs(x) * weights).sum().backward()
    assert torch.allclose(grad, x.grad)


@pytest.mark.parametrize("ours, theirs", CALLS)
def test_compiled(ours, theirs):
    torch.compiler.reset()
    followed = torch.compile(lambda x: ours(x * 2) + 1, fullgraph=True, backend="aot_eager")
    assert torch.equal(followed(X), theirs(X * 2) + 1)


@pytest.mark.filterwarnings("ignore")
def test_operators_are_what_torch_asks_of_them():
    x, ops = X.clone().requires_grad_(), torch.ops.restride
    for op, args in [
        (ops.contiguous, (x.permute(0, 3, 1, 2),)),
        (ops.rearrange, (x, PATCHES, "p q", [2, 2])),
        (ops.repeat, (x, "b h w c -> b (h k) w c", "k", [2])),
        (ops.take, (x, INDEX, 0)),
        (ops.flip, (x, [1, -1])),
        (ops.roll, (x, [1, 2], [1, 2])),
        (ops.cat, ([x, x], 1)),
    ]:
        library.opcheck(op.default, args)


@pytest.mark.parametrize("name", "bool uint8 int16 uint32 float16 bfloat16 float8_e4m3fn complex64".split())
def test_every_dtype(name):
    x = X.to(torch.int32).to(getattr(torch, name)).permute(3, 1, 0, 2)
    made = rt.contiguous(x)
    assert made.dtype is x.dtype and made.is_contiguous()
    assert made.view(torch.uint8).equal(x.contiguous().view(torch.uint8))
    shared = restride.from_dlpack(x)
    assert shared.ctypes.data == x.data_ptr() and shared.shape == tuple(x.shape)
    assert restride.ascontiguousarray(x).tobytes() == bytes(made.view(torch.uint8).flatten().tolist())


def test_tensors_share_memory_both_ways():
    x = torch.zeros(3, 4)
    np.asarray(restride.lazy(x).T)[1, 2] = 5
    assert x[2, 1] == 5
    y = np.zeros((3, 4), "f4")
    torch.from_dlpack(restride.lazy(y).T)[1, 2] = 5
    assert y[2, 1] == 5
    assert torch.equal(torch.from_dlpack(restride.lazy(y)[:, ::-1]), torch.from_numpy(y).flip(1))


def test_what_is_not_computed_yet():
    x = torch.complex(X, X + 1).conj()
    assert torch.equal(rt.contiguous(x.permute(3, 0, 1, 2)), x.permute(3, 0, 1, 2).contiguous())
    assert torch.equal(rt.flip(x.imag, 0), x.imag.flip(0))
    with pytest.raises((TypeError, RuntimeError, BufferError)):
        restride.from_dlpack(x)
    with pytest.raises((TypeError, RuntimeError, BufferError)):
        restride.from_dlpack(X.clone().requires_grad_())
    same(restride.take(X, [1], 0), X[[1]].numpy())


def test_errors():
    with pytest.raises(ValueError, match="axis 'h'"):
        rt.rearrange(X, "b (h p) w c -> b h w c p", p=5)
    with pytest.raises(IndexError):
        rt.take(X, torch.tensor([9]), 0)

"""Tensors of other libraries, by DLPack: a library that is written here, numpy, and jax where it is installed."""

import ctypes
import gc

import numpy as np
import pytest
from conftest import same

import restride


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("number", ctypes.c_int32), ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
    ]  # fmt: skip


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Former(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", Deleter),
        ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetName.restype = ctypes.c_char_p
api.PyCapsule_GetName.argtypes = [ctypes.py_object]


class Library:
    """What another library's tensor is: a view of an array."""

    def __init__(self, x, *, is_old=False, flags=0, major=1, device=1, lanes=1, dense=False, offset=0, code=None, **more):
        self.is_old, self.device, self.given_back = is_old, device, 0
        self.array = x
        sizes = (ctypes.c_int64 * x.ndim)(*x.shape)
        steps = (ctypes.c_int64 * x.ndim)(*(step // x.itemsize for step in x.strides))
        kind = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}.get(x.dtype.kind, 4) if code is None else code
        bits = more.get("bits", x.itemsize * 8)
        tensor = Tensor(
            x.ctypes.data - offset, device, 0, x.ndim, kind, bits, lanes, sizes,
            None if dense else steps, offset,
        )  # fmt: skip
        delete = Deleter(self.take_back)
        self.held = (sizes, steps, delete)
        self.managed = Former(tensor, None, delete) if is_old else Versioned(major, 7, None, delete, flags, tensor)

    def take_back(self, _):
        self.given_back += 1

    def __dlpack_device__(self):
        return (self.device, 0)

    def __dlpack__(self, **named):
        if self.is_old and named:
            raise TypeError("max_version is not understood")
        assert self.is_old or named["max_version"][0] == 1
        self.name = b"dltensor" if self.is_old else b"dltensor_versioned"
        self.capsule = api.PyCapsule_New(ctypes.addressof(self.managed), self.name, None)
        return self.capsule


X = np.arange(24, dtype="f4").reshape(4, 6)


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("x", [X, X.T, X[::-1], X[1:, ::2], X[:0], X[0, 0:1], np.array(3.0), np.arange(3) > 1, X + 1j])
def test_tensors_come_in_as_they_are(x, is_old):
    tensor = Library(x, is_old=is_old)
    made = restride.from_dlpack(tensor)
    same(made, x)
    assert made.ctypes.data == x.ctypes.data or not x.size
    assert made.flags.writeable is not is_old
    assert api.PyCapsule_GetName(tensor.capsule) == b"used_" + tensor.name
    view = made.T[..., None]
    del made
    gc.collect()
    assert tensor.given_back == 0
    del view
    gc.collect()
    assert tensor.given_back == 1


def test_tensors_are_arguments():
    same(restride.ascontiguousarray(Library(X.T)), np.ascontiguousarray(X.T))
    same(restride.take(Library(X), Library(np.array([1, 0])), 0), X[[1, 0]])
    same(restride.rearrange(Library(X), "a (b c) -> c (a b)", c=3), X.reshape(4, 2, 3).transpose(2, 0, 1).reshape(3, 8))
    same(np.asarray(restride.lazy(Library(X)).T), X.T)


def test_no_strides_mean_dense_ones_and_offsets_count():
    same(restride.from_dlpack(Library(X, dense=True)), X)
    same(restride.from_dlpack(Library(X[2:], dense=True, offset=48)), X[2:])
    empty = Library(np.zeros((0, 3)))
    empty.managed.tensor.data = None
    assert restride.from_dlpack(empty).shape == (0, 3)


def test_what_must_not_be_written_is_not():
    assert not restride.from_dlpack(Library(X, flags=1)).flags.writeable
    with pytest.raises(ValueError):
        restride.copyto(restride.from_dlpack(Library(X, flags=1)), 0)


def test_numbers_that_numpy_does_not_have_are_moved():
    # Those of bfloat16 have a name if ml_dtypes is installed.
    x = np.arange(6, dtype="u2").reshape(2, 3)
    made = restride.ascontiguousarray(restride.from_dlpack(Library(x, code=4)).T)
    assert made.itemsize == 2 and made.tobytes() == x.T.tobytes()


@pytest.mark.parametrize("wrong", [{"major": 2}, {"device": 2}, {"lanes": 4}, {"bits": 4}, {"code": 2, "bits": 24}])
def test_what_is_not_understood_is_given_back(wrong):
    tensor = Library(X, **wrong)
    with pytest.raises(BufferError):
        restride.from_dlpack(tensor)
    gc.collect()
    assert tensor.given_back == ("device" not in wrong)
    with pytest.raises(AttributeError):
        restride.from_dlpack(3)


def read(capsule):
    name = api.PyCapsule_GetName(capsule)
    kind = Versioned if name == b"dltensor_versioned" else Former
    return name, kind.from_address(api.PyCapsule_GetPointer(capsule, name))


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 3)])
def test_lazy_arrays_are_given_out(version):
    x = X.copy()
    for array, is_copied in [(x, False), (x.T, False), (x[:, ::-1], True), (x[:, :1], False)]:
        lazy = restride.lazy(array)
        name, managed = read(capsule := lazy.__dlpack__(max_version=version))
        assert name == (b"dltensor_versioned" if version and version[0] else b"dltensor")
        assert managed.tensor.strides and all(managed.tensor.strides[at] > 0 for at in range(array.ndim))
        assert tuple(managed.tensor.shape[: array.ndim]) == array.shape
        assert (managed.tensor.data == array.ctypes.data) is not is_copied
        if name == b"dltensor_versioned":
            assert managed.major == 1 and bool(managed.flags & 2) is is_copied
        del capsule
    x.flags.writeable = False
    _, managed = read(capsule := restride.lazy(x).__dlpack__(max_version=version))
    assert managed.tensor.data != x.ctypes.data if not version or not version[0] else managed.flags & 1


def test_what_lazy_arrays_are_asked_for():
    assert restride.lazy(X).__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        restride.lazy(X[::-1]).__dlpack__(copy=False, max_version=(1, 0))
    with pytest.raises(BufferError):
        restride.lazy(X).__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        restride.lazy(X).__dlpack__(stream=1)
    with pytest.raises(BufferError):
        restride.lazy(np.zeros(3, "M8[s]")).__dlpack__()
    _, managed = read(capsule := restride.lazy(X).__dlpack__(copy=True, max_version=(1, 0)))
    assert managed.tensor.data != X.ctypes.data and managed.flags == 2
    del capsule
    same(np.from_dlpack(restride.lazy(X).T), X.T)


def test_what_is_given_out_lives_as_long_as_it_is_used():
    tensor = Library(X)
    lazy = restride.lazy(tensor)
    # A capsule that nobody takes, and one that somebody does.
    capsule = lazy.__dlpack__(max_version=(1, 0))
    taken = np.from_dlpack(restride.lazy(np.asarray(lazy)))
    del lazy
    gc.collect()
    assert tensor.given_back == 0
    same(taken, X)
    del taken
    gc.collect()
    assert tensor.given_back == 0
    del capsule
    gc.collect()
    assert tensor.given_back == 1


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.arange(24.0).reshape(4, 6)
    made = restride.from_dlpack(x)
    same(made, np.asarray(x))
    assert made.ctypes.data == x.unsafe_buffer_pointer()
    same(restride.ascontiguousarray(x.T), np.ascontiguousarray(np.asarray(x).T))
    halves = x.astype(jax.numpy.bfloat16)
    same(restride.ascontiguousarray(halves.T), np.ascontiguousarray(np.asarray(halves).T))
    back = jax.dlpack.from_dlpack(restride.lazy(np.asarray(x)).T)
    assert (np.asarray(back) == np.asarray(x).T).all()

"""Settings and arrays for all tests: `--hypothesis-profile=long` looks further than the gate does."""

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

RELAXED = {"deadline": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("gate", max_examples=60, derandomize=True, **RELAXED)
settings.register_profile("long", max_examples=3000, **RELAXED)
settings.load_profile("gate")

DTYPES = [
    "?", "i1", "u2", "<i4", ">i4", "f2", "f4", "f8", "c8", "c16", "g", "M8[s]", "m8[ms]", "S3", "U2", "V5",
    "u1,<f4", "f8,f8,f8", "V32",
]


def filled(shape, dtype):
    """An array in which no two elements are alike, as far as their dtype lets them."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=int))
    if dtype.kind in "?biufc":
        return (np.arange(count) % 251).astype(dtype).reshape(shape)
    if dtype.kind in "mM":
        return np.arange(count).astype(dtype).reshape(shape)
    if dtype.kind == "U":
        return np.array([chr(65 + n % 50) + chr(65 + n // 50 % 50) for n in range(count)], dtype).reshape(shape)
    size = count * dtype.itemsize
    return np.frombuffer(bytes(n * 7 % 256 for n in range(size)), np.uint8).view(dtype)[:count].reshape(shape)


@st.composite
def arrays(draw, dtypes=DTYPES, min_rank=0, max_rank=4, max_size=5):
    """Arrays of any dtype and any strides."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(st.lists(st.integers(0, max_size), min_size=min_rank, max_size=max_rank))
    x = filled(shape, dtype)
    if draw(st.booleans()):
        # As a field of a record, whose strides no element divides.
        record = np.zeros(shape, [("pad", "u1", (3,)), ("x", dtype)])
        record["x"] = x
        x = record["x"]
    if draw(st.booleans()):
        x = x.transpose(draw(st.permutations(range(x.ndim))))
    for axis in range(x.ndim):
        kind = draw(st.sampled_from(["all", "all", "turned", "part", "step"]))
        size = x.shape[axis]
        part = {
            "all": slice(None),
            "turned": slice(None, None, -1),
            "part": slice(draw(st.integers(0, 1)), size),
            "step": slice(None, None, draw(st.sampled_from([2, -2, 3]))),
        }[kind]
        x = x[(slice(None),) * axis + (part,)]
    if x.ndim < max_rank and draw(st.booleans()):
        x = np.broadcast_to(x, (draw(st.integers(0, 3)),) + x.shape)
    return x


def outcome(call):
    """What a call gives, or the kind of error that it raises."""
    try:
        return call()
    except (ValueError, IndexError, TypeError) as error:
        return error


def same(ours, theirs):
    """Compares two outcomes: class, dtype, shape and every byte of every element."""
    if isinstance(theirs, Exception):
        kinds = (ValueError, IndexError, TypeError)
        kind = next(kind for kind in kinds if isinstance(theirs, kind))
        assert isinstance(ours, kind), (ours, theirs)
        return
    if isinstance(ours, Exception):
        raise ours
    assert type(ours) is type(theirs), (type(ours), type(theirs))
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, (ours, theirs)
    if ours.dtype.kind in "fc" and ours.dtype.itemsize > 8:
        # Some of these have bytes that mean nothing.
        assert np.array_equal(ours, theirs), (ours, theirs)
        return
    assert np.ascontiguousarray(ours).tobytes() == np.ascontiguousarray(theirs).tobytes(), (ours, theirs)

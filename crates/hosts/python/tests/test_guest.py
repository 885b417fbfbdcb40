"""What a guest in a process owes it: memory, references, threads, forks."""

import gc
import os
import sys
import threading

import numpy as np
import pytest
from conftest import same

import restride


def calls(x, i, out):
    restride.ascontiguousarray(x.T)
    restride.copy(x[::-1])
    restride.take(x, i, 0)
    restride.rearrange(x, "a (b c) -> c a b", c=2)
    restride.flip(x)
    restride.copyto(out, x)
    try:
        restride.take(x, [99], 0)
    except IndexError:
        pass
    try:
        restride.rearrange(x, "a b c -> a")
    except ValueError:
        pass


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no such file here")
def test_calls_leave_nothing():
    x, i, out = np.zeros((4, 6), "f4"), np.array([0, 3]), np.zeros((4, 6), "f4")
    for _ in range(2000):
        calls(x, i, out)
    gc.collect()
    before = resident()
    for _ in range(int(os.environ.get("RESTRIDE_CALLS", 40_000)) // 8):
        calls(x, i, out)
    gc.collect()
    assert resident() - before < 2 << 20


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no such file here")
def test_shapes_that_never_come_back_are_forgotten():
    for n in range(1, 3000):
        restride.ascontiguousarray(np.zeros((n, 3), "u1").T)
    before = resident()
    for n in range(3000, 12000):
        restride.ascontiguousarray(np.zeros((n, 3), "u1").T)
    assert resident() - before < 32 << 20


def test_references_are_given_back():
    x, i, pattern = np.zeros((4, 6)), np.array([0, 1]), "".join(["a b", " -> b a"])
    out = np.zeros((2, 4, 6))
    for call in (
        lambda: restride.ascontiguousarray(x),
        lambda: restride.ascontiguousarray(x.T),
        lambda: restride.take(x, i, 0),
        lambda: restride.take(x, [9], 0),
        lambda: restride.concatenate([x, x]),
        lambda: restride.stack([x, x], out=out),
        lambda: restride.rearrange(x, pattern),
        lambda: restride.rearrange(x, pattern, a=5),
        lambda: restride.pad(x, 1),
        lambda: restride.copy(np.array([None])),
    ):
        counts = []
        for _ in range(102):
            try:
                call()
            except (ValueError, IndexError, TypeError):
                pass
            counts.append([sys.getrefcount(each) for each in (x, i, x.dtype, pattern)])
        # Others have references to a dtype, too.
        grown = [after - before for before, after in zip(counts[1], counts[-1])]
        assert max(grown) < 10, grown
    view = restride.flip(x)
    assert view.base is x
    kept = sys.getrefcount(x)
    del view
    assert sys.getrefcount(x) == kept - 1


def test_threads_of_python():
    x = np.arange(3 * 500 * 400, dtype="f4").reshape(3, 500, 400)
    wrong = []

    def work(seed):
        for n in range(60):
            part = x[:, : 20 + (seed * 7 + n) % 400]
            if not np.array_equal(restride.ascontiguousarray(part.T), part.T):
                wrong.append((seed, n))
            if not np.array_equal(restride.rearrange(part, "c h w -> (h w) c"), part.transpose(1, 2, 0).reshape(-1, 3)):
                wrong.append((seed, n))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
# Of libraries that other tests have loaded.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_children_of_a_fork():
    x = np.arange(600 * 500, dtype="f4").reshape(600, 500)
    restride.ascontiguousarray(x.T, threads=2)
    children = []
    for n in range(3):
        child = os.fork()
        if child == 0:
            right = np.array_equal(restride.ascontiguousarray(x.T, threads=2), x.T)
            right &= np.array_equal(restride.roll(x[:, : 9 + n], 1), np.roll(x[:, : 9 + n], 1))
            os._exit(0 if right else 1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    same(restride.ascontiguousarray(x.T), np.ascontiguousarray(x.T))


def test_readers_of_one_array_while_it_moves():
    x = np.arange(2_000_000, dtype="f8").reshape(1000, 2000)
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(None)

    thread = threading.Thread(target=tick)
    thread.start()
    for _ in range(20):
        restride.ascontiguousarray(x.T)
    stop.set()
    thread.join()
    assert ticks


def test_other_interpreters_of_the_process_are_refused():
    try:
        import _interpreters as interpreters
    except ImportError:
        interpreters = pytest.importorskip("_xxsubinterpreters")
    other = interpreters.create()
    code = "import sys\nsys.path[:] = " + repr(sys.path) + """
try:
    import restride
except ImportError as error:
    assert "interpreter" in str(error), error
else:
    raise AssertionError("it was loaded")
"""
    said = (getattr(interpreters, "exec", None) or interpreters.run_string)(other, code)
    interpreters.destroy(other)
    assert said is None, said
    restride.copy(np.zeros(3))

"""What the package says of itself: examples in its documentation, names, versions."""

import doctest
import subprocess
import sys

import numpy as np
import pytest

import restride
from restride import _restride


@pytest.mark.parametrize("name", [None, *restride.__all__])
def test_examples_in_documentation(name):
    what = restride if name is None else getattr(restride, name)
    if isinstance(what, str):
        return
    assert what.__doc__, name
    finder = doctest.DocTestFinder(recurse=False)
    examples = finder.find(what, name or "restride", globs={"np": np, "restride": restride})
    for example in examples:
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(example)
        assert runner.failures == 0
    assert name in (None, "LazyArray", "get_num_threads", "asfortranarray", "swapaxes") or any(e.examples for e in examples), name


def test_all_that_is_made_is_named():
    public = {name for name in dir(_restride) if not name.startswith("_")}
    assert public - {"Repeated", "evaluate", "moves_of", "stages", "to_dlpack"} <= set(restride.__all__)


def test_importing_starts_no_thread_and_prints_nothing():
    code = "import threading, os, restride; print(threading.active_count(), len(os.listdir('/proc/self/task')))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={
        "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ":".join(sys.path)})
    assert (said.stdout, said.stderr) == ("1 1\n", "")


def test_another_numpy_is_refused():
    code = "import sys; sys.modules['numpy'] = None\nimport restride"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env={
        "PYTHONPATH": ":".join(sys.path)})
    assert said.returncode == 1 and "ImportError" in said.stderr or "ModuleNotFoundError" in said.stderr

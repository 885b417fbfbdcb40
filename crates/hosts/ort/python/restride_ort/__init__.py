"""restride as an operator of ONNX Runtime: `options.register_custom_ops_library(library_path())` is all that it takes."""

from pathlib import Path


def library_path():
    """Where the library lies."""
    return str(Path(__file__).resolve().parent / "librestride_ort.so")

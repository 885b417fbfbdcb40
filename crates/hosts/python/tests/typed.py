"""Read by mypy: calls that are right, and one of each kind that is not."""

import numpy as np

import restride

x = np.zeros((2, 3), np.float32)
restride.ascontiguousarray(x.T, order="F")
restride.rearrange(x, "a b -> b a", copy=True)
restride.repeat(x, 2, axis=0)
restride.repeat(x, "a b -> a b c", c=2)
restride.take(x, [0, 1], 1, mode="clip").shape
restride.concatenate([x, x], 1, threads=2)
restride.copy(x, "J")  # type: ignore[arg-type]
restride.rearrange(x)  # type: ignore[call-arg]
restride.take(x, [0], mode="nowhere")  # type: ignore[arg-type]
restride.set_num_threads("2")  # type: ignore[arg-type]

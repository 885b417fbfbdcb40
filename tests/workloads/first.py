"""numpy's first calls beside those of `restride bench --first`: every shape once, into memory that is there."""

import time

import numpy as np

TEMPLATES = {
    "kt_f16": (lambda s: (1, s, 8, 64), np.float16, lambda x: x.transpose(0, 2, 3, 1)),
    "kt_f32": (lambda s: (1, s, 8, 64), np.float32, lambda x: x.transpose(0, 2, 3, 1)),
    "heads_f16": (lambda s: (1, s, 8, 64), np.float16, lambda x: x.transpose(0, 2, 1, 3)),
    "image_nhwc2nchw_u8": (lambda s: (1, s, s + 33, 3), np.uint8, lambda x: x.transpose(0, 3, 1, 2)),
    "image_nchw2nhwc_u8": (lambda s: (1, 3, s, s + 33), np.uint8, lambda x: x.transpose(0, 2, 3, 1)),
    "image_nchw2nhwc_f32": (lambda s: (1, 3, s, s + 33), np.float32, lambda x: x.transpose(0, 2, 3, 1)),
    "image_flip_u8": (lambda s: (s, s + 33, 3), np.uint8, lambda x: x[:, ::-1]),
    "image_bgr_u8": (lambda s: (s, s + 33, 3), np.uint8, lambda x: x[:, :, ::-1]),
    "every_second_f32": (lambda s: (8, s, 2 * s + 1), np.float32, lambda x: x[:, :, ::2]),
    "image_transpose_u8": (lambda s: (s, s + 33), np.uint8, lambda x: x.T),
}

for name, (shape, dtype, view) in TEMPLATES.items():
    times = []
    data = np.ones(max(int(np.prod(shape(s))) for s in range(17, 517)), dtype)
    memory = np.full(data.size, 2, dtype)
    for s in range(17, 517):
        x = data[: int(np.prod(shape(s)))].reshape(shape(s))
        out = memory[: view(x).size].reshape(view(x).shape)
        start = time.perf_counter_ns()
        np.copyto(out, view(x))
        times.append((time.perf_counter_ns() - start) / 1e3)
    times.sort()
    print(f"{name:20} {times[250]:8.1f} us, {times[494]:8.1f} at p99, {sum(times) / 500:8.1f} in the mean")

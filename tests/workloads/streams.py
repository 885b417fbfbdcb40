"""The streams of `tests/streams` in numpy and, where it is there, OpenCV: into memory that is there."""

import time

import numpy as np

try:
    import cv2

    cv2.setNumThreads(1)
except ImportError:
    cv2 = None

data = np.full(1080 * 1920 * 3, 1, np.uint8)
memory = np.full(1080 * 1920 * 3, 2, np.uint8)


def of(buffer, shape, dtype):
    count = int(np.prod(shape))
    return buffer.view(dtype)[:count].reshape(shape)


def filled(dtype, view):
    out = of(memory, view.shape, dtype)
    np.copyto(out, view)


def decode(s):
    f16, f32 = np.float16, np.float32
    x = of(data, (1, s, 8, 64), f16)
    filled(f16, x.transpose(0, 2, 3, 1))
    filled(f16, x.transpose(0, 2, 1, 3))
    cache, new = of(data, (1, 8, s, 64), f16), of(data, (1, 8, 1, 64), f16)
    np.concatenate((cache, new), axis=2, out=of(memory, (1, 8, s + 1, 64), f16))
    x = of(data, (1, 2, s, 64), f16)
    filled(f16, np.broadcast_to(x[:, :, None], (1, 2, 4, s, 64)))
    np.concatenate((cache[..., 32:], cache[..., :32]), axis=3, out=of(memory, (1, 8, s, 64), f16))
    filled(f16, of(data, (1, s, 1024), f16)[:, -1:])
    filled(f32, of(data, (1, 8, 1, s), f32).transpose(0, 3, 1, 2))
    table, rows = of(data, (1000, 256), f32), np.zeros(s, np.int64)
    np.take(table, rows, axis=0, out=of(memory, (s, 256), f32), mode="clip")


def sizes():
    state = 1
    for _ in range(1000):
        pair = []
        for least, n in ((240, 840), (320, 1600)):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            pair.append(least + (state >> 33) % n)
        yield (*pair, 3)


def image(x):
    filled(np.uint8, x[8:-8, 8:-8][:, ::-1][..., ::-1].transpose(2, 0, 1))


def image_cv(x):
    x = x[8:-8, 8:-8]
    h, w, _ = x.shape
    turned = cv2.cvtColor(cv2.flip(x, 1), cv2.COLOR_BGR2RGB)
    cv2.split(turned, list(of(memory, (3, h, w), np.uint8)))


def total(name, work, steps):
    steps = list(steps)
    start = time.perf_counter()
    for step in steps:
        work(step)
    print(f"{name}: {(time.perf_counter() - start) * 1e3:.2f} ms in all")


total("decode, numpy", decode, range(1, 1001))
images = [of(data, shape, np.uint8) for shape in sizes()]
total("images, numpy", image, images)
if cv2:
    total("images, OpenCV", image_cv, images)

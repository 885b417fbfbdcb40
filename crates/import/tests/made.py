"""Models that move much, of random weights: blocks of well-known networks, as exporters write them.

    python made.py FOLDER [--only PATTERN]

Needs `onnx` and `numpy`. With `torch` and `torchvision` at hand it exports some networks of torchvision
as well; those that are in FOLDER already stay as they are.
"""

import argparse
import re
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from real import MODELS, fetch

OPSET = 17


class Net:
    """A graph that grows: each node has one output, whose name is handed on."""

    def __init__(self):
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.random = np.random.default_rng(7)
        self.known = {}

    def input(self, name, *shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def output(self, value, name=None):
        """Hands out what the last node makes, under a name of its own if that is said."""
        value = self.nodes[-1].output[0] = name or value
        self.outputs.append(helper.make_tensor_value_info(value, TensorProto.FLOAT, None))
        return value

    def weight(self, *shape):
        many = int(np.prod(shape[1:])) or 1
        return self.held((self.random.standard_normal(shape) / max(many, 1) ** 0.5).astype(np.float32))

    def held(self, table):
        table = np.asarray(table)
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(table, name))
        return name

    def ints(self, *numbers):
        if numbers not in self.known:
            self.known[numbers] = self.held(np.array(numbers, np.int64))
        return self.known[numbers]

    def several(self, op, *reads, outputs=1, **attributes):
        made = [f"{op.lower()}_{len(self.nodes)}_{at}" for at in range(outputs)]
        name = f"/{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(reads), made, name=name, **attributes))
        return made

    def __getattr__(self, op):
        return lambda *reads, **attributes: self.several(op, *reads, **attributes)[0]

    def reshape(self, x, *shape):
        return self.Reshape(x, self.ints(*shape))

    def turn(self, x, *perm):
        return self.Transpose(x, perm=perm)

    def slice(self, x, axis, start, end, step=1):
        return self.Slice(x, self.ints(start), self.ints(end), self.ints(axis), self.ints(step))

    def scalar(self, number):
        return self.held(np.float32(number))

    def linear(self, x, inside, out):
        return self.Add(self.MatMul(x, self.weight(inside, out)), self.weight(out))

    def norm(self, x, size):
        return self.LayerNormalization(x, self.weight(size), self.weight(size), axis=-1, epsilon=1e-5)

    def gelu(self, x):
        half = self.Add(self.Erf(self.Div(x, self.scalar(2**0.5))), self.scalar(1))
        return self.Mul(self.Mul(x, half), self.scalar(0.5))

    def conv(self, x, inside, out, size=1, stride=1, group=1):
        pads = [size // 2] * 4
        weight, bias = self.weight(out, inside // group, size, size), self.weight(out)
        return self.Conv(x, weight, bias, kernel_shape=[size] * 2, strides=[stride] * 2, pads=pads, group=group)

    def heads(self, x, batch, length, heads, size):
        """Queries, keys and values of one product."""
        all = self.turn(self.reshape(x, batch, length, 3, heads, size), 2, 0, 3, 1, 4)
        return [self.Gather(all, self.held(np.int64(at)), axis=0) for at in range(3)]

    def model(self):
        graph = helper.make_graph(self.nodes, "made", self.inputs, self.outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def swin(side=56, size=96, heads=3, window=7):
    """A stage of Swin: windows as they are and shifted, and four patches made one."""
    net = Net()
    x = net.input("x", 1, side, side, size)
    count, area = side // window, window * window

    def roll(x, by):
        for axis in (1, 2):
            x = net.Concat(net.slice(x, axis, -by, 1 << 60), net.slice(x, axis, 0, -by), axis=axis)
        return x

    for shift in (0, window // 2):
        y = net.norm(x, size)
        if shift:
            y = roll(y, -shift)
        y = net.turn(net.reshape(y, 1, count, window, count, window, size), 0, 1, 3, 2, 4, 5)
        y = net.reshape(y, count * count, area, size)
        q, k, v = net.heads(net.linear(y, size, 3 * size), count * count, area, heads, size // heads)
        q = net.Mul(q, net.scalar((size // heads) ** -0.5))
        scores = net.Add(net.MatMul(q, net.turn(k, 0, 1, 3, 2)), net.weight(1, heads, area, area))
        if shift:
            mask = net.held(np.where(net.random.random((1, count * count, 1, area, area)) < 0.1, -100, 0).astype(np.float32))
            scores = net.Add(net.reshape(scores, 1, count * count, heads, area, area), mask)
            scores = net.reshape(scores, -1, heads, area, area)
        y = net.turn(net.MatMul(net.Softmax(scores, axis=-1), v), 0, 2, 1, 3)
        y = net.linear(net.reshape(y, count * count, area, size), size, size)
        y = net.turn(net.reshape(y, 1, count, count, window, window, size), 0, 1, 3, 2, 4, 5)
        y = net.reshape(y, 1, side, side, size)
        if shift:
            y = roll(y, shift)
        x = net.Add(x, y)
        y = net.gelu(net.linear(net.norm(x, size), size, 4 * size))
        x = net.Add(x, net.linear(y, 4 * size, size))
    parts = []
    for across in (0, 1):
        for down in (0, 1):
            parts.append(net.slice(net.slice(x, 1, down, 1 << 60, 2), 2, across, 1 << 60, 2))
    x = net.norm(net.Concat(*parts, axis=-1), 4 * size)
    net.output(net.MatMul(x, net.weight(4 * size, 2 * size)))
    return net.model()


def shuffle(net, x, channels, side, groups=2):
    x = net.reshape(x, 1, groups, channels // groups, side, side)
    return net.reshape(net.turn(x, 0, 2, 1, 3, 4), 1, channels, side, side)


def shufflenet(channels=116, side=28, units=4):
    """A stage of ShuffleNet V2."""
    net = Net()
    x = net.input("x", 1, channels, side, side)
    half = channels // 2
    for _ in range(units):
        kept, y = net.several("Split", x, net.ints(half, half), outputs=2, axis=1)
        y = net.Relu(net.conv(y, half, half))
        y = net.Relu(net.conv(net.conv(y, half, half, 3, group=half), half, half))
        x = shuffle(net, net.Concat(kept, y, axis=1), channels, side)
    net.output(net.Relu(net.conv(x, channels, 2 * channels)))
    return net.model()


def shufflenet_v1(channels=240, side=28, units=4, groups=3):
    """A stage of ShuffleNet: convolutions of groups, and channels between them shuffled."""
    net = Net()
    x = net.input("x", 1, channels, side, side)
    for _ in range(units):
        y = net.Relu(net.conv(x, channels, channels // 4, group=groups))
        y = shuffle(net, y, channels // 4, side, groups)
        y = net.conv(y, channels // 4, channels // 4, 3, group=channels // 4)
        x = net.Relu(net.Add(x, net.conv(y, channels // 4, channels, group=groups)))
    net.output(x)
    return net.model()


def pixelshuffle(side=224, scale=3, written="DepthToSpace"):
    """Super resolution: few convolutions, and pixels made of channels."""
    net = Net()
    x = net.input("x", 1, 1, side, side)
    x = net.Tanh(net.conv(x, 1, 16, 5))
    x = net.Tanh(net.conv(x, 16, 8, 3))
    x = net.conv(x, 8, 3 * scale * scale, 3)
    if written == "DepthToSpace":
        x = net.DepthToSpace(x, blocksize=scale, mode="CRD")
    else:
        x = net.turn(net.reshape(x, 1, 3, scale, scale, side, side), 0, 1, 4, 2, 5, 3)
        x = net.reshape(x, 1, 3, side * scale, side * scale)
    net.output(x)
    return net.model()


def focus(side=640):
    """The first layers of YOLOX: every second pixel of each kind becomes channels."""
    net = Net()
    x = net.input("x", 1, 3, side, side)
    parts = []
    for across in (0, 1):
        for down in (0, 1):
            parts.append(net.slice(net.slice(x, 2, down, 1 << 60, 2), 3, across, 1 << 60, 2))
    x = net.Concat(*parts, axis=1)
    for inside, out, size, stride in ((12, 24, 3, 1), (24, 48, 3, 2), (48, 48, 1, 1)):
        x = net.conv(x, inside, out, size, stride)
        x = net.Mul(x, net.Sigmoid(x))
    net.output(x)
    return net.model()


def vit(side=14, size=192, heads=3, layers=4):
    """Patches of an image and layers of attention."""
    net = Net()
    x = net.input("x", 1, 3, side * 16, side * 16)
    length = side * side + 1
    x = net.Conv(x, net.weight(size, 3, 16, 16), net.weight(size), kernel_shape=[16, 16], strides=[16, 16])
    x = net.turn(net.reshape(x, 1, size, side * side), 0, 2, 1)
    x = net.Add(net.Concat(net.weight(1, 1, size), x, axis=1), net.weight(1, length, size))
    for _ in range(layers):
        q, k, v = net.heads(net.linear(net.norm(x, size), size, 3 * size), 1, length, heads, size // heads)
        scores = net.Mul(net.MatMul(q, net.turn(k, 0, 1, 3, 2)), net.scalar((size // heads) ** -0.5))
        y = net.turn(net.MatMul(net.Softmax(scores, axis=-1), v), 0, 2, 1, 3)
        x = net.Add(x, net.linear(net.reshape(y, 1, length, size), size, size))
        y = net.gelu(net.linear(net.norm(x, size), size, 4 * size))
        x = net.Add(x, net.linear(y, 4 * size, size))
    net.output(net.Gather(net.norm(x, size), net.held(np.int64(0)), axis=1))
    return net.model()


def decode(past, size=512, heads=8, shared=2, layers=4):
    """One token of a decoder as Llama is: caches that grow by one, turned queries and keys, and keys that
    `shared` heads read each."""
    net = Net()
    each = size // heads
    kept = heads // shared
    x = net.input("x", 1, 1, size)
    cos, sin = net.input("cos", 1, 1, 1, each), net.input("sin", 1, 1, 1, each)
    caches = [[net.input(f"past_{at}.{what}", 1, kept, past, each) for what in ("key", "value")] for at in range(layers)]

    def turned(x):
        half = net.Concat(net.Neg(net.slice(x, 3, each // 2, 1 << 60)), net.slice(x, 3, 0, each // 2), axis=-1)
        return net.Add(net.Mul(x, cos), net.Mul(half, sin))

    def of_heads(x, count):
        return net.turn(net.reshape(x, 1, 1, count, each), 0, 2, 1, 3)

    def repeated(x):
        x = net.Expand(net.Unsqueeze(x, net.ints(2)), net.ints(1, kept, shared, past + 1, each))
        return net.reshape(x, 1, heads, past + 1, each)

    for at, cache in enumerate(caches):
        y = net.norm(x, size)
        q = turned(of_heads(net.MatMul(y, net.weight(size, size)), heads))
        k = turned(of_heads(net.MatMul(y, net.weight(size, kept * each)), kept))
        v = of_heads(net.MatMul(y, net.weight(size, kept * each)), kept)
        k = net.output(net.Concat(cache[0], k, axis=2), f"present_{at}.key")
        v = net.output(net.Concat(cache[1], v, axis=2), f"present_{at}.value")
        scores = net.Div(net.MatMul(q, net.turn(repeated(k), 0, 1, 3, 2)), net.scalar(each**0.5))
        y = net.turn(net.MatMul(net.Softmax(scores, axis=-1), repeated(v)), 0, 2, 1, 3)
        x = net.Add(x, net.MatMul(net.reshape(y, 1, 1, size), net.weight(size, size)))
        y = net.norm(x, size)
        gate = net.MatMul(y, net.weight(size, 2 * size))
        y = net.Mul(net.Mul(gate, net.Sigmoid(gate)), net.MatMul(y, net.weight(size, 2 * size)))
        x = net.Add(x, net.MatMul(y, net.weight(2 * size, size)))
    net.output(x)
    return net.model()


WRITTEN = {
    "swin_stage": swin,
    "shufflenet_v2_stage": shufflenet,
    "shufflenet_v1_stage": shufflenet_v1,
    "pixelshuffle": pixelshuffle,
    "pixelshuffle_transposed": lambda: pixelshuffle(written="Transpose"),
    "focus": focus,
    "vit": vit,
    "decode_128": lambda: decode(128),
    "decode_1k": lambda: decode(1024),
}
EXPORTED = ["swin_t", "swin_v2_t", "shufflenet_v2_x1_0"]


def export(name, path):
    """A network of torchvision, as its exporter writes it."""
    import torch
    import torchvision

    torch.manual_seed(7)
    network = getattr(torchvision.models, name)(weights=None).eval()
    with torch.no_grad():
        torch.onnx.export(network, torch.randn(1, 3, 224, 224), str(path), opset_version=OPSET, input_names=["x"])


def made(folder, only=""):
    """All there are, each with where it is from, and made if nobody has before."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in [*WRITTEN, *EXPORTED]:
        if not re.search(only, name):
            continue
        path = folder / f"{name}.onnx"
        if not path.exists() and name in WRITTEN:
            onnx.save(WRITTEN[name](), path)
        elif not path.exists():
            try:
                export(name, path)
            except ImportError as missing:
                print(f"{name}: {missing}", file=sys.stderr)
                continue
        yield "made.py" if name in WRITTEN else "torchvision", path


def listed(said):
    """Of the models of this file or else of `real.py`: where each is from, its path, and what restride is told."""
    if said.made:
        for source, path in made(said.folder, said.only):
            yield source, path, []
        return
    for package, name, words, _ in MODELS:
        if re.search(said.only, f"{package} {name}"):
            yield package.replace("==", " "), fetch(package, name, said.folder), words


def main():
    said = argparse.ArgumentParser()
    said.add_argument("folder", type=Path)
    said.add_argument("--only", default="")
    said = said.parse_args()
    for source, path in made(said.folder, said.only):
        print(source, path)


if __name__ == "__main__":
    main()

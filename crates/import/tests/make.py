"""Makes the small models that the tests of this crate read: `python make.py` in this folder.

Needs the package `onnx`; the files are committed, so nobody else does.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FILES = Path(__file__).parent / "files"
F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, shape, element=F):
    return helper.make_tensor_value_info(name, element, shape)


def const(name, values, dtype=np.int64):
    return numpy_helper.from_array(np.array(values, dtype), name)


def node(op, inputs, outputs, name=None, **attributes):
    split = lambda text: text.split() if text else []
    fix = lambda names: ["" if n == "-" else n for n in split(names)]
    return helper.make_node(op, fix(inputs), fix(outputs), name=name or f"{op}_{split(outputs)[0]}", **attributes)


def save(name, nodes, inputs, outputs, weights=(), opset=18, functions=(), more=(), check=True):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(weights))
    opsets = [helper.make_opsetid("", opset), *more]
    model = helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=8)
    if check:
        onnx.checker.check_model(model, full_check=not functions)
    (FILES / f"{name}.onnx").write_bytes(model.SerializeToString())


def detector():
    """The front of a detector: Focus, a convolution, tokens, heads of an attention, pixel shuffle."""
    weights = [
        const("zero", [0]), const("one", [1]), const("two", [2]), const("three", [3]),
        const("far", [2**63 - 1]), const("heads", [4]), const("minus", [-1]), const("eight", [8]),
        const("w", np.zeros((16, 12, 3, 3)), np.float32), const("qkv", np.zeros((16, 48)), np.float32),
        const("first", 0), const("second", 1), const("token", np.zeros((1, 1, 16)), np.float32),
    ]
    nodes = []
    for row in "zero", "one":
        for column in "zero", "one":
            nodes += [
                node("Slice", f"x {row} far two two", f"rows_{row}_{column}"),
                node("Slice", f"rows_{row}_{column} {column} far three two", f"part_{row}_{column}"),
            ]
    parts = " ".join(f"part_{r}_{c}" for c in ("zero", "one") for r in ("zero", "one"))
    nodes += [
        node("Concat", parts, "focused", axis=1),
        node("Conv", "focused w", "features", pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", "features", "active"),
        # Tokens: the sizes are worked out from the shape, as exporters do.
        node("Shape", "active", "sizes"),
        node("Gather", "sizes first", "batch"), node("Gather", "sizes second", "channels"),
        node("Unsqueeze", "batch zero", "batch1"), node("Unsqueeze", "channels zero", "channels1"),
        node("Concat", "batch1 channels1 minus", "flat_shape", axis=0),
        node("Reshape", "active flat_shape", "flat"),
        node("Transpose", "flat", "tokens", perm=[0, 2, 1]),
        node("Concat", "batch1 one channels1", "class_shape", axis=0),
        node("Expand", "token class_shape", "class"),
        node("Concat", "class tokens", "sequence", axis=1),
        node("MatMul", "sequence qkv", "mixed"),
        node("Split", "mixed", "q k v", axis=2, num_outputs=3),
    ]
    for name in "q", "k", "v":
        nodes += [
            node("Shape", name, f"{name}_sizes"),
            node("Gather", f"{name}_sizes second", f"{name}_length"),
            node("Unsqueeze", f"{name}_length zero", f"{name}_length1"),
            node("Concat", f"batch1 {name}_length1 heads minus", f"{name}_shape", axis=0),
            node("Reshape", f"{name} {name}_shape", f"{name}_heads"),
            node("Transpose", f"{name}_heads", f"{name}_turned", perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3]),
        ]
    nodes += [
        node("MatMul", "q_turned k_turned", "scores"),
        node("Softmax", "scores", "weights", axis=-1),
        node("MatMul", "weights v_turned", "mixed_heads"),
        node("Transpose", "mixed_heads", "back", perm=[0, 2, 1, 3]),
        node("Concat", "batch1 q_length1 channels1", "joined_shape", axis=0),
        node("Reshape", "back joined_shape", "joined"),
        # The class token goes; the rest becomes an image again, of fewer channels.
        node("Slice", "joined one far one", "image_tokens"),
        node("Transpose", "image_tokens", "image_flat", perm=[0, 2, 1]),
        node("Concat", "batch1 channels1 eight eight", "image_shape", axis=0),
        node("Reshape", "image_flat image_shape", "image"),
        node("DepthToSpace", "image", "y", blocksize=2, mode="CRD"),
    ]
    save("detector", nodes, [info("x", ["batch", 3, 32, 32])], [info("y", ["batch", 4, 16, 16])], weights)


def sequence():
    """Batch and sequence are open, and exporters spell both into every parameter."""
    weights = [
        const("zero", [0]), const("one", [1]), const("two", [2]), const("four", [4]), const("three", [3]),
        const("minus", [-1]), const("begin", 0), const("step", -1), const("width", [12]),
    ]
    nodes = [
        node("Shape", "x", "batch", start=0, end=1), node("Shape", "x", "length", start=1, end=2),
        node("Relu", "x", "active"),
        node("Concat", "batch length three four", "heads_shape", axis=0),
        node("Reshape", "active heads_shape", "heads", allowzero=1),
        node("Transpose", "heads", "turned", perm=[0, 2, 1, 3]),
        node("Sigmoid", "active", "gates"),
        node("Slice", "gates one length one", "late"),
        node("Sub", "length two", "before"),
        node("Tanh", "x", "last"),
        node("Slice", "last before length one", "end"),
        node("Sub", "length one", "rest"), node("Concat", "one rest", "lengths", axis=0),
        node("Exp", "x", "grown"),
        node("Split", "grown lengths", "head tail", axis=1),
        node("ReduceMax", "x one", "most"),
        node("Concat", "batch length width", "wide_shape", axis=0),
        node("Expand", "most wide_shape", "wide"),
        node("Squeeze", "rest", "from"), node("Range", "from step step", "backward"),
        node("Abs", "x", "plain"),
        node("Gather", "plain backward", "reversed", axis=1),
    ]
    outputs = [info("turned", ["batch", 3, "sequence", 4])]
    outputs += [info(name, ["batch", None, 12]) for name in ("late", "end", "head", "tail", "wide", "reversed")]
    save("sequence", nodes, [info("x", ["batch", "sequence", 12])], outputs, weights)


def patches():
    """Movement alone: an image as rows of patches."""
    weights = [const("shape", [0, 3, 4, 8, 4, 8]), const("rows", [0, 16, -1])]
    nodes = [
        node("Reshape", "x shape", "cut"),
        node("Transpose", "cut", "turned", perm=[0, 2, 4, 3, 5, 1]),
        node("Reshape", "turned rows", "y"),
    ]
    save("patches", nodes, [info("x", [1, 3, 32, 32])], [info("y", [1, 16, 192])], weights)


def branches():
    """Bodies: an If that is decided, one that is not, a Loop and a Scan that read from outside."""
    turn = helper.make_graph([node("Transpose", "x", "t")], "turn", [], [info("t", [4, 4])])
    roll = helper.make_graph(
        [node("Slice", "x one far", "low"), node("Slice", "x zero one", "high"), node("Concat", "low high", "r", axis=0)],
        "roll", [], [info("r", [4, 4])])
    same = helper.make_graph([node("Identity", "x", "s")], "same", [], [info("s", [4, 4])])
    step = helper.make_graph(
        [
            node("Transpose", "state", "turned"), node("Concat", "turned x", "both", axis=0),
            node("Slice", "both zero four", "next"), node("Identity", "go", "still"),
        ],
        "step", [info("turn", [], I), info("go", [], B), info("state", [4, 4])],
        [info("still", [], B), info("next", [4, 4])])
    row = helper.make_graph(
        [node("Unsqueeze", "part zero", "wide"), node("Concat", "wide wide", "pair", axis=0), node("Add", "sum part", "more")],
        "row", [info("sum", [4]), info("part", [4])], [info("more", [4]), info("pair", [2, 4])])
    grow = helper.make_graph(
        [node("Concat", "list x", "longer", axis=0), node("Identity", "go2", "still2")],
        "grow", [info("turn2", [], I), info("go2", [], B), info("list", [None, 4])],
        [info("still2", [], B), info("longer", [None, 4])])
    nodes = [
        node("Shape", "x", "sizes"), node("Size", "sizes", "rank"), node("Equal", "rank two0", "flat"),
        node("If", "flat", "decided", then_branch=turn, else_branch=same),
        node("If", "choice", "either", then_branch=turn, else_branch=roll),
        node("Loop", "count yes decided", "looped", body=step),
        node("Scan", "row x", "sums pairs", body=row, num_scan_inputs=1),
        node("Loop", "count yes x", "grown", body=grow),
        node("Slice", "grown zero one", "first_row"),
    ]
    weights = [const("zero", [0]), const("one", [1]), const("four", [4]), const("far", [2**31 - 1]), const("two0", 2), const("yes", True, bool)]
    inputs = [info("x", [4, 4]), info("choice", [], B), info("count", [], I), info("row", [4])]
    outputs = [info("either", [4, 4]), info("looped", [4, 4]), info("sums", [4]), info("pairs", [4, 2, 4]), info("first_row", [None, 4])]
    save("branches", nodes, inputs, outputs, weights)


def functions():
    """Functions of the model: called twice, with attributes handed on, one inside of the other."""
    flip = helper.make_function(
        "mine", "Flip", ["a"], ["b"],
        [helper.make_node("Constant", [], ["far"], value_ints=[-(2**62)]),
         helper.make_node("Constant", [], ["minus"], value_ints=[-1]),
         helper.make_node("Slice", ["a", "minus", "far", "axis", "minus"], ["b"], name="backwards")],
        [helper.make_opsetid("", 18)], attributes=["axis"])
    reference = helper.make_node("Constant", [], ["axis"], name="which")
    attribute = onnx.AttributeProto(name="value_ints", type=onnx.AttributeProto.INTS, ref_attr_name="axis")
    reference.attribute.append(attribute)
    flip.node.insert(0, reference)
    pair = helper.make_function(
        "mine", "Pair", ["a", "unused"], ["c"],
        [helper.make_node("Flip", ["a"], ["f"], domain="mine", axis=[1]), helper.make_node("Concat", ["a", "f"], ["c"], axis=1)],
        [helper.make_opsetid("", 18), helper.make_opsetid("mine", 1)])
    nodes = [
        helper.make_node("Flip", ["x"], ["f"], domain="mine", name="upside", axis=[0]),
        helper.make_node("Pair", ["f"], ["p"], domain="mine", name="pair"),
        helper.make_node("Relu", ["p"], ["y"]),
    ]
    save("functions", nodes, [info("x", [2, 3])], [info("y", [2, 6])], functions=[flip, pair],
         more=[helper.make_opsetid("mine", 1)], check=False)


def old():
    """Version 9: parameters that are attributes, weights among the inputs, a mask that nobody reads."""
    weights = [const("shape", [2, -1])]
    nodes = [
        node("Slice", "x", "a", starts=[1], ends=[3], axes=[1]),
        node("Pad", "a", "b", pads=[0, 1, 0, 0, 0, 0], value=1.5),
        node("Squeeze", "b", "c", axes=[2]),
        node("Split", "c", "d e", axis=1, split=[1, 2]),
        node("Dropout", "e", "f mask", ratio=0.5),
        node("Unsqueeze", "f", "g", axes=[0]),
        node("Reshape", "g shape", "h"),
        node("Cast", "d", "i", to=TensorProto.FLOAT16),
        node("Upsample", "four scales", "j", mode="nearest"),
        node("Flatten", "j", "k", axis=2),
    ]
    weights.append(const("scales", [1, 1, 2, 2], np.float32))
    inputs = [info("x", [2, 4, 1]), info("four", [1, 2, 3, 3]), info("shape", [2], I)]
    save("old", nodes, inputs, [info("h", [2, 2]), info("i", [2, 1], TensorProto.FLOAT16), info("k", [2, 36])], weights, opset=9)


def hidden():
    """What is known only when the model runs, and what does not suffer from it."""
    weights = [const("zero", [0]), const("one", [1]), const("shape", [-1])]
    nodes = [
        node("NonZero", "x", "places"), node("Transpose", "places", "rows", perm=[1, 0]),
        node("GatherND", "x rows", "picked"), node("Slice", "x begin one", "cut"),
        node("Transpose", "x", "turned"), node("Reshape", "turned shape", "flat"),
        node("Mystery", "x", "strange"), node("Reshape", "strange shape", "long"),
        helper.make_node("Mystery", ["x"], ["told"], name="Mystery_told", domain="elsewhere"),
        node("Transpose", "told", "known"),
        node("Shape", "flat", "count"), node("Gather", "x row", "one_row", axis=0),
        node("Shape", "one_row", "unused"),
    ]
    for n in nodes:
        if n.op_type == "Mystery":
            n.domain = "elsewhere"
    outputs = [info("picked", None), info("cut", None), info("flat", [12]), info("long", None), info("known", [5, 2]), info("count", [1], I), info("unused", [1], I)]
    graph = helper.make_graph(nodes, "hidden", [info("x", [3, 4]), info("begin", [1], I), info("row", [], I)], outputs, weights,
                              value_info=[info("told", [2, 5])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("elsewhere", 1)], ir_version=8)
    (FILES / "hidden.onnx").write_bytes(model.SerializeToString())


def outside():
    """Data in another file, one of them small enough to be a parameter."""
    shape = const("shape", [3, 2])
    big = const("big", np.zeros((100, 100)), np.float32)
    for tensor, offset in (shape, 8), (big, 24):
        length = len(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in ("location", "outside.bin"), ("offset", str(offset)), ("length", str(length)):
            tensor.external_data.add(key=key, value=value)
    # Nobody reads the large one, so that its data need not be there.
    (FILES / "outside.bin").write_bytes(b"\xff" * 8 + np.array([3, 2], np.int64).tobytes())
    nodes = [node("Reshape", "x shape", "y"), node("MatMul", "rows big", "z"), node("Transpose", "z", "t")]
    save("outside", nodes, [info("x", [6]), info("rows", [2, 100])], [info("y", [3, 2]), info("t", [100, 2])], [shape, big], check=False)


class Ir:
    """An OpenVINO IR, layer by layer."""

    def __init__(self, version):
        self.version, self.layers, self.edges, self.weights, self.ports = version, [], [], b"", {}

    def layer(self, kind, name, version, inputs=(), outputs=(), **data):
        number = len(self.layers)
        ports = ""
        if inputs:
            ports += "<input>" + "".join(f'<port id="{k}"/>' for k in range(len(inputs))) + "</input>"
        for k, source in enumerate(inputs):
            self.edges.append(f'<edge from-layer="{source[0]}" from-port="{source[1]}" to-layer="{number}" to-port="{k}"/>')
        if outputs:
            ports += "<output>"
            for k, (precision, shape) in enumerate(outputs):
                dims = "".join(f"<dim>{size}</dim>" for size in shape)
                ports += f'<port id="{len(inputs) + k}" precision="{precision}">{dims}</port>'
            ports += "</output>"
        words = " ".join(f'{key}="{value}"' for key, value in data.items())
        data = f"<data {words}/>" if words else ""
        self.layers.append(f'<layer id="{number}" name="{name}" type="{kind}" version="{version}">{data}{ports}</layer>')
        made = [(number, len(inputs) + k) for k in range(len(outputs))]
        return made[0] if len(made) == 1 else made

    def const(self, name, values, dtype=np.int64):
        array = np.array(values, dtype)
        word = {"int64": "i64", "int32": "i32", "float32": "f32"}[array.dtype.name]
        precision = {"i64": "I64", "i32": "I32", "f32": "FP32"}[word]
        offset = len(self.weights)
        self.weights += array.tobytes()
        shape = ",".join(map(str, array.shape))
        return self.layer("Const", name, "opset1", [], [(precision, array.shape)],
                          element_type=word, shape=shape, offset=offset, size=array.nbytes)

    def save(self, name):
        lines = [f'<net name="{name}" version="{self.version}">', "<layers>", *self.layers, "</layers>",
                 "<edges>", *self.edges, "</edges>", "</net>"]
        (FILES / f"{name}.xml").write_text("\n".join(lines) + "\n")
        (FILES / f"{name}.bin").write_bytes(self.weights)


def layers():
    """An IR with every operator that moves data, and some between them."""
    ir = Ir(11)
    x = ir.layer("Parameter", "x", "opset1", [], [("FP32", [-1, 6, 4])], shape="?,6,4", element_type="f32")
    rows = ir.layer("Parameter", "rows", "opset1", [], [("I32", [2])], shape="2", element_type="i32")
    c = ir.const
    f = [("FP32", [])]
    ends = [
        ir.layer("StridedSlice", "strided", "opset1", [x, c("b", [0, 1, -1]), c("e", [0, 6, -9]), c("s", [1, 2, -1])], f,
                 begin_mask="1,0,0", end_mask="1,0,0", new_axis_mask="0,0,0", shrink_axis_mask="0, 0, 0", ellipsis_mask="0,0,0"),
        ir.layer("Slice", "slice", "opset8", [x, c("b8", [1]), c("e8", [5]), c("s8", [3]), c("a8", [1])], f),
        ir.layer("Reshape", "reshape", "opset1", [x, c("p", [0, -1])], f, special_zero="true"),
        ir.layer("Transpose", "turned", "opset1", [x, c("order", [], np.int32)], f),
        ir.layer("Gather", "wraps", "opset8", [x, rows, c("axis", 1)], f, batch_dims="0"),
        ir.layer("Gather", "zeros", "opset1", [x, rows, c("axis1", [2])], f),
        ir.layer("Pad", "pad", "opset12", [x, c("low", [0, 1, 0]), c("high", [0, -1, 2]), c("fill", 1.5, np.float32)], f, pad_mode="constant"),
        ir.layer("Pad", "edge", "opset1", [x, c("low1", [0, 1, 0]), c("high1", [0, 0, 2])], f, pad_mode="edge"),
        ir.layer("Broadcast", "explicit", "opset3", [x, c("to", [3, 1, 6, 4]), c("places", [1, 2, 3])], f, mode="explicit"),
        ir.layer("Tile", "tile", "opset1", [x, c("times", [2, 1])], f),
        ir.layer("Roll", "roll", "opset7", [x, c("shift", 1), c("around", [-1])], f),
        ir.layer("Reverse", "reverse", "opset1", [x, c("mask", [1])], f, mode="index"),
        ir.layer("ShuffleChannels", "shuffle", "opset1", [x], f, axis="1", group="2"),
        ir.layer("Unsqueeze", "wide", "opset1", [x, c("new", [0])], f),
        ir.layer("ReverseSequence", "sentences", "opset1", [x, c("lengths", [3])], f, batch_axis="0", seq_axis="1"),
    ]
    parts = ir.layer("VariadicSplit", "parts", "opset1", [x, c("along", 1), c("sizes", [2, -1])], [("FP32", []), ("FP32", [])])
    halves = ir.layer("Split", "halves", "opset1", [x, c("along2", 2)], [("FP32", []), ("FP32", [])], num_splits="2")
    joined = ir.layer("Concat", "joined", "opset1", [parts[1], parts[0]], f, axis="1")
    image = ir.layer("Unsqueeze", "image", "opset1", [halves[1], c("new1", [0])], f)
    blocks = ir.layer("SpaceToDepth", "blocks", "opset1", [ir.layer("Unsqueeze", "image4", "opset1", [x, c("new4", [1])], f)], f, mode="blocks_first", block_size="2")
    # The arithmetic on shapes that exporters write.
    sizes = ir.layer("ShapeOf", "sizes", "opset3", [x], [("I64", [3])], output_type="i64")
    first = ir.layer("Gather", "first", "opset8", [sizes, c("zero", [0]), c("axis0", 0)], [("I64", [1])], batch_dims="0")
    twice = ir.layer("Multiply", "twice", "opset1", [first, c("two", [2])], [("I64", [1])], auto_broadcast="numpy")
    shape = ir.layer("Concat", "shape", "opset1", [twice, c("rest", [-1])], [("I64", [2])], axis="0")
    flat = ir.layer("Reshape", "flat", "opset1", [x, shape], f, special_zero="false")
    relu = ir.layer("ReLU", "relu", "opset1", [flat], f)
    odd = ir.layer("Odd", "odd", "mine", [relu], [("FP32", [3, 4])])
    down = ir.layer("Transpose", "down", "opset1", [odd, c("order2", [1, 0])], f)
    for at, end in enumerate([*ends, joined, image, blocks, down]):
        ir.layer("Result", f"out{at}", "opset1", [end])
    ir.save("layers")


def blocks():
    """A shuffle of channels as ONNX Runtime has it between operators whose channels are in blocks."""
    inside = lambda op, x, y, **more: node(op, x, y, domain="com.microsoft.nchwc", **more)
    pool = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        inside("ReorderInput", "x", "in"),
        inside("MaxPool", "in", "pooled", **pool),
        inside("ReorderOutput", "pooled", "plain", channels=20),
        node("Reshape", "plain groups", "split"),
        node("Transpose", "split", "turned", perm=[0, 2, 1, 3, 4]),
        node("Reshape", "turned whole", "shuffled"),
        inside("ReorderInput", "shuffled", "back"),
        inside("MaxPool", "back", "again", **pool),
        inside("ReorderOutput", "again", "y", channels=20),
    ]
    weights = [const("groups", [0, 2, 10, 6, 6]), const("whole", [0, 20, 6, 6])]
    more = [helper.make_opsetid("com.microsoft.nchwc", 1)]
    save("../blocks", nodes, [info("x", [1, 20, 6, 6])], [info("y", None)], weights, 17, more=more, check=False)


def attention():
    """What OpenVINO moves as well as anybody, between operators that compute, and what it does not."""
    ir = Ir(11)
    x = ir.layer("Parameter", "x", "opset1", [], [("FP32", [1, 256, 384])], shape="1,256,384", element_type="f32")
    c, f = ir.const, [("FP32", [])]
    relu = lambda name, x: ir.layer("ReLU", name, "opset1", [x], f)
    turn = lambda name, x, *perm: ir.layer("Transpose", name, "opset1", [x, c(f"order_{name}", perm)], f)
    view = lambda name, x, *shape: ir.layer("Reshape", name, "opset1", [x, c(f"shape_{name}", shape)], f, special_zero="true")
    place = c("first_axis", 0)
    # Queries, keys and values: rows of what is turned once.
    heads = turn("heads", view("split", relu("before", x), 1, 256, 3, 4, 32), 2, 0, 3, 1, 4)
    ends = [relu(f"part{k}", ir.layer("Gather", f"row{k}", "opset8", [heads, c(f"k{k}", k), place], f, batch_dims="0")) for k in range(3)]
    # Two turns, of which OpenVINO makes one.
    ends.append(relu("both", turn("again", view("four", turn("once", relu("turns", x), 0, 2, 1), 1, 96, 4, 256), 0, 1, 3, 2)))
    # The even places before the odd ones.
    steps = lambda at: ir.layer("Slice", f"from{at}", "opset8", [evens, c(f"b{at}", [at]), c(f"e{at}", [256]), c(f"s{at}", [2]), c(f"a{at}", [1])], f)
    evens = relu("whole", x)
    ends.append(relu("sorted", ir.layer("Concat", "join", "opset1", [steps(0), steps(1)], f, axis="2")))
    for at, end in enumerate(ends):
        ir.layer("Result", f"out{at}", "opset1", [end])
    ir.save("../attention")


for make in attention, blocks, layers, detector, sequence, patches, branches, functions, old, hidden, outside:
    make()
for file in sorted(FILES.glob("*.onnx")):
    print(file.stat().st_size, file.name)

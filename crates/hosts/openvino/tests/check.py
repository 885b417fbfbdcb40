"""The operator in OpenVINO: elements, open sizes, several inputs and outputs, and programs that are wrong.

    python check.py path/to/librestride_openvino.so

Says so and passes by where `openvino` or `numpy` is not at hand.
"""

import sys

try:
    import numpy as np
    import openvino as ov
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(0)

WORDS = {"f32": "FP32", "f16": "FP16", "f64": "FP64", "boolean": "BOOL"}
NUMPY = {"f32": "f4", "f16": "f2", "f64": "f8", "boolean": "?", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2",
         "i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8"}
core = ov.Core()


def port(at, element, shape, names=""):
    dims = "".join(f"<dim>{size}</dim>" for size in shape)
    return f'<port id="{at}" precision="{WORDS.get(element, element.upper())}" names="{names}">{dims}</port>'


def ir(program, inputs, outputs):
    """A model that is one Move of its inputs: each a pair of an element and a shape."""
    layers, edges = [], []
    for at, (element, shape) in enumerate(inputs):
        sizes = ",".join("?" if size < 0 else str(size) for size in shape)
        layers.append(f'<layer id="{at}" name="x{at}" type="Parameter" version="opset1"><data shape="{sizes}" '
                      f'element_type="{element}"/><output>{port(0, element, shape, f"x{at}")}</output></layer>')
        edges.append(f'<edge from-layer="{at}" from-port="0" to-layer="100" to-port="{at}"/>')
    text = program.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;").replace("\n", "&#10;")
    ins = "".join(port(at, *one) for at, one in enumerate(inputs))
    outs = "".join(port(len(inputs) + at, *one, f"y{at}") for at, one in enumerate(outputs))
    layers.append(f'<layer id="100" name="move" type="Move" version="restride"><data program="{text}"/>'
                  f"<input>{ins}</input><output>{outs}</output></layer>")
    for at, one in enumerate(outputs):
        layers.append(f'<layer id="{101 + at}" name="r{at}" type="Result" version="opset1"><input>{port(0, *one)}</input></layer>')
        edges.append(f'<edge from-layer="100" from-port="{len(inputs) + at}" to-layer="{101 + at}" to-port="0"/>')
    text = f'<?xml version="1.0"?><net name="t" version="11"><layers>{"".join(layers)}</layers><edges>{"".join(edges)}</edges></net>'
    return core.read_model(text.encode(), b"")


def refused(what, *of):
    try:
        core.compile_model(ir(*of), "CPU")
    except RuntimeError as error:
        assert what in str(error), f"{what!r} is not in {error}"
        return
    raise AssertionError(f"not refused: {of}")


def shapes(model):
    return [str(output.get_partial_shape()) for output in model.outputs]


def main():
    core.add_extension(sys.argv[1])
    random = np.random.default_rng(1)
    for element, dtype in NUMPY.items():
        word = "bool" if element == "boolean" else element
        text = f"func @turn(%x: {word}[2, 3, 4]) {{ %y = transpose %x perm [0, 2, 1] return %y }}"
        compiled = core.compile_model(ir(text, [(element, [-1, 3, 4])], [(element, [-1, 4, 3])]), "CPU")
        for batch in (2, 1, 5, 0):
            # Plugins turn what is wide into what is narrower, so numbers are small.
            given = random.integers(0, 2 if element == "boolean" else 100, (batch, 3, 4)).astype(dtype)
            answer = compiled(given)[0]
            assert answer.dtype == given.dtype and np.array_equal(answer, given.transpose(0, 2, 1)), element

    # Several inputs and outputs; what is open stays open, and what does not follow from it is known.
    text = """func @several(%a: f32[8, 6], %b: f32[8, 2]) {
        %c = concat %a, %b axis 1
        %d = slice %c starts [0] ends [3] steps [1] axes [0]
        %e = transpose %c perm [1, 0]
        return %c, %d, %e
    }"""
    model = ir(text, [("f32", [-1, 6]), ("f32", [-1, 2])], [("f32", [-1, 8]), ("f32", [-1, 8]), ("f32", [8, -1])])
    assert shapes(model) == ["[?,8]", "[?,8]", "[8,?]"], shapes(model)
    compiled = core.compile_model(model, "CPU")
    for size in (8, 2, 7):
        a, b = random.random((size, 6), dtype="f4"), random.random((size, 2), dtype="f4")
        answers = compiled([a, b])
        joined = np.concatenate([a, b], 1)
        for at, expected in enumerate([joined, joined[:3], joined.T]):
            assert np.array_equal(answers[at], expected)
    model.reshape({"x0": [4, 6], "x1": [4, 2]})
    assert shapes(model) == ["[4,8]", "[3,8]", "[8,4]"], shapes(model)

    # What is large is shared out among the threads of the plugin.
    text = "func @large(%x: f32[64, 96, 300]) { %y = transpose %x perm [2, 0, 1] return %y }"
    large = random.random((64, 96, 300), dtype="f4")
    for threads in (1, 2, 4):
        model = ir(text, [("f32", large.shape)], [("f32", (300, 64, 96))])
        compiled = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": threads})
        for _ in range(20):
            assert np.array_equal(compiled(large)[0], large.transpose(2, 0, 1))

    # Numbers that stand in a program: whole ones stay what they are, halves cannot become floats.
    pad = "func @pad(%x: {}[2, 3]) {{ %y = pad %x low [0, 1] high [0, 0] constant {} return %y }}"
    for element, number in (("f16", 0), ("i64", 7), ("f32", 1 << 30)):
        sizes = [(element, [-1, 3])], [(element, [-1, 4])]
        compiled = core.compile_model(ir(pad.format(element, number), *sizes), "CPU")
        answer = compiled(np.ones((2, 3), NUMPY[element]))[0]
        assert answer[0, 0] == (2.0 if element == "f32" else number), answer
    refused("would be other ones", pad.format("f64", 5), [("f64", [-1, 3])], [("f64", [-1, 4])])

    plain = "func @plain(%x: f32[2, 3]) { %y = transpose %x perm [1, 0] return %y }"
    refused("expected", "func @broken(", [("f32", [2, 3])], [("f32", [3, 2])])
    refused("it has 2 inputs, its program 1", plain, [("f32", [2, 3])] * 2, [("f32", [3, 2])])
    refused("rank", plain, [("f32", [2, 3, 4])], [("f32", [3, 2])])
    print("all passed")


if __name__ == "__main__":
    main()

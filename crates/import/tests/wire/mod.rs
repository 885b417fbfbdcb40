//! Writes ONNX files byte by byte, for tests of what no exporter writes.
#![allow(dead_code)] // Each test uses a part of it.

/// A number on the wire.
pub(crate) fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A field that holds bytes.
pub(crate) fn bytes(number: u64, content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    varint(number << 3 | 2, &mut out);
    varint(content.as_ref().len() as u64, &mut out);
    out.extend_from_slice(content.as_ref());
    out
}

/// A field that holds a number.
pub(crate) fn int(number: u64, value: i64) -> Vec<u8> {
    let mut out = Vec::new();
    varint(number << 3, &mut out);
    varint(value as u64, &mut out);
    out
}

/// A field that holds a float.
pub(crate) fn float(number: u64, value: f32) -> Vec<u8> {
    let mut out = Vec::new();
    varint(number << 3 | 5, &mut out);
    out.extend(value.to_le_bytes());
    out
}

/// A file: opset 18 and this graph, and whatever else.
pub(crate) fn file(graph: &[u8], more: &[u8]) -> Vec<u8> {
    [bytes(8, int(2, 18)), bytes(7, graph), more.to_vec()].concat()
}

/// A node with attributes and whatever else.
pub(crate) fn node(op: &str, inputs: &[&str], outputs: &[&str], more: &[u8]) -> Vec<u8> {
    let mut it = Vec::new();
    inputs.iter().for_each(|name| it.extend(bytes(1, name)));
    outputs.iter().for_each(|name| it.extend(bytes(2, name)));
    it.extend(bytes(4, op));
    it.extend_from_slice(more);
    bytes(1, it)
}

/// A graph attribute.
pub(crate) fn body(name: &str, graph: &[u8]) -> Vec<u8> {
    bytes(5, [bytes(1, name), bytes(6, graph), int(20, 5)].concat())
}

/// An input with this element and these sizes.
pub(crate) fn input_of(name: &str, element: i64, sizes: &[i64]) -> Vec<u8> {
    let dims: Vec<u8> = sizes
        .iter()
        .flat_map(|&size| bytes(1, int(1, size)))
        .collect();
    let tensor = [int(1, element), bytes(2, dims)].concat();
    bytes(11, [bytes(1, name), bytes(2, bytes(1, tensor))].concat())
}

/// A float input with these sizes.
pub(crate) fn input(name: &str, sizes: &[i64]) -> Vec<u8> {
    input_of(name, 1, sizes)
}

/// An initialiser with its data, and whatever else.
pub(crate) fn weight(name: &str, element: i64, sizes: &[i64], more: &[u8]) -> Vec<u8> {
    let mut it: Vec<u8> = sizes.iter().flat_map(|&size| int(1, size)).collect();
    it.extend(int(2, element));
    it.extend(bytes(8, name));
    it.extend_from_slice(more);
    bytes(5, it)
}

/// An output of no type.
pub(crate) fn output(name: &str) -> Vec<u8> {
    bytes(12, bytes(1, name))
}

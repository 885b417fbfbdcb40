//! Examples that the frameworks publish with their operators, as they print them.

use restride_graph::oracle::{Tensor, eval};
use restride_graph::{ElementType, Graph, TensorType};

/// The one output of a graph of `i32` tensors on these numbers.
fn run(text: &str, inputs: &[&[i128]]) -> Vec<i64> {
    let graph = Graph::parse(text).unwrap();
    let tensor = |(&id, values): (_, &&[i128])| {
        let ty: TensorType = graph.ty(id).clone();
        let mask = ty.element().bit_mask();
        Tensor::from_bits(ty, values.iter().map(|&v| v as u128 & mask)).unwrap()
    };
    let inputs: Vec<Tensor> = graph.inputs().iter().zip(inputs).map(tensor).collect();
    let out = &eval(&graph, &inputs).unwrap()[0];
    assert_eq!(out.element(), ElementType::I32);
    out.bytes()
        .chunks_exact(4)
        .map(|c| i32::from_ne_bytes(c.try_into().unwrap()).into())
        .collect()
}

fn counted(count: i128) -> Vec<i128> {
    (1..=count).collect()
}

/// The fourth example of `tf.space_to_batch_nd`, and that of its inverse.
#[test]
fn tensorflow_space_to_batch() {
    let there = "func @f(%x: i32[2, 2, 4, 1]) {
        %y = space_to_batch %x block [1, 2, 2, 1] pads_begin [0, 0, 2, 0] pads_end [0, 0, 0, 0]
        return %y }";
    let batches = [
        0, 1, 3, 0, 9, 11, 0, 2, 4, 0, 10, 12, 0, 5, 7, 0, 13, 15, 0, 6, 8, 0, 14, 16,
    ];
    assert_eq!(run(there, &[&counted(16)]), batches);
    let back = "func @f(%x: i32[8, 1, 3, 1]) {
        %y = batch_to_space %x block [1, 2, 2, 1] crops_begin [0, 0, 2, 0] crops_end [0, 0, 0, 0]
        return %y }";
    let batches: Vec<i128> = batches.into_iter().map(i128::from).collect();
    assert_eq!(run(back, &[&batches]), (1..=16).collect::<Vec<i64>>());
}

/// The third example of `tf.space_to_batch_nd`: `[1, 4, 4, 1]` in blocks of two by two.
#[test]
fn tensorflow_space_to_batch_without_a_rim() {
    let text = "func @f(%x: i32[1, 4, 4, 1]) {
        %y = space_to_batch %x block [1, 2, 2, 1] pads_begin [0, 0, 0, 0] pads_end [0, 0, 0, 0]
        return %y }";
    let batches = [1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16];
    assert_eq!(run(text, &[&counted(16)]), batches);
}

/// The example of StableHLO's `dynamic_slice`: starts of -1 and 3 are clamped to 0 and 2.
#[test]
fn stablehlo_dynamic_slice() {
    let text = "func @f(%x: i32[4, 4], %at: i64[2]) {
        %y = dynamic_slice %x, %at sizes [2, 2] out_of_range clamp
        return %y }";
    let x = [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(run(text, &[&x, &[-1, 3]]), [1, 1, 1, 1]);
    assert_eq!(run(text, &[&counted(16), &[-1, 3]]), [3, 4, 7, 8]);
    assert_eq!(
        run(text, &[&counted(16), &[1, i128::from(i64::MAX)]]),
        [7, 8, 11, 12]
    );
}

/// The example of StableHLO's `dynamic_update_slice`, and one whose elements differ.
#[test]
fn stablehlo_dynamic_update_slice() {
    let text = "func @f(%x: i32[4, 4], %u: i32[2, 2], %at: i64[2]) {
        %y = dynamic_update_slice %x, %u, %at out_of_range clamp
        return %y }";
    let x = [1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
    assert_eq!(run(text, &[&x, &[1; 4], &[-1, 3]]), [1; 16]);
    let replaced = [1, 2, 3, 4, 5, 50, 51, 8, 9, 52, 53, 12, 13, 14, 15, 16];
    let update = [50, 51, 52, 53];
    assert_eq!(run(text, &[&counted(16), &update, &[1, 1]]), replaced);
}

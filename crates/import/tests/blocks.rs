//! Files that ONNX Runtime has optimised for a machine: channels go into blocks and come out again.

mod wire;

use restride_graph::{Constant, ElementType, TensorType, oracle};
use restride_import::{GroupProgram, ImportOptions, Model, Role, onnx};
use wire::{bytes, file, input, int, node, output};

/// A node of the domain of blocks, with attributes.
fn blocks(op: &str, from: &str, to: &str, attributes: &[(&str, i64)]) -> Vec<u8> {
    let mut more = bytes(7, "com.microsoft.nchwc");
    for &(name, value) in attributes {
        more.extend(bytes(
            5,
            [bytes(1, name), int(3, value), int(20, 2)].concat(),
        ));
    }
    node(op, &[from], &[to], &more)
}

fn read(nodes: &[Vec<u8>], x: &[i64], block: i64) -> Model {
    let graph = [nodes.concat(), input("x", x), output("y")].concat();
    let mut options = ImportOptions::default();
    options.channel_block(block);
    onnx(&file(&graph, &[]), &options).expect("a model")
}

/// What a program makes of 1, 2, 3 and so on.
fn run(program: &GroupProgram) -> (Vec<i64>, Vec<u32>) {
    let graph = &program.graph;
    let ty: &TensorType = graph.ty(graph.inputs()[0]);
    let numbers: Vec<i128> = (1..=ty.numel() as i128).collect();
    let plain = TensorType::dense(ElementType::F32, ty.shape()).expect("a type");
    let words = Constant::from_integers(ElementType::I32, ty.shape(), &numbers).expect("numbers");
    let x = oracle::Tensor::new(plain, words.bytes().to_vec()).expect("a tensor");
    let y = oracle::eval(graph, &[x]).expect("an answer").remove(0);
    let shape = y.ty().shape().to_vec();
    let bytes = y.into_bytes();
    let words = bytes
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("a word")));
    (shape, words.collect())
}

/// The place in memory of an element of an image: channels first, last, or in blocks.
fn place(shape: [usize; 4], [n, c, h, w]: [usize; 4], layout: Layout) -> usize {
    let [_, channels, height, width] = shape;
    match layout {
        Layout::First => ((n * channels + c) * height + h) * width + w,
        Layout::Last => ((n * height + h) * width + w) * channels + c,
        Layout::Blocks(b) => {
            let blocks = channels.div_ceil(b);
            (((n * blocks + c / b) * height + h) * width + w) * b + c % b
        }
    }
}

#[derive(Clone, Copy)]
enum Layout {
    First,
    Last,
    Blocks(usize),
}

fn places(shape: [usize; 4]) -> impl Iterator<Item = [usize; 4]> {
    let [batch, channels, height, width] = shape;
    (0..batch * channels * height * width).map(move |at| {
        let (at, w) = (at / width, at % width);
        let (at, h) = (at / height, at % height);
        [at / channels, at % channels, h, w]
    })
}

#[test]
fn channels_go_into_blocks_and_come_out_again() {
    for (channels, block) in [(20, 16), (20usize, 8usize), (32, 16), (4, 8)] {
        for last in [false, true] {
            let shape @ [n, c, h, w]: [usize; 4] = [2, channels, 3, 5];
            let whole = c.next_multiple_of(block);
            let plain = if last { Layout::Last } else { Layout::First };
            let flag = ("channels_last", i64::from(last));
            let sizes = if last { [n, h, w, c] } else { [n, c, h, w] };
            let of = |sizes: [usize; 4]| sizes.map(|size| size as i64);

            let nodes = [blocks("ReorderInput", "x", "y", &[flag])];
            let model = read(&nodes, &of(sizes), block as i64);
            let (made, inside) = run(&model.whole().expect("movement alone"));
            assert_eq!(made, of([n, whole, h, w]));
            let mut expected = vec![0; n * whole * h * w];
            for at in places(shape) {
                expected[place(shape, at, Layout::Blocks(block))] =
                    place(shape, at, plain) as u32 + 1;
            }
            assert_eq!(
                inside, expected,
                "{channels} channels, blocks of {block}, last: {last}"
            );

            let nodes = [blocks(
                "ReorderOutput",
                "x",
                "y",
                &[flag, ("channels", c as i64)],
            )];
            let model = read(&nodes, &of([n, whole, h, w]), block as i64);
            let (made, outside) = run(&model.whole().expect("movement alone"));
            assert_eq!(made, of(sizes));
            for at in places(shape) {
                let from = place(shape, at, Layout::Blocks(block)) as u32 + 1;
                assert_eq!(outside[place(shape, at, plain)], from, "{at:?}");
            }
        }
    }
}

#[test]
fn a_shuffle_between_convolutions_is_one_group_with_its_blocks() {
    let of_five = |name, perm: &[i64]| {
        let list: Vec<u8> = perm.iter().flat_map(|&it| int(8, it)).collect();
        bytes(5, [bytes(1, name), list, int(20, 7)].concat())
    };
    let nodes = [
        blocks("GlobalMaxPool", "x", "a", &[]),
        blocks("ReorderOutput", "a", "b", &[("channels", 20)]),
        node("Transpose", &["b"], &["c"], &of_five("perm", &[0, 1, 3, 2])),
        blocks("ReorderInput", "c", "d", &[]),
        blocks("GlobalAveragePool", "d", "y", &[]),
    ];
    let model = read(&nodes, &[1, 32, 4, 6], 16);
    let groups = model.groups();
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].nodes.len(), 3);
    let program = model.program(&groups[0]).expect("a program");
    assert_eq!(
        program
            .graph
            .output_type(&program.graph.outputs()[0])
            .shape(),
        [1, 32, 1, 1]
    );
}

#[test]
fn blocks_of_another_machine_are_not_taken_for_ours() {
    // 24 channels in blocks of 8, read as blocks of 16.
    let nodes = [blocks("ReorderOutput", "x", "y", &[("channels", 20)])];
    let model = read(&nodes, &[1, 24, 4, 6], 16);
    let Role::Hidden(why) = &model.nodes[0].role else {
        panic!("{:?}", model.nodes[0].role);
    };
    assert!(
        why.to_string()
            .contains("20 channels in blocks of 16 are not 24"),
        "{why}"
    );
}

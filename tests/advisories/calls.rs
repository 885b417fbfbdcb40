//! Calls: what an engine hands over at run time.

use crate::says;
use crate::support::{engines, graph, indices, iota, one};
use restride::{ElementType, InputShape, Program, Template, TensorMut, TensorRef};

fn turned(code: usize) -> Program {
    let text = one("u32[2, 3]", "transpose %x perm [1, 0]");
    let graph = graph(&text).expect("a graph");
    engines()[code].compile(&graph).expect("a program")
}

/// A tensor that was input and output at once corrupted the heap.
#[test]
fn cve_2020_15210_a_tensor_that_is_input_and_output_is_refused() {
    for code in [0, 1] {
        let program = turned(code);
        let mut memory = [0u32; 12];
        let base = memory.as_mut_ptr().cast::<u8>();
        for distance in [0usize, 1, 4, 20, 23] {
            // SAFETY: both lie in `memory`, of which 48 bytes exist. That they overlap is the
            // point; the call is refused before either is touched.
            let (x, y) = unsafe {
                (
                    std::slice::from_raw_parts(base, 24),
                    std::slice::from_raw_parts_mut(base.add(distance), 24),
                )
            };
            let done = program.run(&[TensorRef::from_bytes(x)], &mut [TensorMut::from_bytes(y)]);
            let error = done.expect_err("they overlap").to_string();
            says(error, "output 0 and input 0 overlap in memory");
        }
        let (x, y) = memory.split_at_mut(6);
        let done = program.run(&[TensorRef::new(x)], &mut [TensorMut::new(y)]);
        assert_eq!(done, Ok(()));
    }
}

#[test]
fn two_outputs_that_overlap_are_refused() {
    let text = "func @f(%x: u8[4]) { %a = reverse %x axes [0] %b = roll %x shift [1] axes [0]
        return %a, %b }";
    let program = engines()[0]
        .compile(&graph(text).expect("a graph"))
        .expect("a program");
    let mut memory = [0u8; 8];
    let base = memory.as_mut_ptr();
    // SAFETY: both lie in `memory`; the call is refused before either is touched.
    let (a, b) = unsafe {
        (
            std::slice::from_raw_parts_mut(base, 4),
            std::slice::from_raw_parts_mut(base.add(3), 4),
        )
    };
    let x = iota(4);
    let done = program.run(
        &[TensorRef::new(&x)],
        &mut [TensorMut::new(a), TensorMut::new(b)],
    );
    says(
        done.expect_err("they overlap").to_string(),
        "output 0 and output 1 overlap in memory",
    );
}

/// Imported tensors lied about type, offset and strides.
#[test]
fn cve_2020_15190_to_15193_every_field_of_a_layout_is_checked() {
    let node = Template::new(graph(&one("u32[2, 3]", "identity %x")).expect("a graph"));
    let engine = &engines()[0];
    let error = |shape: &[i64], offset: i64, strides: &[i64]| {
        let made = engine.specialise(&node, &[InputShape::strided(shape, offset, strides)]);
        made.expect_err("refused").to_string()
    };
    says(
        error(&[2, 3], -1, &[3, 1]),
        "input 0: the layout reaches element -1, before the first",
    );
    says(
        error(&[2, 3], 0, &[-3, 1]),
        "input 0: the layout reaches element -3, before the first",
    );
    says(error(&[2, 3], 0, &[1]), "input 0: 1 strides for rank 2");
    says(
        error(&[2, 3], i64::MAX, &[3, 1]),
        "input 0: the layout reaches element 9223372036854775807, beyond the last that there can be, 2305843009213693950",
    );
    says(
        error(&[2, 3], 0, &[i64::MIN, i64::MAX]),
        "input 0: the layout reaches element -9223372036854775808, before the first",
    );
    says(
        error(&[2, -3], 0, &[1, 1]),
        "input 0: axis 1 has size -3; a size is at least 0",
    );
    let dense = engine.specialise(&node, &[InputShape::dense(&[i64::MAX, i64::MAX])]);
    says(
        dense.expect_err("refused").to_string(),
        "input 0: the sizes multiply to more than 9223372036854775807 bytes",
    );
    says(
        engine
            .specialise(&node, &[])
            .expect_err("refused")
            .to_string(),
        "inputs of the template: 1 expected, 0 given",
    );
}

/// Any alignment will do.
#[test]
fn buffers_may_lie_anywhere() {
    for code in [0, 1] {
        let program = turned(code);
        for (from, to) in (0..16).flat_map(|from| (0..16).map(move |to| (from, to))) {
            let mut x = vec![0u8; from];
            x.extend(iota(24));
            let mut y = vec![0u8; to + 24];
            let done = program.run(
                &[TensorRef::from_bytes(&x[from..])],
                &mut [TensorMut::from_bytes(&mut y[to..])],
            );
            assert_eq!(done, Ok(()));
            let wanted: Vec<u8> = [0, 3, 1, 4, 2, 5]
                .iter()
                .flat_map(|n| 4 * n..4 * n + 4)
                .collect();
            assert_eq!(y[to..], wanted, "{from} {to}");
            assert!(y[..to].iter().all(|byte| *byte == 0));
        }
    }
}

#[test]
fn short_buffers_and_other_widths_are_refused() {
    for code in [0, 1] {
        let program = turned(code);
        let x = [0u32; 6];
        let mut y = [0u32; 6];
        let mut short = [0u8; 23];
        let run = |x: TensorRef<'_>, y: TensorMut<'_>| {
            program
                .run(&[x], &mut [y])
                .expect_err("refused")
                .to_string()
        };
        says(
            run(TensorRef::from_bytes(&[0; 23]), TensorMut::new(&mut y)),
            "input 0 has 23 bytes, its layout needs 24",
        );
        says(
            run(TensorRef::from_bytes(&[]), TensorMut::new(&mut y)),
            "input 0 has 0 bytes, its layout needs 24",
        );
        says(
            run(TensorRef::new(&x), TensorMut::from_bytes(&mut short)),
            "output 0 has 23 bytes, its layout needs 24",
        );
        says(
            run(TensorRef::new(&[0u64; 6]), TensorMut::new(&mut y)),
            "input 0 has elements of u64, the program was compiled for u32",
        );
        says(
            run(TensorRef::new(&[0f32; 6]), TensorMut::new(&mut y)),
            "input 0 has elements of f32, the program was compiled for u32",
        );
        says(
            run(
                TensorRef::new(&x),
                TensorMut::of(ElementType::Bf16, &mut [0; 24]),
            ),
            "output 0 has elements of bf16, the program was compiled for u32",
        );
    }
}

/// Buffers that are longer than needed are left alone beyond what is needed.
#[test]
fn long_buffers_keep_their_ends() {
    for code in [0, 1] {
        let (x, mut y) = ([1u32; 9], [7u32; 9]);
        let done = turned(code).run(&[TensorRef::new(&x)], &mut [TensorMut::new(&mut y)]);
        assert_eq!(done, Ok(()));
        assert_eq!(y, [1, 1, 1, 1, 1, 1, 7, 7, 7]);
    }
}

/// An index tensor that is also the data.
#[test]
fn one_buffer_may_be_read_twice() {
    let text = "func @f(%x: i64[4], %i: i64[4]) {
        %y = gather %x, %i axis 0 out_of_range error return %y }";
    for engine in engines() {
        let program = engine
            .compile(&graph(text).expect("a graph"))
            .expect("a program");
        let (x, mut y) = ([3i64, 2, 0, 1], [0i64; 4]);
        let both = TensorRef::new(&x);
        assert_eq!(
            program.run(&[both, both], &mut [TensorMut::new(&mut y)]),
            Ok(())
        );
        assert_eq!(y, [1, 0, 3, 2]);
    }
    assert_eq!(indices(&[1]).len(), 8);
}

/// A few words asked for a loop without end. What a call does is bounded by what it was given:
/// indices that are shown more often than once are looked at once, or the graph is refused.
#[test]
fn cve_2021_37686_a_call_takes_no_longer_than_its_buffers_are_large() {
    let graph = |index: &str| {
        graph(&format!(
            "func @f(%x: u8[4], %i: {index}) {{ %g = gather %x, %i axis 0 out_of_range error
                %y = slice %g start [0, 0] stop [1, 2] step [1, 1] return %y }}"
        ))
    };
    for engine in engines() {
        let broadcast = graph("i64[1099511627776, 2] strides [0, 1]").expect("a graph");
        let program = engine.compile(&broadcast).expect("a program");
        let mut y = [0u8; 2];
        let mut run = |i: [i64; 2]| {
            let inputs = [TensorRef::new(&[5u8, 6, 7, 8]), TensorRef::new(&i)];
            let done = program.run(&inputs, &mut [TensorMut::new(&mut y)]);
            (done.map_err(|error| error.to_string()), y)
        };
        assert_eq!(run([3, 1]), (Ok(()), [8, 6]));
        says(
            run([3, 4]).0.expect_err("4 is outside"),
            "gather %g: index 4 at position 1 is outside axis 0 of size 4",
        );
        let windows = graph("i8[1048576, 1048576] strides [1, 1]").expect("a graph");
        says(
            engine.compile(&windows).expect_err("refused").to_string(),
            "the kernel was refused: checks look 1099509530625 times at indices they have seen, \
             the limit is 268435456, in phase 0.0: \
             `check 0: b0[0] box [(1048576, 1), (1048576, 1)] i8 limit 4 zero`",
        );
    }
}

//! An output may be a part of a larger buffer: a key-value cache is appended to in place.

use restride::{Config, ElementType, Engine, Graph, Strided, TensorMut, TensorRef, ViewPolicy};
use std::mem::MaybeUninit;

const HEADS: usize = 3;
const CAPACITY: usize = 8;
const WIDTH: usize = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (heads, width) = (HEADS as i64, WIDTH as i64);

    // One step's keys, [1, heads, width], go to cache[:, step, :] of [heads, capacity, width].
    // The layout counts from the start of the buffer that is passed, so one program does for
    // every step: the caller passes the part of the cache that begins at the step.
    let mut g = Graph::new("append");
    let keys = g.input("keys", ElementType::F32, [1, heads, width])?;
    let turned = g.transpose(keys, [1, 0, 2])?;
    let place = Strided {
        offset: 0,
        strides: [CAPACITY as i64 * width, width, 1].into_iter().collect(),
    };
    g.strided_output(turned, place)?;
    let program = Engine::default().compile(&g)?;

    let mut cache = [-1f32; HEADS * CAPACITY * WIDTH];
    for step in 0..3 {
        let keys: Vec<f32> = (0..HEADS * WIDTH)
            .map(|n| (100 * step + n) as f32)
            .collect();
        program.run(
            &[TensorRef::new(&keys)],
            &mut [TensorMut::new(&mut cache[step * WIDTH..])],
        )?;
    }
    // Head 1 holds three steps; what has not been appended is as it was.
    let head = &cache[CAPACITY * WIDTH..][..CAPACITY * WIDTH];
    assert_eq!(head[..6], [4., 5., 6., 7., 104., 105.]);
    assert!(head[3 * WIDTH..].iter().all(|v| *v == -1.0));
    println!("head 1 of the cache: {head:?}");

    // An output need not be initialised before the call, and a dense one is whole after it.
    let mut g = Graph::new("turn");
    let x = g.input("x", ElementType::U8, [2, 3])?;
    let y = g.transpose(x, [1, 0])?;
    g.output(y)?;
    let copying = Engine::new(Config {
        views: ViewPolicy::Copy,
        ..Config::default()
    });
    let mut fresh = [MaybeUninit::<u8>::uninit(); 6];
    copying.compile(&g)?.run(
        &[TensorRef::new(&[1u8, 2, 3, 4, 5, 6])],
        &mut [TensorMut::uninit(&mut fresh)],
    )?;
    // SAFETY: the run has succeeded, and the output is dense and as long as the slice.
    let turned = fresh.map(|byte| unsafe { byte.assume_init() });
    assert_eq!(turned, [1, 4, 2, 5, 3, 6]);
    Ok(())
}

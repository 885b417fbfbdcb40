//! The threads are the caller's: a program says how it can be cut, never who runs the parts.

use restride::{ElementType, Engine, Graph, ParallelFor, TensorMut, TensorRef};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Any pool will do that can run a function for several numbers; this one makes threads anew.
struct Scoped {
    threads: usize,
    chunks: AtomicUsize,
}

impl ParallelFor for Scoped {
    fn width(&self) -> usize {
        self.threads
    }

    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
        self.chunks.fetch_add(count, Ordering::Relaxed);
        std::thread::scope(|scope| {
            for n in 0..count {
                scope.spawn(move || body(n));
            }
        });
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (rows, columns) = (300, 200);
    let mut g = Graph::new("turn");
    let x = g.input("x", ElementType::U32, [rows, columns])?;
    let turned = g.transpose(x, [1, 0])?;
    let flat = g.reshape(turned, [rows * columns]).finish()?;
    g.output(flat)?;
    let program = Engine::default().compile(&g)?;

    let x: Vec<u32> = (0..(rows * columns) as u32).collect();
    let mut alone = vec![0u32; x.len()];
    program.run(&[TensorRef::new(&x)], &mut [TensorMut::new(&mut alone)])?;
    assert_eq!(alone[1], columns as u32);

    let pool = Scoped {
        threads: 4,
        chunks: AtomicUsize::new(0),
    };
    let mut shared = vec![0u32; x.len()];
    program.run_on(
        &pool,
        &[TensorRef::new(&x)],
        &mut [TensorMut::new(&mut shared)],
    )?;
    assert_eq!(alone, shared);
    println!("{} chunks on {} threads", pool.chunks.into_inner(), 4);
    Ok(())
}

//! `streams`: what users pay whose shapes never come again.
//!
//! A decoder's cache that grows by one a step, with eight programs a step, and images of random sizes
//! that are cropped, mirrored, turned from BGR to RGB and into planes. `tests/workloads/streams.py`
//! does the same in numpy and OpenCV. Nothing here is judged.

use restride::{
    Config, Engine, Graph, InputShape, Program, Template, TensorMut, TensorRef, ViewPolicy,
};
use std::error::Error;
use std::time::{Duration, Instant};

/// The programs of a step; each input has its shape here, with 0 where the step's length is.
const DECODE: [(&str, &[&[i64]]); 8] = [
    (
        "func @keys_turned(%x: f16[1, 2, 8, 64]) { %y = transpose %x perm [0, 2, 3, 1] return %y }",
        &[&[1, 0, 8, 64]],
    ),
    (
        "func @heads(%x: f16[1, 2, 8, 64]) { %y = transpose %x perm [0, 2, 1, 3] return %y }",
        &[&[1, 0, 8, 64]],
    ),
    (
        "func @append(%x: f16[1, 8, 2, 64], %n: f16[1, 8, 1, 64]) { %y = concat %x, %n axis 2 return %y }",
        &[&[1, 8, 0, 64], &[1, 8, 1, 64]],
    ),
    (
        "func @repeat(%x: f16[1, 2, 2, 64]) { %w = unsqueeze %x axes [2] %y = tile %w repeats [1, 1, 4, 1, 1] return %y }",
        &[&[1, 2, 0, 64]],
    ),
    (
        "func @halves(%x: f16[1, 8, 2, 64]) { %a = slice %x start [32] stop [64] step [1] axes [3] \
         %b = slice %x start [0] stop [32] step [1] axes [3] %y = concat %a, %b axis 3 return %y }",
        &[&[1, 8, 0, 64]],
    ),
    (
        "func @last(%x: f16[1, 2, 1024]) { %y = slice %x start [-1] stop [9223372036854775807] step [1] axes [1] return %y }",
        &[&[1, 0, 1024]],
    ),
    (
        "func @scores(%x: f32[1, 8, 1, 2]) { %y = transpose %x perm [0, 3, 1, 2] return %y }",
        &[&[1, 8, 1, 0]],
    ),
    (
        "func @rows(%x: f32[1000, 256], %i: i64[2]) { %y = gather %x, %i axis 0 out_of_range zero return %y }",
        &[&[1000, 256], &[0]],
    ),
];

const IMAGES: &str = "func @image(%x: u8[640, 480, 3]) {
  %1 = slice %x start [8, 8] stop [-8, -8] step [1, 1] axes [0, 1]
  %2 = reverse %1 axes [1, 2]
  %3 = transpose %2 perm [2, 0, 1]
  return %3
}";

fn main() -> Result<(), Box<dyn Error>> {
    decode()?.tell("decode: eight programs at lengths 1 to 1000");
    images()?.tell("images: 1000 sizes of 240x320 to 1079x1919");
    Ok(())
}

/// Times of a stream, a step at a time.
#[derive(Default)]
struct Stream {
    planning: Vec<Duration>,
    running: Vec<Duration>,
    bytes: usize,
    code: (u64, usize),
}

impl Stream {
    fn tell(&self, name: &str) {
        let sum = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64() * 1e3;
        let worst = self.planning.iter().max().copied().unwrap_or_default();
        let (planning, running) = (sum(&self.planning), sum(&self.running));
        println!(
            "{name}\n  {:8.2} ms in all: {planning:.2} planning, {running:.2} running",
            planning + running
        );
        println!("  {worst:8.1?} the longest planning of a step");
        println!(
            "  {:8.2} MB kept, {} kernels with code of {} bytes",
            self.bytes as f64 / 1e6,
            self.code.0,
            self.code.1
        );
    }

    fn end(&mut self, engine: &Engine) {
        let stats = engine.stats();
        self.bytes = stats.bytes;
        self.code = (stats.compiled, stats.code_bytes);
    }
}

/// An engine that writes every output.
fn engine() -> Engine {
    Engine::new(Config {
        views: ViewPolicy::Copy,
        ..Config::default()
    })
}

fn decode() -> Result<Stream, Box<dyn Error>> {
    let (engine, mut stream) = (engine(), Stream::default());
    let graphs = DECODE.map(|(text, _)| Graph::parse(text));
    let mut templates = Vec::new();
    for graph in graphs {
        templates.push(Template::new(graph?));
    }
    let data = vec![1u8; 4 << 20];
    let mut memory = vec![2u8; 4 << 20];
    for length in 1..=1000 {
        let (mut planning, mut running) = (Duration::ZERO, Duration::ZERO);
        for (template, (_, inputs)) in templates.iter().zip(&DECODE) {
            let sized = |shape: &&[i64]| -> Vec<i64> {
                let size = |&size: &i64| if size == 0 { length } else { size };
                shape.iter().map(size).collect()
            };
            let shapes: Vec<Vec<i64>> = inputs.iter().map(sized).collect();
            let shapes: Vec<_> = shapes.iter().map(|it| InputShape::dense(it)).collect();
            let begun = Instant::now();
            let program = engine.specialise(template, &shapes)?;
            planning += begun.elapsed();
            running += run(&program, &data, &mut memory)?;
        }
        stream.planning.push(planning);
        stream.running.push(running);
    }
    stream.end(&engine);
    Ok(stream)
}

fn images() -> Result<Stream, Box<dyn Error>> {
    let (engine, mut stream) = (engine(), Stream::default());
    let template = Template::new(Graph::parse(IMAGES)?);
    let data = vec![1u8; 1080 * 1920 * 3];
    let mut memory = vec![2u8; data.len()];
    let mut state = 1u64;
    // As the program in Python has it.
    let mut below = |n: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((state >> 33) % n) as i64
    };
    for _ in 0..1000 {
        let shape = [240 + below(840), 320 + below(1600), 3];
        let begun = Instant::now();
        let program = engine.specialise(&template, &[InputShape::dense(&shape)])?;
        stream.planning.push(begun.elapsed());
        stream.running.push(run(&program, &data, &mut memory)?);
    }
    stream.end(&engine);
    Ok(stream)
}

/// Calls a program of one output, and says how long that took.
fn run(program: &Program, data: &[u8], memory: &mut [u8]) -> Result<Duration, Box<dyn Error>> {
    let inputs = program.inputs().iter().map(|ty| {
        let bytes = ty.required_elements() * ty.element().width();
        TensorRef::from_bytes(&data[..bytes])
    });
    let inputs: Vec<_> = inputs.collect();
    let Some(restride::Output::Computed { ty, .. }) = program.outputs().first() else {
        return Err("an output that is not written".into());
    };
    let bytes = ty.required_elements() * ty.element().width();
    let output = TensorMut::from_bytes(&mut memory[..bytes]);
    let begun = Instant::now();
    program.run(&inputs, &mut [output])?;
    Ok(begun.elapsed())
}

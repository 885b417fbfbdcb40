//! A small inference loop that embeds the engine.
//!
//! Every node of a decoder's attention that only moves data is a template. Its shapes change from
//! step to step as the cache grows. What can be a view is read where it lies; the rest is written
//! by the caller's threads. The arithmetic between the nodes is a stand-in.

use restride::{
    Config, ElementType, Engine, Graph, InputShape, Output, ParallelFor, Program, ReshapeDialect,
    RunError, Template, TensorMut, TensorRef,
};
use std::error::Error;
use std::rc::Rc;

const HEADS: i64 = 4;
const WIDTH: i64 = 8;
const VOCABULARY: i64 = 32;

/// The model's nodes that move data.
struct Nodes {
    /// Rows of the embedding table by token.
    embed: Template,
    /// `[tokens, heads * width]` to `[heads, tokens, width]`.
    split_heads: Template,
    /// Old keys and new ones along the axis of tokens.
    append: Template,
    /// `[heads, tokens, width]` to `[heads, width, tokens]`, the last `window` tokens only.
    keys_of_window: Template,
}

impl Nodes {
    fn new() -> Result<Self, Box<dyn Error>> {
        use ElementType::{F32, I32};
        let mut g = Graph::new("embed");
        let table = g.input("table", F32, [VOCABULARY, HEADS * WIDTH])?;
        let tokens = g.input("tokens", I32, [1])?;
        let rows = g
            .gather(table, tokens, restride::IndexRule::ONNX)
            .axis(0)
            .finish()?;
        g.output(rows)?;
        let embed = Template::new(g);

        let mut g = Graph::new("split_heads");
        let x = g.input("x", F32, [1, HEADS * WIDTH])?;
        let heads = g
            .reshape(x, [-1, HEADS, WIDTH])
            .dialect(ReshapeDialect::TensorFlow)
            .finish()?;
        let turned = g.transpose(heads, [1, 0, 2])?;
        g.output(turned)?;
        let split_heads = Template::new(g);

        let mut g = Graph::new("append");
        let old = g.input("old", F32, [HEADS, 1, WIDTH])?;
        let new = g.input("new", F32, [HEADS, 1, WIDTH])?;
        let all = g.concat([old, new], 1)?;
        g.output(all)?;
        let append = Template::new(g);

        let mut g = Graph::new("keys_of_window");
        let keys = g.input("keys", F32, [HEADS, 1, WIDTH])?;
        let last = g.slice(keys, [-4], [i64::MAX]).axes([1]).finish()?;
        let turned = g.transpose(last, [0, 2, 1])?;
        g.output(turned)?;
        let keys_of_window = Template::new(g);
        Ok(Self {
            embed,
            split_heads,
            append,
            keys_of_window,
        })
    }
}

/// The caller's threads.
struct Pool;

impl ParallelFor for Pool {
    fn width(&self) -> usize {
        2
    }

    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for n in 1..count {
                scope.spawn(move || body(n));
            }
            body(0);
        });
    }
}

/// A tensor of the model: a buffer that others may share, and how the tensor lies in it.
struct Value {
    data: Rc<Vec<f32>>,
    shape: Vec<i64>,
    offset: i64,
    strides: Vec<i64>,
}

impl Value {
    fn dense(data: Vec<f32>, shape: &[i64]) -> Self {
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis];
        }
        Self {
            data: Rc::new(data),
            shape: shape.to_vec(),
            offset: 0,
            strides,
        }
    }

    fn shape(&self) -> InputShape<'_> {
        InputShape::strided(&self.shape, self.offset, &self.strides)
    }

    fn at(&self, index: &[i64]) -> f32 {
        let steps = index.iter().zip(&self.strides).map(|(i, s)| i * s);
        self.data[(self.offset + steps.sum::<i64>()) as usize]
    }
}

/// Counts what the loop saw.
#[derive(Default)]
struct Seen {
    views: usize,
    copies: usize,
}

/// Runs a program with one output, or takes the view that it is. `tensors` are its inputs; what
/// is no tensor of the model, here the tokens, comes after them.
fn answer(
    program: &Program,
    tensors: &[&Value],
    tokens: Option<&[i32]>,
    seen: &mut Seen,
) -> Result<Value, RunError> {
    match &program.outputs()[0] {
        Output::View { input, layout, ty } => {
            seen.views += 1;
            Ok(Value {
                data: Rc::clone(&tensors[*input].data),
                shape: ty.shape().to_vec(),
                offset: layout.offset,
                strides: layout.strides.to_vec(),
            })
        }
        Output::Computed { ty, .. } => {
            seen.copies += 1;
            let mut inputs: Vec<_> = tensors.iter().map(|t| TensorRef::new(&t.data)).collect();
            inputs.extend(tokens.map(TensorRef::new));
            let mut data = vec![0f32; ty.required_elements()];
            program.run_on(&Pool, &inputs, &mut [TensorMut::new(&mut data)])?;
            Ok(Value::dense(data, ty.shape()))
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::new(Config::default());
    let nodes = Nodes::new()?;
    let width = HEADS * WIDTH;
    let table: Vec<f32> = (0..VOCABULARY * width).map(|n| n as f32).collect();
    let table = Value::dense(table, &[VOCABULARY, width]);
    let mut seen = Seen::default();
    let mut cache = Value::dense(Vec::new(), &[HEADS, 0, WIDTH]);

    // A prompt of three tokens, then one token a step.
    let steps: [&[i32]; 5] = [&[3, 1, 4], &[1], &[5], &[9], &[2]];
    let mut tokens = 0;
    for step in steps {
        let count = step.len() as i64;
        tokens += count;

        let shape = [count];
        let shapes = [table.shape(), InputShape::dense(&shape)];
        let program = engine.specialise(&nodes.embed, &shapes)?;
        let rows = answer(&program, &[&table], Some(step), &mut seen)?;

        let program = engine.specialise(&nodes.split_heads, &[rows.shape()])?;
        let new = answer(&program, &[&rows], None, &mut seen)?;

        // The new keys are a view; the next node takes them as they lie. While the cache is
        // empty, joining it with them gives a view as well.
        let program = engine.specialise(&nodes.append, &[cache.shape(), new.shape()])?;
        cache = answer(&program, &[&cache, &new], None, &mut seen)?;
        assert_eq!(cache.shape, [HEADS, tokens, WIDTH]);

        let program = engine.specialise(&nodes.keys_of_window, &[cache.shape()])?;
        let keys = answer(&program, &[&cache], None, &mut seen)?;
        assert_eq!(keys.shape, [HEADS, WIDTH, tokens.min(4)]);

        // The newest token's key of head 2, element 5, is still where it should be.
        let token = i64::from(step[step.len() - 1]);
        let expected = (token * width + 2 * WIDTH + 5) as f32;
        assert_eq!(keys.at(&[2, 5, keys.shape[2] - 1]), expected);
    }
    println!(
        "{} answers were views, {} were computed",
        seen.views, seen.copies
    );
    println!("{:?}", engine.stats());
    assert!(seen.views > 0 && seen.copies > 0);

    // A second sequence with the same lengths finds every program in the cache.
    let before = engine.stats().misses;
    engine.specialise(&nodes.embed, &[table.shape(), InputShape::dense(&[3])])?;
    assert_eq!(engine.stats().misses, before);

    // A token outside of the vocabulary is an error, and nothing is written.
    let program = engine.specialise(&nodes.embed, &[table.shape(), InputShape::dense(&[1])])?;
    let mut rows = vec![-1f32; width as usize];
    let inputs = [TensorRef::new(&table.data), TensorRef::new(&[99i32])];
    let refused = program.run_on(&Pool, &inputs, &mut [TensorMut::new(&mut rows)]);
    println!(
        "{}",
        refused.err().map_or_else(String::new, |e| e.to_string())
    );
    assert!(rows.iter().all(|v| *v == -1.0));
    Ok(())
}

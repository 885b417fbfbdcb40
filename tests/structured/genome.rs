//! Graphs as lists of numbers: any list is a graph, and what is changed a little costs a little more
//! or less.

use restride_graph::{ElementType, Graph, TensorType, ValueId};
use restride_testkit::generate::Random;

use super::operators::{KINDS, Made, Numbers};

/// Sizes of axes that something depends on.
const SIZES: [i64; 20] = [
    0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 64, 97, 100, 255, 1000, 1024, 4099, 65536, 1_864_135,
];

/// The most statements that a gene makes.
const MOST: u16 = 512;

/// Some statements of one kind.
#[derive(Clone, Debug)]
struct Gene {
    kind: u8,
    /// Which value they read, counted from the newest.
    operand: u16,
    numbers: Numbers,
    times: u16,
    /// Whether all read the same value; otherwise each goes on from the one before it.
    beside: bool,
}

/// A graph.
#[derive(Clone, Debug)]
pub struct Genome {
    element: u32,
    inputs: Vec<Vec<u32>>,
    genes: Vec<Gene>,
    /// Values that are outputs, each so many times.
    outputs: Vec<(u16, u16)>,
}

/// A number that is often small.
fn number(random: &mut Random) -> u32 {
    match random.below(4) {
        0 => random.below(8) as u32,
        1 => 1 << random.below(32),
        2 => (1 << random.below(12)) - 1,
        _ => random.bits() as u32,
    }
}

/// A count that is often one.
fn count(random: &mut Random) -> u16 {
    match random.below(8) {
        0..4 => 1,
        4..6 => 1 + random.below(8) as u16,
        6 => 1 + random.below(64) as u16,
        _ => 1 + random.below(MOST.into()) as u16,
    }
}

fn changed_count(count: u16, random: &mut Random) -> u16 {
    match random.below(5) {
        0 => count.saturating_mul(2),
        1 => count / 2,
        2 => count.saturating_add(1),
        3 => count.saturating_sub(1),
        _ => self::count(random),
    }
    .clamp(1, 4096)
}

fn changed_number(before: u32, random: &mut Random) -> u32 {
    match random.below(6) {
        0 => before ^ 1 << random.below(32),
        1 => before.wrapping_add(1),
        2 => before.wrapping_sub(1),
        3 => before.wrapping_mul(2),
        4 => before / 2,
        _ => number(random),
    }
}

impl Gene {
    fn random(random: &mut Random) -> Self {
        Self {
            kind: random.below(KINDS.into()) as u8,
            operand: if random.percent(70) {
                0
            } else {
                random.bits() as u16
            },
            numbers: std::array::from_fn(|_| number(random)),
            times: count(random),
            beside: random.percent(25),
        }
    }
}

impl Genome {
    /// A graph of a few sorts of statements.
    #[must_use]
    pub fn random(random: &mut Random) -> Self {
        let rank = random.below(8);
        let shape = |random: &mut Random| (0..rank).map(|_| number(random)).collect();
        let inputs = (0..1 + random.below(2)).map(|_| shape(random)).collect();
        let genes = (0..1 + random.below(6))
            .map(|_| Gene::random(random))
            .collect();
        Self {
            element: number(random),
            inputs,
            genes,
            outputs: vec![(0, count(random))],
        }
    }

    /// The same with a few things changed, one of which may be taken from another.
    #[must_use]
    pub fn changed(&self, other: &Self, random: &mut Random) -> Self {
        let mut it = self.clone();
        for _ in 0..1 + random.below(4) {
            it.change(other, random);
        }
        it
    }

    fn change(&mut self, other: &Self, random: &mut Random) {
        let genes = self.genes.len();
        let at = random.below(genes.max(1));
        match random.below(14) {
            0 if genes < 24 => self.genes.insert(at, Gene::random(random)),
            1 if genes > 1 => drop(self.genes.remove(at)),
            2 if genes < 24 && genes > 0 => {
                let gene = self.genes[at].clone();
                self.genes.insert(at, gene);
            }
            3 if genes > 1 => self.genes.swap(at, random.below(genes)),
            4 if genes < 24 && !other.genes.is_empty() => {
                let gene = other.genes[random.below(other.genes.len())].clone();
                self.genes.insert(at, gene);
            }
            5 => {
                let input = random.below(self.inputs.len().max(1));
                let Some(shape) = self.inputs.get_mut(input) else {
                    return;
                };
                let axis = random.below(shape.len() + 1);
                match random.below(3) {
                    0 if shape.len() < 32 => shape.insert(axis, number(random)),
                    1 if axis < shape.len() => drop(shape.remove(axis)),
                    _ if axis < shape.len() => shape[axis] = changed_number(shape[axis], random),
                    _ => {}
                }
            }
            6 => match random.below(4) {
                0 => self
                    .inputs
                    .push(self.inputs.first().cloned().unwrap_or_default()),
                1 if self.inputs.len() > 1 => drop(self.inputs.pop()),
                2 => self.element = number(random),
                _ => self.inputs.clone_from(&other.inputs),
            },
            7 => match random.below(3) {
                0 => self.outputs.push((random.bits() as u16, count(random))),
                1 if self.outputs.len() > 1 => drop(self.outputs.pop()),
                _ => {
                    let at = random.below(self.outputs.len());
                    self.outputs[at].0 = random.below(9) as u16;
                }
            },
            8 => {
                let at = random.below(self.outputs.len());
                self.outputs[at].1 = changed_count(self.outputs[at].1, random);
            }
            _ => {
                let Some(gene) = self.genes.get_mut(at) else {
                    return;
                };
                match random.below(8) {
                    0 => gene.kind = random.below(KINDS.into()) as u8,
                    1 => gene.operand = random.below(6) as u16,
                    2 | 3 => gene.times = changed_count(gene.times, random),
                    4 => gene.beside = !gene.beside,
                    _ => {
                        let which = random.below(4);
                        gene.numbers[which] = changed_number(gene.numbers[which], random);
                    }
                }
            }
        }
    }

    /// The text it stands for, if that has at most so many bytes.
    #[must_use]
    pub fn text(&self, most: usize) -> Option<String> {
        let mut made = Made {
            graph: Graph::new("f"),
            values: Vec::new(),
            length: 32,
        };
        let element = ElementType::ALL[self.element as usize % ElementType::ALL.len()];
        for (at, shape) in self.inputs.iter().enumerate() {
            let shape: Vec<i64> = (shape.iter())
                .map(|&n| SIZES[n as usize % SIZES.len()])
                .collect();
            let ty = TensorType::dense(element, &shape).ok()?;
            let input = made.graph.typed_input(&format!("x{at}"), ty).ok()?;
            made.values.push(input);
        }
        let back = |values: &[ValueId], by: u16| -> Option<ValueId> {
            values.iter().rev().cycle().nth(usize::from(by)).copied()
        };
        for gene in &self.genes {
            let mut x = back(&made.values, gene.operand)?;
            for turn in 0..gene.times {
                let mut numbers = gene.numbers;
                if gene.beside {
                    numbers[1] = numbers[1].wrapping_add(4 * u32::from(turn));
                }
                let Some(y) = made.add(gene.kind, x, numbers) else {
                    break;
                };
                if !gene.beside {
                    x = y;
                }
                if made.length > most {
                    return None;
                }
            }
        }
        for &(which, times) in &self.outputs {
            let value = back(&made.values, which)?;
            made.length += usize::from(times) * 4;
            if made.length > most {
                return None;
            }
            for _ in 0..times {
                made.graph.output(value).ok()?;
            }
        }
        let text = compact(&made.graph.to_string());
        (text.len() <= most).then_some(text)
    }
}

/// A text without what may be left out.
fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim();
        let line = match line.split_once(" : ") {
            Some((statement, _)) if line.starts_with('%') && line.contains(" = ") => statement,
            _ => line,
        };
        out += line;
        out.push('\n');
    }
    out.replace(", ", ",")
}

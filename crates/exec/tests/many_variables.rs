//! Kernels with very many variables: everything that is verified is prepared, and runs as the
//! checking interpreter has it.

use restride_exec::Executable;
use restride_loops::{Random, Verified, interpret, verify};
use restride_moves::{Features, Planner, Target};
use std::fmt::Write as _;

/// Elements of the data, and of the table of indices, which are below 8.
const DATA: usize = 16 << 10;
const TABLE: usize = 64;

/// A kernel that is being written.
struct Writer {
    draw: Random,
    text: String,
    /// Loops around, with their trip counts, and indices in scope.
    loops: Vec<(usize, usize)>,
    indices: Vec<usize>,
    next: usize,
    outputs: usize,
}

impl Writer {
    fn name(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// A few terms of variables, each with a coefficient of 1 to 3.
    fn terms(&mut self, most: usize) -> String {
        let mut known: Vec<usize> = self.indices.clone();
        known.extend(self.loops.iter().map(|known| known.0));
        let mut text = String::new();
        for _ in 0..self.draw.below(most + 1) {
            if known.is_empty() {
                break;
            }
            let at = self.draw.below(known.len());
            let (coeff, var) = (1 + self.draw.below(3), known.swap_remove(at));
            let _ = write!(text, " + {coeff}*v{var}");
        }
        text
    }

    fn index(&mut self) {
        let terms = self.terms(1);
        let base = self.draw.below(TABLE - 32);
        let rule = ["zero", "clamp"][self.draw.below(2)];
        let var = self.name();
        let limit = 1 + self.draw.below(6);
        let _ = writeln!(
            self.text,
            "index v{var} = b1[{base}{terms}] u8 limit {limit} {rule}"
        );
        self.indices.push(var);
    }

    /// Writes elements of the output that nothing else writes.
    fn take(&mut self, most: usize) {
        let terms = self.terms(most);
        let base = self.draw.below(1000);
        let mut place = self.outputs.to_string();
        let mut stride = 1;
        for (var, extent) in self.loops.iter().rev() {
            let _ = write!(place, " + {stride}*v{var}");
            stride *= extent;
        }
        self.outputs += stride;
        let _ = writeln!(self.text, "move b2[{place}] <- b0[{base}{terms}]");
    }

    fn block(&mut self, statements: usize, depth: usize) {
        let outside = self.indices.len();
        for _ in 0..statements {
            match self.draw.below(8) {
                0 if depth > 0 => {
                    let (var, extent) = (self.name(), 1 + self.draw.below(3));
                    let _ = writeln!(self.text, "for v{var} in 0..{extent} {{");
                    self.loops.push((var, extent));
                    let inner = 1 + self.draw.below(statements / 4);
                    self.block(inner, depth - 1);
                    self.loops.pop();
                    self.text.push_str("}\n");
                }
                0..4 => self.index(),
                _ => self.take(4),
            }
        }
        // A loop writes something, or it would do nothing.
        self.take(2);
        self.indices.truncate(outside);
    }

    fn kernel(self) -> Verified {
        let (text, outputs) = (self.text, self.outputs);
        let text = format!(
            "kernel \"many\" {{\nb0 = in 0 w1 [{DATA}]\nb1 = in 1 w1 [{TABLE}]\n\
             b2 = out 0 w1 [{outputs}]\n{text}}}"
        );
        let kernel = text
            .parse()
            .unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        verify(kernel).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}

fn writer(seed: u64) -> Writer {
    Writer {
        draw: Random::new(seed),
        text: String::new(),
        loops: Vec::new(),
        indices: Vec::new(),
        next: 0,
        outputs: 0,
    }
}

/// Runs a kernel at every level; whether its variables are on the heap.
fn runs(kernel: &Verified, seed: u64) -> bool {
    let mut draw = Random::new(seed);
    let data: Vec<u8> = (0..DATA).map(|_| draw.below(256) as u8).collect();
    let table: Vec<u8> = (0..TABLE).map(|_| draw.below(8) as u8).collect();
    let inputs = [data, table];
    let want = interpret(kernel, &inputs).expect("it runs");
    let mut allocates = false;
    for cpu in Features::WIDTHS {
        let executable =
            Executable::new(kernel, &Planner::new(&Target::with(cpu))).expect("it is prepared");
        let mut have = vec![0; want[0].len()];
        let inputs = inputs.each_ref().map(|bytes| &**bytes);
        executable.run(&inputs, &mut [&mut have]).expect("it runs");
        assert_eq!(have, want[0], "seed {seed}\n{}", **kernel);
        allocates = executable.chunks_allocate();
    }
    allocates
}

#[test]
fn kernels_with_many_variables_run() {
    for seed in 0..100 {
        let mut writer = writer(seed);
        let statements = 4 + writer.draw.below(if seed % 16 == 0 { 1200 } else { 120 });
        writer.block(statements, 3);
        runs(&writer.kernel(), seed);
    }
}

#[test]
fn indices_that_are_not_needed_at_one_time_share_slots() {
    let mut writer = writer(1);
    for _ in 0..1000 {
        writer.index();
        writer.take(1);
        writer.indices.clear();
    }
    // A chain: each is named by the one before.
    for _ in 0..1000 {
        writer.index();
        let last = writer.indices.split_off(writer.indices.len() - 1);
        writer.indices = last;
    }
    writer.take(1);
    assert!(!runs(&writer.kernel(), 1), "a few slots are enough");
}

#[test]
fn indices_that_are_needed_at_one_time_have_slots() {
    for count in [255, 256, 257, 3000] {
        let mut writer = writer(2);
        for _ in 0..count {
            writer.index();
        }
        for _ in 0..8 {
            writer.take(9);
        }
        // The first and the last are needed side by side, and all between.
        for at in 0..count {
            let (first, last) = (writer.indices[at], writer.indices[count - 1 - at]);
            let terms = match first == last {
                true => format!("1*v{first}"),
                false => format!("2*v{first} + 1*v{last}"),
            };
            let _ = writeln!(writer.text, "move b2[{}] <- b0[{terms}]", writer.outputs);
            writer.outputs += 1;
        }
        assert_eq!(runs(&writer.kernel(), 2), count > 256);
    }
}

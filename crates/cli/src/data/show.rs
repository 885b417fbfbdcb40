//! Tensors as numpy prints them.

use restride_graph::oracle::Tensor;

use super::element::{ElementValue, bits_at, decode};

/// Past this many elements only the edges are shown.
const THRESHOLD: usize = 1000;

/// How many elements an edge has.
const EDGE: i64 = 3;

/// How long a line may be.
const LINE: usize = 75;

/// The text of a tensor, over several lines if it has several axes.
pub(crate) fn show(tensor: &Tensor) -> String {
    if tensor.ty().numel() == 0 {
        return match tensor.rank() {
            0 | 1 => "[]".into(),
            _ => format!("[], shape {:?}", tensor.shape()),
        };
    }
    let shortened = tensor.ty().numel() > THRESHOLD;
    let mut cells = Cells {
        tensor,
        shortened,
        positions: Vec::new(),
    };
    cells.collect();
    let words = cells.words();
    let mut printer = Printer {
        shape: tensor.shape(),
        shortened,
        words: words.into_iter(),
        out: String::new(),
    };
    printer.axis(0);
    printer.out
}

/// The positions that are shown along an axis; `None` is the gap.
fn shown(size: i64, shortened: bool) -> Vec<Option<i64>> {
    if shortened && size > 2 * EDGE {
        let head = (0..EDGE).map(Some);
        let tail = (size - EDGE..size).map(Some);
        return head.chain([None]).chain(tail).collect();
    }
    (0..size).map(Some).collect()
}

struct Cells<'t> {
    tensor: &'t Tensor,
    shortened: bool,
    positions: Vec<usize>,
}

impl Cells<'_> {
    /// The flat positions of all elements that are shown, in order.
    fn collect(&mut self) {
        let mut positions = vec![0usize];
        for size in self.tensor.shape() {
            let along = shown(*size, self.shortened);
            positions = positions
                .iter()
                .flat_map(|outer| {
                    let inner = along.iter().flatten();
                    inner.map(move |i| outer * *size as usize + *i as usize)
                })
                .collect();
        }
        self.positions = positions;
    }

    /// The elements as words of one width.
    fn words(&self) -> Vec<String> {
        let element = self.tensor.element();
        let numbers = self.positions.iter().map(|position| {
            decode(
                element,
                bits_at(self.tensor.bytes(), element.width(), *position),
            )
        });
        let numbers: Vec<ElementValue> = numbers.collect();
        let scientific = numbers.iter().any(|number| match number {
            ElementValue::Single(value) => needs_exponent(f64::from(*value)),
            ElementValue::Double(value) => needs_exponent(*value),
            ElementValue::Complex(re, im) => needs_exponent(*re) || needs_exponent(*im),
            ElementValue::Bool(_) | ElementValue::Int(_) | ElementValue::Unsigned(_) => false,
        });
        let words = numbers.iter().map(|number| match number {
            ElementValue::Bool(value) => (if *value { "True" } else { "False" }).to_owned(),
            ElementValue::Int(value) => value.to_string(),
            ElementValue::Unsigned(value) => value.to_string(),
            ElementValue::Single(value) => float(value, value.is_finite(), scientific),
            ElementValue::Double(value) => float(value, value.is_finite(), scientific),
            ElementValue::Complex(re, im) => {
                let re = float(re, re.is_finite(), scientific);
                let sign = if im.is_sign_negative() { "" } else { "+" };
                format!("{re}{sign}{}j", float(im, im.is_finite(), scientific))
            }
        });
        let words: Vec<String> = words.collect();
        let floats = numbers
            .iter()
            .any(|number| matches!(number, ElementValue::Single(_) | ElementValue::Double(_)));
        align(words, floats && !scientific)
    }
}

fn needs_exponent(value: f64) -> bool {
    let size = value.abs();
    size.is_finite() && (size >= 1e16 || size != 0.0 && size < 1e-4)
}

/// The shortest digits that read back as the same number, with a point and without trailing zeros.
fn float(
    value: &(impl std::fmt::Display + std::fmt::LowerExp),
    finite: bool,
    scientific: bool,
) -> String {
    if !finite {
        return value.to_string().to_lowercase();
    }
    if scientific {
        return format!("{value:e}");
    }
    let text = value.to_string();
    match text.contains('.') {
        true => text,
        false => format!("{text}."),
    }
}

/// Words of one width: numbers with a point have it in one column.
fn align(words: Vec<String>, points: bool) -> Vec<String> {
    let split = |word: &str| match word.find('.').filter(|_| points) {
        Some(at) => (at, word.len() - at),
        None => (word.len(), 0),
    };
    let before = words.iter().map(|word| split(word).0).max().unwrap_or(0);
    let after = words.iter().map(|word| split(word).1).max().unwrap_or(0);
    let width = words
        .iter()
        .map(String::len)
        .max()
        .unwrap_or(0)
        .max(if points { before.min(40) + after } else { 0 });
    let aligned = words.into_iter().map(|word| {
        let (left, right) = split(&word);
        match right {
            0 => format!("{word:>width$}"),
            _ => format!(
                "{:lead$}{word}{:trail$}",
                "",
                "",
                lead = before - left,
                trail = after - right
            ),
        }
    });
    aligned.collect()
}

struct Printer<'s> {
    shape: &'s [i64],
    shortened: bool,
    words: std::vec::IntoIter<String>,
    out: String,
}

impl Printer<'_> {
    /// Prints one axis and what is inside it. Ranks are at most 32, so this ends soon.
    fn axis(&mut self, axis: usize) {
        let Some(size) = self.shape.get(axis) else {
            let word = self.words.next().unwrap_or_default();
            self.out.push_str(word.trim());
            return;
        };
        self.out.push('[');
        let innermost = axis + 1 == self.shape.len();
        let indent = axis + 1;
        let mut column = indent;
        for (n, position) in shown(*size, self.shortened).into_iter().enumerate() {
            if innermost {
                let word = match position {
                    Some(_) => self.words.next().unwrap_or_default(),
                    None => "...".into(),
                };
                if n > 0 && column + 1 + word.len() >= LINE {
                    self.new_line(1, indent);
                    column = indent;
                } else if n > 0 {
                    self.out.push(' ');
                    column += 1;
                }
                column += word.len();
                self.out.push_str(&word);
            } else {
                if n > 0 {
                    self.new_line(self.shape.len() - indent, indent);
                }
                match position {
                    Some(_) => self.axis(axis + 1),
                    None => self.out.push_str("..."),
                }
            }
        }
        self.out.push(']');
    }

    fn new_line(&mut self, lines: usize, indent: usize) {
        self.out.extend(std::iter::repeat_n('\n', lines));
        self.out.extend(std::iter::repeat_n(' ', indent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use restride_graph::{ElementType, TensorType};

    fn shown_bits(element: ElementType, shape: &[i64], bits: &[u128]) -> String {
        let ty = TensorType::dense(element, shape).expect("a type");
        show(&Tensor::from_bits(ty, bits.iter().copied()).expect("a tensor"))
    }

    /// The expected texts are numpy's.
    #[test]
    fn looks_like_numpy() {
        let floats = [0.0f32, 1.5, -2.25, 10.0].map(|v| u128::from(v.to_bits()));
        assert_eq!(
            shown_bits(ElementType::F32, &[2, 2], &floats),
            "[[ 0.    1.5 ]\n [-2.25 10.  ]]"
        );
        assert_eq!(
            shown_bits(ElementType::I8, &[3], &[1, 255, 100]),
            "[  1  -1 100]"
        );
        assert_eq!(
            shown_bits(ElementType::Bool, &[2], &[1, 0]),
            "[ True False]"
        );
        assert_eq!(shown_bits(ElementType::U8, &[], &[7]), "7");
        assert_eq!(shown_bits(ElementType::U8, &[0], &[]), "[]");
        assert_eq!(
            shown_bits(ElementType::U8, &[2, 1, 2], &[1, 2, 3, 4]),
            "[[[1 2]]\n\n [[3 4]]]"
        );
        let many: Vec<u128> = (0..2000).collect();
        assert_eq!(
            shown_bits(ElementType::I32, &[2000], &many),
            "[   0    1    2 ... 1997 1998 1999]"
        );
        let grid = shown_bits(ElementType::I32, &[100, 20], &many);
        assert_eq!(grid.lines().count(), 7);
        assert!(
            grid.starts_with("[[   0    1    2 ...   17   18   19]\n [  20"),
            "{grid}"
        );
        let line: Vec<u128> = (0..40).collect();
        assert_eq!(
            shown_bits(ElementType::I32, &[40], &line).lines().nth(1),
            Some(" 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39]")
        );
    }
}

//! What an input may hold where a program is tried out.

use std::fmt::{self, Display, Formatter};

use restride_text::{Cursor, Diagnostics};

use crate::ElementType;
use crate::text::{Said, read_sample};

/// What an input holds where nobody says otherwise: part of a text that shows what a program does,
/// and of no meaning to the program.
///
/// ```
/// # extern crate restride_graph as restride;
/// use restride::{Graph, Sample};
///
/// let g = Graph::parse("func @f(%x: i8[3] = bits [7, -1, 0]) { return %x }")?;
/// assert_eq!(g.sample(g.inputs()[0]), Some(&Sample::Bits(vec![7, 0xff, 0])));
/// # Ok::<(), restride_text::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sample {
    /// `labels 3`: every element another, as far as its width allows. The number tells inputs apart.
    Labels(u32),
    /// `bits [7, -1]`: these elements in row-major order, as bits; again from the first where there
    /// are more places.
    Bits(Vec<u128>),
}

impl Sample {
    /// Reads what stands after the `=` of an input.
    pub fn parse(text: &str, element: ElementType) -> Result<Sample, Diagnostics> {
        let read = || -> Result<Said<Sample>, _> {
            let mut cursor = Cursor::new(text)?;
            let sample = read_sample(&mut cursor, element)?;
            match cursor.at_end() {
                true => Ok(sample),
                false => Err(cursor.unexpected("the end of the text")),
            }
        };
        read().and_then(|sample| sample).map_err(Diagnostics::from)
    }

    /// As text, for elements of this type.
    pub fn of(&self, element: ElementType) -> impl Display + '_ {
        SpelledSample(self, element)
    }
}

struct SpelledSample<'a>(&'a Sample, ElementType);

impl Display for SpelledSample<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let SpelledSample(sample, element) = *self;
        match sample {
            Sample::Labels(number) => write!(f, "labels {number}"),
            Sample::Bits(all) => {
                f.write_str("bits [")?;
                for (k, &bits) in all.iter().enumerate() {
                    let comma = if k > 0 { ", " } else { "" };
                    if element.is_signed_integer() {
                        write!(f, "{comma}{}", element.number(bits))?;
                    } else if element.is_unsigned_integer() {
                        write!(f, "{comma}{bits}")?;
                    } else {
                        write!(f, "{comma}{bits:#x}")?;
                    }
                }
                f.write_str("]")
            }
        }
    }
}

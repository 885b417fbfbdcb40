//! Patterns as einops writes them: `b (h p) w -> b w (p h)`. Read once, then fitted to shapes.

use smallvec::SmallVec;
use std::fmt;

/// Sizes, or places of axes.
type Sizes = SmallVec<[i64; 8]>;

/// Whether a pattern may make new axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// All axes are on both sides.
    Rearrange,
    /// The right side may have more.
    Repeat,
}

/// What a side of a pattern has in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// The axis of a name.
    Named(usize),
    /// A new axis of a size.
    New(i64),
    /// All axes that have no name.
    Rest,
}

/// What becomes, or comes from, one axis; without parentheses the rest is as many as it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Group {
    parts: SmallVec<[Part; 4]>,
    is_joined: bool,
}

impl Group {
    /// Whether it is all the axes that have no name, each for itself.
    fn is_rest(&self) -> bool {
        !self.is_joined && self.parts[..] == [Part::Rest]
    }
}

/// A pattern that has been read.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Of axes, in the order in which they first appear.
    names: Vec<Box<str>>,
    left: Vec<Group>,
    right: Vec<Group>,
    /// How many of the names stand on the left.
    on_left: usize,
}

/// What is wrong with a pattern, or with a shape that it is to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misfit(String);

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn misfit<T>(what: impl Into<String>) -> Result<T, Misfit> {
    Err(Misfit(what.into()))
}

/// The moves that a pattern makes of an array of some shape, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moves {
    /// The sizes once every axis is split.
    pub(crate) split: Sizes,
    /// Which of them are on the right, in that order.
    pub(crate) order: Sizes,
    /// The sizes with a 1 where an axis is new.
    pub(crate) spread: Sizes,
    /// The sizes of new axes, too.
    pub(crate) filled: Sizes,
    /// The sizes of the result.
    pub(crate) merged: Sizes,
}

/// Reads one side after the other.
struct Reader<'a> {
    names: &'a mut Vec<Box<str>>,
    /// Those that this side has had.
    seen: Vec<usize>,
    mode: Mode,
    is_left: bool,
}

impl Reader<'_> {
    fn side(&mut self, text: &str) -> Result<Vec<Group>, Misfit> {
        let side = if self.is_left { "left" } else { "right" };
        let mut groups: Vec<Group> = Vec::new();
        let mut open: Option<Group> = None;
        let mut has_rest = false;
        let spaced = text.replace("...", "\u{2026}");
        let mut rest = spaced.trim_start();
        while let Some(first) = rest.chars().next() {
            let end = match first {
                '(' | ')' | '\u{2026}' => first.len_utf8(),
                _ => rest
                    .find(|c: char| c.is_whitespace() || "()\u{2026}".contains(c))
                    .unwrap_or(rest.len()),
            };
            let (word, after) = rest.split_at(end);
            rest = after.trim_start();
            let part = match word {
                "(" if open.is_some() => {
                    return misfit(format!("parentheses within parentheses on the {side} side"));
                }
                "(" => {
                    open = Some(Group {
                        is_joined: true,
                        ..Group::default()
                    });
                    continue;
                }
                ")" => match open.take() {
                    Some(group) => {
                        groups.push(group);
                        continue;
                    }
                    None => return misfit(format!("a ')' too many on the {side} side")),
                },
                "\u{2026}" if has_rest => {
                    return misfit(format!("'...' stands twice on the {side} side"));
                }
                "\u{2026}" if open.is_some() && self.is_left => {
                    return misfit("'...' in parentheses on the left side");
                }
                "\u{2026}" => {
                    has_rest = true;
                    Some(Part::Rest)
                }
                word => self.axis(word)?,
            };
            match &mut open {
                Some(group) => group.parts.extend(part),
                None => groups.push(Group {
                    parts: part.into_iter().collect(),
                    is_joined: false,
                }),
            }
        }
        match open {
            None => Ok(groups),
            Some(_) => misfit(format!("a ')' is missing on the {side} side")),
        }
    }

    /// A name or a number; 1 is nothing.
    fn axis(&mut self, word: &str) -> Result<Option<Part>, Misfit> {
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return match word.parse::<i64>() {
                Ok(1) => Ok(None),
                Ok(size) if size > 0 && self.mode == Mode::Repeat && !self.is_left => {
                    Ok(Some(Part::New(size)))
                }
                Ok(_) => misfit(format!("an axis of size {word} needs a name")),
                Err(_) => misfit(format!("'{word}' is no name of an axis")),
            };
        }
        let is_name = word.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !is_name || word.starts_with('_') || word.ends_with('_') {
            return misfit(format!("'{word}' is no name of an axis"));
        }
        let at = match self.names.iter().position(|name| **name == *word) {
            Some(at) => at,
            None => {
                self.names.push(word.into());
                self.names.len() - 1
            }
        };
        if self.seen.contains(&at) {
            let side = if self.is_left { "left" } else { "right" };
            return misfit(format!("axis '{word}' stands twice on the {side} side"));
        }
        self.seen.push(at);
        Ok(Some(Part::Named(at)))
    }
}

fn has_rest(groups: &[Group]) -> bool {
    groups
        .iter()
        .flat_map(|group| &group.parts)
        .any(|part| *part == Part::Rest)
}

/// The product, if it is a number of elements.
fn product(sizes: impl Iterator<Item = i64>) -> Result<i64, Misfit> {
    let mut sizes = sizes;
    match sizes.try_fold(1i64, |a, b| a.checked_mul(b)) {
        Some(product) => Ok(product),
        None => misfit("the sizes of axes are too large"),
    }
}

impl Pattern {
    /// Reads a pattern.
    pub(crate) fn new(text: &str, mode: Mode) -> Result<Self, Misfit> {
        let Some((left, right)) = text.split_once("->") else {
            return misfit("a pattern has '->' between its sides");
        };
        if right.contains("->") {
            return misfit("a pattern has one '->'");
        }
        let mut names = Vec::new();
        let mut reader = Reader {
            names: &mut names,
            seen: Vec::new(),
            mode,
            is_left: true,
        };
        let left = reader.side(left)?;
        let on_left = reader.names.len();
        (reader.is_left, reader.seen) = (false, Vec::new());
        let right = reader.side(right)?;
        let seen = reader.seen;
        if let Some(missing) = (0..on_left).find(|at| !seen.contains(at)) {
            return misfit(format!(
                "axis '{}' stands only on the left side",
                names[missing]
            ));
        }
        if mode == Mode::Rearrange
            && let Some(new) = names.get(on_left)
        {
            return misfit(format!("axis '{new}' stands only on the right side"));
        }
        if has_rest(&left) != has_rest(&right) {
            return misfit("'...' stands only on one side");
        }
        Ok(Self {
            names,
            left,
            right,
            on_left,
        })
    }

    /// The number of a name.
    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| **known == *name)
    }

    /// How many names it has.
    pub(crate) fn names(&self) -> usize {
        self.names.len()
    }

    /// The moves for a shape, with the sizes of axes that were given: by number, -1 if not.
    pub(crate) fn fit(&self, shape: &[i64], given: &[i64]) -> Result<Moves, Misfit> {
        let unnamed = self.rest_of(shape)?;
        let rest = &shape[unnamed.clone()];
        let mut sizes: Sizes = given.iter().copied().collect();
        sizes.resize(self.names.len(), -1);
        let mut axes = shape.iter();
        for group in &self.left {
            if group.is_rest() {
                axes.by_ref().take(rest.len()).for_each(drop);
                continue;
            }
            if let Some(&size) = axes.next() {
                self.split(group, size, &mut sizes)?;
            }
        }
        let unknown = (self.on_left..self.names.len()).find(|at| sizes[*at] < 0);
        if let Some(at) = unknown {
            return misfit(format!(
                "the size of the new axis '{}' is not given",
                self.names[at]
            ));
        }
        let mut split = Sizes::new();
        let mut place: SmallVec<[i64; 8]> = SmallVec::from_elem(-1, self.names.len());
        let mut place_of_rest = 0;
        for part in self.left.iter().flat_map(|group| &group.parts) {
            match part {
                Part::Named(at) => {
                    place[*at] = split.len() as i64;
                    split.push(sizes[*at]);
                }
                Part::Rest => {
                    place_of_rest = split.len() as i64;
                    split.extend_from_slice(rest);
                }
                Part::New(_) => {}
            }
        }
        let mut moves = Moves {
            split,
            order: Sizes::new(),
            spread: Sizes::new(),
            filled: Sizes::new(),
            merged: Sizes::new(),
        };
        for group in &self.right {
            let begun = moves.filled.len();
            for part in &group.parts {
                match part {
                    Part::Rest => {
                        moves
                            .order
                            .extend(place_of_rest..place_of_rest + rest.len() as i64);
                        moves.spread.extend_from_slice(rest);
                        moves.filled.extend_from_slice(rest);
                    }
                    Part::Named(at) if place[*at] >= 0 => {
                        moves.order.push(place[*at]);
                        moves.spread.push(sizes[*at]);
                        moves.filled.push(sizes[*at]);
                    }
                    Part::Named(at) => {
                        moves.spread.push(1);
                        moves.filled.push(sizes[*at]);
                    }
                    Part::New(size) => {
                        moves.spread.push(1);
                        moves.filled.push(*size);
                    }
                }
            }
            match group.is_rest() {
                true => moves.merged.extend_from_slice(rest),
                false => {
                    let merged = product(moves.filled[begun..].iter().copied())?;
                    moves.merged.push(merged);
                }
            }
        }
        product(moves.filled.iter().copied().filter(|size| *size > 0))?;
        Ok(moves)
    }

    /// Which axes of a shape the `...` stands for.
    fn rest_of(&self, shape: &[i64]) -> Result<std::ops::Range<usize>, Misfit> {
        let at = self.left.iter().position(Group::is_rest);
        let named = self.left.len() - usize::from(at.is_some());
        match (at, shape.len().checked_sub(named)) {
            (None, Some(0)) => Ok(0..0),
            (Some(at), Some(count)) => Ok(at..at + count),
            (None, _) => misfit(format!(
                "{named} axes are expected, the array has {}",
                shape.len()
            )),
            (Some(_), None) => misfit(format!(
                "at least {named} axes are expected, the array has {}",
                shape.len()
            )),
        }
    }

    /// Gives the axes of a group their sizes, which together are this one.
    fn split(&self, group: &Group, size: i64, sizes: &mut Sizes) -> Result<(), Misfit> {
        let (mut known, mut unknown) = (1i64, None);
        for part in &group.parts {
            let Part::Named(at) = part else { continue };
            match sizes[*at] {
                given @ 0.. => known = product([known, given].into_iter())?,
                _ => match unknown.replace(*at) {
                    None => {}
                    Some(other) => {
                        return misfit(format!(
                            "the size of axis '{}' or '{}' has to be given",
                            self.names[other], self.names[*at]
                        ));
                    }
                },
            }
        }
        let names = || -> String {
            let names = group.parts.iter().filter_map(|part| match part {
                Part::Named(at) => Some(&*self.names[*at]),
                _ => None,
            });
            names.collect::<Vec<_>>().join(" ")
        };
        match unknown {
            None if known == size => Ok(()),
            None => misfit(match group.parts[..] {
                [] => format!("an axis of size 1 is expected, its size is {size}"),
                [_] => format!("axis '{}' has size {size}, not {known}", names()),
                _ => format!("the axes '{}' are {known} together, not {size}", names()),
            }),
            Some(at) if known > 0 && size % known == 0 => {
                sizes[at] = size / known;
                Ok(())
            }
            Some(at) => misfit(format!(
                "axis '{}': {size} elements cannot be divided into parts of {known}",
                self.names[at]
            )),
        }
    }
}

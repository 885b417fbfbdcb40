//! Sizes that a file leaves open: a model is read at several of each, and what is one program at
//! all of them is a template for that size.

use std::collections::HashMap;
use std::mem::discriminant;

use restride_graph::Graph;

use crate::file::ModelSource;
use crate::group::{GroupProgram, NodeGroup};
use crate::model::{Model, NodeId, Unknown};
use crate::options::{ImportOptions, OpenKey, open_key};
use crate::template::{Differs, common, with_operators};

/// The most sizes that are varied; of a file with more, groups are bound to the others.
const MAX_DIMENSIONS: usize = 4;

/// How often a model is read to see what its groups are at other sizes.
const MAX_READS: usize = 24;

/// An open size, and the sizes that a model is read at to see what depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Its name in the file, or `axis 0 of x`.
    pub name: String,
    /// What it is in the model.
    pub size: i64,
    /// Whether somebody said so.
    pub given: bool,
    /// What else it is tried as; nothing if the model reads the same at no other size.
    pub tried: Vec<i64>,
    key: OpenKey,
}

/// Why a group holds for one size only of an open one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Which of [`Sizes::dimensions`].
    pub dimension: usize,
    /// What spells the size.
    pub why: Unknown,
}

/// For which sizes a group is one program.
#[derive(Clone, Debug)]
pub struct Reach {
    /// The program. It is right at every size that was tried of what does not bind it.
    pub graph: Graph,
    /// What binds it, in the order of the dimensions.
    pub bound: Vec<Bound>,
}

/// A model at other sizes than its own.
///
/// ```
/// use restride_import::{ImportOptions, Sizes, ModelSource};
///
/// # let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
/// let (source, options) = (ModelSource::open(&folder.join("detector.onnx"))?, ImportOptions::default());
/// let model = source.model(&options)?;
/// let mut sizes = Sizes::of(source, &options, &model);
/// assert_eq!(sizes.dimensions()[0].name, "batch");
/// let group = &model.groups()[0];
/// let reach = sizes.reach(&model, group, &model.program(group)?);
/// assert_eq!(reach.bound, []);
/// # Ok::<(), restride_import::ImportError>(())
/// ```
pub struct Sizes {
    source: ModelSource,
    options: ImportOptions,
    dimensions: Vec<Dimension>,
    /// The model at sizes of the dimensions; nothing where it cannot be read or is another one.
    models: HashMap<Vec<i64>, Option<Other>>,
}

/// A model and its groups.
struct Other {
    /// Whether each node has the role that it has at the model's own sizes.
    has_same_roles: bool,
    model: Model,
    groups: HashMap<Vec<NodeId>, NodeGroup>,
}

impl Sizes {
    /// Finds other sizes for what is open in a model, which was read from here with these options.
    #[must_use]
    pub fn of(source: ModelSource, options: &ImportOptions, model: &Model) -> Sizes {
        let mut dimensions: Vec<Dimension> = Vec::new();
        for open in &model.open {
            let key = open_key(&open.symbol, open.axis, open.size);
            let known = dimensions.iter().any(|dimension| dimension.key == key);
            if known {
                continue;
            }
            let name = match open.symbol.as_str() {
                "" => format!("axis {} of {}", open.axis, crate::error::shown(&open.input)),
                symbol => crate::error::shown(symbol),
            };
            dimensions.push(Dimension {
                name,
                size: open.size,
                given: open.given,
                tried: Vec::new(),
                key,
            });
        }
        let mut sizes = Sizes {
            source,
            options: options.clone(),
            dimensions,
            models: HashMap::new(),
        };
        for at in 0..sizes.dimensions.len().min(MAX_DIMENSIONS) {
            sizes.dimensions[at].tried = sizes.others(model, at);
        }
        sizes
    }

    /// Two other sizes of a dimension. Those that are no multiples say most, but a model that halves
    /// an image may need multiples: what is best leaves every node its role.
    fn others(&mut self, model: &Model, at: usize) -> Vec<i64> {
        let size = self.dimensions[at].size;
        let near = [size.checked_add(1), size.checked_add(2)];
        let far = [size.checked_mul(2), size.checked_mul(3)];
        let mut second = Vec::new();
        for choice in [near, far] {
            let choice: Option<Vec<i64>> = choice.into_iter().collect();
            let choice = choice.unwrap_or_default();
            let alike = choice.iter().map(|&other| {
                let other = self.read(model, self.with(&[(at, other)]));
                other.map(|other| other.has_same_roles)
            });
            match alike.collect::<Option<Vec<bool>>>() {
                Some(alike) if !choice.contains(&size) => match alike.iter().all(|&alike| alike) {
                    true => return choice,
                    false if second.is_empty() => second = choice,
                    false => {}
                },
                _ => {}
            }
        }
        second
    }

    /// What the model is read from.
    #[must_use]
    pub fn source(&self) -> &ModelSource {
        &self.source
    }

    /// What is open.
    #[must_use]
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// For which sizes a group of the model, whose program this is, holds as one program.
    pub fn reach(&mut self, model: &Model, group: &NodeGroup, program: &GroupProgram) -> Reach {
        let mut points: Vec<Vec<i64>> = Vec::new();
        let mut free: Vec<(usize, i64)> = Vec::new();
        let mut operators = None;
        let mut bound = Vec::new();
        for at in 0..self.dimensions.len() {
            let &[one, two] = self.dimensions[at].tried.as_slice() else {
                let why = "no other size of it could be read".into();
                let node = self.dimensions[at].name.as_str().into();
                bound.push(Bound {
                    dimension: at,
                    why: Unknown { node, why },
                });
                continue;
            };
            // Each size by itself, and together with those that are known to be free.
            let mut wanted = vec![self.with(&[(at, one)]), self.with(&[(at, two)])];
            free.push((at, two));
            if free.len() > 1 {
                wanted.push(self.with(&free));
            }
            let before = points.len();
            points.extend(wanted);
            match self.operators(model, group, program, &points) {
                Ok(found) => operators = Some(found),
                Err(why) => {
                    bound.push(Bound { dimension: at, why });
                    points.truncate(before);
                    free.pop();
                }
            }
        }
        let graph = operators.and_then(|operators| with_operators(&program.graph, &operators));
        Reach {
            graph: graph.unwrap_or_else(|| program.graph.clone()),
            bound,
        }
    }

    /// The operators of a group that are right at all of these sizes and its own.
    fn operators(
        &mut self,
        model: &Model,
        group: &NodeGroup,
        program: &GroupProgram,
        points: &[Vec<i64>],
    ) -> Result<Vec<restride_graph::Op>, Unknown> {
        let hidden = |at: usize, why: &str| Unknown {
            node: match group.nodes.get(at).or(group.nodes.last()) {
                Some(&id) => model.node(id).label().into(),
                None => "group".into(),
            },
            why: why.into(),
        };
        let mut programs = Vec::new();
        for point in points {
            let other = self.read(model, point.clone());
            let Some(other) = other else {
                return Err(hidden(0, "the model is another one at other sizes"));
            };
            let same = other.groups.get(&group.nodes).filter(|it| *it == group);
            let other = same.and_then(|group| other.model.program(group).ok());
            match other.filter(|other| other.inputs == program.inputs) {
                Some(other) => programs.push(other),
                None => {
                    return Err(hidden(
                        0,
                        "its group has other nodes or inputs at other sizes",
                    ));
                }
            }
        }
        let graphs = programs.iter().map(|program| &program.graph);
        let graphs: Vec<&Graph> = std::iter::once(&program.graph).chain(graphs).collect();
        common(&graphs).map_err(|differs| match differs {
            Differs::Operators => {
                hidden(0, "its group is spelled by other operators at other sizes")
            }
            Differs::At(value) => {
                let at = program.ends.partition_point(|&end| end <= value.index());
                let what = match program.graph.op(value) {
                    restride_graph::Op::Constant(_) => {
                        "a constant that it reads follows from the size"
                    }
                    _ => "its parameters spell the size",
                };
                hidden(at, what)
            }
        })
    }

    /// The sizes of all dimensions, some of them other ones.
    fn with(&self, others: &[(usize, i64)]) -> Vec<i64> {
        let mut sizes: Vec<i64> = self.dimensions.iter().map(|it| it.size).collect();
        for &(at, size) in others {
            sizes[at] = size;
        }
        sizes
    }

    /// The model at these sizes, if it has the same nodes there.
    fn read(&mut self, model: &Model, sizes: Vec<i64>) -> Option<&Other> {
        if !self.models.contains_key(&sizes) {
            if self.models.len() >= MAX_READS {
                return None;
            }
            let mut options = self.options.clone();
            let keys = self.dimensions.iter().map(|it| it.key.clone());
            options.varied = keys.zip(sizes.iter().copied()).collect();
            let other = self.source.model(&options).ok();
            let other = other.filter(|other| is_alike(model, other)).map(|other| {
                let roles = model.nodes.iter().zip(&other.nodes);
                let mut roles = roles.map(|(one, other)| (&one.role, &other.role));
                let has_same_roles =
                    roles.all(|(one, other)| discriminant(one) == discriminant(other));
                let groups = other.groups().into_iter();
                let groups = groups.map(|group| (group.nodes.clone(), group)).collect();
                Other {
                    has_same_roles,
                    model: other,
                    groups,
                }
            });
            self.models.insert(sizes.clone(), other);
        }
        self.models.get(&sizes)?.as_ref()
    }
}

/// Whether two models have the same nodes.
fn is_alike(one: &Model, other: &Model) -> bool {
    one.nodes.len() == other.nodes.len()
        && one.nodes.iter().zip(&other.nodes).all(|(one, other)| {
            one.op == other.op
                && one.name == other.name
                && one.inputs == other.inputs
                && one.outputs == other.outputs
        })
}

//! Methods and functions by their numpy names.

use restride_graph::{GraphError, IndexRule, PadMode, ReshapeDialect, ValueId};
use restride_text::{Diagnostic, Span, Spanned, closest};

use super::arguments::{Argument, Arguments, wanted};
use super::parser::{ExpressionParser, Parsed, meaning};

/// Methods, which are functions of their tensor too.
const METHODS: &str = "reshape transpose swapaxes take take_along_axis flip roll pad tile broadcast_to squeeze \
    expand_dims flatten ravel repeat split space_to_depth depth_to_space T";

/// Functions of several tensors.
fn is_method(name: &str) -> bool {
    METHODS.split(' ').any(|method| method == name)
}

const FUNCTIONS: [&str; 3] = ["concat", "concatenate", "stack"];

/// `name(arguments)`.
pub(super) fn function(
    parser: &mut ExpressionParser<'_>,
    name: Spanned<&str>,
    mut arguments: Arguments<'_>,
    span: Span,
) -> Parsed<ValueId> {
    if FUNCTIONS.contains(&name.text) {
        return join(parser, name.text == "stack", arguments, span);
    }
    if !is_method(name.text) || name.text == "T" {
        return Err(no_function(name));
    }
    match arguments.take("x") {
        Some((Argument::Value(x), _)) => method(parser, x, name, Some(arguments), span),
        Some((other, at)) => Err(wanted("the first argument", "a tensor", &other, at)),
        None => Err(Diagnostic::new(span, "a tensor is missing")),
    }
}

/// There is no function of that name.
pub(super) fn no_function(name: Spanned<&str>) -> Diagnostic {
    let known = METHODS.split(' ').chain(FUNCTIONS);
    unknown("function", name, known.filter(|known| *known != "T"))
}

/// What other libraries call what is here.
const ELSEWHERE: [(&str, &str); 11] = [
    ("cat", "concat"),
    ("expand", "broadcast_to"),
    ("gather", "take_along_axis"),
    ("index_select", "take"),
    ("moveaxis", "transpose"),
    ("permute", "transpose"),
    ("permute_dims", "transpose"),
    ("pixel_shuffle", "depth_to_space"),
    ("pixel_unshuffle", "space_to_depth"),
    ("unsqueeze", "expand_dims"),
    ("view", "reshape"),
];

/// What computes, which nothing here does.
const COMPUTES: [&str; 14] = [
    "abs", "add", "argmax", "argsort", "astype", "cos", "exp", "max", "mean", "min", "sin", "sort",
    "sum", "to",
];

fn unknown<'n>(
    what: &str,
    name: Spanned<&str>,
    known: impl Iterator<Item = &'n str> + Clone,
) -> Diagnostic {
    let wrong = Diagnostic::new(name.span, format!("there is no {what} `{}`", name.text));
    if COMPUTES.contains(&name.text) {
        return wrong.help("restride moves elements and never computes with them or converts them");
    }
    let elsewhere = ELSEWHERE.iter().find(|(theirs, _)| *theirs == name.text);
    let meant = elsewhere.map(|(_, ours)| *ours);
    match meant.or_else(|| closest(name.text, known.clone())) {
        Some(near) => wrong.help(format!("did you mean `{near}`?")),
        None => wrong.help(match known.collect::<Vec<_>>().as_slice() {
            [one] => format!("there is only `{one}`"),
            all => format!("there are {}", all.join(", ")),
        }),
    }
}

fn join(
    parser: &mut ExpressionParser<'_>,
    stack: bool,
    mut arguments: Arguments<'_>,
    span: Span,
) -> Parsed<ValueId> {
    let mut parts = Vec::new();
    let mut axis = None;
    while arguments.has_more() {
        match arguments.take("") {
            Some((Argument::Value(part), _)) => parts.push(part),
            Some((Argument::Values(more), _)) => parts.extend(more),
            Some((Argument::Int(at), _)) if axis.is_none() => axis = Some(at),
            Some((other, at)) => return Err(wanted("a part", "a tensor", &other, at)),
            None => break,
        }
    }
    let axis = match axis {
        Some(axis) => axis,
        None => arguments.optional_int("axis")?.unwrap_or(0),
    };
    arguments.finish()?;
    let graph = &mut parser.graph;
    let done = if stack {
        let raised: Result<Vec<_>, _> = parts
            .iter()
            .map(|part| graph.unsqueeze(*part, [axis]))
            .collect();
        raised.and_then(|parts| graph.concat(parts, axis))
    } else {
        graph.concat(parts, axis)
    };
    done.map_err(|error| meaning(span, &error))
}

/// `x.name(arguments)`, or `x.name`.
pub(super) fn method(
    parser: &mut ExpressionParser<'_>,
    x: ValueId,
    name: Spanned<&str>,
    arguments: Option<Arguments<'_>>,
    span: Span,
) -> Parsed<ValueId> {
    let Some(mut arguments) = arguments else {
        if name.text == "T" {
            return parser.graph.transpose(x, []).map_err(|e| meaning(span, &e));
        }
        let wrong = unknown("property", name, ["T"].into_iter());
        return Err(match is_method(name.text) {
            true => wrong.help(format!("it is a method: `.{}(...)`", name.text)),
            false => wrong,
        });
    };
    let call = MethodCall { parser, x, span };
    let value = match name.text {
        "reshape" => call.reshape(&mut arguments),
        "transpose" => call.transpose(&mut arguments),
        "swapaxes" => call.swapaxes(&mut arguments),
        "take" => call.take(&mut arguments),
        "take_along_axis" => call.take_along_axis(&mut arguments),
        "flip" => call.flip(&mut arguments),
        "roll" => call.roll(&mut arguments),
        "pad" => call.pad(&mut arguments),
        "tile" => call.tile(&mut arguments),
        "broadcast_to" => call.broadcast_to(&mut arguments),
        "squeeze" => call.squeeze(&mut arguments),
        "expand_dims" => call.expand_dims(&mut arguments),
        "flatten" | "ravel" => call.flatten(),
        "repeat" => call.repeat(&mut arguments),
        "split" => call.split(&mut arguments),
        "space_to_depth" => call.blocks(&mut arguments, true),
        "depth_to_space" => call.blocks(&mut arguments, false),
        function if FUNCTIONS.contains(&function) => {
            let message = format!("`{function}` is a function, no method");
            let help = format!("write `{function}(x, y)`");
            return Err(Diagnostic::new(name.span, message).help(help));
        }
        "T" => {
            let help = "write `.T`, or `.transpose(1, 0)` with axes";
            return Err(Diagnostic::new(name.span, "`T` takes no arguments").help(help));
        }
        _ => return Err(unknown("method", name, METHODS.split(' '))),
    }?;
    arguments.finish()?;
    Ok(value)
}

/// A call of a method: on what, and where it stands.
pub(super) struct MethodCall<'p, 'a> {
    pub(super) parser: &'p mut ExpressionParser<'a>,
    pub(super) x: ValueId,
    pub(super) span: Span,
}

impl MethodCall<'_, '_> {
    pub(super) fn done(&self, value: Result<ValueId, GraphError>) -> Parsed<ValueId> {
        value.map_err(|error| meaning(self.span, &error))
    }

    /// An axis counted from the start.
    pub(super) fn axis(&self, name: &str, got: i64) -> Parsed<usize> {
        let rank = self.rank();
        let from_start = if got < 0 { got + rank as i64 } else { got };
        let axis = usize::try_from(from_start).ok().filter(|at| *at < rank);
        axis.ok_or_else(|| {
            let message = format!("{name}: {got} is no axis of rank {rank}");
            Diagnostic::new(self.span, message)
        })
    }

    fn rank(&self) -> usize {
        self.parser.graph.ty(self.x).rank()
    }

    fn reshape(self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let shape = arguments.rest_of_ints("shape")?;
        // As numpy has it: -1 is inferred, 0 is a size.
        let builder = self.parser.graph.reshape(self.x, shape);
        let value = builder.dialect(ReshapeDialect::TensorFlow).finish();
        self.done(value)
    }

    fn transpose(self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let perm = match arguments.has_more() {
            true => arguments.rest_of_ints("axes")?,
            false => arguments.optional_ints("axes")?.unwrap_or_default(),
        };
        // Numpy counts negative axes from the end; the graph has positions only.
        let rank = self.rank() as i64;
        let from_start = |axis: i64| {
            if axis < 0 {
                axis.saturating_add(rank)
            } else {
                axis
            }
        };
        let perm: Vec<i64> = perm.into_iter().map(from_start).collect();
        let value = self.parser.graph.transpose(self.x, perm);
        self.done(value)
    }

    fn swapaxes(self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let rank = self.rank();
        let mut axis = |name| self.axis(name, arguments.int(name)?);
        let (a, b) = (axis("axis1")?, axis("axis2")?);
        let mut perm: Vec<i64> = (0..rank as i64).collect();
        perm.swap(a, b);
        let value = self.parser.graph.transpose(self.x, perm);
        self.done(value)
    }

    /// The index tensor of an argument.
    fn indices(&mut self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        match arguments.take("indices") {
            Some((Argument::Value(value), _)) => Ok(value),
            Some((Argument::List(list), at)) => self.parser.table(&list, at),
            Some((Argument::Int(one), at)) => {
                let table = self.parser.graph.index_table([], &[one]);
                table.map_err(|error| meaning(at, &error))
            }
            Some((other, at)) => Err(wanted("indices", "an integer tensor", &other, at)),
            None => Err(Diagnostic::new(self.span, "`indices` are missing")),
        }
    }

    /// What to do along which axis: without one numpy flattens first.
    fn along(&mut self, axis: Option<i64>) -> Parsed<i64> {
        if axis.is_none() {
            let flat = self.parser.graph.reshape(self.x, [-1]);
            let flat = flat.dialect(ReshapeDialect::TensorFlow).finish();
            self.x = self.done(flat)?;
        }
        Ok(axis.unwrap_or(0))
    }

    fn take(mut self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let indices = self.indices(arguments)?;
        let axis = arguments.optional_int("axis")?;
        let rule = match arguments.take_named("mode") {
            None | Some((Argument::Word("raise"), _)) => IndexRule::ONNX,
            Some((Argument::Word("clip"), _)) => IndexRule::XLA,
            Some((Argument::Word("zero"), _)) => IndexRule::OPENVINO,
            Some((_, at)) => {
                return Err(Diagnostic::new(at, "`mode` is one of raise, clip, zero"));
            }
        };
        let axis = self.along(axis)?;
        let gather = self.parser.graph.gather(self.x, indices, rule);
        let value = gather.axis(axis).finish();
        self.done(value)
    }

    fn take_along_axis(mut self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let indices = self.indices(arguments)?;
        let axis = arguments.optional_int("axis")?.unwrap_or(-1);
        let graph = &mut self.parser.graph;
        let value = graph.gather_elements(self.x, indices, axis, IndexRule::ONNX);
        self.done(value)
    }

    fn flip(self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let axes = arguments.optional_ints("axis")?;
        let axes = axes.unwrap_or_else(|| (0..self.rank() as i64).collect());
        let value = self.parser.graph.reverse(self.x, axes);
        self.done(value)
    }

    fn roll(mut self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let Some(mut shift) = arguments.optional_ints("shift")? else {
            return Err(Diagnostic::new(self.span, "`shift` is missing"));
        };
        if let Some(axes) = arguments.optional_ints("axis")? {
            if let ([one], true) = (shift.as_slice(), axes.len() > 1) {
                shift = vec![*one; axes.len()];
            }
            let value = self.parser.graph.roll(self.x, shift, axes);
            return self.done(value);
        }
        let shape = self.parser.graph.ty(self.x).shape().to_vec();
        self.along(None)?;
        let rolled = self.parser.graph.roll(self.x, shift, [0]);
        let rolled = self.done(rolled)?;
        let back = self.parser.graph.reshape(rolled, shape).finish();
        self.done(back)
    }

    fn pad(self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let rank = self.rank();
        let (low, high): (Vec<i64>, Vec<i64>) = match arguments.take("pad_width") {
            Some((Argument::Int(n), _)) => (vec![n; rank], vec![n; rank]),
            Some((Argument::List(list), at)) => match (list.shape.as_slice(), &*list.values) {
                ([2], [before, after]) => (vec![*before; rank], vec![*after; rank]),
                ([n, 2], pairs) if *n == rank as i64 => {
                    pairs.chunks(2).map(|pair| (pair[0], pair[1])).unzip()
                }
                _ => {
                    let message = format!("`pad_width` is a pair, or one for each of {rank} axes");
                    return Err(Diagnostic::new(at, message));
                }
            },
            Some((other, at)) => return Err(wanted("pad_width", "integers", &other, at)),
            None => return Err(Diagnostic::new(self.span, "`pad_width` is missing")),
        };
        let mode = arguments.take("mode");
        let bits = arguments.take_named("constant_values");
        let mode = match mode {
            None | Some((Argument::Word("constant"), _)) => PadMode::Constant(match bits {
                None => 0,
                Some((Argument::Int(0), _)) => 0,
                Some((Argument::Int(n), at)) => {
                    let element = self.parser.graph.ty(self.x).element();
                    if !element.is_integer() {
                        let message = format!("only 0 can be the constant of {element}");
                        return Err(Diagnostic::new(at, message));
                    }
                    i128::from(n) as u128 & element.bit_mask()
                }
                Some((other, at)) => {
                    return Err(wanted("constant_values", "an integer", &other, at));
                }
            }),
            Some((Argument::Word("edge"), _)) => PadMode::Edge,
            Some((Argument::Word("reflect"), _)) => PadMode::Reflect,
            Some((Argument::Word("symmetric"), _)) => PadMode::Symmetric,
            Some((Argument::Word("wrap"), _)) => PadMode::Wrap,
            Some((_, at)) => {
                let message = "`mode` is one of constant, edge, reflect, symmetric, wrap";
                return Err(Diagnostic::new(at, message));
            }
        };
        let value = self.parser.graph.pad(self.x, low, high).mode(mode).finish();
        self.done(value)
    }

    fn tile(self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let repeats = arguments.rest_of_ints("reps")?;
        let value = self.parser.graph.tile(self.x, repeats);
        self.done(value)
    }

    fn broadcast_to(self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let shape = arguments.rest_of_ints("shape")?;
        let value = self.parser.graph.broadcast(self.x, shape).finish();
        self.done(value)
    }

    fn squeeze(self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let value = match arguments.optional_ints("axis")? {
            Some(axes) => self.parser.graph.squeeze(self.x, axes),
            None => self.parser.graph.squeeze_all(self.x),
        };
        self.done(value)
    }

    fn expand_dims(self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let axes = arguments.rest_of_ints("axis")?;
        let value = self.parser.graph.unsqueeze(self.x, axes);
        self.done(value)
    }

    fn flatten(mut self) -> Parsed<ValueId> {
        self.along(None)?;
        Ok(self.x)
    }

    /// Each element `repeats` times: a broadcast of a new axis, joined with its neighbour.
    fn repeat(mut self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let repeats = arguments.int("repeats")?;
        let axis = arguments.optional_int("axis")?;
        let axis = self.along(axis)?;
        let mut shape = self.parser.graph.ty(self.x).shape().to_vec();
        let at = self.axis("axis", axis)?;
        let raised = self.parser.graph.unsqueeze(self.x, [at as i64 + 1]);
        let raised = self.done(raised)?;
        let size = shape[at];
        shape.insert(at + 1, repeats);
        let wide = self.parser.graph.broadcast(raised, &shape).finish();
        let wide = self.done(wide)?;
        shape.remove(at + 1);
        // The broadcast was accepted, so the product fits.
        shape[at] = size.saturating_mul(repeats);
        let value = self.parser.graph.reshape(wide, shape).finish();
        self.done(value)
    }
}

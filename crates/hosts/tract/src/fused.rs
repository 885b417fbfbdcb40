//! The operator that stands for a group, and the plan it makes for the shapes at hand.

use crate::map;
use restride::{
    Answer, ElementType, Engine, Family, Graph, InputShape, Output, OutputBuffer, Program,
    RunError, TensorMut, TensorRef, TensorType, ValueId, ViewPolicy,
};
use std::borrow::Cow;
use tract_core::internal::*;

/// Where a member of a group, or its output, takes a value from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Input(usize),
    Member(usize),
}

/// One of the operators that a group stands for.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) op: Box<dyn TypedOp>,
    /// The type of its first input.
    pub(crate) dt: DatumType,
    pub(crate) inputs: TVec<Source>,
    /// Its indices, if they are known: then they are a part of the program.
    pub(crate) indices: Option<Arc<Tensor>>,
}

/// Operators in the order in which they run.
#[derive(Debug)]
pub(crate) struct Group {
    members: Vec<Member>,
    outputs: TVec<Source>,
    /// What its programs are found by, beside shapes and numbers.
    family: Family,
}

impl Group {
    pub(crate) fn new(members: Vec<Member>, outputs: TVec<Source>) -> Self {
        let family = Family::new();
        Self {
            members,
            outputs,
            family,
        }
    }

    /// The name of its last member, which is what others know it by.
    pub(crate) fn name(&self) -> &str {
        self.members.last().map_or("", |member| &member.name)
    }

    /// What comes out of it if each member makes one thing of what it reads.
    fn each<T: Clone>(
        &self,
        inputs: &[T],
        mut make: impl FnMut(&Member, TVec<T>) -> TractResult<T>,
    ) -> TractResult<TVec<T>> {
        let mut made: Vec<T> = Vec::with_capacity(self.members.len());
        let of = |source: &Source, made: &[T]| match *source {
            Source::Input(at) => inputs[at].clone(),
            Source::Member(at) => made[at].clone(),
        };
        for member in &self.members {
            let read = member
                .inputs
                .iter()
                .map(|source| of(source, &made))
                .collect();
            made.push(make(member, read).with_context(|| format!("in {}", member.name))?);
        }
        Ok(self
            .outputs
            .iter()
            .map(|source| of(source, &made))
            .collect())
    }

    /// What it does, for inputs of these shapes: numbers where operators read numbers.
    fn graph(&self, inputs: &[Given<'_>], symbols: &SymbolValues) -> TractResult<Graph> {
        let mut graph = Graph::new("group");
        let mut known: TVec<(Option<ValueId>, &[i64])> = tvec!();
        for given in inputs {
            known.push(match given {
                Given::Tensor(element, shape) => (
                    Some(graph.typed_input("", shape.tensor_type(*element)?)?),
                    &[],
                ),
                Given::Numbers(numbers) => (None, numbers),
            });
        }
        let outputs = self.each(&known, |member, read| {
            let numbers: TVec<&[i64]> = read.iter().map(|(_, numbers)| *numbers).collect();
            let data = read.iter().take(map::numbers_from(&*member.op));
            let values: Option<TVec<ValueId>> = data.map(|(value, _)| *value).collect();
            let mut values = values.context("numbers in place of a tensor")?;
            graph.begin_node(&*member.name);
            if let Some(indices) = &member.indices {
                let shape: TVec<i64> = indices.shape().iter().map(|size| *size as i64).collect();
                let indices = indices.try_as_plain_ram()?;
                values[1] = graph.index_table(shape, indices.as_slice()?)?;
            }
            let made = map::push(
                &mut graph,
                &*member.op,
                member.dt,
                &values,
                &numbers,
                symbols,
            )?;
            Ok((Some(made), &[][..]))
        })?;
        for (value, _) in outputs {
            graph.output_as(value.context("no value")?, ViewPolicy::Dense)?;
        }
        Ok(graph)
    }
}

/// What is known of an input before it is read.
enum Given<'a> {
    Tensor(ElementType, InputShape<'a>),
    Numbers(TVec<i64>),
}

/// Sizes and strides of a tensor.
type Geometry = (TVec<usize>, TVec<isize>);

/// A node in place of a group. Equal to itself alone.
#[derive(Clone, Debug)]
pub(crate) struct Fused {
    group: Arc<Group>,
    engine: Engine,
    /// Which inputs are numbers.
    numbers: TVec<bool>,
    types: TVec<DatumType>,
    symbols: TVec<Symbol>,
    /// The program, where all is known beforehand, and the shapes and strides that it was made for.
    fixed: Option<(Program, Vec<Geometry>)>,
}

impl PartialEq for Fused {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.group, &other.group)
    }
}

impl Eq for Fused {}

impl Fused {
    /// The operator for a group; `None` if it is one that restride refuses.
    pub(crate) fn new(
        group: Group,
        engine: &Engine,
        model: &TypedModel,
        inputs: &[OutletId],
    ) -> TractResult<Option<Self>> {
        let facts = inputs.iter().map(|outlet| model.outlet_fact(*outlet));
        let facts: TVec<&TypedFact> = facts.collect::<TractResult<_>>()?;
        let mut numbers: TVec<bool> = tvec!(false; inputs.len());
        let mut symbols: TVec<Symbol> = tvec!();
        for member in &group.members {
            for source in member.inputs.iter().skip(map::numbers_from(&*member.op)) {
                if let Source::Input(at) = source {
                    numbers[*at] = true;
                }
            }
            for symbol in map::dims(&*member.op).iter().flat_map(TDim::symbols) {
                if !symbols.contains(&symbol) {
                    symbols.push(symbol);
                }
            }
        }
        let mut fused = Self {
            group: Arc::new(group),
            engine: engine.clone(),
            numbers,
            types: tvec!(),
            symbols,
            fixed: None,
        };
        fused.types = fused
            .output_facts(&facts)?
            .iter()
            .map(|fact| fact.datum_type)
            .collect();
        let shapes: Option<Vec<&[usize]>> =
            facts.iter().map(|fact| fact.shape.as_concrete()).collect();
        let fixed = fused.symbols.is_empty() && !fused.numbers.contains(&true);
        if let (Some(shapes), true) = (shapes, fixed) {
            let element = |fact: &&TypedFact| map::element(fact.datum_type);
            let given = facts
                .iter()
                .zip(&shapes)
                .map(|(fact, shape)| Some(Given::Tensor(element(fact)?, InputShape::of(*shape))));
            let given: Option<TVec<_>> = given.collect();
            let given = given.context("a type that is not moved")?;
            let graph = fused.group.graph(&given, &SymbolValues::default());
            let Ok(program) = graph.and_then(|graph| Ok(engine.compile(&graph)?)) else {
                return Ok(None);
            };
            let dense = shapes
                .iter()
                .map(|shape| ((*shape).into(), Tensor::natural_strides(shape)));
            fused.fixed = Some((program, dense.collect()));
        }
        Ok(Some(fused))
    }

    /// The program for these inputs, where it is not the one that was made beforehand.
    fn looked_up(&self, ctx: &EvalContext, inputs: &[TValue]) -> TractResult<Program> {
        // All that the graph depends on: symbols, numbers, shapes and strides.
        let mut key: Vec<i64> = Vec::with_capacity(32);
        key.extend(
            self.symbols
                .iter()
                .map(|symbol| ctx.symbols.get(symbol).unwrap_or(i64::MIN)),
        );
        let mut given: TVec<Given<'_>> = tvec!();
        for (tensor, is_number) in inputs.iter().zip(&self.numbers) {
            if *is_number {
                let dims = tensor.cast_to::<TDim>()?;
                let dims = dims.try_as_plain_ram()?;
                let dims = dims.as_slice::<TDim>()?.iter();
                let numbers = dims.map(|dim| Ok(dim.eval(ctx.symbols).to_i64()?));
                let numbers = numbers.collect::<TractResult<TVec<i64>>>()?;
                key.push(numbers.len() as i64);
                key.extend_from_slice(&numbers);
                given.push(Given::Numbers(numbers));
                continue;
            }
            let element = map::element(tensor.datum_type()).context("a type that is not moved")?;
            let (shape, strides) = (tensor.shape(), tensor.strides());
            key.push(shape.len() as i64);
            key.extend(shape.iter().map(|size| *size as i64));
            key.extend(strides.iter().map(|stride| *stride as i64));
            let dense = strides == &*Tensor::natural_strides(shape);
            let shape = InputShape::of(shape);
            given.push(Given::Tensor(
                element,
                if dense {
                    shape
                } else {
                    shape.with_strides(0, strides)
                },
            ));
        }
        let build = || self.group.graph(&given, ctx.symbols);
        self.engine.keyed(&self.group.family, &key, build)
    }

    /// The program for these inputs, and its answers.
    fn run(
        &self,
        ctx: &EvalContext,
        inputs: &[TValue],
    ) -> TractResult<(Cow<'_, Program>, Vec<Answer<Fresh>>)> {
        let fits = |(tensor, (shape, strides)): (&TValue, &Geometry)| {
            tensor.shape() == &**shape && tensor.strides() == &**strides
        };
        let program = match &self.fixed {
            Some((program, expected)) if inputs.iter().zip(expected).all(fits) => {
                Cow::Borrowed(program)
            }
            _ => Cow::Owned(self.looked_up(ctx, inputs)?),
        };
        let mut read: TVec<TensorRef<'_>> = tvec!();
        for tensor in self.tensors(inputs) {
            let element = map::element(tensor.datum_type()).context("a type that is not moved")?;
            read.push(TensorRef::of(
                element,
                tensor.try_as_plain_ram()?.as_bytes(),
            ));
        }
        let answers = program.run_with(&read, |output, ty| {
            // SAFETY: any bits are an element of it, a call that ends well has written all of it, and
            // one that fails drops it.
            let tensor = unsafe { Tensor::uninitialized_dt(self.types[output], &sizes(ty))? };
            TractResult::Ok(Fresh(tensor, ty.element()))
        })?;
        Ok((program, answers))
    }

    /// Those of its inputs that are no numbers.
    fn tensors<'a>(&self, inputs: &'a [TValue]) -> impl Iterator<Item = &'a TValue> {
        let both = inputs.iter().zip(&self.numbers);
        both.filter_map(|(tensor, is_number)| (!is_number).then_some(tensor))
    }
}

/// A tensor that is being written, and what restride calls its elements.
struct Fresh(Tensor, ElementType);

impl OutputBuffer for Fresh {
    fn tensor(&mut self) -> TensorMut<'_> {
        TensorMut::of(self.1, self.0.as_bytes_mut())
    }
}

fn sizes(ty: &TensorType) -> TVec<usize> {
    ty.shape().iter().map(|size| *size as usize).collect()
}

impl EvalOp for Fused {
    not_out_of_plan!();

    fn eval(&self, ctx: &EvalContext, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let (program, answers) = match self.run(ctx, &inputs) {
            Ok(done) => done,
            // At an index outside of its axis tract panics, or takes what lies there.
            Err(error) if matches!(error.downcast_ref(), Some(RunError::Index { .. })) => {
                return Err(error);
            }
            // As it was before, and with tract's own errors.
            Err(_) => {
                return self.group.each(&inputs, |member, read| {
                    let mut made = member.op.eval(ctx, read)?;
                    made.pop().context("no output")
                });
            }
        };
        let mut made: TVec<TValue> = tvec!();
        for answer in answers {
            made.push(match answer {
                Answer::Written(Fresh(tensor, _)) => tensor.into_tvalue(),
                Answer::View { input } => {
                    let input = self.tensors(&inputs).nth(input);
                    input.context("an input that is not there")?.clone()
                }
            });
        }
        // Inputs that are handed on under another shape. Whoever is the last to take one may have its memory.
        drop(inputs);
        if program.computed() == made.len() {
            return Ok(made);
        }
        let outputs = program.outputs().iter().zip(made).map(|(output, made)| {
            let Output::View { ty, .. } = output else {
                return made;
            };
            let shape = sizes(ty);
            let strides = Tensor::natural_strides(&shape);
            // As it is, others may have it as well.
            if made.shape() == &*shape && made.strides() == &*strides {
                return made;
            }
            let mut tensor = made.into_tensor();
            // SAFETY: as many elements as before, all of them in its memory.
            unsafe { tensor.set_geometry_unchecked(&shape, &strides) };
            tensor.into_tvalue()
        });
        Ok(outputs.collect())
    }
}

impl Op for Fused {
    fn name(&self) -> StaticName {
        "Restride".into()
    }

    fn info(&self) -> TractResult<Vec<String>> {
        let members = self.group.members.iter();
        Ok(members
            .map(|member| format!("{}: {}", member.name, member.op.name()))
            .collect())
    }

    fn required_bound_symbols(&self, inputs: &[&TypedFact]) -> TVec<Symbol> {
        let mut symbols = self.symbols.clone();
        // Numbers may be constants that speak of symbols.
        for number in inputs.iter().filter_map(|fact| fact.konst.as_deref()) {
            let dims = number.try_as_plain_ram().ok();
            let dims = dims.as_ref().and_then(|dims| dims.as_slice::<TDim>().ok());
            symbols.extend(dims.into_iter().flatten().flat_map(TDim::symbols));
        }
        symbols
    }

    op_as_typed_op!();
}

impl TypedOp for Fused {
    as_op!();

    fn output_facts(&self, inputs: &[&TypedFact]) -> TractResult<TVec<TypedFact>> {
        let inputs: TVec<TypedFact> = inputs.iter().map(|fact| fact.without_value()).collect();
        self.group.each(&inputs, |member, read| {
            let read: TVec<&TypedFact> = read.iter().collect();
            let mut made = member.op.output_facts(&read)?;
            made.pop().context("no output")
        })
    }

    /// Takes the group apart: each member knows what of it a symbol is. Fuse again afterwards.
    fn set_symbols(
        &self,
        source: &TypedModel,
        node: &TypedNode,
        target: &mut TypedModel,
        mapping: &HashMap<OutletId, OutletId>,
        subs: &HashMap<Symbol, TDim>,
    ) -> TractResult<TVec<OutletId>> {
        // The members as a model of their own, whose sources are what the group reads.
        let mut apart = TypedModel {
            symbols: source.symbols.clone(),
            ..TypedModel::default()
        };
        let mut inputs: TVec<OutletId> = tvec!();
        let mut known: HashMap<OutletId, OutletId> = HashMap::new();
        for (at, outlet) in node.inputs.iter().enumerate() {
            let fact = source.outlet_fact(*outlet)?.clone();
            let input = apart.add_source(format!("{}.{at}", node.name), fact)?;
            known.insert(input, mapping[outlet]);
            inputs.push(input);
        }
        let outputs = self.group.each(&inputs, |member, read| {
            let made = apart.wire_node(&member.name, member.op.clone(), &read)?[0];
            let member = apart.node(made.node);
            let there = member
                .op
                .set_symbols(&apart, member, target, &known, subs)?;
            known.insert(made, there[0]);
            Ok(made)
        })?;
        Ok(outputs.iter().map(|outlet| known[outlet]).collect())
    }
}

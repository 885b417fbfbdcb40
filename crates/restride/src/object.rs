//! Programs ahead of time: many graphs as one object file, and a C header.

use crate::guard::guarded;
use crate::meta::Checked;
use crate::pipeline::{Options, Stages};
use crate::{Budget, CompileError, Features, Target, ViewPolicy};
use restride_ahead::{BadName, FileError, Function, FunctionBuffer, check_name};
use restride_graph::{Graph, TensorType};
use restride_jit::{Compiler, JitError, Triple, processor};
use restride_loops::Stmt;
#[cfg(feature = "unstable")]
use restride_loops::{Standalone, Verified};
use thiserror::Error;

/// Why there is no object.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The target is no machine's name.
    #[error("`{0}` is no target: one is x86_64-unknown-linux-gnu")]
    Target(String),
    /// A name is none that C has for a function.
    #[error(transparent)]
    Name(#[from] BadName),
    /// Two names are the same, or differ in case alone: their constants would have one name.
    #[error("there is a function `{0}` already, or one that differs in case alone")]
    Taken(String),
    /// A graph could not be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// No code could be made of a program.
    #[error(transparent)]
    Code(#[from] JitError),
    /// There is code, and no object file for it.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Programs that are compiled ahead of time, for a machine that need not be this one: an object file that any
/// linker takes, and the C header that goes with it.
///
/// Each program is one function, `int name(const void *const in[], void *const out[], void *scratch)`. It needs
/// no library, has no relocation and allocates nothing; all outputs are written, also those that an
/// engine would answer with views. The same graphs give the same bytes on any machine.
///
/// ```
/// use restride::{ElementType, Features, Graph, Object};
///
/// let mut g = Graph::new("to_nhwc");
/// let x = g.input("x", ElementType::F32, [1, 3, 32, 32])?;
/// let y = g.transpose(x, [0, 2, 3, 1])?;
/// g.output(y)?;
///
/// let mut object = Object::new("aarch64-unknown-linux-gnu", Features::Sse2)?;
/// object.add("to_nhwc", &g)?;
/// assert!(object.bytes()?.starts_with(b"\x7fELF"));
/// assert!(object.header().contains("#define TO_NHWC_IN0_BYTES 12288\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Object {
    machine: Triple,
    compiler: Compiler,
    options: Options,
    functions: Vec<Function>,
}

impl Object {
    /// An empty object for a machine by its name, such as `aarch64-unknown-linux-gnu`. `level` is what code may
    /// use of an x86-64; of others there is one level only.
    pub fn new(target: &str, level: Features) -> Result<Self, ObjectError> {
        let unknown = || ObjectError::Target(target.escape_debug().collect());
        let machine: Triple = target.parse().map_err(|_| unknown())?;
        let compiler = Compiler::for_machine(&machine, level)?;
        let processor = processor(&machine).ok_or_else(unknown)?;
        Ok(Self {
            compiler,
            machine,
            options: Options {
                views: ViewPolicy::Copy,
                target: Target::of(processor, level),
                ..Options::default()
            },
            functions: Vec::new(),
        })
    }

    /// What programs are planned for.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.options.target
    }

    /// What compiling each graph may cost; by default what it may cost an engine.
    #[must_use]
    pub fn within(mut self, budget: Budget) -> Self {
        self.options.budget = budget;
        self
    }

    /// Compiles a graph to a function of this name.
    pub fn add(&mut self, name: &str, graph: &Graph) -> Result<(), ObjectError> {
        check_name(name)?;
        let same = |known: &Function| known.name.eq_ignore_ascii_case(name);
        if self.functions.iter().any(same) {
            return Err(ObjectError::Taken(name.into()));
        }
        let stages = guarded(|| Stages::of(graph, &self.options));
        let stages = stages.map_err(CompileError::Panicked)??;
        let inputs = graph.inputs().iter();
        let inputs = inputs.map(|&input| buffer(graph.label(input), graph.ty(input)));
        let outputs = graph.outputs().iter();
        let outputs =
            outputs.map(|output| buffer(graph.label(output.value), &graph.output_type(output)));
        self.functions.push(Function {
            name: name.into(),
            code: self.compiler.standalone(&stages.kernel)?,
            text: graph.to_string(),
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            refusals: refusals(graph, &stages),
        });
        Ok(())
    }

    /// The code that an object for this machine has for a kernel.
    #[cfg(feature = "unstable")]
    pub fn code(&mut self, kernel: &Verified) -> Result<Standalone, ObjectError> {
        Ok(self.compiler.standalone(kernel)?)
    }

    /// The object file.
    pub fn bytes(&self) -> Result<Vec<u8>, ObjectError> {
        Ok(restride_ahead::object(&self.machine, &self.functions)?)
    }

    /// The C header.
    #[must_use]
    pub fn header(&self) -> String {
        restride_ahead::header(&self.machine, &self.functions)
    }

    /// The name of each function, in order, and the bytes of its code and of its constants.
    pub fn functions(&self) -> impl Iterator<Item = (&str, usize, usize)> + '_ {
        self.functions.iter().map(|function| {
            let code = &function.code;
            (
                function.name.as_str(),
                code.code,
                code.bytes.len() - code.code,
            )
        })
    }
}

fn buffer(label: impl std::fmt::Display, ty: &TensorType) -> FunctionBuffer {
    FunctionBuffer {
        label: format!("{label}: {ty}"),
        element: ty.element(),
        length: ty.required_elements(),
    }
}

/// What the function of a graph returns when an index is out of range, and which one that is.
fn refusals(graph: &Graph, stages: &Stages) -> Vec<(u64, String)> {
    let mut codes = Vec::new();
    stages.kernel.visit(|stmt| {
        if let Stmt::Check { code, .. } = stmt {
            codes.push(*code);
        }
    });
    codes.sort_unstable();
    codes.dedup();
    let text = |code: u32| {
        let check = stages.plan.checks.get(code as usize)?;
        let Checked { op, axis, .. } = Checked::of(graph, check)?;
        Some(format!(
            "{op}: an index is outside axis {axis} of size {}",
            check.limit
        ))
    };
    let all = codes.into_iter();
    all.map(|code| {
        let what = text(code).unwrap_or_else(|| "an index is out of range".into());
        (u64::from(code) + 1, what)
    })
    .collect()
}

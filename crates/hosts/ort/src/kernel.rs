//! A node of a session: its program, and how it is called.

use crate::api::{Api, Opaque, Status};
use crate::element;
use restride::{
    Config, Engine, Graph, InputShape, Output, ParallelFor, Template, TensorMut, TensorRef,
    ViewPolicy,
};
use smallvec::SmallVec;
use std::ffi::{c_char, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::ThreadId;

/// All nodes of all sessions share one engine, and with it what is compiled.
static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    Engine::new(Config {
        // ONNX Runtime's tensors are dense, and each has memory of its own.
        views: ViewPolicy::Copy,
        ..Config::default()
    })
});

/// So many tensors and sizes need no allocation.
const FEW: usize = 8;
const SIZES: usize = 32;

/// Calls that write less are not worth a second thread.
const SHARED: usize = 1 << 17;

/// After so many shared calls in a row to which no other thread came there is none.
const PATIENCE: u32 = 16;

/// A node.
pub(crate) struct Kernel {
    api: Api,
    template: Template,
    /// Shared calls in a row that nobody helped with.
    unhelped: AtomicU32,
}

impl Kernel {
    /// Reads the program of a node.
    ///
    /// # Safety
    /// `info` has a node's attributes.
    pub(crate) unsafe fn new(api: Api, info: *const Opaque) -> Result<Kernel, Status> {
        let name = c"program".as_ptr();
        let mut size = 0;
        // SAFETY: the attributes are the caller's; without room the size is asked for.
        api.check(unsafe { api.attribute_text(info, name, null_mut(), &mut size) })?;
        let mut text = vec![0u8; size];
        let start = text.as_mut_ptr().cast::<c_char>();
        // SAFETY: there is as much room as was said.
        api.check(unsafe { api.attribute_text(info, name, start, &mut size) })?;
        Ok(Kernel {
            api,
            template: Template::new(parse(&text).map_err(|why| api.failure(&why))?),
            unhelped: AtomicU32::new(0),
        })
    }

    pub(crate) fn api(&self) -> Api {
        self.api
    }

    /// One call.
    ///
    /// # Safety
    /// `context` is the one of this call.
    pub(crate) unsafe fn run(&self, context: *mut Opaque) -> Result<(), Status> {
        let api = self.api;
        let graph = self.template.graph();
        let count = graph.inputs().len();
        let (mut given, mut wanted) = (0, 0);
        // SAFETY: the context is the caller's, here and below.
        api.check(unsafe { api.input_count(context, &mut given) })?;
        if given != count {
            return Err(api.failure(&format!("{given} inputs for a program of {count}")));
        }
        // SAFETY: see above.
        api.check(unsafe { api.output_count(context, &mut wanted) })?;
        let made = graph.outputs().len();
        if wanted != made {
            return Err(api.failure(&format!("{wanted} outputs of a program of {made}")));
        }
        let mut sizes: SmallVec<[i64; SIZES]> = SmallVec::new();
        let mut ends: SmallVec<[usize; FEW]> = SmallVec::new();
        let mut starts: SmallVec<[*mut c_void; FEW]> = SmallVec::new();
        for (at, &input) in graph.inputs().iter().enumerate() {
            let (mut value, mut start) = (null(), null_mut());
            // SAFETY: there are so many inputs.
            api.check(unsafe { api.input(context, at, &mut value) })?;
            // SAFETY: inputs are tensors.
            let number = unsafe { api.type_of(value, &mut sizes) }?;
            let element = graph.ty(input).element();
            if !element::is(number, element) {
                let what =
                    format!("input {at} has elements of ONNX's type {number}, not {element}");
                return Err(api.failure(&what));
            }
            // SAFETY: likewise; nothing is written to it.
            api.check(unsafe { api.tensor_data(value.cast_mut(), &mut start) })?;
            ends.push(sizes.len());
            starts.push(start);
        }
        let begins = std::iter::once(0).chain(ends.iter().copied());
        let shapes = begins
            .zip(&ends)
            .map(|(from, &to)| InputShape::dense(&sizes[from..to]));
        let shapes: SmallVec<[InputShape<'_>; FEW]> = shapes.collect();
        let program = ENGINE
            .specialise(&self.template, &shapes)
            .map_err(|error| api.failure(&error.to_string()))?;
        let inputs = program.inputs().iter().zip(&starts).map(|(ty, &start)| {
            let bytes = ty.byte_size();
            // SAFETY: a dense tensor of this type, as was just seen.
            unsafe { TensorRef::from_raw(ty.element(), somewhere(start, bytes), bytes) }
        });
        let inputs: SmallVec<[TensorRef<'_>; FEW]> = inputs.collect();
        let mut outputs: SmallVec<[TensorMut<'_>; FEW]> = SmallVec::new();
        let mut written = 0;
        for (at, output) in program.outputs().iter().enumerate() {
            let Output::Computed { ty, .. } = output else {
                return Err(api.failure("an output is a view"));
            };
            let (shape, bytes) = (ty.shape(), ty.byte_size());
            let (mut value, mut start) = (null_mut(), null_mut());
            // SAFETY: ONNX Runtime makes the output of this shape, or says what is wrong.
            api.check(unsafe { api.output(context, at, shape.as_ptr(), shape.len(), &mut value) })?;
            // SAFETY: it is a tensor.
            api.check(unsafe { api.tensor_data(value, &mut start) })?;
            // SAFETY: a dense tensor of this type that nobody else has meanwhile.
            outputs.push(unsafe {
                TensorMut::from_raw(ty.element(), somewhere(start, bytes).cast_mut(), bytes)
            });
            written += bytes;
        }
        let alone = written < SHARED || self.unhelped.load(Ordering::Relaxed) >= PATIENCE;
        let done = match alone {
            true => program.run(&inputs, &mut outputs),
            false => {
                let threads = Threads::new(api, context);
                let done = program.run_on(&threads, &inputs, &mut outputs);
                match threads.helped.into_inner() {
                    true => self.unhelped.store(0, Ordering::Relaxed),
                    false => {
                        self.unhelped.fetch_add(1, Ordering::Relaxed);
                    }
                }
                done
            }
        };
        done.map_err(|error| api.failure(&error.to_string()))
    }
}

/// A program in the text form, up to the 0 that ends it.
pub(crate) fn parse(text: &[u8]) -> Result<Graph, String> {
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
    Graph::parse(text).map_err(|errors| errors.to_string())
}

/// An address; for no bytes any will do.
fn somewhere(start: *mut c_void, bytes: usize) -> *const u8 {
    match start.is_null() && bytes == 0 {
        true => NonNull::dangling().as_ptr(),
        false => start.cast::<u8>().cast_const(),
    }
}

/// The session's threads.
struct Threads {
    api: Api,
    context: *const Opaque,
    caller: ThreadId,
    helped: AtomicBool,
}

impl Threads {
    fn new(api: Api, context: *const Opaque) -> Threads {
        Threads {
            api,
            context,
            caller: std::thread::current().id(),
            helped: AtomicBool::new(false),
        }
    }
}

impl ParallelFor for Threads {
    fn width(&self) -> usize {
        static WIDTH: LazyLock<usize> =
            LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
        *WIDTH
    }

    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
        struct Share<'a> {
            body: &'a (dyn Fn(usize) + Sync),
            caller: ThreadId,
            helped: &'a AtomicBool,
        }
        unsafe extern "C" fn part(user: *mut c_void, at: usize) {
            // SAFETY: what is passed below, which outlives the call.
            let share = unsafe { &*user.cast_const().cast::<Share<'_>>() };
            if std::thread::current().id() != share.caller {
                share.helped.store(true, Ordering::Relaxed);
            }
            (share.body)(at);
        }
        let share = Share {
            body,
            caller: self.caller,
            helped: &self.helped,
        };
        let user = (&raw const share).cast_mut().cast();
        // SAFETY: the context is that of the call, which waits until all parts are done.
        let status = unsafe { self.api.parallel_for(self.context, part, count, 0, user) };
        // Whoever asked does what is left out.
        self.api.went_well(status);
    }
}

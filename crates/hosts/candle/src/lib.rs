//! Moving the tensors of candle with restride.
//!
//! candle answers `transpose`, `narrow` and their kin with views, and pays when somebody needs the
//! elements in a row: `contiguous`, `reshape` of a view, `cat`. These functions do the same, to the
//! bit, in one pass over memory whatever the strides are:
//!
//! ```
//! use candle_core::{Device, Tensor};
//!
//! let image = Tensor::arange(0u8, 48, &Device::Cpu)?.reshape((4, 4, 3))?;
//! let planes = restride_candle::contiguous(&image.permute((2, 0, 1))?)?;
//! assert!(planes.is_contiguous());
//! assert_eq!(planes.narrow(0, 1, 1)?.flatten_all()?.to_vec1::<u8>()?[..3], [1, 4, 7]);
//! # Ok::<(), candle_core::Error>(())
//! ```
//!
//! A chain that would copy several times is one pass with [`fuse`]:
//!
//! ```
//! use candle_core::{DType, Device, Tensor};
//! use restride_candle::fuse;
//!
//! // Windows of 4 by 4, as a vision transformer cuts them: [1, 8, 8, 5] to [4, 16, 5].
//! let x = Tensor::zeros((1, 8, 8, 5), DType::F32, &Device::Cpu)?;
//! let windows = fuse(&[&x], |g, x| {
//!     let cut = g.reshape(x[0], [1, 2, 4, 2, 4, 5]).finish()?;
//!     let turned = g.transpose(cut, [0, 1, 3, 2, 4, 5])?;
//!     g.reshape(turned, [4, 16, 5]).finish()
//! })?;
//! assert_eq!(windows.dims(), [4, 16, 5]);
//! # Ok::<(), candle_core::Error>(())
//! ```
//!
//! Tensors on other devices, tensors whose gradient is tracked and dtypes of less than a byte are left to
//! candle, and so is whatever restride refuses; so errors are those of candle. [`fuse`] alone has nobody to leave
//! them to, and says so.
//!
//! Every shape and layout has a program, in the cache of one [`engine`] for the process. One that has
//! not been seen costs some microseconds, see `Engine::specialise`.

mod storage;

use candle_core::backend::BackendStorage as _;
use candle_core::shape::Dim;
use candle_core::{
    CpuStorage, DType, Error, Layout, Result, Shape, Storage, StorageRef, Tensor, op::BackpropOp,
};
use restride::{
    Answer, ChannelAxis, Config, DepthOrder, Engine, Graph, GraphError, IndexRule, OutOfRange,
    Output, OutputBuffer as _, Program, RunError, TensorType, ValueId, ViewPolicy,
};
use std::panic::Location;
use std::sync::LazyLock;
use storage::Fresh;

/// The engine that all functions of this crate share: its cache is bounded, its `stats` say what has been
/// compiled, and `clear` forgets.
pub fn engine() -> &'static Engine {
    static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
        Engine::new(Config {
            views: ViewPolicy::Dense,
            ..Config::default()
        })
    });
    &ENGINE
}

/// The tensor with its elements in a row: itself if they are, else a copy. As `Tensor::contiguous`.
pub fn contiguous(tensor: &Tensor) -> Result<Tensor> {
    if tensor.is_contiguous() {
        return Ok(tensor.clone());
    }
    written(tensor).or_else(|_| tensor.contiguous())
}

fn written(tensor: &Tensor) -> Result<Tensor> {
    ours(tensor)?;
    let (guard, layout) = tensor.storage_and_layout();
    Ok(fresh(
        to_contiguous(cpu(Some(&guard))?, layout)?,
        layout.shape(),
    ))
}

/// What a layout shows of a storage, in a row. For custom operators, which have no tensors.
pub fn to_contiguous(storage: &CpuStorage, layout: &Layout) -> Result<CpuStorage> {
    let element = storage::element(storage.dtype())?;
    let from = storage::input(storage, layout)?;
    let mut to = Fresh::new(layout.shape(), element)?;
    engine()
        .write_dense(element, storage::shape(layout), from, to.tensor())
        .map_err(Error::wrap)?;
    Ok(to.written())
}

/// Tensors one after the other along an axis, in a row whatever their layouts are. As `Tensor::cat`.
pub fn cat<T: AsRef<Tensor>, D: Dim>(tensors: &[T], dim: D) -> Result<Tensor> {
    let all: Vec<&Tensor> = tensors.iter().map(AsRef::as_ref).collect();
    let [first, _, ..] = all[..] else {
        return Tensor::cat(tensors, dim);
    };
    let axis = dim.to_index(first.shape(), "cat")?;
    fuse(&all, |g, x| g.concat(x, axis as i64)).or_else(|_| Tensor::cat(tensors, axis))
}

/// The rows, along an axis, that a list of indices names; the tensor may have any layout. As
/// `Tensor::index_select`.
pub fn index_select<D: Dim>(tensor: &Tensor, indices: &Tensor, dim: D) -> Result<Tensor> {
    let axis = dim.to_index(tensor.shape(), "index-select")?;
    let theirs = || tensor.contiguous()?.index_select(indices, axis);
    // To candle the largest number of the type is no index but a row of zeros. Elsewhere that is out of range,
    // refused, and left to candle.
    let largest_is_a_row = indices.dtype() == DType::U8 && tensor.dim(axis)? > u8::MAX.into();
    if largest_is_a_row || indices.rank() != 1 {
        return theirs();
    }
    let rule = IndexRule {
        out_of_range: OutOfRange::Error,
        wrap: false,
    };
    let rows = fuse(&[tensor, indices], |g, x| {
        g.gather(x[0], x[1], rule).axis(axis as i64).finish()
    });
    rows.or_else(|_| theirs())
}

/// The tensor with some of its axes read backwards. As `Tensor::flip`.
pub fn flip(tensor: &Tensor, dims: &[usize]) -> Result<Tensor> {
    let axes: Vec<i64> = dims.iter().map(|dim| *dim as i64).collect();
    fuse(&[tensor], |g, x| g.reverse(x[0], axes)).or_else(|_| tensor.contiguous()?.flip(dims))
}

/// The tensor with an axis turned around by so many places. As `Tensor::roll`.
pub fn roll<D: Dim>(tensor: &Tensor, shift: i32, dim: D) -> Result<Tensor> {
    let axis = dim.to_index(tensor.shape(), "roll")?;
    if tensor.dim(axis)? == 0 {
        return Ok(tensor.clone());
    }
    fuse(&[tensor], |g, x| {
        g.roll(x[0], [shift.into()], [axis as i64])
    })
    .or_else(|_| tensor.roll(shift, axis))
}

/// Channels spread over blocks of pixels. As `candle_nn::ops::pixel_shuffle`.
pub fn pixel_shuffle(tensor: &Tensor, factor: usize) -> Result<Tensor> {
    let (b, channels, h, w) = tensor.dims4()?;
    let shuffled = fuse(&[tensor], |g, x| {
        let blocks = g.depth_to_space(x[0], factor as i64);
        let blocks = blocks.order(DepthOrder::DepthFirst);
        blocks.channels(ChannelAxis::First).finish()
    });
    shuffled.or_else(|_| {
        let c = channels / factor / factor;
        tensor
            .reshape((b, c, factor, factor, h, w))?
            .permute((0, 1, 4, 2, 5, 3))?
            .reshape((b, c, h * factor, w * factor))
    })
}

/// Each head of a key or value cache, so many times. As `candle_transformers::utils::repeat_kv`.
pub fn repeat_kv(tensor: &Tensor, times: usize) -> Result<Tensor> {
    let (b, heads, length, size) = tensor.dims4()?;
    if times == 1 {
        return Ok(tensor.clone());
    }
    let [b_, heads_, times_, length_, size_] = [b, heads, times, length, size].map(|n| n as i64);
    let repeated = fuse(&[tensor], |g, x| {
        let apart = g.unsqueeze(x[0], [2])?;
        let all = g
            .broadcast(apart, [b_, heads_, times_, length_, size_])
            .finish()?;
        g.reshape(all, [b_, heads_ * times_, length_, size_])
            .finish()
    });
    repeated.or_else(|_| {
        Tensor::cat(&vec![tensor; times], 2)?.reshape((b, heads * times, length, size))
    })
}

/// A chain of moves as one pass: the function says it in restride's operators, on values that stand for
/// the tensors.
///
/// It is called each time, with the shapes at hand, and may use them freely: what it builds is what is looked up
/// among what has been compiled. What comes out is in a row, or the tensor itself under another shape. Errors say where
/// it was called, and the node that the chain itself has begun with `Graph::begin_node`.
#[track_caller]
pub fn fuse(
    tensors: &[&Tensor],
    chain: impl FnOnce(&mut Graph, &[ValueId]) -> std::result::Result<ValueId, GraphError>,
) -> Result<Tensor> {
    let mut all = fuse_all(tensors, |g, x| Ok(vec![chain(g, x)?]))?;
    all.pop().ok_or_else(|| Error::msg("no output"))
}

/// As [`fuse`], for chains with several ends.
#[track_caller]
pub fn fuse_all(
    tensors: &[&Tensor],
    chain: impl FnOnce(&mut Graph, &[ValueId]) -> std::result::Result<Vec<ValueId>, GraphError>,
) -> Result<Vec<Tensor>> {
    let place = Location::caller();
    one_pass(tensors, chain).map_err(|error| error.context(format!("fuse at {place}")))
}

fn one_pass(
    tensors: &[&Tensor],
    chain: impl FnOnce(&mut Graph, &[ValueId]) -> std::result::Result<Vec<ValueId>, GraphError>,
) -> Result<Vec<Tensor>> {
    let mut graph = Graph::new("chain");
    let mut values = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        ours(tensor)?;
        let element = storage::element(tensor.dtype())?;
        let ty = storage::shape(tensor.layout()).tensor_type(element);
        let ty = ty.map_err(Error::wrap)?;
        values.push(graph.typed_input("", ty).map_err(Error::wrap)?);
    }
    let outputs = chain(&mut graph, &values).map_err(Error::wrap)?;
    for output in outputs {
        graph.output(output).map_err(Error::wrap)?;
    }
    let program = engine().compile_in_tiers(&graph).map_err(Error::wrap)?;
    call(&program, tensors).map_err(|failed| failed.0)
}

/// Runs a program whose inputs have the layouts of these tensors.
fn call(program: &Program, tensors: &[&Tensor]) -> std::result::Result<Vec<Tensor>, Failed> {
    // Tensors may share storage, which must not be locked twice: a writer may wait in between.
    let place = |tensor: &&Tensor| std::ptr::from_ref(&*tensor.storage_and_layout().0);
    let places: Vec<*const Storage> = tensors.iter().map(place).collect();
    let first = |at: usize| places.iter().position(|place| *place == places[at]);
    let mut held: Vec<Option<StorageRef<'_>>> = Vec::with_capacity(tensors.len());
    for (at, tensor) in tensors.iter().enumerate() {
        let new = first(at) == Some(at);
        held.push(new.then(|| tensor.storage_and_layout().0));
    }
    let mut inputs = Vec::with_capacity(tensors.len());
    for (at, tensor) in tensors.iter().enumerate() {
        let storage = first(at).and_then(|at| held[at].as_deref());
        inputs.push(storage::input(cpu(storage)?, tensor.layout())?);
    }
    let answers = program.run_with(&inputs, |_, ty| {
        Ok::<_, Failed>(Fresh::new(&shape(ty), ty.element())?)
    })?;
    let outputs = program.outputs().iter().zip(answers);
    let outputs = outputs.map(|(output, answer)| {
        let (Output::View { ty, .. } | Output::Computed { ty, .. }) = output;
        match answer {
            Answer::Written(to) => Ok(fresh(to.written(), &shape(ty))),
            Answer::View { input } => Ok(in_order(tensors[input])?.reshape(shape(ty))?),
        }
    });
    outputs.collect()
}

/// A tensor's own storage as it lies there: what a view shows of one that is all of its storage, in whatever
/// order its axes are.
fn in_order(tensor: &Tensor) -> Result<Tensor> {
    let mut axes: Vec<usize> = (0..tensor.rank()).collect();
    axes.sort_by_key(|axis| std::cmp::Reverse(tensor.stride()[*axis]));
    let tensor = tensor.permute(axes)?;
    match tensor.is_contiguous() {
        true => Ok(tensor),
        false => Err(Error::msg("a view of a part of a tensor")),
    }
}

/// An error on the way to a call and in it.
struct Failed(Error);

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<RunError> for Failed {
    fn from(error: RunError) -> Self {
        Self(Error::wrap(error))
    }
}

/// Whether a tensor is one that this crate moves: in this process's memory, and with no gradient to be told of.
fn ours(tensor: &Tensor) -> Result<()> {
    match tensor.device().is_cpu() && !tensor.track_op() {
        true => Ok(()),
        false => Err(Error::msg("a tensor that is left to candle")),
    }
}

fn cpu(storage: Option<&Storage>) -> Result<&CpuStorage> {
    match storage {
        Some(Storage::Cpu(storage)) => Ok(storage),
        _ => Err(Error::msg("a tensor of another device")),
    }
}

fn shape(ty: &TensorType) -> Shape {
    let sizes = ty.shape().iter().map(|size| *size as usize);
    Shape::from(sizes.collect::<Vec<_>>())
}

fn fresh(storage: CpuStorage, shape: &Shape) -> Tensor {
    Tensor::from_storage(Storage::Cpu(storage), shape, BackpropOp::none(), false)
}

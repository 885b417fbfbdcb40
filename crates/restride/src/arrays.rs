//! Arrays of the crate `ndarray`, copied into each other by programs.

use crate::{
    CompileError, DenseError, Element, Engine, InputShape, RunError, TensorMut, TensorRef,
};
use ndarray::{Array, ArrayRef, CowArray, Dimension};
use restride_graph::{Graph, Strided};
use std::mem::MaybeUninit;
use thiserror::Error;

/// Why an array was not copied.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// The arrays have different shapes; there is no broadcasting.
    #[error("an array of shape {source_shape:?} is assigned to one of shape {shape:?}")]
    Shape {
        /// That of the array that is written.
        shape: Vec<usize>,
        /// That of the other.
        source_shape: Vec<usize>,
    },
    /// No program copies it: it has more than 32 axes.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// It could not be copied.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<DenseError> for ArrayError {
    fn from(error: DenseError) -> Self {
        match error {
            DenseError::Compile(error) => Self::Compile(error),
            DenseError::Run(error) => Self::Run(error),
        }
    }
}

/// What restride does for arrays: what ndarray does itself element by element, at the speed of memory.
///
/// That holds for arrays whose elements lie together in whatever order: permuted, reversed, merged. A
/// program may read what lies between the elements of the others, steps and crops, and that may be
/// another array on which another thread is at work; so ndarray copies them itself.
///
/// ```
/// use ndarray::{Array3, s};
/// use restride::{ArrayExt, Engine};
///
/// let engine = Engine::default();
/// let image = Array3::from_shape_fn((480, 640, 3), |(y, x, c)| (y + x + c) as u8);
/// // Upside down, as planes.
/// let mut planes = Array3::zeros((3, 480, 640));
/// let view = image.slice(s![..;-1, .., ..]).permuted_axes([2, 0, 1]);
/// planes.assign_from(&engine, &view)?;
/// assert_eq!(planes[[1, 0, 7]], image[[479, 7, 1]]);
///
/// let rows = view.standard_layout_with(&engine)?;
/// assert!(rows.is_standard_layout() && rows == planes);
/// # Ok::<(), restride::ArrayError>(())
/// ```
pub trait ArrayExt<A: Element, D: Dimension> {
    /// The array in standard layout: itself if it is, else a copy.
    fn standard_layout_with(&self, engine: &Engine) -> Result<CowArray<'_, A, D>, ArrayError>;

    /// Copies an array of the same shape into this one, whatever the layouts of both are.
    fn assign_from(&mut self, engine: &Engine, source: &ArrayRef<A, D>) -> Result<(), ArrayError>;
}

/// Where the elements of an array lie.
struct ArrayPlace {
    /// Elements from the lowest address to the first element.
    offset: usize,
    /// Elements from the lowest address to the end of the highest.
    span: usize,
}

impl ArrayPlace {
    /// Whether there is something between the elements.
    fn has_gaps(&self, elements: usize) -> bool {
        self.span > elements
    }

    fn of<A, D: Dimension>(array: &ArrayRef<A, D>) -> Self {
        if array.is_empty() {
            return Self { offset: 0, span: 0 };
        }
        let (mut below, mut above) = (0, 0);
        for (&size, &stride) in array.shape().iter().zip(array.strides()) {
            let reach = (size - 1) * stride.unsigned_abs();
            match stride < 0 {
                true => below += reach,
                false => above += reach,
            }
        }
        Self {
            offset: below,
            span: below + above + 1,
        }
    }
}

/// Writes an array, in standard layout, to so many elements.
fn write_dense<A: Element, D: Dimension>(
    engine: &Engine,
    source: &ArrayRef<A, D>,
    to: &mut [MaybeUninit<A>],
) -> Result<(), ArrayError> {
    let place = ArrayPlace::of(source);
    debug_assert!(
        !place.has_gaps(source.len()),
        "another's memory would be read"
    );
    let shape = InputShape::of(source.shape()).with_strides(place.offset, source.strides());
    let (from, to) = (bytes_of(source, &place), TensorMut::uninit(to));
    Ok(engine.write_dense(A::ELEMENT, shape, from, to)?)
}

/// The memory that an array without gaps lies in.
fn bytes_of<'a, A: Element, D: Dimension>(
    array: &'a ArrayRef<A, D>,
    place: &ArrayPlace,
) -> TensorRef<'a> {
    let first = array.as_ptr().wrapping_sub(place.offset);
    // SAFETY: it is the array's elements, all of them in that many places (or several in one), and nobody
    // writes to the array while it is borrowed.
    unsafe { TensorRef::from_values(first, place.span) }
}

impl<A: Element, D: Dimension> ArrayExt<A, D> for ArrayRef<A, D> {
    fn standard_layout_with(&self, engine: &Engine) -> Result<CowArray<'_, A, D>, ArrayError> {
        if self.is_standard_layout() {
            return Ok(CowArray::from(self.view()));
        }
        if ArrayPlace::of(self).has_gaps(self.len()) {
            let mut made = Array::<A, D>::uninit(self.raw_dim());
            self.assign_to(&mut made);
            // SAFETY: all of its elements have been written.
            return Ok(CowArray::from(unsafe { made.assume_init() }));
        }
        let mut made = Array::<A, D>::uninit(self.raw_dim());
        if let Some(to) = made.as_slice_mut() {
            write_dense(engine, self, to)?;
        }
        // SAFETY: all of its elements have been written: a call that ends well writes them, and a
        // fresh array is one slice.
        Ok(CowArray::from(unsafe { made.assume_init() }))
    }

    fn assign_from(&mut self, engine: &Engine, source: &ArrayRef<A, D>) -> Result<(), ArrayError> {
        if self.shape() != source.shape() {
            return Err(ArrayError::Shape {
                shape: self.shape().to_vec(),
                source_shape: source.shape().to_vec(),
            });
        }
        let (from, to) = (ArrayPlace::of(source), ArrayPlace::of(self));
        if from.has_gaps(source.len()) {
            self.assign(source);
            return Ok(());
        }
        if let Some(to) = self.as_slice_mut() {
            let length = to.len();
            // SAFETY: the same elements; only values are written to them.
            let to = unsafe {
                std::slice::from_raw_parts_mut(to.as_mut_ptr().cast::<MaybeUninit<A>>(), length)
            };
            return write_dense(engine, source, to);
        }
        if to.span == 0 {
            return Ok(());
        }
        let numbers = |list: &[isize]| list.iter().map(|stride| *stride as i64).collect();
        let sizes: Vec<i64> = self.shape().iter().map(|size| *size as i64).collect();
        let mut graph = Graph::new("assign");
        let ty = restride_graph::TensorType::strided(
            A::ELEMENT,
            &sizes,
            Strided {
                offset: from.offset as i64,
                strides: numbers(source.strides()),
            },
        );
        let ty = ty.map_err(|problem| CompileError::InputType { input: 0, problem })?;
        let x = graph.typed_input("x", ty).map_err(CompileError::from)?;
        let layout = Strided {
            offset: to.offset as i64,
            strides: numbers(self.strides()),
        };
        graph
            .strided_output(x, layout)
            .map_err(CompileError::from)?;
        let program = engine.compile(&graph)?;
        let first = self.as_mut_ptr().wrapping_sub(to.offset);
        // SAFETY: both ends are elements of this array, which is borrowed for nobody else; of what lies
        // between its elements nothing is written.
        let written = unsafe { TensorMut::from_values(first, to.span) };
        program.run(&[bytes_of(source, &from)], &mut [written])?;
        Ok(())
    }
}

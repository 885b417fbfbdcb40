//! The oracle: what every operator means, index by index.
//!
//! Each operator is one equation: the index of an output element is turned into the index of the
//! input element that it shows, or into bits. There are no strides, no composed layouts and no
//! shared arithmetic here: this module uses neither the shape inference nor the slice resolution
//! of the rest of the crate, so that agreeing with them says something. It works the shapes out
//! itself, element by element, and is as slow as that sounds.
//!
//! Tensors go in and come out dense; [`Tensor::read`] and [`Tensor::write_into`] go through a
//! layout.

mod blocks;
mod eval;
mod gathers;
mod pads;
mod refusal;
mod shapes;
mod slices;
mod tensor;
mod views;
mod walk;

pub use eval::{OracleError, eval, eval_op};
pub use refusal::OpError;
pub use tensor::{Tensor, TensorError};

//! restride as an operator of ONNX Runtime: `Move` of the domain `restride`, which
//! `restride rewrite` puts in the place of a model's movement.
//!
//! The library is registered by its path, and that is all:
//! `session_options.register_custom_ops_library(path)`. The operator takes any number of tensors of
//! any elements and gives any number of them; its attribute `program` is a graph in restride's text
//! form, whose input shapes are samples. Every shape that comes along is specialised once and kept.
//!
//! Of ONNX Runtime's interface only what is needed is declared here. Versions only add to it, and
//! every one from 1.20 on is served.

mod api;
mod element;
mod infer;
mod kernel;
mod operator;

use api::{Api, ApiBase, Opaque, Status};
use std::sync::Mutex;

/// Our domain in each ONNX Runtime that asked for it: there may be several in one process. It has to
/// live for as long as any session, so it is never freed.
static DOMAINS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// Adds the operator to a session's options. ONNX Runtime finds this function by its name.
///
/// # Safety
/// As ONNX Runtime calls it: with options that are valid meanwhile, and an interface that is for ever.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn RegisterCustomOps(options: *mut Opaque, base: *const ApiBase) -> Status {
    // SAFETY: the caller's.
    let api = match unsafe { Api::of(base) } {
        Ok(api) => api,
        Err(status) => return status,
    };
    let Ok(mut domains) = DOMAINS.lock() else {
        return api.failure("an earlier registration failed");
    };
    let known = domains.iter().find(|(table, _)| *table == api.address());
    let domain = match known {
        Some((_, domain)) => *domain as *mut Opaque,
        None => match operator::domain(api) {
            Ok(domain) => {
                domains.push((api.address(), domain as usize));
                domain
            }
            Err(status) => return status,
        },
    };
    // SAFETY: both are valid, and the domain stays so.
    unsafe { api.add_custom_op_domain(options, domain) }
}

//! The operator as ONNX Runtime sees it: a structure of functions, whose layout versions only add to.

use crate::api::{Api, Opaque, Status, VERSION};
use crate::{infer, kernel};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

/// What an operator is, up to what version 20 has.
#[repr(C)]
struct Operator {
    version: u32,
    create_kernel: *const c_void,
    name: extern "C" fn(*const Operator) -> *const c_char,
    provider: extern "C" fn(*const Operator) -> *const c_char,
    input_type: extern "C" fn(*const Operator, usize) -> c_int,
    input_types: extern "C" fn(*const Operator) -> usize,
    output_type: extern "C" fn(*const Operator, usize) -> c_int,
    output_types: extern "C" fn(*const Operator) -> usize,
    compute: *const c_void,
    destroy: unsafe extern "C" fn(*mut c_void),
    input_kind: extern "C" fn(*const Operator, usize) -> c_int,
    output_kind: extern "C" fn(*const Operator, usize) -> c_int,
    input_memory: extern "C" fn(*const Operator, usize) -> c_int,
    least_inputs: extern "C" fn(*const Operator) -> c_int,
    inputs_alike: extern "C" fn(*const Operator) -> c_int,
    least_outputs: extern "C" fn(*const Operator) -> c_int,
    outputs_alike: extern "C" fn(*const Operator) -> c_int,
    create: unsafe extern "C" fn(
        *const Operator,
        *const *const c_void,
        *const Opaque,
        *mut *mut c_void,
    ) -> Status,
    run: unsafe extern "C" fn(*mut c_void, *mut Opaque) -> Status,
    infer: unsafe extern "C" fn(*const Operator, *mut Opaque) -> Status,
    first_version: extern "C" fn(*const Operator) -> c_int,
    last_version: extern "C" fn(*const Operator) -> c_int,
    may_share: *const c_void,
    release_may_share: *const c_void,
    aliases: *const c_void,
    release_aliases: *const c_void,
    /// Ours: the table that the operator was made for.
    api: Api,
}

extern "C" fn name(_: *const Operator) -> *const c_char {
    c"Move".as_ptr()
}

/// None is the processor's.
extern "C" fn provider(_: *const Operator) -> *const c_char {
    null()
}

/// Of inputs and outputs there is one kind, any number of each, of any elements, in any memory.
extern "C" fn one(_: *const Operator) -> usize {
    1
}

extern "C" fn variadic(_: *const Operator, _: usize) -> c_int {
    2
}

extern "C" fn any(_: *const Operator, _: usize) -> c_int {
    0
}

extern "C" fn no(_: *const Operator) -> c_int {
    0
}

extern "C" fn first(_: *const Operator) -> c_int {
    1
}

extern "C" fn last(_: *const Operator) -> c_int {
    c_int::MAX
}

/// Makes the domain with its operator; both are there for ever.
pub(crate) fn domain(api: Api) -> Result<*mut Opaque, Status> {
    let operator = Operator {
        version: VERSION,
        create_kernel: null(),
        name,
        provider,
        input_type: any,
        input_types: one,
        output_type: any,
        output_types: one,
        compute: null(),
        destroy,
        input_kind: variadic,
        output_kind: variadic,
        input_memory: any,
        least_inputs: first,
        inputs_alike: no,
        least_outputs: first,
        outputs_alike: no,
        create,
        run,
        infer: say_shapes,
        first_version: first,
        last_version: last,
        may_share: null(),
        release_may_share: null(),
        aliases: null(),
        release_aliases: null(),
        api,
    };
    let operator: *const Operator = Box::leak(Box::new(operator));
    let mut domain = null_mut();
    // SAFETY: texts that end, and a place for the answer.
    api.check(unsafe { api.create_custom_op_domain(c"restride".as_ptr(), &mut domain) })?;
    // SAFETY: the domain that was just made, and an operator that stays where it is.
    api.check(unsafe { api.custom_op_domain_add(domain, operator.cast()) })?;
    Ok(domain)
}

/// What a panic becomes: it must not unwind into ONNX Runtime.
fn guarded(api: Api, body: impl FnOnce() -> Result<(), Status>) -> Status {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)) {
        Ok(Ok(())) => null_mut(),
        Ok(Err(status)) => status,
        Err(_) => api.failure("restride itself failed; please report it"),
    }
}

unsafe extern "C" fn create(
    operator: *const Operator,
    _: *const *const c_void,
    info: *const Opaque,
    out: *mut *mut c_void,
) -> Status {
    // SAFETY: ONNX Runtime hands back what it was given.
    let api = unsafe { (*operator).api };
    guarded(api, || {
        // SAFETY: the node's attributes, valid meanwhile.
        let kernel = unsafe { kernel::Kernel::new(api, info) }?;
        // SAFETY: a place for the answer.
        unsafe { *out = Box::into_raw(Box::new(kernel)).cast() };
        Ok(())
    })
}

unsafe extern "C" fn destroy(kernel: *mut c_void) {
    if !kernel.is_null() {
        // SAFETY: made by `create`, and destroyed once.
        drop(unsafe { Box::from_raw(kernel.cast::<kernel::Kernel>()) });
    }
}

unsafe extern "C" fn run(kernel: *mut c_void, context: *mut Opaque) -> Status {
    // SAFETY: made by `create`; calls only read it.
    let kernel = unsafe { &*kernel.cast::<kernel::Kernel>() };
    // SAFETY: the context of this call.
    guarded(kernel.api(), || unsafe { kernel.run(context) })
}

unsafe extern "C" fn say_shapes(operator: *const Operator, context: *mut Opaque) -> Status {
    // SAFETY: as in `create`.
    let api = unsafe { (*operator).api };
    // SAFETY: the context of this node.
    guarded(api, || unsafe { infer::say_shapes(api, context) })
}

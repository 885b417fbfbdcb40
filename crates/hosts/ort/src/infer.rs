//! The shapes of outputs while a model is loaded, so that ONNX Runtime plans their memory.

use crate::api::{Api, Opaque, Status};
use crate::element;
use crate::kernel::parse;
use restride::{ElementType, Graph, InputShape, Template};
use smallvec::SmallVec;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

/// A size of an input, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// It is this one.
    Known(i64),
    /// It is the one of this name; without a name it is one of its own.
    Open(CString),
}

/// Says what the shapes of a node's outputs are, as far as they follow from those of its inputs.
///
/// # Safety
/// `context` is the one of the node.
pub(crate) unsafe fn say_shapes(api: Api, context: *mut Opaque) -> Result<(), Status> {
    // SAFETY: the context is the caller's, here and below.
    let text = unsafe { program(api, context) }?;
    let graph = parse(&text).map_err(|why| api.failure(&why))?;
    let mut count = 0;
    // SAFETY: see above.
    api.check(unsafe { api.infer_input_count(context, &mut count) })?;
    if count != graph.inputs().len() {
        let expected = graph.inputs().len();
        return Err(api.failure(&format!("{count} inputs for a program of {expected}")));
    }
    let mut shapes: Vec<Vec<Size>> = Vec::new();
    for at in 0..count {
        let mut shape = null_mut();
        // SAFETY: there are so many inputs.
        api.check(unsafe { api.infer_input(context, at, &mut shape) })?;
        // SAFETY: the type stays valid until the context ends.
        shapes.push(unsafe { sizes(api, shape) }?);
    }
    // SAFETY: the context is the caller's.
    let unsure = unsafe { unsure(api, context) };
    for (at, shape) in outputs(&graph, &shapes).into_iter().enumerate() {
        if let Some(mut shape) = shape {
            let open = shape.iter_mut().filter(|_| unsure);
            for size in open.filter(|size| matches!(size, Size::Open(_))) {
                *size = Size::Open(CString::default());
            }
            let element = graph.output_type(&graph.outputs()[at]).element();
            // SAFETY: the program has so many outputs.
            unsafe { say(api, context, at, element, &shape) }?;
        }
    }
    Ok(())
}

/// The shapes of a program's outputs; none where something of one is not known.
pub(crate) fn outputs(graph: &Graph, inputs: &[Vec<Size>]) -> Vec<Option<Vec<Size>>> {
    let unknown = || vec![None; graph.outputs().len()];
    // A rank that is not known looks like 0.
    let ranks = graph.inputs().iter().map(|&value| graph.ty(value).rank());
    if !ranks.eq(inputs.iter().map(Vec::len)) {
        return unknown();
    }
    let mut names: Vec<&CString> = Vec::new();
    for size in inputs.iter().flatten() {
        match size {
            Size::Open(name) if name.is_empty() => return unknown(),
            Size::Open(name) if !names.contains(&name) => names.push(name),
            Size::Open(_) | Size::Known(_) => {}
        }
    }
    // What a program makes of open sizes is seen by trying some: its own samples, and multiples of them.
    let sample = |name: &CString| {
        let sizes = graph.inputs().iter().zip(inputs);
        let mut sizes = sizes.flat_map(|(&value, shape)| graph.ty(value).shape().iter().zip(shape));
        sizes.find_map(|(&size, known)| (*known == Size::Open(name.clone())).then_some(size))
    };
    let template = Template::new(graph.clone());
    let mut tried: Vec<(Vec<i64>, Vec<Vec<i64>>)> = Vec::new();
    for factor in [1, 2, 3] {
        let chosen = names
            .iter()
            .map(|name| sample(name).unwrap_or(1).saturating_mul(factor));
        let chosen: Vec<i64> = chosen.collect();
        let size = |size: &Size| match size {
            Size::Known(size) => *size,
            Size::Open(name) => {
                let at = names.iter().position(|other| *other == name);
                at.and_then(|at| chosen.get(at)).copied().unwrap_or(1)
            }
        };
        let shapes = inputs.iter().map(|shape| shape.iter().map(size).collect());
        let shapes: Vec<Vec<i64>> = shapes.collect();
        let shapes: Vec<InputShape<'_>> = shapes.iter().map(|it| InputShape::dense(it)).collect();
        let Ok(special) = template.specialised(&shapes) else {
            return unknown();
        };
        let outputs = special.outputs().iter();
        let outputs = outputs.map(|output| special.output_type(output).shape().to_vec());
        tried.push((chosen, outputs.collect()));
    }
    let output = |at: usize| -> Option<Vec<Size>> {
        let rank = tried.first()?.1.get(at)?.len();
        let axis = |axis: usize| {
            let seen = tried
                .iter()
                .map(|(_, outputs)| outputs[at].get(axis).copied());
            let seen: Vec<i64> = seen.collect::<Option<_>>()?;
            if seen.iter().all(|size| *size == seen[0]) {
                return Some(Size::Known(seen[0]));
            }
            let mut like = names.iter().enumerate();
            let like = like.find(|(name, _)| {
                let chosen = tried.iter().map(|(chosen, _)| chosen[*name]);
                chosen.eq(seen.iter().copied())
            });
            like.map(|(_, name)| Size::Open((*name).clone()))
        };
        (0..rank).map(axis).collect()
    };
    (0..graph.outputs().len()).map(output).collect()
}

/// Whether a node says that the names of open sizes are to be kept to oneself.
unsafe fn unsure(api: Api, context: *mut Opaque) -> bool {
    const INT: c_int = 1;
    let (mut attribute, mut size, mut number) = (null(), 0, 0i64);
    // SAFETY: the context is the caller's.
    let found = unsafe { api.infer_attribute(context, c"unsure".as_ptr(), &mut attribute) };
    if !api.went_well(found) || attribute.is_null() {
        return false;
    }
    let place = (&raw mut number).cast::<c_void>();
    // SAFETY: the attribute lives as long as the context, and there is room for a number.
    let read = unsafe { api.read_attribute(attribute, INT, place, size_of::<i64>(), &mut size) };
    api.went_well(read) && number != 0
}

/// The text of a node's program.
unsafe fn program(api: Api, context: *mut Opaque) -> Result<Vec<u8>, Status> {
    const TEXT: c_int = 5;
    let (mut attribute, mut size) = (null(), 0);
    // SAFETY: the context is the caller's.
    api.check(unsafe { api.infer_attribute(context, c"program".as_ptr(), &mut attribute) })?;
    // Without room the size is said, and that there is no room.
    // SAFETY: the attribute lives as long as the context.
    let asked = unsafe { api.read_attribute(attribute, TEXT, null_mut(), 0, &mut size) };
    api.went_well(asked);
    let mut text = vec![0u8; size];
    let start = text.as_mut_ptr().cast::<c_void>();
    // SAFETY: there is as much room as was said.
    api.check(unsafe { api.read_attribute(attribute, TEXT, start, text.len(), &mut size) })?;
    Ok(text)
}

/// The sizes that a type says.
unsafe fn sizes(api: Api, shape: *const Opaque) -> Result<Vec<Size>, Status> {
    let (mut element, mut sizes) = (0, SmallVec::<[i64; 8]>::new());
    // SAFETY: the type is the caller's.
    unsafe { api.type_in(shape, &mut element, &mut sizes) }?;
    let mut names: Vec<*const c_char> = vec![null(); sizes.len()];
    // SAFETY: there is room for a name each.
    api.check(unsafe { api.size_names(shape, names.as_mut_ptr(), names.len()) })?;
    let sizes = sizes.iter().zip(names).map(|(&size, name)| {
        if size >= 0 {
            return Size::Known(size);
        }
        match name.is_null() {
            true => Size::Open(CString::default()),
            // SAFETY: a text that ends and lives as long as the type.
            false => Size::Open(unsafe { CStr::from_ptr(name) }.to_owned()),
        }
    });
    Ok(sizes.collect())
}

/// Says the element and the shape of an output.
unsafe fn say(
    api: Api,
    context: *mut Opaque,
    at: usize,
    element: ElementType,
    shape: &[Size],
) -> Result<(), Status> {
    let Some(element) = element::number(element) else {
        return Err(api.failure(&format!("ONNX has no elements such as {element}")));
    };
    let sizes = shape.iter().map(|size| match size {
        Size::Known(size) => *size,
        Size::Open(_) => -1,
    });
    let sizes: Vec<i64> = sizes.collect();
    let names = shape.iter().map(|size| match size {
        Size::Known(_) => c"".as_ptr(),
        Size::Open(name) => name.as_ptr(),
    });
    let names: Vec<*const c_char> = names.collect();
    let mut made = null_mut();
    // SAFETY: lists of the lengths that are said, and a type that is ours until it is released.
    unsafe {
        api.check(api.create_shape(&mut made))?;
        let said = api
            .check(api.set_element(made, element))
            .and_then(|()| api.check(api.set_sizes(made, sizes.as_ptr(), sizes.len())))
            .and_then(|()| api.check(api.set_size_names(made, names.as_ptr(), names.len())))
            .and_then(|()| api.check(api.infer_output(context, at, made)));
        api.release_shape(made);
        said
    }
}

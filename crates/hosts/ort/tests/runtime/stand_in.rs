//! A stand-in for ONNX Runtime: a table of functions by their numbers, and tensors, types and failures
//! behind addresses.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

type Address = *mut c_void;

/// A type, of which a size may have a name only.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    pub(crate) element: c_int,
    pub(crate) sizes: Vec<i64>,
    pub(crate) names: Vec<CString>,
}

#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) shape: Shape,
    pub(crate) data: Vec<u64>,
}

/// A node while it is loaded, or a call of it.
#[derive(Default)]
pub(crate) struct Node {
    pub(crate) program: CString,
    pub(crate) inputs: Vec<Value>,
    pub(crate) outputs: Vec<Option<Value>>,
    pub(crate) known: Vec<Shape>,
    pub(crate) said: Vec<Option<Shape>>,
    /// Its attribute of that name, if it has one.
    pub(crate) unsure: Option<i64>,
}

/// What a status says.
fn message(status: Address) -> Option<String> {
    (!status.is_null()).then(|| {
        // SAFETY: made by `create_status`.
        let text = unsafe { Box::from_raw(status.cast::<CString>()) };
        text.to_string_lossy().into_owned()
    })
}

fn boxed<T>(value: T) -> Address {
    Box::into_raw(Box::new(value)).cast()
}

/// What lies behind an address of ours.
unsafe fn at<'a, T>(address: Address) -> &'a mut T {
    // SAFETY: the caller's.
    unsafe { &mut *address.cast() }
}

unsafe extern "C" fn create_status(_: c_int, text: *const c_char) -> Address {
    // SAFETY: a text.
    boxed(unsafe { CStr::from_ptr(text) }.to_owned())
}

unsafe extern "C" fn release_status(status: Address) {
    drop(message(status));
}

unsafe extern "C" fn create_domain(name: *const c_char, out: *mut Address) -> Address {
    // SAFETY: a text, and a place for the answer.
    unsafe {
        assert_eq!(CStr::from_ptr(name), c"restride");
        *out = boxed(Vec::<Address>::new());
    }
    null_mut()
}

/// Adds to a list: an operator to a domain, a domain to options.
unsafe extern "C" fn add(list: Address, one: Address) -> Address {
    // SAFETY: a list.
    unsafe { at::<Vec<Address>>(list) }.push(one);
    null_mut()
}

unsafe extern "C" fn data(value: Address, out: *mut Address) -> Address {
    // SAFETY: a value, and a place for the answer.
    unsafe {
        let data = &mut at::<Value>(value).data;
        *out = if data.is_empty() {
            null_mut()
        } else {
            data.as_mut_ptr().cast()
        };
    }
    null_mut()
}

unsafe extern "C" fn create_shape(out: *mut Address) -> Address {
    // As ONNX Runtime does.
    let float = Shape {
        element: 1,
        ..Shape::default()
    };
    // SAFETY: a place for the answer.
    unsafe { *out = boxed(float) };
    null_mut()
}

unsafe extern "C" fn release_shape(shape: Address) {
    // SAFETY: made by `create_shape` or `tensor_shape`.
    drop(unsafe { Box::from_raw(shape.cast::<Shape>()) });
}

unsafe extern "C" fn set_element(shape: Address, element: c_int) -> Address {
    // SAFETY: a type.
    unsafe { at::<Shape>(shape).element = element };
    null_mut()
}

unsafe extern "C" fn set_sizes(shape: Address, sizes: *const i64, count: usize) -> Address {
    // SAFETY: so many sizes.
    unsafe { at::<Shape>(shape).sizes = std::slice::from_raw_parts(sizes, count).to_vec() };
    null_mut()
}

unsafe extern "C" fn set_names(
    shape: Address,
    names: *const *const c_char,
    count: usize,
) -> Address {
    // SAFETY: so many names.
    unsafe {
        let names = std::slice::from_raw_parts(names, count).iter();
        at::<Shape>(shape).names = names.map(|&name| CStr::from_ptr(name).to_owned()).collect();
    }
    null_mut()
}

unsafe extern "C" fn element(shape: Address, out: *mut c_int) -> Address {
    // SAFETY: a type, and a place for the answer.
    unsafe { *out = at::<Shape>(shape).element };
    null_mut()
}

unsafe extern "C" fn rank(shape: Address, out: *mut usize) -> Address {
    // SAFETY: likewise.
    unsafe { *out = at::<Shape>(shape).sizes.len() };
    null_mut()
}

unsafe extern "C" fn sizes(shape: Address, out: *mut i64, count: usize) -> Address {
    // SAFETY: there is room for so many.
    unsafe {
        let shape = at::<Shape>(shape);
        assert_eq!(count, shape.sizes.len());
        std::slice::from_raw_parts_mut(out, count).copy_from_slice(&shape.sizes);
    }
    null_mut()
}

unsafe extern "C" fn names(shape: Address, out: *mut *const c_char, count: usize) -> Address {
    // SAFETY: there is room for so many.
    unsafe {
        let out = std::slice::from_raw_parts_mut(out, count);
        let names = &at::<Shape>(shape).names;
        for (at, place) in out.iter_mut().enumerate() {
            *place = names.get(at).map_or(c"".as_ptr(), |name| name.as_ptr());
        }
    }
    null_mut()
}

unsafe extern "C" fn tensor_shape(value: Address, out: *mut Address) -> Address {
    // SAFETY: a value, and a place for the answer.
    unsafe { *out = boxed(at::<Value>(value).shape.clone()) };
    null_mut()
}

unsafe extern "C" fn shape_reference(
    value: Address,
    element: *mut c_int,
    sizes: *mut *const i64,
    count: *mut usize,
) -> Address {
    // SAFETY: a value, and places for the answers.
    unsafe {
        let shape = &at::<Value>(value).shape;
        (*element, *sizes, *count) = (shape.element, shape.sizes.as_ptr(), shape.sizes.len());
    }
    null_mut()
}

unsafe extern "C" fn attribute(
    node: Address,
    name: *const c_char,
    out: *mut c_char,
    size: *mut usize,
) -> Address {
    // SAFETY: a node, a text, and as much room as is said.
    unsafe {
        assert_eq!(CStr::from_ptr(name), c"program");
        let text = at::<Node>(node).program.as_bytes_with_nul();
        if !out.is_null() {
            assert!(*size >= text.len());
            out.cast::<u8>().copy_from(text.as_ptr(), text.len());
        }
        *size = text.len();
    }
    null_mut()
}

unsafe extern "C" fn read_attribute(
    node: Address,
    kind: c_int,
    out: Address,
    room: usize,
    size: *mut usize,
) -> Address {
    // SAFETY: a node, and as much room as is said.
    unsafe {
        if kind == 1 {
            assert_eq!(room, size_of::<i64>());
            out.cast::<i64>().write(at::<Node>(node).unsure.unwrap());
            return null_mut();
        }
        assert_eq!(kind, 5);
        let text = at::<Node>(node).program.as_bytes_with_nul();
        *size = text.len();
        if room < text.len() {
            return create_status(2, c"no room".as_ptr());
        }
        out.cast::<u8>().copy_from(text.as_ptr(), text.len());
    }
    null_mut()
}

unsafe extern "C" fn input_count(node: Address, out: *mut usize) -> Address {
    // SAFETY: a node, and a place for the answer; so in what follows.
    unsafe { *out = at::<Node>(node).inputs.len() };
    null_mut()
}

unsafe extern "C" fn output_count(node: Address, out: *mut usize) -> Address {
    // SAFETY: see above.
    unsafe { *out = at::<Node>(node).outputs.len() };
    null_mut()
}

unsafe extern "C" fn input(node: Address, number: usize, out: *mut Address) -> Address {
    // SAFETY: see above.
    unsafe { *out = (&raw mut at::<Node>(node).inputs[number]).cast() };
    null_mut()
}

unsafe extern "C" fn output(
    node: Address,
    number: usize,
    sizes: *const i64,
    count: usize,
    out: *mut Address,
) -> Address {
    // SAFETY: see above; so many sizes.
    unsafe {
        let sizes = std::slice::from_raw_parts(sizes, count);
        let made = value(0, sizes, |_| u64::MAX);
        *out = (&raw mut *at::<Node>(node).outputs[number].insert(made)).cast();
    }
    null_mut()
}

unsafe extern "C" fn known_count(node: Address, out: *mut usize) -> Address {
    // SAFETY: see above.
    unsafe { *out = at::<Node>(node).known.len() };
    null_mut()
}

unsafe extern "C" fn known(node: Address, number: usize, out: *mut Address) -> Address {
    // SAFETY: see above.
    unsafe { *out = (&raw mut at::<Node>(node).known[number]).cast() };
    null_mut()
}

unsafe extern "C" fn node_attribute(
    node: Address,
    name: *const c_char,
    out: *mut Address,
) -> Address {
    // SAFETY: see above. The attribute stands for its node.
    unsafe {
        if CStr::from_ptr(name) == c"unsure" && at::<Node>(node).unsure.is_none() {
            return create_status(1, c"no such attribute".as_ptr());
        }
        *out = node;
    }
    null_mut()
}

unsafe extern "C" fn say(node: Address, number: usize, shape: Address) -> Address {
    // SAFETY: see above.
    unsafe { at::<Node>(node).said[number] = Some(at::<Shape>(shape).clone()) };
    null_mut()
}

unsafe extern "C" fn parallel_for(
    _: Address,
    function: unsafe extern "C" fn(*mut c_void, usize),
    count: usize,
    _: usize,
    user: *mut c_void,
) -> Address {
    let user = user as usize;
    std::thread::scope(|scope| {
        for number in 0..count {
            // SAFETY: as it was asked for.
            scope.spawn(move || unsafe { function(user as *mut c_void, number) });
        }
    });
    null_mut()
}

extern "C" fn not_expected() {
    std::process::abort();
}

static TABLE: std::sync::LazyLock<Vec<usize>> = std::sync::LazyLock::new(|| {
    let mut table = vec![not_expected as *const () as usize; 415];
    let functions: [(usize, usize); 30] = [
        (0, create_status as *const () as usize),
        (26, create_domain as *const () as usize),
        (27, add as *const () as usize),
        (28, add as *const () as usize),
        (51, data as *const () as usize),
        (57, create_shape as *const () as usize),
        (58, set_element as *const () as usize),
        (59, set_sizes as *const () as usize),
        (60, element as *const () as usize),
        (61, rank as *const () as usize),
        (62, sizes as *const () as usize),
        (63, names as *const () as usize),
        (65, tensor_shape as *const () as usize),
        (87, attribute as *const () as usize),
        (88, input_count as *const () as usize),
        (89, output_count as *const () as usize),
        (90, input as *const () as usize),
        (91, output as *const () as usize),
        (93, release_status as *const () as usize),
        (99, release_shape as *const () as usize),
        (267, known_count as *const () as usize),
        (268, known as *const () as usize),
        (269, node_attribute as *const () as usize),
        (270, say as *const () as usize),
        (271, set_names as *const () as usize),
        (272, read_attribute as *const () as usize),
        (274, parallel_for as *const () as usize),
        (414, shape_reference as *const () as usize),
        // The last of version 1, which is not used: the numbers are those of the table.
        (101, not_expected as *const () as usize),
        (413, not_expected as *const () as usize),
    ];
    for (number, function) in functions {
        table[number] = function;
    }
    table
});

#[repr(C)]
struct Base {
    get: extern "C" fn(u32) -> *const usize,
    version: extern "C" fn() -> *const c_char,
}

extern "C" fn get(version: u32) -> *const usize {
    assert!(version == 1 || version == 20);
    TABLE.as_ptr()
}

fn base(version: extern "C" fn() -> *const c_char) -> Base {
    Base { get, version }
}

pub(crate) extern "C" fn oldest() -> *const c_char {
    c"1.20.0".as_ptr()
}

pub(crate) extern "C" fn newest() -> *const c_char {
    c"1.31.1".as_ptr()
}

pub(crate) extern "C" fn too_old() -> *const c_char {
    c"1.19.2".as_ptr()
}

pub(crate) fn value(element: c_int, sizes: &[i64], fill: impl Fn(u64) -> u64) -> Value {
    // Every element has eight bytes here.
    let count = sizes.iter().product::<i64>() as u64;
    Value {
        shape: Shape {
            element,
            sizes: sizes.to_vec(),
            names: Vec::new(),
        },
        data: (0..count).map(fill).collect(),
    }
}

/// The operator, as a list of what ONNX Runtime finds in it.
pub(crate) struct Operator(pub(crate) *const usize);

impl Operator {
    /// Registers the library with an ONNX Runtime of this version.
    pub(crate) fn of(version: extern "C" fn() -> *const c_char) -> Result<Operator, String> {
        let mut options: Vec<Address> = Vec::new();
        let base = base(version);
        let options_at: Address = (&raw mut options).cast();
        // SAFETY: options and an interface, as the function wants them.
        let status =
            unsafe { restride_ort::RegisterCustomOps(options_at.cast(), (&raw const base).cast()) };
        if let Some(why) = message(status.cast()) {
            return Err(why);
        }
        assert_eq!(options.len(), 1);
        // SAFETY: a domain of ours.
        let operators = unsafe { at::<Vec<Address>>(options[0]) };
        assert_eq!(operators.len(), 1);
        Ok(Operator(operators[0].cast_const().cast()))
    }

    /// The function in a place of the structure.
    pub(crate) unsafe fn function<F: Copy>(&self, place: usize) -> F {
        assert_eq!(size_of::<F>(), size_of::<usize>());
        // SAFETY: the caller's.
        unsafe { *self.0.add(place).cast::<F>() }
    }

    pub(crate) fn say_shapes(&self, node: &mut Node) -> Option<String> {
        // SAFETY: the function has this type.
        let function: unsafe extern "C" fn(*const usize, Address) -> Address =
            unsafe { self.function(19) };
        // SAFETY: an operator and a node.
        message(unsafe { function(self.0, (&raw mut *node).cast()) })
    }

    /// Makes a kernel, calls it for each list of inputs, and frees it.
    pub(crate) fn run(
        &self,
        program: &str,
        outputs: usize,
        calls: Vec<Vec<Value>>,
    ) -> Result<Vec<Vec<Value>>, String> {
        type Create =
            unsafe extern "C" fn(*const usize, *const c_void, Address, *mut Address) -> Address;
        // SAFETY: the functions have these types.
        let (create, run, destroy) = unsafe {
            (
                self.function::<Create>(17),
                self.function::<unsafe extern "C" fn(Address, Address) -> Address>(18),
                self.function::<unsafe extern "C" fn(Address)>(9),
            )
        };
        let mut node = Node {
            program: CString::new(program).expect("a text"),
            ..Node::default()
        };
        let mut kernel = null_mut();
        // SAFETY: an operator, a node, and a place for the answer.
        let status = unsafe { create(self.0, null(), (&raw mut node).cast(), &mut kernel) };
        if let Some(why) = message(status) {
            return Err(why);
        }
        let mut answers = Vec::new();
        let mut wrong = None;
        for inputs in calls {
            node.inputs = inputs;
            node.outputs = (0..outputs).map(|_| None).collect();
            // SAFETY: a kernel and a call.
            wrong = message(unsafe { run(kernel, (&raw mut node).cast()) });
            if wrong.is_some() {
                break;
            }
            answers.push(
                node.outputs
                    .drain(..)
                    .map(|it| it.expect("an output"))
                    .collect(),
            );
        }
        // SAFETY: the kernel that was made.
        unsafe { destroy(kernel) };
        wrong.map_or(Ok(answers), Err)
    }
}

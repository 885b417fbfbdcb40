//! Generated code for readers: what its phases are, and what the addresses in it stand for.

use std::fmt::Write;

use restride_check::Contract;
use restride_jit::{Features, Listing, NativeKernel};
use restride_loops::{Dim, Verified};

use crate::execute::{compiler, no_code};
use crate::failure::Failure;

/// The code of a kernel with remarks after `;`.
pub(crate) struct Commented {
    /// One line: how long, for which machine, and how many calls.
    pub(crate) summary: String,
    /// The intermediate code.
    pub(crate) clif: String,
    /// Machine code, disassembled where there is a disassembler for it.
    pub(crate) assembly: String,
}

/// What every phase is called with.
const ARGUMENTS: &str = "the table of buffers b0, b1, ..; this chunk; of how many";

/// Compiles a kernel and comments on it.
pub(crate) fn commented(kernel: &Verified, self_contained: bool) -> Result<Commented, Failure> {
    let level = Features::detect();
    let mut compiler = compiler(level, self_contained)?;
    // Without executable memory there is still the code generator's own listing.
    let Ok((native, listing)) = compiler.compile_and_list(kernel) else {
        let Listing {
            clif,
            assembly,
            code,
            ..
        } = compiler.listing(kernel).map_err(no_code)?;
        return Ok(Commented {
            summary: format!("{} bytes for {level:?}", code.len()),
            clif: phases_of_clif(&clif, &Names(Vec::new())),
            assembly,
        });
    };
    let names = Names::of(&native, level);
    let calls = match native.callees().len() {
        0 => "everything inline".into(),
        1 => "1 call of a leaf".into(),
        n => format!("{n} calls of leaves"),
    };
    Ok(Commented {
        summary: format!("{} bytes for {level:?}, {calls}", native.code_bytes()),
        clif: phases_of_clif(&listing.clif, &names),
        assembly: match cfg!(target_arch = "x86_64") {
            true => phases_of_assembly(&native, &names),
            false => listing.assembly,
        },
    })
}

/// What the machine code of a kernel leaves to leaves, a call each; nothing where there is no
/// machine code.
pub(crate) fn calls(kernel: &Verified) -> Option<Vec<String>> {
    let mut compiler = compiler(Features::detect(), false).ok()?;
    let native = compiler.compile(kernel).ok()?;
    let callees = native.callees().iter();
    Some(callees.map(|callee| contract(&callee.contract)).collect())
}

/// Machine code, disassembled, with the same comments.
pub(crate) fn disassembly(native: &NativeKernel) -> String {
    phases_of_assembly(native, &Names::of(native, Features::detect()))
}

/// What addresses stand for.
struct Names(Vec<(u64, String)>);

impl Names {
    fn of(native: &NativeKernel, level: Features) -> Self {
        let callees = native.callees().iter();
        let names = callees.flat_map(|callee| {
            let kind = match &callee.contract {
                Contract::Move { .. } => "moves a box",
                Contract::Weave { .. } => "weaves boxes",
                Contract::Fill { .. } => "fills a box",
                Contract::Gather { .. } => "gathers rows",
                Contract::Check { .. } => "checks indices",
            };
            [
                (callee.params as u64, contract(&callee.contract)),
                (
                    callee.entry as u64,
                    format!("the leaf that {kind}, {level:?}"),
                ),
            ]
        });
        Self(names.collect())
    }

    fn get(&self, address: u64) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| *known == address);
        found.map(|(_, name)| name.as_str())
    }
}

/// A heading for each function, and a remark wherever an address is made.
fn phases_of_clif(clif: &str, names: &Names) -> String {
    let mut out = String::new();
    let mut phase = 0;
    for line in clif.lines() {
        if line.starts_with("function ") {
            let _ = writeln!(out, "; phase {phase}: v0, v1, v2 = {ARGUMENTS}");
            phase += 1;
        }
        let address = line.split_once("iconst.i64 0x").and_then(|(_, digits)| {
            let digits = digits.split_whitespace().next()?.replace('_', "");
            u64::from_str_radix(&digits, 16).ok()
        });
        remark(
            &mut out,
            line,
            address.and_then(|address| names.get(address)),
        );
    }
    out
}

/// The same for machine code, each line of which begins with its offset.
fn phases_of_assembly(native: &NativeKernel, names: &Names) -> String {
    let starts: Vec<usize> = native.phase_offsets().collect();
    let mut out = String::new();
    for line in native.disassembly().lines() {
        let offset = line.split_whitespace().next();
        let offset = offset.and_then(|offset| usize::from_str_radix(offset, 16).ok());
        if let Some(phase) = starts.iter().position(|start| Some(*start) == offset) {
            let _ = writeln!(out, "; phase {phase}: called with {ARGUMENTS}");
        }
        let address = line
            .rsplit_once(',')
            .and_then(|(_, digits)| u64::from_str_radix(digits.trim().strip_suffix('h')?, 16).ok());
        remark(
            &mut out,
            line,
            address.and_then(|address| names.get(address)),
        );
    }
    out
}

fn remark(out: &mut String, line: &str, name: Option<&str>) {
    let _ = match name {
        Some(name) => writeln!(out, "{line:<40} ; {name}"),
        None => writeln!(out, "{line}"),
    };
}

/// A box as kernels print it.
pub(crate) fn shape(dims: &[Dim]) -> String {
    let dims = dims.iter();
    let dims = dims.map(|dim| format!("({}, {}, {})", dim.extent, dim.dst, dim.src));
    format!("[{}]", dims.collect::<Vec<_>>().join(", "))
}

/// A promise that code rests on.
pub(crate) fn contract(contract: &Contract) -> String {
    let list = |points: Vec<String>| points.join(", ");
    match contract {
        Contract::Move { dims, width } => format!("move w{width} box {}", shape(dims)),
        Contract::Weave { parts, width } => {
            let parts = parts.iter();
            let parts = parts.map(|(dims, behind)| format!("{} at {behind}", shape(dims)));
            format!("weave w{width} boxes {}", list(parts.collect()))
        }
        Contract::Fill { dims, width, bits } => {
            let dims = dims.iter().map(|(n, stride)| format!("({n}, {stride})"));
            format!("fill w{width} <- {bits:#x} box [{}]", list(dims.collect()))
        }
        Contract::Gather { gather, width } => {
            let (rows, limit) = (gather.extent, gather.norm.limit);
            let row = shape(&gather.dims);
            format!("gather {rows} rows w{width} limit {limit} box {row}")
        }
        Contract::Check { dims, norm } => {
            let dims = dims.iter().map(|(n, stride)| format!("({n}, {stride})"));
            format!("check limit {} box [{}]", norm.limit, list(dims.collect()))
        }
    }
}

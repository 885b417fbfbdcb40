//! The C header: for each function its program, its sizes and its declaration.

use std::fmt::Write;

use restride_graph::ElementType;
use restride_jit::{Standalone, Triple};

use crate::{Function, FunctionBuffer};

/// What C has no number for.
const OPAQUE: [(&str, &str); 3] = [
    ("restride_c64", "struct { float re, im; }"),
    ("restride_c128", "struct { double re, im; }"),
    ("restride_b128", "struct { uint64_t low, high; }"),
];

pub(crate) fn write(machine: &Triple, functions: &[Function]) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = begin(&mut out, machine, functions);
    for function in functions {
        let _ = declare(&mut out, function);
    }
    out.push_str("\n#ifdef __cplusplus\n}\n#endif\n");
    out
}

fn begin(out: &mut String, machine: &Triple, functions: &[Function]) -> std::fmt::Result {
    writeln!(out, "// Made by restride for {machine}.")?;
    out.push_str(
        "//\n\
         // A function moves what its program says from in[0], in[1], .. to out[0], out[1], .., and uses SCRATCH_BYTES\n\
         // bytes of scratch, which may hold anything. It returns 0, or one of its BAD_INDEX numbers if an index is out\n\
         // of range: then no output has been written. Buffers may have any alignment; no output and no scratch\n\
         // overlaps any other buffer. What is 0 bytes long is not touched: its address may be anything.\n\
         #pragma once\n\
         #include <stdint.h>\n\n\
         #ifdef __cplusplus\nextern \"C\" {\n#endif\n",
    );
    let all = functions.iter();
    let all = all.flat_map(|function| function.inputs.iter().chain(&function.outputs));
    let used: Vec<&str> = all.map(|buffer| type_name(buffer.element)).collect();
    for (name, definition) in OPAQUE {
        if used.contains(&name) {
            let guard = name.to_uppercase();
            writeln!(out, "\n#ifndef {guard}\n#define {guard}")?;
            writeln!(out, "typedef {definition} {name};\n#endif")?;
        }
    }
    Ok(())
}

fn declare(out: &mut String, function: &Function) -> std::fmt::Result {
    let Function {
        name,
        code,
        text,
        inputs,
        outputs,
        refusals,
    } = function;
    let upper = name.to_ascii_uppercase();
    out.push('\n');
    text.lines().try_for_each(|line| comment(out, line))?;
    writeln!(out, "#define {upper}_INPUTS {}", inputs.len())?;
    writeln!(out, "#define {upper}_OUTPUTS {}", outputs.len())?;
    let inputs = inputs.iter().enumerate().map(|(at, it)| ("IN", at, it));
    let outputs = outputs.iter().enumerate().map(|(at, it)| ("OUT", at, it));
    for (side, at, buffer) in inputs.chain(outputs) {
        declare_buffer(out, &format!("{upper}_{side}{at}"), buffer)?;
    }
    writeln!(out, "#define {upper}_SCRATCH_BYTES {}", code.scratch)?;
    let align = Standalone::ALIGN;
    writeln!(out, "#define {upper}_SCRATCH_ALIGN {align} // for speed")?;
    for (at, (number, what)) in refusals.iter().enumerate() {
        comment(out, what)?;
        writeln!(out, "#define {upper}_BAD_INDEX{at} {number}")?;
    }
    writeln!(
        out,
        "int {name}(const void *const in[], void *const out[], void *scratch);"
    )
}

fn declare_buffer(out: &mut String, name: &str, buffer: &FunctionBuffer) -> std::fmt::Result {
    comment(out, &buffer.label)?;
    writeln!(out, "#define {name}_TYPE {}", type_name(buffer.element))?;
    writeln!(out, "#define {name}_LENGTH {}", buffer.length)?;
    writeln!(out, "#define {name}_BYTES {}", buffer.bytes())?;
    writeln!(out, "#define {name}_ALIGN 1")
}

/// A line of a comment, which ends where it ends: a backslash, or what stands for one, would take in the next.
fn comment(out: &mut String, line: &str) -> std::fmt::Result {
    let end = match line.ends_with('\\') || line.ends_with("??/") {
        true => " .",
        false => "",
    };
    writeln!(out, "{}{end}", format!("// {line}").trim_end())
}

/// What C calls an element; floats that it does not have are the integers of their bits.
fn type_name(element: ElementType) -> &'static str {
    match element {
        ElementType::Bool
        | ElementType::U8
        | ElementType::F8E4M3
        | ElementType::F8E4M3Fnuz
        | ElementType::F8E5M2
        | ElementType::F8E5M2Fnuz
        | ElementType::F8E8M0 => "uint8_t",
        ElementType::I8 => "int8_t",
        ElementType::I16 => "int16_t",
        ElementType::U16 | ElementType::F16 | ElementType::Bf16 => "uint16_t",
        ElementType::I32 => "int32_t",
        ElementType::U32 => "uint32_t",
        ElementType::F32 => "float",
        ElementType::I64 => "int64_t",
        ElementType::U64 => "uint64_t",
        ElementType::F64 => "double",
        ElementType::C64 => "restride_c64",
        ElementType::C128 => "restride_c128",
        ElementType::I128 | ElementType::U128 => "restride_b128",
    }
}

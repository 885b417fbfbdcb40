//! Kernels as text.

use core::fmt::Write;

use cranelift_codegen::CompiledCode;
use cranelift_codegen::ir::Function;

use crate::compiler::Blob;

/// What was generated for a kernel, phase after phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The intermediate code.
    pub clif: String,
    /// The machine code, in the code generator's own assembly.
    pub assembly: String,
    /// The machine code itself.
    pub code: Vec<u8>,
    /// Where each phase begins in it.
    pub phases: Vec<usize>,
}

impl Listing {
    /// With the code that was made.
    pub(crate) fn of(self, blob: &Blob) -> Self {
        Self {
            code: blob.bytes.clone(),
            phases: blob.phases.to_vec(),
            ..self
        }
    }

    pub(crate) fn add_clif(&mut self, function: &Function) {
        separate(&mut self.clif);
        self.clif.push_str(&function.display().to_string());
    }

    pub(crate) fn add_code(&mut self, code: &CompiledCode) {
        separate(&mut self.assembly);
        self.assembly
            .push_str(code.vcode.as_deref().unwrap_or_default());
    }
}

fn separate(text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
}

/// x86-64 code as a disassembler reads it, with offsets from its beginning. Constants between
/// functions are read as code too.
#[must_use]
pub(crate) fn disassemble(code: &[u8]) -> String {
    use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};
    let mut text = String::new();
    let mut formatter = IntelFormatter::new();
    for instruction in &mut Decoder::with_ip(64, code, 0, DecoderOptions::NONE) {
        let mut line = String::new();
        formatter.format(&instruction, &mut line);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:5x}  {line}", instruction.ip());
    }
    text
}

//! The object file: a section and a symbol for each function, and nothing else.

use object::write::{Object, StandardSection, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, FileFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope, elf,
};
use restride_jit::{Standalone, Triple};

use crate::{FileError, Function};

pub(crate) fn write(machine: &Triple, functions: &[Function]) -> Result<Vec<u8>, FileError> {
    let unknown = || FileError::Machine(machine.to_string());
    let (format, architecture) = format(machine).ok_or_else(unknown)?;
    let mut file = Object::new(format, architecture, Endianness::Little);
    if format == BinaryFormat::Elf {
        // Floating point arguments go in registers of 64 bits, as in all that is linked with it.
        let e_flags = match architecture {
            Architecture::Riscv64 => elf::EF_RISCV_FLOAT_ABI_DOUBLE,
            _ => elf::FileFlags(0),
        };
        file.flags = FileFlags::Elf {
            os_abi: elf::ELFOSABI_NONE,
            abi_version: 0,
            e_flags,
        };
        // Without it a linker makes the stack of the whole program executable.
        file.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    }
    for function in functions {
        let name = function.name.as_bytes();
        let section = file.add_subsection(StandardSection::Text, name);
        let symbol = file.add_symbol(Symbol {
            name: name.to_vec(),
            value: 0,
            size: 0,
            kind: SymbolKind::Text,
            scope: SymbolScope::Dynamic,
            weak: false,
            section: SymbolSection::Undefined,
            flags: SymbolFlags::None,
        });
        let align = Standalone::ALIGN as u64;
        file.add_symbol_data(symbol, section, &function.code.bytes, align);
    }
    file.write()
        .map_err(|error| FileError::Writer(error.to_string()))
}

/// What a machine's object files are, those of 64 bits.
fn format(machine: &Triple) -> Option<(BinaryFormat, Architecture)> {
    use restride_jit::machine;
    let architecture = match machine.architecture {
        machine::Architecture::X86_64 => Architecture::X86_64,
        machine::Architecture::Aarch64(_) => Architecture::Aarch64,
        machine::Architecture::Riscv64(_) => Architecture::Riscv64,
        _ => return None,
    };
    let format = match machine.binary_format {
        // A machine without a system has the files of its compilers.
        machine::BinaryFormat::Elf | machine::BinaryFormat::Unknown => BinaryFormat::Elf,
        machine::BinaryFormat::Macho => BinaryFormat::MachO,
        machine::BinaryFormat::Coff => BinaryFormat::Coff,
        _ => return None,
    };
    Some((format, architecture))
}

//! Object files as a linker reads them, and headers as a C compiler does.

use object::read::{Object, ObjectSection, ObjectSymbol};
use object::{BinaryFormat, File, FileFlags};
use restride_ahead::{FileError, Function, FunctionBuffer, header, object};
use restride_graph::ElementType;
use restride_jit::{Compiler, Features, Standalone, Triple};
use restride_loops::{Kernel, Verified, verify};

fn kernel(text: &str) -> Verified {
    let kernel: Kernel = text.parse().expect("a kernel");
    verify(kernel).expect("a sound kernel")
}

/// One kernel with a constant, one without.
fn functions(machine: &Triple) -> Vec<Function> {
    let table = kernel(
        "kernel \"table\" {\n  b0 = const w1 [4]\n    \"01020304\"\n  b1 = out 0 w1 [4]\n  \
         move b1[0] <- b0[0] box [(4, 1, 1)] as rows\n}",
    );
    let copy = kernel(
        "kernel \"copy\" {\n  b0 = in 0 w8 [40]\n  b1 = out 0 w8 [40]\n  \
         move b1[0] <- b0[0] box [(40, 1, 1)] as rows\n}",
    );
    let mut compiler = Compiler::for_machine(machine, Features::Sse2).expect("a code generator");
    let mut function = |name: &str, kernel: &Verified| Function {
        name: name.into(),
        code: compiler.standalone(kernel).expect("code"),
        text: format!("func @{name}"),
        inputs: Vec::new(),
        outputs: Vec::new(),
        refusals: Vec::new(),
    };
    vec![function("table", &table), function("copy", &copy)]
}

fn triple(name: &str) -> Triple {
    name.parse().expect("a triple")
}

#[test]
fn a_file_has_its_functions_and_nothing_to_resolve() {
    for (name, format) in [
        ("x86_64-unknown-linux-gnu", BinaryFormat::Elf),
        ("aarch64-unknown-linux-gnu", BinaryFormat::Elf),
        ("aarch64-unknown-none", BinaryFormat::Elf),
        ("riscv64gc-unknown-linux-gnu", BinaryFormat::Elf),
        ("aarch64-apple-ios", BinaryFormat::MachO),
        ("x86_64-pc-windows-msvc", BinaryFormat::Coff),
    ] {
        let machine = triple(name);
        let functions = functions(&machine);
        let bytes = object(&machine, &functions).expect("a file");
        assert_eq!(object(&machine, &functions).as_ref(), Ok(&bytes), "{name}");
        let file = File::parse(&*bytes).expect("an object file");
        assert_eq!(file.format(), format, "{name}");
        for section in file.sections() {
            assert_eq!(section.relocations().count(), 0, "{name}");
        }
        let prefix = if format == BinaryFormat::MachO {
            "_"
        } else {
            ""
        };
        for function in &functions {
            let wanted = format!("{prefix}{}", function.name);
            let symbols = file.symbols();
            let mut found = symbols.filter(|symbol| symbol.name() == Ok(&wanted));
            let symbol = found.next().expect("a symbol");
            assert!(symbol.is_global() && found.next().is_none(), "{name}");
            let section = symbol.section_index().expect("a section");
            let section = file.section_by_index(section).expect("a section");
            assert!(section.align() >= Standalone::ALIGN as u64, "{name}");
            let at = (symbol.address() - section.address()) as usize;
            let data = section.data().expect("bytes");
            assert_eq!(data[at..][..function.code.bytes.len()], function.code.bytes);
        }
        let undefined = file.symbols().filter(|it| it.is_undefined());
        assert_eq!(
            undefined.filter(|it| it.name() != Ok("")).count(),
            0,
            "{name}"
        );
    }
}

#[test]
fn a_linker_keeps_stacks_as_they_are_and_finds_the_abi() {
    let machine = triple("riscv64gc-unknown-linux-gnu");
    let bytes = object(&machine, &functions(&machine)).expect("a file");
    let file = File::parse(&*bytes).expect("an object file");
    let note = file.section_by_name(".note.GNU-stack").expect("the note");
    assert_eq!(note.size(), 0);
    let FileFlags::Elf { e_flags, .. } = file.flags() else {
        panic!("no flags of ELF");
    };
    assert_eq!(e_flags, object::elf::EF_RISCV_FLOAT_ABI_DOUBLE);
}

#[test]
fn machines_without_files_are_an_error() {
    let machine = triple("wasm32-unknown-unknown");
    let error = object(&machine, &[]).expect_err("no format");
    assert_eq!(error, FileError::Machine(machine.to_string()));
}

/// Text of a program is a comment, whatever stands in it.
#[test]
fn no_text_leaves_its_comment() {
    let machine = triple("aarch64-unknown-linux-gnu");
    let mut functions = functions(&machine);
    functions[0].text = "ends in \\\nin ??/\n*/ int x;".into();
    functions[0].inputs.push(FunctionBuffer {
        label: "%\"a\\\"\\".into(),
        element: ElementType::C64,
        length: 3,
    });
    let header = header(&machine, &functions);
    for line in header.lines() {
        assert!(!line.ends_with('\\') && !line.ends_with("??/"), "{line}");
    }
    assert!(
        header.contains("// ends in \\ .\n// in ??/ .\n// */ int x;\n"),
        "{header}"
    );
    assert!(header.contains("typedef struct { float re, im; } restride_c64;"));
    assert!(header.contains("#define TABLE_IN0_BYTES 24\n"), "{header}");
}

//! Kernels that were compiled ahead of time, run by a program in C: natively, or under emulation.

pub mod cases;
pub mod machines;

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cases::Case;
use machines::Machine;
use restride::{Budget, Object};

/// What runs cases.
const HARNESS: &str = include_str!("harness.c");

/// What outputs hold before a call.
pub(crate) const BEFORE: u8 = 0xa5;

/// A program in C with the kernels of some cases, in a folder of its own.
pub struct Linked<'a> {
    machine: &'a Machine,
    cases: &'a [Case],
    folder: PathBuf,
    /// How long each case took to become code.
    pub times: Vec<Duration>,
    /// The bytes of code and of constants of each.
    pub sizes: Vec<(usize, usize)>,
    /// The bytes of the object file.
    pub object: usize,
}

impl<'a> Linked<'a> {
    /// Compiles cases to one object file, and links it with a program that runs them.
    pub fn new(machine: &'a Machine, cases: &'a [Case], folder: &Path) -> Result<Self, String> {
        let folder = folder.join(machine.name);
        fs::create_dir_all(&folder).map_err(said)?;
        let object = Object::new(machine.triple, machine.level).map_err(said)?;
        let mut object = object.within(Budget::UNLIMITED);
        let mut times = Vec::new();
        for (number, case) in cases.iter().enumerate() {
            let begun = Instant::now();
            let added = object.add(&format!("k{number}"), &case.graph);
            added.map_err(|error| format!("{}: {error}\n{}", case.name, case.graph))?;
            times.push(begun.elapsed());
        }
        let bytes = object.bytes().map_err(said)?;
        let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).map_err(said);
        write("kernels.o", &bytes)?;
        write("kernels.h", object.header().as_bytes())?;
        write("harness.c", HARNESS.as_bytes())?;
        write("table.c", table(cases).as_bytes())?;
        let sizes = object.functions().map(|(_, code, data)| (code, data));
        let sizes = sizes.collect();
        let linked = Self {
            machine,
            cases,
            folder,
            times,
            sizes,
            object: bytes.len(),
        };
        linked.link()?;
        Ok(linked)
    }

    fn link(&self) -> Result<(), String> {
        let mut gcc = Command::new(self.machine.gcc);
        gcc.args(["-O1", "-static", "-Wall", "-Werror", "-Wl,--fatal-warnings"]);
        gcc.args(["table.c", "kernels.o", "-o", "program"]);
        let output = gcc.current_dir(&self.folder).output().map_err(said)?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Runs all cases; what the program says of the first that goes wrong.
    pub fn run(&self) -> Result<(), String> {
        self.run_with(&[])
    }

    /// The same with other options for the emulator.
    pub fn run_with(&self, options: &[String]) -> Result<(), String> {
        let program = self.folder.join("program");
        let mut command = self.machine.command(&program, options);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(said)?;
        let mut into = BufWriter::new(child.stdin.take().ok_or("no pipe")?);
        for (number, case) in self.cases.iter().enumerate() {
            // A program that has given up says why.
            if case.write(number as u32, &mut into).is_err() {
                break;
            }
        }
        let _ = into.flush();
        drop(into);
        let output = child.wait_with_output().map_err(said)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if text.trim() == format!("{} cases", self.cases.len()) && output.status.success() {
            return Ok(());
        }
        let number = text.lines().find_map(|line| line.strip_prefix("case "));
        let number = number
            .and_then(|it| it.split(':').next())
            .unwrap_or_default();
        let case = number.parse().ok().and_then(|at: usize| self.cases.get(at));
        let case = case.map_or_else(String::new, |it| format!("{}\n{}", it.name, it.graph));
        let name = self.machine.name;
        Err(format!("{name}: {}, {text}{case}", output.status))
    }

    /// The code of a function, for people.
    pub fn disassembly(&self, number: usize) -> Result<String, String> {
        let mut objdump = Command::new(self.machine.nm.replace("nm", "objdump"));
        objdump.args(["--disassemble", "--no-show-raw-insn", "--no-addresses"]);
        let section = format!("--section=.text.k{number}");
        objdump.args([&section, "kernels.o"]);
        let output = objdump.current_dir(&self.folder).output().map_err(said)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Where each function lies in the program: the first address, and how many bytes it has.
    pub fn places(&self) -> Result<Vec<(u64, u64)>, String> {
        let program = self.folder.join("program");
        self.machine.places(&program, self.cases.len())
    }
}

/// The table of kernels, in C, by the constants of the header.
fn table(cases: &[Case]) -> String {
    let mut out = String::from("#include \"harness.c\"\n");
    let list = |side: &str, at: usize, count: usize| {
        let names = (0..count).map(|n| format!("K{at}_{side}{n}_BYTES, "));
        names.collect::<String>()
    };
    for (at, case) in cases.iter().enumerate() {
        let inputs = list("IN", at, case.graph.inputs().len());
        let outputs = list("OUT", at, case.graph.outputs().len());
        let _ = writeln!(out, "static const unsigned long in{at}[] = {{{inputs}0}};");
        let _ = writeln!(
            out,
            "static const unsigned long out{at}[] = {{{outputs}0}};"
        );
    }
    out.push_str("const struct kernel kernels[] = {\n");
    for at in 0..cases.len() {
        let _ = writeln!(
            out,
            "    {{k{at}, K{at}_INPUTS, K{at}_OUTPUTS, in{at}, out{at}, K{at}_SCRATCH_BYTES}},"
        );
    }
    let _ = writeln!(out, "}};\nconst unsigned kernel_count = {};", cases.len());
    out
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

//! Machines that kernels are compiled for, and what links and runs a program for each here.

use restride::Features;
use std::path::Path;
use std::process::{Command, Stdio};

/// A machine, and how to run programs for it.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// For reports, and for its folder.
    pub name: &'static str,
    /// What the compiler calls it.
    pub triple: &'static str,
    /// What code may use of an x86-64.
    pub level: Features,
    /// The C compiler.
    pub gcc: &'static str,
    /// What lists the symbols of a program.
    pub nm: &'static str,
    /// What runs a program, and its options; nothing where it runs by itself.
    pub emulator: &'static [&'static str],
}

const fn x86_64(name: &'static str, level: Features) -> Machine {
    Machine {
        name,
        triple: "x86_64-unknown-linux-gnu",
        level,
        gcc: "gcc",
        nm: "nm",
        emulator: &[],
    }
}

const fn riscv64(
    name: &'static str,
    triple: &'static str,
    emulator: &'static [&'static str],
) -> Machine {
    Machine {
        name,
        triple,
        level: Features::Sse2,
        gcc: "riscv64-linux-gnu-gcc",
        nm: "riscv64-linux-gnu-nm",
        emulator,
    }
}

/// All of them. Vectors of a RISC-V are as wide as a machine has them: code must not mind.
pub const MACHINES: [Machine; 9] = [
    x86_64("x86-64-sse2", Features::Sse2),
    x86_64("x86-64-sse4.1", Features::Sse41),
    x86_64("x86-64-avx", Features::Avx),
    x86_64("x86-64-avx2", Features::Avx2),
    x86_64("x86-64-avx512", Features::Avx512),
    Machine {
        name: "aarch64",
        triple: "aarch64-unknown-linux-gnu",
        level: Features::Sse2,
        gcc: "aarch64-linux-gnu-gcc",
        nm: "aarch64-linux-gnu-nm",
        emulator: &["qemu-aarch64"],
    },
    riscv64(
        "riscv64gc",
        "riscv64gc-unknown-linux-gnu",
        &["qemu-riscv64", "-cpu", "rv64,v=false"],
    ),
    riscv64(
        "riscv64a23",
        "riscv64a23-unknown-linux-gnu",
        &[
            "qemu-riscv64",
            "-cpu",
            "rv64,v=true,vlen=128,vext_spec=v1.0",
        ],
    ),
    riscv64(
        "riscv64a23-vlen256",
        "riscv64a23-unknown-linux-gnu",
        &[
            "qemu-riscv64",
            "-cpu",
            "rv64,v=true,vlen=256,vext_spec=v1.0",
        ],
    ),
];

impl Machine {
    /// What runs a program for it, with these options for the emulator.
    #[must_use]
    pub fn command(&self, program: &Path, options: &[String]) -> Command {
        let [emulator, before @ ..] = self.emulator else {
            return Command::new(program);
        };
        let mut command = Command::new(emulator);
        command.args(before).args(options).arg(program);
        command
    }

    /// Where the functions `k0`, `k1`, ... of a program lie: the first address of each, and how many bytes it has.
    pub fn places(&self, program: &Path, count: usize) -> Result<Vec<(u64, u64)>, String> {
        let mut nm = Command::new(self.nm);
        nm.args(["--print-size", "--defined-only"]).arg(program);
        let output = nm.output().map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut places = vec![(0, 0); count];
        for line in text.lines() {
            let [address, size, _, name] = line.split_whitespace().collect::<Vec<_>>()[..] else {
                continue;
            };
            let number = name.strip_prefix('k').and_then(|it| it.parse().ok());
            let place = number.and_then(|at: usize| places.get_mut(at));
            let [address, size] = [address, size].map(|it| u64::from_str_radix(it, 16).ok());
            if let (Some(place), Some(address), Some(size)) = (place, address, size) {
                *place = (address, size);
            }
        }
        Ok(places)
    }

    /// What is missing here to run programs for it, if anything is.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        if self.emulator.is_empty() {
            if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
                return Some("an x86-64 under Linux".into());
            }
            if !self.level.is_available() {
                return Some(format!("a processor with {:?}", self.level));
            }
        }
        let needed = [self.gcc, self.nm].into_iter();
        let mut needed = needed.chain(self.emulator.first().copied());
        needed.find(|tool| !is_installed(tool)).map(str::to_owned)
    }
}

/// Whether a program is there that says its version.
fn is_installed(tool: &str) -> bool {
    let mut command = Command::new(tool);
    command.arg("--version");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

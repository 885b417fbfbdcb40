//! The machine that a command is about, where it is not this one.

use clap::ValueEnum;
use restride::{Object, ObjectError};
use restride_jit::Features;
use restride_moves::Target;

use crate::failure::Failure;

/// Which machine, and what code may use of it.
#[derive(clap::Args)]
pub(crate) struct MachineArgs {
    /// For code of this machine ahead of time, such as aarch64-unknown-linux-gnu
    #[arg(long, value_name = "TRIPLE")]
    pub(crate) target: Option<String>,
    /// With `--target`: what code may use of an x86-64
    #[arg(long, value_enum, default_value_t, requires = "target")]
    level: LevelArg,
}

/// Levels of the processor by their names.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
#[allow(missing_docs, reason = "the names say it")]
enum LevelArg {
    #[default]
    Sse2,
    #[value(name = "sse4.1")]
    Sse41,
    Avx,
    Avx2,
    Avx512,
}

impl MachineArgs {
    /// What code may use of an x86-64.
    fn features(&self) -> Features {
        match self.level {
            LevelArg::Sse2 => Features::Sse2,
            LevelArg::Sse41 => Features::Sse41,
            LevelArg::Avx => Features::Avx,
            LevelArg::Avx2 => Features::Avx2,
            LevelArg::Avx512 => Features::Avx512,
        }
    }

    /// An object without functions for it; nothing if no machine is named.
    pub(crate) fn object(&self) -> Result<Option<Object>, Failure> {
        let made = |name: &String| {
            let object = Object::new(name, self.features());
            object.map_err(|error| {
                let advice = match error {
                    ObjectError::Target(_) => "",
                    _ => "; there are those of x86_64, aarch64 and riscv64gc",
                };
                Failure::Usage(format!("{error}{advice}"))
            })
        };
        self.target.as_ref().map(made).transpose()
    }

    /// What programs are planned for: that machine, or the default.
    pub(crate) fn planned_for(&self) -> Result<Target, Failure> {
        let object = self.object()?;
        Ok(object.map_or_else(Target::default, |object| object.target().clone()))
    }
}

//! `--emit`: each kind of group as a file.

use std::fs;
use std::path::Path;

use super::File;
use super::survey::{GroupKind, Survey};
use crate::failure::Failure;

/// The name of the file of the n-th kind.
pub(super) fn name(at: usize, kind: &GroupKind) -> String {
    format!("{:03}-{}.mv", at + 1, kind.first().program.graph.name())
}

/// Writes all of them.
pub(super) fn write(survey: &Survey, file: &File, folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(Failure::of_file(folder))?;
    for (at, kind) in survey.kinds.iter().enumerate() {
        let path = folder.join(name(at, kind));
        let times = kind.members.len();
        let any: Vec<&str> = survey.any(kind).collect();
        let open = match any.is_empty() {
            true => String::new(),
            false => format!(
                "// A template: the shapes of its inputs are samples, with any {}.\n",
                any.join(", any ")
            ),
        };
        let text = format!(
            "// {}, group {} of {}, {times} time{}: {}\n{open}{}",
            file.name(),
            at + 1,
            survey.kinds.len(),
            if times == 1 { "" } else { "s" },
            kind.what,
            kind.first().program.graph
        );
        fs::write(&path, text).map_err(Failure::of_file(&path))?;
    }
    Ok(())
}

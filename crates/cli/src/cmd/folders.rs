//! Folders of ONNX backend tests: `model.onnx` and `test_data_set_*` with `input_*.pb` and
//! `output_*.pb`, or folders of such folders.

use std::fs;
use std::path::{Path, PathBuf};

use restride_testkit::conform::{FileReport, Miss, ModelCase, check_model};
use restride_testkit::rungs::Rung;

/// How deep folders are looked through.
const DEPTH: usize = 4;

/// Checks every test in a folder and the folders in it.
pub(crate) fn check(folder: &Path, rungs: &[&dyn Rung]) -> FileReport {
    let mut report = FileReport::default();
    look(folder, rungs, DEPTH, &mut report);
    if report == FileReport::default() {
        report.failures.push("no model.onnx is in it".into());
    }
    report
}

fn look(folder: &Path, rungs: &[&dyn Rung], depth: usize, report: &mut FileReport) {
    let model = folder.join("model.onnx");
    if !model.exists() {
        for inner in entries(folder).into_iter().filter(|path| path.is_dir()) {
            if depth > 0 {
                look(&inner, rungs, depth - 1, report);
            }
        }
        return;
    }
    let sets = entries(folder)
        .into_iter()
        .filter(|path| is_named(path, "test_data_set_"));
    for set in sets {
        let id = set.display().to_string();
        let case = case(&model, &set, id.clone()).map_err(Miss::Wrong);
        report.add(&id, case.and_then(|case| check_model(&case, rungs)));
    }
}

fn is_named(path: &Path, prefix: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(prefix))
}

/// What is in a folder, by name; nothing if it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn case(model: &Path, set: &Path, id: String) -> Result<ModelCase, String> {
    let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let numbered = |prefix: &str| {
        let file = |at: usize| set.join(format!("{prefix}_{at}.pb"));
        let files = (0..).map(file).take_while(|path| path.exists());
        files.map(|path| read(&path)).collect::<Result<Vec<_>, _>>()
    };
    Ok(ModelCase {
        id,
        model: read(model)?,
        inputs: numbered("input")?,
        outputs: numbered("output")?,
    })
}

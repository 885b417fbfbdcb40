//! `restride model`: what a model spends on moving data.

mod emit;
mod html;
mod json;
pub(crate) mod rewrite;
mod runtime;
mod survey;
mod text;
mod times;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use restride_import::{ImportOptions, Model, ModelSource, Sizes};

use crate::failure::Failure;
use crate::source::printable;
use crate::views::Views;
use survey::Survey;

/// The arguments of `restride model`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: File,
    #[command(flatten)]
    views: Views,
    /// Leave the times out
    #[arg(long)]
    no_times: bool,
    /// Write each group as a program that all other commands take
    #[arg(long, value_name = "FOLDER")]
    emit: Option<PathBuf>,
    /// Write a page with the movement drawn
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// A model's file and what it leaves open.
#[derive(clap::Args)]
pub(crate) struct File {
    /// An ONNX model, or the .xml of an OpenVINO IR
    file: PathBuf,
    /// The shape of an input, or of a tensor whose shape nobody can tell
    #[arg(long, value_name = "NAME=SIZE,..")]
    shape: Vec<String>,
    /// A size that the file calls by a name
    #[arg(long, value_name = "NAME=SIZE")]
    size: Vec<String>,
    /// What a small input of whole numbers holds, where it decides what runs
    #[arg(long, value_name = "NAME=NUMBER,..")]
    value: Vec<String>,
    /// How many channels a block has in a file that ONNX Runtime has optimised for another machine
    #[arg(long, value_name = "CHANNELS")]
    block: Option<i64>,
}

impl File {
    /// The file's name for people.
    pub(super) fn name(&self) -> String {
        printable(&self.file.display().to_string())
    }

    /// The path.
    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    /// What was said on the command line.
    fn options(&self) -> Result<ImportOptions, Failure> {
        let mut options = ImportOptions::default();
        for text in &self.shape {
            let (name, sizes) = numbers(text, "shape")?;
            options.shape(name, sizes);
        }
        for text in &self.size {
            match numbers(text, "size")? {
                (name, sizes) if sizes.len() == 1 => options.size(name, sizes[0]),
                _ => {
                    return Err(Failure::Usage(format!(
                        "`{}`: one size a name",
                        printable(text)
                    )));
                }
            };
        }
        for text in &self.value {
            let (name, numbers) = numbers(text, "value")?;
            options.numbers(name, numbers);
        }
        if let Some(channels) = self.block {
            options.channel_block(channels);
        }
        Ok(options)
    }

    /// Reads the model.
    pub(super) fn open(&self) -> Result<Model, Failure> {
        Ok(self.read(&self.options()?)?.1)
    }

    /// The bytes of the model, the model, and what it is at other sizes than its own.
    pub(super) fn with_sizes(&self) -> Result<(Model, Sizes), Failure> {
        self.sizes_with(self.options()?)
    }

    /// The same for a runtime that makes some transposes a part of its products.
    pub(super) fn for_runtime(&self) -> Result<(Model, Sizes), Failure> {
        let mut options = self.options()?;
        options.products_turn();
        self.sizes_with(options)
    }

    fn sizes_with(&self, options: ImportOptions) -> Result<(Model, Sizes), Failure> {
        let (source, model) = self.read(&options)?;
        let sizes = Sizes::of(source, &options, &model);
        Ok((model, sizes))
    }

    fn read(&self, options: &ImportOptions) -> Result<(ModelSource, Model), Failure> {
        let source = ModelSource::open(&self.file);
        let read = source.and_then(|source| Ok((source.model(options)?, source)));
        read.map(|(model, source)| (source, model))
            .map_err(Failure::of_file(&self.file))
    }
}

/// `name=1,2,3`; a name may hold an `=` itself.
fn numbers<'a>(text: &'a str, what: &str) -> Result<(&'a str, Vec<i64>), Failure> {
    let read = text.rsplit_once('=').and_then(|(name, numbers)| {
        let numbers = numbers
            .split(',')
            .filter(|number| !number.trim().is_empty());
        let numbers: Result<Vec<i64>, _> = numbers.map(|number| number.trim().parse()).collect();
        Some((name, numbers.ok()?))
    });
    read.ok_or_else(|| {
        let text = printable(text);
        Failure::Usage(format!(
            "`{text}` is no {what}: write it as --{what} name=1,2,3"
        ))
    })
}

/// Looks at the model and says what it found.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let (model, mut sizes) = args.file.with_sizes()?;
    let mut survey = Survey::of(model, &mut sizes, args.views.policy())?;
    if !args.no_times {
        times::measure(&mut survey);
    }
    survey.sort();
    if let Some(folder) = &args.emit {
        emit::write(&survey, &args.file, folder)?;
    }
    if let Some(path) = &args.html {
        let page = html::page(&survey, &args.file);
        std::fs::write(path, page).map_err(Failure::of_file(path))?;
    }
    let mut out = io::stdout().lock();
    match args.json {
        true => writeln!(out, "{}", json::object(&survey, &args.file))?,
        false => text::write(&survey, &args.file, &mut out)?,
    }
    Ok(ExitCode::SUCCESS)
}

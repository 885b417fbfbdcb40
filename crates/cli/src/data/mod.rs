//! Tensors outside of memory: files, recipes, and print.

pub(crate) mod element;
pub(crate) mod inputs;
pub(crate) mod npy;
pub(crate) mod recipe;
pub(crate) mod safetensors;
pub(crate) mod show;

use std::fs::File;
use std::io::Read;

use crate::failure::Failure;

/// The most bytes that a file of data may hold.
pub(crate) const MAX_DATA: u64 = 8 << 30;

/// Opens a file and says how long it is.
fn open(path: &str) -> Result<(File, u64), Failure> {
    let file = File::open(path).map_err(Failure::of_file(path))?;
    let length = file.metadata().map_err(Failure::of_file(path))?.len();
    if length > MAX_DATA {
        let message = format!("{length} bytes; the limit is {MAX_DATA}");
        return Err(Failure::of_file(path)(message));
    }
    Ok((file, length))
}

/// Reads exactly so many bytes. Memory grows with what is there, not with what was announced.
fn take(from: impl Read, count: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let got = from.take(count).read_to_end(&mut bytes);
    match got {
        Err(error) => Err(error.to_string()),
        Ok(got) if (got as u64) < count => Err(format!("ends after {got} of {count} bytes")),
        Ok(_) => Ok(bytes),
    }
}

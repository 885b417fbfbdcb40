//! What went wrong elsewhere in exactly these operators, each with a test named after it: the
//! situation, and the right answer or the error that a user gets instead.
//!
//! `cve` numbers are MITRE's, `tf`, `ort`, `ov`, `tvm` and `xnnpack` are issues and pull requests
//! of TensorFlow, ONNX Runtime, OpenVINO, Apache TVM and XNNPACK, `rustsec` is the advisory
//! database of Rust crates. Every answer comes from native code and from the generic executor, and
//! is compared with the definition of the operators.

#[path = "../support/mod.rs"]
mod support;

mod calls;
mod extremes;
mod files;
mod gathers;
mod machine;
mod shapes;
mod slices;

/// The error is these words.
#[track_caller]
fn says(error: String, words: &str) {
    assert_eq!(error, words);
}

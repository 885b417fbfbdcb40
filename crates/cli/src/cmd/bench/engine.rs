//! The compiler as a subject.

use super::subject::Subject;

/// The compiler with its default settings.
pub(crate) fn subject() -> Result<Box<dyn Subject>, String> {
    Err("the engine is not wired yet; --reference runs the definition".into())
}

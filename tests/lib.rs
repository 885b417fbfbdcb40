//! The home of the tests that span crates: file tests, golden cases, the ladder.

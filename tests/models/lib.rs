//! Models of what threads share: see `main.rs`, the only thing here.

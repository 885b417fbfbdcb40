//! A panic inside a compile is an error of that compile and of nothing else.

use restride_loops::Kernel;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a part of a compile; the message of its panic if it has one.
///
/// What the work was changing may be left half changed: the caller drops it.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".to_owned())
    })
}

/// Where the tests of this crate make a compile panic or wait.
#[derive(Clone, Copy)]
pub(crate) enum Point<'a> {
    /// Between canonicaliser and verifier.
    Stages,
    /// In the code generator, at work on this.
    Code(#[cfg_attr(not(test), expect(dead_code, reason = "tests look at it"))] &'a Kernel),
}

/// Panics here if a test of this thread has asked for it, waits here while any test holds it up.
#[inline]
pub(crate) fn point(point: Point<'_>) {
    #[cfg(test)]
    inject::reached(point);
    #[cfg(not(test))]
    let _ = point;
}

#[cfg(test)]
pub(crate) mod inject {
    use super::Point;
    use std::cell::Cell;
    use std::sync::{Arc, Condvar, Mutex};

    thread_local! {
        static NEXT: Cell<Option<&'static str>> = const { Cell::new(None) };
    }

    pub(crate) fn panic_once_at(point: &'static str) {
        NEXT.set(Some(point));
    }

    /// What code is not made while it is alive: that of kernels with a buffer of so many elements.
    pub(crate) struct Held {
        elements: i64,
        gate: Arc<Gate>,
    }

    #[derive(Default)]
    struct Gate {
        /// How many are waiting, and whether they may go on.
        state: Mutex<(usize, bool)>,
        changed: Condvar,
    }

    static HELD: Mutex<Vec<(i64, Arc<Gate>)>> = Mutex::new(Vec::new());

    impl Held {
        pub(crate) fn new(elements: i64) -> Self {
            let gate = Arc::<Gate>::default();
            HELD.lock().unwrap().push((elements, gate.clone()));
            Self { elements, gate }
        }

        /// Waits until so many compiles are held up.
        pub(crate) fn wait_for(&self, count: usize) {
            let mut state = self.gate.state.lock().unwrap();
            while state.0 < count {
                state = self.gate.changed.wait(state).unwrap();
            }
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            HELD.lock().unwrap().retain(|held| held.0 != self.elements);
            self.gate.state.lock().unwrap().1 = true;
            self.gate.changed.notify_all();
        }
    }

    pub(super) fn reached(point: Point<'_>) {
        let name = match point {
            Point::Stages => "Stages",
            Point::Code(_) => "Code",
        };
        if NEXT.get() == Some(name) {
            NEXT.set(None);
            panic!("injected at {name}");
        }
        let Point::Code(kernel) = point else { return };
        let held = HELD.lock().unwrap().clone();
        let has = |elements| kernel.buffers.iter().any(|buffer| buffer.len == elements);
        for (_, gate) in held.into_iter().filter(|held| has(held.0)) {
            let mut state = gate.state.lock().unwrap();
            state.0 += 1;
            gate.changed.notify_all();
            while !state.1 {
                state = gate.changed.wait(state).unwrap();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Config, ElementType, Engine, Graph, InputShape, Template, TensorMut, TensorRef, ViewPolicy,
    };

    fn turned() -> Graph {
        let mut g = Graph::new("t");
        let x = g.input("x", ElementType::U8, [2, 3]).unwrap();
        let y = g.transpose(x, [1, 0]).unwrap();
        g.output(y).unwrap();
        g
    }

    fn engine() -> Engine {
        Engine::new(Config {
            views: ViewPolicy::Copy,
            ..Config::default()
        })
    }

    fn works(program: &crate::Program) {
        let mut y = [0u8; 6];
        let x = TensorRef::new(&[0u8, 1, 2, 3, 4, 5]);
        program.run(&[x], &mut [TensorMut::new(&mut y)]).unwrap();
        assert_eq!(y, [0, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn a_panic_in_a_stage_is_an_error_and_the_engine_works_on() {
        let engine = engine();
        let node = Template::new(turned());
        inject::panic_once_at("Stages");
        let error = engine.compile(&turned()).unwrap_err().to_string();
        assert_eq!(error, "the compiler has a defect: injected at Stages");
        inject::panic_once_at("Stages");
        let shape = [InputShape::dense(&[2, 3])];
        assert!(engine.specialise(&node, &shape).is_err());
        assert_eq!(engine.stats().entries, 0, "failures are not kept");
        works(&engine.specialise(&node, &shape).unwrap());
        works(&engine.compile(&turned()).unwrap());
    }

    #[test]
    fn a_panic_in_the_code_generator_leaves_the_generic_executor() {
        let engine = engine();
        inject::panic_once_at("Code");
        let program = engine.compile(&turned()).unwrap();
        assert!(!program.summary().native);
        works(&program);
        let stats = engine.stats();
        assert_eq!((stats.compiled, stats.refused), (0, 1));
        let again = engine.compile(&turned()).unwrap();
        assert!(again.summary().native);
        works(&again);
    }
}

//! A panic inside a compile is an error of that compile and of nothing else.

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

/// Where the tests of this crate make a compile panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    /// Between canonicaliser and verifier.
    Stages,
    /// In the code generator.
    Code,
}

/// Panics here if a test of this thread has asked for it.
#[inline]
pub(crate) fn point(point: Point) {
    #[cfg(test)]
    inject::reached(point);
    #[cfg(not(test))]
    let _ = point;
}

#[cfg(test)]
mod inject {
    use super::Point;
    use std::cell::Cell;

    thread_local! {
        static NEXT: Cell<Option<Point>> = const { Cell::new(None) };
    }

    pub(super) fn panic_once_at(point: Point) {
        NEXT.set(Some(point));
    }

    pub(super) fn reached(point: Point) {
        if NEXT.get() == Some(point) {
            NEXT.set(None);
            panic!("injected at {point:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, ElementType, Engine, Graph, InputShape, Template, TensorMut, TensorRef};

    fn turned() -> Graph {
        let mut g = Graph::new("t");
        let x = g.input("x", ElementType::U8, [2, 3]).unwrap();
        let y = g.transpose(x, [1, 0]).unwrap();
        g.output(y).unwrap();
        g
    }

    fn engine() -> Engine {
        Engine::new(Config {
            copy_views: true,
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
        inject::panic_once_at(Point::Stages);
        let error = engine.compile(&turned()).unwrap_err().to_string();
        assert_eq!(error, "the compiler has a defect: injected at Stages");
        inject::panic_once_at(Point::Stages);
        let shape = [InputShape::dense(&[2, 3])];
        assert!(engine.specialise(&node, &shape).is_err());
        assert_eq!(engine.stats().entries, 0, "failures are not kept");
        works(&engine.specialise(&node, &shape).unwrap());
        works(&engine.compile(&turned()).unwrap());
    }

    #[test]
    fn a_panic_in_the_code_generator_leaves_the_generic_executor() {
        let engine = engine();
        inject::panic_once_at(Point::Code);
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

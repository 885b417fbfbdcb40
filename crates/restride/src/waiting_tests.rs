//! Nobody waits for a compile but who asked for it: one is held up, and all else goes on.

use crate::guard::inject::Held;
use crate::{
    Code, Config, ElementType, Engine, Graph, InputShape, Program, Template, TensorMut, TensorRef,
};
use restride_graph::ViewPolicy;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A matrix of bytes, turned.
fn turned(rows: i64, columns: i64) -> Graph {
    let mut g = Graph::new("t");
    let x = g.input("x", ElementType::U8, [rows, columns]).unwrap();
    let y = g.transpose(x, [1, 0]).unwrap();
    g.output(y).unwrap();
    g
}

fn engine(code: Code) -> Engine {
    Engine::new(Config {
        code,
        views: ViewPolicy::Copy,
        native_after_calls: Some(3),
        ..Config::default()
    })
}

fn works(program: &Program) {
    let bytes = program.inputs()[0].numel();
    let (x, mut y) = (vec![3u8; bytes], vec![0u8; bytes]);
    let inputs = [TensorRef::new(&x)];
    program.run(&inputs, &mut [TensorMut::new(&mut y)]).unwrap();
    assert_eq!(x, y);
}

/// Does something that must not wait. Were it to, this would say so and not hang.
fn at_once<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = channel();
    std::thread::spawn(move || done.send(work()));
    let waited = result.recv_timeout(Duration::from_secs(60));
    waited.expect("it waits, or has panicked")
}

fn eventually(holds: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("it does not come to that");
}

#[test]
fn a_compile_under_way_stands_in_nobodys_way() {
    for (code, side) in [(Code::Native, 61), (Code::Background, 67)] {
        let engine = engine(code);
        let node = Template::new(turned(4, 5));
        // Neither shape has machine code yet.
        for rows in [6, 7] {
            let shape = [rows, 5];
            works(
                &engine
                    .specialise(&node, &[InputShape::dense(&shape)])
                    .unwrap(),
            );
        }
        let held = Held::new(side * side);
        let other = engine.clone();
        let slow = std::thread::spawn(move || other.compile(&turned(side, side)).unwrap());
        held.wait_for(1);
        let (same, other) = (engine.clone(), node.clone());
        at_once(move || {
            for rows in [6, 7].repeat(8) {
                let shape = [rows, 5];
                let program = same.specialise(&other, &[InputShape::dense(&shape)]);
                works(&program.unwrap());
            }
            let settled = same
                .specialise(&other, &[InputShape::dense(&[7, 5])])
                .unwrap();
            assert_eq!(settled.summary().native, code == Code::Native);
            let another = Template::new(turned(9, 9));
            works(
                &same
                    .specialise(&another, &[InputShape::dense(&[9, 8])])
                    .unwrap(),
            );
            works(&same.compile(&turned(11, 12)).unwrap());
            assert!(!format!("{:?}", same.stats()).is_empty());
            same.clear();
        });
        // The thread that compiles has a clone under Native; it is let go of here all the same.
        at_once(move || drop((engine, node)));
        drop(held);
        works(&slow.join().unwrap());
    }
}

#[test]
fn two_graphs_are_compiled_at_one_time() {
    let engine = engine(Code::Native);
    let held = [71, 73].map(|side| (side, Held::new(side * side)));
    let threads = held.each_ref().map(|(side, _)| {
        let (engine, side) = (engine.clone(), *side);
        std::thread::spawn(move || engine.compile(&turned(side, side)).unwrap())
    });
    // Each arrives while the other is still there.
    at_once({
        let waiting = held;
        move || waiting.iter().for_each(|(_, held)| held.wait_for(1))
    });
    for thread in threads {
        let program = thread.join().unwrap();
        assert!(program.summary().native);
        works(&program);
    }
    assert_eq!(engine.stats().compiled, 2);
}

#[test]
fn a_kernel_that_is_given_code_is_not_waited_for() {
    let engine = engine(Code::Native);
    let node = Template::new(turned(4, 5));
    for rows in [6, 79] {
        let shape = [rows, 79];
        works(
            &engine
                .specialise(&node, &[InputShape::dense(&shape)])
                .unwrap(),
        );
    }
    let held = Held::new(79 * 79);
    let other = engine.clone();
    let settles = std::thread::spawn(move || {
        let shape = [InputShape::dense(&[79, 79])];
        let ask = || other.specialise(&node, &shape).unwrap();
        for _ in 0..3 {
            ask();
        }
        ask()
    });
    held.wait_for(1);
    let other = engine.clone();
    let equal = at_once(move || other.compile(&turned(79, 79)).unwrap());
    assert!(!equal.summary().native);
    works(&equal);
    drop(held);
    assert!(settles.join().unwrap().summary().native);
    assert!(equal.summary().native, "what one thread made is for all");
    works(&equal);
}

#[test]
fn a_dropped_engine_forgets_what_waits_and_leaves_the_rest() {
    let engine = engine(Code::Background);
    let held = Held::new(83 * 83);
    let slow = engine.compile(&turned(83, 83)).unwrap();
    held.wait_for(1);
    let programs: Vec<_> = (2..50)
        .map(|n| engine.compile(&turned(n, 7)).unwrap())
        .collect();
    let jit = Arc::downgrade(engine.jit());
    at_once(move || drop(engine));
    assert!(jit.strong_count() > 0, "the compile holds what it needs");
    works(&slow);
    drop(held);
    eventually(|| jit.strong_count() == 0);
    assert!(slow.summary().native);
    assert!(programs.iter().all(|program| !program.summary().native));
    programs.iter().for_each(works);
}

#[test]
fn who_must_wait_for_the_thread_can() {
    let engine = engine(Code::Background);
    let held = Held::new(89 * 89);
    let slow = engine.compile(&turned(89, 89)).unwrap();
    held.wait_for(1);
    let late = engine.compile(&turned(9, 10)).unwrap();
    let stopping = std::thread::spawn({
        let engine = engine.clone();
        move || engine.stop_background()
    });
    drop(held);
    stopping.join().unwrap();
    assert!(slow.summary().native);
    let later = engine.compile(&turned(10, 11)).unwrap();
    engine.stop_background();
    works(&later);
    assert!(!later.summary().native);
    drop(late);
}

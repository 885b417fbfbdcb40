//! The facade as an engine's author meets it: answers, calls, checks and errors.

use restride::{
    Argument, Code, Config, ElementType, Engine, Graph, IndexRule, InputShape, Memory,
    OffendingIndex, OutOfRange, Output, ParallelFor, RunError, Strided, Template, TensorMut,
    TensorRef, TensorType, ViewPolicy,
};
use std::mem::MaybeUninit;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn transposed(rows: i64, columns: i64) -> Graph {
    let mut g = Graph::new("t");
    let x = g.input("x", ElementType::F32, [rows, columns]).unwrap();
    let y = g.transpose(x, [1, 0]).unwrap();
    g.output(y).unwrap();
    g
}

const CODES: [Code; 4] = [
    Code::Native,
    Code::Background,
    Code::Generic,
    Code::SelfContained,
];

/// Every way in which an engine can hold code.
fn engines() -> Vec<Engine> {
    let mut engines = Vec::new();
    for code in CODES {
        for memory in [Memory::Auto, Memory::Arena, Memory::Module] {
            let config = Config {
                code,
                memory,
                views: ViewPolicy::Copy,
                ..Config::default()
            };
            engines.push(Engine::new(config));
        }
    }
    engines
}

struct Threads(usize);

impl ParallelFor for Threads {
    fn width(&self) -> usize {
        self.0
    }

    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for n in 0..count {
                scope.spawn(move || body(n));
            }
        });
    }
}

#[test]
fn every_kind_of_code_computes_the_same() -> Outcome {
    let (rows, columns) = (301, 517);
    let x: Vec<f32> = (0..rows * columns).map(|n| n as f32).collect();
    for engine in engines() {
        let program = engine.compile(&transposed(rows, columns))?;
        for pool in [1, 2, 5] {
            let mut y = vec![0f32; x.len()];
            program.run_on(
                &Threads(pool),
                &[TensorRef::new(&x)],
                &mut [TensorMut::new(&mut y)],
            )?;
            let right = (0..y.len() as i64).all(|at| {
                let (row, column) = (at / rows, at % rows);
                y[at as usize] == x[(column * columns + row) as usize]
            });
            assert!(right, "{engine:?}");
        }
    }
    Ok(())
}

#[test]
fn views_are_answered_and_move_nothing() -> Outcome {
    let program = Engine::default().compile(&transposed(3, 4))?;
    assert!(program.is_view());
    let Output::View {
        input: 0,
        layout,
        ty,
    } = &program.outputs()[0]
    else {
        panic!()
    };
    assert_eq!(
        *layout,
        Strided {
            offset: 0,
            strides: [1, 4].into_iter().collect()
        }
    );
    assert_eq!(ty.shape(), [4, 3]);
    program.run(&[TensorRef::new(&[0f32; 12])], &mut [])?;
    Ok(())
}

/// A pool that leaves out what its numbers say, and passes others twice.
struct Careless;

impl ParallelFor for Careless {
    fn width(&self) -> usize {
        8
    }

    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
        for n in (0..count).step_by(3) {
            body(n);
            body(n);
        }
    }
}

#[test]
fn what_a_pool_leaves_undone_is_done() -> Outcome {
    let mut g = Graph::new("heads");
    let x = g.input("x", ElementType::F32, [64, 32, 96])?;
    let turned = g.transpose(x, [1, 0, 2])?;
    let flat = g.reshape(turned, [64 * 32 * 96]).finish()?;
    g.output(flat)?;
    let program = Engine::default().compile(&g)?;
    assert!(program.kernel().is_parallel());
    let x: Vec<f32> = (0..64 * 32 * 96).map(|n| n as f32).collect();
    let [mut alone, mut shared] = [vec![0f32; x.len()], vec![0f32; x.len()]];
    program.run(&[TensorRef::new(&x)], &mut [TensorMut::new(&mut alone)])?;
    let outputs = &mut [TensorMut::new(&mut shared)];
    program.run_on(&Careless, &[TensorRef::new(&x)], outputs)?;
    assert_eq!(alone, shared);
    Ok(())
}

#[test]
fn axes_of_size_1_have_the_strides_of_a_dense_tensor() -> Outcome {
    let mut g = Graph::new("units");
    let x = g.input("x", ElementType::F32, [4, 16])?;
    let y = g.unsqueeze(x, [0, 2, 4])?;
    g.output(y)?;
    let program = Engine::default().compile(&g)?;
    let Output::View { layout, .. } = &program.outputs()[0] else {
        return Err("a copy".into());
    };
    assert_eq!(layout.strides.as_slice(), [64, 16, 16, 1, 1]);
    Ok(())
}

#[test]
fn calls_are_checked() -> Outcome {
    let engine = Engine::new(Config {
        views: ViewPolicy::Copy,
        ..Config::default()
    });
    let program = engine.compile(&transposed(3, 4))?;
    let (x, mut y) = ([0f32; 12], [0f32; 12]);
    let run = |x: &[TensorRef<'_>], y: &mut [TensorMut<'_>]| program.run(x, y).unwrap_err();
    let given = TensorRef::new(&x);
    let error = run(&[], &mut [TensorMut::new(&mut y)]);
    assert_eq!(
        error,
        RunError::InputCount {
            expected: 1,
            got: 0
        }
    );
    assert_eq!(
        run(&[given], &mut []),
        RunError::OutputCount {
            expected: 1,
            got: 0
        }
    );
    let error = run(&[TensorRef::new(&x[1..])], &mut [TensorMut::new(&mut y)]);
    let short = RunError::TooShort {
        argument: Argument::Input(0),
        got: 44,
        expected: 48,
    };
    assert_eq!(error, short);
    let error = run(&[given], &mut [TensorMut::new(&mut y[..11])]);
    assert_eq!(
        error.to_string(),
        "output 0 has 44 bytes, its layout needs 48"
    );
    let error = run(
        &[TensorRef::new(&[0i32; 12])],
        &mut [TensorMut::new(&mut y)],
    );
    assert_eq!(
        error.to_string(),
        "input 0 has elements of i32, the program was compiled for f32"
    );
    let bytes = [0u8; 49];
    program.run(
        &[TensorRef::from_bytes(&bytes[1..])],
        &mut [TensorMut::new(&mut y)],
    )?;
    Ok(())
}

#[test]
fn slices_of_bool_are_written_from_bools_alone() -> Outcome {
    const BOOL: ElementType = ElementType::Bool;
    let mut g = Graph::new("bools");
    let x = g.input("x", BOOL, [4])?;
    let y = g.pad(x, [1], [0]).constant(1).finish()?;
    let z = g.roll(y, [2], [0])?;
    g.output(z)?;
    let [bools, bytes] = [[true, false, false, true], [true; 4]].map(|x| x.to_vec());
    let strange = [0u8, 1, 2, 255];
    for engine in engines() {
        let program = engine.compile(&g)?;
        let mut y = [false; 5];
        program.run(&[TensorRef::new(&bools)], &mut [TensorMut::new(&mut y)])?;
        assert_eq!(y, [false, true, true, true, false]);
        let mut y = [const { MaybeUninit::<bool>::uninit() }; 5];
        let inputs = [
            TensorRef::of(BOOL, &strange),
            TensorRef::from_bytes(&[2; 4]),
        ];
        for input in inputs {
            // Bytes may hold what they like, bools may not.
            for output in [TensorMut::new(&mut [false; 5]), TensorMut::uninit(&mut y)] {
                let mut scratch = vec![0; program.summary().scratch_bytes];
                let refused = RunError::NotBool {
                    output: Argument::Output(0),
                    input: Argument::Input(0),
                };
                let bound = program.bind_in(&[input], [output], &mut scratch);
                assert_eq!(bound.map(|_| ()), Err(refused));
            }
        }
        let mut y = [9u8; 5];
        program.run(&[inputs[0]], &mut [TensorMut::of(BOOL, &mut y)])?;
        assert_eq!(y, [2, 255, 1, 0, 1]);
        program.run(
            &[TensorRef::new(&bytes)],
            &mut [TensorMut::from_bytes(&mut y)],
        )?;
        assert_eq!(y, [1; 5]);
    }
    for bits in [1, 2, 255] {
        let is_bool = bits == 1;
        let mut g = Graph::new("b");
        let x = g.input("x", BOOL, [1])?;
        assert_eq!(g.pad(x, [1], [1]).constant(bits).finish().is_ok(), is_bool);
        for line in [
            format!("pad %x low [1] high [1] constant {bits}"),
            format!("constant bool[1] [{bits}]"),
        ] {
            let text = format!("func @f(%x: bool[1]) {{\n%y = {line}\nreturn %y\n}}");
            assert_eq!(Graph::parse(&text).is_ok(), is_bool, "{text}");
        }
    }
    Ok(())
}

#[test]
fn failed_gathers_leave_outputs_alone() -> Outcome {
    let mut g = Graph::new("rows");
    let x = g.input("x", ElementType::U8, [5, 2])?;
    let i = g.input("i", ElementType::I64, [3])?;
    let rule = IndexRule {
        out_of_range: OutOfRange::Error,
        wrap: true,
    };
    let y = g.gather(x, i, rule).axis(0).finish()?;
    g.output(y)?;
    for engine in engines() {
        let program = engine.compile(&g)?;
        let x: Vec<u8> = (0..10).collect();
        let mut y = [99u8; 6];
        let call = |i: &[i64], y: &mut [u8]| {
            program.run(
                &[TensorRef::new(&x), TensorRef::new(i)],
                &mut [TensorMut::new(y)],
            )
        };
        call(&[4, -5, 1], &mut y)?;
        assert_eq!(y, [8, 9, 0, 1, 2, 3]);
        let Err(RunError::Index {
            position,
            value,
            limit,
            ..
        }) = call(&[0, 5, -6], &mut y)
        else {
            panic!("no error")
        };
        assert_eq!((position, value, limit), (1, OffendingIndex::Value(5), 5));
        assert_eq!(y, [8, 9, 0, 1, 2, 3]);
    }
    Ok(())
}

#[test]
fn outputs_may_lie_in_a_larger_buffer() -> Outcome {
    // Appending two rows to a cache of eight, in place.
    let mut g = Graph::new("append");
    let x = g.input("x", ElementType::U16, [2, 3])?;
    g.strided_output(
        x,
        Strided {
            offset: 9,
            strides: [3, 1].into_iter().collect(),
        },
    )?;
    let program = Engine::default().compile(&g)?;
    let mut cache = [7u16; 24];
    let new = [1u16, 2, 3, 4, 5, 6];
    program.run(&[TensorRef::new(&new)], &mut [TensorMut::new(&mut cache)])?;
    assert_eq!(cache[9..15], new);
    assert!(cache[..9].iter().chain(&cache[15..]).all(|v| *v == 7));
    Ok(())
}

#[test]
fn shapes_get_machine_code_when_they_have_been_asked_for_often_enough() -> Outcome {
    let config = Config {
        native_after_calls: Some(3),
        views: ViewPolicy::Copy,
        ..Config::default()
    };
    let engine = Engine::new(config);
    let node = Template::new(transposed(2, 3));
    for n in 1..=20i64 {
        let program = engine.specialise(&node, &[InputShape::dense(&[n, 3])])?;
        assert_eq!(program.outputs().len(), 1);
    }
    let stats = engine.stats();
    assert_eq!((stats.misses, stats.first_tier), (20, 20), "{stats:?}");
    assert_eq!((stats.compiled, stats.settled), (0, 0), "{stats:?}");
    let native = |n: i64| -> Result<bool, Box<dyn std::error::Error>> {
        Ok(engine
            .specialise(&node, &[InputShape::dense(&[n, 3])])?
            .summary()
            .native)
    };
    assert!(!native(20)?);
    assert!(!native(20)?);
    assert!(native(20)?, "a shape that stays is compiled");
    engine.settle(&engine.specialise(&node, &[InputShape::dense(&[19, 3])])?);
    assert!(native(19)?, "and one of which it is asked");
    let stats = engine.stats();
    assert_eq!((stats.compiled, stats.settled), (2, 2), "{stats:?}");
    Ok(())
}

#[test]
fn machine_code_comes_when_it_has_paid_and_not_before() -> Outcome {
    let engine = Engine::new(Config {
        views: ViewPolicy::Copy,
        ..Config::default()
    });
    let node = Template::new(transposed(2, 3));
    let asks = |shape: [i64; 2], most: usize| -> Result<usize, Box<dyn std::error::Error>> {
        for n in 1..=most {
            let program = engine.specialise(&node, &[InputShape::dense(&shape)])?;
            if program.summary().native {
                return Ok(n);
            }
        }
        Ok(most)
    };
    let small = asks([4, 5], 5_000)?;
    assert!((500..5_000).contains(&small), "{small}");
    // What takes its time in one leaf gains nothing.
    assert_eq!(asks([2_000, 3_000], 5_000)?, 5_000);
    let at_once = Engine::new(Config {
        views: ViewPolicy::Copy,
        native_after_calls: Some(0),
        ..Config::default()
    });
    let program = at_once.specialise(&node, &[InputShape::dense(&[4, 5])])?;
    assert!(program.summary().native);
    assert_eq!(at_once.stats().first_tier, 0);
    Ok(())
}

#[test]
fn strided_inputs_of_a_template() -> Outcome {
    let engine = Engine::default();
    let node = Template::new(transposed(2, 3));
    let shape = InputShape::strided(&[2, 3], 5, &[-3, 1]);
    let program = engine.specialise(&node, &[shape])?;
    let Output::View { layout, .. } = &program.outputs()[0] else {
        panic!()
    };
    assert_eq!(
        (layout.offset, layout.strides.as_slice()),
        (5, [1, -3].as_slice())
    );
    let error = engine
        .specialise(&node, &[InputShape::strided(&[2, 3], 0, &[-3, 1])])
        .unwrap_err();
    assert!(error.to_string().starts_with("input 0: "), "{error}");
    assert!(
        engine
            .specialise(&node, &[InputShape::dense(&[2])])
            .is_err()
    );
    assert!(engine.specialise(&node, &[]).is_err());
    Ok(())
}

#[test]
fn equal_kernels_share_their_code() -> Outcome {
    let engine = Engine::new(Config {
        views: ViewPolicy::Copy,
        ..Config::default()
    });
    let first = engine.compile(&transposed(64, 32))?;
    let mut other = Graph::new("same thing, spelled otherwise");
    let x = other.input("x", ElementType::F32, [64, 32])?;
    let a = other.unsqueeze(x, [0])?;
    let b = other.transpose(a, [0, 2, 1])?;
    let c = other.squeeze(b, [0])?;
    other.output(c)?;
    let second = engine.compile(&other)?;
    assert_eq!(engine.stats().compiled, 1);
    assert_eq!(first.kernel(), second.kernel());
    Ok(())
}

#[test]
fn code_can_be_read() -> Outcome {
    for engine in engines() {
        let program = engine.compile(&transposed(20, 30))?;
        let listing = engine.listing(&program)?;
        assert!(listing.clif.contains("function"), "{}", listing.clif);
        assert!(!listing.assembly.is_empty());
    }
    Ok(())
}

#[test]
fn types_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Engine>();
    shared::<restride::Program>();
    shared::<Template>();
    shared::<TensorType>();
    shared::<restride::Call<'_>>();
}

#[test]
fn indices_are_checked_even_if_only_views_are_left() -> Outcome {
    // Row 0 of the gather is a view of `x`; the last index is outside all the same.
    let text = "func @f(%x: u8[2, 3]) {
      %i = constant i64[2] [1, 6]
      %g = gather %x, %i axis 0 out_of_range error
      %y = slice %g starts [0] ends [1] axes [0] steps [1]
      return %y
    }";
    let graph = Graph::parse(text).map_err(|errors| format!("{errors:?}"))?;
    for code in CODES {
        let engine = Engine::new(Config {
            code,
            ..Config::default()
        });
        let program = engine.compile(&graph)?;
        assert!((program.computed(), program.is_view()) == (0, false));
        let x = TensorRef::from_bytes(&[0; 6]);
        let error = program.run(&[x], &mut []).unwrap_err();
        assert!(
            matches!(error, RunError::Index { position: 1, .. }),
            "{error}"
        );
    }
    Ok(())
}

#[test]
fn the_first_of_several_bad_indices_is_the_one_reported() -> Outcome {
    // Columns have limits of their own; rows come first all the same. 9 indices are few enough to
    // be tested without a loop, 900 are not.
    let bad = [[7, 1, 8], [4, 2, 5], [1, 8, 6], [2, 1, 0]];
    for rows in [3usize, 300] {
        let text = format!(
            "func @f(%x: u8[2, 3, 4], %i: i64[{rows}, 3]) {{
              %y = gather_nd %x, %i out_of_range error
              return %y
            }}"
        );
        let graph = Graph::parse(&text).map_err(|errors| format!("{errors:?}"))?;
        for code in CODES {
            let engine = Engine::new(Config {
                code,
                ..Config::default()
            });
            let program = engine.compile(&graph)?;
            for places in bad {
                let mut indices = vec![0i64; 3 * rows];
                for place in places {
                    indices[place] = 4;
                }
                let (x, mut y) = ([0u8; 24], vec![0u8; rows]);
                let inputs = [TensorRef::new(&x), TensorRef::new(&indices)];
                let error = program.run(&inputs, &mut [TensorMut::new(&mut y)]);
                let first = places.into_iter().min().unwrap_or(0) as u64;
                let limit = [2, 3, 4][first as usize % 3];
                assert!(
                    matches!(error, Err(RunError::Index { position, limit: found, .. })
                        if (position, found) == (first, limit)),
                    "{places:?}: {error:?}"
                );
            }
        }
    }
    Ok(())
}

#[cfg(target_arch = "x86_64")]
#[test]
fn machine_code_is_followed_where_asked() -> Outcome {
    for (steps, proved, unproved) in [(None, 0, 0), (Some(1 << 20), 1, 0), (Some(3), 0, 1)] {
        let engine = Engine::new(Config {
            verify: steps,
            views: ViewPolicy::Copy,
            ..Config::default()
        });
        let program = engine.compile(&transposed(5, 7))?;
        let x: Vec<f32> = (0..35u8).map(f32::from).collect();
        let mut y = [0f32; 35];
        program.run(&[TensorRef::new(&x)], &mut [TensorMut::new(&mut y)])?;
        assert_eq!(y[..3], [0.0, 7.0, 14.0]);
        let stats = engine.stats();
        assert_eq!((stats.proved, stats.unproved), (proved, unproved));
        assert_eq!((stats.compiled, stats.violations), (1, 0));
    }
    Ok(())
}

#[test]
fn a_graph_that_may_not_stay_is_compiled_when_its_calls_pay() -> Outcome {
    let engine = Engine::new(Config {
        native_after_calls: Some(3),
        ..Config::default()
    });
    let mut g = Graph::new("turned");
    let x = g.input("x", ElementType::U8, [3, 4])?;
    let y = g.transpose(x, [])?;
    g.output_as(y, ViewPolicy::Copy)?;
    let program = engine.compile_in_tiers(&g)?;
    assert!(!program.summary().native);
    engine.compile_in_tiers(&g)?;
    engine.count_call(&program);
    assert!(!program.summary().native, "two have asked");
    engine.count_call(&program);
    assert!(program.summary().native, "the program that is kept has it");
    let stats = engine.stats();
    assert_eq!(
        (stats.hits, stats.misses, stats.settled),
        (1, 1, 1),
        "{stats:?}"
    );
    Ok(())
}

#[test]
#[cfg(target_arch = "x86_64")]
fn self_contained_code_is_made_for_everything_and_calls_nothing() -> Outcome {
    let text = "func @f(%x: f32[512, 300], %i: i64[400]) {
      %t = transpose %x perm [1, 0]
      %r = gather %x, %i axis 0 out_of_range error
      return %t, %r
    }";
    let graph = Graph::parse(text).map_err(|errors| format!("{errors:?}"))?;
    let engine = Engine::new(Config {
        code: Code::SelfContained,
        views: ViewPolicy::Copy,
        ..Config::default()
    });
    let program = engine.compile(&graph)?;
    let code = program.disassembly().ok_or("there is no code")?;
    assert!(!code.contains("call"), "{code}");
    let x: Vec<f32> = (0..512 * 300).map(|n| n as f32).collect();
    let indices: Vec<i64> = (0..400).map(|n| n * 7 % 512).collect();
    let (mut transposed, mut rows) = (vec![0f32; 300 * 512], vec![0f32; 400 * 300]);
    let inputs = [TensorRef::new(&x), TensorRef::new(&indices)];
    let mut outputs = [TensorMut::new(&mut transposed), TensorMut::new(&mut rows)];
    program.run(&inputs, &mut outputs)?;
    let right = |at: usize| transposed[at] == x[at % 512 * 300 + at / 512];
    assert!((0..300 * 512).all(right));
    let right = |at: usize| rows[at] == x[indices[at / 300] as usize * 300 + at % 300];
    assert!((0..400 * 300).all(right));
    Ok(())
}

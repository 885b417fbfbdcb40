//! What a host with tensors of its own asks of the facade: which views it can take, buffers on
//! demand, sizes in its own types, and compiles that cost nothing the second time.

use restride::{
    Answer, Budget, CompileError, Config, DenseError, ElementType, Engine, Family, Graph,
    IndexRule, InputShape, OutOfRange, Output, RunError, Strided, Template, TensorMut, TensorRef,
    TensorType, ViewPolicy,
};

/// `x` under another shape, its last rows, its first rows, and all of it turned.
fn several(input: TensorType, policy: ViewPolicy) -> Graph {
    let mut g = Graph::new("several");
    let x = g.typed_input("x", input).unwrap();
    let flat = g.reshape(x, [24]).finish().unwrap();
    let last = g.slice(x, [2], [4]).finish().unwrap();
    let first = g.slice(x, [0], [2]).finish().unwrap();
    let turned = g.transpose(x, [1, 0]).unwrap();
    for value in [flat, last, first, turned] {
        g.output_as(value, policy).unwrap();
    }
    g
}

fn views(engine: &Engine, graph: &Graph) -> Vec<bool> {
    let program = engine.compile(graph).unwrap();
    let outputs = program.outputs().iter();
    let views: Vec<bool> = outputs
        .map(|output| matches!(output, Output::View { .. }))
        .collect();
    assert_eq!(
        program.computed(),
        views.iter().filter(|view| !**view).count()
    );
    views
}

#[test]
fn a_view_is_had_where_the_host_and_the_graph_can_take_it() {
    let dense = || TensorType::dense(ElementType::F32, [4, 6]).unwrap();
    let all = [true; 4];
    let whole = [true, false, false, false];
    let none = [false; 4];
    for (of_engine, of_graph, expected) in [
        (ViewPolicy::Any, ViewPolicy::Any, all),
        (ViewPolicy::Any, ViewPolicy::Dense, whole),
        (ViewPolicy::Any, ViewPolicy::Copy, none),
        (ViewPolicy::Dense, ViewPolicy::Any, whole),
        (ViewPolicy::Dense, ViewPolicy::Copy, none),
        (ViewPolicy::Copy, ViewPolicy::Any, none),
        (ViewPolicy::Copy, ViewPolicy::Dense, none),
    ] {
        let engine = Engine::new(Config {
            views: of_engine,
            ..Config::default()
        });
        assert_eq!(
            views(&engine, &several(dense(), of_graph)),
            expected,
            "{of_engine:?} {of_graph:?}"
        );
    }
    // All of a tensor that is itself a part of a buffer, or does not lie in order, is no whole input.
    let engine = Engine::default();
    for (offset, strides) in [(6, [6, 1]), (0, [12, 1]), (23, [-6, -1])] {
        let at = Strided {
            offset,
            strides: strides.into_iter().collect(),
        };
        let input = dense().with_layout(at).unwrap();
        assert_eq!(views(&engine, &several(input, ViewPolicy::Dense)), none);
    }
    // But strides may be spelled out, and what is turned twice is in order.
    let turned = [false, false, false, true];
    for (strides, expected) in [([6, 1], whole), ([1, 4], turned)] {
        let at = Strided {
            offset: 0,
            strides: strides.into_iter().collect(),
        };
        let input = dense().with_layout(at).unwrap();
        let graph = several(input, ViewPolicy::Dense);
        assert_eq!(views(&engine, &graph), expected);
    }
}

#[test]
fn a_policy_is_read_back_and_outlives_a_template() {
    let graph = several(
        TensorType::dense(ElementType::F32, [4, 6]).unwrap(),
        ViewPolicy::Dense,
    );
    let again = Graph::parse(&graph.to_string()).unwrap();
    assert_eq!(again, graph);
    assert!(graph.to_string().contains("return %1 dense, %2 dense"));
    let template = Template::new(graph);
    let engine = Engine::default();
    let program = engine
        .specialise(&template, &[InputShape::dense(&[4, 6])])
        .unwrap();
    assert_eq!(program.computed(), 3);
}

#[test]
fn buffers_are_asked_for_when_they_are_needed() {
    let ty = TensorType::dense(ElementType::F32, [4, 6]).unwrap();
    let program = Engine::default()
        .compile(&several(ty, ViewPolicy::Dense))
        .unwrap();
    let x: Vec<f32> = (0..24).map(|n| n as f32).collect();
    let mut asked = Vec::new();
    let answers = program.run_with(&[TensorRef::new(&x)], |output, ty| {
        asked.push((output, ty.shape().to_vec()));
        Ok::<_, RunError>(vec![0f32; ty.required_elements()])
    });
    let answers = answers.unwrap();
    assert_eq!(asked, [(1, vec![2, 6]), (2, vec![2, 6]), (3, vec![6, 4])]);
    let rows = |range: std::ops::Range<usize>| Answer::Written(x[range].to_vec());
    assert_eq!(
        answers[..3],
        [Answer::View { input: 0 }, rows(12..24), rows(0..12)]
    );
    let Answer::Written(turned) = &answers[3] else {
        panic!("{answers:?}")
    };
    assert_eq!(turned[..5], [0.0, 6.0, 12.0, 18.0, 1.0]);

    // The host's own failure comes back, and so does that of a buffer that is too small.
    #[derive(Debug, PartialEq)]
    enum Failure {
        Full,
        Run(RunError),
    }
    impl From<RunError> for Failure {
        fn from(error: RunError) -> Self {
            Self::Run(error)
        }
    }
    let full = program.run_with(&[TensorRef::new(&x)], |_, _| {
        Err::<Vec<f32>, _>(Failure::Full)
    });
    assert_eq!(full, Err(Failure::Full));
    let short = program.run_with(&[TensorRef::new(&x)], |_, _| {
        Ok::<_, Failure>(vec![0f32; 2])
    });
    assert!(matches!(
        short,
        Err(Failure::Run(RunError::TooShort { .. }))
    ));
}

#[test]
fn an_equal_graph_is_looked_up() {
    let engine = Engine::default();
    let ty = || TensorType::dense(ElementType::F32, [4, 6]).unwrap();
    let graph = several(ty(), ViewPolicy::Copy);
    let first = engine.compile(&graph).unwrap();
    let again = engine.compile(&several(ty(), ViewPolicy::Copy)).unwrap();
    assert_eq!((engine.stats().misses, engine.stats().hits), (1, 1));
    assert!(std::ptr::eq(first.kernel(), again.kernel()));
    // Whatever makes it another graph makes it another program.
    let other = [
        several(ty(), ViewPolicy::Any),
        several(
            TensorType::dense(ElementType::I32, [4, 6]).unwrap(),
            ViewPolicy::Copy,
        ),
        Graph::parse(&graph.to_string().replace("%x", "%y")).unwrap(),
        Graph::parse(&graph.to_string().replace("several", "others")).unwrap(),
    ];
    for graph in &other {
        let misses = engine.stats().misses;
        engine.compile(graph).unwrap();
        assert_eq!(engine.stats().misses, misses + 1, "{graph}");
    }
    engine.clear();
    engine.compile(&graph).unwrap();
    assert_eq!(engine.stats().entries, 1);
}

#[test]
fn sizes_may_be_of_the_types_that_hosts_have() {
    let mut g = Graph::new("t");
    let x = g.input("x", ElementType::U8, [2, 3]).unwrap();
    let y = g.transpose(x, [1, 0]).unwrap();
    g.output(y).unwrap();
    let template = Template::new(g);
    let engine = Engine::default();
    let (sizes, strides, steps): (&[usize], &[isize], &[usize]) = (&[4, 5], &[10, 2], &[10, 2]);
    let shapes = [
        InputShape::strided(&[4, 5], 3, &[10, 2]),
        InputShape::of(sizes).with_strides(3, strides),
        InputShape::of(sizes).with_strides(3, steps),
    ];
    for shape in shapes {
        let program = engine.specialise(&template, &[shape]).unwrap();
        assert_eq!(program.inputs()[0].layout().unwrap().offset, 3);
    }
    assert_eq!((engine.stats().misses, engine.stats().hits), (1, 2));
    for shape in [
        InputShape::of(&[usize::MAX, 2][..]),
        InputShape::of(sizes).with_strides(usize::MAX, strides),
    ] {
        let error = engine.specialise(&template, &[shape]).unwrap_err();
        assert!(error.to_string().starts_with("input 0: "), "{error}");
    }
}

/// `x` with its axes turned.
fn turned(rows: i64, columns: i64) -> Graph {
    let mut g = Graph::new("turned");
    let x = g.input("x", ElementType::F32, [rows, columns]).unwrap();
    let y = g.transpose(x, [1, 0]).unwrap();
    g.output_as(y, ViewPolicy::Copy).unwrap();
    g
}

#[test]
fn a_graph_that_may_not_come_again_is_planned_and_settles_when_it_does() {
    let engine = Engine::new(Config {
        native_after_calls: Some(3),
        ..Config::default()
    });
    for length in 1..=20 {
        engine.compile_in_tiers(&turned(length, 3)).unwrap();
    }
    let stats = engine.stats();
    assert_eq!((stats.misses, stats.hits, stats.compiled), (20, 0, 0));
    for _ in 0..3 {
        engine.compile_in_tiers(&turned(7, 3)).unwrap();
    }
    let stats = engine.stats();
    let jit = u64::from(cfg!(feature = "jit"));
    assert_eq!((stats.misses, stats.hits, stats.settled), (20, 3, jit));
    // To ask for it with machine code finds the same program.
    engine.compile(&turned(7, 3)).unwrap();
    assert_eq!(engine.stats().misses, 20);
}

#[test]
fn families_and_templates_with_one_key_are_told_apart() {
    let engine = Engine::default();
    let (one, other) = (Family::new(), Family::new());
    let build = |rows| move || Ok::<_, CompileError>(turned(rows, 2));
    let of = |family, rows| engine.keyed(family, &[1, 3, -1], build(rows)).unwrap();
    assert_eq!(of(&one, 3).inputs()[0].shape(), [3, 2]);
    assert_eq!(of(&other, 5).inputs()[0].shape(), [5, 2]);
    // What has been seen is not built again.
    assert_eq!(of(&one, 9).inputs()[0].shape(), [3, 2]);
    let mut g = Graph::new("t");
    let x = g.input("x", ElementType::F32, [1]).unwrap();
    g.output(x).unwrap();
    let template = engine.specialise(&Template::new(g), &[InputShape::dense(&[3])]);
    assert_eq!(template.unwrap().inputs()[0].shape(), [3]);
    // What cannot be built is the host's error, and is not kept.
    let refused = engine.keyed(&one, &[2], || {
        Err(CompileError::Panicked("mine".to_owned()))
    });
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the compiler has a defect: mine"
    );
    assert_eq!(
        engine.keyed(&one, &[2], build(4)).unwrap().inputs()[0].shape(),
        [4, 2]
    );
}

#[test]
fn any_layout_is_written_densely_or_refused() {
    let engine = Engine::default();
    let x: Vec<u8> = (0..60).collect();
    let shape = InputShape::of(&[4usize, 3][..]).with_strides(2, &[5isize, 20][..]);
    let mut y = [0u8; 12];
    let from = TensorRef::new(&x);
    engine
        .write_dense(ElementType::U8, shape, from, TensorMut::new(&mut y))
        .unwrap();
    assert_eq!(y, [2, 22, 42, 7, 27, 47, 12, 32, 52, 17, 37, 57]);
    // Too little to read, and too little room.
    let short = TensorRef::new(&x[..57]);
    let refused = engine.write_dense(ElementType::U8, shape, short, TensorMut::new(&mut y));
    assert!(matches!(refused, Err(DenseError::Run(_))), "{refused:?}");
    let refused = engine.write_dense(ElementType::U8, shape, from, TensorMut::new(&mut y[..11]));
    assert!(matches!(refused, Err(DenseError::Run(_))), "{refused:?}");
    let many = InputShape::of(&[1usize; 33][..]);
    let refused = engine.write_dense(ElementType::U8, many, from, TensorMut::new(&mut y));
    assert!(
        matches!(refused, Err(DenseError::Compile(_))),
        "{refused:?}"
    );
}

#[test]
fn errors_name_the_nodes_of_the_host() {
    let rows = |node: &str| {
        let mut g = Graph::new("rows");
        let x = g.input("x", ElementType::U8, [5, 2]).unwrap();
        let i = g.input("i", ElementType::I64, [1]).unwrap();
        g.begin_node(node);
        let rule = IndexRule {
            out_of_range: OutOfRange::Error,
            wrap: false,
        };
        let y = g.gather(x, i, rule).axis(0).finish().unwrap();
        g.begin_node("decoder/Turn");
        let y = g.transpose(y, [1, 0]).unwrap();
        g.output(y).unwrap();
        g
    };
    let engine = Engine::default();
    // Alike but for where they are.
    for node in ["layer.0/Gather", "layer.1/Gather"] {
        let template = Template::new(rows(node));
        let shapes = [InputShape::dense(&[5, 2]), InputShape::dense(&[1])];
        for program in [
            engine.compile(&rows(node)).unwrap(),
            engine.specialise(&template, &shapes).unwrap(),
        ] {
            let (x, mut y) = ([0u8; 10], [0u8; 2]);
            let inputs = [TensorRef::new(&x), TensorRef::new(&[7i64])];
            let error = program.run(&inputs, &mut [TensorMut::new(&mut y)]);
            let error = error.unwrap_err().to_string();
            assert!(error.contains(&format!("(in {node}): index 7")), "{error}");
        }
    }
    let budget = Budget {
        work: 10,
        ..Budget::default()
    };
    let engine = Engine::new(Config {
        budget,
        ..Config::default()
    });
    let error = engine.compile(&rows("layer.0/Gather")).err().unwrap();
    assert!(
        error
            .to_string()
            .ends_with("(in layer.0/Gather .. decoder/Turn)"),
        "{error}"
    );
}

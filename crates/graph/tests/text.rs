//! Random graphs printed and read back, and damaged texts that must only ever be refused.

use restride_graph::{Constant, ElementType, Graph, Op, TensorType};
use restride_testkit::generate::{Kind, Random, case};
use restride_testkit::mutate;
use restride_text::Source;

/// A random graph with what a text may have besides: constants of any element, several parts of a split,
/// and names.
fn graph(random: &mut Random) -> Graph {
    let number = random.bits();
    let mut graph = case(number, 0, Kind::of_number(number), 14).graph;
    let element = random.pick(&ElementType::ALL);
    let shape: Vec<i64> = (0..random.below(3)).map(|_| random.within(0, 4)).collect();
    let ty = TensorType::dense(element, &shape[..]).unwrap();
    let most = if element == ElementType::Bool { 2 } else { 256 };
    let bytes = (0..ty.byte_size()).map(|_| random.below(most) as u8);
    let constant = Constant::new(ty.clone(), bytes.collect::<Vec<u8>>()).unwrap();
    graph.push(Op::Constant(constant)).unwrap();
    let values: Vec<_> = graph.values().collect();
    let x = random.pick(&values);
    // What is refused leaves no trace.
    let _ = graph.split(x, random.within(-2, 2)).lengths([1, -1]);
    for value in graph.values().collect::<Vec<_>>() {
        if !matches!(graph.op(value), Op::Input) && random.percent(25) {
            graph
                .set_name(value, &format!("v{}", value.index()))
                .unwrap();
        }
    }
    graph
}

/// So many rounds, times what `ROUNDS` says.
fn rounds(usual: usize) -> usize {
    let factor = std::env::var("ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok());
    usual * factor.unwrap_or(1)
}

#[test]
fn random_graphs_print_and_read_back() {
    let mut random = Random::new(1);
    let mut values = 0;
    for round in 0..rounds(4000) {
        let graph = graph(&mut random);
        values += graph.len();
        let text = graph.to_string();
        match Graph::parse(&text) {
            Ok(again) => assert_eq!(again, graph, "round {round}"),
            Err(errors) => panic!("{text}{}", errors.render(&Source::new("printed", &text))),
        }
    }
    assert!(values > 20_000, "only {values} values were made");
}

#[test]
fn damaged_texts_are_read_or_refused() {
    let mut random = Random::new(2);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..rounds(20_000) {
        let text = graph(&mut random).to_string();
        let text = String::from_utf8_lossy(&mutate(text.as_bytes(), &mut random)).into_owned();
        match Graph::parse(&text) {
            Ok(graph) => {
                read += 1;
                let again = Graph::parse(&graph.to_string());
                assert_eq!(again.as_ref(), Ok(&graph), "{text}");
            }
            Err(errors) => {
                refused += 1;
                let shown = errors.render(&Source::new("damaged", &text));
                assert!(shown.starts_with("error: "), "{shown}");
            }
        }
    }
    assert!(
        read > 200 && refused > 5_000,
        "{read} read, {refused} refused"
    );
}

/// Every number of a statement may be any number: the arithmetic behind it is checked.
#[test]
fn extreme_numbers_are_taken_or_refused() {
    const EXTREME: [i64; 12] = [
        i64::MIN,
        i64::MIN + 1,
        i64::MAX,
        i64::MAX - 1,
        1 << 62,
        -(1 << 62),
        1 << 32,
        1 << 31,
        -(1 << 31),
        -1,
        0,
        4096,
    ];
    let mut random = Random::new(4);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..rounds(40_000) {
        let text = graph(&mut random).to_string();
        let mut damaged = String::new();
        let mut rest = text.as_str();
        let number = |c: char| c.is_ascii_digit();
        while let Some(at) = rest.find(number) {
            let until = rest[at..]
                .find(|c| !number(c))
                .map_or(rest.len(), |n| at + n);
            let (before, digits) = (&rest[..at], &rest[at..until]);
            damaged.push_str(before);
            let alone = before.ends_with([' ', '[', '-']);
            if alone && random.below(12) == 0 {
                let number = EXTREME[random.below(EXTREME.len())];
                damaged.truncate(damaged.trim_end_matches('-').len());
                damaged.push_str(&number.to_string());
            } else {
                damaged.push_str(digits);
            }
            rest = &rest[until..];
        }
        // The types that were inferred before are no longer right.
        let damaged = format!("{damaged}{rest}");
        let lines = damaged.lines().map(|line| match line.starts_with("  %") {
            true => line.split(" : ").next().unwrap_or(line),
            false => line,
        });
        match Graph::parse(&lines.collect::<Vec<_>>().join("\n")) {
            Ok(_) => read += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(
        read > 1_000 && refused > 10_000,
        "{read} read, {refused} refused"
    );
}

#[test]
fn one_mistake_gives_one_report() {
    let text = "func @f(%x: f32[2]) {\n  %a = reverse %x axes [5]\n  %b = reverse %a axes [0]\n  \
                %c = concat %a, %b axis 0\n  return %c\n}\n";
    assert_eq!(Graph::parse(text).unwrap_err().entries().len(), 1);
}

#[test]
fn absurd_counts_are_refused_at_once() {
    let names: Vec<String> = (0..5000).map(|k| format!("%p{k}")).collect();
    let cases = [
        format!(
            "func @f(%x: i8[5000]) {{ {} = split %x axis 0 return }}",
            names.join(", ")
        ),
        format!("func @f(%x: i8[{}1]) {{ return }}", "1, ".repeat(40)),
        "func @f() { %a = constant i8[9223372036854775807] [1] return }".to_owned(),
        format!(
            "func @f(%x: i8[]) {{ %a = unsqueeze %x axes [{}0] return }}",
            "0, ".repeat(99)
        ),
        "func @f(%x: i8[1]) { return".to_owned() + &" ".repeat((1 << 26) + 1),
    ];
    for text in cases {
        assert!(Graph::parse(&text).is_err());
    }
}

#[test]
fn spans_point_at_statements() {
    let text = "func @f(%x: f32[2]) {\n  %a = reverse %x axes [0]\n  return %a\n}\n";
    let graph = Graph::parse(text).unwrap();
    let of = |name: &str| {
        let span = graph.span(graph.named(name).unwrap()).unwrap();
        &text[span.start as usize..span.end as usize]
    };
    assert_eq!(of("x"), "%x: f32[2]");
    assert_eq!(of("a"), "%a = reverse %x axes [0]");
}

//! The planner's choices as a table to argue with: `plans.txt`.
//!
//! A line of it is a box: its width in bytes, its dimensions `extent:destination:source` in elements,
//! outermost first, and a form. Below it stands, for each width of vectors, the way that is chosen on a Zen and
//! what the ways cost that there are, and the way that is chosen on another core; then the code that a kernel has in place of a call, if any; then,
//! for each kind of processor, the code that calls nothing, and about how many instructions it executes.
//! A line that begins with `gather` is one: the width, how many indices of which type select from how many rows, how far rows
//! are apart in destination and source, the box of a row, and `named` which rows if these are constants. Below it stands how each
//! machine carries it out.
//! One that begins with `weave` is boxes that are joined by `and`, each behind the place in the destination where it begins:
//! below it stands how they are moved in one pass, if they are.
//! `BLESS=1` writes that anew, but for vectors that the machine does not have.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use restride_loops::{BufferId, Dim, Form, Gather, IndexType, NamedRows, Norm, Place};
use restride_moves::{
    ByteBox, Core, Features, Inline, NamedCode, Planner, Processor, Target, Vectors, Way,
};

/// A line of the table, read.
fn read(line: &str) -> (ByteBox, Form) {
    let mut words = line.split_whitespace();
    let width = words.next().and_then(|word| word.strip_suffix('B'));
    let width = width.and_then(|word| word.parse().ok()).expect("a width");
    let (mut dims, mut form) = (Vec::new(), Form::Elements);
    while let Some(word) = words.next() {
        if word == "as" {
            let name = words.next().expect("a form");
            form = *Form::ALL
                .iter()
                .find(|form| form.name() == name)
                .expect(name);
            continue;
        }
        let numbers = word.split(':').map(|n| n.parse().expect(word));
        let [extent, dst, src] = numbers.collect::<Vec<i64>>()[..] else {
            panic!("{word}: not extent:destination:source");
        };
        dims.push(Dim { extent, dst, src });
    }
    (ByteBox::of_move(&dims, width).expect(line), form)
}

/// All machines of the table that this one can plan for.
fn machines() -> impl Iterator<Item = (Features, Core, Planner)> {
    let zen = Features::WIDTHS.map(|features| (features, Core::Zen));
    let others = [
        (Features::Avx512, Core::Zen5),
        (Features::Avx2, Core::Cove),
        (Features::Avx512, Core::Cove),
    ];
    let all = zen.into_iter().chain(others);
    let all = all.filter(|(features, _)| features.is_available());
    all.map(|(features, core)| {
        let target = Target::with(features);
        (features, core, Planner::new(&Target { core, ..target }))
    })
}

/// `gather 4B 64 i32 of 1000 by 16:16 16:1:1`, or `gather 4B 3 i32 of 1000 by 16:16 16:1:1 named 7 0 9`.
fn read_gather(line: &str) -> (Gather, usize, Option<NamedRows>) {
    let (line, named) = match line.split_once(" named ") {
        Some((line, named)) => (line, Some(named)),
        None => (line, None),
    };
    let row = |word: &str| Some(word.parse::<i64>().expect(line));
    let named = named.map(|named| named.split_whitespace().map(row).collect());
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, width, extent, ty, _, limit, _, apart, dims @ ..] = &words[..] else {
        panic!("{line}");
    };
    let numbers = |word: &str| -> Vec<i64> {
        let all = word.split(':').map(|n| n.parse().expect(line));
        all.collect()
    };
    let width = width.trim_end_matches('B').parse().expect(line);
    let ty = IndexType::ALL.into_iter().find(|it| it.name() == *ty);
    let apart = numbers(apart);
    let dims = dims.iter().map(|word| match numbers(word)[..] {
        [extent, dst, src] => Dim { extent, dst, src },
        _ => panic!("{line}"),
    });
    let place = Place::at(BufferId(0), 0);
    let gather = Gather {
        extent: extent.parse().expect(line),
        index: place.clone(),
        index_stride: 1,
        norm: Norm {
            ty: ty.expect(line),
            limit: limit.parse().expect(line),
            wrap: false,
            clamp: false,
        },
        dst: place.clone(),
        dst_stride: apart[0],
        src: place,
        coeff: apart[1],
        dims: dims.collect(),
    };
    (gather, width, named)
}

fn answer_gather(line: &str) -> String {
    let (gather, width, named) = read_gather(line);
    let mut text = String::new();
    for (features, core, planner) in machines() {
        let plan = planner.gather(&gather, width, named.clone()).expect(line);
        let costs = planner.gather_candidates(&gather, width, named.clone());
        let costs = costs.expect(line);
        let costs: Vec<_> = costs
            .iter()
            .map(|(way, cost)| format!("{way} {cost}"))
            .collect();
        let of = match core {
            Core::Zen => String::new(),
            core => format!(" of a {}", core.name()),
        };
        let (way, costs) = (plan.way().name(), costs.join(", "));
        let straight = match planner.named(&plan, Processor::X86_64.shuffles(features)) {
            Some(NamedCode::Runs(runs)) => format!("; inline {} runs in its place", runs.len()),
            Some(NamedCode::Cells(cells)) => {
                format!("; inline cells for {} in its place", cells.cost)
            }
            None => String::new(),
        };
        let _ = writeln!(text, "  {features:?}{of}: {way}, of {costs}{straight}");
    }
    text
}

/// `weave 1B 0 200:4:3 3:1:1 and 3 200:4:1`.
fn answer_weave(line: &str) -> String {
    let rest = line.strip_prefix("weave ").expect(line);
    let (width, parts) = rest.split_once(' ').expect(line);
    let bytes: isize = width.trim_end_matches('B').parse().expect(line);
    let part = |part: &str| {
        let (at, dims) = part.trim().split_once(' ').expect(line);
        let (shape, _) = read(&format!("{width} {dims}"));
        (shape, bytes * at.parse::<isize>().expect(line))
    };
    let boxes: Vec<(ByteBox, isize)> = parts.split("and").map(part).collect();
    let mut text = String::new();
    for (features, core, planner) in machines() {
        if core != Core::Zen {
            continue;
        }
        let found = planner.weave(&boxes).map(|woven| {
            let of = |vectors: &Vectors| {
                let (first, others) = vectors.windows;
                format!("{} of windows of {first} and {others} bytes", vectors.count)
            };
            let (front, back) = (of(&woven.front), of(&woven.back));
            let (unit, cost) = (woven.unit.dst, woven.cost());
            format!("vectors {unit} bytes apart, {front}, then {back}, for {cost}")
        });
        let found = found.unwrap_or("one after the other".into());
        let _ = writeln!(text, "  {features:?}: {found}");
    }
    text
}

fn answer(line: &str) -> String {
    if line.starts_with("weave ") {
        return answer_weave(line);
    }
    if line.starts_with("gather ") {
        return answer_gather(line);
    }
    let (shape, form) = read(line);
    let (mut text, mut zen) = (String::new(), String::new());
    for (features, core, planner) in machines() {
        let plan = planner.plan(shape.clone(), form);
        let costs = planner.candidates(&shape).into_iter();
        let costs: Vec<_> = costs.map(|(name, cost)| format!("{name} {cost}")).collect();
        let tile = match plan.way() {
            Way::Transpose(plane) => {
                let (rows, columns) = plane.tile;
                let (tiling, bytes) = (plane.tiling, 16 * plane.lanes);
                format!(", tiles of {rows} x {columns} by {tiling:?} of {bytes} bytes")
            }
            _ => String::new(),
        };
        let shuffles = Processor::X86_64.shuffles(features);
        let inline = shuffles.and_then(|shuffles| planner.inline(&shape, form, shuffles));
        let instead = match inline {
            None => String::new(),
            Some(Inline::Runs) => "inline runs instead of ".into(),
            Some(Inline::Cells(cells)) => format!("inline cells for {} instead of ", cells.cost),
            Some(Inline::Tiles(_)) => "inline tiles instead of ".into(),
            Some(Inline::Halves(_)) => "inline halves instead of ".into(),
        };
        let way = plan.way().name();
        let found = format!("{instead}{way}{tile}");
        // Ways cost nearly the same on all cores, and a Zen 5 mostly does as others of its maker do.
        let _ = match core {
            Core::Zen => writeln!(text, "  {features:?}: {found}, of {}", costs.join(", ")),
            Core::Zen5 if found == zen => Ok(()),
            core => writeln!(text, "  {features:?} of a {}: {found}", core.name()),
        };
        zen = found;
    }
    for processor in Processor::ALL {
        let planner = Planner::new(&Target::of(processor, Features::Sse41));
        let ways = planner.own(&shape, form).into_iter();
        let ways: Vec<_> = ways.map(|(name, cost)| format!("{name} {cost}")).collect();
        let _ = writeln!(text, "  {processor:?} by itself: {}", ways.join(", not "));
    }
    text
}

#[test]
fn the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans.txt");
    let text = fs::read_to_string(&path).expect("the table");
    let mut made = String::new();
    let mut boxes = 0;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let _ = writeln!(made, "{line}");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        boxes += 1;
        let answer = answer(line);
        let (widths, others) = answer.split_at(answer.find("  X86_64").unwrap_or(answer.len()));
        made += widths;
        // What this machine cannot plan for stays as it is.
        while let Some(below) = lines.next_if(|line| line.starts_with(' ')) {
            let mut missing = Features::WIDTHS.iter().filter(|it| !it.is_available());
            if missing.any(|width| below.starts_with(&format!("  {width:?}"))) {
                let _ = writeln!(made, "{below}");
            }
        }
        made += others;
    }
    assert!(boxes > 30, "{boxes} boxes");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, made).expect("written");
        return;
    }
    assert!(text == made, "BLESS=1 accepts this:\n{made}");
}

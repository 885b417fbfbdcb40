//! A model's movement as a table.

use std::io::{self, Write};

use restride_graph::ViewPolicy;
use restride_import::{OpenSize, Role};

use super::File;
use super::survey::{GroupKind, MOST_CAUSES, Survey};
use crate::say::plural;
use crate::style::Style;

/// Writes all of it.
pub(super) fn write(survey: &Survey, file: &File, out: &mut impl Write) -> io::Result<()> {
    let style = Style::of_stdout();
    writeln!(
        out,
        "{}",
        style.heading(&format!("{}: {}", file.name(), survey.model.format))
    )?;
    inputs(survey, out)?;
    counts(survey, out)?;
    hidden(survey, out)?;
    if survey.kinds.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let timed = survey.kinds.iter().any(|kind| kind.times.is_some());
    let mut rows = vec![heading(timed)];
    let busy = survey.busy();
    rows.extend(busy.map(|(at, kind)| row(survey, at, kind, timed)));
    rows.extend(idle(survey, timed));
    rows.push(total(survey, timed));
    table(&rows, out)?;
    open_sizes(survey, out)?;
    if survey.views != ViewPolicy::Copy && survey.kinds.iter().any(|kind| kind.views > 0) {
        writeln!(
            out,
            "\nA view costs nothing where what reads it takes strides; with --copy-views it counts as a copy."
        )?;
    }
    if timed {
        writeln!(
            out,
            "\nTimes are of one call each, with warm caches: as one program, node by node as compiled \
             by restride, and a\nmemcpy of as many bytes as the program writes."
        )?;
    }
    Ok(())
}

fn inputs(survey: &Survey, out: &mut impl Write) -> io::Result<()> {
    let model = &survey.model;
    for &id in &model.inputs {
        let tensor = model.tensor(id);
        let name = &tensor.name;
        match &tensor.ty {
            Ok(ty) => write!(out, "  {name}: {ty}")?,
            Err(why) => write!(out, "  {name}: not known, {why}")?,
        }
        let open = model
            .open
            .iter()
            .filter(|open| open.input == *name && !open.given);
        let chosen: Vec<String> = open.map(OpenSize::taken).collect();
        match chosen.is_empty() {
            true => writeln!(out)?,
            false => writeln!(out, ", with {}: --shape says otherwise", chosen.join(", "))?,
        }
    }
    Ok(())
}

/// Which groups are one program for every size that the file leaves open, and which are not.
fn open_sizes(survey: &Survey, out: &mut impl Write) -> io::Result<()> {
    for (at, (said, rows)) in survey.open_sizes().iter().enumerate() {
        if at == 0 {
            writeln!(out)?;
        }
        writeln!(out, "{said}")?;
        for row in rows {
            writeln!(out, "  {row}")?;
        }
    }
    Ok(())
}

fn counts(survey: &Survey, out: &mut impl Write) -> io::Result<()> {
    let model = &survey.model;
    let movement = model.count(|role| matches!(role, Role::Movement(_)));
    let fixed = model.count(|role| *role == Role::Fixed);
    let unused = model.count(|role| *role == Role::Unused);
    let compute = model.count(|role| *role == Role::Compute);
    write!(
        out,
        "{}: {movement} move data, {compute} compute",
        plural(model.nodes.len(), "node")
    )?;
    if fixed > 0 {
        write!(out, ", {fixed} follow from sizes and weights")?;
    }
    if unused > 0 {
        let are = if unused == 1 { "is" } else { "are" };
        write!(out, ", {unused} {are} read by nobody")?;
    }
    writeln!(out)?;
    let views = |kind: &&GroupKind| kind.explanation.is_ok() && kind.passes() == 0;
    let free: usize = survey
        .kinds
        .iter()
        .filter(views)
        .map(|kind| kind.members.len())
        .sum();
    let groups = survey.groups();
    let copies = groups - free;
    writeln!(
        out,
        "{}: {free} of views alone, {copies} with something to copy",
        plural(groups, "group")
    )
}

/// What is no part of any group since nobody knows what it does, and why.
pub(super) fn hidden(survey: &Survey, out: &mut impl Write) -> io::Result<()> {
    if survey.hidden.is_empty() {
        return Ok(());
    }
    let count = plural(survey.hidden.len(), "node");
    writeln!(out, "{count} of movement cannot be told ahead:")?;
    let causes = survey.causes();
    for cause in causes.iter().take(MOST_CAUSES) {
        writeln!(out, "  {cause}")?;
    }
    if causes.len() > MOST_CAUSES {
        writeln!(out, "  and {} more causes", causes.len() - MOST_CAUSES)?;
    }
    writeln!(out, "  {}", survey.remedy())
}

fn heading(timed: bool) -> Vec<String> {
    let mut cells = vec!["", "moved", "one by one", "least", "passes"];
    if timed {
        cells.extend(["time", "one by one", "memcpy"]);
    }
    cells.extend(["groups", "what"]);
    cells.into_iter().map(str::to_owned).collect()
}

fn row(survey: &Survey, at: usize, kind: &GroupKind, timed: bool) -> Vec<String> {
    let times = kind.members.len();
    let all = |bytes: u128| bytes_shown(bytes * times as u128);
    let mut cells = vec![
        (at + 1).to_string(),
        all(kind.moved()),
        all(kind.alone.moved),
        all(kind.traffic().least()),
        match (&kind.explanation, kind.passes()) {
            (Err(_), _) => "refused".into(),
            (Ok(_), 0) => "view".into(),
            (Ok(_), passes) => passes.to_string(),
        },
    ];
    if timed {
        let time = |of: fn(&super::survey::GroupTimes) -> f64| match &kind.times {
            Some(it) => time_shown(of(it) * times as f64),
            None => "-".into(),
        };
        cells.extend([time(|t| t.together), time(|t| t.alone), time(|t| t.memcpy)]);
    }
    let what = match &kind.explanation {
        Ok(_) => kind.types(),
        Err(why) => why.clone(),
    };
    let what = format!("{}: {what}, {}", kind.what, kind.place(&survey.model));
    cells.extend([times.to_string(), what]);
    cells
}

/// The groups that cost nothing either way, in one row.
fn idle(survey: &Survey, timed: bool) -> Option<Vec<String>> {
    let (groups, operators) = survey.idle()?;
    let nothing = bytes_shown(0);
    let mut cells = vec![String::new(), nothing.clone(), nothing.clone(), nothing];
    cells.push("view".into());
    if timed {
        cells.extend(std::iter::repeat_n("-".to_owned(), 3));
    }
    cells.extend([
        groups.to_string(),
        format!("the same bytes under another shape: {operators}"),
    ]);
    Some(cells)
}

fn total(survey: &Survey, timed: bool) -> Vec<String> {
    let mut cells = vec![
        "all".to_owned(),
        bytes_shown(survey.total(GroupKind::moved)),
        bytes_shown(survey.total(|kind| kind.alone.moved)),
        bytes_shown(survey.total(|kind| kind.traffic().least())),
        survey.total(|kind| kind.passes() as u64).to_string(),
    ];
    if timed {
        let time = |of: fn(&super::survey::GroupTimes) -> f64| {
            time_shown(survey.total(|kind| kind.times.as_ref().map_or(0.0, of)))
        };
        cells.extend([time(|t| t.together), time(|t| t.alone), time(|t| t.memcpy)]);
    }
    cells.extend([survey.groups().to_string(), String::new()]);
    cells
}

/// Columns at the right, but for the last.
fn table(rows: &[Vec<String>], out: &mut impl Write) -> io::Result<()> {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..columns)
        .map(|column| width(column).unwrap_or(0))
        .collect();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            match column + 1 == columns {
                true => line += &format!("  {cell}"),
                false if column == 0 => line += &format!("{cell:>width$}"),
                false => line += &format!("  {cell:>width$}"),
            }
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Bytes in the largest unit that leaves a digit before the point.
pub(super) fn bytes_shown(bytes: u128) -> String {
    scaled(bytes as f64, &["B", "kB", "MB", "GB", "TB"])
}

/// The same for nanoseconds.
pub(super) fn time_shown(nanoseconds: f64) -> String {
    scaled(nanoseconds, &["ns", "us", "ms", "s"])
}

fn scaled(mut number: f64, units: &[&str]) -> String {
    let mut units = units.iter();
    let mut unit = units.next().copied().unwrap_or_default();
    let whole = number < 1000.0;
    while number >= 999.95
        && let Some(next) = units.next()
    {
        number /= 1000.0;
        unit = next;
    }
    match whole {
        true => format!("{number:.0} {unit}"),
        false => format!("{number:.1} {unit}"),
    }
}

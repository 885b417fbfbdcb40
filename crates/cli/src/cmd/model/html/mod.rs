//! `--html`: one page with a model's movement, drawn so that it can be read at a glance.

mod flow;
mod strip;

use std::fmt::Write;

use restride_graph::ViewPolicy;
use restride_import::{OpenSize, Role};

use super::File;
use super::survey::{GroupKind, Survey};
use super::text::{bytes_shown, time_shown};
use crate::cmd::report::page::{Page, escape};
use crate::say::plural;
use crate::source::printable;

/// The look of the page, light and dark.
const STYLE: &str = "\
:root{--back:#fdfcfb;--ink:#1d2129;--dim:#6a7280;--line:#d9dbe0;--move:#c8501e;--soft:#f3d9cc;--free:#2c7f72;--calm:#9aa1ac}\
@media(prefers-color-scheme:dark){:root{--back:#15181d;--ink:#e4e7ec;--dim:#98a1b0;--line:#333944;--move:#f08a4b;--soft:#4a3226;\
--free:#5cc2b0;--calm:#5d6572}}\
body{background:var(--back);color:var(--ink);max-width:72rem}a{color:inherit}\
.numbers{display:flex;flex-wrap:wrap;gap:.6rem 2.6rem;margin:1.2rem 0}.numbers div{line-height:1.2}\
.numbers b{font-size:1.7rem;font-weight:600;display:block}.numbers span{color:var(--dim);font-size:.85rem}\
.numbers .move b{color:var(--move)}.numbers .free b{color:var(--free)}\
svg{max-width:100%;height:auto;display:block}svg text{fill:var(--dim);font:11px system-ui,sans-serif}\
svg .name{fill:var(--ink)}rect{stroke:none}\
.alone{fill:var(--soft);stroke:var(--move);stroke-width:.6}.moved{fill:var(--move)}.free{fill:var(--free)}.calm{fill:var(--calm)}\
.axis{stroke:var(--line);stroke-width:1}.edge{stroke:var(--calm);stroke-width:1.2;fill:none}\
.box{fill:var(--back);stroke:var(--free);stroke-width:1.2}.box.copy{stroke:var(--move);fill:var(--soft)}.box.end{stroke:var(--calm);stroke-dasharray:3 2}\
.key{display:inline-block;width:.8em;height:.8em;margin:0 .35em 0 1.2em;border-radius:2px;vertical-align:-.05em}\
.legend{color:var(--dim);font-size:.85rem;margin:.4rem 0 1.4rem}\
details{border-bottom:1px solid var(--line)}summary{display:grid;grid-template-columns:2.2rem 12rem 1fr auto;gap:.9rem;\
padding:.45rem .2rem;cursor:pointer;align-items:center;list-style:none}summary:hover{background:color-mix(in srgb,var(--ink) 5%,transparent)}\
summary::-webkit-details-marker{display:none}summary .n{color:var(--dim);text-align:right}summary .what small{display:block;color:var(--dim)}\
summary .what{overflow-wrap:anywhere}summary .bytes{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\
summary .bytes small{display:block;color:var(--dim)}.bar{position:relative;height:1rem;border-radius:3px}\
.bar i{position:absolute;inset:0 auto 0 0;border-radius:3px}.bar .a{background:var(--soft);box-shadow:inset 0 0 0 1px var(--move)}\
.bar .m{background:var(--move)}.bar .v{background:var(--free);width:4px}\
details>div{padding:.2rem 0 1.4rem 3.1rem}details h3{margin-top:1rem}.flow{overflow-x:auto;padding:.3rem 0}.flow svg{max-width:none}\
.nodes{color:var(--dim);font-size:.85rem;overflow-wrap:anywhere}:target>summary{outline:2px solid var(--move)}";

/// The whole page.
pub(super) fn page(survey: &Survey, file: &File) -> String {
    let name = file.path().file_name().unwrap_or_default();
    let title = format!("{}: what it moves", printable(&name.to_string_lossy()));
    let mut page = Page::styled(&title, STYLE);
    heading(&mut page, survey);
    page.section("picture", "From input to output");
    page.markup(&strip::picture(survey));
    page.markup(
        "<p class=\"legend\"><i class=\"key\" style=\"background:var(--move)\"></i>bytes that are moved\
         <i class=\"key\" style=\"background:var(--soft);box-shadow:inset 0 0 0 1px var(--move)\"></i>bytes that would be \
         moved node by node, and need not be<i class=\"key\" style=\"background:var(--free)\"></i>views alone, or nodes \
         that change no byte<i class=\"key\" style=\"background:var(--calm)\"></i>nodes that compute</p>\n",
    );
    if survey.views != ViewPolicy::Copy {
        page.paragraph(
            "A view costs nothing where what reads it takes strides; with --copy-views it counts as a copy.",
        );
    }
    page.section("groups", "Groups, by what they cost");
    if survey.kinds.is_empty() {
        page.paragraph("No node of this model moves data.");
    }
    let most = survey.kinds.iter().map(cost).max().unwrap_or(1).max(1);
    for (at, kind) in survey.busy() {
        group(&mut page, survey, at, kind, most);
    }
    if let Some((groups, operators)) = survey.idle() {
        let more = match survey.busy().next() {
            Some(_) => "more group",
            None => "group",
        };
        let groups = plural(groups, more);
        page.paragraph(&format!(
            "{groups} hand on the same bytes under another shape, at no cost: {operators}."
        ));
    }
    let open = survey.open_sizes();
    if !open.is_empty() && !survey.kinds.is_empty() {
        page.section("sizes", "Sizes that the file leaves open");
        for (said, rows) in open {
            page.paragraph(&said);
            page.list(rows);
        }
    }
    if !survey.hidden.is_empty() {
        page.section("hidden", "What cannot be told ahead");
        page.list(survey.causes());
        page.paragraph(survey.remedy());
    }
    page.finish()
}

/// The larger of what all groups of a kind move together and one by one.
fn cost(kind: &GroupKind) -> u128 {
    kind.moved().max(kind.alone.moved) * kind.members.len() as u128
}

fn heading(page: &mut Page, survey: &Survey) {
    let model = &survey.model;
    let inputs = model.inputs.iter().map(|&id| {
        let tensor = model.tensor(id);
        let ty = tensor
            .ty
            .as_ref()
            .map_or_else(|_| "not known".into(), ToString::to_string);
        let open = survey.model.open.iter();
        let taken = open.filter(|open| open.input == tensor.name && !open.given);
        let taken: Vec<String> = taken.map(OpenSize::taken).collect();
        match taken.is_empty() {
            true => format!("{}: {ty}", tensor.name),
            false => format!("{}: {ty} with {}", tensor.name, taken.join(", ")),
        }
    });
    let inputs: Vec<String> = inputs.collect();
    page.paragraph(&format!("{}. {}", model.format, inputs.join(", ")));
    let movement = model.count(|role| matches!(role, Role::Movement(_)));
    let running = model.count(|role| !matches!(role, Role::Fixed | Role::Unused));
    let timed = survey.kinds.iter().any(|kind| kind.times.is_some());
    let time = |of: fn(&super::survey::GroupTimes) -> f64| {
        let total = survey.total(|kind| kind.times.as_ref().map_or(0.0, of));
        if timed {
            format!(", {}", time_shown(total))
        } else {
            String::new()
        }
    };
    let cards = [
        (
            "move",
            bytes_shown(survey.total(GroupKind::moved)),
            format!("moved as groups{}", time(|t| t.together)),
        ),
        (
            "",
            bytes_shown(survey.total(|kind| kind.alone.moved)),
            format!("moved node by node{}", time(|t| t.alone)),
        ),
        (
            "",
            bytes_shown(survey.total(|kind| kind.traffic().least())),
            "the least that has to be moved".into(),
        ),
        (
            "",
            format!("{movement} of {running}"),
            "nodes that run move data".into(),
        ),
        (
            "free",
            survey.groups().to_string(),
            "groups that run as one".into(),
        ),
    ];
    let mut out = String::from("<div class=\"numbers\">");
    for (class, number, what) in cards {
        let _ = write!(
            out,
            "<div class=\"{class}\"><b>{}</b><span>{}</span></div>",
            escape(&number),
            escape(&what)
        );
    }
    out.push_str("</div>\n");
    page.markup(&out);
}

/// One kind of group: a line, and behind it all that is known.
fn group(page: &mut Page, survey: &Survey, at: usize, kind: &GroupKind, most: u128) {
    let times = kind.members.len() as u128;
    let width = |bytes: u128| 100.0 * (bytes * times) as f64 / most as f64;
    let (alone, moved) = (kind.alone.moved, kind.moved());
    let mut bar = String::from("<span class=\"bar\">");
    if alone > 0 {
        let _ = write!(
            bar,
            "<i class=\"a\" style=\"width:{:.2}%\"></i>",
            width(alone)
        );
    }
    match moved {
        0 => bar.push_str("<i class=\"v\"></i>"),
        moved => {
            let _ = write!(
                bar,
                "<i class=\"m\" style=\"width:{:.2}%\"></i>",
                width(moved)
            );
        }
    }
    bar.push_str("</span>");
    let many = if times > 1 {
        format!("{times} times: ")
    } else {
        String::new()
    };
    let passes = match (&kind.explanation, kind.passes()) {
        (Err(_), _) => "refused".to_owned(),
        (Ok(_), 0) => "views alone".to_owned(),
        (Ok(_), 1) => "one pass".to_owned(),
        (Ok(_), passes) => format!("{passes} passes"),
    };
    let time = kind.times.map_or_else(String::new, |it| {
        let all = |time: f64| time_shown(time * times as f64);
        match moved {
            0 => format!("; {} node by node", all(it.alone)),
            _ => format!(
                "; {}, {} node by node, memcpy {}",
                all(it.together),
                all(it.alone),
                all(it.memcpy)
            ),
        }
    });
    let bytes = match moved == alone {
        true => bytes_shown(moved * times),
        false => format!(
            "{}, {} node by node",
            bytes_shown(moved * times),
            bytes_shown(alone * times)
        ),
    };
    let _ = writeln!(
        page,
        "<details id=\"g{n}\"><summary><span class=\"n\">{n}</span>{bar}<span class=\"what\">{many}{what}<small>{types}, {place}</small></span>\
         <span class=\"bytes\">{bytes}<small>{passes}{time}</small></span></summary><div>",
        n = at + 1,
        what = escape(&kind.what),
        types = escape(&kind.types()),
        place = escape(&kind.place(&survey.model)),
    );
    page.markup(&flow::picture(survey, kind));
    match &kind.explanation {
        Err(why) => page.paragraph(why),
        Ok(explanation) => {
            let any: Vec<&str> = survey.any(kind).collect();
            if !any.is_empty() {
                page.paragraph(&format!(
                    "A template: one program for any {}. What follows is of the sizes above.",
                    any.join(", any ")
                ));
            }
            let bound = kind.first().bound.iter().map(|bound| {
                let dimension = &survey.dimensions[bound.dimension];
                format!(
                    "for {} {} only: {}",
                    dimension.name, dimension.size, bound.why
                )
            });
            page.list(explanation.answers.iter().cloned().chain(bound));
            let plan = explanation.lowered.plan.to_string();
            let loops = explanation.lowered.kernel.to_string();
            page.columns([
                ("program", explanation.spelled.as_str()),
                ("plan", plan.as_str()),
            ]);
            if kind.passes() > 0 {
                let decisions = explanation.lowered.decisions.iter();
                let decisions: Vec<String> = decisions.map(ToString::to_string).collect();
                page.columns([
                    ("loops", loops.as_str()),
                    ("decisions", decisions.join("\n").as_str()),
                ]);
                page.list(explanation.traffic.to_string().lines().map(str::to_owned));
            }
        }
    }
    let names = kind.members.iter().map(|member| {
        let nodes = member
            .group
            .nodes
            .iter()
            .map(|&id| survey.model.node(id).label());
        nodes.collect::<Vec<_>>().join(", ")
    });
    page.markup("<div class=\"nodes\">");
    page.list(names.take(50));
    page.markup("</div></div></details>\n");
}

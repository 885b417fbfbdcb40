//! Reads a canonical graph, prints the rewrites and its normal form.

use restride_budget::Meter;
use restride_canon::{normalise, text, trace::Rewrite};
use restride_text::Source;
use std::io::Read;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let source = Source::new("<stdin>", &input);
    let graph = text::parse(source.text()).map_err(|error| error.render(&source))?;
    let mut trace: Vec<Rewrite> = Vec::new();
    let normal = normalise(&graph, &Meter::unlimited(), Some(&mut trace))?;
    for rewrite in trace {
        println!("// {rewrite}");
    }
    println!("{normal}");
    Ok(())
}

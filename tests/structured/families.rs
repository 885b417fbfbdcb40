//! Families of texts: each grows with a number, and asks for much in its own way.

use std::fmt::Write;

/// A family: its name, the number to begin with, and its text for a number.
pub struct Family {
    /// What the texts are.
    pub name: &'static str,
    /// The number to begin with.
    pub first: usize,
    /// The text for a number.
    pub text: fn(usize) -> String,
}

/// All families.
pub const FAMILIES: [Family; 30] = [
    family("outputs of 64 pieces", 8, |n| {
        let roll = "%0 = roll %x shift [1, 1, 1, 1, 1, 1] axes [0, 1, 2, 3, 4, 5]";
        body("%x: u8[3, 3, 3, 3, 3, 3]", roll, &vec!["%0"; n].join(","))
    }),
    family("outputs, plain", 512, |n| {
        let turned = "%0 = transpose %x perm [1, 0]";
        body("%x: u8[3, 2]", turned, &vec!["%0"; n].join(","))
    }),
    family("outputs, views", 512, |n| {
        body("%x: u8[3, 2]", "", &vec!["%x"; n].join(","))
    }),
    family("inputs, unused", 256, |n| {
        let inputs: Vec<_> = (0..n).map(|k| format!("%x{k}: u8[2]")).collect();
        body(&inputs.join(", "), "", "%x0")
    }),
    family("inputs of a concat", 64, |n| {
        let inputs: Vec<_> = (0..n).map(|k| format!("%x{k}: u8[2, 3]")).collect();
        let parts: Vec<_> = (0..n).map(|k| format!("%x{k}")).collect();
        let concat = format!("%y = concat {} axis 1", parts.join(", "));
        body(&inputs.join(", "), &concat, "%y")
    }),
    family("concat of one value", 256, |n| {
        let concat = format!("%y = concat {} axis 1", vec!["%x"; n].join(","));
        body("%x: u8[2, 3]", &concat, "%y")
    }),
    family("concat of slices", 128, |n| {
        let cut = |k: usize| {
            format!(
                "%{k} = slice %x start [{}] stop [{}] step [1] axes [0]\n",
                7 * k,
                7 * k + 5
            )
        };
        let parts: Vec<_> = (0..n).map(|k| format!("%{k}")).collect();
        let cuts: String = (0..n).map(cut).collect();
        let concat = format!("{cuts}%y = concat {} axis 0", parts.join(", "));
        body(&format!("%x: u8[{}, 3]", 7 * n), &concat, "%y")
    }),
    family("concats of concats", 32, |n| {
        chain(n, "%x: u8[4, 3]", |_, x| format!("concat {x}, %x axis 0"))
    }),
    family("rolls by one axis", 8, |n| {
        chain(n, "%x: u8[97, 89, 83]", |k, x| {
            format!("roll {x} shift [{}] axes [{}]", k + 1, k % 3)
        })
    }),
    family("rolls by six axes", 1, |n| {
        chain(n, "%x: u8[200, 7, 7, 7, 7, 7, 7]", |_, x| {
            format!("roll {x} shift [1, 1, 1, 1, 1, 1] axes [1, 2, 3, 4, 5, 6]")
        })
    }),
    family("pads, reflect", 1, |n| {
        chain(n, "%x: u8[30, 30, 30]", |_, x| {
            format!("pad {x} low [1, 1, 1] high [1, 1, 1] mode reflect")
        })
    }),
    family("pads, constant", 16, |n| {
        chain(n, "%x: u8[30, 30]", |k, x| {
            format!("pad {x} low [1, 1] high [1, 1] constant {}", k % 256)
        })
    }),
    family("pad of a high rank, outputs", 2, |n| {
        let pad = "%0 = pad %x low [1, 1, 1, 1, 1] high [1, 1, 1, 1, 1] mode reflect";
        body("%x: u8[3, 3, 3, 3, 3]", pad, &vec!["%0"; n].join(","))
    }),
    family("pad, wrapped often", 64, |n| {
        let pad = format!("%0 = pad %x low [{n}, 1] high [{n}, 2] mode wrap");
        body("%x: u8[2, 3]", &pad, "%0")
    }),
    family("reverse_sequence, lengths", 64, |n| {
        let lengths: Vec<_> = (0..n).map(|k| (k * 7 % 100).to_string()).collect();
        let reverse = format!(
            "%0 = reverse_sequence %x lengths [{}] batch_axis 0 seq_axis 1",
            lengths.join(",")
        );
        body(&format!("%x: u8[{n}, 100]"), &reverse, "%0")
    }),
    family("reverse_sequence, chain", 8, |n| {
        chain(n, "%x: u8[4, 100]", |k, x| {
            let lengths = format!("{}, 50, 60, 70", k % 100);
            format!("reverse_sequence {x} lengths [{lengths}] batch_axis 0 seq_axis 1")
        })
    }),
    family("gathers by constants, chain", 4, |n| {
        chain(n, "%x: u8[5, 3]", |k, x| {
            let c = format!("constant i32[5] [4, {}, 2, 1, 0]", k % 5);
            format!("{c}\n%g{k} = gather {x}, %{k} axis 0 out_of_range zero")
        })
    }),
    family("gathers by inputs, chain", 16, |n| {
        chain(n, "%x: u8[5, 3], %i: i32[5]", |k, x| {
            let axis = if k % 4 == 0 { 0 } else { 1 };
            format!("gather {x}, %i axis {axis} out_of_range zero wrap")
        })
    }),
    family("gathers of one table", 16, |n| {
        let gather = |k: usize| format!("%{k} = gather %x, %i axis {} out_of_range clamp\n", k % 2);
        let gathers: String = (0..n).map(gather).collect();
        let outputs: Vec<_> = (0..n).map(|k| format!("%{k}")).collect();
        body("%x: u8[5, 3], %i: i32[5]", &gathers, &outputs.join(", "))
    }),
    family("gather_elements, chain", 16, |n| {
        chain(n, "%x: u8[5, 3], %i: i64[5, 3]", |k, x| {
            format!("gather_elements {x}, %i axis {} out_of_range zero", k % 2)
        })
    }),
    family("gather_nd, constants", 256, |n| {
        let at: Vec<_> = (0..n)
            .map(|k| format!("{}, {}", k * 7 % 100, k % 3))
            .collect();
        let gather = format!(
            "%c = constant i32[{n}, 2] [{}]\n%0 = gather_nd %x, %c out_of_range zero",
            at.join(", ")
        );
        body("%x: u8[100, 3, 5]", &gather, "%0")
    }),
    family("tiles of ones", 128, |n| {
        chain(n, "%x: u8[5, 3]", |_, x| format!("tile {x} repeats [1, 1]"))
    }),
    family("tiles", 2, |n| {
        chain(n, "%x: u8[5, 3]", |k, x| {
            let by = if k < 30 { 2 } else { 1 };
            format!("tile {x} repeats [{by}, 1]")
        })
    }),
    family("split into parts", 128, |n| {
        let parts: Vec<_> = (0..n).map(|k| format!("%{k}")).collect();
        let lengths = vec!["3"; n].join(",");
        let parts = parts.join(", ");
        let split = format!("{parts} = split %x axis 0 lengths [{lengths}]");
        body(&format!("%x: u8[{}, 2]", 3 * n), &split, &parts)
    }),
    family("split and turned round", 128, |n| {
        let parts: Vec<_> = (0..n).map(|k| format!("%{k}")).collect();
        let back: Vec<_> = parts.iter().rev().cloned().collect();
        let lengths = vec!["3"; n].join(",");
        let split = format!(
            "{} = split %x axis 0 lengths [{lengths}]\n%y = concat {} axis 0",
            parts.join(", "),
            back.join(", ")
        );
        body(&format!("%x: u8[{}, 2]", 3 * n), &split, "%y")
    }),
    family("transposes", 128, |n| {
        chain(n, "%x: u8[5, 3, 2]", |_, x| {
            format!("transpose {x} perm [1, 2, 0]")
        })
    }),
    family("reshapes and transposes", 32, |n| {
        chain(n, "%x: u8[64, 64]", |k, x| match k % 2 {
            0 => format!("reshape {x} shape [{}, {}]", 2 << (k % 9), 2048 >> (k % 9)),
            _ => format!("transpose {x} perm [1, 0]"),
        })
    }),
    family("slices backwards", 128, |n| {
        chain(n, "%x: u8[500000, 3]", |k, x| {
            format!(
                "slice {x} start [-{}] stop [-99999999] step [-1] axes [0]",
                k % 2 + 1
            )
        })
    }),
    family("constants", 64, |n| {
        let constant = |k: usize| format!("%c{k} = constant u8[2, 3] [{k}, 1, 2, 3, 4, 5]\n");
        let constants: String = (0..n)
            .map(|k| constant(k % 256))
            .enumerate()
            .map(|(k, c)| c.replacen(&format!("%c{}", k % 256), &format!("%c{k}"), 1))
            .collect();
        let parts: Vec<_> = (0..n).map(|k| format!("%c{k}")).collect();
        let concat = format!("{constants}%y = concat {} axis 0", parts.join(", "));
        body("%x: u8[2]", &concat, "%y")
    }),
    family("statements that nobody uses", 128, |n| {
        let dead: String = (0..n)
            .map(|k| format!("%{k} = roll %x shift [{k}] axes [0]\n"))
            .collect();
        body("%x: u8[50, 3]", &dead, "%x")
    }),
];

const fn family(name: &'static str, first: usize, text: fn(usize) -> String) -> Family {
    Family { name, first, text }
}

fn body(inputs: &str, statements: &str, outputs: &str) -> String {
    format!("func @f({inputs}) {{\n{statements}\nreturn {outputs}\n}}\n")
}

/// Statements each of which goes on from the one before it, and the last is the output.
fn chain(count: usize, inputs: &str, statement: impl Fn(usize, &str) -> String) -> String {
    let mut statements = String::new();
    let mut value = "%x".to_owned();
    for k in 0..count {
        let said = statement(k, &value);
        let _ = writeln!(statements, "%{k} = {said}");
        // The last value that the statement names.
        value = match said.rsplit_once("\n%") {
            Some((_, last)) => format!("%{}", last.split(' ').next().unwrap_or_default()),
            None => format!("%{k}"),
        };
    }
    body(inputs, &statements, &value)
}

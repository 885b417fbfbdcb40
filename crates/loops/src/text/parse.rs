//! Kernels from text.
//!
//! Blocks are kept on a stack of their own, lists and nests are bounded, and every number is read
//! into the range of its field, so hostile text ends in a diagnostic. What the numbers mean
//! together is left to the verifier.

use std::str::FromStr;
use std::sync::Arc;

use restride_text::{Cursor, Diagnostic, Span, Spanned, closest, is_seen};
use smallvec::SmallVec;

use crate::ir::{
    Addr, Buffer, BufferId, Dim, Form, Gather, Image, IndexType, Kernel, Move, Norm, Place, Role,
    Stmt, Var, Width,
};

/// The deepest nest that is read.
const MAX_DEPTH: usize = 256;
/// The most dimensions of a box and terms of an address that are read.
const MAX_LIST: usize = 256;

type Parsed<T> = Result<T, Diagnostic>;

impl FromStr for Kernel {
    type Err = Diagnostic;

    /// Parses the text form of one kernel.
    fn from_str(text: &str) -> Parsed<Kernel> {
        let mut c = Cursor::new(text)?;
        let kernel = kernel(&mut c)?;
        if c.at_end() {
            Ok(kernel)
        } else {
            Err(c.unexpected("the end of the text"))
        }
    }
}

fn kernel(c: &mut Cursor<'_>) -> Parsed<Kernel> {
    c.expect_name("kernel")?;
    let name = c.string()?;
    if !name.text.chars().all(is_seen) {
        let message = "a name with characters that cannot be seen";
        return Err(Diagnostic::new(name.span, message));
    }
    let name = name.text.to_owned();
    c.expect("{")?;
    let mut buffers = Vec::new();
    while let Ok(token) = c.peek()
        && numbered(token.text, 'b').is_some()
    {
        let id = c.name()?;
        if numbered(id.text, 'b') != Some(buffers.len() as u32) {
            let message = format!("expected b{}, buffers are numbered in order", buffers.len());
            return Err(Diagnostic::new(id.span, message));
        }
        buffers.push(buffer(c)?);
    }
    Ok(Kernel {
        name: name.into(),
        buffers,
        phases: phases(c)?,
    })
}

fn buffer(c: &mut Cursor<'_>) -> Parsed<Buffer> {
    c.expect("=")?;
    let kind = c.name()?;
    let number = match kind.text {
        "in" | "out" => unsigned(c)?,
        "scratch" | "const" => 0,
        other => {
            return Err(unknown(
                other,
                kind.span,
                "role",
                &["in", "out", "scratch", "const"],
            ));
        }
    };
    let width = width(c)?;
    c.expect("[")?;
    let len = c.int()?.text;
    c.expect("]")?;
    let role = match kind.text {
        "in" => Role::In(number),
        "out" => Role::Out(number, image(c, len)?),
        "scratch" => Role::Scratch,
        _ => Role::Const(data(c)?),
    };
    Ok(Buffer { role, width, len })
}

fn width(c: &mut Cursor<'_>) -> Parsed<Width> {
    let name = c.name()?;
    let found = Width::ALL.into_iter().find(|w| w.to_string() == name.text);
    found.ok_or_else(|| {
        unknown(
            name.text,
            name.span,
            "width",
            &["w1", "w2", "w4", "w8", "w16"],
        )
    })
}

fn image(c: &mut Cursor<'_>, len: i64) -> Parsed<Image> {
    if !c.eat_name("image") {
        return Ok(Image::dense(len));
    }
    let offset = c.int()?.text;
    let dims = a_box(c)?
        .into_iter()
        .map(|[extent, stride]| (extent, stride))
        .collect();
    Ok(Image { offset, dims })
}

/// Strings of hex digits, put together.
fn data(c: &mut Cursor<'_>) -> Parsed<Arc<[u8]>> {
    let mut bytes = Vec::new();
    while c
        .peek()
        .is_ok_and(|t| t.kind == restride_text::TokenKind::String)
    {
        let line = c.string()?;
        let wrong = || Diagnostic::new(line.span, "expected pairs of hex digits");
        let digit = |d: u8| char::from(d).to_digit(16).ok_or_else(wrong);
        let (pairs, rest) = line.text.as_bytes().as_chunks::<2>();
        if !rest.is_empty() {
            return Err(wrong());
        }
        for &[high, low] in pairs {
            bytes.push((digit(high)? * 16 + digit(low)?) as u8);
        }
    }
    Ok(bytes.into())
}

/// A loop whose body is being read.
struct Open {
    var: Var,
    extent: i64,
    parallel: bool,
    outside: Vec<Stmt>,
}

/// All statements up to the end of the kernel.
fn phases(c: &mut Cursor<'_>) -> Parsed<SmallVec<[Vec<Stmt>; 3]>> {
    let mut phases = SmallVec::new();
    let mut block = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    loop {
        if c.eat("}") {
            match open.pop() {
                Some(Open {
                    var,
                    extent,
                    parallel,
                    outside,
                }) => {
                    let body = std::mem::replace(&mut block, outside);
                    block.push(Stmt::For {
                        var,
                        extent,
                        parallel,
                        body,
                    });
                }
                None => {
                    if !phases.is_empty() || !block.is_empty() {
                        phases.push(block);
                    }
                    return Ok(phases);
                }
            }
        } else if open.is_empty() && c.eat_name("barrier") {
            phases.push(std::mem::take(&mut block));
        } else if c.at_name("for") {
            if open.len() == MAX_DEPTH {
                let message = format!("loops nested deeper than {MAX_DEPTH}");
                return Err(Diagnostic::new(c.span(), message));
            }
            c.expect_name("for")?;
            let var = var(c)?;
            c.expect_name("in")?;
            c.int_in(0, 0)?;
            c.expect("..")?;
            let extent = c.int()?.text;
            let parallel = c.eat_name("parallel");
            c.expect("{")?;
            open.push(Open {
                var,
                extent,
                parallel,
                outside: std::mem::take(&mut block),
            });
        } else {
            block.push(simple(c)?);
        }
    }
}

/// A statement without a body.
fn simple(c: &mut Cursor<'_>) -> Parsed<Stmt> {
    const NAMES: [&str; 7] = ["for", "check", "index", "move", "gather", "fill", "barrier"];
    let Ok(Spanned { text, span }) = c.name() else {
        return Err(c.unexpected("a statement or `}`"));
    };
    match text {
        "check" => {
            let code = unsigned(c)?;
            c.expect(":")?;
            let index = place(c)?;
            let dims = pairs(c)?;
            let norm = norm(c)?;
            Ok(Stmt::Check {
                index,
                dims,
                norm,
                code,
            })
        }
        "index" => {
            let var = var(c)?;
            c.expect("=")?;
            let place = place(c)?;
            Ok(Stmt::Index {
                var,
                place,
                norm: norm(c)?,
            })
        }
        "move" => {
            let dst = place(c)?;
            c.expect("<-")?;
            let src = place(c)?;
            let dims = dims(c)?;
            Ok(Stmt::Move(Move {
                dst,
                src,
                dims,
                form: form(c)?,
            }))
        }
        "gather" => gather(c),
        "barrier" => Err(Diagnostic::new(span, "a barrier inside a loop")),
        "fill" => {
            let dst = place(c)?;
            c.expect("<-")?;
            let bits = c.bits()?.text;
            Ok(Stmt::Fill {
                dst,
                dims: pairs(c)?,
                bits,
            })
        }
        other => Err(unknown(other, span, "statement", &NAMES)),
    }
}

fn gather(c: &mut Cursor<'_>) -> Parsed<Stmt> {
    let extent = c.int()?.text;
    c.expect_name("rows")?;
    let (dst, dst_stride) = stepped(c)?;
    c.expect("<-")?;
    let (src, coeff) = stepped(c)?;
    c.expect_name("at")?;
    let (index, index_stride) = stepped(c)?;
    let norm = norm(c)?;
    let dims = dims(c)?;
    Ok(Stmt::Gather(Box::new(Gather {
        extent,
        index,
        index_stride,
        norm,
        dst,
        dst_stride,
        src,
        coeff,
        dims,
    })))
}

fn stepped(c: &mut Cursor<'_>) -> Parsed<(Place, i64)> {
    let place = place(c)?;
    c.expect_name("step")?;
    Ok((place, c.int()?.text))
}

fn norm(c: &mut Cursor<'_>) -> Parsed<Norm> {
    let name = c.name()?;
    let ty = IndexType::ALL.into_iter().find(|t| t.name() == name.text);
    let names = IndexType::ALL.map(IndexType::name);
    let ty = ty.ok_or_else(|| unknown(name.text, name.span, "index type", &names))?;
    c.expect_name("limit")?;
    let limit = c.int()?.text;
    let wrap = c.eat_name("wrap");
    let clamp = c.eat_name("clamp");
    if !clamp {
        c.expect_name("zero")?;
    }
    Ok(Norm {
        ty,
        limit,
        wrap,
        clamp,
    })
}

fn form(c: &mut Cursor<'_>) -> Parsed<Form> {
    if !c.eat_name("as") {
        return Ok(Form::Elements);
    }
    let name = c.name()?;
    let form = Form::ALL.into_iter().find(|f| f.name() == name.text);
    form.ok_or_else(|| unknown(name.text, name.span, "form", &Form::ALL.map(Form::name)))
}

fn place(c: &mut Cursor<'_>) -> Parsed<Place> {
    let name = c.name()?;
    let buffer = numbered(name.text, 'b').map(BufferId);
    let buffer =
        buffer.ok_or_else(|| Diagnostic::new(name.span, "expected a buffer such as b0"))?;
    c.expect("[")?;
    let addr = addr(c)?;
    c.expect("]")?;
    Ok(Place { buffer, addr })
}

/// `constant + coefficient*variable + ...`, the constant only at the front.
fn addr(c: &mut Cursor<'_>) -> Parsed<Addr> {
    let mut addr = Addr::default();
    let mut first = true;
    loop {
        if !c.at_int() {
            addr.terms.push((var(c)?, 1));
        } else {
            let number = c.int()?;
            if c.eat("*") {
                addr.terms.push((var(c)?, number.text));
            } else if first {
                addr.base = number.text;
            } else {
                return Err(c.unexpected("`*` and a variable"));
            }
        }
        first = false;
        if !c.eat("+") {
            return Ok(addr);
        }
        if addr.terms.len() == MAX_LIST {
            let message = format!("an address of more than {MAX_LIST} terms");
            return Err(Diagnostic::new(c.span(), message));
        }
    }
}

fn var(c: &mut Cursor<'_>) -> Parsed<Var> {
    let name = c.name()?;
    let var = numbered(name.text, 'v').map(Var);
    var.ok_or_else(|| Diagnostic::new(name.span, "expected a variable such as v0"))
}

fn pairs(c: &mut Cursor<'_>) -> Parsed<SmallVec<[(i64, i64); 6]>> {
    Ok(a_box(c)?
        .into_iter()
        .map(|[extent, stride]| (extent, stride))
        .collect())
}

fn dims(c: &mut Cursor<'_>) -> Parsed<SmallVec<[Dim; 4]>> {
    Ok(a_box(c)?
        .into_iter()
        .map(|[extent, dst, src]| Dim { extent, dst, src })
        .collect())
}

/// `box [(a, b), ...]`, or nothing.
fn a_box<const N: usize>(c: &mut Cursor<'_>) -> Parsed<Vec<[i64; N]>> {
    let mut dims = Vec::new();
    if !c.eat_name("box") {
        return Ok(dims);
    }
    c.list("[", "]", MAX_LIST, |c| {
        let mut dim = [0; N];
        for (at, number) in dim.iter_mut().enumerate() {
            c.expect(if at == 0 { "(" } else { "," })?;
            *number = c.int()?.text;
        }
        c.expect(")")?;
        dims.push(dim);
        Ok(())
    })?;
    Ok(dims)
}

fn unsigned(c: &mut Cursor<'_>) -> Parsed<u32> {
    Ok(c.int_in(0, u32::MAX.into())?.text as u32)
}

/// The number in a name such as `b12`, spelled the one way it is printed.
fn numbered(name: &str, letter: char) -> Option<u32> {
    let digits = name.strip_prefix(letter)?;
    let plain = digits.bytes().all(|d| d.is_ascii_digit());
    let padded = digits.len() > 1 && digits.starts_with('0');
    if plain && !padded {
        digits.parse().ok()
    } else {
        None
    }
}

fn unknown(found: &str, span: Span, what: &str, known: &[&str]) -> Diagnostic {
    let shown: String = found.chars().take(40).collect();
    let diagnostic = Diagnostic::new(span, format!("unknown {what} `{shown}`"));
    match closest(found, known.iter().copied()) {
        Some(name) => diagnostic.help(format!("did you mean `{name}`?")),
        None => diagnostic.help(format!("one of {}", known.join(", "))),
    }
}

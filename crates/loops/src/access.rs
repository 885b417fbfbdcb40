//! Small questions asked of the IR by everyone who reads it.

use crate::ir::{
    Addr, Buffer, BufferId, Dim, Form, Gather, Image, IndexType, Kernel, Norm, Place, Role, Stmt,
    Var, Width,
};
use smallvec::SmallVec;

impl Width {
    /// All widths, narrowest first.
    pub const ALL: [Width; 5] = [Width::W1, Width::W2, Width::W4, Width::W8, Width::W16];

    /// Bytes per element.
    pub const fn bytes(self) -> usize {
        match self {
            Width::W1 => 1,
            Width::W2 => 2,
            Width::W4 => 4,
            Width::W8 => 8,
            Width::W16 => 16,
        }
    }

    /// The width of so many bytes, if there is one.
    pub const fn from_bytes(bytes: usize) -> Option<Width> {
        match bytes {
            1 => Some(Width::W1),
            2 => Some(Width::W2),
            4 => Some(Width::W4),
            8 => Some(Width::W8),
            16 => Some(Width::W16),
            _ => None,
        }
    }

    /// The bits that an element of this width can hold, all set.
    pub const fn mask(self) -> u128 {
        u128::MAX >> (128 - 8 * self.bytes())
    }
}

impl IndexType {
    /// All index types.
    pub const ALL: [IndexType; 8] = [
        IndexType::I8,
        IndexType::U8,
        IndexType::I16,
        IndexType::U16,
        IndexType::I32,
        IndexType::U32,
        IndexType::I64,
        IndexType::U64,
    ];

    /// The width of a buffer that holds it.
    pub const fn width(self) -> Width {
        match self {
            IndexType::I8 | IndexType::U8 => Width::W1,
            IndexType::I16 | IndexType::U16 => Width::W2,
            IndexType::I32 | IndexType::U32 => Width::W4,
            IndexType::I64 | IndexType::U64 => Width::W8,
        }
    }

    /// Its name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            IndexType::I8 => "i8",
            IndexType::U8 => "u8",
            IndexType::I16 => "i16",
            IndexType::U16 => "u16",
            IndexType::I32 => "i32",
            IndexType::U32 => "u32",
            IndexType::I64 => "i64",
            IndexType::U64 => "u64",
        }
    }

    /// Whether it can be negative.
    pub const fn is_signed(self) -> bool {
        matches!(
            self,
            IndexType::I8 | IndexType::I16 | IndexType::I32 | IndexType::I64
        )
    }

    /// The integer that the low bits of an element stand for.
    pub const fn widen(self, bits: u64) -> i128 {
        match self {
            IndexType::I8 => bits as i8 as i128,
            IndexType::U8 => bits as u8 as i128,
            IndexType::I16 => bits as i16 as i128,
            IndexType::U16 => bits as u16 as i128,
            IndexType::I32 => bits as i32 as i128,
            IndexType::U32 => bits as u32 as i128,
            IndexType::I64 => bits as i64 as i128,
            IndexType::U64 => bits as i128,
        }
    }
}

impl Norm {
    /// What a stored integer selects, in `0..limit`, or nothing. Clamping does not apply.
    pub const fn within(&self, value: i128) -> Option<i64> {
        let limit = self.limit as i128;
        let value = if self.wrap && value < 0 {
            value + limit
        } else {
            value
        };
        if 0 <= value && value < limit {
            Some(value as i64)
        } else {
            None
        }
    }

    /// What a stored integer selects, in `0..limit`; nothing when it is outside and not clamped.
    pub const fn select(&self, value: i128) -> Option<i64> {
        match self.within(value) {
            Some(x) => Some(x),
            None if !self.clamp || self.limit < 1 => None,
            None if value < 0 => Some(0),
            None => Some(self.limit - 1),
        }
    }
}

impl Role {
    /// Whether statements may load from it.
    pub const fn is_readable(&self) -> bool {
        match self {
            Role::In(_) | Role::Scratch | Role::Const(_) => true,
            Role::Out(..) => false,
        }
    }

    /// Whether statements may store to it.
    pub const fn is_writable(&self) -> bool {
        match self {
            Role::Out(..) | Role::Scratch => true,
            Role::In(_) | Role::Const(_) => false,
        }
    }

    /// The number of the input it is, if it is one.
    pub const fn input(&self) -> Option<u32> {
        match self {
            Role::In(n) => Some(*n),
            Role::Out(..) | Role::Scratch | Role::Const(_) => None,
        }
    }

    /// The number of the output it is, if it is one.
    pub const fn output(&self) -> Option<u32> {
        match self {
            Role::Out(n, _) => Some(*n),
            Role::In(_) | Role::Scratch | Role::Const(_) => None,
        }
    }
}

impl Image {
    /// The image of a buffer that is written whole.
    pub fn dense(len: i64) -> Image {
        Image {
            offset: 0,
            dims: smallvec::smallvec![(len, 1)],
        }
    }

    /// How many addresses it has; nothing when that is negative or does not fit.
    pub fn count(&self) -> Option<i64> {
        if self.dims.iter().any(|&(extent, _)| extent == 0) {
            return Some(0);
        }
        self.dims.iter().try_fold(1i64, |n, &(extent, _)| {
            if extent < 0 {
                None
            } else {
                n.checked_mul(extent)
            }
        })
    }
}

impl Buffer {
    /// Its size in bytes; nothing when it has a negative length or does not fit.
    pub fn bytes(&self) -> Option<usize> {
        usize::try_from(self.len)
            .ok()?
            .checked_mul(self.width.bytes())
    }
}

impl Addr {
    /// An address that mentions no variable.
    pub fn constant(base: i64) -> Addr {
        Addr {
            base,
            terms: smallvec::SmallVec::new(),
        }
    }

    /// The coefficient of a variable; 0 when it is not mentioned.
    pub fn coeff(&self, var: Var) -> i64 {
        self.terms
            .iter()
            .find(|&&(v, _)| v == var)
            .map_or(0, |&(_, c)| c)
    }

    /// Adds `coeff * var`, keeping each variable at most once and none with coefficient zero.
    /// Nothing when a coefficient overflows.
    pub fn plus(mut self, var: Var, coeff: i64) -> Option<Addr> {
        match self.terms.iter().position(|&(v, _)| v == var) {
            Some(at) => {
                let sum = self.terms[at].1.checked_add(coeff)?;
                if sum == 0 {
                    self.terms.remove(at);
                } else {
                    self.terms[at].1 = sum;
                }
            }
            None if coeff == 0 => {}
            None => self.terms.push((var, coeff)),
        }
        Some(self)
    }
}

impl Place {
    /// A place whose address mentions no variable.
    pub fn at(buffer: BufferId, base: i64) -> Place {
        Place {
            buffer,
            addr: Addr::constant(base),
        }
    }
}

impl Form {
    /// All forms, in the order of their declaration.
    pub const ALL: [Form; 7] = [
        Form::Elements,
        Form::Rows,
        Form::Stream,
        Form::Strided,
        Form::Transpose,
        Form::Staged,
        Form::Lines,
    ];

    /// Its name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Form::Elements => "elements",
            Form::Rows => "rows",
            Form::Stream => "stream",
            Form::Strided => "strided",
            Form::Transpose => "transpose",
            Form::Staged => "staged",
            Form::Lines => "lines",
        }
    }

    /// Whether a box may be moved this way. A form never changes what the box means.
    pub fn fits(self, dims: &[Dim]) -> bool {
        let transposed = |a: &Dim, b: &Dim| a.dst == 1 && b.src == 1 || a.src == 1 && b.dst == 1;
        match (self, dims) {
            (Form::Elements, _) => true,
            (Form::Rows, [.., row]) => row.dst == 1 && row.src == 1,
            (Form::Stream, [.., a, b]) if transposed(a, b) => true,
            (Form::Strided, [.., row]) => row.dst == 1 && row.src != 1,
            (Form::Stream | Form::Lines, [.., row]) => row.dst == 1,
            (Form::Transpose | Form::Staged, [.., a, b]) => transposed(a, b),
            (Form::Rows | Form::Stream | Form::Strided | Form::Lines, [])
            | (Form::Transpose | Form::Staged, [] | [_]) => false,
        }
    }
}

impl Stmt {
    /// The place it writes, if it writes.
    pub fn dst(&self) -> Option<&Place> {
        match self {
            Stmt::Move(m) => Some(&m.dst),
            Stmt::Gather(g) => Some(&g.dst),
            Stmt::Fill { dst, .. } => Some(dst),
            Stmt::For { .. } | Stmt::Check { .. } | Stmt::Index { .. } => None,
        }
    }

    /// The statements inside it.
    pub fn body(&self) -> &[Stmt] {
        match self {
            Stmt::For { body, .. } => body,
            Stmt::Check { .. }
            | Stmt::Index { .. }
            | Stmt::Move(_)
            | Stmt::Gather(_)
            | Stmt::Fill { .. } => &[],
        }
    }
}

/// Rows that constants name; nothing where one names none.
pub type NamedRows = Vec<Option<i64>>;

/// The most of them.
const NAMED: i64 = 512;

impl Kernel {
    /// A buffer by its number; nothing when there is no such buffer.
    pub fn buffer(&self, id: BufferId) -> Option<&Buffer> {
        self.buffers.get(usize::try_from(id.0).ok()?)
    }

    /// The rows that the indices of a gather name, if these are constants and not too many to look at each.
    pub fn named_rows(&self, gather: &Gather) -> Option<NamedRows> {
        let Role::Const(bytes) = &self.buffer(gather.index.buffer)?.role else {
            return None;
        };
        let Addr { base, terms } = &gather.index.addr;
        if !terms.is_empty() || gather.extent > NAMED {
            return None;
        }
        let Norm { ty, .. } = gather.norm;
        let width = ty.width().bytes();
        let named = |number: i64| {
            let at = base.checked_add(number.checked_mul(gather.index_stride)?)?;
            let first = usize::try_from(at).ok()?.checked_mul(width)?;
            let mut stored = [0; 8];
            stored
                .get_mut(..width)?
                .copy_from_slice(bytes.get(first..)?.get(..width)?);
            Some(gather.norm.select(ty.widen(u64::from_le_bytes(stored))))
        };
        (0..gather.extent).map(named).collect()
    }

    /// Every buffer with its number.
    pub fn numbered(&self) -> impl Iterator<Item = (BufferId, &Buffer)> {
        self.buffers
            .iter()
            .enumerate()
            .map(|(at, b)| (BufferId(at as u32), b))
    }

    /// Calls `f` with every statement in program order, a loop before its body.
    pub fn visit<'k>(&'k self, mut f: impl FnMut(&'k Stmt)) {
        let mut blocks: SmallVec<[std::slice::Iter<'_, Stmt>; 8]> = SmallVec::new();
        for phase in &self.phases {
            blocks.push(phase.iter());
            while let Some(block) = blocks.last_mut() {
                let Some(stmt) = block.next() else {
                    blocks.pop();
                    continue;
                };
                f(stmt);
                if let [_, ..] = stmt.body() {
                    blocks.push(stmt.body().iter());
                }
            }
        }
    }

    /// How many statements there are, loops and what is in them.
    pub fn statements(&self) -> usize {
        let mut statements = 0;
        self.visit(|_| statements += 1);
        statements
    }

    /// Whether any phase has a loop that may be shared out, so that more than one chunk helps.
    pub fn is_parallel(&self) -> bool {
        self.phases
            .iter()
            .flatten()
            .any(|s| matches!(s, Stmt::For { parallel: true, .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_at_the_edges() {
        let norm = |wrap, clamp| Norm {
            ty: IndexType::I64,
            limit: 5,
            wrap,
            clamp,
        };
        let table: [(i128, [Option<i64>; 4]); 9] = [
            // value: zero, clamp, wrap and zero, wrap and clamp
            (0, [Some(0); 4]),
            (4, [Some(4); 4]),
            (5, [None, Some(4), None, Some(4)]),
            (-1, [None, Some(0), Some(4), Some(4)]),
            (-5, [None, Some(0), Some(0), Some(0)]),
            (-6, [None, Some(0), None, Some(0)]),
            (i64::MIN as i128, [None, Some(0), None, Some(0)]),
            (i64::MAX as i128, [None, Some(4), None, Some(4)]),
            (u64::MAX as i128, [None, Some(4), None, Some(4)]),
        ];
        for (value, expected) in table {
            let kinds = [(false, false), (false, true), (true, false), (true, true)];
            let found = kinds.map(|(wrap, clamp)| norm(wrap, clamp).select(value));
            assert_eq!(found, expected, "{value}");
        }
    }

    #[test]
    fn index_types_widen() {
        let all_ones = [-1, 0xff, -1, 0xffff, -1, 0xffff_ffff, -1, u64::MAX as i128];
        assert_eq!(IndexType::ALL.map(|t| t.widen(u64::MAX)), all_ones);
        assert!(
            IndexType::ALL
                .iter()
                .all(|t| t.is_signed() == (t.widen(u64::MAX) < 0))
        );
    }

    #[test]
    fn forms_fit_their_boxes() {
        let fitting = |dims: &[(i64, i64, i64)]| {
            let dims: Vec<Dim> = dims
                .iter()
                .map(|&(extent, dst, src)| Dim { extent, dst, src })
                .collect();
            Form::ALL
                .map(|f| f.fits(&dims))
                .map(|fits| if fits { 'x' } else { '.' })
        };
        let row = |dims| fitting(dims).iter().collect::<String>();
        // elements, rows, stream, strided, transpose, staged, lines
        assert_eq!(row(&[]), "x......");
        assert_eq!(row(&[(8, 1, 1)]), "xxx...x");
        assert_eq!(row(&[(8, 1, 2)]), "x.xx..x");
        assert_eq!(row(&[(8, 2, 1)]), "x......");
        assert_eq!(row(&[(8, 1, 8), (8, 8, 1)]), "x.x.xx.");
        assert_eq!(row(&[(8, 8, 1), (8, 1, 8)]), "x.xxxxx");
        assert_eq!(row(&[(8, 8, 8), (8, 1, 1)]), "xxx...x");
    }

    #[test]
    fn terms_of_one_variable_are_joined() {
        let addr = Addr::constant(3)
            .plus(Var(0), 2)
            .and_then(|a| a.plus(Var(1), 4));
        let addr = addr.and_then(|a| a.plus(Var(0), -2)).unwrap();
        assert_eq!(
            (addr.base, addr.coeff(Var(0)), addr.coeff(Var(1))),
            (3, 0, 4)
        );
        assert_eq!(addr.terms.len(), 1);
        assert_eq!(addr.plus(Var(1), i64::MAX), None);
    }
}

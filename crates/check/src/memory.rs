//! Memory in which every byte knows where it comes from.

use restride_loops::{BufferId, Kernel, Role, Standalone};

use crate::label::{Label, Sources};
use crate::symbol::{Interval, Symbol, Symbols};
use crate::value::{Area, IndexedBytes, Number, Pointer, Value};
use crate::violation::{Kind, Stop};

/// The most bytes of stack that code may use.
const STACK: i64 = 1 << 16;

/// Bytes on their way.
pub(crate) type CarriedLabels = [Label; 16];

enum Content {
    Source(Label),
    /// What is there, and for an output what must be there in the end.
    Store(Vec<Label>, Option<Vec<Label>>),
}

struct CheckedBuffer {
    bytes: i64,
    content: Content,
}

/// Everything that code may touch.
pub(crate) struct CheckedMemory<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) symbols: Symbols,
    pub(crate) accesses: u64,
    buffers: Vec<CheckedBuffer>,
    /// The tables of addresses, by the numbers of the buffers that they point at.
    tables: [Vec<Option<u32>>; 2],
    /// The constants of a function ahead of time: where they begin behind its code, and their buffers.
    constants: Vec<(i64, u32)>,
    /// Its scratch: the buffer that stands for all of it, and where each begins and ends.
    scratch: Option<(u32, Vec<(i64, i64)>)>,
    code: &'a [u8],
    /// The address of the code, as far as it is known.
    code_at: i64,
    stack: Vec<Value>,
    /// The stack pointer at entry.
    entry: i64,
    /// The stack pointer; nothing below it is to be used.
    floor: i64,
    /// The lowest slot that was written since it was last made undefined.
    used: i64,
}

fn is_aligned(offset: i64) -> bool {
    offset % 16 == 0
}

impl<'a> CheckedMemory<'a> {
    /// Buffers without contents; `lent` says how many bytes each has and `expected` what outputs
    /// must become.
    pub(crate) fn new(
        kernel: &Kernel,
        sources: &'a Sources,
        code: &'a [u8],
        lent: &[i64],
        expected: Vec<Option<Vec<Label>>>,
    ) -> Self {
        let buffers = kernel
            .buffers
            .iter()
            .zip(lent)
            .zip(expected)
            .enumerate()
            .map(|(at, ((buffer, &bytes), expected))| CheckedBuffer {
                bytes,
                content: match (&buffer.role, sources.first(at)) {
                    (Role::In(_) | Role::Const(_), Some(first)) => Content::Source(first),
                    (Role::In(_) | Role::Const(_) | Role::Out(..) | Role::Scratch, _) => {
                        let len = usize::try_from(bytes).unwrap_or(0);
                        Content::Store(vec![Label::NOTHING; len], expected)
                    }
                },
            })
            .collect();
        let passed = |(id, buffer): (BufferId, &restride_loops::Buffer)| {
            (!matches!(buffer.role, Role::Const(_))).then_some(id.0)
        };
        Self {
            sources,
            symbols: Symbols::new(),
            accesses: 0,
            buffers,
            tables: [kernel.numbered().map(passed).collect(), Vec::new()],
            constants: Vec::new(),
            scratch: None,
            code,
            code_at: code.as_ptr().addr() as i64,
            stack: vec![Value::Undefined; (STACK / 8) as usize],
            entry: STACK,
            floor: STACK,
            used: STACK,
        }
    }

    /// For a function ahead of time: two tables, one piece of scratch, constants behind the code.
    pub(crate) fn whole(&mut self, kernel: &Kernel, whole: &Standalone) -> Result<(), Stop> {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let put = |table: &mut Vec<Option<u32>>, at: u32, id: BufferId| {
            let at = at as usize;
            table.resize(table.len().max(at + 1), None);
            table[at] = Some(id.0);
        };
        for (id, buffer) in kernel.numbered() {
            match buffer.role {
                Role::In(at) => put(&mut inputs, at, id),
                Role::Out(at, _) => put(&mut outputs, at, id),
                Role::Scratch | Role::Const(_) => {}
            }
        }
        self.tables = [inputs, outputs];
        self.code_at = 0;
        let at = whole.constants.iter();
        self.constants = at.map(|(id, at)| (*at as i64, id.0)).collect();
        let layout = kernel
            .scratch_layout(Standalone::ALIGN)
            .ok_or(Kind::Kernel {
                what: "scratch of more bytes than there are",
            })?;
        let places = layout.offsets.iter().map(|(id, at)| {
            let bytes = self.buffers.get(id.0 as usize).map_or(0, |b| b.bytes);
            (*at as i64, *at as i64 + bytes)
        });
        self.scratch = Some((self.buffers.len() as u32, places.collect()));
        self.buffers.push(CheckedBuffer {
            bytes: whole.scratch as i64,
            content: Content::Store(vec![Label::NOTHING; whole.scratch], None),
        });
        Ok(())
    }

    /// What a function is called with: the table of all buffers, or those of inputs and outputs and scratch.
    pub(crate) fn arguments(&self) -> [Pointer; 3] {
        let scratch = self.scratch.as_ref().map_or(0, |(buffer, _)| *buffer);
        [Area::Table(0), Area::Table(1), Area::Buffer(scratch)].map(|region| Pointer {
            region,
            offset: 0,
            sum: Symbol::KNOWN,
        })
    }

    pub(crate) fn name(&self, region: Area) -> String {
        match region {
            Area::Stack => "the stack".to_owned(),
            Area::Table(0) if self.scratch.is_none() => "the table of buffers".to_owned(),
            Area::Table(0) => "the table of inputs".to_owned(),
            Area::Table(_) => "the table of outputs".to_owned(),
            Area::Code => "the code".to_owned(),
            Area::Buffer(at) if self.is_scratch(at) => "scratch".to_owned(),
            Area::Buffer(at) => format!("b{at}"),
        }
    }

    fn is_scratch(&self, buffer: u32) -> bool {
        matches!(&self.scratch, Some((scratch, _)) if *scratch == buffer)
    }

    /// The same address, in the constant where it lies if it is behind the code.
    fn in_constant(&self, at: Pointer) -> Pointer {
        if at.region != Area::Code {
            return at;
        }
        let before = self
            .constants
            .iter()
            .filter(|(first, _)| *first <= at.offset);
        match before.max_by_key(|(first, _)| *first) {
            Some((first, buffer)) => Pointer {
                region: Area::Buffer(*buffer),
                offset: at.offset - first,
                ..at
            },
            None => at,
        }
    }

    fn bytes(&self, region: Area) -> i64 {
        match region {
            Area::Stack => STACK,
            Area::Table(table) => self.table(table).len() as i64 * 8,
            Area::Code => self.code.len() as i64,
            Area::Buffer(at) => self.buffers.get(at as usize).map_or(0, |b| b.bytes),
        }
    }

    fn table(&self, number: u8) -> &[Option<u32>] {
        self.tables.get(usize::from(number)).map_or(&[], |it| it)
    }

    /// Proves that bytes `from..to` past an address are inside, whatever the indices in it.
    pub(crate) fn bounds(&self, at: Pointer, from: i128, to: i128) -> Result<(), Stop> {
        let bytes = self.bytes(at.region).into();
        let inside = |before: i128, after: i128| {
            let low = i128::from(at.offset)
                .saturating_add(before)
                .saturating_add(from);
            let high = i128::from(at.offset)
                .saturating_add(after)
                .saturating_add(to);
            // Of scratch, each buffer is by itself.
            let is_inside = match (&self.scratch, at.region) {
                (Some((scratch, places)), Area::Buffer(buffer)) if *scratch == buffer => {
                    let within =
                        |place: &&(i64, i64)| low >= place.0.into() && high <= place.1.into();
                    high <= bytes && places.iter().any(|place| within(&place))
                }
                _ => low >= 0 && high <= bytes,
            };
            if is_inside {
                return Ok(());
            }
            Err(Kind::Outside {
                region: self.name(at.region),
                low,
                high: high - (to - from),
                size: to - from,
                bytes,
            })
        };
        inside(0, 0)?;
        if at.sum == Symbol::KNOWN {
            return Ok(());
        }
        let spread = self.symbols.spread(at.sum);
        match inside(spread.low, spread.high) {
            Err(_) if !spread.is_exact => Err(Stop::not_understood(
                "an address depends on an index in a way that is not followed",
            )),
            known => Ok(known?),
        }
    }

    /// Refuses an address that an instruction demands to be a multiple of 16 and may not be.
    pub(crate) fn demand_alignment(&self, at: Pointer) -> Result<(), Stop> {
        let base = match at.region {
            Area::Stack => 0,
            Area::Code => self.code_at,
            // Buffers have any alignment.
            Area::Table(_) | Area::Buffer(_) => 1,
        };
        if is_aligned(base.wrapping_add(at.offset)) {
            return Ok(());
        }
        Err(Kind::Misaligned {
            region: self.name(at.region),
            offset: at.offset,
        }
        .into())
    }

    /// Loads up to sixteen bytes; the rest is zero.
    pub(crate) fn load(&mut self, at: Pointer, size: usize) -> Result<CarriedLabels, Stop> {
        let at = self.in_constant(at);
        self.bounds(at, 0, size as i128)?;
        self.accesses += 1;
        let mut lanes = [Label::ZERO; 16];
        let size = size.min(16);
        let start = at.offset as usize;
        match at.region {
            Area::Buffer(number) => match self.buffers.get(number as usize).map(|b| &b.content) {
                Some(Content::Source(first)) => {
                    for (by, lane) in lanes[..size].iter_mut().enumerate() {
                        *lane = first.plus(start + by);
                    }
                }
                Some(Content::Store(labels, None)) => {
                    let from = labels.get(start..start + size).unwrap_or_default();
                    for (lane, label) in lanes.iter_mut().zip(from) {
                        *lane = *label;
                    }
                }
                Some(Content::Store(_, Some(_))) | None => {
                    return Err(Kind::NotReadable {
                        region: self.name(at.region),
                    }
                    .into());
                }
            },
            Area::Code => {
                let from = self.code.get(start..start + size).unwrap_or_default();
                for (lane, byte) in lanes.iter_mut().zip(from) {
                    *lane = Label::literal(*byte);
                }
            }
            Area::Stack => {
                for by in (0..size).step_by(8) {
                    let slot = self.slot(at.offset + by as i64)?;
                    let Value::Data(data) = self.stack[slot] else {
                        return Err(self.stack[slot].unexpected("data"));
                    };
                    let to = (by + 8).min(size);
                    lanes[by..to].copy_from_slice(&data.bytes[..to - by]);
                }
            }
            Area::Table(_) => {
                return Err(Kind::Value {
                    what: "the address of a buffer".to_owned(),
                    wanted: "data",
                }
                .into());
            }
        }
        Ok(lanes)
    }

    /// Loads up to eight bytes, extended by zeros.
    pub(crate) fn load_value(&mut self, at: Pointer, size: usize) -> Result<Value, Stop> {
        let at = self.in_constant(at);
        match at.region {
            Area::Stack if size == 8 => {
                self.bounds(at, 0, 8)?;
                self.accesses += 1;
                let slot = self.slot(at.offset)?;
                match self.stack[slot] {
                    Value::Undefined => Err(Kind::Value {
                        what: "an undefined slot of the stack".to_owned(),
                        wanted: "a value",
                    }
                    .into()),
                    value => Ok(value),
                }
            }
            Area::Table(table) => {
                self.bounds(at, 0, size as i128)?;
                self.accesses += 1;
                let entry = self.table(table).get((at.offset / 8) as usize);
                let known = at.sum == Symbol::KNOWN && size == 8 && at.offset % 8 == 0;
                match entry.copied().flatten() {
                    Some(buffer) if known => Ok(Value::Pointer(Pointer {
                        region: Area::Buffer(buffer),
                        offset: 0,
                        sum: Symbol::KNOWN,
                    })),
                    Some(_) | None => Err(Kind::NotReadable {
                        region: self.name(at.region),
                    }
                    .into()),
                }
            }
            Area::Code => {
                let lanes = self.load(at, size)?;
                let bits = self.sources.number(&lanes[..8]).unwrap_or(0);
                Ok(Value::known(bits))
            }
            Area::Stack | Area::Buffer(_) => {
                let lanes = self.load(at, size)?;
                let mut bytes = [Label::ZERO; 8];
                bytes.copy_from_slice(&lanes[..8]);
                Ok(Value::Data(self.data(bytes, size)))
            }
        }
    }

    /// Bytes of which all but the first `size` are zero; a fresh index if they are numbers.
    pub(crate) fn data(&mut self, bytes: [Label; 8], size: usize) -> IndexedBytes {
        let number = self.sources.number(&bytes).map(|bits| {
            let may_be = match size {
                0..8 => Interval {
                    low: 0,
                    high: (1 << (8 * size)) - 1,
                },
                _ => Interval::ALL,
            };
            Number {
                bits,
                symbol: self.symbols.root(bits as i64, may_be),
            }
        });
        IndexedBytes { bytes, number }
    }

    /// Stores bytes.
    pub(crate) fn store(&mut self, at: Pointer, bytes: &[Label]) -> Result<(), Stop> {
        self.bounds(at, 0, bytes.len() as i128)?;
        self.accesses += 1;
        if at.sum != Symbol::KNOWN {
            return Err(Kind::NotAnAddress {
                what: "an index, to be written to".to_owned(),
            }
            .into());
        }
        match at.region {
            Area::Buffer(number) => self.put(number, at.offset as usize, bytes),
            Area::Stack if bytes.len().is_multiple_of(8) => {
                for (by, half) in (0..).step_by(8).zip(bytes.chunks(8)) {
                    let mut data = [Label::NOTHING; 8];
                    data.copy_from_slice(half);
                    let value = Value::Data(IndexedBytes {
                        bytes: data,
                        number: None,
                    });
                    self.store_slot(at.offset + by, value)?;
                }
                Ok(())
            }
            Area::Stack => Err(Stop::not_understood("part of a slot is written")),
            Area::Table(_) | Area::Code => Err(Kind::NotWritable {
                region: self.name(at.region),
            }
            .into()),
        }
    }

    fn put(&mut self, number: u32, start: usize, bytes: &[Label]) -> Result<(), Stop> {
        let Some(Content::Store(labels, expected)) = self
            .buffers
            .get_mut(number as usize)
            .map(|b| &mut b.content)
        else {
            return Err(Kind::NotWritable {
                region: self.name(Area::Buffer(number)),
            }
            .into());
        };
        let range = start..start + bytes.len();
        if let Some(expected) = expected {
            let expected = expected.get(range.clone()).unwrap_or_default();
            let wrong = (0..bytes.len())
                .find(|&at| expected.get(at) != Some(&bytes[at]) || bytes[at] == Label::NOTHING);
            if let Some(at) = wrong {
                return Err(Kind::WrongByte {
                    buffer: number as usize,
                    offset: start + at,
                    found: self.sources.name(bytes[at]),
                    expected: expected.get(at).map_or_else(
                        || "left alone".to_owned(),
                        |label| self.sources.name(*label),
                    ),
                }
                .into());
            }
        }
        if let Some(to) = labels.get_mut(range) {
            to.copy_from_slice(bytes);
        }
        Ok(())
    }

    /// That every byte of every output is there, and how many they are.
    pub(crate) fn complete(&self) -> Result<u64, Stop> {
        let mut count = 0;
        for (buffer, known) in self.buffers.iter().enumerate() {
            let Content::Store(labels, Some(expected)) = &known.content else {
                continue;
            };
            for (offset, wanted) in expected.iter().enumerate() {
                if *wanted == Label::NOTHING {
                    continue;
                }
                if labels.get(offset) != Some(wanted) {
                    return Err(Kind::Missing { buffer, offset }.into());
                }
                count += 1;
            }
        }
        Ok(count)
    }

    /// An empty stack, on which a call has just put its return address where it is put there.
    pub(crate) fn enter(&mut self, with_return: bool) -> Pointer {
        self.used = 0;
        self.floor = 0;
        self.forget_below(STACK);
        self.entry = STACK;
        if with_return {
            self.entry = STACK - 8;
            self.stack[(self.entry / 8) as usize] = Value::Return;
        }
        let top = self.entry;
        self.floor = top;
        Pointer {
            region: Area::Stack,
            offset: top,
            sum: Symbol::KNOWN,
        }
    }

    /// Whether the stack is as it was when the function was entered.
    pub(crate) fn is_at_entry(&self, offset: i64) -> bool {
        offset == self.entry
    }

    /// Moves the stack pointer.
    pub(crate) fn set_floor(&mut self, offset: i64) -> Result<(), Stop> {
        if !(0..=STACK).contains(&offset) || offset % 8 != 0 {
            return Err(Kind::Stack {
                what: "the stack pointer leaves the stack",
            }
            .into());
        }
        self.floor = offset;
        Ok(())
    }

    /// What a called function may have overwritten.
    pub(crate) fn forget_below(&mut self, offset: i64) {
        if self.used < offset {
            let (from, to) = ((self.used / 8) as usize, (offset / 8) as usize);
            self.stack[from..to].fill(Value::Undefined);
        }
        self.used = offset;
    }

    pub(crate) fn store_slot(&mut self, offset: i64, value: Value) -> Result<(), Stop> {
        if offset == self.entry {
            return Err(Kind::Stack {
                what: "the return address is overwritten",
            }
            .into());
        }
        let slot = self.slot(offset)?;
        self.used = self.used.min(offset);
        self.stack[slot] = value;
        Ok(())
    }

    fn slot(&self, offset: i64) -> Result<usize, Stop> {
        if offset < self.floor {
            return Err(Kind::Stack {
                what: "a slot below the stack pointer is used",
            }
            .into());
        }
        if offset % 8 != 0 || offset > STACK - 8 {
            return Err(Kind::Stack {
                what: "a slot is used that is none",
            }
            .into());
        }
        Ok((offset / 8) as usize)
    }
}

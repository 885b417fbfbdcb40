//! Words of A64 code to instructions, as the architecture's reference reads them. Whatever is not known to
//! be generated is nothing.

use super::super::flags::Condition;
use super::super::lanes::Bitwise;
use super::op::{A64Op, Address, Data, Extend, Network, Register};

/// The fields of a word.
#[derive(Clone, Copy)]
struct Word(u32);

impl Word {
    fn bits(self, from: u32, count: u32) -> u32 {
        self.0 >> from & ((1 << count) - 1)
    }

    fn is(self, bit: u32) -> bool {
        self.bits(bit, 1) == 1
    }

    fn register(self, from: u32) -> Register {
        self.bits(from, 5) as Register
    }

    fn signed(self, from: u32, count: u32) -> i64 {
        let unused = 64 - count;
        (u64::from(self.bits(from, count)) << unused) as i64 >> unused
    }

    fn rd(self) -> Register {
        self.register(0)
    }

    fn rn(self) -> Register {
        self.register(5)
    }

    fn rm(self) -> Register {
        self.register(16)
    }

    /// Of general registers.
    fn size(self) -> usize {
        if self.is(31) { 8 } else { 4 }
    }

    fn fits(self, mask: u32, value: u32) -> bool {
        self.0 & mask == value
    }

    /// The mask of an immediate of a logical instruction: ones in a row, rotated and repeated.
    fn mask(self) -> Option<u64> {
        let (n, rotate, ones) = (self.bits(22, 1), self.bits(16, 6), self.bits(10, 6));
        let len = 31 - (n << 6 | (!ones & 63)).leading_zeros().min(31);
        if len == 0 || (self.size() == 4 && n == 1) {
            return None;
        }
        let width = 1 << len;
        let (ones, rotate) = (ones & (width - 1), rotate & (width - 1));
        if ones == width - 1 {
            return None;
        }
        let element = (1u64 << (ones + 1)) - 1;
        let kept = u64::MAX >> (64 - width);
        let turned = match rotate {
            0 => element,
            by => (element >> by | element << (width - by)) & kept,
        };
        let all = (0..64)
            .step_by(width as usize)
            .fold(0, |all, at| all | turned << at);
        Some(if self.size() == 4 {
            all & u64::from(u32::MAX)
        } else {
            all
        })
    }

    fn condition(self, from: u32) -> Option<Condition> {
        Some(match self.bits(from, 4) {
            0 => Condition::Equal,
            1 => Condition::NotEqual,
            2 => Condition::NotBelow,
            3 => Condition::Below,
            4 => Condition::Negative,
            5 => Condition::NotNegative,
            8 => Condition::Above,
            9 => Condition::NotAbove,
            10 => Condition::NotLess,
            11 => Condition::Less,
            12 => Condition::Greater,
            13 => Condition::NotGreater,
            _ => return None,
        })
    }

    fn extend(self) -> Extend {
        let bytes = 1 << self.bits(13, 2);
        if self.is(15) {
            Extend::Sign(bytes)
        } else {
            Extend::Zeros(bytes)
        }
    }
}

/// What a word says; nothing for what is not known to be generated.
pub(crate) fn decode(word: u32) -> Option<A64Op> {
    let w = Word(word);
    if word >> 16 == 0 || w.fits(0xff00_0000, 0xd400_0000) {
        return Some(A64Op::Trap);
    }
    match w.bits(25, 4) {
        0b1000 | 0b1001 => immediate(w),
        0b1010 | 0b1011 => branch(w),
        0b0100 | 0b0110 | 0b1100 | 0b1110 => memory(w),
        0b0101 | 0b1101 => registers(w),
        0b0111 => vector(w),
        0b1111 => scalar(w),
        _ => None,
    }
}

/// Instructions with a number in them.
fn immediate(w: Word) -> Option<A64Op> {
    let (size, rd, rn) = (w.size(), w.rd(), w.rn());
    if w.fits(0x9f00_0000, 0x1000_0000) {
        let by = w.signed(5, 19) << 2 | i64::from(w.bits(29, 2));
        return Some(A64Op::Place { rd, by });
    }
    match w.bits(23, 6) {
        0b10_0010 => {
            let shift = if w.is(22) { 12 } else { 0 };
            let by = u64::from(w.bits(10, 12)) << shift;
            match w.bits(29, 2) {
                0b00 => Some(A64Op::AddImmediate {
                    size,
                    rd,
                    rn,
                    by: by as i64,
                }),
                0b10 => Some(A64Op::AddImmediate {
                    size,
                    rd,
                    rn,
                    by: -(by as i64),
                }),
                0b11 if rd == 31 => Some(A64Op::CompareImmediate { size, rn, with: by }),
                _ => None,
            }
        }
        0b10_0100 => {
            let with = w.mask()?;
            let operation = match w.bits(29, 2) {
                0b00 => Bitwise::And,
                0b01 => Bitwise::Or,
                0b10 => Bitwise::Xor,
                _ if rd == 31 => return Some(A64Op::Test { size, rn, with }),
                _ => return None,
            };
            // There, 31 would be the stack pointer.
            (rd != 31).then_some(A64Op::LogicImmediate {
                operation,
                size,
                rd,
                rn,
                with,
            })
        }
        0b10_0101 => {
            let shift = w.bits(21, 2) * 16;
            if w.bits(29, 2) == 1 || shift as usize >= 8 * size {
                return None;
            }
            Some(A64Op::MoveWide {
                size,
                rd,
                bits: w.bits(5, 16).into(),
                shift,
                kept: w.bits(29, 2) == 3,
                inverted: w.bits(29, 2) == 0,
            })
        }
        0b10_0110 => {
            let (rotate, last) = (w.bits(16, 6), w.bits(10, 6));
            let signed = match w.bits(29, 2) {
                0b00 => true,
                0b10 => false,
                _ => return None,
            };
            let fits = w.is(22) == (size == 8) && rotate.max(last) < 8 * size as u32;
            fits.then_some(A64Op::Bits {
                size,
                rd,
                rn,
                rotate,
                last,
                signed,
            })
        }
        _ => None,
    }
}

fn branch(w: Word) -> Option<A64Op> {
    if w.fits(0xfc00_0000, 0x1400_0000) {
        return Some(A64Op::Branch(w.signed(0, 26) * 4));
    }
    if w.fits(0xff00_0010, 0x5400_0000) {
        return Some(A64Op::BranchIf(w.condition(0)?, w.signed(5, 19) * 4));
    }
    if w.fits(0x7e00_0000, 0x3400_0000) {
        return Some(A64Op::BranchZero {
            size: w.size(),
            rt: w.rd(),
            zero: !w.is(24),
            by: w.signed(5, 19) * 4,
        });
    }
    if w.fits(0xffff_fc1f, 0xd63f_0000) {
        return Some(A64Op::Call(w.rn()));
    }
    match w.0 {
        0xd65f_03c0 => Some(A64Op::Return),
        0xd503_201f => Some(A64Op::Nothing),
        _ => None,
    }
}

/// Loads and stores.
fn memory(w: Word) -> Option<A64Op> {
    let (rt, rn) = (w.rd(), w.rn());
    let is_vector = w.is(26);
    let data = if is_vector {
        Data::Vector
    } else {
        Data::General
    };
    if w.fits(0x3b00_0000, 0x1800_0000) {
        let size = match (is_vector, w.bits(30, 2)) {
            (_, at @ 0..2) => 4 << at,
            (true, 2) => 16,
            _ => return None,
        };
        let address = Address::Literal(w.signed(5, 19) * 4);
        return Some(A64Op::Load {
            data,
            size,
            rt,
            address,
        });
    }
    if w.fits(0x3a00_0000, 0x2800_0000) {
        return pair(w, data);
    }
    let size = 1usize << w.bits(30, 2);
    let (size, data, is_load) = match (is_vector, w.bits(22, 2)) {
        (_, 0) => (size, data, false),
        (_, 1) => (size, data, true),
        (true, opc) if size == 1 => (16, data, opc == 3),
        (false, 2) if size < 8 => (size, Data::Signed, true),
        _ => return None,
    };
    let address = if w.fits(0x3b00_0000, 0x3900_0000) {
        Address::Offset(rn, i64::from(w.bits(10, 12)) * size as i64)
    } else if w.fits(0x3b20_0000, 0x3800_0000) {
        let by = w.signed(12, 9);
        match w.bits(10, 2) {
            0b00 => Address::Offset(rn, by),
            0b01 => Address::After(rn, by),
            0b11 => Address::Before(rn, by),
            _ => return None,
        }
    } else if w.fits(0x3b20_0c00, 0x3820_0800) && w.is(14) {
        let shift = if w.is(12) { size.ilog2() } else { 0 };
        Address::Index(rn, w.rm(), w.extend(), shift)
    } else {
        return None;
    };
    Some(match is_load {
        true => A64Op::Load {
            data,
            size,
            rt,
            address,
        },
        false => A64Op::Store {
            data,
            size,
            rt,
            address,
        },
    })
}

fn pair(w: Word, data: Data) -> Option<A64Op> {
    let size = match (data, w.bits(30, 2)) {
        (Data::Vector, at @ 0..3) => 4 << at,
        (Data::General, 0) => 4,
        (Data::General, 2) => 8,
        _ => return None,
    };
    let (rn, by) = (w.rn(), w.signed(15, 7) * size as i64);
    let address = match w.bits(23, 2) {
        1 => Address::After(rn, by),
        2 => Address::Offset(rn, by),
        3 => Address::Before(rn, by),
        _ => return None,
    };
    let rt = [w.rd(), w.register(10)];
    Some(match w.is(22) {
        true => A64Op::LoadPair {
            data,
            size,
            rt,
            address,
        },
        false => A64Op::StorePair {
            data,
            size,
            rt,
            address,
        },
    })
}

/// Instructions on general registers.
fn registers(w: Word) -> Option<A64Op> {
    let (size, rd, rn, rm) = (w.size(), w.rd(), w.rn(), w.rm());
    if w.fits(0x1f20_0000, 0x0b00_0000) {
        let shift = w.bits(10, 6);
        // To the left.
        if w.bits(22, 2) != 0 || shift as usize >= 8 * size {
            return None;
        }
        return match w.bits(29, 2) {
            0b11 if rd == 31 && shift == 0 => Some(A64Op::Compare { size, rn, rm }),
            opc @ (0b00 | 0b10) => Some(A64Op::AddShifted {
                size,
                rd,
                rn,
                rm,
                shift,
                minus: opc == 0b10,
            }),
            _ => None,
        };
    }
    if w.fits(0xffe0_0000, 0x8b20_0000) {
        let shift = w.bits(10, 3);
        return (shift <= 4).then_some(A64Op::AddExtended {
            rd,
            rn,
            rm,
            extend: w.extend(),
            shift,
        });
    }
    if w.fits(0x1fe0_fc00, 0x0a00_0000) {
        let operation = match w.bits(29, 2) {
            0b00 => Bitwise::And,
            0b01 => Bitwise::Or,
            0b10 => Bitwise::Xor,
            _ => return None,
        };
        return Some(A64Op::Logic {
            operation,
            size,
            rd,
            rn,
            rm,
        });
    }
    if w.fits(0x7fe0_0000, 0x1b00_0000) {
        return Some(A64Op::Multiply {
            size,
            rd,
            rn,
            rm,
            ra: w.register(10),
            minus: w.is(15),
        });
    }
    if w.fits(0xffe0_fc00, 0x9ac0_0800) {
        return Some(A64Op::Divide { rd, rn, rm });
    }
    if w.fits(0x7fe0_0c00, 0x1a80_0000) {
        return Some(A64Op::Select {
            size,
            rd,
            rn,
            rm,
            condition: w.condition(12)?,
        });
    }
    // One more than zero, unless the condition holds: the opposite of what is meant.
    if w.fits(0x7fff_0fe0, 0x1a9f_07e0) {
        let condition = Word(w.0 ^ 1 << 12).condition(12)?;
        return Some(A64Op::Set { rd, condition });
    }
    None
}

/// Instructions on whole vectors.
fn vector(w: Word) -> Option<A64Op> {
    let (rd, rn, rm) = (w.rd(), w.rn(), w.rm());
    if w.fits(0xffe0_9c00, 0x4e00_0000) {
        return Some(A64Op::Table {
            rd,
            rn,
            rm,
            count: w.bits(13, 2) as usize + 1,
        });
    }
    if w.fits(0xff20_8c00, 0x4e00_0800) {
        let network = match w.bits(12, 2) {
            1 => Network::Unzip,
            2 => Network::Transpose,
            3 => Network::Zip,
            _ => return None,
        };
        return Some(A64Op::Network {
            network,
            element: 1 << w.bits(22, 2),
            second: w.is(14),
            rd,
            rn,
            rm,
        });
    }
    if w.fits(0xffe0_8400, 0x6e00_0000) {
        let from = w.bits(11, 4) as usize;
        return Some(A64Op::Extract { rd, rn, rm, from });
    }
    if w.fits(0x9fe0_8400, 0x0e00_0400) {
        return copy(w);
    }
    for (value, group, widest) in [
        (0x4e20_0800, 8, 4),
        (0x6e20_0800, 4, 2),
        (0x4e20_1800, 2, 1),
    ] {
        let element = 1 << w.bits(22, 2);
        if w.fits(0xff3f_fc00, value) {
            return (element <= widest).then_some(A64Op::Reverse {
                rd,
                rn,
                element,
                group,
            });
        }
    }
    let operation = match w.0 & 0xffe0_fc00 {
        0x4e20_1c00 => Some(Bitwise::And),
        0x4ea0_1c00 => Some(Bitwise::Or),
        0x6e20_1c00 => Some(Bitwise::Xor),
        _ => None,
    };
    if let Some(operation) = operation {
        return Some(A64Op::VectorLogic {
            operation,
            rd,
            rn,
            rm,
        });
    }
    if w.fits(0xdff8_0c00, 0x4f00_0400) {
        let bytes = spread(w)?;
        return Some(A64Op::VectorImmediate { rd, bytes });
    }
    None
}

/// Instructions on the low bytes of vectors.
fn scalar(w: Word) -> Option<A64Op> {
    let (rd, rn) = (w.rd(), w.rn());
    let place = w.bits(16, 5) as usize;
    let (element, at) = match w.0 & 0xffff_fc00 {
        0x1e20_4000 => (4, 0),
        0x1e60_4000 => (8, 0),
        _ if w.fits(0xffe0_fc00, 0x5e00_0400) && place % 8 == 4 => (4, place / 8),
        _ if w.fits(0xffe0_fc00, 0x5e00_0400) && place % 16 == 8 => (8, place / 16),
        _ => return None,
    };
    Some(A64Op::LowElement {
        rd,
        rn,
        element,
        at,
    })
}

/// Elements from and to anywhere.
fn copy(w: Word) -> Option<A64Op> {
    let (rd, rn) = (w.rd(), w.rn());
    let (place, kind) = (w.bits(16, 5), w.bits(11, 4));
    let element = 1usize << place.trailing_zeros();
    if element > 8 {
        return None;
    }
    let at = place as usize / (2 * element);
    let whole = w.is(30);
    match (w.is(29), kind) {
        (false, 0b0000) if whole => Some(A64Op::DuplicateElement {
            rd,
            rn,
            element,
            at,
        }),
        (false, 0b0001) if whole => Some(A64Op::DuplicateGeneral { rd, rn, element }),
        (false, 0b0011) if whole => Some(A64Op::InsertGeneral {
            rd,
            rn,
            element,
            at,
        }),
        (false, 0b0111) if whole == (element == 8) => Some(A64Op::ElementToGeneral {
            rd,
            rn,
            element,
            at,
        }),
        (true, from) if whole => Some(A64Op::InsertElement {
            rd,
            rn,
            element,
            to: at,
            from: from as usize / element,
        }),
        _ => None,
    }
}

/// The vector that an immediate of eight bits stands for.
fn spread(w: Word) -> Option<[u8; 16]> {
    let bits = u64::from(w.bits(16, 3) << 5 | w.bits(5, 5));
    let (mode, inverted) = (w.bits(12, 4), w.is(29));
    let lane = match mode {
        0b0000 | 0b0010 | 0b0100 | 0b0110 => (bits << (4 * mode)) * 0x1_0000_0001,
        0b1000 | 0b1010 => (bits << (4 * (mode & 2))) * 0x1_0001_0001_0001,
        0b1100 => (bits << 8 | 0xff) * 0x1_0000_0001,
        0b1101 => (bits << 16 | 0xffff) * 0x1_0000_0001,
        0b1110 if inverted => {
            let byte = |at: u32| if bits >> at & 1 == 1 { 0xffu64 } else { 0 };
            !(0..8).fold(0, |all, at| all | byte(at) << (8 * at))
        }
        0b1110 => bits * 0x0101_0101_0101_0101,
        _ => return None,
    };
    let lane = if inverted { !lane } else { lane };
    let pair = u128::from(lane) << 64 | u128::from(lane);
    Some(pair.to_le_bytes())
}

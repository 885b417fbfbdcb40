//! Instructions on vectors: bytes change places, never their values.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::super::CodeRun;
use super::super::lanes::{Bitwise, bitwise, interleaved, on_data, picked};
use super::super::values::bytes_of;
use super::{is_legacy, sized};
use crate::label::Label;
use crate::memory::CarriedLabels;
use crate::value::{IndexedBytes, Value};
use crate::violation::Stop;

fn xmm(register: Register) -> Result<usize, Stop> {
    if register.is_xmm() {
        Ok(register.number())
    } else {
        Err(Stop::unknown())
    }
}

impl CodeRun<'_> {
    /// Executes an instruction of this kind; whether it is one.
    pub(super) fn vector(&mut self, i: &Instruction) -> Result<bool, Stop> {
        use Mnemonic as M;
        match i.mnemonic() {
            M::Movdqu
            | M::Movups
            | M::Movupd
            | M::Lddqu
            | M::Vmovdqu
            | M::Vmovups
            | M::Vmovupd
            | M::Vlddqu
            | M::Vmovdqu8
            | M::Vmovdqu16
            | M::Vmovdqu32
            | M::Vmovdqu64 => self.move_vector(i, false)?,
            M::Movdqa
            | M::Movaps
            | M::Movapd
            | M::Vmovdqa
            | M::Vmovaps
            | M::Vmovapd
            | M::Vmovdqa32
            | M::Vmovdqa64 => self.move_vector(i, true)?,
            M::Movd | M::Vmovd => self.move_scalar(i, 4)?,
            M::Movq | M::Vmovq => self.move_scalar(i, 8)?,
            M::Movss | M::Vmovss => self.move_low(i, 4)?,
            M::Movsd | M::Vmovsd => self.move_low(i, 8)?,
            M::Pxor
            | M::Xorps
            | M::Xorpd
            | M::Vpxor
            | M::Vxorps
            | M::Vxorpd
            | M::Vpxord
            | M::Vpxorq => {
                let (first, second) = Self::two(i);
                let same = i.op_kind(second) == OpKind::Register
                    && i.op_register(first) == i.op_register(second);
                if same {
                    self.set_vector(i, [Label::ZERO; 16])?;
                } else {
                    self.bits(i, Bitwise::Xor)?;
                }
            }
            M::Por | M::Orps | M::Orpd | M::Vpor | M::Vorps | M::Vorpd => {
                self.bits(i, Bitwise::Or)?
            }
            M::Pand | M::Andps | M::Andpd | M::Vpand | M::Vandps | M::Vandpd => {
                self.bits(i, Bitwise::And)?;
            }
            M::Pandn | M::Andnps | M::Andnpd | M::Vpandn | M::Vandnps | M::Vandnpd => {
                self.bits(i, Bitwise::AndNot)?;
            }
            M::Pcmpeqb | M::Pcmpeqw | M::Pcmpeqd | M::Vpcmpeqb | M::Vpcmpeqw | M::Vpcmpeqd => {
                let (first, second) = Self::two(i);
                if i.op_kind(second) != OpKind::Register
                    || i.op_register(first) != i.op_register(second)
                {
                    return Err(on_data());
                }
                self.set_vector(i, [Label::literal(0xff); 16])?;
            }
            M::Punpcklbw | M::Vpunpcklbw => {
                self.shuffle(i, |a, b, _| interleaved(a, b, 1, false))?
            }
            M::Punpckhbw | M::Vpunpckhbw => {
                self.shuffle(i, |a, b, _| interleaved(a, b, 1, true))?
            }
            M::Punpcklwd | M::Vpunpcklwd => {
                self.shuffle(i, |a, b, _| interleaved(a, b, 2, false))?
            }
            M::Punpckhwd | M::Vpunpckhwd => {
                self.shuffle(i, |a, b, _| interleaved(a, b, 2, true))?
            }
            M::Punpckldq | M::Vpunpckldq | M::Unpcklps | M::Vunpcklps => {
                self.shuffle(i, |a, b, _| interleaved(a, b, 4, false))?;
            }
            M::Punpckhdq | M::Vpunpckhdq | M::Unpckhps | M::Vunpckhps => {
                self.shuffle(i, |a, b, _| interleaved(a, b, 4, true))?;
            }
            M::Punpcklqdq
            | M::Vpunpcklqdq
            | M::Unpcklpd
            | M::Vunpcklpd
            | M::Movlhps
            | M::Vmovlhps => self.shuffle(i, |a, b, _| interleaved(a, b, 8, false))?,
            M::Punpckhqdq | M::Vpunpckhqdq | M::Unpckhpd | M::Vunpckhpd => {
                self.shuffle(i, |a, b, _| interleaved(a, b, 8, true))?;
            }
            M::Movhlps | M::Vmovhlps => {
                self.shuffle(i, |a, b, _| picked(b, a, |at| at + 8))?;
            }
            M::Shufps | M::Vshufps => self.shuffle(i, |a, b, by| {
                picked(a, b, |at| {
                    let lane = at / 4;
                    lane / 2 * 16 + (by >> (2 * lane) & 3) * 4 + at % 4
                })
            })?,
            M::Shufpd | M::Vshufpd => self.shuffle(i, |a, b, by| {
                picked(a, b, |at| {
                    let lane = at / 8;
                    lane * 16 + (by >> lane & 1) * 8 + at % 8
                })
            })?,
            M::Palignr | M::Vpalignr => self.shuffle(i, |a, b, by| {
                std::array::from_fn(|at| match at + by {
                    from @ 0..16 => b[from],
                    from @ 16..32 => a[from - 16],
                    _ => Label::ZERO,
                })
            })?,
            M::Pblendw | M::Vpblendw => self.blend(i, 2)?,
            M::Blendps | M::Vblendps | M::Vpblendd => self.blend(i, 4)?,
            M::Blendpd | M::Vblendpd => self.blend(i, 8)?,
            M::Pshufd | M::Vpshufd => {
                self.permute(i, |a, by, at| a[(by >> (2 * (at / 4)) & 3) * 4 + at % 4])?
            }
            M::Pshuflw | M::Vpshuflw => self.permute(i, |a, by, at| match at {
                0..8 => a[(by >> (2 * (at / 2)) & 3) * 2 + at % 2],
                _ => a[at],
            })?,
            M::Pshufhw | M::Vpshufhw => self.permute(i, |a, by, at| match at {
                0..8 => a[at],
                _ => a[8 + (by >> (2 * (at / 2 - 4)) & 3) * 2 + at % 2],
            })?,
            M::Pshufb | M::Vpshufb => {
                let (first, second) = Self::two(i);
                let (a, mask) = (self.lanes(i, first)?, self.lanes(i, second)?);
                let mut lanes = [Label::ZERO; 16];
                for (lane, by) in lanes.iter_mut().zip(mask) {
                    let by = by.as_literal().ok_or_else(on_data)?;
                    if by < 0x80 {
                        *lane = a[usize::from(by & 15)];
                    }
                }
                self.set_vector(i, lanes)?;
            }
            M::Vpermi2b => {
                let mask = self.lanes(i, 0)?;
                let (a, b) = (self.lanes(i, 1)?, self.lanes(i, 2)?);
                let mut lanes = [Label::ZERO; 16];
                for (lane, by) in lanes.iter_mut().zip(mask) {
                    let by = usize::from(by.as_literal().ok_or_else(on_data)?) & 31;
                    *lane = if by < 16 { a[by] } else { b[by - 16] };
                }
                self.set_vector(i, lanes)?;
            }
            M::Pslldq | M::Vpslldq => self.shift(i, |at, by| at.checked_sub(by))?,
            M::Psrldq | M::Vpsrldq => {
                self.shift(i, |at, by| Some(at + by).filter(|from| *from < 16))?;
            }
            M::Pinsrb | M::Vpinsrb => self.insert(i, 1)?,
            M::Pinsrw | M::Vpinsrw => self.insert(i, 2)?,
            M::Pinsrd | M::Vpinsrd => self.insert(i, 4)?,
            M::Pinsrq | M::Vpinsrq => self.insert(i, 8)?,
            M::Pextrb | M::Vpextrb => self.extract(i, 1)?,
            M::Pextrw | M::Vpextrw => self.extract(i, 2)?,
            M::Pextrd | M::Vpextrd => self.extract(i, 4)?,
            M::Pextrq | M::Vpextrq => self.extract(i, 8)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The operands that are read, of those with two.
    fn two(i: &Instruction) -> (u32, u32) {
        if is_legacy(i) { (0, 1) } else { (1, 2) }
    }

    /// The operand that is written becomes a vector.
    fn set_vector(&mut self, i: &Instruction, lanes: CarriedLabels) -> Result<(), Stop> {
        self.vectors[xmm(i.op0_register())?] = lanes;
        Ok(())
    }

    /// A whole vector. In memory it must be aligned, as all old instructions demand but moves.
    fn lanes(&mut self, i: &Instruction, operand: u32) -> Result<CarriedLabels, Stop> {
        match i.op_kind(operand) {
            OpKind::Register => Ok(self.vectors[xmm(i.op_register(operand))?]),
            OpKind::Memory if i.memory_size().size() == 16 => {
                let at = self.address(i)?;
                if is_legacy(i) {
                    self.memory.demand_alignment(at)?;
                }
                self.memory.load(at, 16)
            }
            _ => Err(Stop::unknown()),
        }
    }

    fn move_vector(&mut self, i: &Instruction, aligned: bool) -> Result<(), Stop> {
        let in_memory = (0..2).any(|operand| i.op_kind(operand) == OpKind::Memory);
        if !in_memory {
            let lanes = self.vectors[xmm(i.op1_register())?];
            return self.set_vector(i, lanes);
        }
        if i.memory_size().size() != 16 {
            return Err(Stop::unknown());
        }
        let at = self.address(i)?;
        if aligned {
            self.memory.demand_alignment(at)?;
        }
        if i.op0_kind() == OpKind::Memory {
            let lanes = self.vectors[xmm(i.op1_register())?];
            return self.memory.store(at, &lanes);
        }
        let lanes = self.memory.load(at, 16)?;
        self.set_vector(i, lanes)
    }

    /// The low bytes of a vector from or to memory, or in place of those of another one.
    fn move_low(&mut self, i: &Instruction, size: usize) -> Result<(), Stop> {
        if (0..2).any(|operand| i.op_kind(operand) == OpKind::Memory) {
            return self.move_scalar(i, size);
        }
        let (first, second) = Self::two(i);
        let (mut lanes, low) = (self.lanes(i, first)?, self.lanes(i, second)?);
        lanes[..size].copy_from_slice(&low[..size]);
        self.set_vector(i, lanes)
    }

    /// The low bytes of a vector from or to anywhere.
    fn move_scalar(&mut self, i: &Instruction, size: usize) -> Result<(), Stop> {
        let mut lanes = [Label::ZERO; 16];
        match (i.op0_kind(), i.op1_kind()) {
            (OpKind::Register, OpKind::Memory) => {
                let at = self.address(i)?;
                lanes = self.memory.load(at, size)?;
            }
            (OpKind::Register, OpKind::Register) if i.op1_register().is_xmm() => {
                let from = self.vectors[xmm(i.op1_register())?];
                if !i.op0_register().is_xmm() {
                    return self.move_to_general(i, &from[..size]);
                }
                lanes[..size].copy_from_slice(&from[..size]);
            }
            (OpKind::Register, OpKind::Register) => {
                let (value, _) = self.operand(i, 1)?;
                lanes[..size].copy_from_slice(&bytes_of(value)?[..size]);
            }
            (OpKind::Memory, OpKind::Register) => {
                let from = self.vectors[xmm(i.op1_register())?];
                let at = self.address(i)?;
                return self.memory.store(at, &from[..size]);
            }
            _ => return Err(Stop::unknown()),
        }
        self.set_vector(i, lanes)
    }

    fn move_to_general(&mut self, i: &Instruction, from: &[Label]) -> Result<(), Stop> {
        let mut bytes = [Label::ZERO; 8];
        bytes[..from.len()].copy_from_slice(from);
        let value = Value::Data(IndexedBytes {
            bytes,
            number: None,
        });
        let (register, _) = sized(i.op0_register())?;
        self.set_general(register, value)
    }

    fn bits(&mut self, i: &Instruction, operation: Bitwise) -> Result<(), Stop> {
        let (first, second) = Self::two(i);
        let (a, b) = (self.lanes(i, first)?, self.lanes(i, second)?);
        let mut lanes = [Label::ZERO; 16];
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane = bitwise(operation, a, b)?;
        }
        self.set_vector(i, lanes)
    }

    /// Two vectors and perhaps an immediate to one.
    fn shuffle(
        &mut self,
        i: &Instruction,
        f: impl FnOnce(&CarriedLabels, &CarriedLabels, usize) -> CarriedLabels,
    ) -> Result<(), Stop> {
        let (first, second) = Self::two(i);
        let (a, b) = (self.lanes(i, first)?, self.lanes(i, second)?);
        let lanes = f(&a, &b, i.immediate8().into());
        self.set_vector(i, lanes)
    }

    fn blend(&mut self, i: &Instruction, size: usize) -> Result<(), Stop> {
        self.shuffle(i, |a, b, by| {
            picked(a, b, |at| at + 16 * (by >> (at / size) & 1))
        })
    }

    /// One vector and an immediate to one.
    fn permute(
        &mut self,
        i: &Instruction,
        f: impl Fn(&CarriedLabels, usize, usize) -> Label,
    ) -> Result<(), Stop> {
        let a = self.lanes(i, 1)?;
        let by = usize::from(i.immediate8());
        self.set_vector(i, std::array::from_fn(|at| f(&a, by, at)))
    }

    fn shift(
        &mut self,
        i: &Instruction,
        from: impl Fn(usize, usize) -> Option<usize>,
    ) -> Result<(), Stop> {
        let a = self.lanes(i, if is_legacy(i) { 0 } else { 1 })?;
        let by = usize::from(i.immediate8());
        let lanes = std::array::from_fn(|at| from(at, by).map_or(Label::ZERO, |from| a[from]));
        self.set_vector(i, lanes)
    }

    fn insert(&mut self, i: &Instruction, size: usize) -> Result<(), Stop> {
        let (first, second) = Self::two(i);
        let mut lanes = self.lanes(i, first)?;
        let (value, _) = self.operand(i, second)?;
        let at = usize::from(i.immediate8()) % (16 / size) * size;
        lanes[at..at + size].copy_from_slice(&bytes_of(value)?[..size]);
        self.set_vector(i, lanes)
    }

    fn extract(&mut self, i: &Instruction, size: usize) -> Result<(), Stop> {
        let lanes = self.vectors[xmm(i.op1_register())?];
        let at = usize::from(i.immediate8()) % (16 / size) * size;
        if i.op0_kind() == OpKind::Memory {
            let to = self.address(i)?;
            return self.memory.store(to, &lanes[at..at + size]);
        }
        self.move_to_general(i, &lanes[at..at + size])
    }
}

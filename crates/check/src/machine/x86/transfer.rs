//! Jumps, calls, returns and the stack.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::super::{CodeRun, Next};
use super::{RSP, general, is_plain_return};
use crate::value::{Area, Pointer, Value};
use crate::violation::{Kind, Stop};

impl CodeRun<'_> {
    pub(super) fn transfer(&mut self, i: &Instruction) -> Result<Next, Stop> {
        match i.mnemonic() {
            Mnemonic::Jmp if i.op0_kind() == OpKind::NearBranch64 => {
                Ok(Next::Jump(i.near_branch_target() as i64))
            }
            Mnemonic::Push if i.op0_kind() == OpKind::Register => {
                let value = self.general[general(i.op0_register())?];
                let top = self.move_stack(-8)?;
                self.memory.store_slot(top, value)?;
                Ok(Next::Go)
            }
            Mnemonic::Pop if i.op0_kind() == OpKind::Register => {
                let register = general(i.op0_register())?;
                let at = self.pointer(RSP)?;
                let value = self.memory.load_value(at, 8)?;
                if let Value::Return = value {
                    return Err(Kind::Stack {
                        what: "the return address is taken",
                    }
                    .into());
                }
                self.move_stack(8)?;
                self.set_general(register, value)?;
                Ok(Next::Go)
            }
            Mnemonic::Call if i.op0_kind() == OpKind::Register => {
                let target = self.general[general(i.op0_register())?];
                self.call_function(target)?;
                Ok(Next::Go)
            }
            Mnemonic::Ret if is_plain_return(i.code()) => {
                let at = self.pointer(RSP)?;
                if at.region != Area::Stack || !self.memory.is_at_entry(at.offset) {
                    return Err(Kind::Stack {
                        what: "a return with a frame",
                    }
                    .into());
                }
                Ok(Next::Done)
            }
            _ => Err(Stop::unknown()),
        }
    }

    fn move_stack(&mut self, by: i64) -> Result<i64, Stop> {
        let at = self.pointer(RSP)?;
        let offset = at.offset + by;
        self.set_general(RSP, Value::Pointer(Pointer { offset, ..at }))?;
        Ok(offset)
    }
}

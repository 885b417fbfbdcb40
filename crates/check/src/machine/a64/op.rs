//! The A64 instructions that generated code has; whatever is not here is not understood.

use super::super::flags::Condition;
use super::super::lanes::Bitwise;

/// A number from 0 to 31. In a field that says so, 31 is the stack pointer; in all others it is no
/// register, but zero.
pub(crate) type Register = usize;

/// What is added or multiplied in before use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extend {
    /// So many low bytes, extended by zeros.
    Zeros(usize),
    /// The same, by their sign.
    Sign(usize),
}

/// Where memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// So far behind a register, which may be the stack pointer.
    Offset(Register, i64),
    /// The same; then the register is that address.
    Before(Register, i64),
    /// At a register, to which so much is added then.
    After(Register, i64),
    /// A register and another, extended and shifted.
    Index(Register, Register, Extend, u32),
    /// So far from the instruction.
    Literal(i64),
}

/// What an access reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    General,
    /// Extended by its sign to 64 bits.
    Signed,
    Vector,
}

/// How the elements of two vectors are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    /// Every second, from the first or the second on.
    Unzip,
    /// Pairs from every second.
    Transpose,
    /// Alternately, from the low or the high halves.
    Zip,
}

/// An instruction. `size` is of registers, in bytes: 4 or 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum A64Op {
    MoveWide {
        size: usize,
        rd: Register,
        /// Sixteen bits of a number that is otherwise kept, zeros or, inverted, ones.
        bits: u64,
        shift: u32,
        kept: bool,
        inverted: bool,
    },
    /// Both may be the stack pointer.
    AddImmediate {
        size: usize,
        rd: Register,
        rn: Register,
        by: i64,
    },
    /// Shifted to the left; for differences, from which it is taken.
    AddShifted {
        size: usize,
        rd: Register,
        rn: Register,
        rm: Register,
        shift: u32,
        minus: bool,
    },
    /// The first two may be the stack pointer.
    AddExtended {
        rd: Register,
        rn: Register,
        rm: Register,
        extend: Extend,
        shift: u32,
    },
    CompareImmediate {
        size: usize,
        rn: Register,
        with: u64,
    },
    Compare {
        size: usize,
        rn: Register,
        rm: Register,
    },
    /// `rn & with`, compared with zero.
    Test {
        size: usize,
        rn: Register,
        with: u64,
    },
    Logic {
        operation: Bitwise,
        size: usize,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    LogicImmediate {
        operation: Bitwise,
        size: usize,
        rd: Register,
        rn: Register,
        with: u64,
    },
    /// Bits are taken out, or put in their place.
    Bits {
        size: usize,
        rd: Register,
        rn: Register,
        rotate: u32,
        last: u32,
        signed: bool,
    },
    Multiply {
        size: usize,
        rd: Register,
        rn: Register,
        rm: Register,
        ra: Register,
        minus: bool,
    },
    Divide {
        rd: Register,
        rn: Register,
        rm: Register,
    },
    Select {
        size: usize,
        rd: Register,
        rn: Register,
        rm: Register,
        condition: Condition,
    },
    /// 1 if the condition holds.
    Set {
        rd: Register,
        condition: Condition,
    },
    Place {
        rd: Register,
        by: i64,
    },
    Branch(i64),
    BranchIf(Condition, i64),
    BranchZero {
        size: usize,
        rt: Register,
        zero: bool,
        by: i64,
    },
    Call(Register),
    Return,
    /// Ends the program.
    Trap,
    Nothing,
    Load {
        data: Data,
        size: usize,
        rt: Register,
        address: Address,
    },
    Store {
        data: Data,
        size: usize,
        rt: Register,
        address: Address,
    },
    /// Two beside each other.
    LoadPair {
        data: Data,
        size: usize,
        rt: [Register; 2],
        address: Address,
    },
    StorePair {
        data: Data,
        size: usize,
        rt: [Register; 2],
        address: Address,
    },
    /// Bytes of so many vectors, from `rn` on.
    Table {
        rd: Register,
        rn: Register,
        rm: Register,
        count: usize,
    },
    Network {
        network: Network,
        element: usize,
        second: bool,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    /// Sixteen bytes of two vectors behind each other.
    Extract {
        rd: Register,
        rn: Register,
        rm: Register,
        from: usize,
    },
    /// Elements in groups of so many bytes, each in reverse.
    Reverse {
        rd: Register,
        rn: Register,
        element: usize,
        group: usize,
    },
    DuplicateElement {
        rd: Register,
        rn: Register,
        element: usize,
        at: usize,
    },
    /// To the low bytes, with zeros above.
    LowElement {
        rd: Register,
        rn: Register,
        element: usize,
        at: usize,
    },
    DuplicateGeneral {
        rd: Register,
        rn: Register,
        element: usize,
    },
    InsertGeneral {
        rd: Register,
        rn: Register,
        element: usize,
        at: usize,
    },
    InsertElement {
        rd: Register,
        rn: Register,
        element: usize,
        to: usize,
        from: usize,
    },
    /// Extended by zeros.
    ElementToGeneral {
        rd: Register,
        rn: Register,
        element: usize,
        at: usize,
    },
    VectorLogic {
        operation: Bitwise,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    VectorImmediate {
        rd: Register,
        bytes: [u8; 16],
    },
}

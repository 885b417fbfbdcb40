//! Instructions, blocks and loops, one step above the function builder.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, Endianness, ExternalName, GlobalValueData, InstBuilder,
    MemFlagsData, SigRef, Signature, StackSlot, StackSlotData, StackSlotKind, Type,
    UserExternalName, Value, types,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FuncInstBuilder, FunctionBuilder};
use restride_moves::Processor;
use smallvec::SmallVec;

use super::At;
use crate::cpu::Machine;

/// The signature of a phase: `(buffers, chunk, chunks) -> status`.
pub(crate) fn signature(isa: &dyn TargetIsa) -> Signature {
    callable(isa.default_call_conv(), 3, 1)
}

/// A function of so many 64-bit integers.
fn callable(convention: CallConv, params: usize, returns: usize) -> Signature {
    let mut signature = Signature::new(convention);
    signature
        .params
        .extend((0..params).map(|_| AbiParam::new(types::I64)));
    signature
        .returns
        .extend((0..returns).map(|_| AbiParam::new(types::I64)));
    signature
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trips {
    /// So often, at least once.
    Known(i64),
    /// As a value says, perhaps never.
    Counted(Value),
}

/// A loop under construction.
pub(super) struct Frame {
    /// Absent when the body runs exactly once.
    blocks: Option<LoopBlocks>,
    carried: SmallVec<[Value; 8]>,
}

struct LoopBlocks {
    header: Block,
    exit: Block,
    counter: Value,
}

impl Frame {
    /// The values that step from one iteration to the next.
    pub(super) fn carried(&self) -> &[Value] {
        &self.carried
    }
}

/// A function under construction.
pub(super) struct Code<'f> {
    builder: FunctionBuilder<'f>,
    /// Signatures of called functions, by their number of parameters and results.
    signatures: SmallVec<[(usize, usize, SigRef); 2]>,
    /// Whether sixteen bytes are one register; they are two otherwise.
    has_vectors: bool,
    processor: Processor,
    /// Addresses that were taken in this block, each a pointer and so many bytes: what lies not far from one of
    /// them takes no other.
    anchors: SmallVec<[(Value, i64, Value); 8]>,
}

/// The only promise made of any access: it does not trap.
const FLAGS: MemFlagsData = MemFlagsData::new().with_notrap();

/// How the bytes of a vector are numbered.
const LITTLE: MemFlagsData = MemFlagsData::new().with_endianness(Endianness::Little);

/// What of so many bytes registers of vectors hold, and a vector of such.
fn part(bytes: usize) -> (Type, Type) {
    match bytes {
        8 => (types::F64, types::F64X2),
        _ => (types::F32, types::F32X4),
    }
}

impl<'f> Code<'f> {
    pub(super) fn new(builder: FunctionBuilder<'f>, machine: Machine) -> Self {
        Self {
            builder,
            has_vectors: machine.shuffles().is_some(),
            processor: machine.processor,
            anchors: SmallVec::new(),
            signatures: SmallVec::new(),
        }
    }

    /// Begins the function; its parameters.
    pub(super) fn entry(&mut self) -> [Value; 3] {
        let block = self.builder.create_block();
        self.builder.append_block_params_for_function_params(block);
        self.builder.switch_to_block(block);
        let params = self.builder.block_params(block);
        [params[0], params[1], params[2]]
    }

    /// How many instructions there are so far.
    pub(super) fn size(&self) -> usize {
        self.builder.func.dfg.num_insts()
    }

    /// Ends the function with status 0.
    pub(super) fn finish(mut self) {
        let ok = self.constant(0);
        self.ins().return_(&[ok]);
        self.builder.seal_all_blocks();
        let config = cranelift_codegen::isa::TargetFrontendConfig {
            default_call_conv: self.builder.func.signature.call_conv,
            pointer_width: target_lexicon::PointerWidth::U64,
            page_size_align_log2: 12,
        };
        self.builder.finalize(config);
    }

    pub(super) fn ins(&mut self) -> FuncInstBuilder<'_, 'f> {
        self.builder.ins()
    }

    pub(super) fn constant(&mut self, value: i64) -> Value {
        self.ins().iconst(types::I64, value)
    }

    /// An address known now.
    pub(super) fn address<T>(&mut self, pointer: *const T) -> Value {
        self.constant(pointer as usize as i64)
    }

    /// An entry of a table of addresses.
    pub(super) fn entry_of(&mut self, table: Value, number: u32) -> Value {
        let at = At {
            ptr: table,
            offset: i64::from(number) * 8,
        };
        self.load(types::I64, at)
    }

    /// The address of what has a number for a name, and lies near the function.
    pub(super) fn named(&mut self, number: u32) -> Value {
        let function = &mut self.builder.func;
        let name = UserExternalName::new(0, number);
        let name = function.declare_imported_user_function(name);
        let symbol = function.create_global_value(GlobalValueData::Symbol {
            name: ExternalName::user(name),
            offset: 0.into(),
            colocated: true,
            tls: false,
        });
        self.ins().symbol_value(types::I64, symbol)
    }

    /// The pointer and displacement of an access of so many bytes.
    fn split(&mut self, at: At, bytes: i64) -> (Value, i32) {
        if !self.processor.reaches(at.offset, bytes)
            && let Some((ptr, offset)) = self.anchored(at, bytes)
        {
            return (ptr, offset);
        }
        match i32::try_from(at.offset) {
            Ok(offset) => (at.ptr, offset),
            Err(_) => (self.ins().iadd_imm_s(at.ptr, at.offset), 0),
        }
    }

    /// The same by an address nearby, which is taken if there is none yet. It is a difference, for a sum would be
    /// made a part of each access again, and with it its constant.
    fn anchored(&mut self, at: At, bytes: i64) -> Option<(Value, i32)> {
        let (processor, number) = (self.processor, at.offset);
        let near = |anchor: i64| {
            let by = number.checked_sub(anchor)?;
            processor.reaches(by, bytes).then_some(by as i32)
        };
        let of_pointer = self.anchors.iter().filter(|(ptr, ..)| *ptr == at.ptr);
        let mut known = of_pointer.filter_map(|(_, by, value)| Some((*value, near(*by)?)));
        if let Some(known) = known.next() {
            return Some(known);
        }
        // One instruction adds a multiple of a page.
        let page = number & !0xfff;
        let anchor = if near(page).is_some() { page } else { number };
        let by = self.constant(anchor.wrapping_neg());
        let value = self.ins().isub(at.ptr, by);
        self.anchors.push((at.ptr, anchor, value));
        Some((value, near(anchor)?))
    }

    pub(super) fn load(&mut self, ty: Type, at: At) -> Value {
        let ty = match ty == types::I8X16 && !self.has_vectors {
            true => types::I128,
            false => ty,
        };
        let (ptr, offset) = self.split(at, ty.bytes().into());
        self.ins().load(ty, FLAGS, ptr, offset)
    }

    /// Loads a part of a vector: 8 bytes or 4, and zeros.
    pub(super) fn load_part(&mut self, bytes: usize, at: At) -> Value {
        let (scalar, vector) = part(bytes);
        let value = self.load(scalar, at);
        let value = self.ins().scalar_to_vector(vector, value);
        self.ins().bitcast(types::I8X16, LITTLE, value)
    }

    /// Stores one of the parts of a vector that have so many bytes: 8 or 4.
    pub(super) fn store_part(&mut self, value: Value, number: usize, bytes: usize, at: At) {
        let value = self.ins().bitcast(part(bytes).1, LITTLE, value);
        let value = self.ins().extractlane(value, number as u8);
        self.store(value, at);
    }

    /// Loads an integer of so many bytes, widened to 64 bits.
    pub(super) fn load_wide(&mut self, bytes: usize, signed: bool, at: At) -> Value {
        let (ptr, offset) = self.split(at, bytes as i64);
        let ins = self.ins();
        match (bytes, signed) {
            (1, false) => ins.uload8(types::I64, FLAGS, ptr, offset),
            (1, true) => ins.sload8(types::I64, FLAGS, ptr, offset),
            (2, false) => ins.uload16(types::I64, FLAGS, ptr, offset),
            (2, true) => ins.sload16(types::I64, FLAGS, ptr, offset),
            (4, false) => ins.uload32(FLAGS, ptr, offset),
            (4, true) => ins.sload32(FLAGS, ptr, offset),
            _ => ins.load(types::I64, FLAGS, ptr, offset),
        }
    }

    pub(super) fn store(&mut self, value: Value, at: At) {
        let bytes = self.builder.func.dfg.value_type(value).bytes();
        let (ptr, offset) = self.split(at, bytes.into());
        self.ins().store(FLAGS, value, ptr, offset);
    }

    /// An address as one value.
    pub(super) fn pointer(&mut self, at: At) -> Value {
        match at.offset {
            0 => at.ptr,
            offset => self.ins().iadd_imm_s(at.ptr, offset),
        }
    }

    /// `ptr + x * coeff`.
    pub(super) fn scaled_sum(&mut self, ptr: Value, x: Value, coeff: i64) -> Value {
        let scaled = match coeff {
            1 => x,
            _ if coeff > 0 && coeff & (coeff - 1) == 0 => {
                self.ins().ishl_imm_s(x, i64::from(coeff.trailing_zeros()))
            }
            _ => self.ins().imul_imm_s(x, coeff),
        };
        self.ins().iadd(ptr, scaled)
    }

    /// The first iteration and the number of iterations of a parallel loop in this chunk.
    pub(super) fn share(&mut self, extent: i64, chunk: Value, chunks: Value) -> (Value, Value) {
        let (split, go) = (self.builder.create_block(), self.builder.create_block());
        let begin = self.builder.append_block_param(go, types::I64);
        let count = self.builder.append_block_param(go, types::I64);
        let whole = self.ins().icmp_imm_s(IntCC::Equal, chunks, 1);
        let (zero, all) = (self.constant(0), self.constant(extent));
        self.ins()
            .brif(whole, go, &[zero.into(), all.into()], split, &[]);
        self.enter_cold(split);
        let next = self.ins().iadd_imm_s(chunk, 1);
        let [first, last] = if extent <= i64::from(u32::MAX) {
            // Chunks are counted in 32 bits, so the product cannot overflow.
            [chunk, next].map(|c| {
                let product = self.ins().imul(c, all);
                self.ins().udiv(product, chunks)
            })
        } else {
            // extent * c / n by the quotient and remainder of extent / n.
            let quotient = self.ins().udiv(all, chunks);
            let multiple = self.ins().imul(quotient, chunks);
            let rest = self.ins().isub(all, multiple);
            [chunk, next].map(|c| {
                let whole = self.ins().imul(c, quotient);
                let part = self.ins().imul(c, rest);
                let part = self.ins().udiv(part, chunks);
                self.ins().iadd(whole, part)
            })
        };
        let some = self.ins().isub(last, first);
        self.ins().jump(go, &[first.into(), some.into()]);
        self.enter(go);
        (begin, count)
    }

    /// Runs what follows only if a value is zero; the block to [`Code::join`] afterwards.
    pub(super) fn only_if_zero(&mut self, value: Value) -> Block {
        let (go, done) = (self.builder.create_block(), self.builder.create_block());
        self.ins().brif(value, done, &[], go, &[]);
        self.enter(go);
        done
    }

    /// Goes on in a block, from here and from wherever else jumps to it.
    pub(super) fn join(&mut self, block: Block) {
        self.jump(block);
        self.enter(block);
    }

    /// Goes on here if `ok`, in the first block returned if not; both end in the second.
    pub(super) fn unless(&mut self, ok: Value) -> (Block, Block) {
        let go = self.builder.create_block();
        let (otherwise, done) = (self.builder.create_block(), self.builder.create_block());
        self.ins().brif(ok, go, &[], otherwise, &[]);
        self.enter(go);
        (otherwise, done)
    }

    pub(super) fn jump(&mut self, block: Block) {
        self.ins().jump(block, &[]);
    }

    pub(super) fn jump_with(&mut self, block: Block, values: &[Value]) {
        let args: SmallVec<[BlockArg; 4]> = values.iter().map(|value| (*value).into()).collect();
        self.ins().jump(block, &args);
    }

    pub(super) fn enter(&mut self, block: Block) {
        self.anchors.clear();
        self.builder.switch_to_block(block);
    }

    /// Enters a block that is laid out behind the hot code.
    pub(super) fn enter_cold(&mut self, block: Block) {
        self.builder.set_cold_block(block);
        self.enter(block);
    }

    /// Makes a block's parameter.
    pub(super) fn param(&mut self, block: Block, ty: Type) -> Value {
        self.builder.append_block_param(block, ty)
    }

    /// Ends the run with a status if a value is not zero.
    pub(super) fn fail_if(&mut self, value: Value, status: i64) {
        let (fail, go) = (self.builder.create_block(), self.builder.create_block());
        self.ins().brif(value, fail, &[], go, &[]);
        self.enter_cold(fail);
        let status = self.constant(status);
        self.ins().return_(&[status]);
        self.enter(go);
    }

    /// A block that ends the run with a status, for [`Code::go_on_if`], and one that goes on behind it.
    pub(super) fn refusal(&mut self, status: i64) -> (Block, Block) {
        let (fail, here) = (self.builder.create_block(), self.builder.create_block());
        let done = self.builder.create_block();
        self.jump(here);
        self.enter_cold(fail);
        let status = self.constant(status);
        self.ins().return_(&[status]);
        self.enter(here);
        (fail, done)
    }

    /// Goes on here if a value is not zero, in another block if it is.
    pub(super) fn go_on_if(&mut self, value: Value, otherwise: Block) {
        let go = self.builder.create_block();
        self.ins().brif(value, go, &[], otherwise, &[]);
        self.enter(go);
    }

    /// So many bytes on the stack.
    pub(super) fn stack(&mut self, bytes: u32) -> StackSlot {
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4);
        self.builder.create_sized_stack_slot(data)
    }

    /// Begins a loop; each carried value starts as given.
    pub(super) fn begin_loop(&mut self, trips: Trips, starts: &[Value]) -> Frame {
        if let Trips::Known(..=1) = trips {
            return Frame {
                blocks: None,
                carried: SmallVec::from_slice(starts),
            };
        }
        let (header, exit) = (self.builder.create_block(), self.builder.create_block());
        let counter = self.param(header, types::I64);
        let carried = starts
            .iter()
            .map(|_| self.param(header, types::I64))
            .collect();
        let trips_value = match trips {
            Trips::Known(trips) => self.constant(trips),
            Trips::Counted(value) => value,
        };
        let mut args: SmallVec<[BlockArg; 9]> = SmallVec::new();
        args.push(trips_value.into());
        args.extend(starts.iter().map(|value| BlockArg::from(*value)));
        match trips {
            Trips::Known(_) => self.ins().jump(header, &args),
            Trips::Counted(_) => self.ins().brif(trips_value, header, &args, exit, &[]),
        };
        self.enter(header);
        Frame {
            blocks: Some(LoopBlocks {
                header,
                exit,
                counter,
            }),
            carried,
        }
    }

    /// Ends a loop: its carried values step by so many bytes. Iterations are counted down; no
    /// address is compared with anything.
    pub(super) fn end_loop(&mut self, frame: Frame, steps: &[i64]) {
        let Some(blocks) = frame.blocks else { return };
        let mut args: SmallVec<[BlockArg; 9]> = SmallVec::new();
        let mut next: SmallVec<[Value; 8]> = SmallVec::new();
        for (value, step) in frame.carried.iter().zip(steps) {
            next.push(self.ins().iadd_imm_s(*value, *step));
        }
        let left = self.ins().iadd_imm_s(blocks.counter, -1);
        args.push(left.into());
        args.extend(next.into_iter().map(BlockArg::from));
        self.ins()
            .brif(left, blocks.header, &args, blocks.exit, &[]);
        self.enter(blocks.exit);
    }

    /// Calls `entry` with 64-bit values; its result, if it has one.
    pub(super) fn call(
        &mut self,
        entry: *const u8,
        args: &[Value],
        returns: usize,
    ) -> Option<Value> {
        let known = self
            .signatures
            .iter()
            .find(|(params, results, _)| *params == args.len() && *results == returns)
            .map(|(_, _, signature)| *signature);
        let signature = known.unwrap_or_else(|| {
            let convention = self.builder.func.signature.call_conv;
            let signature = callable(convention, args.len(), returns);
            let signature = self.builder.import_signature(signature);
            self.signatures.push((args.len(), returns, signature));
            signature
        });
        let entry = self.address(entry);
        let call = self.ins().call_indirect(signature, entry, args);
        self.builder.inst_results(call).first().copied()
    }

    /// Calls a leaf: `(dst, src, params)`.
    pub(super) fn call_leaf(&mut self, entry: *const u8, dst: At, src: At, params: *const u8) {
        let (dst, src) = (self.pointer(dst), self.pointer(src));
        let params = self.address(params);
        self.call(entry, &[dst, src, params], 0);
    }

    /// A shuffle of the bytes of two vectors.
    pub(super) fn shuffle(&mut self, a: Value, b: Value, lanes: [u8; 16]) -> Value {
        let mask = self
            .builder
            .func
            .dfg
            .immediates
            .push(lanes.as_slice().into());
        self.ins().shuffle(a, b, mask)
    }

    /// A vector known now.
    pub(super) fn vector(&mut self, bits: u128) -> Value {
        if !self.has_vectors {
            let [low, high] = [bits, bits >> 64].map(|half| self.constant(half as i64));
            return self.ins().iconcat(low, high);
        }
        let bytes = bits.to_le_bytes();
        let constants = &mut self.builder.func.dfg.constants;
        let constant = constants.insert(bytes.as_slice().into());
        self.ins().vconst(types::I8X16, constant)
    }
}

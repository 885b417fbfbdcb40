//! The buffers of one run, with a state for every element that may be written.

use super::Fault;
use super::odometer::Odometer;
use crate::ir::{Buffer, BufferId, Kernel, Role, Width};

/// The most bytes that all buffers together may have.
const MAX_BYTES: usize = 1 << 30;

/// One element, in the first bytes.
pub(super) type ElementBytes = [u8; 16];

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    Unwritten,
    Written,
}

/// One buffer of the run.
struct Store<'a> {
    width: Width,
    len: i64,
    data: StoreData<'a>,
}

enum StoreData<'a> {
    Fixed(&'a [u8]),
    Own {
        bytes: Vec<u8>,
        state: Vec<State>,
        is_output: bool,
    },
}

pub(super) struct KernelMemory<'a> {
    stores: Vec<Store<'a>>,
    pub(super) output_written: bool,
}

impl<'a> KernelMemory<'a> {
    pub(super) fn new<B: AsRef<[u8]>>(
        kernel: &'a Kernel,
        inputs: &'a [B],
    ) -> Result<KernelMemory<'a>, Fault> {
        let mut stores = Vec::new();
        let mut total = 0usize;
        for (id, buffer) in kernel.numbered() {
            let len = buffer.len;
            if len < 0 {
                return Err(Fault::Length { buffer: id, len });
            }
            let bytes = buffer.bytes().filter(|&b| b <= MAX_BYTES - total);
            let bytes = bytes.ok_or(Fault::TooLarge { limit: MAX_BYTES })?;
            total += bytes;
            let data = match &buffer.role {
                Role::In(n) => StoreData::Fixed(input(*n, inputs, bytes)?),
                Role::Const(data) if data.len() == bytes => StoreData::Fixed(data),
                Role::Const(_) => return Err(Fault::ConstData { buffer: id }),
                Role::Out(..) => StoreData::Own {
                    bytes: vec![0; bytes],
                    state: image(id, buffer)?,
                    is_output: true,
                },
                Role::Scratch => StoreData::Own {
                    bytes: vec![0; bytes],
                    state: vec![State::Unwritten; bytes / buffer.width.bytes()],
                    is_output: false,
                },
            };
            stores.push(Store {
                width: buffer.width,
                len,
                data,
            });
        }
        Ok(KernelMemory {
            stores,
            output_written: false,
        })
    }

    fn at(&self, buffer: BufferId, address: i128) -> Result<(&Store<'a>, usize), Fault> {
        let store = self.stores.get(buffer.0 as usize);
        let store = store.ok_or(Fault::UnknownBuffer { buffer })?;
        if address < 0 || address >= store.len.into() {
            return Err(Fault::OutOfBounds {
                buffer,
                address,
                len: store.len,
            });
        }
        Ok((store, address as usize))
    }

    pub(super) fn read(&self, buffer: BufferId, address: i128) -> Result<ElementBytes, Fault> {
        let (store, at) = self.at(buffer, address)?;
        let bytes: &[u8] = match &store.data {
            StoreData::Fixed(bytes) => bytes,
            StoreData::Own {
                is_output: true, ..
            } => return Err(Fault::NotReadable { buffer }),
            StoreData::Own { bytes, state, .. } => {
                if state[at] != State::Written {
                    return Err(Fault::Uninitialised { buffer, address });
                }
                bytes
            }
        };
        let mut element = [0; 16];
        let start = at * store.width.bytes();
        copy(store.width, &bytes[start..], &mut element);
        Ok(element)
    }

    pub(super) fn write(
        &mut self,
        buffer: BufferId,
        address: i128,
        element: &ElementBytes,
    ) -> Result<(), Fault> {
        let (_, at) = self.at(buffer, address)?;
        let store = &mut self.stores[buffer.0 as usize];
        let StoreData::Own {
            bytes,
            state,
            is_output,
        } = &mut store.data
        else {
            return Err(Fault::NotWritable { buffer });
        };
        match state[at] {
            State::Outside => return Err(Fault::OutsideImage { buffer, address }),
            State::Written => return Err(Fault::WrittenTwice { buffer, address }),
            State::Unwritten => state[at] = State::Written,
        }
        let start = at * store.width.bytes();
        copy(store.width, element, &mut bytes[start..]);
        self.output_written |= *is_output;
        Ok(())
    }

    /// The outputs in the order of their numbers; an error if one is not complete. Bytes outside
    /// of an image are 0.
    pub(super) fn finish(self, kernel: &Kernel) -> Result<Vec<Vec<u8>>, Fault> {
        let mut outputs = Vec::new();
        for ((buffer, declared), store) in kernel.numbered().zip(self.stores) {
            let (Role::Out(n, _), StoreData::Own { bytes, state, .. }) =
                (&declared.role, store.data)
            else {
                continue;
            };
            if let Some(at) = state.iter().position(|s| *s == State::Unwritten) {
                return Err(Fault::NotWritten {
                    buffer,
                    address: at as i128,
                });
            }
            outputs.push((*n, bytes));
        }
        outputs.sort_by_key(|o| o.0);
        Ok(outputs.into_iter().map(|o| o.1).collect())
    }
}

/// Copies the first bytes; a number known when compiling is worth a call to `memcpy`.
fn copy(width: Width, from: &[u8], to: &mut [u8]) {
    match width {
        Width::W1 => to[..1].copy_from_slice(&from[..1]),
        Width::W2 => to[..2].copy_from_slice(&from[..2]),
        Width::W4 => to[..4].copy_from_slice(&from[..4]),
        Width::W8 => to[..8].copy_from_slice(&from[..8]),
        Width::W16 => to[..16].copy_from_slice(&from[..16]),
    }
}

fn input<B: AsRef<[u8]>>(n: u32, inputs: &[B], expected: usize) -> Result<&[u8], Fault> {
    let count = inputs.len();
    let input = inputs
        .get(n as usize)
        .ok_or(Fault::InputMissing { input: n, count })?
        .as_ref();
    let bytes = input.len();
    input.get(..expected).ok_or(Fault::InputTooShort {
        input: n,
        bytes,
        expected,
    })
}

fn image(buffer: BufferId, declared: &Buffer) -> Result<Vec<State>, Fault> {
    let Role::Out(_, image) = &declared.role else {
        return Ok(Vec::new());
    };
    let mut state = vec![State::Outside; usize::try_from(declared.len).unwrap_or(0)];
    if image.dims.iter().any(|d| d.0 == 0) {
        return Ok(state);
    }
    let mut odometer = Odometer::new([image.offset.into()]);
    for &(extent, stride) in &image.dims {
        odometer
            .push(extent, [stride])
            .map_err(|_| Fault::Image { buffer })?;
    }
    loop {
        let [at] = odometer.at();
        match usize::try_from(at).ok().and_then(|at| state.get_mut(at)) {
            Some(place @ State::Outside) => *place = State::Unwritten,
            Some(_) | None => return Err(Fault::Image { buffer }),
        }
        if !odometer.step() {
            return Ok(state);
        }
    }
}

/// The bytes of an element of some width as an unsigned integer, from little-endian.
pub(super) fn low_bits(element: &ElementBytes, width: Width) -> u64 {
    let value = u128::from_le_bytes(*element) & width.mask();
    value as u64
}

//! Random tensors of any layout and dtype, and what it means that two are the same.

use candle_core::{CpuStorage, DType, Device, Result, Storage, Tensor};

/// The dtypes that candle can copy.
pub const DTYPES: [DType; 10] = [
    DType::U8,
    DType::U32,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::BF16,
    DType::F16,
    DType::F32,
    DType::F64,
    DType::F8E4M3,
];

/// A generator of numbers that are the same in every run.
pub struct Random(pub u64);

impl Random {
    /// A number below another.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }

    /// One of several.
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Labels, as different as the dtype allows.
pub fn labels(shape: &[usize], dtype: DType) -> Result<Tensor> {
    let count: usize = shape.iter().product();
    let wrap = match dtype {
        DType::U8 => 251,
        DType::F8E4M3 => 16,
        DType::BF16 => 256,
        DType::F16 => 2039,
        _ => 32749,
    };
    let values: Vec<f32> = (0..count).map(|n| (n % wrap) as f32).collect();
    Tensor::from_vec(values, shape, &Device::Cpu)?.to_dtype(dtype)
}

/// A view of some tensor: of up to five axes, permuted, cropped, stepped and repeated.
pub fn view(random: &mut Random, dtype: DType) -> Result<Tensor> {
    let rank = random.below(6);
    let sizes = [1, 2, 3, 4, 5, 7, 8, 16, 17, 33];
    let few = [1, 2, 3, 4, 5];
    let shape: Vec<usize> = (0..rank)
        .map(|_| random.of(if rank > 3 { &few } else { &sizes }))
        .collect();
    let mut view = labels(&shape, dtype)?;
    for _ in 0..random.below(5) {
        let rank = view.rank();
        if rank == 0 {
            view = view.unsqueeze(0)?;
            continue;
        }
        let (axis, other) = (random.below(rank), random.below(rank));
        let size = view.dim(axis)?;
        view = match random.below(6) {
            0 | 1 => view.transpose(axis, other)?,
            2 => {
                let length = 1 + random.below(size);
                view.narrow(axis, random.below(size - length + 1), length)?
            }
            3 if rank < 6 => view.unsqueeze(axis)?,
            4 if size == 1 => {
                let mut wider = view.dims().to_vec();
                wider[axis] = 3;
                view.broadcast_as(wider)?
            }
            // Windows that overlap, or steps.
            5 if rank < 6 => {
                let length = 1 + random.below(size.min(4));
                view.unfold(axis, length, 1 + random.below(3))?
            }
            _ => view,
        };
    }
    Ok(view)
}

/// Whether two tensors have one dtype, one shape and the same elements; the first has them in a row.
pub fn same(ours: &Tensor, theirs: &Tensor) -> Result<bool> {
    assert!(ours.is_contiguous(), "{:?}", ours.layout());
    if ours.dims() != theirs.dims() || ours.dtype() != theirs.dtype() {
        return Ok(false);
    }
    // Both are copied, so that storage has what the tensors show and nothing else.
    let (ours, theirs) = (ours.force_contiguous()?, theirs.force_contiguous()?);
    let (ours, theirs) = (ours.storage_and_layout().0, theirs.storage_and_layout().0);
    let (Storage::Cpu(ours), Storage::Cpu(theirs)) = (&*ours, &*theirs) else {
        return Ok(false);
    };
    Ok(match (ours, theirs) {
        (CpuStorage::U8(a), CpuStorage::U8(b)) => a == b,
        (CpuStorage::U32(a), CpuStorage::U32(b)) => a == b,
        (CpuStorage::I16(a), CpuStorage::I16(b)) => a == b,
        (CpuStorage::I32(a), CpuStorage::I32(b)) => a == b,
        (CpuStorage::I64(a), CpuStorage::I64(b)) => a == b,
        (CpuStorage::BF16(a), CpuStorage::BF16(b)) => a == b,
        (CpuStorage::F16(a), CpuStorage::F16(b)) => a == b,
        (CpuStorage::F32(a), CpuStorage::F32(b)) => a == b,
        (CpuStorage::F64(a), CpuStorage::F64(b)) => a == b,
        (CpuStorage::F8E4M3(a), CpuStorage::F8E4M3(b)) => a == b,
        _ => false,
    })
}

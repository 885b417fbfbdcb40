//! Nothing that restride can move is left to candle, and what has been seen is not compiled again. One
//! test, since the counts are those of the process.

use candle_core::{DType, Device, Result, Tensor};
use restride_candle::{
    cat, contiguous, engine, flip, index_select, pixel_shuffle, repeat_kv, roll,
};

fn labels(shape: &[usize], dtype: DType) -> Result<Tensor> {
    let count = shape.iter().product::<usize>();
    Tensor::arange(0u32, count as u32, &Device::Cpu)?
        .reshape(shape)?
        .to_dtype(dtype)
}

#[test]
fn each_call_is_one_lookup() -> Result<()> {
    let rows = Tensor::new(&[2u32, 0], &Device::Cpu)?;
    for dtype in [
        DType::U8,
        DType::F8E4M3,
        DType::BF16,
        DType::F32,
        DType::I64,
    ] {
        let x = labels(&[2, 4, 5, 3], dtype)?;
        let turned = x.transpose(1, 3)?;
        let calls: [&dyn Fn() -> Result<Tensor>; 7] = [
            &|| contiguous(&turned),
            &|| cat(&[&turned, &turned], 2),
            &|| index_select(&turned, &rows, 1),
            &|| flip(&turned, &[0, 3]),
            &|| roll(&turned, 2, 1),
            &|| pixel_shuffle(&x, 2),
            &|| repeat_kv(&turned, 3),
        ];
        for (at, call) in calls.iter().enumerate() {
            let before = engine().stats();
            call()?;
            let first = engine().stats();
            call()?;
            let second = engine().stats();
            assert_eq!(first.misses, before.misses + 1, "{dtype:?} {at}");
            assert_eq!(
                (second.hits, second.misses),
                (first.hits + 1, first.misses),
                "{dtype:?} {at}"
            );
        }
    }
    // Where a tensor begins is no part of its layout.
    let x = labels(&[64, 6, 5], DType::F32)?;
    let before = engine().stats().misses;
    for position in 0..32 {
        contiguous(&x.narrow(0, position, 32)?.transpose(1, 2)?)?;
    }
    assert_eq!(engine().stats().misses, before + 1);
    Ok(())
}

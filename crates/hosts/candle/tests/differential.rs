//! Every function beside candle's own, to the bit, over random layouts and dtypes.

mod support;

use candle_core::{DType, Device, Result, Tensor, Var};
use support::{DTYPES, Random, labels, same, view};

/// Calls a test with random views of every dtype.
fn with_views(seed: u64, mut test: impl FnMut(&mut Random, &Tensor) -> Result<()>) -> Result<()> {
    let mut random = Random(seed);
    for dtype in DTYPES {
        for _ in 0..150 {
            let x = view(&mut random, dtype)?;
            test(&mut random, &x)?;
        }
    }
    Ok(())
}

#[test]
fn contiguous() -> Result<()> {
    with_views(1, |_, x| {
        let ours = restride_candle::contiguous(x)?;
        assert!(same(&ours, &x.contiguous()?)?, "{:?}", x.layout());
        Ok(())
    })
}

#[test]
fn cat() -> Result<()> {
    with_views(2, |random, x| {
        if x.rank() == 0 {
            return Ok(());
        }
        let axis = random.below(x.rank());
        let mut parts = vec![x.clone()];
        for _ in 0..random.below(4) {
            let length = random.below(x.dim(axis)? + 1);
            parts.push(x.narrow(axis, 0, length)?);
        }
        let ours = restride_candle::cat(&parts, axis)?;
        let theirs = Tensor::cat(&parts, axis)?;
        // One tensor alone is answered as it is.
        let ours = if parts.len() == 1 {
            ours.contiguous()?
        } else {
            ours
        };
        assert!(same(&ours, &theirs)?, "{:?} {axis}", x.layout());
        Ok(())
    })
}

#[test]
fn index_select() -> Result<()> {
    with_views(3, |random, x| {
        if x.rank() == 0 {
            return Ok(());
        }
        let axis = random.below(x.rank());
        let size = x.dim(axis)?;
        let rows: Vec<u32> = (0..random.below(9))
            .map(|_| random.below(size) as u32)
            .collect();
        let rows = Tensor::from_vec(rows.clone(), rows.len(), &Device::Cpu)?;
        let rows = rows.to_dtype(random.of(&[DType::U8, DType::U32, DType::I64]))?;
        let ours = restride_candle::index_select(x, &rows, axis)?;
        let theirs = x.contiguous()?.index_select(&rows, axis)?;
        assert!(same(&ours, &theirs)?, "{:?} {axis} {rows:?}", x.layout());
        Ok(())
    })
}

#[test]
fn the_largest_index_is_a_row_of_zeros_and_others_are_refused() -> Result<()> {
    let x = labels(&[300, 3], DType::F32)?;
    for rows in [
        Tensor::new(&[1u8, 255, 2], &Device::Cpu)?,
        Tensor::new(&[1u32, u32::MAX, 2], &Device::Cpu)?,
        Tensor::new(&[1i64, i64::MAX, 2], &Device::Cpu)?,
    ] {
        let ours = restride_candle::index_select(&x, &rows, 0)?;
        assert!(same(&ours, &x.index_select(&rows, 0)?)?);
        assert_eq!(ours.to_vec2::<f32>()?[1], [0.0; 3]);
    }
    let outside = Tensor::new(&[1u32, 300], &Device::Cpu)?;
    let [ours, theirs] = [
        restride_candle::index_select(&x, &outside, 0),
        x.index_select(&outside, 0),
    ];
    assert_eq!(first_line(ours), first_line(theirs));
    Ok(())
}

#[test]
fn flip() -> Result<()> {
    with_views(4, |random, x| {
        let mut dims: Vec<usize> = (0..x.rank()).collect();
        dims.retain(|_| random.below(2) == 0);
        let ours = restride_candle::flip(x, &dims)?;
        let theirs = x.contiguous()?.flip(&dims)?;
        assert!(same(&ours, &theirs)?, "{:?} {dims:?}", x.layout());
        Ok(())
    })
}

#[test]
fn roll() -> Result<()> {
    with_views(5, |random, x| {
        if x.rank() == 0 {
            return Ok(());
        }
        let (axis, shift) = (random.below(x.rank()), random.below(40) as i32 - 20);
        let ours = restride_candle::roll(x, shift, axis)?;
        assert!(
            same(&ours, &x.roll(shift, axis)?)?,
            "{:?} {axis} {shift}",
            x.layout()
        );
        Ok(())
    })
}

/// Tensors of four axes, of any layout.
fn images(seed: u64, mut test: impl FnMut(&mut Random, &Tensor) -> Result<()>) -> Result<()> {
    let mut random = Random(seed);
    for dtype in DTYPES {
        for _ in 0..20 {
            let [b, c, h, w] = [(); 4].map(|()| 1 + random.below(6));
            let x = match random.below(3) {
                0 => labels(&[b, c * 4, h, w], dtype)?,
                1 => labels(&[b, h, w, c * 4], dtype)?.permute((0, 3, 1, 2))?,
                _ => labels(&[b, c * 4, h, w + 3], dtype)?.narrow(3, 2, w)?,
            };
            test(&mut random, &x)?;
        }
    }
    Ok(())
}

#[test]
fn pixel_shuffle() -> Result<()> {
    images(6, |_, x| {
        let (b, c, h, w) = x.dims4()?;
        let theirs = x
            .reshape((b, c / 4, 2, 2, h, w))?
            .permute((0, 1, 4, 2, 5, 3))?;
        let theirs = theirs.reshape((b, c / 4, h * 2, w * 2))?;
        let ours = restride_candle::pixel_shuffle(x, 2)?;
        assert!(same(&ours, &theirs)?, "{:?}", x.layout());
        Ok(())
    })
}

#[test]
fn repeat_kv() -> Result<()> {
    images(7, |random, x| {
        let (b, heads, length, size) = x.dims4()?;
        let times = 1 + random.below(4);
        let theirs = Tensor::cat(&vec![x; times], 2)?;
        let theirs = theirs.reshape((b, heads * times, length, size))?;
        let ours = restride_candle::repeat_kv(x, times)?.contiguous()?;
        assert!(same(&ours, &theirs)?, "{:?} {times}", x.layout());
        Ok(())
    })
}

#[test]
fn chains() -> Result<()> {
    images(8, |_, x| {
        let (b, c, h, w) = x.dims4()?;
        let theirs = x.permute((0, 2, 3, 1))?.reshape((b, h * w, c))?;
        let theirs = theirs.narrow(1, 0, 1)?.contiguous()?;
        let ours = restride_candle::fuse(&[x], |g, x| {
            let turned = g.transpose(x[0], [0, 2, 3, 1])?;
            let flat = g
                .reshape(turned, [b as i64, (h * w) as i64, c as i64])
                .finish()?;
            g.slice(flat, [0], [1]).axes([1]).finish()
        })?;
        assert!(same(&ours, &theirs)?, "{:?}", x.layout());
        Ok(())
    })
}

#[test]
fn several_outputs_of_tensors_that_share_storage() -> Result<()> {
    let x = labels(&[4, 6], DType::F32)?;
    let (left, right) = (x.narrow(1, 0, 3)?, x.narrow(1, 3, 3)?);
    let all = restride_candle::fuse_all(&[&left, &right, &x], |g, v| {
        let flat = g.reshape(v[2], [24]).finish()?;
        Ok(vec![g.concat([v[1], v[0]], 1)?, flat])
    })?;
    assert!(same(&all[0], &Tensor::cat(&[&right, &left], 1)?)?);
    // The whole of a tensor in a row, under another shape, is that tensor.
    assert!(same(&all[1], &x.flatten_all()?)?);
    let starts = [&all[1], &x].map(|t| std::ptr::from_ref(&*t.storage_and_layout().0));
    assert_eq!(starts[0], starts[1]);
    Ok(())
}

#[test]
fn a_chain_that_ends_as_its_storage_lies_moves_nothing() -> Result<()> {
    let x = labels(&[2, 3, 5, 4], DType::F32)?.permute((0, 3, 1, 2))?;
    let flat = restride_candle::fuse(&[&x], |g, x| {
        let back = g.transpose(x[0], [0, 2, 3, 1])?;
        g.reshape(back, [6, 20]).finish()
    })?;
    assert!(same(
        &flat,
        &x.permute((0, 2, 3, 1))?.contiguous()?.reshape((6, 20))?
    )?);
    let starts = [&flat, &x].map(|t| std::ptr::from_ref(&*t.storage_and_layout().0));
    assert_eq!(starts[0], starts[1]);
    Ok(())
}

#[test]
fn gradients_are_left_to_candle() -> Result<()> {
    let x = Var::from_tensor(&labels(&[3, 4], DType::F32)?)?;
    let turned = restride_candle::contiguous(&x.t()?)?;
    let both = restride_candle::cat(&[&turned, &turned], 1)?;
    let gradients = both.sum_all()?.backward()?;
    let gradient = gradients.get(&x).map(Tensor::to_vec2::<f32>).transpose()?;
    assert_eq!(gradient, Some(vec![vec![2f32; 4]; 3]));
    let refused = restride_candle::fuse(&[&x], |g, x| g.transpose(x[0], [1, 0]));
    assert!(refused.unwrap_err().to_string().contains("left to candle"));
    Ok(())
}

#[test]
fn refused_arguments_are_refused_in_candles_words() -> Result<()> {
    let (x, y) = (labels(&[2, 3], DType::F32)?, labels(&[3, 3], DType::F32)?);
    let [ours, theirs] = [
        restride_candle::cat(&[&x, &y], 1),
        Tensor::cat(&[&x, &y], 1),
    ];
    assert_eq!(first_line(ours), first_line(theirs));
    let [ours, theirs] = [restride_candle::flip(&x, &[2]), x.flip(&[2])];
    assert_eq!(first_line(ours), first_line(theirs));
    Ok(())
}

#[test]
fn errors_of_a_chain_say_where_it_is() -> Result<()> {
    let x = labels(&[5, 3], DType::F32)?;
    let wrong = Tensor::new(&[1u32, 7], &Device::Cpu)?;
    let rule = restride::IndexRule {
        out_of_range: restride::OutOfRange::Error,
        wrap: false,
    };
    let made = restride_candle::fuse(&[&x], |g, x| g.transpose(x[0], [0, 2]));
    let ran = restride_candle::fuse_all(&[&x, &wrong], |g, x| {
        g.begin_node("embed");
        Ok(vec![g.gather(x[0], x[1], rule).axis(0).finish()?])
    });
    let there = [made.unwrap_err(), ran.unwrap_err()].map(|error| error.to_string());
    for error in &there {
        assert!(error.contains(concat!("fuse at ", file!(), ":")), "{error}");
    }
    assert!(there[1].contains("(in embed): index 7"), "{}", there[1]);
    Ok(())
}

/// What an error says, without where it was made.
fn first_line(result: Result<Tensor>) -> Option<String> {
    let text = result.err()?.to_string();
    Some(text.lines().next()?.to_owned())
}

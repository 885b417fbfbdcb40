//! What models of candle-transformers gain, with random weights: as candle is, with the patch of
//! `crates/hosts/candle/patches`, and with calls of restride-candle put in by hand, in turns in one process.
//!
//! `bash candle.sh [MODEL ..]` builds both with switches for them, and runs this. Outputs are compared bit
//! by bit. Times are the processor's; the least of each side counts, and the median of the quotients of neighbours.

use candle_core::cpu_backend::RESTRIDE;
use candle_core::{DType, Device, Result, Shape, Tensor};
use candle_nn::var_builder::SimpleBackend;
use candle_nn::{Activation, Init, Module, VarBuilder};
use candle_transformers::by_hand::BY_HAND;
use candle_transformers::models::{llama2_c, mamba2, segformer, segment_anything, siglip};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Milliseconds that all threads of this process have worked so far: what else runs on the machine does not count.
fn worked() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: there is room for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Numbers that are small, not all alike, and the same each time.
fn random(shape: &Shape, seed: u64, least: f32, most: f32) -> Result<Tensor> {
    let mut state = seed | 1;
    let numbers = (0..shape.elem_count()).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        least + (most - least) * ((state >> 40) as f32 / (1u32 << 24) as f32)
    });
    Tensor::from_vec(numbers.collect::<Vec<f32>>(), shape, &Device::Cpu)
}

/// Weights of any name: those of norms and biases around one, all others small.
struct Weights;

impl SimpleBackend for Weights {
    fn get(&self, s: Shape, name: &str, _: Init, dtype: DType, _: &Device) -> Result<Tensor> {
        let seed = name
            .bytes()
            .fold(7u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
        let (least, most) = match s.rank() {
            1 => (0.5, 1.0),
            _ => (-0.05, 0.05),
        };
        random(&s, seed, least, most)?.to_dtype(dtype)
    }

    fn get_unchecked(&self, name: &str, _: DType, _: &Device) -> Result<Tensor> {
        candle_core::bail!("{name} without a shape")
    }

    fn contains_tensor(&self, name: &str) -> bool {
        // Tables of angles, which the model then computes.
        !name.starts_with("freq_cis")
    }
}

fn weights() -> VarBuilder<'static> {
    VarBuilder::from_backend(Box::new(Weights), DType::F32, Device::Cpu)
}

type Run = Box<dyn Fn() -> Result<Tensor>>;

fn image(size: usize) -> Result<Tensor> {
    random(&Shape::from((1, 3, size, size)), 3, -1.0, 1.0)
}

fn segformer_b0() -> Result<Run> {
    let config = segformer::Config {
        id2label: Default::default(),
        num_channels: 3,
        num_encoder_blocks: 4,
        depths: vec![2; 4],
        sr_ratios: vec![8, 4, 2, 1],
        hidden_sizes: vec![32, 64, 160, 256],
        patch_sizes: vec![7, 3, 3, 3],
        strides: vec![4, 2, 2, 2],
        num_attention_heads: vec![1, 2, 5, 8],
        mlp_ratios: vec![4; 4],
        hidden_act: Activation::Gelu,
        layer_norm_eps: 1e-6,
        decoder_hidden_size: 256,
    };
    let model = segformer::SemanticSegmentationModel::new(&config, 150, weights())?;
    let x = image(256)?;
    Ok(Box::new(move || model.forward(&x)))
}

fn siglip_4_layers() -> Result<Run> {
    let mut config = siglip::Config::base_patch16_224().vision_config;
    config.num_hidden_layers = 4;
    let model = siglip::VisionModel::new(&config, false, weights())?;
    let x = image(224)?;
    Ok(Box::new(move || model.forward(&x)))
}

fn tiny_vit() -> Result<Run> {
    let model = segment_anything::tiny_vit::tiny_vit_5m(weights())?;
    let x = image(1024)?;
    Ok(Box::new(move || model.forward(&x)))
}

fn llama2_decodes_256() -> Result<Run> {
    let config = llama2_c::Config::tiny_15m();
    let cache = llama2_c::Cache::new(true, &config, weights().pp("rot"))?;
    let model = llama2_c::Llama::load(weights(), config)?;
    Ok(Box::new(move || {
        let mut cache = cache.clone();
        let mut last = Tensor::zeros(1, DType::F32, &Device::Cpu)?;
        for at in 0..256 {
            let token = Tensor::new(&[[(at * 37 % 32000) as u32]], &Device::Cpu)?;
            last = model.forward(&token, at, &mut cache)?;
        }
        Ok(last)
    }))
}

fn mamba2_config() -> mamba2::Config {
    mamba2::Config {
        d_model: 256,
        n_layer: 4,
        vocab_size: 1024,
        d_state: 64,
        expand: 2,
        headdim: 64,
        ngroups: 1,
        pad_vocab_size_multiple: 16,
    }
}

fn mamba2_reads_256() -> Result<Run> {
    let config = mamba2_config();
    let model = mamba2::Model::new(&config, weights())?;
    let tokens: Vec<u32> = (0..256).map(|n| n * 37 % 1024).collect();
    let tokens = Tensor::from_vec(tokens, (1, 256), &Device::Cpu)?;
    Ok(Box::new(move || {
        let mut state = mamba2::State::new(1, &config, DType::F32, &Device::Cpu)?;
        model.forward_prefill(&tokens, &mut state, 64)
    }))
}

fn mamba2_steps_64() -> Result<Run> {
    let config = mamba2_config();
    let model = mamba2::Model::new(&config, weights())?;
    Ok(Box::new(move || {
        let mut state = mamba2::State::new(1, &config, DType::F32, &Device::Cpu)?;
        let mut last = Tensor::zeros(1, DType::F32, &Device::Cpu)?;
        for at in 0..64u32 {
            last = model.forward(&Tensor::new(&[at * 37 % 1024], &Device::Cpu)?, &mut state)?;
        }
        Ok(last)
    }))
}

/// What a layer of shifted windows does around its attention: 96 channels of 56 by 56, windows of 7, three heads.
fn windows(by_hand: bool) -> Result<Run> {
    let x = random(&Shape::from((1, 56, 56, 96)), 5, -1.0, 1.0)?;
    let qkv = random(&Shape::from((96, 288)), 9, -0.05, 0.05)?;
    let heads = |qkv: &Tensor, which: usize| -> Result<Tensor> {
        let part = qkv.reshape((64, 49, 3, 3, 32))?.narrow(2, which, 1)?;
        part.squeeze(2)?.transpose(1, 2)?.contiguous()
    };
    Ok(Box::new(move || {
        let cut = match by_hand {
            false => {
                let x = x.roll(-3, 1)?.roll(-3, 2)?;
                let x = x.reshape((1, 8, 7, 8, 7, 96))?;
                x.permute((0, 1, 3, 2, 4, 5))?.reshape((64 * 49, 96))?
            }
            true => restride_candle::fuse(&[&x], |g, x| {
                let x = g.roll(x[0], [-3, -3], [1, 2])?;
                let x = g.reshape(x, [1, 8, 7, 8, 7, 96]).finish()?;
                let x = g.transpose(x, [0, 1, 3, 2, 4, 5])?;
                g.reshape(x, [64 * 49, 96]).finish()
            })?,
        };
        let all = cut.matmul(&qkv)?;
        let (q, k, v) = match by_hand {
            false => (heads(&all, 0)?, heads(&all, 1)?, heads(&all, 2)?),
            true => {
                let parts = restride_candle::fuse_all(&[&all], |g, x| {
                    let x = g.reshape(x[0], [64, 49, 3, 3, 32]).finish()?;
                    let x = g.transpose(x, [2, 0, 3, 1, 4])?;
                    let part = |g: &mut restride::Graph, n: i64| {
                        let part = g.slice(x, [n], [n + 1]).axes([0]).finish()?;
                        g.reshape(part, [64, 3, 49, 32]).finish()
                    };
                    Ok(vec![part(g, 0)?, part(g, 1)?, part(g, 2)?])
                })?;
                let [q, k, v] = &parts[..] else {
                    candle_core::bail!("three parts")
                };
                (q.clone(), k.clone(), v.clone())
            }
        };
        let seen = candle_nn::ops::softmax_last_dim(&q.matmul(&k.t()?)?)?.matmul(&v)?;
        match by_hand {
            false => {
                let y = seen.transpose(1, 2)?.reshape((1, 8, 8, 7, 7, 96))?;
                let y = y.permute((0, 1, 3, 2, 4, 5))?.reshape((1, 56, 56, 96))?;
                y.roll(3, 1)?.roll(3, 2)?.contiguous()
            }
            true => restride_candle::fuse(&[&seen], |g, x| {
                let y = g.transpose(x[0], [0, 2, 1, 3])?;
                let y = g.reshape(y, [1, 8, 8, 7, 7, 96]).finish()?;
                let y = g.transpose(y, [0, 1, 3, 2, 4, 5])?;
                let y = g.reshape(y, [1, 56, 56, 96]).finish()?;
                g.roll(y, [3, 3], [1, 2])
            }),
        }
    }))
}

fn bits(tensor: &Tensor) -> Result<Vec<u32>> {
    let numbers = tensor.flatten_all()?.to_vec1::<f32>()?;
    Ok(numbers.into_iter().map(f32::to_bits).collect())
}

/// What is switched on.
#[derive(Clone, Copy, PartialEq)]
enum With {
    Nothing,
    Patch,
    Calls,
}

/// Runs both in turns: the first as candle is.
fn compare(name: &str, plain: &Run, other: &Run, with: With, seconds: f64) -> Result<()> {
    let side = |run: &Run, with: With| -> Result<(Tensor, f64)> {
        RESTRIDE.store(with == With::Patch, Relaxed);
        BY_HAND.store(with == With::Calls, Relaxed);
        let start = worked();
        let made = run()?;
        Ok((made, worked() - start))
    };
    let same = bits(&side(plain, With::Nothing)?.0)? == bits(&side(other, with)?.0)?;
    let (mut least, mut quotients) = ([f64::MAX; 2], Vec::new());
    let start = Instant::now();
    while quotients.len() < 5 || quotients.len() < 500 && start.elapsed().as_secs_f64() < seconds {
        let times = [side(plain, With::Nothing)?.1, side(other, with)?.1];
        quotients.push(times[0] / times[1]);
        least = [least[0].min(times[0]), least[1].min(times[1])];
    }
    quotients.sort_by(f64::total_cmp);
    println!(
        "{name:28} {:8} {} {:9.3} -> {:9.3} ms, least {:5.3}x, median {:5.3}x, {} runs",
        if with == With::Patch { "patched" } else { "by hand" },
        if same { "same bits" } else { "DIFFERENT" },
        least[0],
        least[1],
        least[0] / least[1],
        quotients[quotients.len() / 2],
        quotients.len(),
    );
    Ok(())
}

fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let models: [(&str, fn() -> Result<Run>); 6] = [
        ("segformer b0, 256 x 256", segformer_b0),
        ("siglip, 4 layers, 224 x 224", siglip_4_layers),
        ("tiny_vit 5m, 1024 x 1024", tiny_vit),
        ("llama2_c 15m, 256 tokens", llama2_decodes_256),
        ("mamba2, 256 tokens at once", mamba2_reads_256),
        ("mamba2, 64 tokens in turn", mamba2_steps_64),
    ];
    for (name, make) in models {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            let run = make()?;
            compare(name, &run, &run, With::Patch, 8.0)?;
            compare(name, &run, &run, With::Calls, 8.0)?;
        }
    }
    if wanted.is_empty() || wanted.iter().any(|word| word == "windows") {
        let (plain, by_hand) = (windows(false)?, windows(true)?);
        compare("shifted windows", &plain, &plain, With::Patch, 5.0)?;
        compare("shifted windows", &plain, &by_hand, With::Calls, 5.0)?;
    }
    Ok(())
}

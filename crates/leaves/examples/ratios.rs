//! Every leaf against `memcpy` of the bytes it writes, in one process and interleaved.
//!
//! Prints the median and the best ratio of rounds (above 1 is faster than `memcpy`), per level.
//! Words on the command line pick the cases whose name contains one of them.

use std::hint::black_box;
use std::time::Instant;

use restride_leaves::{Features, GatherLeaf, Leaf, Planner, Target};
use restride_loops::{BufferId, Dim, Form, Gather, IndexType, Norm, Place};

/// 64-byte aligned memory.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line(#[allow(dead_code, reason = "only its bytes are used")] [u8; 64]);

fn lines(bytes: usize) -> Vec<Line> {
    vec![Line([7; 64]); bytes.div_ceil(64) + 1]
}

fn d(extent: i64, dst: i64, src: i64) -> Dim {
    Dim { extent, dst, src }
}

struct Case {
    name: &'static str,
    width: usize,
    form: Form,
    dims: Vec<Dim>,
}

fn case(name: &'static str, width: usize, form: Form, dims: &[Dim]) -> Case {
    Case {
        name,
        width,
        form,
        dims: dims.to_vec(),
    }
}

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    use Form::*;
    let t = |name, width, form, r: i64, c: i64| case(name, width, form, &[d(r, c, 1), d(c, 1, r)]);
    vec![
        case("rows 8 KB L1", 4, Rows, &[d(2048, 1, 1)]),
        case("rows 256 KB", 4, Rows, &[d(65536, 1, 1)]),
        case("rows 4 MB", 4, Rows, &[d(1 << 20, 1, 1)]),
        case("rows 64 MB", 4, Rows, &[d(1 << 24, 1, 1)]),
        case("rows 64 MB stream", 4, Stream, &[d(1 << 24, 1, 1)]),
        case("rows 64 B padded L1", 4, Rows, &[d(128, 16, 32), d(16, 1, 1)]),
        case("rows 256 B heads L2", 4, Rows, &[d(8, 64 * 128, 64), d(128, 64, 64 * 8), d(64, 1, 1)]),
        case("rows 384 B swin L3", 4, Rows, &[d(56, 96 * 56, 96 * 60), d(56, 96, 96 * 60 * 56), d(96, 1, 1)]),
        case("rows 100 B padded L1", 1, Rows, &[d(100, 100, 164), d(100, 1, 1)]),
        case("rows 36 B dense L1", 4, Rows, &[d(200, 9, 16), d(9, 1, 1)]),
        case("rows 13 f32 L2", 4, Lines, &[d(6000, 13, 20), d(13, 1, 1)]),
        case("crop u8 224x224x3 of 256", 1, Rows, &[d(224, 672, 768), d(672, 1, 1)]),
        case("step 2 f32 L1", 4, Strided, &[d(1024, 1, 2)]),
        case("step 2 f32 L2", 4, Strided, &[d(32768, 1, 2)]),
        case("step 2 f32 L3", 4, Strided, &[d(1 << 20, 1, 2)]),
        case("step 2 u8 L2", 1, Strided, &[d(1 << 17, 1, 2)]),
        case("step 2 u16 L2", 2, Strided, &[d(1 << 16, 1, 2)]),
        case("step 3 f32 L1", 4, Strided, &[d(1024, 1, 3)]),
        case("step 3 f32 L2", 4, Strided, &[d(32768, 1, 3)]),
        case("step 3 f32 L3", 4, Strided, &[d(1 << 20, 1, 3)]),
        case("step 7 f32 L2", 4, Strided, &[d(8192, 1, 7)]),
        case("step 2 u64 L2", 8, Strided, &[d(16384, 1, 2)]),
        case("reverse f32 L1", 4, Strided, &[d(1024, 1, -1)]),
        case("reverse f32 L2", 4, Strided, &[d(65536, 1, -1)]),
        case("reverse f32 L3", 4, Strided, &[d(1 << 20, 1, -1)]),
        case("reverse u8 L1", 1, Strided, &[d(8192, 1, -1)]),
        case("reverse u8 L2", 1, Strided, &[d(1 << 18, 1, -1)]),
        case("step -2 f32 L2", 4, Strided, &[d(32768, 1, -2)]),
        case("bgr->rgb u8 224", 1, Lines, &[d(224 * 224, 3, 3), d(3, 1, -1)]),
        case("nhwc->nchw u8 c3 224", 1, Lines, &[d(3, 50176, 1), d(50176, 1, 3)]),
        case("nchw->nhwc u8 c3 224", 1, Lines, &[d(50176, 3, 1), d(3, 1, 50176)]),
        case("nchw->nhwc f32 c3 224", 4, Lines, &[d(50176, 3, 1), d(3, 1, 50176)]),
        case("nhwc->nchw f32 c3 224", 4, Lines, &[d(3, 50176, 1), d(50176, 1, 3)]),
        case("nchw->nhwc f32 c4 64", 4, Lines, &[d(4096, 4, 1), d(4, 1, 4096)]),
        case("interleave dst 2 f32 L2", 4, Lines, &[d(32768, 2, 1)]),
        case("pixel shuffle r2 f32", 4, Lines, &[d(16, 128 * 128, 4 * 64 * 64), d(64, 256, 64), d(2, 128, 2 * 4096), d(64, 2, 1), d(2, 1, 4096)]),
        case("channel shuffle f32 2x58", 4, Lines, &[d(784, 116, 116), d(58, 2, 1), d(2, 1, 58)]),
        case("patchify f32 16x16x3", 4, Lines, &[d(14, 14 * 768, 16 * 224), d(14, 768, 16), d(16, 48, 224), d(16, 3, 1), d(3, 1, 224 * 224)]),
        case("focus f32", 4, Lines, &[d(2, 2 * 65536, 1), d(2, 65536, 512), d(256, 256, 1024), d(256, 1, 2)]),
        t("transpose f32 64x64", 4, Transpose, 64, 64),
        t("transpose f32 256x256", 4, Transpose, 256, 256),
        t("transpose f32 4096x64", 4, Transpose, 4096, 64),
        t("transpose f32 64x4096", 4, Transpose, 64, 4096),
        t("transpose f32 1024 direct", 4, Transpose, 1024, 1024),
        t("transpose f32 1024 staged", 4, Staged, 1024, 1024),
        t("transpose f32 1088 direct", 4, Transpose, 1088, 1088),
        t("transpose f32 1088 staged", 4, Staged, 1088, 1088),
        t("transpose f32 2048 staged", 4, Staged, 2048, 2048),
        t("transpose f32 4096 staged", 4, Staged, 4096, 4096),
        t("transpose f32 4096 direct", 4, Transpose, 4096, 4096),
        t("transpose f32 64x4096 staged", 4, Staged, 64, 4096),
        t("transpose u8 4096x64 staged", 1, Staged, 4096, 64),
        t("transpose u8 64x4096 staged", 1, Staged, 64, 4096),
        t("transpose u8 2048 staged", 1, Staged, 2048, 2048),
        t("transpose u16 256x256", 2, Transpose, 256, 256),
        t("transpose u16 1024 staged", 2, Staged, 1024, 1024),
        t("transpose u16 1024 direct", 2, Transpose, 1024, 1024),
        t("transpose u8 4096x64 direct", 1, Transpose, 4096, 64),
        t("transpose u8 64x4096 direct", 1, Transpose, 64, 4096),
        t("transpose u8 1024 direct", 1, Transpose, 1024, 1024),
        t("transpose u8 2048 direct", 1, Transpose, 2048, 2048),
        t("transpose u8 8192 direct", 1, Transpose, 8192, 8192),
        t("transpose f32 2048 direct", 4, Transpose, 2048, 2048),
        t("transpose f32 4160 direct", 4, Transpose, 4160, 4160),
        t("transpose u8 64x64", 1, Transpose, 64, 64),
        t("transpose u8 256x256", 1, Transpose, 256, 256),
        t("transpose u8 1024 staged", 1, Staged, 1024, 1024),
        t("transpose u8 1088 direct", 1, Transpose, 1088, 1088),
        t("transpose u64 256x256", 8, Transpose, 256, 256),
        case("nchw->nhwc f32 64ch 56", 4, Transpose, &[d(3136, 64, 1), d(64, 1, 3136)]),
        case("nhwc->nchw f32 64ch 56", 4, Transpose, &[d(64, 3136, 1), d(3136, 1, 64)]),
        case("K^T f32 129x64 x8", 4, Transpose, &[d(8, 129 * 64, 64), d(64, 129, 1), d(129, 1, 512)]),
    ]
}

fn extent(dims: &[Dim], stride: fn(&Dim) -> i64) -> (i64, i64) {
    dims.iter().fold((0, 1), |(low, high), dim| {
        let reach = (dim.extent - 1) * stride(dim);
        (low - reach.min(0), high + reach.max(0))
    })
}

/// Nanoseconds per call, of a number of calls that takes long enough to measure.
fn time(calls: u32, run: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        run();
    }
    start.elapsed().as_nanos() as f64 / f64::from(calls)
}

/// Median and best ratio of `memcpy`'s time to that of `run`, and `memcpy`'s GB/s.
fn compare(bytes: usize, run: &mut dyn FnMut()) -> (f64, f64, f64) {
    let from = lines(bytes);
    let mut to = lines(bytes);
    let mut memcpy = || {
        let (to, from) = (to.as_mut_ptr().cast::<u8>(), from.as_ptr().cast::<u8>());
        // SAFETY: both have at least so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(black_box(from), black_box(to), bytes) }
    };
    let calls = (400_000 / bytes as u32).max(1);
    let mut ratios = Vec::new();
    let (mut best_copy, mut best_run) = (f64::MAX, f64::MAX);
    let rounds = if bytes > 8 << 20 { 9 } else { 41 };
    for _ in 0..rounds {
        let copy = time(calls, &mut memcpy);
        let ours = time(calls, run);
        ratios.push(copy / ours);
        best_copy = best_copy.min(copy);
        best_run = best_run.min(ours);
    }
    ratios.sort_by(f64::total_cmp);
    (
        ratios[ratios.len() / 2],
        best_copy / best_run,
        bytes as f64 / best_copy,
    )
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wanted =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    println!(
        "{:28} {:>9} {:>16} {:>16} {:>16}",
        "case: median best", "memcpy", "baseline", "avx2", "avx512"
    );
    for case in cases() {
        if !wanted(case.name) {
            continue;
        }
        let (dst_low, dst_len) = extent(&case.dims, |d| d.dst);
        let (src_low, src_len) = extent(&case.dims, |d| d.src);
        let mut dst = lines((dst_low + dst_len) as usize * case.width);
        let src = lines((src_low + src_len) as usize * case.width);
        let bytes = case
            .dims
            .iter()
            .map(|d| d.extent as usize)
            .product::<usize>()
            * case.width;
        let mut line = String::new();
        let mut speed = 0.0;
        let mut name = "";
        for cpu in Features::WIDTHS {
            let leaf = Leaf::prepare_move(
                &case.dims,
                case.width,
                case.form,
                &Planner::new(&Target::with(cpu)),
            )
            .unwrap();
            let to = dst
                .as_mut_ptr()
                .cast::<u8>()
                .wrapping_add(dst_low as usize * case.width);
            let from = src
                .as_ptr()
                .cast::<u8>()
                .wrapping_add(src_low as usize * case.width);
            // SAFETY: both buffers hold the whole box.
            let (median, best, gb) = compare(bytes, &mut || unsafe { leaf.call(to, from) });
            line += &format!("      {median:5.2} {best:5.2}");
            speed = gb;
            name = leaf.name();
        }
        let cpu = Features::detect();
        let prepare = time(100, &mut || {
            black_box(
                Leaf::prepare_move(
                    &case.dims,
                    case.width,
                    case.form,
                    &Planner::new(&Target::with(cpu)),
                )
                .unwrap(),
            );
        });
        let prepare = prepare / 1000.0;
        println!(
            "{:28} {speed:9.1}{line}  {name}, prepared in {prepare:.1} us",
            case.name
        );
    }
    gathers(&wanted);
    lanes(&wanted);
}

fn gathers(wanted: &dyn Fn(&str) -> bool) {
    for (name, row, table, n, ty) in [
        ("gather 4 B L1", 1, 2000, 4096, IndexType::I32),
        ("gather 4 B i64 L1", 1, 2000, 4096, IndexType::I64),
        ("gather 4 B L2", 1, 65536, 262_144, IndexType::I32),
        ("gather 8 B L1", 2, 1000, 4096, IndexType::I64),
        ("gather 64 B 425984", 16, 1_000_000, 425_984, IndexType::I64),
        ("gather 3 KB 8192", 768, 50_000, 8192, IndexType::I64),
        ("gather 64 B cold", 16, 1 << 21, 32768, IndexType::I64),
        ("gather 64 B hot", 16, 400, 256, IndexType::I64),
        ("gather 3 KB cold", 768, 50_000, 512, IndexType::I64),
        ("gather 3 KB hot", 768, 60, 64, IndexType::I64),
        ("gather 256 B L3", 64, 20_000, 4096, IndexType::I32),
    ] {
        if !wanted(name) {
            continue;
        }
        let mut dims = smallvec::SmallVec::new();
        dims.push(d(row, 1, 1));
        let gather = Gather {
            extent: n,
            index: Place::at(BufferId(0), 0),
            index_stride: 1,
            norm: Norm {
                ty,
                limit: table,
                wrap: true,
                clamp: false,
            },
            dst: Place::at(BufferId(0), 0),
            dst_stride: row,
            src: Place::at(BufferId(0), 0),
            coeff: row,
            dims,
        };
        let bytes = (n * row * 4) as usize;
        let src = lines((table * row * 4) as usize);
        let mut dst = lines(bytes);
        let mut state = 88172645463325252u64;
        let iw = ty.width().bytes();
        let mut index = Vec::new();
        for _ in 0..n {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            index.extend_from_slice(&(state % table as u64).to_le_bytes()[..iw]);
        }
        let mut line = String::new();
        let mut speed = 0.0;
        for cpu in Features::WIDTHS {
            let leaf = GatherLeaf::prepare(&gather, 4, &Planner::new(&Target::with(cpu))).unwrap();
            let (to, from) = (dst.as_mut_ptr().cast::<u8>(), src.as_ptr().cast::<u8>());
            // SAFETY: all rows and indices are inside their buffers.
            let mut run = || unsafe { leaf.call(to, from, index.as_ptr()) };
            let (median, best, gb) = compare(bytes, &mut run);
            let each = time(20, &mut run) / n as f64;
            line += &format!("      {median:5.2} {best:5.2}");
            if cpu == Features::Avx512 {
                line += &format!("  {each:.2} ns a row");
            }
            speed = gb;
        }
        println!("{name:28} {speed:9.1}{line}");
    }
}

/// A row of indices along the innermost axis that serves many rows.
fn lanes(wanted: &dyn Fn(&str) -> bool) {
    for (name, width, rows, from, to, sorted) in [
        (
            "lanes f32 3136x256->128 sorted",
            4,
            3136i64,
            256i64,
            128i64,
            true,
        ),
        ("lanes f32 3136x256->128", 4, 3136, 256, 128, false),
        ("lanes f32 64x64->64", 4, 64, 64, 64, false),
        ("lanes f32 128x64->64", 4, 128, 64, 64, false),
        ("lanes f32 256x64->64", 4, 256, 64, 64, false),
        ("lanes f32 16x4->4", 4, 16, 4, 4, false),
        ("lanes u8 1000x256->256", 1, 1000, 256, 256, false),
        ("lanes u16 200x768->700", 2, 200, 768, 700, true),
    ] {
        if !wanted(name) {
            continue;
        }
        let mut state = 88172645463325252u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut picked: Vec<u64> = (0..to).map(|_| random() % from as u64).collect();
        if sorted {
            picked = (0..to)
                .map(|i| (i * from / to) as u64 + random() % 2)
                .collect();
            picked.sort_unstable();
        }
        let index: Vec<u8> = picked.iter().flat_map(|v| v.to_le_bytes()).collect();
        let gather = Gather {
            extent: to,
            index: Place::at(BufferId(0), 0),
            index_stride: 1,
            norm: Norm {
                ty: IndexType::I64,
                limit: from,
                wrap: true,
                clamp: false,
            },
            dst: Place::at(BufferId(0), 0),
            dst_stride: 1,
            src: Place::at(BufferId(0), 0),
            coeff: 1,
            dims: smallvec::smallvec![d(rows, to, from)],
        };
        let bytes = rows as usize * to as usize * width;
        let src = lines((rows * from) as usize * width);
        let mut dst = lines(bytes);
        let mut line = String::new();
        let mut speed = 0.0;
        for cpu in Features::WIDTHS {
            let leaf =
                GatherLeaf::prepare(&gather, width, &Planner::new(&Target::with(cpu))).unwrap();
            let (to, from) = (dst.as_mut_ptr().cast::<u8>(), src.as_ptr().cast::<u8>());
            // SAFETY: all rows and indices are inside their buffers.
            let mut run = || unsafe { leaf.call(to, from, index.as_ptr()) };
            let (median, best, gb) = compare(bytes, &mut run);
            line += &format!("      {median:5.2} {best:5.2}");
            speed = gb;
        }
        println!("{name:28} {speed:9.1}{line}");
    }
}

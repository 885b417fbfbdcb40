//! Layouts printed back as view chains: exact, and one chain per function.

mod common;

use common::random_view;
use restride_layout::{Break, Chain, Layout, View};
use restride_loops::Random;
use std::collections::HashMap;

#[test]
fn every_chain_of_views_comes_back() {
    let mut chains: HashMap<(Vec<i64>, Layout), Chain> = HashMap::new();
    let (mut tried, mut longer, mut none) = (0, 0, 0);
    for seed in 0..60_000u64 {
        let mut random = Random::new(seed);
        let source: Vec<i64> = (0..random.within(0, 4))
            .map(|_| random.within(1, 9))
            .collect();
        let mut layout = Layout::dense(&source).expect("small");
        let mut log = vec![];
        for _ in 0..random.within(1, 6) {
            let view = random_view(&mut random, layout.shape());
            if let Ok(next) = layout.view(&view) {
                layout = next;
                log.push(view);
            }
        }
        tried += 1;
        let chain = match layout.reify(&source) {
            Ok(chain) => chain,
            // A few elements cut out of several digits can be a layout by accident.
            Err(Break::NoChain) if log.iter().any(|v| matches!(v, View::Slice(_))) => {
                none += 1;
                continue;
            }
            Err(e) => panic!("seed {seed}: {e}: {layout} of {source:?} by {log:?}"),
        };
        let mut again = Layout::dense(&source).expect("small");
        for view in &chain {
            let shape = again.shape().to_vec();
            again = again.view(view).expect("it applies");
            assert_ne!(
                (again.shape(), again.is_dense()),
                (&shape[..], true),
                "{view:?} is no-op"
            );
        }
        assert_eq!(again, layout);
        longer += usize::from(chain.len() > log.len().max(1));
        let first = chains
            .entry((source, layout))
            .or_insert_with(|| chain.clone());
        assert_eq!(*first, chain);
    }
    assert!(none * 1000 < tried, "{none} of {tried} have no chain");
    assert!(longer * 5 < tried, "{longer} of {tried} chains grew");
}

/// Digits from anywhere, most of them nested: a chain that comes back is a proof by itself, so
/// nothing evaluates it again but this.
#[test]
fn a_chain_that_comes_back_gives_the_layout() {
    let (mut chains, mut none) = (0, 0);
    for seed in 0..400_000u64 {
        let mut random = Random::new(seed);
        let source: Vec<i64> = (0..random.within(0, 4))
            .map(|_| random.within(1, 8))
            .collect();
        let rank = random.within(0, 4) as usize;
        let shape: Vec<i64> = (0..rank).map(|_| random.within(1, 4)).collect();
        let mut order: Vec<usize> = (0..rank).collect();
        for k in (1..rank).rev() {
            order.swap(k, random.within(0, k as i64) as usize);
        }
        let (mut offset, mut reach, mut strides) = (0, 0, vec![0; rank]);
        for &axis in &order {
            if random.within(0, 6) == 0 {
                continue;
            }
            let least = i64::from(random.within(0, 20) > 0);
            let stride = reach + random.within(least, 6);
            let span = stride * (shape[axis] - 1);
            reach += span;
            (strides[axis], offset) = match random.within(0, 3) {
                0 => (-stride, offset + span),
                _ => (stride, offset),
            };
        }
        let room = source.iter().product::<i64>() - 1 - reach;
        offset += random.within(0, room.max(0));
        let mut layout = Layout::strided(&shape, &[offset], &strides).expect("small");
        if rank > 1 && random.within(0, 1) == 0 {
            let mut groups = vec![1; rank - 1];
            groups[random.within(0, rank as i64 - 2) as usize] = 2;
            layout = layout.collapse(&groups).expect("small");
        }
        let Ok(chain) = layout.reify(&source) else {
            none += 1;
            continue;
        };
        chains += 1;
        let mut again = Layout::dense(&source).expect("small");
        for view in &chain {
            again = again.view(view).expect("it applies");
        }
        assert_eq!(again, layout, "seed {seed}: {source:?} {chain:?}");
    }
    assert!(chains > 100_000 && none > 100_000, "{chains} and {none}");
}

#[test]
fn chains_read_well() {
    let shown = |source: &[i64], f: &dyn Fn(Layout) -> Layout| {
        let layout = f(Layout::dense(source).expect("small"));
        let chain = layout.reify(source).expect("a chain");
        let names = chain.iter().map(|v| match v {
            View::Slice(_) => "slice",
            View::Permute(_) => "permute",
            View::Collapse { .. } => "collapse",
            View::Expand { .. } => "expand",
            View::Broadcast { .. } => "broadcast",
            View::Windows { .. } => "windows",
        });
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown(&[4, 6], &|l| l), "");
    assert_eq!(shown(&[4, 6], &|l| l.reverse(1).unwrap()), "slice");
    assert_eq!(shown(&[4, 6], &|l| l.permute(&[1, 0]).unwrap()), "permute");
    assert_eq!(shown(&[4, 6], &|l| l.reshape(&[24]).unwrap()), "collapse");
    assert_eq!(shown(&[24], &|l| l.reshape(&[4, 6]).unwrap()), "expand");
    assert_eq!(
        shown(&[4, 6], &|l| l.reshape(&[6, 4]).unwrap()),
        "collapse expand"
    );
    assert_eq!(
        shown(&[4, 6], &|l| l.reshape(&[2, 2, 6]).unwrap()),
        "expand"
    );
    assert_eq!(
        shown(&[4, 1], &|l| l.broadcast(&[4, 5]).unwrap()),
        "broadcast"
    );
    assert_eq!(
        shown(&[1, 2, 3], &|l| l.permute(&[0, 2, 1]).unwrap()),
        "permute"
    );
    let space_to_depth = |l: Layout| {
        l.reshape(&[1, 4, 3, 2, 5, 2])
            .and_then(|l| l.permute(&[0, 3, 5, 1, 2, 4]))
            .and_then(|l| l.reshape(&[1, 16, 3, 5]))
            .unwrap()
    };
    assert_eq!(
        shown(&[1, 4, 6, 10], &space_to_depth),
        "expand permute collapse"
    );
}

#[test]
fn what_no_view_gives_has_no_chain() {
    // Runs of three from three places take five.
    let windows = Layout::strided(&[3, 3], &[0], &[1, 1]).expect("small");
    assert!(windows.reify(&[4]).is_err());
    let chain = windows.reify(&[5]).expect("windows");
    assert_eq!(chain, [View::Windows { axis: 0, size: 3 }]);
    let outside = Layout::strided(&[3], &[4], &[1]).expect("small");
    assert!(outside.reify(&[5]).is_err());
    assert!(outside.reify(&[0]).is_err());
    let before = Layout::strided(&[3], &[-1], &[1]).expect("small");
    assert!(before.reify(&[5]).is_err());
    let wild = Layout::strided(&[2, 2], &[0], &[i64::MAX - 1, 1]).expect("small");
    assert!(wild.reify(&[5]).is_err());
    assert!(wild.reify(&[i64::MAX]).is_err());
    assert!(Layout::dense(&[0]).expect("empty").reify(&[5]).is_err());
}

//! A box that is a single unit: nothing is left to decide when it is moved.

use std::marker::PhantomData;

use restride_moves::lines::WideLines;

use super::kernels::Kernel;
use crate::level::Body;
use crate::lines::row::Both;

pub(super) struct SingleParams {
    /// Where the unit is, from the caller's addresses.
    pub(super) start: Both,
    pub(super) unit: WideLines,
}

pub(super) struct Single<K, const LOADS: u8>(PhantomData<K>);

impl<K: Kernel, const LOADS: u8> Body for Single<K, LOADS> {
    type Params = SingleParams;

    fn elsewhere(params: &SingleParams) -> usize {
        params.unit.elsewhere()
    }

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &SingleParams) {
        let (dst, src) = params.start.from(dst, src);
        // SAFETY: the body is run at AVX-512 and was chosen for these lines; the unit is the caller's box.
        unsafe { K::unit::<LOADS, false>(dst, src, &K::hold(&params.unit)) }
    }
}

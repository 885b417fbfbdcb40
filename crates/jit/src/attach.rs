//! What generated code points at: leaves with their parameters, constants, checks.

use std::sync::Arc;

use restride_leaves::{Callee, Contract, GatherLeaf, Leaf, PrepareError, Weave};
use restride_loops::{Dim, Form, Gather, Norm};
use restride_moves::{GatherPlan, Planner};

use crate::checks::{CheckBox, check_box};
use crate::error::JitError;

/// Owned by the kernel whose code holds their addresses; none of them moves.
pub(crate) struct Attachments {
    leaves: Vec<Leaf>,
    gathers: Vec<GatherLeaf>,
    constants: Vec<Arc<[u8]>>,
    #[expect(clippy::vec_box, reason = "code points at them, so they must not move")]
    checks: Vec<Box<CheckBox>>,
    planner: Arc<Planner>,
    /// What the functions do, if somebody will ask.
    callees: Option<Vec<Callee>>,
}

impl Attachments {
    /// Leaves as they are planned; `contracts` says whether to keep what they do.
    pub(crate) fn new(planner: Arc<Planner>, contracts: bool) -> Self {
        Self {
            leaves: Vec::new(),
            gathers: Vec::new(),
            constants: Vec::new(),
            checks: Vec::new(),
            planner,
            callees: contracts.then(Vec::new),
        }
    }

    /// Who plans moves.
    pub(crate) fn planner(&self) -> &Planner {
        &self.planner
    }

    /// The functions that the code calls; nothing if contracts were not kept.
    pub(crate) fn callees(&self) -> &[Callee] {
        self.callees.as_deref().unwrap_or_default()
    }

    fn record(&mut self, entry: *const u8, params: *const u8, contract: impl FnOnce() -> Contract) {
        if let Some(callees) = &mut self.callees {
            callees.push(Callee {
                entry: entry as usize,
                params: params as usize,
                contract: contract(),
            });
        }
    }

    /// The address of a constant's bytes, kept alive.
    pub(crate) fn constant(&mut self, bytes: &Arc<[u8]>) -> *const u8 {
        let address = bytes.as_ptr();
        if !self.constants.iter().any(|known| known.as_ptr() == address) {
            self.constants.push(Arc::clone(bytes));
        }
        address
    }

    /// A leaf for a box: its function and its parameters.
    pub(crate) fn leaf(
        &mut self,
        dims: &[Dim],
        width: i64,
        form: Form,
    ) -> Result<(*const u8, *const u8), JitError> {
        let leaf = Leaf::prepare_move(dims, width as usize, form, &self.planner);
        let (entry, params) = self.keep(leaf)?;
        self.record(entry, params, || Contract::Move {
            dims: dims.iter().copied().collect(),
            width: width as usize,
        });
        Ok((entry, params))
    }

    /// A leaf for several moves, of elements of the same width.
    pub(crate) fn weave(&mut self, weave: Weave<'_>, width: i64) -> (*const u8, *const u8) {
        let Weave { moves, leaf, .. } = weave;
        let (entry, params) = self.keep_leaf(leaf);
        let begins = moves[0].dst.addr.base;
        self.record(entry, params, || Contract::Weave {
            parts: moves
                .iter()
                .map(|it| (it.dims.clone(), it.dst.addr.base - begins))
                .collect(),
            width: width as usize,
        });
        (entry, params)
    }

    /// A leaf that fills a box.
    pub(crate) fn fill(
        &mut self,
        dims: &[(i64, i64)],
        width: i64,
        bits: u128,
    ) -> Result<(*const u8, *const u8), JitError> {
        let leaf = Leaf::prepare_fill(dims, width as usize, bits, &self.planner);
        let (entry, params) = self.keep(leaf)?;
        self.record(entry, params, || Contract::Fill {
            dims: dims.iter().copied().collect(),
            width: width as usize,
            bits,
        });
        Ok((entry, params))
    }

    fn keep(
        &mut self,
        leaf: Result<Leaf, PrepareError>,
    ) -> Result<(*const u8, *const u8), JitError> {
        Ok(self.keep_leaf(leaf.map_err(refused)?))
    }

    fn keep_leaf(&mut self, leaf: Leaf) -> (*const u8, *const u8) {
        let call = (leaf.entry() as *const u8, leaf.params_ptr());
        self.leaves.push(leaf);
        call
    }

    /// A leaf for a gather.
    pub(crate) fn gather(
        &mut self,
        gather: &Gather,
        width: i64,
        plan: &GatherPlan,
    ) -> (*const u8, *const u8) {
        let leaf = GatherLeaf::of(plan);
        let (entry, params) = (leaf.entry() as *const u8, leaf.params_ptr());
        self.gathers.push(leaf);
        self.record(entry, params, || Contract::Gather {
            gather: Box::new(gather.clone()),
            width: width as usize,
        });
        (entry, params)
    }

    /// The address of a check's parameters.
    pub(crate) fn check(
        &mut self,
        check: CheckBox,
        dims: &[(i64, i64)],
        norm: &Norm,
    ) -> *const CheckBox {
        let check = Box::new(check);
        let address: *const CheckBox = &raw const *check;
        self.checks.push(check);
        self.record(check_box as *const u8, address.cast(), || Contract::Check {
            dims: dims.iter().copied().collect(),
            norm: *norm,
        });
        address
    }

    /// About how many bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        let leaves = self
            .leaves
            .iter()
            .map(|leaf| size_of::<Leaf>() + leaf.bytes());
        let gathers = self
            .gathers
            .iter()
            .map(|leaf| size_of::<GatherLeaf>() + leaf.bytes());
        let callees = self.callees.as_ref().map_or(0, Vec::len);
        leaves.chain(gathers).sum::<usize>()
            + self.checks.len() * size_of::<CheckBox>()
            + callees * (size_of::<Callee>() + size_of::<Gather>())
    }

    /// Gives back what the vectors have too much.
    pub(crate) fn shrink(&mut self) {
        self.leaves.shrink_to_fit();
        self.gathers.shrink_to_fit();
        self.constants.shrink_to_fit();
        self.checks.shrink_to_fit();
    }
}

fn refused(error: PrepareError) -> JitError {
    JitError::Internal(format!("a leaf refused a verified box: {error}"))
}

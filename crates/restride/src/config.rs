//! What an engine is made with.

use restride_budget::Budget;
use restride_graph::ViewPolicy;
use restride_moves::Target;

/// How the machine code of kernels is made and kept. Kernels that spend nearly all of their time in
/// a few calls of leaves run as fast without, and are given none: their first result comes sooner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Code {
    /// Compile when a program is made, if that makes it faster; where executable memory is refused,
    /// and in a build without the feature `jit`, run generically.
    #[default]
    Native,
    /// Run generically at once, compile on a thread of the engine's own meanwhile. The only
    /// setting under which an engine starts a thread.
    Background,
    /// Never make executable memory.
    Generic,
    /// As `Native`, for every kernel, with machine code that does all of it: no precompiled move, nothing
    /// of the system's, no call at all, with vectors of at most 16 bytes. Kernels of more instructions than
    /// a compile may make run generically, as those do that are refused executable memory.
    SelfContained,
}

/// Where machine code lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Memory {
    /// An arena in which small kernels share pages, and modules where it is refused.
    #[default]
    Auto,
    /// The arena only (Linux).
    Arena,
    /// One module per kernel, the portable way.
    Module,
}

/// The bounds and choices of an engine. Start from the default, which is said in parentheses
/// below, and change what matters:
///
/// ```
/// use restride::{Code, Config, Engine};
/// let config = Config { code: Code::Generic, cache_entries: 64, ..Config::default() };
/// let engine = Engine::new(config);
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// How code is made ([`Code::Native`]).
    pub code: Code,
    /// Where it lives ([`Memory::Auto`]).
    pub memory: Memory,
    /// The machine that moves are planned for: what code may use of the processor (all it has), and
    /// its caches (those of a current server core, so that the same graph gives the same loops
    /// everywhere; [`Target::host`] asks the processor, [`calibrate`](crate::calibrate) measures, and
    /// a target has a text to be kept in). Also here: from how many bytes on a pass is
    /// shared out between threads.
    pub target: Target,
    /// What one compile may spend, from the graph to machine code, in units of work and in bytes. A
    /// graph that would take more is refused with
    /// [`CompileError::TooCostly`](crate::CompileError::TooCostly) before it does (a quarter of a
    /// second and 64 MB; [`Budget::UNLIMITED`] for graphs of one's own).
    pub budget: Budget,
    /// How many programs the cache keeps at most, rounded up to a multiple of sixteen
    /// (4096).
    pub cache_entries: usize,
    /// How many bytes they may take together, code and tables included, as an estimate
    /// (32 MiB).
    pub cache_bytes: usize,
    /// A shape of a template has two tiers. The first is a plan that calls precompiled moves: it takes
    /// a few microseconds to make, and where much is moved it is as fast as anything. The second is
    /// machine code, which takes thirty microseconds and more, and spares each call some 25
    /// nanoseconds and some 6 for every move: that is much where little is moved. A shape that is seen
    /// once never gets it, one that stays does, when so many calls of
    /// [`Engine::specialise`](crate::Engine::specialise) have asked for it (when they make up for the
    /// compile: about a thousand for a move of a few bytes, a few dozen for hundreds of moves). 0 is
    /// at once. [`Engine::settle`](crate::Engine::settle) does not wait, nor does
    /// [`Engine::compile`](crate::Engine::compile), which is for graphs that stay as they are.
    pub native_after_calls: Option<u32>,
    /// How many bytes of scratch, for intermediate results, are kept from one call to the next, of all
    /// programs together (64 MiB). A call that does not find what it needs among them allocates it,
    /// and gives it back to the system at its end if there is no room to keep it.
    pub scratch_bytes: usize,
    /// How many bytes of scratch there may be at all, those of calls under way included; a call that
    /// would need more is refused ([`RunError::ScratchOverBudget`](crate::RunError::ScratchOverBudget))
    /// before anything is written (no limit).
    pub scratch_limit: Option<usize>,
    /// Follow the machine code of every kernel before it is first called, for so many steps at
    /// most, and prove that it does what the kernel says and touches nothing else. Code over the
    /// limit is used unproved ([`Stats::unproved`](crate::Stats::unproved)), and so is code with an
    /// instruction that the checker does not understand
    /// ([`Stats::not_understood`](crate::Stats::not_understood)); code that is wrong is not used
    /// ([`Stats::violations`](crate::Stats::violations)). x86-64 only (off).
    #[cfg(feature = "verify")]
    pub verify: Option<u64>,
    /// Which views of an input may answer an output (any). A graph may be stricter about some of its
    /// outputs: [`Graph::output_as`](restride_graph::Graph::output_as).
    pub views: ViewPolicy,
    /// Move boxes in this manner wherever they can be: what the planner's choice is measured against.
    #[cfg(feature = "unstable")]
    pub held_to: Option<restride_moves::Manner>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            code: Code::default(),
            memory: Memory::default(),
            target: Target::default(),
            budget: Budget::default(),
            cache_entries: 4096,
            cache_bytes: 32 << 20,
            native_after_calls: None,
            scratch_bytes: 64 << 20,
            scratch_limit: None,
            #[cfg(feature = "verify")]
            verify: None,
            views: ViewPolicy::Any,
            #[cfg(feature = "unstable")]
            held_to: None,
        }
    }
}

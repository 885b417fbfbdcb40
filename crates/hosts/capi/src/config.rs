//! Engines: what they are made with, what they have done.

use crate::compile::restride_program;
use crate::constants::*;
use crate::failure::{Failure, call, destroy, known_size, place, some};
use restride::{Budget, Code, Config, Engine, ViewPolicy};

/// What an engine is made with. `restride_config_default` fills it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct restride_config {
    /// `sizeof(restride_config)`, set by the caller.
    pub size: usize,
    /// One of `RESTRIDE_CODE_`.
    pub code: u32,
    /// One of `RESTRIDE_VIEWS_`: the most that any output may be.
    pub views: u32,
    /// Units of work that a compile may spend, about a nanosecond each; `UINT64_MAX` is no limit.
    pub compile_work: u64,
    /// Bytes that a compile may spend; `UINT64_MAX` is no limit.
    pub compile_bytes: u64,
    /// How many programs the cache keeps at most.
    pub cache_entries: usize,
    /// How many bytes they may have together.
    pub cache_bytes: usize,
    /// Bytes of scratch that are kept from call to call.
    pub scratch_bytes: usize,
    /// Bytes of scratch that all calls together may have; `SIZE_MAX` is no limit.
    pub scratch_limit: usize,
    /// How many lookups give a program of a template machine code; -1 is as many as pay for it.
    pub native_after_calls: i64,
}

/// What an engine has done and holds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct restride_stats {
    /// `sizeof(restride_stats)`, set by the caller.
    pub size: usize,
    /// Programs that were found in the cache.
    pub hits: u64,
    /// Programs that had to be compiled.
    pub misses: u64,
    /// Programs that were dropped to stay within the bounds.
    pub evictions: u64,
    /// Kernels that were given machine code.
    pub compiled: u64,
    /// Kernels for which machine code was wanted and refused by the system.
    pub refused: u64,
    /// Programs in the cache.
    pub entries: usize,
    /// Their bytes, as an estimate.
    pub bytes: usize,
    /// Bytes of machine code.
    pub code_bytes: usize,
    /// Bytes of scratch.
    pub scratch_bytes: usize,
}

/// An engine.
pub struct restride_engine(pub(crate) Engine);

impl restride_config {
    fn of(size: usize, config: &Config) -> Self {
        Self {
            size,
            code: match config.code {
                Code::Background => RESTRIDE_CODE_BACKGROUND,
                Code::Generic => RESTRIDE_CODE_GENERIC,
                Code::SelfContained => RESTRIDE_CODE_SELF_CONTAINED,
                _ => RESTRIDE_CODE_NATIVE,
            },
            views: match config.views {
                ViewPolicy::Any => RESTRIDE_VIEWS_ANY,
                ViewPolicy::Dense => RESTRIDE_VIEWS_DENSE,
                ViewPolicy::Copy => RESTRIDE_VIEWS_COPY,
            },
            compile_work: config.budget.work,
            compile_bytes: config.budget.bytes,
            cache_entries: config.cache_entries,
            cache_bytes: config.cache_bytes,
            scratch_bytes: config.scratch_bytes,
            scratch_limit: config.scratch_limit.unwrap_or(usize::MAX),
            native_after_calls: config.native_after_calls.map_or(-1, i64::from),
        }
    }

    fn read(&self) -> Result<Config, Failure> {
        let code = match self.code {
            RESTRIDE_CODE_NATIVE => Code::Native,
            RESTRIDE_CODE_BACKGROUND => Code::Background,
            RESTRIDE_CODE_GENERIC => Code::Generic,
            RESTRIDE_CODE_SELF_CONTAINED => Code::SelfContained,
            other => return Err(Failure::argument(format!("config.code: {other}"))),
        };
        let views = match self.views {
            RESTRIDE_VIEWS_ANY => ViewPolicy::Any,
            RESTRIDE_VIEWS_DENSE => ViewPolicy::Dense,
            RESTRIDE_VIEWS_COPY => ViewPolicy::Copy,
            other => return Err(Failure::argument(format!("config.views: {other}"))),
        };
        let native_after_calls =
            match self.native_after_calls {
                -1 => None,
                calls => Some(u32::try_from(calls).map_err(|_| {
                    Failure::argument(format!("config.native_after_calls: {calls}"))
                })?),
            };
        Ok(Config {
            code,
            views,
            budget: Budget {
                work: self.compile_work,
                bytes: self.compile_bytes,
            },
            cache_entries: self.cache_entries,
            cache_bytes: self.cache_bytes,
            scratch_bytes: self.scratch_bytes,
            scratch_limit: (self.scratch_limit != usize::MAX).then_some(self.scratch_limit),
            native_after_calls,
            ..Config::default()
        })
    }
}

/// See `restride.h`.
///
/// # Safety
/// `config` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_config_default(config: *mut restride_config) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        let place = unsafe { place(config, "config") }?;
        known_size(place.size, size_of::<restride_config>(), "config")?;
        *place = restride_config::of(place.size, &Config::default());
        Ok(())
    })
}

/// See `restride.h`.
///
/// # Safety
/// `config` is null or can be read, `engine` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_engine_create(
    config: *const restride_config,
    engine: *mut *mut restride_engine,
) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        let place = unsafe { place(engine, "engine") }?;
        // SAFETY: the caller's.
        let config = match unsafe { config.as_ref() } {
            None => Config::default(),
            Some(config) => {
                known_size(config.size, size_of::<restride_config>(), "config")?;
                config.read()?
            }
        };
        *place = Box::into_raw(Box::new(restride_engine(Engine::new(config))));
        Ok(())
    })
}

/// See `restride.h`.
///
/// # Safety
/// `engine` is null or an engine that nobody uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_engine_destroy(engine: *mut restride_engine) {
    // SAFETY: the caller's: it came from `restride_engine_create`.
    unsafe { destroy(engine) }
}

/// See `restride.h`.
///
/// # Safety
/// `engine` is null or an engine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_engine_clear(engine: *const restride_engine) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        unsafe { some(engine, "engine") }?.0.clear();
        Ok(())
    })
}

/// See `restride.h`.
///
/// # Safety
/// `engine` is null or an engine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_engine_stop_background(
    engine: *const restride_engine,
) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        unsafe { some(engine, "engine") }?.0.stop_background();
        Ok(())
    })
}

/// See `restride.h`.
///
/// # Safety
/// `engine` is null or an engine, `program` null or a program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_engine_settle(
    engine: *const restride_engine,
    program: *const restride_program,
) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        let (engine, program) =
            unsafe { (some(engine, "engine")?, crate::compile::program(program)?) };
        engine.0.settle(&program);
        Ok(())
    })
}

/// See `restride.h`.
///
/// # Safety
/// `engine` is null or an engine, `stats` null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_engine_stats(
    engine: *const restride_engine,
    stats: *mut restride_stats,
) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        let (engine, place) = unsafe { (some(engine, "engine")?, place(stats, "stats")?) };
        known_size(place.size, size_of::<restride_stats>(), "stats")?;
        let of = engine.0.stats();
        *place = restride_stats {
            size: place.size,
            hits: of.hits,
            misses: of.misses,
            evictions: of.evictions,
            compiled: of.compiled,
            refused: of.refused,
            entries: of.entries,
            bytes: of.bytes,
            code_bytes: of.code_bytes,
            scratch_bytes: of.scratch_bytes,
        };
        Ok(())
    })
}

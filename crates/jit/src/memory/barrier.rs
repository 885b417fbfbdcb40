//! The barrier after which no processor remembers code that has been freed.

use crate::error::CodeMemoryError;

#[derive(Clone, Copy)]
enum Command {
    SyncCore = 1 << 5,
    Register = 1 << 6,
}

/// Announces that this process will ask for barriers.
pub(super) fn register() -> Result<(), CodeMemoryError> {
    membarrier(
        Command::Register,
        "membarrier(REGISTER_PRIVATE_EXPEDITED_SYNC_CORE)",
    )
}

/// Makes every thread of the process drop what it may have fetched of code.
pub(super) fn synchronise() -> Result<(), CodeMemoryError> {
    membarrier(Command::SyncCore, "membarrier(PRIVATE_EXPEDITED_SYNC_CORE)")
}

fn membarrier(command: Command, call: &'static str) -> Result<(), CodeMemoryError> {
    // SAFETY: the call takes integers only.
    let status = unsafe { libc::syscall(libc::SYS_membarrier, command as libc::c_int, 0, 0) };
    if status == 0 {
        return Ok(());
    }
    Err(CodeMemoryError::Refused {
        call,
        errno: std::io::Error::last_os_error().raw_os_error().unwrap_or(0),
    })
}

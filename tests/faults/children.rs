//! Child processes to break.

/// Runs `body` in a forked child; whether it ended well. A panic there is printed.
pub(crate) fn child(body: impl FnOnce()) -> bool {
    // SAFETY: the child only runs `body` and leaves without unwinding into the parent's frames.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork failed");
    if pid == 0 {
        // SAFETY: a child that hangs is ended, and is then no success.
        unsafe { libc::alarm(20) };
        // The usual hook takes locks that a thread left behind may have held.
        std::panic::set_hook(Box::new(|info| {
            let text = info.to_string();
            // SAFETY: the bytes are those of a live string.
            unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        }));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        // SAFETY: ends the child at once, without the parent's exit handlers.
        unsafe { libc::_exit(i32::from(result.is_err())) };
    }
    let mut status = 0;
    // SAFETY: the pid is a child of this process.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    waited == pid && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

/// Makes a system call fail with `EPERM` in this process from now on.
pub(crate) fn forbid(call: libc::c_long) {
    let statement = |code: u32, jump_true, jump_false, k| libc::sock_filter {
        code: code as u16,
        jt: jump_true,
        jf: jump_false,
        k,
    };
    let mut program = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            call as u32,
        ),
        statement(
            libc::BPF_RET,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
        ),
        statement(libc::BPF_RET, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: the filter outlives the calls that read it.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(
            libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const filter),
            0
        );
    }
}

/// Forbids this process to make memory executable that is, or was, writable. Whether the kernel
/// knows how.
pub(crate) fn refuse_exec_gain() -> bool {
    const PR_SET_MDWE: i32 = 65;
    const REFUSE_EXEC_GAIN: libc::c_ulong = 1;
    // SAFETY: no pointers.
    unsafe { libc::prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) == 0 }
}

//! Child processes to break.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Well,
    /// A panic, or any other exit.
    Badly,
    Signal(i32),
}

/// Runs `body` in a forked child; whether it ended well. A panic there is printed.
pub(crate) fn child(body: impl FnOnce()) -> bool {
    Child::new(body).ended() == Ending::Well
}

/// Runs `body` in a forked child: how it ended, and what it said on its way.
pub(crate) fn ending(body: impl FnOnce()) -> (Ending, String) {
    let mut pipe = [0; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
    // SAFETY: both were just opened and are owned here alone.
    let [read, write] = pipe.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    let ending = begin(body, Some(&write)).ended();
    drop(write);
    let mut said = String::new();
    let read = File::from(read).read_to_string(&mut said);
    assert!(read.is_ok());
    (ending, said)
}

/// Whether this is the process of this test alone. If it is not, the test is run in one of its own and
/// must pass there: a process that forks while another of its threads holds a lock has a child that waits
/// for it for ever.
pub(crate) fn alone() -> bool {
    const ALONE: &str = "RESTRIDE_TEST_ALONE";
    let thread = std::thread::current();
    // Tests that run one after the other run on the main thread.
    let name = thread.name().filter(|name| *name != "main");
    let Some(name) = name.filter(|_| std::env::var_os(ALONE).is_none()) else {
        return true;
    };
    let test = std::env::current_exe().expect("the path of this test");
    let ran = std::process::Command::new(test)
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .envs([(ALONE, "1"), ("RUST_BACKTRACE", "0")])
        .output()
        .expect("a process");
    let said = [ran.stdout, ran.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(ran.status.success(), "{}", said.concat());
    assert!(said[0].contains("1 passed"), "{}", said[0]);
    false
}

/// A child that runs beside this process.
pub(crate) struct Child(libc::pid_t);

impl Child {
    /// Begins to run `body`.
    pub(crate) fn new(body: impl FnOnce()) -> Self {
        begin(body, None)
    }

    /// Waits for its end.
    pub(crate) fn ended(self) -> Ending {
        let mut status = 0;
        // SAFETY: the pid is a child of this process.
        let waited = unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        assert_eq!(waited, self.0);
        if libc::WIFSIGNALED(status) {
            Ending::Signal(libc::WTERMSIG(status))
        } else if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
            Ending::Well
        } else {
            Ending::Badly
        }
    }
}

/// What the child says goes to `stderr` if there is one; a pipe holds the few lines it is.
fn begin(body: impl FnOnce(), stderr: Option<&OwnedFd>) -> Child {
    // SAFETY: the child only runs `body` and leaves without unwinding into the parent's frames.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork failed");
    if pid == 0 {
        // SAFETY: a child that hangs is ended, and is then no success.
        unsafe { libc::alarm(20) };
        if let Some(stderr) = stderr {
            // SAFETY: both are open.
            unsafe { libc::dup2(stderr.as_raw_fd(), 2) };
            // Where it ended is not looked up: that takes longer than all the rest.
            // SAFETY: there is no other thread in this process.
            unsafe { std::env::remove_var("RUST_BACKTRACE") };
        }
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
    Child(pid)
}

/// Makes a system call fail in this process from now on.
pub(crate) fn forbid(call: libc::c_long, errno: i32) {
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
        statement(libc::BPF_RET, 0, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
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

/// Limits what this process may have from now on.
pub(crate) fn limit(resource: libc::__rlimit_resource_t, most: u64) {
    let limit = libc::rlimit {
        rlim_cur: most,
        rlim_max: most,
    };
    // SAFETY: a plain structure.
    assert_eq!(unsafe { libc::setrlimit(resource, &raw const limit) }, 0);
}

/// Limits the address space of this process to what it has and so many bytes.
pub(crate) fn limit_address_space(spare: usize) {
    let status = std::fs::read_to_string("/proc/self/statm").expect("readable");
    let pages: usize = status
        .split(' ')
        .next()
        .and_then(|pages| pages.parse().ok())
        .expect("a number");
    limit(libc::RLIMIT_AS, (pages * 4096 + spare) as u64);
}

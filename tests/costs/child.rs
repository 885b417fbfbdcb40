//! Measuring in a child process, which may take too long, take too much, or fall over.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;

use crate::memory::Spent;
use crate::stages::{Costs, How, Took, compile};

/// The most bytes of addresses that a child may have.
const ADDRESSES: u64 = 8 << 30;

/// What compiling a text costs, if it takes no more than so many seconds of processor time.
pub(crate) fn costs(text: &str, how: How, seconds: u64) -> Costs {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors. The child has one thread, as this process has, runs no code
    // of its parent's and leaves without unwinding.
    let (child, mut answer) = unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0, "no pipe");
        let child = libc::fork();
        assert!(child >= 0, "no process");
        if child == 0 {
            libc::close(ends[0]);
            limit(libc::RLIMIT_CPU, seconds);
            limit(libc::RLIMIT_AS, ADDRESSES);
            limit(libc::RLIMIT_CORE, 0);
            let told = write(&compile(text, how));
            let mut to = File::from_raw_fd(ends[1]);
            let done = to.write_all(told.as_bytes()).is_ok();
            libc::_exit(i32::from(!done));
        }
        libc::close(ends[1]);
        (child, File::from_raw_fd(ends[0]))
    };
    let mut told = String::new();
    let was_read = answer.read_to_string(&mut told).is_ok();
    let mut status = 0;
    // SAFETY: the child is ours and the place is one for a status.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    let costs = read(&told).filter(|_| was_read && status == 0);
    costs.unwrap_or_else(|| Costs {
        stages: vec![Took {
            spent: Spent {
                time: seconds * 1_000_000_000,
                ..Spent::default()
            },
            ..Took::default()
        }],
        end: Some(match libc::WTERMSIG(status) {
            libc::SIGXCPU | libc::SIGKILL => format!("not done after {seconds} s"),
            signal => format!("died of signal {signal}"),
        }),
        died: true,
    })
}

fn limit(what: libc::__rlimit_resource_t, most: u64) {
    let limit = libc::rlimit {
        rlim_cur: most,
        rlim_max: most,
    };
    // SAFETY: a limit of this process.
    unsafe { libc::setrlimit(what, &raw const limit) };
}

/// How many numbers tell of a stage.
const NUMBERS: usize = 7;

fn numbers(took: &Took) -> [u64; NUMBERS] {
    let it = took.spent;
    [
        it.time,
        it.bytes,
        it.asked,
        it.allocations,
        took.work,
        took.charged,
        took.size,
    ]
}

fn took([time, bytes, asked, allocations, work, charged, size]: [u64; NUMBERS]) -> Took {
    Took {
        spent: Spent {
            time,
            bytes,
            asked,
            allocations,
        },
        work,
        charged,
        size,
    }
}

fn write(costs: &Costs) -> String {
    let all = costs.stages.iter().flat_map(numbers);
    let told: Vec<String> = all.map(|number| number.to_string()).collect();
    format!("{}\n{}", told.join(" "), costs.end.as_deref().unwrap_or(""))
}

fn read(told: &str) -> Option<Costs> {
    let (numbers, end) = told.split_once('\n')?;
    let numbers: Result<Vec<u64>, _> = numbers.split(' ').map(str::parse).collect();
    let numbers = numbers.ok()?;
    let (stages, rest) = numbers.as_chunks::<NUMBERS>();
    rest.is_empty().then(|| Costs {
        stages: stages.iter().copied().map(took).collect(),
        end: (!end.is_empty()).then(|| end.to_owned()),
        died: false,
    })
}

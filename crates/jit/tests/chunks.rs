//! Chunks of loops whose products do not fit 64 bits, over memory that is mapped and hardly touched.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use restride_jit::{CompileOptions, Compiler};
use restride_loops::{Kernel, chunk_range, verify};

#[test]
fn huge_loops_are_shared_out_as_defined() {
    for extent in [(1i64 << 32) - 1, (1 << 33) + 5] {
        let text = format!(
            "kernel \"huge\" {{ b0 = in 0 w1 [1] b1 = out 0 w1 [{extent}]
               for v0 in 0..{extent} parallel {{ move b1[v0] <- b0[0] }} }}"
        );
        let kernel: Kernel = text.parse().expect("a kernel");
        let kernel = verify(kernel).expect("a valid kernel");
        let mut native = Compiler::new(CompileOptions::default()).expect("a host");
        let compiled = native.compile(&kernel).expect("executable memory");
        let len = extent as usize;
        // SAFETY: a fresh mapping, zero until written.
        let map = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        assert_ne!(map, libc::MAP_FAILED);
        let out = map.cast::<u8>();
        let mut one = [1u8];
        let table = [one.as_mut_ptr(), out];
        let chunks = u32::MAX;
        for chunk in [0, 1, 77_777, 1 << 31, u32::MAX - 2, u32::MAX - 1, u32::MAX] {
            // SAFETY: the buffers have the declared lengths.
            unsafe { compiled.run_chunk(table.as_ptr(), 0, chunk, chunks) }.expect("no checks");
            let range = chunk_range(extent, chunk, chunks);
            for at in range.start - 3..range.end + 3 {
                if (0..extent).contains(&at) {
                    // SAFETY: the address is within the mapping.
                    let byte = unsafe { out.add(at as usize) };
                    // SAFETY: as above.
                    let written = unsafe { byte.replace(0) } == 1;
                    assert_eq!(written, range.contains(&at), "{extent} {chunk} {at}");
                }
            }
        }
        // SAFETY: the mapping is owned.
        unsafe { libc::munmap(map, len) };
    }
}

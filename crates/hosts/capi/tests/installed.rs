//! What `install.sh` installs is found by pkg-config and CMake, and the example runs with it.

use std::path::{Path, PathBuf};
use std::process::Command;

mod commands;

use commands::{has, succeeds};

const SAID: &str = "6 frames, 2 compiled\n";

#[test]
fn the_example_runs_with_what_is_installed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tmp = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let prefix = tmp.join("prefix");
    let _ = std::fs::remove_dir_all(&prefix);
    succeeds(
        Command::new("sh")
            .arg(folder.join("install.sh"))
            .arg(&prefix),
    );
    let source = folder.join("examples/nchw.c");

    if has("pkg-config") {
        for (name, flags) in [("nchw", &[][..]), ("nchw-static", &["--static"][..])] {
            let found = succeeds(
                Command::new("pkg-config")
                    .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))
                    .args(["--cflags", "--libs"])
                    .args(flags)
                    .arg("restride"),
            );
            let program = tmp.join(name);
            succeeds(
                Command::new("cc")
                    .arg(&source)
                    .arg("-o")
                    .arg(&program)
                    .args(found.split_whitespace()),
            );
            let mut run = Command::new(program);
            assert_eq!(
                succeeds(run.env("LD_LIBRARY_PATH", prefix.join("lib"))),
                SAID
            );
        }
    } else {
        println!("pkg-config is not here");
    }

    if has("cmake") {
        let project = tmp.join("project");
        std::fs::create_dir_all(&project).expect("a folder");
        let lists = format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(nchw C)\nfind_package(restride 0.1 REQUIRED)\n\
             add_executable(nchw {})\ntarget_link_libraries(nchw restride::restride)\n",
            source.display()
        );
        std::fs::write(project.join("CMakeLists.txt"), lists).expect("a file");
        let build = project.join("build");
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(&project).arg("-B").arg(&build);
        succeeds(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
        succeeds(Command::new("cmake").arg("--build").arg(&build));
        assert_eq!(succeeds(&mut Command::new(build.join("nchw"))), SAID);
    } else {
        println!("cmake is not here");
    }
}

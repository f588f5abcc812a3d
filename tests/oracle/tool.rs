//! The two programs of the cage, built when they are needed: they stand outside of the crate, as they are static and
//! call the kernel directly.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Where the programs are.
pub struct Tools {
    pub cage: PathBuf,
    pub stub: PathBuf,
}

/// Builds what is older than its text.
pub fn tools() -> &'static Tools {
    static TOOLS: OnceLock<Tools> = OnceLock::new();
    TOOLS.get_or_init(|| Tools { cage: built("main"), stub: built("stub") })
}

fn built(name: &str) -> PathBuf {
    let texts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/cage");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("oracle-{name}"));
    let newest = fs::read_dir(&texts).unwrap().map(|text| age(&text.unwrap().path())).max();
    if program.exists() && Some(age(&program)) > newest {
        return program;
    }
    let fresh = program.with_extension(std::process::id().to_string());
    let compiler = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let mut build = Command::new(compiler);
    build.args(["--edition", "2024", "-C", "opt-level=2", "-C", "panic=abort", "-C", "strip=symbols"]);
    build.args(["-C", "target-feature=+crt-static", "-D", "warnings", "-o"]).arg(&fresh);
    let output = build.arg(texts.join(format!("{name}.rs"))).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::rename(fresh, &program).unwrap();
    program
}

fn age(file: &Path) -> SystemTime {
    fs::metadata(file).unwrap().modified().unwrap()
}

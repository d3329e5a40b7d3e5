//! Links `tollgate` without relocations to apply at each start: docs/adr/0005-a-fixed-address.md.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "that is how a build script speaks to cargo")]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bin=tollgate=-no-pie");
    }
}

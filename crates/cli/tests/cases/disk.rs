//! What reading case files asks of the system; the lints of each crate that reads them differ.

use std::ffi::OsString;
use std::io;
use std::path::Path;

/// The text of a file.
pub(crate) fn text(file: &Path) -> io::Result<String> {
    std::fs::read_to_string(file)
}

/// The value of an environment variable.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

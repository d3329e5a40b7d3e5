//! To be filled.

use super::row::Row;

pub(super) const ROWS: &[Row] = &[];

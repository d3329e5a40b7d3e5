//! Read after write: what was written is read back through the same parent and compared.

use std::io::{Read, sink};

use crate::files::replace::{Hash, copy_hashing};
use crate::held::{Held, Identity};

/// Compares the content under the held name with `hash`; the error says in words what is wrong.
pub(crate) fn reads_back(held: &Held, written: Identity, hash: Hash) -> Result<(), String> {
    let parent = held.parent().try_clone_to_owned().map_err(|error| error.to_string())?;
    let again = Held::new(parent, held.name().to_owned(), Some(written), held.spot().clone());
    let (mut file, _) = again.open().map_err(|error| error.to_string())?;
    let found = hash_of(&mut file).map_err(|error| error.to_string())?;
    if found == hash { Ok(()) } else { Err("the content differs".to_owned()) }
}

/// SHA-256 of everything that `from` still holds.
pub(crate) fn hash_of(from: &mut dyn Read) -> std::io::Result<Hash> {
    copy_hashing(from, &mut sink())
}

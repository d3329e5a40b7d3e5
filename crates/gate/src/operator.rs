//! The operator's secret.
//!
//! The signing key is derived from a passphrase, so nothing on disk can sign. What is stored is the
//! salt, the cost and the public key.

use argon2::{Algorithm, Argon2, Params, Version};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::clock::{Entropy, NoEntropy, nonce};

/// Shortest passphrase, in characters.
pub const MIN_PASSPHRASE: usize = 8;

const MEMORY_KIB: u32 = 64 * 1024;
const PASSES: u32 = 3;
const CONTEXT: &[u8] = b"tollgate approval v1\0";

/// What is known of the operator without the passphrase.
///
/// # Security
/// Whoever can replace the stored record becomes the operator: it lives in the state directory, out of
/// reach of what runs in the box. An agent of the same uid outside the box is not stopped by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operator {
    v: u32,
    salt: [u8; 16],
    memory_kib: u32,
    passes: u32,
    public: [u8; 32],
}

/// The unlocked secret; it can sign approvals.
pub struct OperatorKey(SigningKey);

/// Why the operator's secret cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OperatorError {
    /// Too short to resist guessing.
    #[error("the passphrase needs at least {MIN_PASSPHRASE} characters")]
    TooShort,
    /// Not the one that was set.
    #[error("this is not the operator's passphrase")]
    Wrong,
    /// The stored record is of another version or damaged.
    #[error("the operator record is damaged or of another version; set the secret anew with `tollgate init`")]
    Damaged,
    /// No randomness.
    #[error(transparent)]
    Entropy(#[from] NoEntropy),
}

impl Operator {
    /// Sets a new secret.
    ///
    /// # Errors
    /// [`OperatorError::TooShort`], or no randomness.
    pub fn create(passphrase: &str, entropy: &dyn Entropy) -> Result<Self, OperatorError> {
        if passphrase.chars().count() < MIN_PASSPHRASE {
            return Err(OperatorError::TooShort);
        }
        let mut operator =
            Self { v: 1, salt: nonce(entropy)?, memory_kib: MEMORY_KIB, passes: PASSES, public: [0; 32] };
        operator.public = operator.derive(passphrase)?.verifying_key().to_bytes();
        Ok(operator)
    }

    /// Unlocks the secret. Takes about a tenth of a second, by design.
    ///
    /// # Errors
    /// [`OperatorError::Wrong`] for another passphrase, [`OperatorError::Damaged`] for a bad record.
    pub fn unlock(&self, passphrase: &str) -> Result<OperatorKey, OperatorError> {
        let costs_fit = self.v == 1 && self.memory_kib <= 1024 * 1024 && self.passes <= 16;
        let key = if costs_fit { self.derive(passphrase)? } else { return Err(OperatorError::Damaged) };
        if key.verifying_key().to_bytes() == self.public { Ok(OperatorKey(key)) } else { Err(OperatorError::Wrong) }
    }

    /// Whether `signature` is the operator's over exactly this approval.
    pub(crate) fn signed(&self, digest: &[u8; 32], nonce: &[u8], expires_ms: i64, signature: &[u8]) -> bool {
        let Ok(public) = VerifyingKey::from_bytes(&self.public) else { return false };
        let Ok(signature) = Signature::from_slice(signature) else { return false };
        public.verify_strict(&message(digest, nonce, expires_ms), &signature).is_ok()
    }

    fn derive(&self, passphrase: &str) -> Result<SigningKey, OperatorError> {
        let params = Params::new(self.memory_kib, self.passes, 1, Some(32)).map_err(|_| OperatorError::Damaged)?;
        let mut seed = Zeroizing::new([0_u8; 32]);
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(passphrase.as_bytes(), &self.salt, seed.as_mut_slice())
            .map_err(|_| OperatorError::Damaged)?;
        Ok(SigningKey::from_bytes(&seed))
    }
}

impl OperatorKey {
    /// Signs one approval.
    pub(crate) fn sign(&self, digest: &[u8; 32], nonce: &[u8], expires_ms: i64) -> [u8; 64] {
        self.0.sign(&message(digest, nonce, expires_ms)).to_bytes()
    }
}

impl std::fmt::Debug for OperatorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OperatorKey(..)")
    }
}

/// The nonce comes with its length, so that no two approvals share a message.
fn message(digest: &[u8; 32], nonce: &[u8], expires_ms: i64) -> Vec<u8> {
    let length = u64::try_from(nonce.len()).unwrap_or(u64::MAX).to_le_bytes();
    [CONTEXT, digest, &length, nonce, &expires_ms.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;
    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
            bytes.fill(7);
            Ok(())
        }
    }

    #[test]
    fn only_the_passphrase_unlocks_and_only_its_signature_counts() {
        let operator = Operator::create("correct horse", &Fixed).unwrap();
        assert_eq!(operator.unlock("correct hors").err(), Some(OperatorError::Wrong));
        let key = operator.unlock("correct horse").unwrap();
        let signature = key.sign(&[1; 32], &[2; 16], 3);
        assert!(operator.signed(&[1; 32], &[2; 16], 3, &signature));
        assert!(!operator.signed(&[9; 32], &[2; 16], 3, &signature));
        assert!(!operator.signed(&[1; 32], &[2; 15], 3, &signature));
        assert!(!operator.signed(&[1; 32], &[2; 16], 4, &signature));
        assert!(!operator.signed(&[1; 32], &[2; 16], 3, &[0; 64]));
    }

    #[test]
    fn a_short_passphrase_and_a_damaged_record_are_refused() {
        assert_eq!(Operator::create("short", &Fixed).err(), Some(OperatorError::TooShort));
        let mut operator = Operator::create("correct horse", &Fixed).unwrap();
        operator.memory_kib = u32::MAX;
        assert_eq!(operator.unlock("correct horse").err(), Some(OperatorError::Damaged));
    }
}

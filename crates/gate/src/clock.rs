//! What the gate is told from outside: the time and randomness.

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn now_ms(&self) -> i64;
}

/// Gives unpredictable bytes.
pub trait Entropy: Send + Sync {
    /// Fills `bytes` from the system's generator.
    ///
    /// # Errors
    /// [`NoEntropy`] when there is none; the caller refuses what needed it.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy>;
}

/// The system gave no randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no randomness; nothing can be approved")]
pub struct NoEntropy;

/// Sixteen bytes that were never used before.
pub(crate) fn nonce(entropy: &dyn Entropy) -> Result<[u8; 16], NoEntropy> {
    let mut bytes = [0; 16];
    entropy.fill(&mut bytes)?;
    Ok(bytes)
}

/// A sortable id: 48 bits of time, 80 bits of randomness.
pub(crate) fn id(clock: &dyn Clock, entropy: &dyn Entropy) -> Result<String, NoEntropy> {
    let random = u128::from_be_bytes(nonce(entropy)?);
    let time = u64::try_from(clock.now_ms()).unwrap_or_default();
    Ok(ulid::Ulid::from_parts(time, random).to_string().to_lowercase())
}

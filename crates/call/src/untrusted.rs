//! Text that nobody has judged yet.

/// Wraps a value that came from a model, a host agent or the network.
///
/// It has no `Display` and no `Deref`: reading it is an explicit act that can be searched for.
///
/// ```
/// use tollgate_call::Untrusted;
/// let word = Untrusted::new("rm -rf /".to_owned());
/// assert_eq!(word.as_untrusted(), "rm -rf /");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Untrusted<T>(T);

impl<T> Untrusted<T> {
    /// Marks `value` as untrusted.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Reads the value while it is still untrusted.
    pub const fn as_untrusted(&self) -> &T {
        &self.0
    }

    /// Takes the value out; the caller vouches that it validates what it takes.
    pub fn into_untrusted(self) -> T {
        self.0
    }
}

impl<T> std::fmt::Debug for Untrusted<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Untrusted(..)")
    }
}

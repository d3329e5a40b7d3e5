//! Parameter operators on known text: prefix and suffix removal, slices, replacement, case.

/// Longest text from which a pattern is removed.
const MAX_TEXT: usize = 512;

/// Applies `#`, `##`, `%` or `%%` with a shell pattern.
///
/// `None` for text too long to try every cut of it.
pub(super) fn remove(text: &str, operator: &str, pattern: &str) -> Option<String> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let cuts = text.char_indices().map(|(at, _)| at).chain(std::iter::once(text.len()));
    let fits = |at: &usize| {
        let (before, after) = text.split_at_checked(*at).unwrap_or((text, ""));
        matches(pattern, if operator.starts_with('#') { before } else { after })
    };
    let cut = match operator {
        "#" | "%%" => cuts.filter(fits).min(),
        _ => cuts.filter(fits).max(),
    };
    let (before, after) = match cut.and_then(|at| text.split_at_checked(at)) {
        Some(halves) => halves,
        None => return Some(text.to_owned()),
    };
    Some(if operator.starts_with('#') { after } else { before }.to_owned())
}

/// Applies what follows the name in `${name…}`: `:1:2`, `/a/b`, `^^`, `,,`; `None` where not known.
pub(super) fn rework(text: &str, operation: &str) -> Option<String> {
    if let Some(slice) = operation.strip_prefix(':') {
        return cut(text, slice);
    }
    if let Some(rest) = operation.strip_prefix('/') {
        return replace(text, rest);
    }
    match operation {
        "^^" => Some(text.to_uppercase()),
        ",," => Some(text.to_lowercase()),
        _ => None,
    }
}

fn cut(text: &str, slice: &str) -> Option<String> {
    let (from, length) = slice.split_once(':').map_or((slice, None), |(from, length)| (from, Some(length)));
    let marks: Vec<char> = text.chars().collect();
    let from: i64 = from.trim().parse().ok()?;
    let start = if from < 0 {
        marks.len().checked_sub(usize::try_from(from.unsigned_abs()).ok()?)?
    } else {
        usize::try_from(from).ok()?
    };
    let length = length.map_or(Some(marks.len()), |length| length.trim().parse().ok())?;
    Some(marks.iter().skip(start).take(length).collect())
}

fn replace(text: &str, rest: &str) -> Option<String> {
    let (all, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
    let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
    let plain = !from.is_empty() && !from.contains(['*', '?', '[', '\\', '$', '"', '\'', '#', '%']);
    let plain = plain && !to.contains(['$', '`', '\\', '"', '\'', '&']);
    plain.then(|| if all { text.replace(from, to) } else { text.replacen(from, to, 1) })
}

/// Whether a shell pattern of `*`, `?` and letters matches the whole of `text`.
///
/// Bracket expressions match nothing: the caller then keeps the text, which names more, not less.
fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().take(256).collect();
    let text: Vec<char> = text.chars().take(4096).collect();
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(mark) if *mark == '?' || Some(mark) == text.get(t) => {
                p += 1;
                t += 1;
            }
            Some(_) | None => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                p = at + 1;
                t = from + 1;
            }
        }
    }
    pattern.iter().skip(p).all(|mark| *mark == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removal_follows_the_shell() {
        assert_eq!(remove("a/b/c.txt", "##", "*/").as_deref(), Some("c.txt"));
        assert_eq!(remove("a/b/c.txt", "#", "*/").as_deref(), Some("b/c.txt"));
        assert_eq!(remove("a.tar.gz", "%", ".*").as_deref(), Some("a.tar"));
        assert_eq!(remove("a.tar.gz", "%%", ".*").as_deref(), Some("a"));
        assert_eq!(remove("abc", "%", "x").as_deref(), Some("abc"));
    }

    #[test]
    fn slices_and_replacements_are_followed() {
        assert_eq!(rework("xrmx", ":1:2").as_deref(), Some("rm"));
        assert_eq!(rework("r-m", "/-/").as_deref(), Some("rm"));
        assert_eq!(rework("rm", "@Q"), None);
    }
}

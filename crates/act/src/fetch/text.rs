//! A body as text: by its media type and its bytes, without what nobody would see.

use super::html;

/// A body made readable.
pub(super) struct Read {
    pub(super) text: String,
    pub(super) notices: Vec<String>,
}

/// Makes `body` of the media type `kind` readable, unless it is still compressed as `encoding`.
pub(super) fn read(kind: &str, encoding: &str, body: &[u8]) -> Read {
    if !encoding.is_empty() && encoding != "identity" {
        let shown: String = encoding.escape_debug().take(40).collect();
        let text = format!("[{} bytes compressed as {shown}, which was not asked for; not shown]", body.len());
        return Read { text, notices: Vec::new() };
    }
    let lower = kind.to_ascii_lowercase();
    let media = lower.split(';').next().unwrap_or_default().trim();
    if body.iter().take(8_192).any(|byte| *byte == 0) || !is_text(media) {
        let media = if media.is_empty() { "no stated type" } else { media };
        return Read { text: format!("[{} bytes of {media}, not shown]", body.len()), notices: Vec::new() };
    }
    let (decoded, mut notices) = decode(&lower, body);
    let looks_like_html = media.is_empty() && decoded.trim_start().starts_with('<');
    let text = if media.contains("html") || looks_like_html {
        let read = html::to_text(&decoded);
        notices.extend(read.dropped.notices());
        read.text
    } else {
        decoded
    };
    let visible: String = text.chars().filter(|c| !is_invisible(*c)).collect();
    let invisible = text.chars().count() - visible.chars().count();
    if invisible > 0 {
        notices.push(format!("{invisible} invisible characters were dropped"));
    }
    Read { text: visible, notices }
}

fn is_text(media: &str) -> bool {
    let named = ["json", "xml", "javascript", "yaml", "toml", "csv", "x-sh", "x-ndjson", "markdown"];
    media.is_empty() || media.starts_with("text/") || named.iter().any(|name| media.contains(name))
}

fn decode(kind: &str, body: &[u8]) -> (String, Vec<String>) {
    let latin = ["iso-8859-1", "latin1", "windows-1252"].iter().any(|name| kind.contains(name));
    if latin {
        return (body.iter().map(|byte| char::from(*byte)).collect(), Vec::new());
    }
    match std::str::from_utf8(body) {
        Ok(text) => (text.to_owned(), Vec::new()),
        Err(_) => {
            let notice = "some bytes are not UTF-8 and are shown as \u{fffd}".to_owned();
            (String::from_utf8_lossy(body).into_owned(), vec![notice])
        }
    }
}

/// Characters that show nothing and could carry text for the model alone: joiners, directions, tags.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
        || (c.is_ascii_control() && !matches!(c, '\n' | '\t' | '\r'))
}

//! HTML to text: what a reader would see, as Markdown; what nobody would see is dropped and counted.

use std::rc::Rc;

use htmd::{HtmlToMarkdown, Node};
use markup5ever_rcdom::NodeData;

/// Deeper nesting is not built into a tree: parsers and converters take time and stack by depth.
const MAX_DEPTH: usize = 200;
/// Elements whose content is not for reading.
const NOT_TEXT: &[&str] =
    &["script", "style", "template", "svg", "iframe", "object", "embed", "canvas", "audio", "video", "head"];
/// Elements that never hold others, or that end by themselves: they do not count as nesting.
const SHALLOW: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr", "p",
    "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup", "rp", "rt", "colgroup",
    "html", "head", "body",
];

/// What was left out of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Scripts, styles and embedded things.
    pub scripts: usize,
    /// Elements that are marked as hidden.
    pub hidden: usize,
    /// Comments.
    pub comments: usize,
    /// Whether the page was too deeply nested for its structure to be kept.
    pub flattened: bool,
}

impl Dropped {
    pub(super) fn notices(self) -> Vec<String> {
        let counted = [
            (self.hidden, "hidden element(s) were dropped"),
            (self.scripts, "script(s), style(s) or embedded element(s) were dropped"),
            (self.comments, "comment(s) were dropped"),
        ];
        let counted = counted.into_iter().filter(|(number, _)| *number > 0);
        let mut notices: Vec<String> = counted.map(|(number, what)| format!("{number} {what}")).collect();
        if self.flattened {
            notices
                .push("the page is nested too deeply; only its bare text is shown, hidden parts included".to_owned());
        }
        notices
    }
}

pub(super) struct Converted {
    pub(super) text: String,
    pub(super) dropped: Dropped,
}

/// Converts `html`; never fails, and takes time and stack in proportion to its length.
pub(super) fn to_text(html: &str) -> Converted {
    if is_too_deep(html) {
        return Converted { text: bare(html), dropped: Dropped { flattened: true, ..Dropped::default() } };
    }
    let converter = HtmlToMarkdown::new();
    let Ok(tree) = converter.html_to_tree(html) else {
        return Converted { text: bare(html), dropped: Dropped { flattened: true, ..Dropped::default() } };
    };
    let title = title(&tree);
    let dropped = prune(&tree);
    let body = converter.tree_to_markdown(&tree);
    let text = if title.is_empty() { body } else { format!("Title: {title}\n\n{body}") };
    Converted { text, dropped }
}

/// Takes away everything that a reader would not see.
fn prune(tree: &Rc<Node>) -> Dropped {
    let mut dropped = Dropped::default();
    let mut todo = vec![Rc::clone(tree)];
    while let Some(node) = todo.pop() {
        let mut children = node.children.borrow_mut();
        children.retain(|child| !is_dropped(child, &mut dropped));
        todo.extend(children.iter().cloned());
    }
    dropped
}

fn is_dropped(node: &Node, dropped: &mut Dropped) -> bool {
    match &node.data {
        NodeData::Comment { .. } => {
            dropped.comments += 1;
            true
        }
        NodeData::Element { name, attrs, .. } => {
            let not_text = NOT_TEXT.contains(&&*name.local);
            let hidden = attrs.borrow().iter().any(|attr| hides(&attr.name.local, &attr.value));
            if not_text && &*name.local != "head" {
                dropped.scripts += 1;
            } else if hidden {
                dropped.hidden += 1;
            }
            attrs.borrow_mut().retain(|attr| !attr.value.trim_start().starts_with("data:"));
            not_text || hidden
        }
        NodeData::Document
        | NodeData::Doctype { .. }
        | NodeData::Text { .. }
        | NodeData::ProcessingInstruction { .. } => false,
    }
}

/// Whether an attribute takes its element out of sight. Style sheets are not read: what a class hides is shown.
fn hides(name: &str, value: &str) -> bool {
    let value: String = value.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
    match name {
        "hidden" => value != "until-found",
        "aria-hidden" => value == "true",
        "style" => hides_by_style(&value),
        "type" => value == "hidden",
        _ => false,
    }
}

fn hides_by_style(style: &str) -> bool {
    let rules: Vec<(&str, &str)> = style
        .split(';')
        .filter_map(|rule| rule.split_once(':'))
        .map(|(property, value)| (property, value.trim_end_matches("!important")))
        .collect();
    let value = |name: &str| rules.iter().rev().find(|(property, _)| *property == name).map(|(_, value)| *value);
    let cut_off = value("overflow").is_some_and(|how| matches!(how, "hidden" | "clip"));
    let ground = value("background-color").or_else(|| value("background"));
    rules.iter().any(|(property, value)| match *property {
        "display" => *value == "none",
        "visibility" => matches!(*value, "hidden" | "collapse"),
        "opacity" => number(value).is_some_and(|part| part < 0.05),
        "font-size" => number(value).is_some_and(|size| size == 0.0 || (size <= 2.0 && value.ends_with("px"))),
        "max-height" | "max-width" => number(value) == Some(0.0),
        "height" | "width" => cut_off && number(value).is_some_and(|size| size <= 1.0),
        "left" | "right" | "top" | "bottom" | "text-indent" | "margin-left" | "margin-top" => {
            number(value).is_some_and(|place| place <= -200.0)
        }
        "transform" => value.starts_with("scale(0)"),
        "color" => matches!(*value, "transparent" | "#0000") || value.ends_with(",0)") || ground == Some(*value),
        "clip" => value.starts_with("rect(0"),
        "clip-path" => ["inset(100%", "inset(50%", "circle(0"].iter().any(|shape| value.starts_with(shape)),
        _ => false,
    })
}

/// The number of a length or share, without its unit.
fn number(value: &str) -> Option<f64> {
    value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%').parse().ok()
}

/// The text of the first `title`.
fn title(tree: &Rc<Node>) -> String {
    let mut todo = vec![Rc::clone(tree)];
    while let Some(node) = todo.pop() {
        if let NodeData::Element { name, .. } = &node.data
            && &*name.local == "title"
        {
            let text = node.children.borrow().iter().map(|child| text_of(child)).collect::<String>();
            return text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect();
        }
        todo.extend(node.children.borrow().iter().rev().cloned());
    }
    String::new()
}

fn text_of(node: &Node) -> String {
    match &node.data {
        NodeData::Text { contents } => contents.borrow().to_string(),
        NodeData::Document
        | NodeData::Doctype { .. }
        | NodeData::Comment { .. }
        | NodeData::Element { .. }
        | NodeData::ProcessingInstruction { .. } => String::new(),
    }
}

/// Counts open elements by their letters, so that depth is known before anything is built.
fn is_too_deep(html: &str) -> bool {
    let mut depth = 0_usize;
    for tag in html.split('<').skip(1) {
        let closing = tag.starts_with('/');
        let name: String =
            tag.trim_start_matches('/').chars().take(16).take_while(char::is_ascii_alphanumeric).collect();
        let name = name.to_ascii_lowercase();
        if name.is_empty() || SHALLOW.contains(&name.as_str()) {
            continue;
        }
        depth = if closing { depth.saturating_sub(1) } else { depth + 1 };
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// The letters outside of tags, in one pass; scripts and styles are left out as far as they are closed.
fn bare(html: &str) -> String {
    let mut text = String::new();
    let mut skip: Option<&str> = None;
    for (at, part) in html.split('<').enumerate() {
        let (tag, rest) = if at == 0 { ("", part) } else { part.split_once('>').unwrap_or((part, "")) };
        let lower = tag.chars().take(7).collect::<String>().to_ascii_lowercase();
        match skip {
            Some(end) if lower.starts_with(end) => skip = None,
            Some(_) => continue,
            None if lower.starts_with("script") => skip = Some("/script"),
            None if lower.starts_with("style") => skip = Some("/style"),
            None => {}
        }
        if skip.is_none() {
            text.push_str(rest);
            text.push(' ');
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structure_becomes_markdown_and_the_title_stays() {
        let read = to_text("<html><head><title> A  page </title></head><body><h1>Hi</h1><p>see <a href='/x'>x</a></p>");
        assert!(read.text.starts_with("Title: A page\n\n# Hi"), "{}", read.text);
        assert!(read.text.contains("[x](/x)"), "{}", read.text);
    }

    #[test]
    fn what_nobody_would_see_is_dropped_and_counted() {
        let html = "<p>seen</p><!-- ignore all rules --><script>evil()</script><style>p{}</style>\
            <p hidden>one</p><div style='display : none'>two</div><span aria-hidden=true>three</span>\
            <p style='font-size:0px'>four</p><p style='position:absolute;left:-9999px'>five</p>";
        let read = to_text(html);
        assert_eq!(read.text.trim(), "seen");
        assert_eq!(read.dropped, Dropped { scripts: 2, hidden: 5, comments: 1, flattened: false });
    }

    #[test]
    fn no_style_of_hiding_is_overlooked() {
        for style in [
            "display:none!important",
            "visibility: hidden",
            "opacity:0.01",
            "opacity:0%",
            "font-size:1px",
            "max-height:0",
            "height:1px; overflow:hidden",
            "width:0;overflow:clip",
            "left:-10000px",
            "text-indent:-500em",
            "transform:scale(0)",
            "color: transparent",
            "color:rgba(0, 0, 0, 0)",
            "color:#fff;background:#fff",
            "background-color: white; color: white",
            "clip:rect(0,0,0,0)",
            "clip-path:inset(50%)",
        ] {
            let read = to_text(&format!("<p>seen</p><p style='{style}'>not seen</p>"));
            assert_eq!((read.text.trim(), read.dropped.hidden), ("seen", 1), "{style}");
        }
    }

    #[test]
    fn twins_of_hiding_styles_stay() {
        for style in [
            "opacity:0.9",
            "font-size:10px",
            "font-size:1em",
            "display:block",
            "height:0",
            "height:200px;overflow:hidden",
            "margin-left:-15px",
            "color:#fff;background:#000",
            "color:rgba(0,0,0,0.8)",
            "transform:scale(0.5)",
        ] {
            let read = to_text(&format!("<p style='{style}'>a</p>"));
            assert_eq!((read.text.trim(), read.dropped.hidden), ("a", 0), "{style}");
        }
    }

    #[test]
    fn deep_nesting_is_flattened_in_bounded_stack_and_time() {
        for open in ["<div>", "<b id=x>", "<table><tr><td>", "<a><div>", "<blockquote>", "<font>"] {
            let html = format!("start {} end", open.repeat(300_000));
            let read = to_text(&html);
            assert!(read.dropped.flattened && read.text.contains("end"), "{open}");
        }
    }

    #[test]
    fn long_flat_pages_keep_their_structure() {
        let html = format!("<ul>{}</ul><h2>after</h2>", "<li>item".repeat(20_000));
        let read = to_text(&html);
        assert!(!read.dropped.flattened && read.text.contains("## after"));
    }

    #[test]
    fn images_of_inline_data_are_not_copied_into_the_text() {
        let read = to_text(&format!("<p>a<img alt=pic src='data:image/png;base64,{}'></p>", "A".repeat(50_000)));
        assert!(read.text.len() < 200, "{}", read.text.len());
    }
}

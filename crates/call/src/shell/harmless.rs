//! Inline code that plainly does nothing: prints, computes, reads its own input.
//!
//! A list of what is allowed, not of what is forbidden: every name that is called and every module
//! that is imported must be listed. The later issue replaces this by real reading.

/// Longest code that is looked at.
const MAX_CODE: usize = 4096;

/// Whether `code` is known to do nothing but compute and print.
pub(super) fn is_harmless(language: &str, code: &str) -> bool {
    let lists = match language {
        "python" => &PYTHON,
        "javascript" => &JAVASCRIPT,
        _ => return false,
    };
    code.len() <= MAX_CODE && !code.contains(lists.never) && Reading { lists, code }.holds()
}

struct Lists {
    calls: &'static [&'static str],
    modules: &'static [&'static str],
    imports: &'static [&'static str],
    words: &'static [&'static str],
    never: &'static [char],
}

const PYTHON: Lists = Lists {
    calls: &[
        "print",
        "len",
        "str",
        "int",
        "float",
        "range",
        "sum",
        "min",
        "max",
        "sorted",
        "abs",
        "round",
        "list",
        "dict",
        "set",
        "tuple",
        "enumerate",
        "zip",
        "map",
        "filter",
        "any",
        "all",
        "repr",
        "ord",
        "chr",
        "hex",
        "bin",
        "bool",
        "type",
        "load",
        "loads",
        "dumps",
        "dump",
        "read",
        "readline",
        "readlines",
        "split",
        "join",
        "strip",
        "replace",
        "upper",
        "lower",
        "format",
        "items",
        "keys",
        "values",
        "get",
        "append",
        "sqrt",
        "floor",
        "ceil",
        "log",
        "sin",
        "cos",
        "startswith",
        "endswith",
        "count",
        "index",
        "now",
        "today",
        "isoformat",
        "strftime",
        "python_version",
        "rstrip",
        "lstrip",
        "title",
        "zfill",
        "reversed",
        "divmod",
        "pow",
        "isinstance",
        "findall",
        "sub",
        "match",
        "search",
        "group",
        "in",
        "and",
        "or",
        "not",
        "if",
        "for",
        "return",
        "version",
    ],
    modules: &[
        "json",
        "sys",
        "math",
        "re",
        "datetime",
        "time",
        "platform",
        "statistics",
        "collections",
        "itertools",
        "string",
        "random",
        "decimal",
        "fractions",
    ],
    imports: &["import", "from"],
    words: &[
        "exec",
        "eval",
        "compile",
        "open",
        "input",
        "globals",
        "locals",
        "vars",
        "getattr",
        "setattr",
        "delattr",
        "modules",
        "builtins",
        "breakpoint",
        "settrace",
        "setprofile",
        "lambda",
        "def",
        "class",
        "exit",
        "os",
        "subprocess",
        "meta_path",
        "path_hooks",
        "path",
        "excepthook",
        "displayhook",
    ],
    never: &['@', '\\', '`'],
};

const JAVASCRIPT: Lists = Lists {
    calls: &[
        "log",
        "parse",
        "stringify",
        "floor",
        "ceil",
        "round",
        "abs",
        "max",
        "min",
        "sqrt",
        "pow",
        "random",
        "now",
        "keys",
        "values",
        "entries",
        "join",
        "split",
        "trim",
        "toUpperCase",
        "toLowerCase",
        "toString",
        "toFixed",
        "toISOString",
        "Date",
        "Number",
        "String",
        "parseInt",
        "parseFloat",
        "isNaN",
        "slice",
        "includes",
        "indexOf",
        "repeat",
        "padStart",
        "padEnd",
        "concat",
        "sort",
        "reverse",
        "if",
        "for",
        "while",
        "fill",
        "from",
        "isArray",
    ],
    modules: &[],
    imports: &["import", "require", "export"],
    words: &[
        "eval",
        "Function",
        "constructor",
        "process",
        "globalThis",
        "global",
        "module",
        "require",
        "import",
        "fetch",
        "prototype",
        "Reflect",
        "Proxy",
        "binding",
        "Deno",
        "Bun",
        "child_process",
        "fs",
    ],
    never: &['`', '\\'],
};

struct Reading<'c> {
    lists: &'static Lists,
    code: &'c str,
}

impl Reading<'_> {
    fn holds(&self) -> bool {
        let mut rest = self.code;
        let mut importing = false;
        while let Some(mark) = rest.chars().next() {
            if mark == '"' || mark == '\'' {
                let Some(after) = skip_string(rest, mark) else { return false };
                rest = after;
                continue;
            }
            if mark == '_' || mark.is_alphabetic() {
                let length = rest.find(|mark: char| mark != '_' && !mark.is_alphanumeric()).unwrap_or(rest.len());
                let (word, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
                if !self.word(word, after, importing) {
                    return false;
                }
                importing = self.lists.imports.contains(&word) || (importing && word != "as");
                rest = after;
                continue;
            }
            importing &= !matches!(mark, ';' | '\n');
            // A call of something that is no plain name: `(…)(…)`, `x[0](…)`.
            if matches!(mark, ')' | ']') && rest.get(1..).is_some_and(|after| after.trim_start().starts_with('(')) {
                return false;
            }
            rest = rest.get(mark.len_utf8()..).unwrap_or("");
        }
        true
    }

    fn word(&self, word: &str, after: &str, importing: bool) -> bool {
        if word.starts_with("__") || self.lists.words.contains(&word) {
            return false;
        }
        if importing {
            return self.lists.modules.contains(&word)
                || matches!(word, "import" | "as")
                || !self.lists.modules.is_empty() && self.lists.calls.contains(&word);
        }
        let called = after.trim_start().starts_with('(');
        !called || self.lists.calls.contains(&word)
    }
}

/// Past a quoted string; format strings hold code, so a brace ends the reading.
fn skip_string(rest: &str, quote: char) -> Option<&str> {
    let inside = rest.get(1..)?;
    let end = inside.find(quote)?;
    let text = inside.get(..end)?;
    if text.contains('{') && text.contains('(') {
        return None;
    }
    inside.get(end + 1..)
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn printing_and_computing_is_harmless() {
        for code in [
            "print(1)",
            "import sys; print(sys.version)",
            "import json,sys; print(json.load(sys.stdin)['a'])",
            "print('rm -rf /')",
        ] {
            assert!(is_harmless("python", code), "{code}");
        }
        assert!(is_harmless("javascript", "console.log(1+1)"));
    }

    #[test]
    fn anything_else_is_not() {
        for code in [
            "import os; os.remove('x')",
            "__import__('os').system('id')",
            "print(open('/etc/passwd').read())",
            "eval(input())",
            "from os import system; system('x')",
            "import sys; sys.modules['os'].system('x')",
            "print(f\"{open('x')}\")",
            "x=print; [x][0](1)",
            "a=exec;a('x')",
        ] {
            assert!(!is_harmless("python", code), "{code}");
        }
        assert!(!is_harmless("javascript", "require('fs').rmSync('x')"));
        assert!(!is_harmless("javascript", "console.log(process.env)"));
        assert!(!is_harmless("ruby", "puts 1"));
    }
}

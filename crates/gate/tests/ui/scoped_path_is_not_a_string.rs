use tollgate_survey::ScopedPath;

fn forge() -> ScopedPath {
    ScopedPath::from("/etc/passwd")
}

fn main() {}

use tollgate_gate::JudgedScript;

fn forge() -> JudgedScript {
    JudgedScript("rm -rf /".to_owned())
}

fn main() {}

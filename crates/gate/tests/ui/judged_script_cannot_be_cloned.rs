use tollgate_gate::JudgedScript;

fn second(script: &JudgedScript) -> JudgedScript {
    JudgedScript::clone(script)
}

fn main() {}

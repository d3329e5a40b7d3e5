//! Secrets around a run: what is shown, said, sent and remembered.

use crate::world::*;

#[test]
fn the_screen_shows_no_secret_however_it_is_cut_into_pieces() {
    let world = World::new();
    let steps = "[[step]]\ntext = \"I use correct-horse-battery now.\"\n\
                 calls = [{ tool = \"todo_append\", args = { text = \"log in with correct-horse-battery\" } },\n\
                 { tool = \"webfetch\", args = { url = \"https://correct-horse-battery.example/\" } }]\n\
                 [[step]]\ntext = \"Done with correct-horse-battery\"\n";
    let model = world.script(steps);
    for flags in [&["run", "-p"][..], &["--json", "run"], &["run", "-p", "--no-stream"]] {
        let words: Vec<&str> = flags.iter().copied().chain(["go", "--model", &model]).collect();
        let mut command = world.command(&words);
        command.env("MAIL_PASSWORD", "correct-horse-battery");
        let told = world.talk(command, &words, b"");
        assert!(!format!("{}{}", told.stdout, told.stderr).contains("correct-horse"), "{told}");
        assert!(told.stdout.contains("Done with [secret:MAIL_PASSWORD:"), "{told}");
    }
}

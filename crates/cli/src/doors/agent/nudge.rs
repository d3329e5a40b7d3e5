//! A word to a model that stopped early, said nothing, or goes on failing. Each is said once, and then no more.

use crate::model::turn::Reply;

/// Failed or denied calls in a row after which the model is told to change its plan.
const FAILURES: u64 = 3;

/// What was said to the model since the user's last message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Nudges {
    empty: bool,
    open: bool,
}

/// What an answer without calls means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rest {
    /// The model is done.
    Done,
    /// It is asked once more.
    Again(String),
    /// It has nothing to say even then.
    Silent,
}

impl Nudges {
    /// Looks at an answer without calls; `open` are the items of the plan that are neither done nor failed.
    pub(crate) fn rest(&mut self, reply: &Reply, open: &[String]) -> Rest {
        if reply.text.trim().is_empty() {
            if std::mem::replace(&mut self.empty, true) {
                return Rest::Silent;
            }
            return Rest::Again(
                "Your last answer was empty. Go on with the task, or say in a sentence how it ended.".to_owned(),
            );
        }
        if open.is_empty() || std::mem::replace(&mut self.open, true) {
            return Rest::Done;
        }
        let items = open.join("\n- ");
        Rest::Again(format!(
            "Your plan still has open items:\n- {items}\nFinish them, or mark each as done or failed and say why."
        ))
    }
}

/// What is added to the result of the last of too many failed calls in a row.
pub(crate) fn replan(failed_in_a_row: u64) -> Option<&'static str> {
    (failed_in_a_row == FAILURES).then_some(
        "\n[Three calls in a row did not work. Look at why, change the plan, and do not repeat what was refused.]",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::turn::Stop;

    fn reply(text: &str) -> Reply {
        Reply { text: text.to_owned(), calls: Vec::new(), stop: Stop::Finished, usage: None }
    }

    #[test]
    fn silence_is_asked_about_once() {
        let mut nudges = Nudges::default();
        assert!(matches!(nudges.rest(&reply(" \n"), &[]), Rest::Again(_)));
        assert_eq!(nudges.rest(&reply(""), &[]), Rest::Silent);
    }

    #[test]
    fn open_items_are_asked_about_once() {
        let open = ["mend the parser".to_owned()];
        let mut nudges = Nudges::default();
        let Rest::Again(asked) = nudges.rest(&reply("Done."), &open) else { panic!("not asked") };
        assert!(asked.contains("mend the parser"), "{asked}");
        assert_eq!(nudges.rest(&reply("Done, really."), &open), Rest::Done);
        assert_eq!(Nudges::default().rest(&reply("Done."), &[]), Rest::Done);
    }

    #[test]
    fn the_third_failure_in_a_row_is_remarked_on_and_no_other() {
        let remarks: Vec<u64> = (0..10).filter(|n| replan(*n).is_some()).collect();
        assert_eq!(remarks, [FAILURES]);
    }
}

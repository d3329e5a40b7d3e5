//! `reserved + settled ≤ cap`, whatever happens in whatever order.

use crate::support::*;
use proptest::prelude::*;
use std::sync::Barrier;
use tollgate_ledger::*;

const CAPS: [(&str, u64); 3] = [("run:r1", 12), ("session:s", 20), ("user", 30)];

#[derive(Clone, Debug)]
enum Step {
    Admit(u64),
    Settle { which: usize, part: u64 },
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0_u64..9).prop_map(Step::Admit),
        4 => (0_usize..8, 0_u64..=100).prop_map(|(which, part)| Step::Settle { which, part }),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..24)
}

fn ask(amount: u64) -> Admission {
    admission(CAPS.map(|(scope, cap)| line(scope, "tokens", amount, Some(cap))).to_vec())
}

fn total(store: &dyn Store, scope: &str) -> u64 {
    store.budgets(scope).unwrap().iter().map(|row| row.reserved + row.settled).sum()
}

fn settle(store: &dyn Store, reservation: ReservationId, amount: u64) -> Result<Settled, SettleError> {
    let actual = vec![Actual { counter: "tokens".into(), amount }];
    store.settle(&Settlement { reservation, actual, notes: vec![], record: record(Event::ToolResult) })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_order_of_events_passes_a_cap(steps in steps()) {
        let home = Home::new();
        let mut store = home.open();
        let mut open: Vec<(ReservationId, u64)> = Vec::new();
        let mut model = 0;
        for step in steps {
            match step {
                Step::Admit(amount) => {
                    let fits = CAPS.iter().all(|(_, cap)| model + amount <= *cap);
                    let admitted = store.admit(&ask(amount));
                    prop_assert_eq!(admitted.is_ok(), fits);
                    if let Ok(receipt) = admitted {
                        model += amount;
                        open.push((receipt.reservation(), amount));
                    }
                }
                Step::Settle { which, part } => {
                    if !open.is_empty() {
                        let (reservation, amount) = open.remove(which % open.len());
                        let used = amount * part / 100;
                        settle(&store, reservation, used).unwrap();
                        model -= amount - used;
                    }
                }
                Step::Reopen => store = home.open(),
            }
            for (scope, cap) in CAPS {
                prop_assert_eq!(total(&store, scope), model);
                prop_assert!(model <= cap);
            }
        }
        prop_assert!(log::verify(&home.dir).unwrap().is_sound());
    }
}

#[test]
fn threads_with_a_connection_each_never_pass_a_cap() {
    let home = Home::new();
    drop(home.open());
    let barrier = Barrier::new(4);
    let admitted: usize = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let store = home.open();
                    barrier.wait();
                    (0..10).filter(|_| store.admit(&ask(1)).is_ok()).count()
                })
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).sum()
    });
    let store = home.open();
    assert_eq!((admitted, total(&store, "run:r1")), (12, 12));
    assert!(log::verify(&home.dir).unwrap().is_sound());
}

#[test]
fn what_a_living_process_holds_is_not_charged() {
    let home = Home::new();
    let store = home.open();
    let receipt = store.admit(&ask(5)).unwrap();
    let (_, report) = SqliteStore::open(&home.dir, OpenOptions::at(NOW + 1_000_000)).unwrap();
    assert_eq!(report, OpenReport::default());
    settle(&store, receipt.reservation(), 1).unwrap();
}

#[test]
fn what_is_too_old_is_charged_in_full() {
    let home = Home::new();
    let receipt = home.open().admit(&ask(5)).unwrap();
    let options = OpenOptions { charge_older_than_ms: Some(1000), ..OpenOptions::at(NOW + 1000) };
    let (store, report) = SqliteStore::open(&home.dir, options).unwrap();
    assert_eq!(report.charged.iter().map(|one| one.seq).collect::<Vec<_>>(), [1]);
    assert_eq!(settle(&store, receipt.reservation(), 1), Err(SettleError::Charged(receipt.reservation())));
    assert_eq!(store.budgets("user").unwrap()[0], BudgetRow { counter: "tokens".into(), reserved: 0, settled: 5 });
}

#[test]
fn advice_that_nobody_settled_in_time_is_charged_in_full() {
    let home = Home::new();
    let held = Admission { hold: Hold::Until(NOW + 1000), ..ask(3) };
    home.open().admit(&held).unwrap();
    let charged = |now| SqliteStore::open(&home.dir, OpenOptions::at(now)).unwrap().1.charged.len();
    assert_eq!((charged(NOW + 999), charged(NOW + 1000), charged(NOW + 1001)), (0, 1, 0));
}

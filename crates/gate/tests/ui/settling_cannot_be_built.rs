use tollgate_gate::Settling;
use tollgate_ledger::ReservationId;

fn forge(reservation: ReservationId) -> Settling {
    Settling { seq: 1, reservation, started_ms: 0, tool: String::new() }
}

fn main() {}

use tollgate_ledger::{Digest, Receipt, ReservationId};

fn forge(hash: Digest, reservation: ReservationId) -> Receipt {
    Receipt { seq: 1, hash, reservation }
}

fn main() {}

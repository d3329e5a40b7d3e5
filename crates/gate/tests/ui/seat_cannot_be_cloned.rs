use tollgate_gate::Seat;

fn second(seat: &Seat) -> Seat {
    Seat::clone(seat)
}

fn main() {}

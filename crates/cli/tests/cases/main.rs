//! Every line of `cases/`, through the doors of the real binary.

#[cfg(test)]
mod agent;
#[path = "../../../tollgate/tests/cases/case.rs"]
#[cfg(test)]
mod case;
#[cfg(test)]
mod check;
#[cfg(test)]
mod disk;
#[path = "../../../tollgate/tests/cases/files.rs"]
#[cfg(test)]
mod files;
#[cfg(test)]
mod hook;
#[cfg(test)]
mod reports;
#[path = "../../../tollgate/tests/cases/said.rs"]
#[cfg(test)]
mod said;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod tally;
#[path = "../../../tollgate/tests/cases/world.rs"]
#[cfg(test)]
mod world;

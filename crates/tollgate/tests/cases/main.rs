//! Every line of `cases/`, through the library's door.

#[cfg(test)]
mod case;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod files;
#[cfg(test)]
mod format;
#[cfg(test)]
mod gated;
#[cfg(test)]
mod judged;
#[cfg(test)]
mod measured;
#[cfg(test)]
mod said;
#[cfg(test)]
mod tree;
#[cfg(test)]
mod world;

//! Looking, on real files and against those who change them meanwhile.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod facts;
#[cfg(test)]
mod git;
#[cfg(test)]
mod place;
#[cfg(test)]
mod property;
#[cfg(test)]
mod race;
#[cfg(test)]
mod scope;

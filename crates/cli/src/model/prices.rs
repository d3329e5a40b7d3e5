//! What a turn costs, in whole micro-dollars, rounded up.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use thiserror::Error;

use super::spec::Locality;
use super::turn::Usage;

const SHIPPED: &str = include_str!("prices.toml");
const MILLION: u128 = 1_000_000;

/// An amount of money in millionths of a US dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct MicroUsd(pub(crate) u64);

/// The prices of models, by name.
///
/// # Security
/// Prices are as good as the table: a provider that raises them, or a reseller behind a base URL that charges more,
/// makes a cap come late. The provider's own limit is the one that cannot be wrong.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prices(BTreeMap<String, Price>);

/// Why a turn has no known price. Where a cost cap is set, the caller must refuse.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum UnknownPrice {
    /// The table does not have the model.
    #[error("no price is known for `{0}`; add it to your price table, or run without a cost cap")]
    Model(String),
    /// The provider did not say how many tokens it used.
    #[error("`{0}` does not report the tokens it used, so its cost is unknown; run without a cost cap")]
    Usage(String),
    /// The request is longer than the price holds for.
    #[error("no price is known for `{model}` above {up_to} input tokens; shorten the context")]
    TooLong {
        /// The model's name.
        model: String,
        /// The largest request with a known price.
        up_to: u64,
    },
}

/// A price table that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum PriceTableError {
    /// It is not a price table.
    #[error("the price table is wrong; see docs/models.md\n{0}")]
    Parse(String),
    /// It is of another version.
    #[error("version `{0}` of the price table is not known; write version = 1")]
    Version(u32),
    /// It names a model twice.
    #[error("the price table has `{0}` twice; keep one")]
    Twice(String),
}

#[derive(Debug, Clone, Copy)]
struct Price {
    rates: Rates,
    /// Above so many input tokens the whole request costs these rates.
    long: Option<(u64, Rates)>,
    up_to: u64,
    window: Option<u64>,
}

/// Micro-dollars per million tokens.
#[derive(Debug, Clone, Copy)]
struct Rates {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    version: u32,
    up_to_input_tokens: Option<u64>,
    #[serde(default, rename = "model")]
    models: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    input: u64,
    output: u64,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    /// Tokens that the model takes in at most.
    window: Option<u64>,
    long: Option<LongRow>,
}

/// The tier of long requests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongRow {
    above: u64,
    input: u64,
    output: u64,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
}

impl Prices {
    /// The table that comes with the program.
    ///
    /// # Errors
    /// Never, as a test shows; the type has no other way to say so.
    pub(crate) fn shipped() -> Result<Self, PriceTableError> {
        Self::parse(SHIPPED)
    }

    /// Parses a table of the same form.
    ///
    /// # Errors
    /// [`PriceTableError`], with the line where there is one.
    pub(crate) fn parse(text: &str) -> Result<Self, PriceTableError> {
        let table: Table = toml::from_str(text).map_err(|error| PriceTableError::Parse(error.to_string()))?;
        if table.version != 1 {
            return Err(PriceTableError::Version(table.version));
        }
        let up_to = table.up_to_input_tokens.unwrap_or(u64::MAX);
        let mut prices = BTreeMap::new();
        for row in table.models {
            let price = row.price(up_to);
            if prices.insert(row.name.clone(), price).is_some() {
                return Err(PriceTableError::Twice(row.name));
            }
        }
        Ok(Self(prices))
    }

    /// Lets the operator's own table win, name by name.
    pub(crate) fn overlaid(mut self, own: Self) -> Self {
        self.0.extend(own.0);
        self
    }

    /// The cost of a turn that `model` answered.
    ///
    /// # Errors
    /// [`UnknownPrice`] for a remote model that is not in the table, for missing usage of a model that costs, and for a
    /// request longer than its price holds for.
    pub(crate) fn price(
        &self,
        model: &str,
        locality: Locality,
        usage: Option<Usage>,
    ) -> Result<MicroUsd, UnknownPrice> {
        let Some(price) = self.find(model, locality)? else { return Ok(MicroUsd(0)) };
        let usage = usage.ok_or_else(|| UnknownPrice::Usage(model.into()))?;
        let input = usage.input.saturating_add(usage.cached_read).saturating_add(usage.cache_write);
        match price.long {
            Some((above, rates)) if input > above => Ok(rates.cost(&usage)),
            None if input > price.up_to => Err(UnknownPrice::TooLong { model: model.into(), up_to: price.up_to }),
            Some(_) | None => Ok(price.rates.cost(&usage)),
        }
    }

    /// How many tokens the model takes in, where the table knows.
    pub(crate) fn window(&self, model: &str) -> Option<u64> {
        // Where it runs changes its price and not its window.
        self.find(model, Locality::Loopback).ok().flatten()?.window
    }

    /// The most that a turn with this many tokens can cost, for a reservation before it.
    ///
    /// # Errors
    /// As [`Prices::price`].
    pub(crate) fn at_most(
        &self,
        model: &str,
        locality: Locality,
        input: u64,
        output: u64,
    ) -> Result<MicroUsd, UnknownPrice> {
        let fresh = self.price(model, locality, Some(Usage { input, output, ..Usage::default() }))?;
        let written = self.price(model, locality, Some(Usage { cache_write: input, output, ..Usage::default() }))?;
        Ok(fresh.max(written))
    }

    /// The price of a model; `None` if it costs nothing.
    ///
    /// A name is looked up whole, then without its provider. A script's name is free text and is only looked up whole.
    fn find(&self, model: &str, locality: Locality) -> Result<Option<&Price>, UnknownPrice> {
        let bare = model.split_once(':').filter(|(provider, _)| *provider != "script").map(|(_, name)| name);
        let found = self.0.get(model).or_else(|| self.0.get(bare?));
        match (found, locality) {
            (Some(price), _) => Ok(Some(price)),
            (None, Locality::Loopback) => Ok(None),
            (None, Locality::Remote) => Err(UnknownPrice::Model(model.into())),
        }
    }
}

impl Row {
    fn price(&self, up_to: u64) -> Price {
        let long = self
            .long
            .as_ref()
            .map(|long| (long.above, Rates::of(long.input, long.output, long.cache_read, long.cache_write)));
        let rates = Rates::of(self.input, self.output, self.cache_read, self.cache_write);
        Price { rates, long, up_to, window: self.window }
    }
}

impl Rates {
    fn of(input: u64, output: u64, cache_read: Option<u64>, cache_write: Option<u64>) -> Self {
        let (cache_read, cache_write) = (cache_read.unwrap_or(input), cache_write.unwrap_or(input));
        Self { input, output, cache_read, cache_write }
    }

    fn cost(&self, usage: &Usage) -> MicroUsd {
        let kinds = [
            (usage.input, self.input),
            (usage.cached_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.output, self.output),
        ];
        // Four products of two 64-bit numbers can pass 128 bits.
        let sum = kinds.iter().fold(0_u128, |sum, (tokens, rate)| {
            sum.saturating_add(u128::from(*tokens).saturating_mul(u128::from(*rate)))
        });
        MicroUsd(u64::try_from(sum.div_ceil(MILLION)).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for MicroUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u64, cached_read: u64, cache_write: u64, output: u64) -> Option<Usage> {
        Some(Usage { input, cached_read, cache_write, output, reasoning: 0 })
    }

    fn remote(model: &str, usage: Option<Usage>) -> Result<MicroUsd, UnknownPrice> {
        Prices::shipped().unwrap().price(model, Locality::Remote, usage)
    }

    #[test]
    fn each_kind_of_token_costs_its_own_price() {
        // claude-sonnet-5-5: 2 / 10 / 0.10 / 2.50 dollars per million.
        let cost = remote("anthropic:claude-sonnet-5-5", tokens(1000, 10_000, 2000, 500)).unwrap();
        assert_eq!(cost, MicroUsd(2000 + 1000 + 5000 + 5000));
        assert_eq!(remote("openai:gpt-5.4", tokens(100_000, 0, 0, 100_000)).unwrap().to_string(), "$1.750000");
    }

    #[test]
    fn a_missing_cache_price_is_the_price_of_input() {
        assert_eq!(
            remote("openai:gpt-5.4", tokens(0, 0, 100_000, 0)),
            remote("openai:gpt-5.4", tokens(100_000, 0, 0, 0))
        );
    }

    #[test]
    fn a_fraction_of_a_micro_dollar_is_a_whole_one() {
        assert_eq!(remote("openai:gpt-5-mini", tokens(1, 0, 0, 0)), Ok(MicroUsd(1)));
        assert_eq!(remote("openai:gpt-5-mini", tokens(0, 0, 0, 0)), Ok(MicroUsd(0)));
    }

    #[test]
    fn what_is_not_known_is_an_error_and_not_nothing() {
        let name = "openai:gpt-4o-2024-05-13";
        assert_eq!(remote(name, tokens(1, 0, 0, 1)), Err(UnknownPrice::Model(name.into())));
        assert_eq!(remote("openai:gpt-4o", None), Err(UnknownPrice::Usage("openai:gpt-4o".into())));
        let long = remote("openai:gpt-4o", tokens(100_000, 100_001, 0, 0));
        assert_eq!(long, Err(UnknownPrice::TooLong { model: "openai:gpt-4o".into(), up_to: 200_000 }));
    }

    #[test]
    fn a_long_request_costs_the_higher_tier_as_a_whole() {
        // gpt-5.5: 5 / 30 dollars per million up to 272,000 tokens of input, 10 / 45 above.
        assert_eq!(remote("openai:gpt-5.5", tokens(272_000, 0, 0, 1000)), Ok(MicroUsd(1_360_000 + 30_000)));
        assert_eq!(remote("openai:gpt-5.5", tokens(272_001, 0, 0, 1000)), Ok(MicroUsd(2_720_010 + 45_000)));
        assert_eq!(remote("openai:gpt-5.5", tokens(200_000, 72_001, 0, 0)), Ok(MicroUsd(2_000_000 + 720_010)));
    }

    #[test]
    fn a_window_is_known_or_it_is_not() {
        let prices = Prices::shipped().unwrap();
        assert_eq!(prices.window("openai:gpt-4o"), Some(128_000));
        assert_eq!(prices.window("ollama:llama3"), None);
    }

    #[test]
    fn what_runs_here_costs_nothing_unless_it_is_priced() {
        let own = "version = 1\n[[model]]\nname = 'script:tidy'\ninput = 1_000_000\noutput = 2_000_000";
        let shipped = Prices::shipped().unwrap();
        let local = |prices: &Prices, model: &str, usage| prices.price(model, Locality::Loopback, usage);
        assert_eq!(local(&shipped, "ollama:llama3", None), Ok(MicroUsd(0)));
        assert_eq!(local(&shipped, "script:gpt-4o", None), Ok(MicroUsd(0)), "a script's name is free text");
        assert_eq!(local(&shipped, "openai:gpt-4o", tokens(4, 0, 0, 0)), Ok(MicroUsd(10)), "a relay may run here");
        let priced = shipped.overlaid(Prices::parse(own).unwrap());
        assert_eq!(local(&priced, "script:tidy", tokens(3, 0, 0, 4)), Ok(MicroUsd(11)));
    }

    #[test]
    fn absurd_numbers_cost_the_most_and_never_wrap() {
        let most = "version = 1\n[[model]]\nname = 'm'\ninput = 9223372036854775807\noutput = 9223372036854775807";
        let prices = Prices::parse(most).unwrap();
        let cost = prices.price("m", Locality::Remote, tokens(u64::MAX, u64::MAX, u64::MAX, u64::MAX)).unwrap();
        assert_eq!(cost, MicroUsd(u64::MAX));
    }

    #[test]
    fn a_reservation_covers_a_request_that_is_written_to_the_cache() {
        let prices = Prices::shipped().unwrap();
        let model = "anthropic:claude-sonnet-5-5";
        let reserved = prices.at_most(model, Locality::Remote, 1000, 100).unwrap();
        for usage in [tokens(1000, 0, 0, 100), tokens(0, 0, 1000, 100), tokens(0, 1000, 0, 100)] {
            assert!(prices.price(model, Locality::Remote, usage).unwrap() <= reserved, "{usage:?}");
        }
    }

    #[test]
    fn a_wrong_table_is_refused() {
        let row = "[[model]]\nname='m'\ninput=1\noutput=1\n";
        assert_eq!(Prices::parse("version = 2").unwrap_err(), PriceTableError::Version(2));
        assert_eq!(Prices::parse(&format!("version = 1\n{row}{row}")).unwrap_err(), PriceTableError::Twice("m".into()));
        for wrong in [
            row,
            "version=1\n[[model]]\nname='m'\ninput=-1\noutput=1",
            "version=1\n[[model]]\nname='m'\ninput=1\noutput=1\ndiscount=1",
        ] {
            assert!(matches!(Prices::parse(wrong), Err(PriceTableError::Parse(_))), "{wrong}");
        }
    }
}

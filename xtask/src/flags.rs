//! Options of a command: `--name value`, and `--name` alone for switches.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use base::{Config, Error, Result};

/// What was given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    values: BTreeMap<String, String>,
}

impl Flags {
    /// Reads words; `with_value` and `switches` are the names that a command knows, without dashes.
    ///
    /// # Errors
    /// Another name, or one without its value.
    pub(crate) fn parse(words: &[&str], with_value: &[&str], switches: &[&str]) -> Result<Flags> {
        let mut flags = Flags::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").unwrap_or("");
            let value = if switches.contains(&name) {
                "yes"
            } else if with_value.contains(&name) {
                words.next().ok_or_else(|| Error::invalid(format!("{word} needs a value")))?
            } else {
                let known: Vec<String> = with_value.iter().chain(switches).map(|n| format!("--{n}")).collect();
                return Err(Error::invalid(format!("no option {word:?}; there are {}", known.join(", "))));
            };
            flags.values.insert(name.to_owned(), value.to_owned());
        }
        Ok(flags)
    }

    /// The words that give the same options again.
    pub(crate) fn words(&self) -> Vec<String> {
        let switch = |v: &str| v == "yes";
        self.values.iter().flat_map(|(n, v)| [Some(format!("--{n}")), (!switch(v)).then(|| v.clone())]).flatten().collect()
    }

    /// The options but for one.
    pub(crate) fn without(&self, name: &str) -> Flags {
        Flags { values: self.values.iter().filter(|(n, _)| *n != name).map(|(n, v)| (n.clone(), v.clone())).collect() }
    }

    /// The text of an option.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Whether a switch was given.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The value of an option, or a default.
    ///
    /// # Errors
    /// A text that is no such value.
    pub(crate) fn or<T: FromStr>(&self, name: &str, default: T) -> Result<T> {
        match self.text(name) {
            Some(text) => text.parse().map_err(|_| Error::invalid(format!("--{name}: {text:?} is not understood"))),
            None => Ok(default),
        }
    }

    /// A path, or a default relative to the current folder.
    pub(crate) fn path(&self, name: &str, default: &str) -> PathBuf {
        PathBuf::from(self.text(name).unwrap_or(default))
    }

    /// The environment's settings with the device of `--device`, the first GPU if there is no such option.
    ///
    /// # Errors
    /// A device that does not exist by name, or an environment that is not understood.
    pub(crate) fn config(&self) -> Result<Config> {
        let device = self.text("device").unwrap_or("cuda").parse()?;
        Ok(Config { device, ..Config::from_env()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let flags = Flags::parse(&["--seeds", "7", "--quick"], &["seeds"], &["quick"]).unwrap();
        assert_eq!((flags.or("seeds", 1).unwrap(), flags.or("other", 2).unwrap(), flags.is_set("quick")), (7, 2, true));
        assert_eq!(flags.words(), ["--quick", "--seeds", "7"]);
        assert_eq!(flags.without("seeds").words(), ["--quick"]);
        assert!(Flags::parse(&["--seeds"], &["seeds"], &[]).is_err());
        assert!(Flags::parse(&["seeds"], &["seeds"], &[]).is_err());
    }
}

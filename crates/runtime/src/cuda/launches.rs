//! What was launched, and the words in which run-time checks report.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::{Error, Result};

use super::context::Context;
use super::driver::{Driver, HOST_MAPPED};

/// Launches that are remembered.
const RING: usize = 64;
/// Words of a page.
const PAGE: usize = 4096;

/// The programs of a context, each with a number and a fault word in the host's memory, and the numbers launched last.
#[derive(Debug, Default)]
pub(crate) struct Launches {
    ring: Ring,
    programs: Mutex<Programs>,
}

#[derive(Debug)]
struct Ring {
    numbers: [AtomicU32; RING],
    launched: AtomicU64,
    waited: AtomicU64,
}

impl Default for Ring {
    fn default() -> Ring {
        Ring { numbers: [const { AtomicU32::new(0) }; RING], launched: AtomicU64::new(0), waited: AtomicU64::new(0) }
    }
}

#[derive(Debug, Default)]
struct Programs {
    /// By number.
    entries: Vec<Entry>,
    /// Numbers that nobody has.
    free: Vec<u32>,
    /// Numbers whose programs are gone, but may still run.
    retired: Vec<u32>,
    pages: Vec<Page>,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    name: String,
    checks: Vec<String>,
}

impl Programs {
    /// A number that nobody has, if there is a word for one.
    fn number(&mut self) -> Option<u32> {
        self.free.pop().or_else(|| {
            let room = self.entries.len() < self.pages.len() * PAGE;
            room.then(|| {
                self.entries.push(Entry::default());
                self.entries.len() as u32 - 1
            })
        })
    }
}

/// Pinned memory that the GPU writes to.
#[derive(Clone, Copy, Debug)]
struct Page {
    host: NonNull<u64>,
    address: u64,
}

// SAFETY: the words are read and written by atomic operations, and freed with the context.
unsafe impl Send for Page {}

impl Page {
    /// A word, for reading it while the GPU may write it.
    fn word(&self, number: u32) -> &AtomicU64 {
        // SAFETY: the page has `PAGE` words, aligned, which live as long as the context whose launches these are.
        unsafe { AtomicU64::from_ptr(self.host.as_ptr().add(number as usize % PAGE)) }
    }
}

/// The number of a program that is ready to launch.
#[derive(Debug)]
pub(crate) struct Ticket {
    context: Arc<Context>,
    number: u32,
    /// Address of its fault word for kernels.
    pub(crate) word: u64,
}

impl Ticket {
    /// A number for a program with these checks.
    ///
    /// # Errors
    /// No pinned memory for its word.
    pub(crate) fn new(context: &Arc<Context>, name: &str, checks: &[String]) -> Result<Ticket> {
        let entry = Entry { name: name.to_owned(), checks: checks.to_vec() };
        let (number, word) = context.launches.enroll(context, entry)?;
        Ok(Ticket { context: context.clone(), number, word })
    }
    /// Whether it is a program of this context.
    pub(crate) fn is_of(&self, context: &Arc<Context>) -> bool {
        Arc::ptr_eq(&self.context, context)
    }
    /// Remembers a launch.
    pub(crate) fn launched(&self) {
        let ring = &self.context.launches.ring;
        let at = ring.launched.fetch_add(1, Ordering::Relaxed);
        ring.numbers[at as usize % RING].store(self.number, Ordering::Relaxed);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.context.launches.programs().retired.push(self.number);
    }
}

impl Launches {
    fn programs(&self) -> MutexGuard<'_, Programs> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enroll(&self, context: &Context, entry: Entry) -> Result<(u32, u64)> {
        loop {
            let mut programs = self.programs();
            if let Some(number) = programs.number() {
                let page = &programs.pages[number as usize / PAGE];
                page.word(number).store(0, Ordering::Relaxed);
                let word = page.address + (number as usize % PAGE * 8) as u64;
                programs.entries[number as usize] = entry;
                return Ok((number, word));
            }
            // A failure asks for the names of programs, so they are not locked.
            drop(programs);
            let page = Page::new(context)?;
            self.programs().pages.push(page);
        }
    }

    /// Launches so far.
    pub(crate) fn count(&self) -> u64 {
        self.ring.launched.load(Ordering::Relaxed)
    }
    /// The first so many launches are over.
    pub(crate) fn waited(&self, count: u64) {
        self.ring.waited.fetch_max(count, Ordering::Relaxed);
    }

    /// Names of the programs launched since the last wait, the last ones first.
    pub(crate) fn since_waited(&self) -> String {
        let (launched, waited) = (self.count(), self.ring.waited.load(Ordering::Relaxed));
        let programs = self.programs();
        let mut names: Vec<&str> = Vec::new();
        for at in (waited.max(launched.saturating_sub(RING as u64))..launched).rev() {
            let number = self.ring.numbers[at as usize % RING].load(Ordering::Relaxed);
            let name = programs.entries.get(number as usize).map_or("?", |e| e.name.as_str());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() { "nothing of Fuseline's".into() } else { names.join(", ") }
    }

    /// The first failed check of the programs that ran, which forgets all. The stream was waited for.
    pub(crate) fn fault(&self) -> Option<Error> {
        let mut programs = self.programs();
        let mut first = None;
        for (number, entry) in programs.entries.iter().enumerate() {
            let word = programs.pages[number / PAGE].word(number as u32);
            if word.load(Ordering::Acquire) == 0 {
                continue;
            }
            let check = word.swap(0, Ordering::AcqRel);
            first.get_or_insert_with(|| entry.error(check));
        }
        let retired = std::mem::take(&mut programs.retired);
        programs.free.extend(retired);
        first
    }

    /// Gives the pinned memory back; the context is current, and nothing runs.
    pub(crate) fn free(&self, driver: &Driver) {
        for page in self.programs().pages.drain(..) {
            // SAFETY: the page was allocated by the same driver, and nobody holds a number any more: tickets hold the context.
            unsafe { (driver.host_free)(page.host.as_ptr().cast()) };
        }
    }
}

impl Entry {
    /// The error of a word: a check's number plus one.
    fn error(&self, word: u64) -> Error {
        let error = match usize::try_from(word - 1).ok().and_then(|n| self.checks.get(n)) {
            Some(text) => Error::invalid(text.clone()),
            None => Error::internal(format!("an element index lies outside of its buffer (fault word {word})")),
        };
        error.context(format!("kernel {}", self.name))
    }
}

impl Page {
    fn new(context: &Context) -> Result<Page> {
        let driver = context.enter()?;
        let (mut host, mut address) = (null_mut::<c_void>(), 0);
        // SAFETY: the context is current; the functions store a pointer and an address, and the memory has `PAGE` words.
        unsafe {
            context.check((driver.host_alloc)(&raw mut host, PAGE * 8, HOST_MAPPED), "cuMemHostAlloc")?;
            context.check((driver.host_address)(&raw mut address, host, 0), "cuMemHostGetDevicePointer")?;
            host.write_bytes(0, PAGE * 8);
        }
        let host = NonNull::new(host.cast()).ok_or_else(|| Error::internal("cuMemHostAlloc gave no memory"))?;
        Ok(Page { host, address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_words_name_their_check() {
        let entry = Entry { name: "gather".into(), checks: vec!["index of a".into(), "index of b".into()] };
        assert_eq!(entry.error(2).to_string(), "kernel gather: index of b");
        assert_eq!(entry.error(2).kind, base::ErrorKind::Invalid);
        assert_eq!(entry.error(9).kind, base::ErrorKind::Internal);
    }

    #[test]
    fn launches_since_the_last_wait_are_named_once() {
        let launches = Launches::default();
        let names = ["a", "b", "c"];
        launches.programs().entries = names.map(|n| Entry { name: n.into(), checks: vec![] }).into();
        let launch = |n: u32| {
            let at = launches.ring.launched.fetch_add(1, Ordering::Relaxed);
            launches.ring.numbers[at as usize % RING].store(n, Ordering::Relaxed);
        };
        [0, 1, 2, 1].into_iter().for_each(launch);
        assert_eq!(launches.since_waited(), "b, c, a");
        launches.waited(3);
        assert_eq!(launches.since_waited(), "b");
        (0..200).for_each(|_| launch(2));
        assert_eq!(launches.since_waited(), "c");
    }
}

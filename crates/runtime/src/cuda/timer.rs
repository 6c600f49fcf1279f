//! Time on the GPU's own clock.

use base::{Error, Result};

use super::context::Context;
use super::driver::RawEvent;

/// An event, destroyed in the end.
struct Event<'a> {
    context: &'a Context,
    raw: RawEvent,
}

impl<'a> Event<'a> {
    fn new(context: &'a Context) -> Result<Event<'a>> {
        let driver = context.enter()?;
        let mut raw = RawEvent::NULL;
        // SAFETY: the context is current; the event is destroyed once, when the value is dropped.
        context.check(unsafe { (driver.event_create)(&raw mut raw, 0) }, "cuEventCreate")?;
        Ok(Event { context, raw })
    }
    fn record(&self) -> Result<()> {
        let driver = self.context.enter()?;
        // SAFETY: the event and the stream exist.
        self.context.check(unsafe { (driver.event_record)(self.raw, self.context.main_stream()) }, "cuEventRecord")
    }
    /// Waits until the stream has come to it.
    fn wait(&self) -> Result<()> {
        let driver = self.context.enter()?;
        // SAFETY: the event exists and was recorded.
        self.context.check(unsafe { (driver.event_synchronize)(self.raw) }, "cuEventSynchronize")
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: the event is destroyed once; a failure leaves nothing to do.
        unsafe { (self.context.libraries.driver.event_destroy)(self.raw) };
    }
}

/// Mean seconds of some runs of `f`, from before the first to after the last of what they put on the stream.
pub(crate) fn seconds(context: &Context, runs: usize, f: impl Fn() -> Result<()>) -> Result<f64> {
    let runs = runs.max(1);
    Ok(elapsed(context, || (0..runs).try_for_each(|_| f()))? / runs as f64)
}

/// Seconds from before to after what `f` puts on the stream.
pub(crate) fn elapsed(context: &Context, f: impl FnOnce() -> Result<()>) -> Result<f64> {
    if context.recording() != 0 {
        return Err(Error::unsupported("a recording is not timed; time its replay"));
    }
    let (start, end) = (Event::new(context)?, Event::new(context)?);
    start.record()?;
    f()?;
    end.record()?;
    end.wait()?;
    let (driver, mut milliseconds) = (context.enter()?, 0f32);
    // SAFETY: both events were recorded and waited for; one number is stored.
    let code = unsafe { (driver.event_elapsed)(&raw mut milliseconds, start.raw, end.raw) };
    context.check(code, "cuEventElapsedTime")?;
    Ok(f64::from(milliseconds) / 1e3)
}

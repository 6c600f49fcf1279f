//! The report as text for a terminal.

use std::fmt;

use crate::report::{EdgeReport, KernelReport, Report};

/// Longest line.
const WIDTH: usize = 110;
/// Longest kernel name.
const NAME: usize = 34;
/// Kernels shown that lose most.
const SLOWEST: usize = 5;
/// Edges shown.
const EDGES: usize = 8;

/// Bytes: `412.0 MB`, `8.0 kB`, `12 B`.
pub fn bytes(b: f64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    units.iter().find(|(u, _)| b >= *u).map_or_else(|| format!("{b:.0} B"), |(u, n)| format!("{:.1} {n}", b / u))
}

/// A count: `1.2 G`, `30`.
fn count(n: f64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    units.iter().find(|(u, _)| n >= *u).map_or_else(|| format!("{n:.0}"), |(u, s)| format!("{:.1} {s}", n / u))
}

/// A time: `12.3 µs`, `4.56 ms`, `1.20 s`.
pub fn time(s: f64) -> String {
    match s {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// Text of at most `n` characters.
fn cut(text: &str, n: usize) -> String {
    if text.chars().count() <= n { text.to_owned() } else { text.chars().take(n - 1).chain(['…']).collect() }
}

/// Pieces joined by `joint` into lines that stay within the width, each indented.
fn wrap(f: &mut fmt::Formatter<'_>, indent: usize, pieces: &[String], joint: &str) -> fmt::Result {
    let mut line = String::new();
    for piece in pieces {
        let piece = cut(piece, WIDTH - indent);
        if !line.is_empty() && indent + line.chars().count() + joint.chars().count() + piece.chars().count() > WIDTH {
            writeln!(f, "{:indent$}{}", "", line.trim_end())?;
            line.clear();
        }
        if !line.is_empty() {
            line.push_str(joint);
        }
        line.push_str(&piece);
    }
    if line.is_empty() { Ok(()) } else { writeln!(f, "{:indent$}{line}", "") }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.dims.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let once = self.kernels.iter().filter(|k| k.once).count();
        let once = if once > 0 { format!(" ({once} of them run once, at load)") } else { String::new() };
        writeln!(f, "{}: {} nodes → {} kernels{once}", self.model, self.nodes, self.kernels.len())?;
        wrap(f, 0, &dims, ", ")?;
        writeln!(f)?;
        self.totals(f)?;
        self.slowest(f)?;
        self.table(f)?;
        self.unfused(f)
    }
}

impl Report {
    fn totals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (a, b) = (&self.before, &self.after);
        writeln!(f, "{:<12} {:>18} {:>12} {:>8}", "", "one kernel per op", "fused", "gain")?;
        let mut row = |name: &str, before: f64, after: f64, show: &dyn Fn(f64) -> String| {
            let gain = if after > 0.0 { format!("{:.1}×", before / after) } else { String::new() };
            writeln!(f, "{name:<12} {:>18} {:>12} {gain:>8}", show(before), show(after))
        };
        row("launches", a.launches as f64, b.launches as f64, &|n| format!("{n:.0}"))?;
        row("bytes moved", a.bytes, b.bytes, &bytes)?;
        row("peak memory", a.peak, b.peak, &bytes)?;
        row("predicted", a.time, b.time, &time)?;
        if let (Some(before), Some(after)) = (a.measured, b.measured) {
            row("measured", before, after, &time)?;
        }
        let roof = &self.roof;
        writeln!(f, "\nbytes and memory are counted, without inputs and weights in the peak")?;
        writeln!(
            f,
            "rates {}: {:.1} GB/s, {:.0} GFLOP/s in contractions, {:.0} G pointwise ops/s\n",
            roof.source,
            roof.bandwidth / 1e9,
            roof.gemm_flops / 1e9,
            roof.pointwise_ops / 1e9
        )
    }

    /// Kernels that lose most time against the roof.
    fn slowest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lost = |k: &KernelReport| k.measured.map_or(0.0, |t| t - k.roofline);
        let mut kernels: Vec<&KernelReport> = self.kernels.iter().filter(|k| lost(k) > 0.0).collect();
        if kernels.is_empty() {
            return Ok(());
        }
        kernels.sort_by(|a, b| lost(b).total_cmp(&lost(a)));
        writeln!(f, "most time above the roof")?;
        for k in kernels.iter().take(SLOWEST) {
            let reached = 100.0 * k.roofline / k.measured.unwrap_or(f64::INFINITY);
            writeln!(f, "{:>10}  {:<11} {reached:>3.0} % of the roof  {}", time(lost(k)), k.class, cut(&k.name, 60))?;
        }
        writeln!(f)
    }

    fn table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let measured = self.kernels.iter().any(|k| k.measured.is_some());
        let total: f64 = self.kernels.iter().filter(|k| !k.once).map(spent).sum();
        let head = if measured { format!("{:>9} {:>5}", "measured", "roof") } else { String::new() };
        let head = format!(
            "{:<NAME$} {:<11} {:>8} {:>8} {:>7} {:<7} {:>9} {:>5} {head}",
            "kernel", "class", "read", "written", "flops", "bound", "predicted", "share",
        );
        writeln!(f, "{}", head.trim_end())?;
        for k in &self.kernels {
            let share = if k.once { "once".into() } else { format!("{:.0} %", 100.0 * spent(k) / total.max(f64::MIN_POSITIVE)) };
            let times = k.measured.map_or_else(String::new, |t| {
                format!("{:>9} {:>5}", time(t), format!("{:.0} %", 100.0 * k.roofline / t.max(f64::MIN_POSITIVE)))
            });
            let line = format!(
                "{:<NAME$} {:<11} {:>8} {:>8} {:>7} {:<7} {:>9} {share:>5} {times}",
                cut(&k.name, NAME),
                k.class,
                bytes(k.read),
                bytes(k.written),
                count(k.flops),
                format!("{:?}", k.bound).to_lowercase(),
                time(k.time),
            );
            writeln!(f, "{}", line.trim_end())?;
            wrap(f, 4, &k.ops, " · ")?;
        }
        Ok(())
    }

    fn unfused(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.edges.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nmost expensive edges that stayed unfused, by bytes written and read back")?;
        // Layers of one model repeat: one entry stands for all edges that say the same.
        let mut groups: Vec<(&EdgeReport, usize)> = Vec::new();
        for e in &self.edges {
            match groups.iter_mut().find(|(g, _)| (g.code, g.bytes, &g.message) == (e.code, e.bytes, &e.message)) {
                Some((_, count)) => *count += 1,
                None => groups.push((e, 1)),
            }
        }
        for &(e, count) in groups.iter().take(EDGES) {
            edge(f, e, count)?;
        }
        match groups.iter().skip(EDGES).map(|(_, count)| *count).sum::<usize>() {
            0 => Ok(()),
            hidden => writeln!(f, "  … and {hidden} more; the JSON form lists all"),
        }
    }
}

/// Measured seconds, or predicted ones.
fn spent(k: &KernelReport) -> f64 {
    k.measured.unwrap_or(k.time)
}

fn edge(f: &mut fmt::Formatter<'_>, e: &EdgeReport, count: usize) -> fmt::Result {
    // The first place is `VALUE of KERNEL`.
    let (value, from) = e.places[0].rsplit_once(" of ").unwrap_or(("", &e.places[0]));
    let ends: Vec<&str> = std::iter::once(from).chain(e.places[1..].iter().map(String::as_str)).collect();
    writeln!(f, "{:>10}  {:<4} {}", bytes(e.bytes as f64), format!("{:?}", e.code), cut(&ends.join(" → "), WIDTH - 17))?;
    let alike = if count > 1 { format!("; and {} more alike", count - 1) } else { String::new() };
    wrap(f, 17, &words(&format!("{}; value {value}{alike}", e.message)), " ")?;
    if !e.hint.is_empty() {
        wrap(f, 17, &words(&format!("hint: {}", e.hint)), " ")?;
    }
    Ok(())
}

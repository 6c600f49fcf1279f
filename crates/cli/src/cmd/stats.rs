//! Statistics of run times.

/// Times of one mode, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Times {
    /// In the order they were taken.
    pub(crate) all: Vec<f64>,
    /// Middle value.
    pub(crate) median: f64,
    /// Least.
    pub(crate) min: f64,
    /// 90 % of the runs are at most this (nearest rank).
    pub(crate) p90: f64,
    /// Mean.
    pub(crate) mean: f64,
    /// Sample standard deviation; 0 for a single run.
    pub(crate) deviation: f64,
}

impl Times {
    /// Of at least one time.
    pub(crate) fn of(all: Vec<f64>) -> Times {
        let n = all.len();
        let mut sorted = all.clone();
        sorted.sort_by(f64::total_cmp);
        let mean = all.iter().sum::<f64>() / n as f64;
        let squares = all.iter().map(|t| (t - mean).powi(2)).sum::<f64>();
        let deviation = if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 };
        let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
        let p90 = sorted[(n * 9).div_ceil(10) - 1];
        Times { median, min: sorted[0], p90, mean, deviation, all }
    }
}

/// `slow ÷ fast` of the means, and its standard deviation by propagation, as hyperfine has it.
pub(crate) fn ratio(slow: &Times, fast: &Times) -> (f64, f64) {
    let ratio = slow.mean / fast.mean;
    let relative = (slow.deviation / slow.mean).hypot(fast.deviation / fast.mean);
    (ratio, ratio * relative)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_statistics() {
        let t = Times::of(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!((t.median, t.min, t.p90, t.mean), (2.5, 1.0, 4.0, 2.5));
        assert!((t.deviation - (5.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(Times::of((1..=10).map(f64::from).collect()).p90, 9.0);
        assert_eq!(Times::of(vec![7.0]).deviation, 0.0);
    }

    #[test]
    fn ratios_propagate_deviation() {
        let (r, d) = ratio(&Times::of(vec![3.0, 5.0]), &Times::of(vec![2.0, 2.0]));
        assert_eq!(r, 2.0);
        assert!((d - 2.0 * 2f64.sqrt() / 4.0).abs() < 1e-12);
    }
}

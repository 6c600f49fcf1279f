//! The GPU side of `fuseline doctor`.

use base::{Config, DeviceId, Error};
use driver::Device;
use runtime::cuda::{Info, LibraryInfo, Rates, libraries, measure};
use serde_json::{Value, json as object};

/// What was found of CUDA, and of one GPU.
pub(crate) struct GpuSide {
    device: DeviceId,
    libraries: Vec<LibraryInfo>,
    /// The GPU, or why there is none.
    info: Result<Info, Error>,
    /// `None` if it was not measured.
    rates: Option<Result<Rates, Error>>,
}

impl GpuSide {
    /// Looks for the GPU that the configuration names, or the first, and measures it unless in a hurry.
    pub(crate) fn look(config: &Config, quick: bool) -> GpuSide {
        let ordinal = if let DeviceId::Cuda(n) = config.device { n } else { 0 };
        let device = Device::cuda_with(ordinal, config);
        let rates = device.as_ref().ok().filter(|_| !quick).map(|d| measure(d));
        let info = device.and_then(|d| d.info().ok_or_else(|| Error::internal("a GPU without a description")));
        GpuSide { device: DeviceId::Cuda(ordinal), libraries: libraries(config), info, rates }
    }

    /// Rows of a table: name and value.
    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![("gpu", self.headline())];
        for library in &self.libraries {
            rows.push((library.name, found(library)));
            if library.path.is_none() {
                rows.extend(library.tried.iter().map(|place| ("", format!("tried {place}"))));
            }
        }
        if let Ok(info) = &self.info {
            rows.push(("start-up", start_up(info)));
        }
        match &self.rates {
            Some(Ok(rates)) => rows.push(("measured", rates_text(rates))),
            Some(Err(e)) => rows.push(("measured", format!("nothing: {e}"))),
            None => {}
        }
        rows
    }

    fn headline(&self) -> String {
        let needed = |l: &&LibraryInfo| l.path.is_none() && !["cublasLt", "cudnn", "nccl"].contains(&l.name);
        let missing: Vec<&str> = self.libraries.iter().filter(needed).map(|l| l.name).collect();
        let gib = |bytes: usize| bytes as f64 / f64::from(1 << 30);
        match &self.info {
            Ok(i) => format!(
                "{} ({}), capability {}.{}, {} multiprocessors, L2 {} MiB, {:.1} GiB, {:.1} GiB free",
                i.name,
                self.device,
                i.capability.0,
                i.capability.1,
                i.multiprocessors,
                i.l2 >> 20,
                gib(i.memory),
                gib(i.free)
            ),
            Err(_) if !missing.is_empty() => format!("none: {} not found", missing.join(" and ")),
            Err(e) => format!("none: {e}"),
        }
    }

    /// The same as data.
    pub(crate) fn document(&self) -> Value {
        let library = |l: &LibraryInfo| {
            object!({
                "name": l.name,
                "path": l.path.as_ref().map(|p| p.display().to_string()),
                "version": l.version,
                "tried": l.tried,
                "install": l.install,
            })
        };
        let rates = self.rates.as_ref().and_then(|r| r.as_ref().ok());
        let failed = self.rates.as_ref().and_then(|r| r.as_ref().err());
        let why = self.info.as_ref().err().or(failed);
        object!({
            "device": self.device.to_string(),
            "found": self.info.as_ref().ok().map(about),
            "error": why.map(ToString::to_string),
            "libraries": self.libraries.iter().map(library).collect::<Vec<_>>(),
            "rates": rates.map(|r| object!({
                "copy_gb_per_s": r.copy, "read_gb_per_s": r.read, "gemm_bf16_tflop_per_s": r.gemm,
            })),
        })
    }
}

fn found(library: &LibraryInfo) -> String {
    match &library.path {
        Some(path) => format!("{}, {}", library.version.as_deref().unwrap_or("unknown version"), path.display()),
        None => format!("missing: {}", library.install.as_deref().unwrap_or("no advice")),
    }
}

fn start_up(info: &Info) -> String {
    let ms = |t: std::time::Duration| format!("{:.1} ms", t.as_secs_f64() * 1e3);
    let product = info.product_time.map_or_else(String::new, |t| format!(", cuBLASLt {}", ms(t)));
    format!("libraries {}, context {}{product}", ms(info.load_time), ms(info.context_time))
}

fn rates_text(rates: &Rates) -> String {
    let gemm = rates.gemm.map_or_else(|| "no products without cuBLASLt".into(), |g| format!("bf16 GEMM {g:.0} TFLOP/s"));
    format!("copy {:.0} GB/s, read {:.0} GB/s, {gemm}", rates.copy, rates.read)
}

fn about(info: &Info) -> Value {
    object!({
        "name": info.name,
        "capability": format!("{}.{}", info.capability.0, info.capability.1),
        "multiprocessors": info.multiprocessors,
        "l2_bytes": info.l2,
        "shared_bytes_per_block": info.shared,
        "memory_bytes": info.memory,
        "free_bytes": info.free,
        "driver": format!("{}.{}", info.driver.0, info.driver.1),
        "load_seconds": info.load_time.as_secs_f64(),
        "context_seconds": info.context_time.as_secs_f64(),
        "product_seconds": info.product_time.map(|t| t.as_secs_f64()),
    })
}

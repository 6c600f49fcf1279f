//! Products of bytes on a GPU, where there is one, against the host. Without one the test says so and passes.

use base::ErrorKind;
use program::{Access, CudaProgram, CudaStep, Epilogue, Operand, Param, Product};
use runtime::{Arg, Device};
use scalar::DType;

/// A product of two matrices of bytes; `apart` says whether the contracted elements of a and b are apart.
fn program([m, n, k]: [i64; 3], apart: [bool; 2], columns: bool) -> CudaProgram {
    let matrix = |param, dtype, [rows, columns]: [i64; 2]| Operand { param, dtype, offset: 0, rows, columns, batch: vec![] };
    let a = matrix(0, DType::I8, if apart[0] { [1, m] } else { [k, 1] });
    let b = matrix(1, DType::I8, if apart[1] { [n, 1] } else { [1, k] });
    let d = matrix(2, DType::I32, if columns { [1, m] } else { [n, 1] });
    let product = Product { batch: vec![], m, n, k, a, b, d, acc: DType::I32, epilogue: Epilogue::default() };
    let param = |name: &str, dtype, access, elements: i64| Param { name: name.into(), dtype, access, elements: elements as u64 };
    CudaProgram {
        name: "product".into(),
        params: vec![
            param("a", DType::I8, Access::Read, m * k),
            param("b", DType::I8, Access::Read, k * n),
            param("d", DType::I32, Access::Write, m * n),
        ],
        source: String::new(),
        steps: vec![CudaStep::Product(product)],
        checks: vec![],
    }
}

fn bytes(count: i64, seed: i64) -> Vec<u8> {
    (0..count).map(|i| ((i * 97 + seed * 31) % 251) as u8).collect()
}

/// Whether the library takes a product, which is then right.
fn is_taken(device: &Device, sizes: [i64; 3], apart: [bool; 2], columns: bool) -> bool {
    let [m, n, k] = sizes;
    let prepared = match device.prepare(program(sizes, apart, columns)) {
        Err(e) if e.kind == ErrorKind::Unsupported => return false,
        prepared => prepared.unwrap(),
    };
    let (x, y) = (bytes(m * k, 1), bytes(k * n, 2));
    let pool = device.pool();
    let (a, b, d) = (pool.alloc(x.len()).unwrap(), pool.alloc(y.len()).unwrap(), pool.alloc((m * n * 4) as usize).unwrap());
    a.write(0, &x).unwrap();
    b.write(0, &y).unwrap();
    device.launch(&prepared, &[&a, &b, &d].map(Arg::from)).unwrap();
    let mut out = vec![0; (m * n * 4) as usize];
    d.read(0, &mut out).unwrap();
    let at = |values: &[u8], i: i64| i32::from(values[i as usize] as i8);
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let left = |l: i64| at(&x, if apart[0] { l * m + i } else { i * k + l });
        let right = |l: i64| at(&y, if apart[1] { l * n + j } else { j * k + l });
        let want: i32 = (0..k).map(|l| left(l) * right(l)).sum();
        let from = 4 * if columns { j * m + i } else { i * n + j } as usize;
        let have = i32::from_le_bytes(out[from..from + 4].try_into().unwrap());
        assert_eq!(have, want, "{sizes:?} {apart:?} {columns}: element {i}, {j}");
    }
    true
}

/// Whether lowering leaves such a product to the library.
fn is_asked_for([m, n, k]: [i64; 3], apart: [bool; 2]) -> bool {
    k % 4 == 0 && (apart == [false, false] || (m % 4 == 0 && n % 4 == 0))
}

#[test]
fn products_of_bytes_are_exact() {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(error) => return println!("skipped: {error}"),
    };
    for sizes in [
        [4, 4, 4],
        [8, 12, 20],
        [16, 32, 64],
        [64, 64, 64],
        [128, 256, 96],
        [5, 8, 16],
        [8, 5, 16],
        [8, 8, 5],
        [6, 8, 16],
        [3, 32, 32],
        [17, 16, 16],
        [16, 17, 16],
        [2, 64, 64],
        [64, 2, 64],
        [64, 64, 8],
    ] {
        let mut taken = Vec::new();
        for apart in [[false, false], [true, false], [false, true], [true, true]] {
            for columns in [false, true] {
                let is_taken = is_taken(&device, sizes, apart, columns);
                assert!(is_taken || !is_asked_for(sizes, apart), "{sizes:?} {apart:?} {columns} is refused");
                taken.push(is_taken);
            }
        }
        println!("{sizes:?}: taken {taken:?}");
    }
}

//! Round trips through files, and refusal of bad ones.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fuseline::{
    DType, Result, Tensor, load_npy, load_npz, load_safetensors, nn, read_npy, save_npy, save_npz, save_safetensors, write_npy,
};

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("fuseline-{}-{name}", std::process::id()))
}

fn all() -> BTreeMap<String, Tensor> {
    let x = Tensor::arange(0, 6, 1).reshape([2, 3]);
    let dtypes = DType::ALL.into_iter().filter(|d| *d != DType::BF16 && d.f8().is_none());
    dtypes
        .map(|d| (d.to_string(), x.to_dtype(d)))
        .chain([("empty".into(), Tensor::zeros([0, 3], DType::F32)), ("scalar".into(), Tensor::scalar(7))])
        .collect()
}

fn same(a: &BTreeMap<String, Tensor>, b: &BTreeMap<String, Tensor>) -> Result<()> {
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, x) in a {
        let (x, y) = (x.data()?, b[name].data()?);
        assert_eq!((x.dtype(), x.shape(), x.bytes()), (y.dtype(), y.shape(), y.bytes()), "{name}");
    }
    Ok(())
}

#[test]
fn safetensors_round_trip() -> Result<()> {
    let file = path("a.safetensors");
    let mut tensors = all();
    tensors.insert("bf16".into(), Tensor::new([1.5f32, 2.0]).to_dtype(DType::BF16));
    save_safetensors(&file, &tensors)?;
    same(&tensors, &load_safetensors(&file)?)?;
    std::fs::remove_file(file)?;
    Ok(())
}

#[test]
fn npz_round_trip() -> Result<()> {
    let file = path("a.npz");
    save_npz(&file, &all())?;
    same(&all(), &load_npz(&file)?)?;
    std::fs::remove_file(file)?;
    Ok(())
}

#[test]
fn npy_bytes_are_numpys() -> Result<()> {
    let file = path("a.npy");
    let x = Tensor::new([[1.0f32, 2.0, 3.0]]);
    save_npy(&file, &x)?;
    let bytes = std::fs::read(&file)?;
    assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
    assert!(bytes[10..].starts_with(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }"));
    assert_eq!(bytes.len(), 128 + 12);
    assert_eq!(load_npy(&file)?.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    std::fs::remove_file(file)?;
    Ok(())
}

fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

#[test]
fn npy_orders() -> Result<()> {
    let fortran = npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", &[1, 4, 2, 5, 3, 6]);
    assert_eq!(read_npy(&fortran)?.to_vec::<u8>()?, [1, 2, 3, 4, 5, 6]);
    let big = npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n", &[0, 1, 1, 0]);
    assert_eq!(read_npy(&big)?.to_vec::<i16>()?, [1, 256]);
    Ok(())
}

#[test]
fn bad_files_are_errors() -> Result<()> {
    for bytes in [
        b"".to_vec(),
        b"\x93NUMPY".to_vec(),
        b"\x93NUMPY\x01\x00\xff\xff{".to_vec(),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }", &[0; 4]),
        npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", &[0; 8]),
        npy("{'descr': '<f4', 'shape': (99999999999999999999,), 'fortran_order': False}", &[0; 4]),
        npy("{'descr': '<f4', 'shape': (4294967296, 4294967296, 4), 'fortran_order': False}", &[0; 4]),
        npy("{'descr': [('a', '<f4')], 'shape': (1,), 'fortran_order': False}", &[0; 4]),
    ] {
        assert!(read_npy(&bytes).is_err(), "{bytes:?}");
    }
    let file = path("bad.npz");
    std::fs::write(&file, b"PK\x03\x04 no")?;
    assert!(load_npz(&file).unwrap_err().to_string().contains("bad.npz"));
    assert!(load_safetensors(&file).is_err());
    std::fs::remove_file(file)?;
    assert!(load_npy(path("missing.npy")).unwrap_err().to_string().contains("missing.npy"));
    assert!(write_npy(&Tensor::ones([1], DType::BF16)).is_err());
    Ok(())
}

#[test]
fn layers_load_their_weights_by_name() -> Result<()> {
    let file = path("layer.safetensors");
    let weights = BTreeMap::from([
        ("head.weight".to_owned(), Tensor::new([[1.0f32, 2.0]])),
        ("head.bias".to_owned(), Tensor::new([0.5f32])),
    ]);
    save_safetensors(&file, &weights)?;
    let vars = nn::Vars::from_safetensors(&file)?;
    let layer = nn::Linear::new(&vars.sub("head"), 2, 1)?;
    assert_eq!(layer.forward(&Tensor::new([[10.0f32, 1.0]])).to_vec::<f32>()?, [12.5]);
    let error = nn::Linear::new(&vars.sub("tail"), 2, 1).unwrap_err().to_string();
    assert!(error.contains("tail.bias"), "{error}");
    let error = nn::Linear::new(&nn::Vars::from_safetensors(&file)?.sub("head"), 3, 1).unwrap_err().to_string();
    assert!(error.contains("[1, 3]"), "{error}");
    std::fs::remove_file(file)?;
    Ok(())
}

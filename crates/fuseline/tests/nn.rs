//! Neural-network functions against values computed by hand or with PyTorch.

use fuseline::nn::{self, Attention, Conv, Norm, Reduction};
use fuseline::{DType, Result, Tensor};

fn close(t: &Tensor, want: &[f64]) {
    let got = t.to_vec::<f64>().unwrap();
    assert_eq!(got.len(), want.len(), "{got:?} against {want:?}");
    assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() <= 1e-5 * w.abs().max(1.0)), "{got:?} against {want:?}");
}

fn ramp(shape: &[usize]) -> Tensor {
    Tensor::arange(0, shape.iter().product::<usize>(), 1).to_dtype(DType::F32).reshape(shape)
}

#[test]
fn linear_and_embedding() {
    let w = Tensor::new([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    close(&nn::linear(&Tensor::new([1.0f32, 1.0]), &w, Some(&Tensor::new([0.0f32, 1.0, 2.0]))), &[3.0, 8.0, 13.0]);
    close(&nn::embedding(&Tensor::new([[2i64], [0]]), &w), &[5.0, 6.0, 1.0, 2.0]);
}

#[test]
fn convolutions() {
    let x = ramp(&[1, 1, 3, 3]);
    let w = Tensor::ones([1, 1, 2, 2], DType::F32);
    close(&nn::conv2d(&x, &w, None, Conv::default()), &[8.0, 12.0, 20.0, 24.0]);
    close(&nn::conv2d(&x, &w, None, Conv { stride: 2, padding: 1, ..Conv::default() }), &[0.0, 3.0, 9.0, 24.0]);
    let depthwise = nn::conv1d(
        &ramp(&[1, 2, 3]),
        &Tensor::new([[[1.0f32, 1.0]], [[1.0, -1.0]]]),
        None,
        Conv { groups: 2, ..Conv::default() },
    );
    close(&depthwise, &[1.0, 3.0, -1.0, -1.0]);
    let up = nn::conv_transpose1d(
        &Tensor::new([[[1.0f32, 2.0]]]),
        &Tensor::new([[[1.0f32, 10.0]]]),
        None,
        Conv { stride: 2, ..Conv::default() },
        0,
    );
    close(&up, &[1.0, 10.0, 2.0, 20.0]);
    close(
        &nn::conv_transpose2d(&Tensor::ones([1, 1, 1, 1], DType::F32), &w, Some(&Tensor::new([1.0f32])), Conv::default(), 0),
        &[2.0; 4],
    );
}

#[test]
fn norms() {
    let x = Tensor::new([[1.0f32, 2.0, 3.0, 4.0]]);
    close(&nn::layer_norm(&x, 1, Norm { eps: 0.0, ..Norm::default() }), &[-1.341641, -0.447214, 0.447214, 1.341641]);
    close(&nn::rms_norm(&x, 1, Some(&Tensor::full([4], 2.0)), 0.0), &[0.730297, 1.460593, 2.190890, 2.921187]);
    let image = x.reshape([1, 2, 2]);
    close(&nn::group_norm(&image, 2, Norm { eps: 0.0, ..Norm::default() }), &[-1.0, 1.0, -1.0, 1.0]);
    let (mean, var) = (Tensor::new([1.0f32, 3.0]), Tensor::new([4.0f32, 1.0]));
    close(&nn::batch_norm(&image, &mean, &var, Norm { eps: 0.0, ..Norm::default() }), &[0.0, 0.5, 0.0, 1.0]);
    let (y, mean, var) = nn::batch_norm_train(&image, Norm { eps: 0.0, ..Norm::default() });
    close(&y, &[-1.0, 1.0, -1.0, 1.0]);
    close(&mean, &[1.5, 3.5]);
    close(&var, &[0.25, 0.25]);
}

#[test]
fn pooling() {
    let x = ramp(&[1, 1, 4, 4]);
    close(&nn::max_pool2d(&x, 2, 2, 0), &[5.0, 7.0, 13.0, 15.0]);
    close(&nn::avg_pool2d(&x, 2, 2, 0), &[2.5, 4.5, 10.5, 12.5]);
    close(&nn::max_pool1d(&Tensor::new([[[-1.0f32, -2.0, -3.0]]]), 3, 1, 1), &[-1.0, -1.0, -2.0]);
    close(&nn::avg_pool1d(&Tensor::new([[[3.0f32, 3.0, 3.0]]]), 3, 3, 1), &[2.0]);
    close(&nn::adaptive_avg_pool2d(&x, [1, 1]), &[7.5]);
    close(&nn::adaptive_avg_pool2d(&x, [2, 2]), &[2.5, 4.5, 10.5, 12.5]);
    close(&nn::interpolate_nearest(&ramp(&[1, 1, 1, 2]), 2), &[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
}

#[test]
fn attention() {
    let q = Tensor::new([[1.0f32, 0.0], [0.0, 1.0]]);
    let v = Tensor::new([[1.0f32], [2.0]]);
    let p = 1.0 / (1.0 + (-(0.5f64).sqrt()).exp());
    close(&nn::scaled_dot_product_attention(&q, &q, &v, Attention::default()), &[p + 2.0 * (1.0 - p), (1.0 - p) + 2.0 * p]);
    close(
        &nn::scaled_dot_product_attention(&q, &q, &v, Attention { causal: true, ..Attention::default() }),
        &[1.0, (1.0 - p) + 2.0 * p],
    );
    let mask = Tensor::new([[false, true]]);
    close(&nn::scaled_dot_product_attention(&q, &q, &v, Attention { mask: Some(&mask), ..Attention::default() }), &[2.0, 2.0]);
    let turned = nn::rope(&Tensor::new([[1.0f32, 0.0], [1.0, 0.0]]), &Tensor::iota(2), 10000.0);
    close(&turned, &[1.0, 0.0, 1f64.cos(), 1f64.sin()]);
}

#[test]
fn losses() {
    let (x, y) = (Tensor::new([1.0f32, 2.0]), Tensor::new([0.0f32, 4.0]));
    close(&nn::mse_loss(&x, &y, Reduction::Mean), &[2.5]);
    close(&nn::l1_loss(&x, &y, Reduction::Sum), &[3.0]);
    close(
        &nn::binary_cross_entropy_with_logits(&Tensor::new([0.0f32]), &Tensor::new([1.0f32]), Reduction::None),
        &[std::f64::consts::LN_2],
    );
    let logits = Tensor::new([[1.0f32, 2.0, 3.0], [1.0, 1.0, 1.0]]);
    close(&nn::cross_entropy(&logits, &Tensor::new([2i64, 0]), None, Reduction::None), &[0.407606, 1.098612]);
    close(&nn::cross_entropy(&logits, &Tensor::new([2i64, -100]), Some(-100), Reduction::Mean), &[0.407606]);
    close(&nn::nll_loss(&logits, &Tensor::new([1i64, 1]), None, Reduction::Sum), &[-3.0]);
}

/// One step of an LSTM and a GRU with all weights equal, written out.
#[test]
fn recurrent_layers() -> Result<()> {
    let sigmoid = |v: f64| 1.0 / (1.0 + (-v).exp());
    let tensors = |gates: usize| {
        let value = |shape: &[usize], v: f32| Tensor::full(shape, v).data().unwrap();
        [
            ("weight_ih_l0", value(&[gates, 1], 0.5)),
            ("weight_hh_l0", value(&[gates, 1], 0.25)),
            ("bias_ih_l0", value(&[gates], 0.1)),
            ("bias_hh_l0", value(&[gates], 0.2)),
        ]
        .into_iter()
        .map(|(n, t)| (n.to_owned(), t))
        .collect()
    };
    let x = Tensor::new([[[1.0f32]], [[2.0]]]);
    let lstm = nn::Lstm::new(&nn::Vars::from_tensors(tensors(4)), 1, 1, 1)?;
    let (out, h, c) = lstm.forward(&x);
    let (mut hs, mut cs, mut outs) = (0.0, 0.0, Vec::new());
    for v in [1.0, 2.0] {
        let g: f64 = 0.5 * v + 0.25 * hs + 0.3;
        cs = sigmoid(g) * cs + sigmoid(g) * g.tanh();
        hs = sigmoid(g) * cs.tanh();
        outs.push(hs);
    }
    close(&out, &outs);
    close(&h, &[hs]);
    close(&c, &[cs]);
    let gru = nn::Gru::new(&nn::Vars::from_tensors(tensors(3)), 1, 1, 1)?;
    let (out, h) = gru.forward(&x);
    let (mut hs, mut outs) = (0.0, Vec::new());
    for v in [1.0, 2.0] {
        let gate = sigmoid(0.5 * v + 0.25 * hs + 0.3);
        let n = (0.5 * v + 0.1 + gate * (0.25 * hs + 0.2)).tanh();
        hs = (1.0 - gate) * n + gate * hs;
        outs.push(hs);
    }
    close(&out, &outs);
    close(&h, &[hs]);
    Ok(())
}

#[test]
fn layers_have_pytorchs_names() -> Result<()> {
    let vars = nn::Vars::seeded(3);
    nn::Conv2d::new(&vars.sub("conv"), 4, 6, 3, Conv { groups: 2, ..Conv::default() }, true)?;
    nn::BatchNorm2d::new(&vars.sub("bn"), 6)?;
    nn::Lstm::new(&vars.sub("lstm"), 2, 3, 2)?;
    let names: Vec<String> = vars.params().iter().map(|p| format!("{}{:?}", p.name(), p.shape())).collect();
    assert_eq!(
        names[..6],
        ["bn.bias[6]", "bn.running_mean[6]", "bn.running_var[6]", "bn.weight[6]", "conv.bias[6]", "conv.weight[6, 2, 3, 3]"]
    );
    assert!(names.contains(&"lstm.weight_ih_l1[12, 3]".to_owned()), "{names:?}");
    Ok(())
}

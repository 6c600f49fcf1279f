//! What the planner leaves to the library after a product, by function, element type and rules of rounding.

use program::{CudaProgram, CudaStep, Product};
use testing::cuda::cuda_programs;

/// A product of `dtype` and a vector `%b`, then lines that make `%y`; `#` stands for the type.
fn programs(dtype: &str, wide: bool, lines: &[&str]) -> Vec<CudaProgram> {
    let head = "func f(x: #[512, 768], w: #[768, 1024], v: #[1024], m: #[512, 1024], n: #[512]) -> (y) {\n\
         %p = contract %x, %w \"ab,bc->ac\" acc f32\n\
         %v1 = view.reshape %v [1, 1024]\n%b = view.expand %v1 [512, 1024]\n\
         %n1 = view.reshape %n [512, 1]\n%rows = view.expand %n1 [512, 1024]\n";
    let body = format!("{head}{}\nreturn y = %y\n}}\n", lines.join("\n")).replace('#', dtype);
    let numerics = if wide { "# numerics wide\n" } else { "" };
    cuda_programs(&format!("{numerics}{body}")).unwrap()
}

/// The one product of a plan, and how many launches there are besides.
fn product(programs: &[CudaProgram]) -> (Product, usize) {
    let steps: Vec<&CudaStep> = programs.iter().flat_map(|p| &p.steps).collect();
    let products = steps.iter().filter_map(|s| if let CudaStep::Product(p) = s { Some(p.clone()) } else { None });
    let products: Vec<Product> = products.collect();
    assert_eq!(products.len(), 1, "{programs:?}");
    (products[0].clone(), steps.len() - 1)
}

/// What the library does after the product, and the launches besides.
fn left(dtype: &str, wide: bool, lines: &[&str]) -> (String, usize) {
    let (product, launches) = product(&programs(dtype, wide, lines));
    let bias = if product.epilogue.bias.is_some() { "bias " } else { "" };
    let function = product.epilogue.activation.map_or(String::new(), |a| format!("{a:?}"));
    (format!("{bias}{function}"), launches)
}

const BIAS: &str = "%s = add %p, %b";

/// `%name` is a constant of the result's shape.
fn filled(name: &str, dtype: &str, value: &str) -> String {
    format!(
        "%{name}0 = const {dtype} {value}\n%{name}1 = view.reshape %{name}0 [1, 1]\n%{name} = view.expand %{name}1 [512, 1024]"
    )
}

/// Gelu of `%u` in f32, `%g`.
fn gelu(inner: &str) -> String {
    let constants = [filled("c", "f32", "0.044715"), filled("d", "f32", "0.7978846"), filled("e", "f32", "1.0")].join("\n");
    let half = filled("h", "f32", "0.5");
    format!(
        "{constants}\n{half}\n%u2 = mul %u, %u\n%u3 = mul %u2, %u\n%bent = mul %c, %u3\n%in = add %bent, {inner}\n\
         %scaled = mul %in, %d\n%t = tanh %scaled\n%gate = add %e, %t\n%twice = mul %u, %gate\n%g = mul %twice, %h"
    )
}

#[test]
fn a_bias_is_left_to_the_library_where_nothing_is_rounded_before_it() {
    let one = ["%y = add %p, %b"];
    assert_eq!(left("f32", false, &one), ("bias ".into(), 0));
    assert_eq!(left("f32", false, &["%y = add %b, %p"]), ("bias ".into(), 0));
    assert_eq!(left("bf16", false, &one), (String::new(), 1));
    assert_eq!(left("bf16", true, &one), ("bias ".into(), 0));
    assert_eq!(left("f16", true, &one), ("bias ".into(), 0));
}

#[test]
fn what_is_no_vector_along_the_rows_is_no_bias() {
    assert_eq!(left("f32", true, &["%y = add %p, %m"]), (String::new(), 1));
    assert_eq!(left("f32", true, &["%y = add %p, %rows"]), (String::new(), 1));
    assert_eq!(left("f32", true, &["%y = mul %p, %b"]), (String::new(), 1));
}

#[test]
fn relu_follows_a_bias() {
    let zero = filled("z", "f32", "0.0");
    assert_eq!(left("f32", false, &[BIAS, &zero, "%y = max %s, %z"]), ("bias Relu".into(), 0));
    assert_eq!(left("f32", false, &[&zero, "%y = max %z, %p"]), ("Relu".into(), 0));
    let one = filled("z", "f32", "1.0");
    assert_eq!(left("f32", false, &[BIAS, &one, "%y = max %s, %z"]), (String::new(), 1), "all or nothing");
}

#[test]
fn gelu_in_its_tanh_form_is_left_to_the_library_in_wide_numerics() {
    let f32s = ["%u = add %p, %b", &gelu("%u").replace("%g =", "%y =")];
    assert_eq!(left("f32", false, &f32s), (String::new(), 1));
    assert_eq!(left("f32", true, &f32s), ("bias GeluTanh".into(), 0));
    let bf16s = [BIAS, "%u = cast.f32 %s", &gelu("%u"), "%y = cast.bf16 %g"];
    assert_eq!(left("bf16", true, &bf16s), ("bias GeluTanh".into(), 0));
    assert_eq!(left("bf16", false, &bf16s), (String::new(), 1));
    let other = [BIAS, "%u = cast.f32 %s", &gelu("%u2"), "%y = cast.bf16 %g"];
    assert_eq!(left("bf16", true, &other).1, 1, "another polynomial");
}

#[test]
fn a_product_that_is_read_twice_is_stored() {
    let zero = filled("z", "f32", "0.0");
    let (product, launches) = product(&programs("f32", false, &[BIAS, &zero, "%r = max %s, %z", "%y = mul %r, %s"]));
    assert!(product.epilogue.activation.is_none() && launches == 1);
}

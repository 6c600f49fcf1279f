//! What the planner leaves to the library after a product, by function, element type and rules of rounding.

use std::collections::BTreeMap;

use driver::Target;
use program::{CudaProgram, CudaStep, Product};
use scalar::Activation;
use testing::cuda::cuda_programs;

/// A product of `dtype` and a vector `%b`, then lines that make `%y`; `#` stands for the type.
fn programs(dtype: &str, wide: bool, lines: &[&str]) -> Vec<CudaProgram> {
    returning(dtype, wide, lines, "(y)", "y = %y")
}

/// As [`programs`], with a second result.
fn two_results(dtype: &str, wide: bool, lines: &[&str], second: &str) -> Vec<CudaProgram> {
    returning(dtype, wide, lines, "(y, z)", &format!("y = %y, z = {second}"))
}

fn returning(dtype: &str, wide: bool, lines: &[&str], results: &str, values: &str) -> Vec<CudaProgram> {
    cuda_programs(&source(dtype, wide, lines, results, values)).unwrap()
}

fn source(dtype: &str, wide: bool, lines: &[&str], results: &str, values: &str) -> String {
    let head = "func f(x: #[512, 768], w: #[768, 1024], v: #[1024], m: #[512, 1024], n: #[512]) -> RESULTS {\n\
         %p = contract %x, %w \"ab,bc->ac\" acc f32\n\
         %v1 = view.reshape %v [1, 1024]\n%b = view.expand %v1 [512, 1024]\n\
         %n1 = view.reshape %n [512, 1]\n%rows = view.expand %n1 [512, 1024]\n";
    let body = format!("{head}{}\nreturn {values}\n}}\n", lines.join("\n")).replace('#', dtype).replace("RESULTS", results);
    let numerics = if wide { "# numerics wide\n" } else { "" };
    format!("{numerics}{body}")
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

/// Derivative of gelu at `%z`, in f32, times `%q`: `%y0`.
fn backward() -> String {
    let constants = [
        filled("k", "f32", "0.044715"),
        filled("s", "f32", "0.7978846"),
        filled("one", "f32", "1.0"),
        filled("half", "f32", "0.5"),
        filled("three", "f32", "0.134145"),
    ];
    let lines = "%z2 = mul %z, %z\n%z3 = mul %z2, %z\n%kz = mul %k, %z3\n%in = add %z, %kz\n%i = mul %s, %in\n%t = tanh %i\n\
         %left = mul %half, %z\n%right = add %one, %t\n%first = mul %half, %right\n%tt = mul %t, %t\n%dt = sub %one, %tt\n\
         %k3 = mul %three, %z2\n%k31 = add %one, %k3\n%di = mul %s, %k31\n%l1 = mul %left, %dt\n%l2 = mul %l1, %di\n\
         %d = add %first, %l2\n%y0 = mul %q, %d";
    format!("{}\n{lines}", constants.join("\n"))
}

#[test]
fn the_gradient_of_gelu_is_left_to_the_library_in_wide_numerics() {
    let f32s = backward().replace("%z,", "%m,").replace(", %z\n", ", %m\n").replace("%q", "%p").replace("%y0", "%y");
    assert_eq!(left("f32", false, &[&f32s]), (String::new(), 1));
    assert_eq!(left("f32", true, &[&f32s]), ("GeluTanhBackward".into(), 0));
    let bf16s = ["%q = cast.f32 %p", "%z = cast.f32 %m", &backward(), "%y = cast.bf16 %y0"];
    assert_eq!(left("bf16", true, &bf16s), ("GeluTanhBackward".into(), 0));
    assert_eq!(left("bf16", false, &bf16s), (String::new(), 1));
    let other = ["%q = cast.f32 %p", "%z = cast.f32 %m", &backward().replace("0.134145", "0.13"), "%y = cast.bf16 %y0"];
    assert_eq!(left("bf16", true, &other), (String::new(), 1), "another polynomial");
}

#[test]
fn sums_of_the_gradient_of_gelu_are_a_second_result() {
    let backward = backward();
    let lines = ["%q = cast.f32 %p", "%z = cast.f32 %m", &backward, "%y = cast.bf16 %y0", "%db = reduce.sum %y [0]"];
    let (summed, launches) = product(&two_results("bf16", true, &lines, "%db"));
    let sums = summed.epilogue.sums.expect("a second result");
    assert_eq!((summed.epilogue.activation, launches, sums.over_rows), (Some(Activation::GeluTanhBackward), 0, false));
    let along = ["%q = cast.f32 %p", "%z = cast.f32 %m", &backward, "%y = cast.bf16 %y0", "%db = reduce.sum %y [1]"];
    assert_eq!(product(&two_results("bf16", true, &along, "%db")).0.epilogue, program::Epilogue::default(), "of rows");
}

#[test]
fn what_gelu_is_applied_to_is_a_second_result() {
    let gelu = gelu("%u");
    let lines = [BIAS, "%u = cast.f32 %s", &gelu, "%y = cast.bf16 %g"];
    let programs = |wide| two_results("bf16", wide, &lines, "%s");
    let (kept, launches) = product(&programs(true));
    let written = kept.epilogue.beside.expect("a second result").param;
    assert_eq!((kept.epilogue.activation, launches), (Some(Activation::GeluTanh), 0));
    assert!(kept.epilogue.bias.is_some() && written != kept.d.param);
    assert!(product(&programs(false)).0.epilogue.beside.is_none(), "rounded in between");
    let (other, launches) = product(&two_results("bf16", true, &lines, "%p"));
    assert!(other.epilogue == program::Epilogue::default() && launches == 1, "not what gelu is applied to");
}

#[test]
fn what_the_library_refuses_is_a_product_and_one_kernel() {
    let backward = backward();
    let lines = ["%q = cast.f32 %p", "%z = cast.f32 %m", &backward, "%y = cast.bf16 %y0", "%db = reduce.sum %y [0]"];
    let body = source("bf16", true, &lines, "(y, z)", "y = %y, z = %db");
    let mut config = testing::cuda::config_of(&body);
    let graph = graph::text::parse("test", &body).unwrap();
    let plan = driver::passes(&graph, &BTreeMap::new(), &Target::cuda(), &config).unwrap().plan;
    let [kernel] = &plan.kernels[..] else { panic!("{plan:?}") };
    let whole = driver::cuda_program(&plan, kernel, &BTreeMap::new(), &config).unwrap();
    assert!(program::Program::from(whole).has_followed_products());
    config.cuda.followed_products = false;
    let (alone, launches) = product(&[driver::cuda_program(&plan, kernel, &BTreeMap::new(), &config).unwrap()]);
    assert!(alone.epilogue == program::Epilogue::default() && launches == 2, "a kernel, and one that ends its sums");
}

#[test]
fn a_product_that_is_read_twice_is_stored() {
    let zero = filled("z", "f32", "0.0");
    let (product, launches) = product(&programs("f32", false, &[BIAS, &zero, "%r = max %s, %z", "%y = mul %r, %s"]));
    assert!(product.epilogue.activation.is_none() && launches == 1);
}

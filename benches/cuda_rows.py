"""What the rows of benches/cuda compute, as users of torch, Liger and JAX write it.

A row's file names its family: `04_softmax_8192x16384.t` is of `softmax`. A family takes the row's random inputs, scales them where that
keeps results in range, and says who computes the same.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F

try:
    import liger_kernel.ops as liger
except ImportError:
    liger = None
try:
    import jax
    import jax.numpy as jnp
except ImportError:
    jax = jnp = None


@dataclass
class Workload:
    """One row's computation. Functions take the inputs in order and give the outputs in order, as a tuple."""

    inputs: list
    # What is compiled, and how it is called: `drive(core, *inputs)`.
    core: Callable
    drive: Callable = lambda core, *inputs: core(*inputs)
    # In f64; the core on f64 inputs if nothing else is said.
    reference: Callable | None = None
    liger: Callable | None = None
    xla: Callable | None = None
    # Outputs that overwrite inputs: output number to input number.
    overwrites: dict = field(default_factory=dict)
    # Ready-made peers: name to (call, outputs), in place of the core; for those with a state.
    stateful: dict[str, Callable[[], tuple[Callable, Any]]] = field(default_factory=dict)
    # Peers that take long to compile.
    slow: set = field(default_factory=set)
    # Peers that wait for the device in the middle of a call, which no recording can.
    waits: set = field(default_factory=set)

    def wanted(self):
        if self.reference:
            return list(self.reference(*self.inputs))
        doubles = [x.double() if x.is_floating_point() else x for x in self.inputs]
        return list(self.drive(self.core, *doubles))


def family(file):
    """The name of a row's family."""
    return re.sub(r"^\d+_|_\d+x\d+$", "", file.stem)


def workload(file, program, inputs):
    """The computation of a row's file."""
    make = FAMILIES.get(family(file))
    if make is None:
        raise KeyError(f"no peers are defined for {file.name}: add the family {family(file)!r} to benches/cuda_rows.py")
    return make(program, inputs)


# Constants of f16 programs, rounded as there.
TENTH, ABOVE_ONE = 0.0999755859375, 1.009765625


def bias_gelu(_, inputs):
    def xla(x, b):
        return (jax.nn.gelu(x + b, approximate=False) * x.dtype.type(0.5) + x.dtype.type(TENTH),)

    return Workload(inputs, lambda x, b: (F.gelu(x + b) * 0.5 + TENTH,), xla=xla)


def ten_ops(_, inputs):
    def core(x):
        for _ in range(5):
            x = torch.tanh(x) * ABOVE_ONE
        return (x,)

    def xla(x):
        for _ in range(5):
            x = jnp.tanh(x) * x.dtype.type(ABOVE_ONE)
        return (x,)

    return Workload(inputs, core, xla=xla)


def add_relu(_, inputs):
    return Workload(inputs, lambda x, y: (torch.relu(x + y),), xla=lambda x, y: (jax.nn.relu(x + y),))


def softmax(_, inputs):
    return Workload(
        inputs,
        lambda x: (torch.softmax(x, -1),),
        liger=lambda x: (liger.LigerSoftmaxFunction.apply(x),),
        xla=lambda x: (jax.nn.softmax(x.astype("float32"), -1).astype(x.dtype),),
    )


def _norm(x, w, b):
    """A layer norm of JAX."""
    f = x.astype("float32")
    centred = f - f.mean(-1, keepdims=True)
    scaled = centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
    return (scaled * w.astype("float32") + b.astype("float32")).astype(x.dtype)


def layer_norm(_, inputs):
    return Workload(
        inputs,
        lambda x, w, b: (F.layer_norm(x, x.shape[-1:], w, b),),
        liger=lambda x, w, b: (liger.LigerLayerNormFunction.apply(x, w, b, 1e-5),),
        xla=lambda x, w, b: (_norm(x, w, b),),
    )


def residual_layer_norm(_, inputs):
    def core(x, r, w, b):
        s = x + r
        return s, F.layer_norm(s, s.shape[-1:], w, b)

    def from_liger(x, r, w, b):
        s = x + r
        return s, liger.LigerLayerNormFunction.apply(s, w, b, 1e-5)

    return Workload(inputs, core, liger=from_liger, xla=lambda x, r, w, b: (x + r, _norm(x + r, w, b)))


def rms_norm(_, inputs):
    def xla(x, w):
        f = x.astype("float32")
        return ((f * jax.lax.rsqrt((f * f).mean(-1, keepdims=True) + 1e-6) * w.astype("float32")).astype(x.dtype),)

    return Workload(
        inputs,
        lambda x, w: (F.rms_norm(x, x.shape[-1:], w, 1e-6),),
        liger=lambda x, w: (liger.LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "gemma", False),),
        xla=xla,
    )


def layer_norm_backward(_, inputs):
    x, dy, w, _, _ = inputs
    mean = x.float().mean(-1, keepdim=True)
    rstd = (x.float().var(-1, unbiased=False, keepdim=True) + 1e-5).rsqrt()

    def core(x, dy, w, mean, rstd):
        return torch.ops.aten.native_layer_norm_backward(
            dy, x, x.shape[-1:], mean, rstd, w, torch.zeros_like(w), [True, True, True]
        )

    def from_liger(x, dy, w, mean, rstd):
        from liger_kernel.ops.layer_norm import layer_norm_backward as backward

        return backward(dy, x, w, w, mean.view(-1), rstd.view(-1))

    def xla(x, dy, w, mean, rstd):
        up = dy.astype("float32")
        scaled, wdy = (x.astype("float32") - mean) * rstd, up * w.astype("float32")
        dx = (wdy - wdy.mean(-1, keepdims=True) - scaled * (wdy * scaled).mean(-1, keepdims=True)) * rstd
        return dx.astype(x.dtype), (up * scaled).sum(0).astype(w.dtype), up.sum(0).astype(w.dtype)

    return Workload([x, dy, w, mean, rstd], core, liger=from_liger, xla=xla)


def _xla_loss(logits, target):
    f = logits.astype("float32")
    return (jax.nn.logsumexp(f, -1) - jnp.take_along_axis(f, target[:, None], -1)[:, 0]).mean()


def cross_entropy(_, inputs):
    return Workload(
        inputs,
        lambda logits, target: (F.cross_entropy(logits, target),),
        reference=lambda logits, target: (_loss(logits, target)[0],),
        liger=lambda logits, target: (liger.LigerCrossEntropyFunction.apply(logits, target, None)[0],),
        xla=lambda logits, target: (_xla_loss(logits, target),),
        waits={"liger"},
    )


def _loss(logits, target, rows=512):
    """Loss and gradient in f64, some rows at a time."""
    loss, parts = 0.0, []
    for x, t in zip(logits.split(rows), target.split(rows)):
        log = torch.log_softmax(x.double(), -1)
        at = (torch.arange(len(t), device=t.device), t)
        loss = loss - log[at].sum()
        gradient = log.exp_()
        gradient[at] -= 1.0
        parts.append(gradient.div_(len(target)).float())
    return loss / len(target), torch.cat(parts)


def cross_entropy_gradient(_, inputs):
    def drive(core, logits, target):
        leaf = logits.detach().requires_grad_()
        (loss,) = core(leaf, target)
        return loss.detach(), torch.autograd.grad(loss, leaf)[0]

    # Liger writes the gradient over the logits: these are its own, and after its first call what it works on is a gradient.
    own = {}

    def from_liger(logits, target):
        if "logits" not in own:
            own["logits"] = logits.clone().requires_grad_()
        loss = liger.LigerCrossEntropyFunction.apply(own["logits"], target, None)[0]
        return loss.detach(), own["logits"].detach()

    return Workload(
        inputs,
        lambda logits, target: (F.cross_entropy(logits, target),),
        drive=drive,
        reference=_loss,
        liger=from_liger,
        xla=lambda logits, target: jax.value_and_grad(_xla_loss)(logits, target),
        waits={"liger"},
    )


def transpose(_, inputs):
    return Workload(inputs, lambda x: (x.t().contiguous(),), xla=lambda x: (x.T,))


def sum_all(_, inputs):
    return Workload(inputs, lambda x: (x.sum(),), xla=lambda x: (x.sum(),))


def sum_columns(_, inputs):
    return Workload(inputs, lambda x: (x.sum(0),), xla=lambda x: (x.sum(0),))


# Steps of AdamW that were taken before.
STEPS = 9
ADAMW = {"betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}


def adamw(_, inputs):
    lr, c1, c2 = inputs[:3]
    lr.fill_(3e-4)
    c1.fill_(1 - 0.9 ** (STEPS + 1))
    c2.fill_(1 - 0.999 ** (STEPS + 1))
    sets = [inputs[i : i + 4] for i in range(3, len(inputs), 4)]
    for _, _, v, _ in sets:
        v.abs_().add_(0.1)

    def step(sqrt, lr, c1, c2, *flat):
        out = []
        for p, m, v, g in zip(flat[::4], flat[1::4], flat[2::4], flat[3::4]):
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            out += [p - lr * (m / c1 / (sqrt(v / c2) + 1e-8) + 0.01 * p), m, v]
        return out

    def of_torch(compiled, **options):
        def make():
            params = [torch.nn.Parameter(p.clone()) for p, _, _, _ in sets]
            optimizer = torch.optim.AdamW(params, lr=3e-4, capturable=True, **ADAMW, **options)
            out = []
            for param, (_, m, v, g) in zip(params, sets):
                param.grad = g
                steps = torch.full((), float(STEPS), device=param.device)
                state = {"step": steps, "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
                optimizer.state[param] = state
                out += [param.detach(), state["exp_avg"], state["exp_avg_sq"]]
            return (torch.compile(optimizer.step) if compiled else optimizer.step), out

        return make

    return Workload(
        inputs,
        lambda *inputs: step(torch.sqrt, *inputs),
        reference=lambda *inputs: [x.float() for x in step(torch.sqrt, *[i.double() for i in inputs])],
        xla=lambda *inputs: step(jnp.sqrt, *inputs),
        overwrites={3 * n + k: 3 + 4 * n + k for n in range(len(sets)) for k in range(3)},
        stateful={"torch": of_torch(False, fused=True), "inductor": of_torch(True, foreach=True)},
        slow={"inductor", "xla"},
    )


def gelu_linear_scale(_, inputs):
    x, w, b, s = inputs
    w.div_(w.shape[0] ** 0.5)
    return Workload(
        [x, w, b, s],
        lambda x, w, b, s: (F.gelu(x @ w + b) * s,),
        xla=lambda x, w, b, s: (jax.nn.gelu(x @ w + b, approximate=False) * s,),
    )


def geglu(_, inputs):
    for w in inputs[1:]:
        w.div_(w.shape[1] ** 0.5)

    def core(x, gate, up, down):
        return (F.linear(F.gelu(F.linear(x, gate), approximate="tanh") * F.linear(x, up), down),)

    return Workload(
        inputs,
        core,
        liger=lambda x, g, u, d: (F.linear(liger.LigerGELUMulFunction.apply(F.linear(x, g), F.linear(x, u)), d),),
        xla=lambda x, g, u, d: ((jax.nn.gelu(x @ g.T, approximate=True) * (x @ u.T)) @ d.T,),
    )


def residual_mlp(_, inputs):
    for w in inputs[1::2]:
        w.div_(w.shape[0] ** 0.5)

    def core(x, *layers):
        for w, b in zip(layers[::2], layers[1::2]):
            x = torch.relu(x @ w + b) + x
        return (x,)

    def xla(x, *layers):
        for w, b in zip(layers[::2], layers[1::2]):
            x = jax.nn.relu(x @ w + b) + x
        return (x,)

    return Workload(inputs, core, xla=xla)


def gpt2(program, inputs):
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)).eval()
    weights = {f"transformer.{name}": w for name, w in program.weights().items()}
    # These layers of transformers keep their matrices as [in, out].
    turned = {n: w.t() if re.search(r"\.c_\w+\.weight$", n) else w for n, w in weights.items()}
    turned["lm_head.weight"] = weights["transformer.wte.weight"]
    model.load_state_dict(turned)
    model = model.cuda()

    def of(model):
        def logits(ids):
            with torch.no_grad():
                return (model(ids, use_cache=False).logits,)

        return logits

    def reference(ids):
        wanted = of(model.double())(ids)
        model.float()
        return wanted

    return Workload(inputs, of(model), reference=reference)


FAMILIES = {
    "bias_gelu": bias_gelu,
    "ten_ops": ten_ops,
    "add_relu": add_relu,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "residual_layer_norm": residual_layer_norm,
    "rms_norm": rms_norm,
    "layer_norm_backward": layer_norm_backward,
    "cross_entropy": cross_entropy,
    "cross_entropy_gradient": cross_entropy_gradient,
    "transpose_bf16": transpose,
    "transpose_f32": transpose,
    "sum_all_bf16": sum_all,
    "sum_all_f32": sum_all,
    "sum_columns_bf16": sum_columns,
    "sum_columns_f32": sum_columns,
    "adamw": adamw,
    "gelu_linear_scale": gelu_linear_scale,
    "geglu": geglu,
    "residual_mlp": residual_mlp,
    "gpt2": gpt2,
}

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training step with an operator of fatlink.torch, beside the same step with PyTorch's own operation. Both are compiled by
torch.compile, which does not fuse an operator of fatlink with the operations around it. Losses are compared. Prints a table in
Markdown: medians of the times between two events of the GPU, by turns, and their ratio.
    torch_operator.py BUILD_FOLDER"""
import pathlib
import sys

from python_overhead import has, use_build
from python_sorts import measure, require

SILU = "FATLINK_MAP1(float, float, x) { return x / (1 + expf(-x)); }"
SILU_GRADIENT = ("FATLINK_MAP2(float, float, x, float, grad)\n"
                 "{ float const s = 1 / (1 + expf(-x)); return grad * s * (1 + x * (1 - s)); }")
WIDTHS = (256, 1024, 4096)  # of a model with two linear layers, for as many rows
COUNTS = (1 << 16, 1 << 20, 1 << 24)
MODES = ("default", "reduce-overhead")
HEAD = ("| training step | mode of torch.compile | elements | fatlink, ms | PyTorch, ms | fatlink / PyTorch |\n"
        "|---|---|---:|---:|---:|---:|")


def step_of(torch, function, parameters, inputs, mode):
    """A training step: returns the loss."""
    compiled = torch.compile(function, fullgraph=True, mode=mode)

    def step():
        loss = compiled(*inputs)
        loss.backward()
        with torch.no_grad():
            for parameter in parameters:
                parameter -= 1e-3 * parameter.grad
                parameter.grad = None
        return loss.detach().clone()  # a graph overwrites it
    return step


def model_steps(torch, activations, width, mode):
    """A step for each activation of a model with two linear layers."""
    for activation in activations:
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.Linear(width, width)).cuda()
        x = torch.randn(width, width, device="cuda")

        def loss(x, model=model, activation=activation):
            return (model[1](activation(model[0](x))) ** 2).mean()
        yield step_of(torch, loss, list(model.parameters()), (x,), mode)


def vector_steps(torch, functions, count, mode):
    """A step for each function of a vector of weighted numbers."""
    for function in functions:
        torch.manual_seed(1)
        weights, x = torch.rand(count, device="cuda").requires_grad_(), torch.randn(count, device="cuda")

        def loss(x, weights=weights, function=function):
            return (function(x * weights).sigmoid() ** 2).mean()
        yield step_of(torch, loss, [weights], (x,), mode)


def measure_steps(torch, name, steps, elements, mode):
    steps = list(steps)
    own, others = (step() for step in steps)
    require(torch.allclose(own, others, rtol=1e-4), name, elements)
    times = measure(torch, steps, elements)
    print(f"| {name} | {mode} | {elements} | {times[0]:.4f} | {times[1]:.4f} | {times[0] / times[1]:.2f} |", flush=True)
    torch._dynamo.reset()


def main(build):
    if not (build / "lib").is_dir():
        sys.exit(f"torch_operator: error: {build}: has no lib: name the folder of a build")
    use_build(build.resolve())
    if not has("torch"):
        sys.exit("torch_operator: PyTorch is not installed for this Python")
    import fatlink.torch
    import torch
    if not torch.cuda.is_available():
        sys.exit("torch_operator: PyTorch sees no GPU")
    operator = fatlink.torch.operator
    silu = operator("fatlink_bench::silu", "map", SILU, gradient=SILU_GRADIENT)
    scan, ordered = operator("fatlink_bench::scan", "scan"), operator("fatlink_bench::sort", "sort")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, fatlink {fatlink.version()}\n\n{HEAD}")
    for mode in MODES:
        for width in WIDTHS:
            steps = model_steps(torch, (silu, torch.nn.functional.silu), width, mode)
            measure_steps(torch, "two linear layers, silu between them", steps, width * width, mode)
        for count in COUNTS:
            for name, functions in (("silu", (silu, torch.nn.functional.silu)), ("scan", (scan, lambda x: x.cumsum(0))),
                                    ("sort", (ordered, lambda x: x.sort()[0]))):
                measure_steps(torch, name, vector_steps(torch, functions, count, mode), count, mode)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))

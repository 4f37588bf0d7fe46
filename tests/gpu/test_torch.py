# SPDX-License-Identifier: Apache-2.0
"""Operators of PyTorch that fatlink.torch.operator defines, on GPUs: in CUDA graphs, in other streams, in a training step of a
compiled model, with PyTorch's scratch memory."""
import os
import subprocess
import sys
import unittest

from fatlink_cli import gpus
from python_case import PACKAGE, fatlink, variables
from torch_operators_suite import TorchCase, TorchOperators

COUNT = 1_000_003
FIRST_CALLS = """
import sys, torch, fatlink, fatlink.torch
x = torch.arange(1_000_003, device="cuda") % 17 - 8
x = x.float()
total, sums = torch.empty((), device="cuda"), torch.empty_like(x)
graph = torch.cuda.CUDAGraph()
square = fatlink.torch.operator("tests::square", "map", "square")
with torch.cuda.graph(graph, capture_error_mode=sys.argv[1]):
    fatlink.reduce(x, "FATLINK_COMBINE(float, a, b) { return a + b; }", init=0, out=total)
    fatlink.scan(x, out=sums)
    ordered = fatlink.sort(x)
    squares = square(x)
for factor in (1, 2):
    x.mul_(factor)
    graph.replay()
    for found, expected in (total, x.sum()), (sums, x.cumsum(0)), (ordered, x.sort()[0]), (squares, x * x):
        torch.testing.assert_close(found, expected, rtol=0, atol=0)
print("equal")
"""


class GpuTorchCase(TorchCase):
    device = "cuda"

    def setUp(self):
        if not gpus():
            self.skipTest("no GPU on this machine")
        super().setUp()
        if not self.torch.cuda.is_available():
            self.skipTest("PyTorch sees no GPU")

    def numbers(self, count=COUNT):
        """Whole numbers, whose sums are exact."""
        return self.torch.randint(-8, 8, (count,), generator=self.generator).float().to(self.device)

    def silu_model(self, activation):
        torch = self.torch
        torch.manual_seed(1)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)

            def forward(self, x):
                return self.second(activation(self.first(x)))
        return Model().cuda()

    def losses(self, activation, **compile):
        """The losses of some training steps of a compiled model."""
        torch = self.torch
        model = self.silu_model(activation)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        compiled = torch.compile(model, fullgraph=True, **compile)
        x = torch.linspace(-2, 2, 64 * 128, device="cuda").reshape(128, 64)
        losses = []
        for _ in range(6):
            loss = ((compiled(x) - x.sin()) ** 2).mean()
            losses.append(loss.item())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return torch.tensor(losses)

    def assert_losses_of_pytorch(self, losses):
        self.torch.testing.assert_close(losses, self.losses(self.torch.nn.functional.silu), rtol=1e-4, atol=1e-6)


class Operators(TorchOperators, GpuTorchCase):
    def test_are_compiled_by_inductor(self):
        self.compile_with_inductor()


class Graphs(GpuTorchCase):
    def test_operators_and_gradients_are_captured(self):
        torch, scan, ordered, square = self.torch, self.define("scan"), self.define("sort"), self.define("map", "square")
        x = self.numbers().requires_grad_()
        weights = self.numbers()

        def call_all():
            sums = scan(x)
            slope, = torch.autograd.grad(sums, x, weights)
            moved, = torch.autograd.grad(ordered(x), x, weights)
            with torch.no_grad():
                return sums.detach(), slope, moved, ordered(square(x))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            call_all()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            found = call_all()
        for factor in (1, 2, 3):
            others = [torch.full((COUNT,), float("nan"), device="cuda") for _ in range(8)]  # would overwrite memory that the graph lost
            with torch.no_grad():
                x.copy_(self.numbers() * factor)
            graph.replay()
            values = x.detach()
            for result, expected in zip(found, (
                    values.cumsum(0), weights.flip(0).cumsum(0).flip(0),
                    torch.zeros_like(values).scatter(0, values.sort(stable=True)[1], weights), (values ** 2).sort()[0]), strict=True):
                self.assert_equal(result, expected)
            del others

    def test_of_a_first_call_are_captured_without_a_warm_up(self):
        """In a new process, in which nothing is linked or loaded, in each mode of a capture."""
        for mode in ("global", "thread_local", "relaxed"):
            with self.subTest(mode=mode):
                done = subprocess.run([sys.executable, "-c", FIRST_CALLS, mode], text=True, capture_output=True, env={
                    **os.environ, **variables(), "PYTHONPATH": PACKAGE})
                self.assertEqual((done.returncode, done.stdout), (0, "equal\n"), done.stderr)

    def test_calls_that_wait_refuse_a_capture(self):
        torch, x = self.torch, self.numbers()
        graph = torch.cuda.CUDAGraph()
        with self.assertRaises(fatlink.DeviceError) as raised, torch.cuda.graph(graph):
            fatlink.select(x, "nonzero")
        self.assertIn("is being captured into a CUDA graph", raised.exception.message)
        self.assertIn("pass count=", raised.exception.hint)

    def test_a_training_step_is_compiled_into_graphs(self):
        self.assert_losses_of_pytorch(self.losses(self.silu(), mode="reduce-overhead"))


class Training(GpuTorchCase):
    def test_of_a_compiled_model_gives_the_losses_of_pytorch(self):
        losses = self.losses(self.silu())
        self.assert_losses_of_pytorch(losses)
        self.assertLess(losses[-1], losses[0])


class Streams(GpuTorchCase):
    def test_operators_run_in_the_current_stream(self):
        """The stream is delayed by work before, on which the results depend."""
        torch, scan = self.torch, self.define("scan")
        x = torch.zeros(COUNT, device="cuda", requires_grad=True)
        large = torch.ones(1 << 26, device="cuda")
        scan(x)
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(20):
                large *= 1
            with torch.no_grad():
                x += large[:COUNT]
            sums = scan(x)
            slope, = torch.autograd.grad(sums.sum(), x)
            with torch.no_grad():
                x *= 0
            steps = torch.arange(1.0, COUNT + 1, device="cuda")
            self.assert_equal(sums.detach(), steps)
            self.assert_equal(slope, steps.flip(0))
            torch.cuda.synchronize()

    def test_operators_run_on_the_gpu_of_the_tensors(self):
        torch, scan = self.torch, self.define("scan")
        if torch.cuda.device_count() < 2:
            self.skipTest("one GPU only")
        x = self.numbers().to("cuda:1").requires_grad_()
        scan(x).sum().backward()
        self.assertEqual((x.grad.device.index, torch.cuda.current_device()), (1, 0))
        self.assert_equal(x.grad, torch.arange(float(COUNT), 0, -1, device="cuda:1"))
        product = self.product()
        self.assert_error(fatlink.UsageError, product, self.numbers(), self.numbers().to("cuda:1"), says="y in the memory of gpu:1",
                          code="several-devices")


class Memory(GpuTorchCase):
    def test_scratch_memory_is_that_of_pytorch(self):
        torch, ordered, device = self.torch, self.define("sort", "greater"), fatlink.open_device("gpu")
        x = self.tensor(COUNT)
        ordered(x)
        torch.cuda.synchronize()
        device.trim_memory_pool()
        before = device.memory_pool
        torch.cuda.reset_peak_memory_stats()
        allocated = torch.cuda.memory_allocated()
        result = ordered(x)
        torch.cuda.synchronize()
        self.assertGreater(torch.cuda.max_memory_allocated() - allocated, 4 * COUNT + 4096)  # the result, and scratch memory
        del result
        self.assertEqual(torch.cuda.memory_allocated(), allocated)
        self.assertEqual(device.memory_pool, before)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Operators of JAX that fatlink.jax.operator defines, on GPUs: results and gradients, no wait of their own, XLA's scratch memory and
command buffers, several GPUs."""
import ctypes
import os
import subprocess
import sys
import threading
import unittest

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take most of the memory
from fatlink_cli import gpus  # noqa: E402
from jax_operators_suite import Batches, Gradients, JaxCase, Results  # noqa: E402
from python_case import PACKAGE, numpy, variables  # noqa: E402
from xla_frames import METADATA, Frame, Question, StreamArguments  # noqa: E402

SECONDS = 60


class GpuCase(JaxCase):
    count = 1_000_003

    def setUp(self):
        if not gpus():
            self.skipTest("no GPU on this machine")
        super().setUp()
        if self.jax.default_backend() not in ("gpu", "cuda"):
            self.skipTest("JAX sees no GPU")


class GpuResults(Results, GpuCase):
    pass


class GpuGradients(Gradients, GpuCase):
    pass


class GpuBatches(Batches, GpuCase):
    pass


HANDLER = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Frame))
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def handler(work):
    """A handler of XLA that calls `work` with the stream of the program."""
    def call(frame):
        frame = frame[0]
        if frame.extensions and (question := Question.from_address(frame.extensions)).type == METADATA:
            metadata, version = question.metadata[0], frame.api[0].version
            metadata.version.struct_size, metadata.version.major, metadata.version.minor = 24, version.major, version.minor
            metadata.traits = 0
            return None
        arguments = StreamArguments(context=frame.context)
        frame.api[0].get_stream(ctypes.byref(arguments))
        work(arguments.stream)
        return None
    return HANDLER(call)


class Order(GpuCase):
    def register(self, name, work):
        """A function that calls `work` when XLA queues it, and returns its array."""
        function = handler(work)
        self.keep.append(function)
        self.jax.ffi.register_ffi_target(name, self.jax.ffi.pycapsule(function), platform="CUDA")
        return lambda x: self.jax.ffi.ffi_call(name, self.jax.ShapeDtypeStruct(x.shape, x.dtype), input_output_aliases={0: 0})(x)

    keep: list = []  # until the process ends

    def test_operators_are_queued_while_earlier_work_is_unfinished(self):
        """Work before the operator is held until XLA has queued the work after it. An operator that waited would never return."""
        opened, queued = threading.Event(), threading.Event()
        hold = HOST_FUNCTION(lambda _: opened.wait(SECONDS))
        self.keep.append(hold)
        driver = ctypes.CDLL("libcuda.so.1")
        driver.cuLaunchHostFunc.argtypes = [ctypes.c_void_p] * 3
        before = self.register("fatlink_test_hold", lambda stream: driver.cuLaunchHostFunc(stream, ctypes.cast(hold, ctypes.c_void_p), None))
        after = self.register("fatlink_test_mark", lambda _: queued.set())
        for function in (self.operator("map", "square"), self.operator("scan"), self.operator("sort"), self.operator("reduce")):
            with self.subTest(function=function):
                function(self.array).block_until_ready()  # links
                opened.clear()
                queued.clear()
                program = self.jax.jit(lambda x: after(function(before(x * 2)) + 1) * 3)
                caller = threading.Thread(target=lambda: self.keep.append(program(self.array)))
                caller.start()
                is_queued = queued.wait(SECONDS / 2)
                opened.set()
                caller.join()
                self.assertTrue(is_queued, "the operator waited for the work before it")
                self.assert_same(self.keep.pop(), (function(self.array * 2) + 1) * 3)

    def test_results_follow_long_work(self):
        jax, scan = self.jax, self.operator("scan")
        large = jax.numpy.ones((4096, 4096))

        @jax.jit
        def program(x, large):
            for _ in range(20):
                large = large @ large / 4096
            return scan(x * large[0, 0]) + large[1, 1]
        self.assert_same(program(self.array, large), self.numbers.cumsum(dtype=numpy.float32) + 1)


COMMAND_BUFFERS = """
import os, re
import jax, numpy
import fatlink, fatlink.jax
scan, sort, square = fatlink.jax.operator("scan"), fatlink.jax.operator("sort"), fatlink.jax.operator("map", "square")
program = jax.jit(lambda x: sort(square(scan(x) + 1) * 2) - 1)
x = jax.numpy.asarray((numpy.arange(1_000_003) * 7 % 101 - 50).astype(numpy.float32))
compiled = program.lower(x).compile()
print(bool(re.search(r"command_buffer", compiled.as_text())))
device = fatlink.open_device("gpu")
pool = device.memory_pool
for factor in (1, 2, 3):
    y = x * factor
    others = [jax.numpy.full(len(y), float("nan")) for _ in range(8)]  # would overwrite memory that a graph lost
    for _ in range(3):
        result = compiled(y)
    expected = numpy.sort((numpy.cumsum(numpy.asarray(y), dtype=numpy.float32) + 1) ** 2 * 2) - 1
    print(numpy.array_equal(result, expected))
print(device.memory_pool == pool)
"""


class Programs(GpuCase):
    def run_python(self, script, **environment):
        done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, timeout=300, env={
            **os.environ, **variables(), "PYTHONPATH": f"{PACKAGE}:{os.environ.get('PYTHONPATH', '')}", **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_are_recorded_in_command_buffers_with_scratch_memory_of_xla(self):
        flags = "--xla_gpu_enable_command_buffer=FUSION,CUSTOM_CALL --xla_gpu_graph_min_graph_size=1"
        is_recorded, *results = self.run_python(COMMAND_BUFFERS, XLA_FLAGS=flags)
        self.assertEqual(results, ["True"] * 4)
        if is_recorded == "False":
            self.skipTest("this version of JAX records no custom calls in command buffers; the results are right")

    def test_use_scratch_memory_of_xla_without_command_buffers(self):
        self.assertEqual(self.run_python(COMMAND_BUFFERS, XLA_FLAGS="--xla_gpu_enable_command_buffer="), ["False", *["True"] * 4])


class Devices(GpuCase):
    def test_run_the_parts_of_an_array(self):
        jax = self.jax
        from jax.sharding import AxisType, NamedSharding
        from jax.sharding import PartitionSpec as P
        count = len(jax.devices())
        if count < 2:
            self.skipTest("one GPU only")
        mesh = jax.make_mesh((count,), ("d",), axis_types=(AxisType.Auto,))
        x = jax.device_put(self.array[:count * 1000], NamedSharding(mesh, P("d")))
        total = self.operator("reduce")
        norm = jax.jit(jax.shard_map(lambda x: jax.lax.psum(total(x * x), "d"), mesh=mesh, in_specs=P("d"), out_specs=P()))
        self.assert_same(norm(x), (self.numbers[:count * 1000]**2).sum())
        self.assert_same(jax.grad(norm)(x), 2 * self.numbers[:count * 1000])

    def test_that_are_not_the_default_run_arrays_on_them(self):
        others = [*self.jax.devices()[1:], *self.jax.devices("cpu")]
        for device in others:
            with self.subTest(device=device):
                x = self.jax.device_put(self.array[:1000], device)
                self.assert_same(self.operator("scan")(x), self.numbers[:1000].cumsum(dtype=numpy.float32))
                self.assertEqual(self.jax.jit(self.operator("scan"))(x).devices(), {device})


class Errors(GpuCase):
    def test_of_the_handler_are_those_of_fatlink(self):
        self.operator("map", "square")(self.array)
        call = self.jax.ffi.ffi_call("fatlink", self.jax.ShapeDtypeStruct((3,), numpy.float32))
        with self.assertRaises(Exception) as raised:
            self.jax.block_until_ready(call(self.array[:3], call="absent"))
        self.assertIn("this process has no operator absent", str(raised.exception))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The Python package on GPUs, with the arrays of PyTorch, CuPy and JAX: results, streams, no copies, and what is refused. Tests
of a framework that is not installed, or does not see the GPU, are skipped. Run with the Python that has them:
cmake -DPython3_EXECUTABLE=…"""
import ctypes
import importlib.util
import os
import threading
import traceback
import unittest
from types import SimpleNamespace

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take most of the memory
from fatlink_cli import gpus  # noqa: E402
from python_case import NumpyCase, fatlink, numpy, require_numba  # noqa: E402

COUNT = 100003
SUM = "FATLINK_COMBINE(float, a, b) { return a + b; }"


def has(name):
    return importlib.util.find_spec(name) is not None


class Framework:
    """What the tests need of a framework; arrays of numbers whose sums are exact."""

    def array(self, numbers):
        raise NotImplementedError

    def to_numpy(self, array):
        raise NotImplementedError

    def pointer(self, array):
        raise NotImplementedError


class TorchArrays(Framework):
    def __init__(self):
        import torch
        if not torch.cuda.is_available():
            raise unittest.SkipTest("PyTorch sees no GPU")
        self.torch = torch
        self.cls = torch.Tensor

    def array(self, numbers):
        return self.torch.from_numpy(numpy.array(numbers)).cuda()

    def to_numpy(self, array):
        return array.cpu().numpy()

    def pointer(self, array):
        return array.data_ptr()

    def stream(self):
        return self.torch.cuda.Stream()

    def use(self, stream):
        return self.torch.cuda.stream(stream)

    def synchronize(self):
        self.torch.cuda.synchronize()


class CupyArrays(Framework):
    def __init__(self):
        import cupy
        self.cupy = cupy
        self.cls = cupy.ndarray

    def array(self, numbers):
        return self.cupy.asarray(numbers)

    def to_numpy(self, array):
        return array.get()

    def pointer(self, array):
        return array.data.ptr

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def use(self, stream):
        return stream

    def synchronize(self):
        self.cupy.cuda.Device().synchronize()


class JaxArrays(Framework):
    def __init__(self):
        import jax
        devices = [device for device in jax.devices() if device.platform in ("gpu", "cuda")]
        if not devices:
            raise unittest.SkipTest("JAX sees no GPU")
        self.jax = jax
        self.cls = jax.Array
        self.device = devices[0]

    def array(self, numbers):
        return self.jax.device_put(numbers, self.device)

    def to_numpy(self, array):
        return numpy.asarray(array)

    def pointer(self, array):
        return array.unsafe_buffer_pointer()


class GpuCase(NumpyCase):
    framework = None  # a class

    def setUp(self):
        super().setUp()
        if not gpus():
            self.skipTest("no GPU on this machine")
        name = {TorchArrays: "torch", CupyArrays: "cupy", JaxArrays: "jax"}[self.framework]
        if not has(name):
            self.skipTest(f"{name} is not installed for this Python")
        self.arrays = self.framework()
        self.numbers = numpy.random.default_rng(0).integers(-40, 40, COUNT).astype(numpy.float32)
        self.array = self.arrays.array(self.numbers)

    def assert_array(self, array, expected):
        self.assertIsInstance(array, self.arrays.cls)
        result = self.arrays.to_numpy(array)
        self.assertEqual(result.shape, expected.shape)
        numpy.testing.assert_array_equal(result, expected)


class Algorithms:
    """What holds for the arrays of each framework."""

    def test_reduce(self):
        for mode in ("lto", "ptx"):
            self.assert_array(fatlink.reduce(self.array, mode=mode), self.numbers.sum())
        self.assert_array(fatlink.reduce(self.array, "max"), self.numbers.max())
        self.assert_array(fatlink.reduce(self.array, "abs_max"), abs(self.numbers).max())
        self.assert_array(fatlink.reduce(self.array, SUM, init=3), self.numbers.sum() + 3)

    def test_reduce_other_types(self):
        for name in ("float16", "int32", "uint8", "int16"):
            numbers = (abs(self.numbers[:1000]) % 2).astype(name)
            self.assert_array(fatlink.reduce(self.arrays.array(numbers), "max"), numbers.max())

    def test_sums_of_narrow_integers_are_those_of_the_framework(self):
        for name in ("uint8", "int32"):
            numbers = numpy.full(COUNT, 127, name)
            array = self.arrays.array(numbers)
            total = array.sum()
            for result, expected in ((fatlink.reduce(array), total), (fatlink.scan(array), array.cumsum(0, dtype=total.dtype))):
                self.assertEqual(result.dtype, expected.dtype)
                self.assert_array(result, self.arrays.to_numpy(expected))
            total = fatlink.reduce(array, dtype="float32")
            self.assert_array(total, numpy.float32(COUNT * 127))

    def test_scan(self):
        self.assert_array(fatlink.scan(self.array), self.numbers.cumsum(dtype=numpy.float32))
        self.assert_array(fatlink.exclusive_scan(self.array, init=5), self.numbers.cumsum(dtype=numpy.float32) - self.numbers + 5)

    def test_map(self):
        self.assert_array(fatlink.map(self.array, op="square"), self.numbers ** 2)
        self.assert_array(fatlink.map(self.array, self.array, op="add"), self.numbers * 2)
        small = self.arrays.array(self.numbers / 64)
        self.assert_array(fatlink.map(small, small, small, op="multiply_add"), self.numbers ** 2 / 4096 + self.numbers / 64)

    def test_select_and_partition(self):
        positive = self.numbers > 0
        self.assert_array(fatlink.select(self.array, "positive"), self.numbers[positive])
        accepted, rejected = fatlink.partition(self.array, "positive")
        self.assert_array(accepted, self.numbers[positive])
        self.assert_array(rejected, self.numbers[~positive])

    def test_transform_select_and_reduce(self):
        self.assert_array(fatlink.transform_select(self.array, "halves_of_positive"),
                          self.numbers[self.numbers > 0].astype(numpy.float16))
        self.assert_array(fatlink.transform_reduce(self.arrays.array(self.numbers[:1000]), "sum_squares"),
                          (self.numbers[:1000] ** 2).sum())

    def test_sort(self):
        self.assert_array(fatlink.sort(self.array), numpy.sort(self.numbers))
        order = numpy.argsort(self.numbers, kind="stable").astype(numpy.int32)
        keys, values = fatlink.sort_pairs(self.array, self.arrays.array(numpy.arange(COUNT, dtype=numpy.int32)))
        self.assert_array(keys, self.numbers[order])
        self.assert_array(values, order)

    def test_plan(self):
        plan = fatlink.load("reduce_4", "add_float")
        self.assert_array(plan.run(in_=self.array), self.numbers.sum(keepdims=True))
        stencil = fatlink.load("stencil", "smooth", device="gpu")
        self.assertEqual(stencil.run(in_=self.array).shape, (COUNT,))

    def test_empty_arrays(self):
        empty = self.arrays.array(self.numbers[:0])
        self.assert_array(fatlink.reduce(empty, init=5), numpy.float32(5))
        self.assert_array(fatlink.scan(empty), self.numbers[:0])

    def test_python_function(self):
        require_numba(self)
        self.assert_array(fatlink.reduce(self.array, lambda a, b: a + b, init=0), self.numbers.sum())
        self.assert_array(fatlink.map(self.array, op=lambda x: x * x), self.numbers ** 2)

    def test_no_array_is_copied(self):
        """The kernels get the addresses of the caller's arrays, and of the results that are returned."""
        from fatlink import _kept_calls, _plans
        _kept_calls._repeated.clear()  # repeated calls pass no addresses here
        passed = []
        run = _plans.Prepared.run

        def record(prepared, stream, names, entries, *scratch):
            passed.append({name: entry.address for name, entry in zip(names, entries)})
            return run(prepared, stream, names, entries, *scratch)
        _plans.Prepared.run = record
        self.addCleanup(setattr, _plans.Prepared, "run", run)
        before = self.arrays.pointer(self.array)
        result = fatlink.scan(self.array)
        self.assertEqual(passed[-1], {"in": before, "out": self.arrays.pointer(result)})
        self.assertEqual(self.arrays.pointer(self.array), before)

    def test_arrays_of_the_host_with_a_gpu(self):
        self.assert_error(fatlink.UsageError, fatlink.reduce, self.numbers, device="gpu", says="the host's memory, and gpu:0",
                          code="wrong-device", hint="cupy.asarray")
        self.assert_error(fatlink.UsageError, fatlink.reduce, self.array, device="cpu", says="the reference device uses",
                          code="wrong-device")
        self.assert_error(fatlink.UsageError, fatlink.map, self.array, self.numbers, op="add", says="y in the host's memory",
                          code="several-devices")

    def test_operators_of_another_type(self):
        self.assert_error(fatlink.UsageTypeError, fatlink.reduce, self.array, "add_int32", says="takes int32",
                          code="wrong-operator", hint="add_float")


class Streams:
    """What holds for frameworks with streams that the caller chooses."""

    def test_calls_run_in_the_current_stream(self):
        """The stream is delayed by work before, on which the result depends."""
        stream = self.arrays.stream()
        large = self.arrays.array(numpy.ones(1 << 26, numpy.float32))
        self.arrays.synchronize()  # CuPy copies in the null stream, for which this stream does not wait
        with self.arrays.use(stream):
            for expected in (2.0 ** 27, 2.0 ** 26):  # the second call is a repeated one
                for _ in range(20):
                    large *= 1
                large += 1
                total = fatlink.reduce(large)
                large *= 0
                self.assertEqual(float(total), expected)
            self.assert_array(fatlink.map(self.array, op="square"), self.numbers ** 2)
            self.assert_array(fatlink.select(self.array, "positive"), self.numbers[self.numbers > 0])

    def test_calls_run_in_the_stream_that_is_given(self):
        from fatlink import _kept_calls, _plans
        _kept_calls._repeated.clear()  # those ask for the stream elsewhere
        stream = self.arrays.stream()
        handle = getattr(stream, "cuda_stream", None) or stream.ptr
        streams = []
        run = _plans.Prepared.run
        self.addCleanup(setattr, _plans.Prepared, "run", run)
        _plans.Prepared.run = lambda prepared, given, *rest: (streams.append(given), run(prepared, given, *rest))[1]
        self.arrays.synchronize()
        for given in (stream, handle):
            result = fatlink.scan(self.array, stream=given)
            stream.synchronize()
            self.assert_array(result, self.numbers.cumsum(dtype=numpy.float32))
        with self.arrays.use(stream):
            fatlink.scan(self.array)
        self.assertEqual(streams, [handle] * 3)

    def test_results_do_not_take_memory_that_the_current_stream_reads(self):
        """Memory that was freed in the current stream is not written by a call in another stream."""
        large = self.arrays.array(numpy.ones(1 << 26, numpy.float32))
        other = self.arrays.array(numpy.full(1 << 26, 7, numpy.float32))
        current, second = self.arrays.stream(), self.arrays.stream()
        self.arrays.synchronize()
        with self.arrays.use(current):
            freed = large * 1
            for _ in range(20):
                large *= 1  # delays the sum
            total = large + freed
            del freed
            result = fatlink.map(other, op="square", stream=second)
            current.synchronize()
            second.synchronize()
        self.assertEqual((float(total.min()), float(total.max())), (2, 2))
        self.assertEqual(float(result[0]), 49)

    def test_counts_are_read_in_the_stream_that_is_given(self):
        stream = self.arrays.stream()
        self.arrays.synchronize()
        selected = fatlink.select(self.array, "positive", stream=stream)
        stream.synchronize()
        self.assert_array(selected, self.numbers[self.numbers > 0])

    def test_in_place_and_out(self):
        array = self.arrays.array(self.numbers)
        self.assertIs(fatlink.scan(array, out=array), array)
        self.assert_array(array, self.numbers.cumsum(dtype=numpy.float32))

    def test_of_many_threads(self):
        failures = []

        def work(index):
            try:
                stream = self.arrays.stream()
                with self.arrays.use(stream):
                    array = self.arrays.array(self.numbers + index)
                    for _ in range(20):
                        assert float(fatlink.reduce(array, "max")) == self.numbers.max() + index
            except BaseException as error:  # the test reports what a thread raises
                failures.append(error)
        threads = [threading.Thread(target=work, args=(index,)) for index in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Torch(Algorithms, Streams, GpuCase):
    framework = TorchArrays

    def test_histogram(self):
        data = self.array.view(self.arrays.torch.uint8)
        self.assert_array(fatlink.histogram(data, "byte_bins"), numpy.bincount(self.numbers.view(numpy.uint8), minlength=256))

    def test_segmented_reduce(self):
        offsets = self.arrays.torch.tensor([0, 10, 10, 1000], device="cuda")
        self.assert_array(fatlink.segmented_reduce(self.array, offsets),
                          numpy.array([self.numbers[:10].sum(), 0, self.numbers[10:1000].sum()], numpy.float32))

    def test_bfloat16(self):
        torch = self.arrays.torch
        result = fatlink.reduce(self.array.to(torch.bfloat16), "max")
        self.assertEqual((result.dtype, result.item()), (torch.bfloat16, self.numbers.max()))

    def test_tensors_that_are_refused(self):
        freed = self.array.clone()
        freed.untyped_storage().resize_(0)
        for tensor, says in ((self.array[::2], "not contiguous"), (self.array.clone().requires_grad_(), "requires a gradient"),
                             (freed, "was freed"), (self.array.to_sparse(), "layout")):
            self.assert_error(fatlink.UsageError, fatlink.reduce, tensor, says=says)

    def test_a_second_gpu(self):
        torch = self.arrays.torch
        if torch.cuda.device_count() < 2:
            self.skipTest("one GPU only")
        other = self.array.to("cuda:1")
        result = fatlink.reduce(other)
        self.assertEqual((result.device.index, result.item(), torch.cuda.current_device()), (1, self.numbers.sum(), 0))
        self.assert_error(fatlink.UsageError, fatlink.map, self.array, other, op="add", code="several-devices",
                          says="y in the memory of gpu:1")
        devices = []

        def use_in_a_new_thread():
            fatlink.reduce(other, out=result)
            devices.append(torch.cuda.current_device())
        thread = threading.Thread(target=use_in_a_new_thread)
        thread.start()
        thread.join()
        self.assertEqual(devices, [0])

    def test_a_plan_with_scratch_memory_of_the_caller(self):
        torch = self.arrays.torch
        plan = fatlink.load("reduce_4", "add_float", device="gpu")
        large = torch.ones(1 << 24, device="cuda")
        scratch = torch.empty(plan.scratch_bytes(n=large.numel()), dtype=torch.uint8, device="cuda")
        self.assertEqual(plan.run(in_=large, scratch=scratch).item(), 2.0 ** 24)
        self.assert_error(fatlink.UsageError, plan.run, in_=large, scratch=scratch[:8], says="scratch has 8 bytes")

    def test_a_live_plan(self):
        plan = fatlink.LivePlan("gpu")
        plan.swap("reduce_4", "add_float")
        self.assertEqual(plan.run(in_=self.array).item(), self.numbers.sum())
        plan.swap("reduce_4", "max_float")
        self.assertEqual(plan.run(in_=self.array).item(), self.numbers.max())

    def test_memory_is_kept_over_synchronizations(self):
        cuda = self.arrays.torch.cuda
        device = fatlink.open_device("gpu")
        stream = cuda.Stream()
        self.addCleanup(device.limit_memory_pool, device.memory_pool["limit"])
        numbers = cuda.FloatTensor(1 << 22).normal_()

        def call_all():
            for count in (1000, 1 << 16, (1 << 20) - 1, 1 << 22):
                for current in (cuda.default_stream(), stream):
                    with cuda.stream(current):
                        fatlink.sort(numbers[:count])
                        fatlink.scan(numbers[:count])
                        fatlink.reduce(numbers[:count])
                cuda.synchronize()
        call_all()
        kept = device.memory_pool
        self.assertGreater(kept["reserved"], 0)
        self.assertEqual(kept["used"], 0)
        for _ in range(20):
            call_all()
        self.assertEqual(device.memory_pool, kept)
        device.trim_memory_pool()
        self.assertEqual(device.memory_pool, {**kept, "reserved": 0})
        device.limit_memory_pool(0)
        call_all()
        self.assertEqual(device.memory_pool["reserved"], 0)

    def test_memory_stays_flat_over_many_calls(self):
        torch, device = self.arrays.torch, fatlink.open_device("gpu")
        arrays = [torch.rand(count, device="cuda") for count in (1, 1000, 4097, 65_536, 1_000_003)]

        def work(stream, calls, failures):
            try:
                with torch.cuda.stream(stream):
                    for call in range(calls):
                        array = arrays[call % len(arrays)]
                        result = (fatlink.scan, fatlink.reduce, fatlink.sort)[call % 3](array)
                    stream.synchronize()
                self.assertGreater(result.numel(), 0)
            except BaseException:  # the test reports what a thread raises
                failures.append(traceback.format_exc())

        def run(calls):
            failures = []
            threads = [threading.Thread(target=work, args=(stream, calls, failures)) for stream in streams]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])
            return device.memory_pool, torch.cuda.mem_get_info()[0]
        streams = [torch.cuda.Stream() for _ in range(2)]
        pool, free = run(300)
        later, later_free = run(50_000)
        self.assertEqual(later["used"], 0)
        step = 64 << 20  # what the driver adds to a pool at a time, and what PyTorch's own allocator does
        self.assertLessEqual(later["reserved"], pool["reserved"] + step)
        self.assertGreater(later_free, free - 2 * step)

    def test_repeated_calls_read_each_array_anew(self):
        torch = self.arrays.torch
        if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
            self.skipTest("this PyTorch has no C exchange API of DLPack")
        from fatlink import _kept_calls
        taken = []
        bind = _kept_calls._bind

        def bind_and_note(*arguments):
            run = bind(*arguments)

            def noted(*given):
                result = run(*given)
                taken.append(result is not None)
                return result
            return noted
        self.addCleanup(setattr, _kept_calls, "_bind", bind)
        self.addCleanup(_kept_calls._repeated.clear)
        _kept_calls._repeated.clear()
        _kept_calls._bind = bind_and_note
        cases = {"reduce": (lambda x, **more: fatlink.reduce(x, **more), lambda x: x.sum()),
                 "scan": (lambda x, **more: fatlink.scan(x, **more), lambda x: x.cumsum(0)),
                 "reduce with load": (lambda x, **more: fatlink.reduce(x, load="negate", **more), lambda x: (-x).sum()),
                 "scan with load": (lambda x, **more: fatlink.scan(x, load="negate", **more), lambda x: (-x).cumsum(0)),
                 "map": (lambda x, **more: fatlink.map(x, op="square", **more), torch.square),
                 "sort": (lambda x, **more: fatlink.sort(x, **more), lambda x: x.sort().values)}
        for name, (call, own) in cases.items():
            call(self.array)
            call(self.array, out=torch.empty_like(own(self.array)))
            for array in (self.array, self.array[1:], self.array[:777] * 2, self.array[:0], self.array[5:6]):
                for out in (None, torch.empty_like(own(array))):
                    taken.clear()
                    result = call(array, out=out)
                    self.assertEqual(taken, [True], (name, array.shape))
                    self.assertTrue(result is out or out is None)
                    self.assertTrue(torch.equal(result, own(array)), (name, array.shape))
            taken.clear()
            for array in (self.array.double(), self.array[::2].contiguous().int()):  # another type is another call
                self.assertEqual(call(array).dtype, own(array).dtype, name)
                self.assertTrue(torch.equal(call(array), own(array)), name)
        narrow = torch.full((1000,), 1 << 30, dtype=torch.int32, device="cuda")
        for call, out in ((fatlink.reduce, torch.empty((), dtype=torch.int32, device="cuda")), (fatlink.scan, torch.empty_like(narrow))):
            for given in (None, out, out, None, None):  # `out` says what the sum is made in, for its own calls only
                result = call(narrow, out=given)
                self.assertEqual(result.dtype, torch.int64 if given is None else torch.int32)
                if given is None:
                    self.assertEqual(int(result.max()), 1000 << 30)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            self.assertTrue(torch.equal(fatlink.reduce(self.array), self.array.sum()))
        table = self.array[:12].reshape(3, 4)
        fatlink.map(table, table, op="add")
        taken.clear()
        self.assertTrue(torch.equal(fatlink.map(table, table, op="add"), table + table))
        self.assertEqual(taken, [True])
        sums = torch.empty_like(table)
        fatlink.map(table, table, op="add", out=sums)
        version = sums._version
        taken.clear()
        fatlink.map(table, table, op="add", out=sums)
        self.assertEqual((taken, sums._version), ([True], version + 1))

    def test_repeated_calls_refuse_what_first_ones_refuse(self):
        torch = self.arrays.torch
        array, half = self.array[:1024], self.array[:512].clone()
        calls = {"scan": fatlink.scan, "sort": fatlink.sort, "reduce": fatlink.reduce,
                 "map": lambda x, **more: fatlink.map(x, op="square", **more)}
        for name, call in calls.items():
            call(array)
            for wrong in (array[::2], array.clone().requires_grad_(), array.reshape(32, 32).T, array.to_sparse(), array.cpu().tolist()):
                with self.assertRaises(fatlink.Error, msg=name):
                    call(wrong)
            for freed in (array.clone(), torch.cat([array, array])[4:]):
                freed.untyped_storage().resize_(0)
                with self.assertRaises(fatlink.Error, msg=name):
                    call(freed)
            with self.assertRaises(fatlink.Error, msg=name):
                call(array, out=half)
            with self.assertRaises(fatlink.Error, msg=name):
                call(array, out=array.cpu())
            with self.assertRaises(fatlink.Error, msg=name):
                call(array, out=array.to(torch.int16))
        for call in (fatlink.scan, fatlink.sort):
            with self.assertRaises(fatlink.Error):
                call(array.reshape(32, 32))
            with self.assertRaises(fatlink.Error):
                call(array[0])
        with self.assertRaises(fatlink.Error):
            fatlink.map(array, op="square", out=torch.empty_like(array).reshape(32, 32))
        with self.assertRaises(fatlink.Error):
            fatlink.map(array[:1], op="square", out=torch.empty((), device="cuda"))
        with self.assertRaises(fatlink.Error):
            fatlink.reduce(array, out=torch.empty(7, device="cuda"))
        with self.assertRaises(fatlink.Error):
            fatlink.map(array, half, op="add")
        self.assertEqual(float(fatlink.reduce(array.reshape(32, 32))), float(array.sum()))
        negated = torch._neg_view(array)
        self.assertTrue(negated.is_neg())
        with self.assertRaises(fatlink.Error):
            fatlink.reduce(negated)

    def test_the_settings_of_the_default_pool_stay(self):
        driver = ctypes.CDLL("libcuda.so.1")
        pool, threshold, reserved = ctypes.c_void_p(), ctypes.c_uint64(7), ctypes.c_uint64(7)
        fatlink.sort(self.arrays.array(self.numbers))
        self.assertEqual(driver.cuDeviceGetDefaultMemPool(ctypes.byref(pool), 0), 0)
        self.assertEqual(driver.cuMemPoolGetAttribute(pool, 4, ctypes.byref(threshold)), 0)  # CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        self.assertEqual(driver.cuMemPoolGetAttribute(pool, 6, ctypes.byref(reserved)), 0)  # ..._RESERVED_MEM_HIGH
        self.assertEqual((threshold.value, reserved.value), (0, 0))

    def test_calls_are_captured_into_a_graph(self):
        torch = self.arrays.torch
        numbers = self.arrays.array(self.numbers)
        sums, total, ordered = torch.empty_like(numbers), torch.empty((), device="cuda"), torch.empty_like(numbers)

        def call_all():
            fatlink.scan(numbers, out=sums)
            fatlink.reduce(sums, "max", out=total)
            fatlink.sort(numbers, out=ordered)
        call_all()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call_all()
        for factor in (1, 2, 3):
            numbers.copy_(self.arrays.array(self.numbers * factor))
            graph.replay()
            self.assert_array(sums, (self.numbers * factor).cumsum(dtype=numpy.float32))
            self.assertEqual(float(total), float((self.numbers * factor).cumsum(dtype=numpy.float32).max()))
            self.assert_array(ordered, numpy.sort(self.numbers * factor))

    def test_a_fork_after_the_gpu_was_used(self):
        fatlink.reduce(self.array)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                fatlink.reduce(self.array)
            except fatlink.UnavailableError as error:
                status = 0 if error.code == "forked" else 2
            except BaseException:
                status = 3
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(fatlink.reduce(self.array).item(), self.numbers.sum())


class Cupy(Algorithms, Streams, GpuCase):
    framework = CupyArrays

    def test_histogram(self):
        counts = fatlink.histogram(self.array.view(numpy.uint8), "byte_bins")
        self.assertEqual(counts.dtype, numpy.uint64)
        self.assert_array(counts, numpy.bincount(self.numbers.view(numpy.uint8), minlength=256))

    def test_arrays_that_are_refused(self):
        self.assert_error(fatlink.UsageError, fatlink.reduce, self.array[::2], says="not contiguous")

    def test_missing_memory(self):
        from fatlink._ffi import c, output, raise_error

        def allocate():
            raise_error(c.buffer_allocate(fatlink.open_device("gpu"), 1 << 50, ctypes.byref(output())))
        self.assert_error(fatlink.OutOfMemoryError, allocate, says="allocating", code="CUDA_ERROR_OUT_OF_MEMORY",
                          hint="allocate less memory")

    def test_a_freed_array_of_another_package(self):
        """The driver does not know the address of a freed allocation."""
        from fatlink import _arrays
        memory = self.arrays.cupy.cuda.Memory(1 << 26)  # not of a pool
        array = SimpleNamespace(__cuda_array_interface__={"shape": (4,), "typestr": "<f4", "data": (memory.ptr, False),
                                                          "version": 3})
        self.assertEqual(_arrays.view(array).place, 0)
        del memory
        self.assert_error(fatlink.UsageError, _arrays.view, array, says="has no memory of a GPU", code="freed-array")

    def test_arrays_in_managed_and_page_locked_memory(self):
        from fatlink import _arrays
        from fatlink import _ffi
        runtime = self.arrays.cupy.cuda.runtime
        for allocate, free, kind in ((runtime.malloc, runtime.free, 1), (runtime.mallocManaged, runtime.free, 2),
                                     (lambda size: runtime.hostAlloc(size, 0), runtime.freeHost, 3)):
            address = allocate(4096)
            self.addCleanup(free, address)
            ordinal, found = ctypes.c_int32(), ctypes.c_int32()
            _ffi.raise_error(_ffi.c.address_get_device(address, ctypes.byref(ordinal), ctypes.byref(found)))
            self.assertEqual((ordinal.value, found.value), (0, kind))
            array = SimpleNamespace(__cuda_array_interface__={"shape": (4,), "typestr": "<f4", "data": (address, False),
                                                              "version": 3})
            self.assertEqual(_arrays.view(array).place, 0)

    def test_an_array_of_the_host_with_the_interface_of_gpus(self):
        from fatlink import _arrays
        array = SimpleNamespace(__cuda_array_interface__={
            "shape": (4,), "typestr": "<f4", "data": (self.numbers.ctypes.data, False), "version": 3})
        self.assert_error(fatlink.UsageError, _arrays.view, array, says="is not in memory of CUDA", code="freed-array")

    def test_arrays_of_other_packages(self):
        """By __cuda_array_interface__ only, and by DLPack only."""
        array = self.array

        class Interface:
            __cuda_array_interface__ = array.__cuda_array_interface__

        class Dlpack:
            def __dlpack__(self, *, stream=None, **options):
                return array.__dlpack__(stream=stream)

            def __dlpack_device__(self):
                return array.__dlpack_device__()
        for other in (Interface(), Dlpack()):
            out = self.arrays.cupy.zeros((), numpy.float32)
            fatlink.reduce(other, out=out)
            self.assert_array(out, self.numbers.sum())
            self.assert_error(fatlink.UsageError, fatlink.reduce, other, says="makes no arrays", hint="out=")


class Jax(Algorithms, GpuCase):
    framework = JaxArrays

    def test_arrays_that_are_being_computed(self):
        """The call waits for the work that makes the array."""
        jax = self.arrays.jax
        large = self.arrays.array(numpy.ones((4096, 4096), numpy.float32))
        step = jax.jit(lambda x: x @ x / 4096)
        for _ in range(10):
            large = step(large)
        self.assertEqual(float(fatlink.reduce(large)), 2.0 ** 24)

    def test_results_are_inputs_of_jax(self):
        total = fatlink.scan(self.array)
        self.assert_array(self.arrays.jax.jit(lambda x: x * 2)(total), 2 * self.numbers.cumsum(dtype=numpy.float32))

    def test_arrays_that_are_refused(self):
        jax = self.arrays.jax
        deleted = self.arrays.array(self.numbers)
        deleted.delete()
        self.assert_error(fatlink.UsageError, fatlink.reduce, deleted, says="deleted", code="freed-array")
        self.assert_error(fatlink.UsageTypeError, jax.jit(fatlink.reduce), self.array, says="tracer")
        self.assert_error(fatlink.UsageError, fatlink.scan, self.array, out=self.array, says="cannot be written")


if __name__ == "__main__":
    unittest.main()

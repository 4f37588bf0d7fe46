#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first result of a package in this process, with an operator of the caller's, as python_overhead.py times it: prints JSON.
    python_first.py fatlink|torch.compile|CuPy|JAX|cuda.compute map|reduce ELEMENTS
map makes 2x² + 1 of each element, reduce is the sum of these. Then, in a second line, then_us: the time of a later call, on
arrays that exist: microseconds of one of ten calls between synchronizations."""
import contextlib
import json
import statistics
import sys
import time

MAKER, KIND, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
MAP_SOURCE = "FATLINK_MAP1(float, float, x) { return 2 * x * x + 1; }"
REDUCE_SOURCE = """FATLINK_LOAD(float, float, x) { return 2 * x * x + 1; }
FATLINK_COMBINE(float, a, b) { return a + b; }"""


def with_torch(make):
    """(array, call, synchronize, copy to the host) of a package on PyTorch's arrays."""
    import torch
    x = torch.ones(COUNT, device="cuda")
    return x, make(torch), torch.cuda.synchronize, lambda y: y.cpu().numpy()


def fatlink_call(torch):
    import fatlink
    if KIND == "map":
        return lambda x: fatlink.map(x, op=MAP_SOURCE)
    return lambda x: fatlink.transform_reduce(x, REDUCE_SOURCE, init=0)


def torch_call(torch):
    if KIND == "map":
        return torch.compile(lambda x: 2 * x * x + 1)
    return torch.compile(lambda x: (2 * x * x + 1).sum())


def cupy_call():
    import cupy
    x = cupy.ones(COUNT, cupy.float32)
    if KIND == "map":
        kernel = cupy.ElementwiseKernel("float32 x", "float32 y", "y = 2 * x * x + 1", "first_map")
    else:
        kernel = cupy.ReductionKernel("float32 x", "float32 y", "2 * x * x + 1", "a + b", "y = a", "0", "first_reduce")
    return x, kernel, cupy.cuda.runtime.deviceSynchronize, lambda y: y.get()


def jax_call():
    import jax
    import numpy
    x = jax.numpy.ones(COUNT, jax.numpy.float32)
    x.block_until_ready()
    function = jax.jit((lambda x: 2 * x * x + 1) if KIND == "map" else (lambda x: (2 * x * x + 1).sum()))
    last = []

    def call(x):
        last[:] = [function(x)]
        return last[0]
    return x, call, lambda: last and last[0].block_until_ready(), numpy.asarray


def compute_call():
    import cupy
    import numpy
    import cuda.compute
    with contextlib.suppress(ImportError):  # the compiler of operators: an import, not a result
        import cuda.compute._jit  # noqa: F401
    x = cupy.ones(COUNT, cupy.float32)
    out = cupy.empty(COUNT if KIND == "map" else 1, numpy.float32)
    zero = numpy.zeros(1, numpy.float32)

    def transform(value):
        return numpy.float32(2) * value * value + numpy.float32(1)

    def add(a, b):
        return a + b

    def call(x):
        if KIND == "map":
            cuda.compute.unary_transform(d_in=x, d_out=out, op=transform, num_items=COUNT)
        else:
            loaded = cuda.compute.TransformIterator(x, transform)
            cuda.compute.reduce_into(d_in=loaded, d_out=out, op=add, num_items=COUNT, h_init=zero)
        return out
    return x, call, cupy.cuda.runtime.deviceSynchronize, lambda y: y.get()


def later_time(call, x, synchronize):
    """Microseconds of a call, of ten between synchronizations: the median of 15 rounds."""
    times = []
    for _ in range(15):
        synchronize()
        start = time.perf_counter()
        for _ in range(10):
            result = call(x)
        synchronize()
        times.append((time.perf_counter() - start) / 10 * 1e6)
        del result
    return statistics.median(times)


def main():
    x, call, synchronize, to_host = {"fatlink": lambda: with_torch(fatlink_call), "torch.compile": lambda: with_torch(torch_call),
                                     "CuPy": cupy_call, "JAX": jax_call, "cuda.compute": compute_call}[MAKER]()
    synchronize()
    start = time.perf_counter()
    result = call(x)
    synchronize()
    first = (time.perf_counter() - start) * 1e3
    host = to_host(result)
    is_right = bool((host == 3).all()) if KIND == "map" else abs(float(host.reshape(())) - 3 * COUNT) <= 1e-3 * COUNT
    print(json.dumps({"verified": is_right, "first_ms": first}), flush=True)
    del result, host
    print(json.dumps({"then_us": later_time(call, x, synchronize)}), flush=True)
    sys.exit(not is_right)


if __name__ == "__main__":
    main()

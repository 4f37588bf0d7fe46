#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first result of cuda.compute in this process, with an operator in Python, as first_result.py times it: prints JSON.
Arrays are CuPy's, which every version of cuda.compute takes (1.2 no longer uses numba.cuda).
    cuda_compute_first.py reduce|scan ELEMENTS"""
import contextlib
import json
import sys
import time

start = time.perf_counter()
import cupy  # noqa: E402
import numpy  # noqa: E402
import cuda.compute  # noqa: E402

with contextlib.suppress(ImportError):  # the compiler of operators, which 1.2 imports at the first call: an import, not a result
    import cuda.compute._jit  # noqa: E402

imported = time.perf_counter()
numbers = numpy.random.default_rng(0).integers(0, 2, int(sys.argv[2])).astype(numpy.float32)
source = cupy.asarray(numbers)
result = cupy.empty(1 if sys.argv[1] == "reduce" else len(numbers), numpy.float32)
cupy.cuda.runtime.deviceSynchronize()
opened = time.perf_counter()


def add(a, b):
    return a + b


zero = numpy.zeros(1, numpy.float32)
if sys.argv[1] == "reduce":
    cuda.compute.reduce_into(d_in=source, d_out=result, op=add, num_items=len(numbers), h_init=zero)
    expected = numbers.sum(keepdims=True)
else:
    cuda.compute.inclusive_scan(d_in=source, d_out=result, op=add, init_value=zero, num_items=len(numbers))
    expected = numbers.cumsum(dtype=numpy.float32)
is_right = bool((result.get() == expected).all())  # sums of zeros and ones are exact
ended = time.perf_counter()
print(json.dumps({"verified": is_right, "import_ms": (imported - start) * 1e3, "device_ms": (opened - imported) * 1e3,
                  "first_ms": (ended - opened) * 1e3}), flush=True)
sys.exit(not is_right)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first call of algorithms on runs of equal keys, on sorted arrays and on segments from Python, in a new process with all
caches empty (cold), without the links that a package ships, and in the next process (warm), beside cuda.compute where Python and
that version have it. Prints a table in Markdown. "First call" is the time without the start of the process, imports, opening the
GPU, and the copies of the inputs: for fatlink reading, linking, loading and the launches.
    first_use.py BUILD_FOLDER [ROUNDS]
Arrays are CuPy's, or PyTorch's where CuPy is not installed."""
import json
import os
import pathlib
import subprocess
import sys
import time
import types

import first_results
from python_overhead import has, use_build

ELEMENTS = 65536
K = 1000
ROW = 64


def inputs(numpy):
    """The arrays of all calls."""
    random = numpy.random.default_rng(1)
    floats = random.standard_normal((4, ELEMENTS), dtype=numpy.float32)
    return types.SimpleNamespace(
        keys=numpy.sort(random.integers(0, ELEMENTS // 8, ELEMENTS, dtype=numpy.int32)),
        x=random.integers(0, 2, ELEMENTS).astype(numpy.float32),  # sums are exact
        first=numpy.sort(floats[0]), second=numpy.sort(floats[1]), values=floats[2],
        signs=numpy.where(random.integers(0, 3, ELEMENTS) == 0, numpy.float32(0), floats[3]),
        offsets=numpy.arange(0, ELEMENTS + 1, ROW))


def expected(numpy, a):
    """By algorithm, the results."""
    heads = numpy.flatnonzero(numpy.concatenate(([True], a.keys[1:] != a.keys[:-1])))
    lengths = numpy.diff(numpy.append(heads, ELEMENTS))
    sums = numpy.cumsum(a.x)
    return {
        "reduce_by_key": (a.keys[heads], numpy.add.reduceat(a.x, heads)),
        "scan_by_key": (sums - numpy.repeat((sums - a.x)[heads], lengths),),
        "unique_by_key": (a.keys[heads], a.x[heads]),
        "run_lengths": (a.keys[heads], lengths),
        "merge": (numpy.sort(numpy.concatenate((a.first, a.second))),),
        "searchsorted": (numpy.searchsorted(a.first, a.values),),
        "partition3": (a.signs[a.signs < 0], a.signs[a.signs == 0], a.signs[a.signs > 0]),
        "top_k": (numpy.sort(a.values)[:-K - 1:-1],),
        "segmented_sort": (numpy.sort(a.values.reshape(-1, ROW)).reshape(-1),),
    }


def fatlink_calls():
    import fatlink
    return {
        "reduce_by_key": lambda a: fatlink.reduce_by_key(a.keys, a.x),
        "scan_by_key": lambda a: fatlink.scan_by_key(a.keys, a.x),
        "unique_by_key": lambda a: fatlink.unique_by_key(a.keys, a.x),
        "run_lengths": lambda a: fatlink.run_lengths(a.keys),
        "merge": lambda a: fatlink.merge(a.first, a.second),
        "searchsorted": lambda a: fatlink.searchsorted(a.first, a.values),
        "partition3": lambda a: fatlink.partition3(a.signs, "signs_float"),
        "top_k": lambda a: fatlink.top_k(a.values, K)[:1],
        "segmented_sort": lambda a: fatlink.segmented_sort(a.values, a.offsets, longest=ROW),
    }


def compute_calls():
    """Those of the installed version of cuda.compute, on CuPy's arrays."""
    import cupy
    import numpy
    from cuda import compute

    def count(numbers=1):
        return cupy.empty(numbers, numpy.uint64)

    def reduce_by_key(a):
        keys, sums, runs = cupy.empty_like(a.keys), cupy.empty_like(a.x), count()
        compute.reduce_by_key(d_keys_in=a.keys, d_values_in=a.x, d_unique_out=keys, d_aggregates_out=sums, d_num_runs_out=runs,
                              op=compute.OpKind.PLUS, num_items=ELEMENTS)
        return keys[:int(runs[0])], sums[:int(runs[0])]

    def scan_by_key(a):
        sums = cupy.empty_like(a.x)
        compute.inclusive_scan_by_key(d_keys_in=a.keys, d_values_in=a.x, d_values_out=sums, op=compute.OpKind.PLUS,
                                      equality_op=compute.OpKind.EQUAL_TO, num_items=ELEMENTS)
        return sums

    def unique_by_key(a):
        keys, values, runs = cupy.empty_like(a.keys), cupy.empty_like(a.x), count()
        compute.unique_by_key(d_in_keys=a.keys, d_in_items=a.x, d_out_keys=keys, d_out_items=values, d_out_num_selected=runs,
                              op=compute.OpKind.EQUAL_TO, num_items=ELEMENTS)
        return keys[:int(runs[0])], values[:int(runs[0])]

    def searchsorted(a):
        places = cupy.empty(ELEMENTS, numpy.uintp)
        compute.lower_bound(d_data=a.first, num_items=ELEMENTS, d_values=a.values, num_values=ELEMENTS, d_out=places)
        return places

    def partition3(a):
        parts, counts = [cupy.empty_like(a.signs) for _ in range(3)], count(2)
        compute.three_way_partition(d_in=a.signs, d_first_part_out=parts[0], d_second_part_out=parts[1], d_unselected_out=parts[2],
                                    d_num_selected_out=counts, select_first_part_op=lambda x: x < 0,
                                    select_second_part_op=lambda x: x == 0, num_items=ELEMENTS)
        first, second = counts.tolist()
        return parts[0][:first], parts[1][:second], parts[2][:ELEMENTS - first - second]

    def segmented_sort(a):
        out = cupy.empty_like(a.values)
        compute.segmented_sort(d_in_keys=a.values, d_out_keys=out, num_items=ELEMENTS, num_segments=ELEMENTS // ROW,
                               start_offsets_in=a.offsets[:-1], end_offsets_in=a.offsets[1:], order=compute.SortOrder.ASCENDING)
        return out
    calls = {"reduce_by_key": ("reduce_by_key", reduce_by_key), "scan_by_key": ("inclusive_scan_by_key", scan_by_key),
             "unique_by_key": ("unique_by_key", unique_by_key), "searchsorted": ("lower_bound", searchsorted),
             "partition3": ("three_way_partition", partition3), "segmented_sort": ("segmented_sort", segmented_sort)}
    if not has("numba_cuda_mlir"):  # which compiles Python functions for it
        del calls["partition3"]
    return {algorithm: call for algorithm, (function, call) in calls.items() if hasattr(compute, function)}


def array_functions():
    """A copy of a NumPy array on the GPU, a copy of such an array on the host, and what waits for the GPU."""
    if os.environ.get("FATLINK_BENCH_DEVICE") == "cpu":  # tries the script without a GPU
        return (lambda x: x), (lambda x: x), (lambda: None)
    if has("cupy"):
        import cupy
        return cupy.asarray, cupy.asnumpy, cupy.cuda.runtime.deviceSynchronize
    import torch
    return (lambda x: torch.from_numpy(x).cuda()), (lambda x: x.cpu().numpy()), torch.cuda.synchronize


def first_call(maker, algorithm):
    """The first call in this process: prints JSON, as first_results.py reads it."""
    import numpy
    call = {"fatlink": fatlink_calls, "cuda.compute": compute_calls}[maker]()[algorithm]
    to_gpu, to_host, synchronize = array_functions()
    numbers = inputs(numpy)
    arrays = types.SimpleNamespace(**{name: to_gpu(array) for name, array in vars(numbers).items()})
    synchronize()
    start = time.perf_counter()
    results = call(arrays)
    synchronize()
    first = (time.perf_counter() - start) * 1e3
    results = [to_host(result) for result in (results if isinstance(results, tuple) else (results,))]
    wanted = expected(numpy, numbers)[algorithm]
    is_right = len(results) == len(wanted) and all(map(numpy.array_equal, results, wanted))
    print(json.dumps({"verified": is_right, "first_ms": first}), flush=True)
    sys.exit(not is_right)


def algorithms_of(maker):
    """The algorithms that a package has, asked in a process: this one imports none."""
    script = f"import first_use; print(*first_use.{maker}())"
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{maker}: {done.stderr}")
    return done.stdout.split()


def commands_of(makers):
    return {(algorithm, maker): ["/usr/bin/env", "FATLINK_SYSTEM_CACHE=", sys.executable, pathlib.Path(__file__).resolve(), maker, algorithm]
            for algorithm in makers["fatlink"] for maker in makers if algorithm in makers[maker]}


def print_table(medians, rounds):
    print(f"{ELEMENTS} elements, medians of {rounds} rounds by turns, ms; cold: all caches empty.\n")
    print("| algorithm | package | cache | whole process | of fatlink | first call | of fatlink |\n|---|---|---|---:|---:|---:|---:|")
    for ((algorithm, maker), cache), (whole, first) in medians.items():
        base = medians[(algorithm, "fatlink"), cache]
        print(f"| {algorithm} | {maker} | {cache} | {whole:.0f} | {whole / base[0]:.2f} | {first:.1f} | {first / base[1]:.2f} |")


def main():
    if len(sys.argv) == 3 and sys.argv[1] in ("fatlink", "cuda.compute"):
        first_call(*sys.argv[1:])
    arguments = first_results.argument_parser(__doc__, rounds=9).parse_args()
    use_build(arguments.build)
    makers = {"fatlink": algorithms_of("fatlink_calls")}
    if has("cuda.compute") and has("cupy"):
        makers["cuda.compute"] = algorithms_of("compute_calls")
        print(f"cuda.compute has no {', '.join(name for name in makers['fatlink'] if name not in makers['cuda.compute'])}.\n")
    else:
        print("cuda.compute or CuPy is not installed for this Python: cuda.compute is not measured "
              "(pip install 'cuda-cccl[cu13]' cupy-cuda13x).\n")
    print_table(first_results.measure(commands_of(makers), arguments.rounds), arguments.rounds)


if __name__ == "__main__":
    main()

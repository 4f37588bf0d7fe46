#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fatlink.sort, sort_pairs and unique_consecutive on PyTorch's arrays on a GPU, beside PyTorch and CuPy. Results are compared.
Prints a table in Markdown: medians of the times between two events of the GPU, with the new arrays of PyTorch and CuPy.
    python_sorts.py BUILD_FOLDER
CuPy is left out where it is not installed."""
import pathlib
import statistics
import sys

from python_overhead import has, use_build

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28)
DTYPES = ("uint8", "float16", "float32", "int64")
PAIRS = 1 << 26


def measure(torch, call, elements):
    """The time of one call in ms."""
    times = []
    for round in range(8 if elements > 1 << 24 else 23):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        if round > 2:  # the first ones warm up
            times.append(begin.elapsed_time(end))
    return statistics.median(times)


def random_array(torch, dtype, elements):
    dtype = getattr(torch, dtype)
    generator = torch.Generator(device="cuda").manual_seed(1)
    if dtype.is_floating_point:
        return torch.randn(elements, device="cuda", generator=generator).to(dtype)
    most = 256 if dtype is torch.uint8 else 1 << 62
    return torch.randint(0, most, (elements,), device="cuda", generator=generator, dtype=dtype)


def print_row(name, elements, times):
    own = times[0]
    cells = [f"{time:.4f}" if time else "" for time in times] + [f"{time / own:.2f}" if time else "" for time in times[1:]]
    print(f"| {name} | {elements} | {' | '.join(cells)} |", flush=True)


def measure_sorts(torch, cupy, fatlink):
    for dtype in DTYPES:
        for elements in SIZES:
            if dtype == "int64":
                elements = min(elements, 1 << 27)
            x = random_array(torch, dtype, elements)
            out = torch.empty_like(x)
            fatlink.sort(x, out=out)
            if not torch.equal(out, torch.sort(x)[0]):
                sys.exit(f"python_sorts: error: {dtype}, {elements} elements: wrong order")
            calls = [lambda: fatlink.sort(x, out=out), lambda: torch.sort(x)]
            if cupy:
                view = cupy.from_dlpack(x)
                calls.append(lambda: cupy.sort(view))
            print_row(f"sort, {dtype}", elements, [measure(torch, call, elements) for call in calls])


def measure_others(torch, fatlink):
    x, places = torch.randn(PAIRS, device="cuda"), torch.arange(PAIRS, device="cuda")
    keys, values = fatlink.sort_pairs(x, places)
    expected = torch.sort(x, stable=True)
    sorted_numbers = fatlink.sort((100 * x).to(torch.int32))
    unique = fatlink.unique_consecutive(sorted_numbers)
    if not (torch.equal(keys, expected[0]) and torch.equal(values, expected[1])
            and torch.equal(unique, torch.unique_consecutive(sorted_numbers))):
        sys.exit("python_sorts: error: wrong pairs or unique elements")
    for name, calls in (("sort_pairs, float32 and int64", (lambda: fatlink.sort_pairs(x, places), lambda: torch.sort(x, stable=True))),
                        ("unique_consecutive, int32", (lambda: fatlink.unique_consecutive(sorted_numbers),
                                                       lambda: torch.unique_consecutive(sorted_numbers)))):
        print_row(name, PAIRS, [measure(torch, call, PAIRS) for call in calls] + [None])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    use_build(pathlib.Path(sys.argv[1]).resolve())
    import torch
    import fatlink
    cupy = __import__("cupy") if has("cupy") else None
    print("| call | elements | fatlink, ms | PyTorch, ms | CuPy, ms | PyTorch / fatlink | CuPy / fatlink |\n|---|---:|---:|---:|---:|---:|---:|")
    measure_sorts(torch, cupy, fatlink)
    measure_others(torch, fatlink)


if __name__ == "__main__":
    main()

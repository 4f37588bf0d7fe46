#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fatlink's sorts, top_k, searchsorted, merge and segmented_sort on PyTorch's arrays on a GPU, beside PyTorch and CuPy. Results
are compared. Prints a table in Markdown: medians of the times between two events of the GPU, by turns, with the new arrays of
PyTorch and CuPy.
    python_sorts.py BUILD_FOLDER [NAME]
NAME: measures only the families of calls whose names begin with it: sort, sort_pairs (with unique_consecutive), top_k, searchsorted,
merge, segmented_sort. CuPy is left out where it is not installed."""
import pathlib
import statistics
import sys

from python_overhead import has, use_build

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28)
DTYPES = ("uint8", "float16", "float32", "int64")
PAIRS = 1 << 26
TOP = (1, 1000, 100_000, 1 << 20)
ROWS = (16, 1 << 10, 1 << 20)
HEAD = ("| call | elements | fatlink, ms | PyTorch, ms | CuPy, ms | PyTorch / fatlink | CuPy / fatlink |\n"
        "|---|---:|---:|---:|---:|---:|---:|")


def measure(torch, calls, elements):
    """The time of one call of each in ms; None where there is no call."""
    times = [[] for _ in calls]
    for turn in range(8 if elements > 1 << 24 else 23):
        for call, found in zip(calls, times):
            if call is None:
                continue
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            call()
            end.record()
            torch.cuda.synchronize()
            if turn > 2:  # the first ones warm up
                found.append(begin.elapsed_time(end))
    return [statistics.median(found) if found else None for found in times]


def random_array(torch, dtype, elements, seed=1):
    dtype = getattr(torch, dtype)
    generator = torch.Generator(device="cuda").manual_seed(seed)
    if dtype.is_floating_point:
        return torch.randn(elements, device="cuda", generator=generator).to(dtype)
    most = 256 if dtype is torch.uint8 else 1 << 62
    return torch.randint(0, most, (elements,), device="cuda", generator=generator, dtype=dtype)


def print_row(name, elements, times):
    own = times[0]
    cells = [f"{time:.4f}" if time else "" for time in times] + [f"{time / own:.2f}" if time else "" for time in times[1:]]
    print(f"| {name} | {elements} | {' | '.join(cells)} |", flush=True)


def require(is_right, name, elements):
    if not is_right:
        sys.exit(f"{pathlib.Path(sys.argv[0]).stem}: error: {name}, {elements} elements: wrong results")


def measure_sorts(torch, cupy, fatlink):
    for dtype in DTYPES:
        for elements in SIZES:
            if dtype == "int64":
                elements = min(elements, 1 << 27)
            x = random_array(torch, dtype, elements)
            out = torch.empty_like(x)
            fatlink.sort(x, out=out)
            require(torch.equal(out, torch.sort(x)[0]), f"sort, {dtype}", elements)
            view = cupy and cupy.from_dlpack(x)
            calls = [lambda: fatlink.sort(x, out=out), lambda: torch.sort(x), cupy and (lambda: cupy.sort(view))]
            print_row(f"sort, {dtype}", elements, measure(torch, calls, elements))


def measure_others(torch, cupy, fatlink):
    x, places = torch.randn(PAIRS, device="cuda"), torch.arange(PAIRS, device="cuda")
    keys, values = fatlink.sort_pairs(x, places)
    expected = torch.sort(x, stable=True)
    sorted_numbers = fatlink.sort((100 * x).to(torch.int32))
    unique = fatlink.unique_consecutive(sorted_numbers)
    require(torch.equal(keys, expected[0]) and torch.equal(values, expected[1]), "sort_pairs", PAIRS)
    require(torch.equal(unique, torch.unique_consecutive(sorted_numbers)), "unique_consecutive", PAIRS)
    for name, calls in (("sort_pairs, float32 and int64", (lambda: fatlink.sort_pairs(x, places), lambda: torch.sort(x, stable=True))),
                        ("unique_consecutive, int32", (lambda: fatlink.unique_consecutive(sorted_numbers),
                                                       lambda: torch.unique_consecutive(sorted_numbers)))):
        print_row(name, PAIRS, measure(torch, [*calls, None], PAIRS))


def measure_top_k(torch, cupy, fatlink):
    """CuPy's result has no order."""
    for elements in SIZES:
        x = random_array(torch, "float32", elements)
        view = cupy and cupy.from_dlpack(x)
        for k in TOP:
            if k > elements:
                continue
            values, indexes = fatlink.top_k(x, k)
            require(torch.equal(values, torch.topk(x, k)[0]) and torch.equal(x[indexes], values), f"top_k, {k}", elements)
            first = elements - k
            calls = [lambda: fatlink.top_k(x, k), lambda: torch.topk(x, k),
                     cupy and (lambda: view[cupy.argpartition(view, first)[first:]])]
            print_row(f"top_k, {k}", elements, measure(torch, calls, elements))


def measure_searches(torch, cupy, fatlink):
    """As many values as elements."""
    for elements in SIZES:
        x = torch.sort(random_array(torch, "float32", elements))[0]
        random_values = random_array(torch, "float32", elements, seed=2)
        for order, values in (("random", random_values), ("sorted", torch.sort(random_values)[0])):
            for side in ("left", "right"):
                name = f"searchsorted, {side}, {order} values"
                require(torch.equal(fatlink.searchsorted(x, values, side=side), torch.searchsorted(x, values, side=side)), name, elements)
                views = cupy and (cupy.from_dlpack(x), cupy.from_dlpack(values))
                calls = [lambda: fatlink.searchsorted(x, values, side=side), lambda: torch.searchsorted(x, values, side=side),
                         cupy and (lambda: cupy.searchsorted(*views, side=side))]
                print_row(name, elements, measure(torch, calls, elements))


def measure_merges(torch, cupy, fatlink):
    """PyTorch and CuPy sort the joined arrays."""
    for elements in SIZES:
        for name, first in (("merge, equal sizes", elements // 2), ("merge, 1000 and the rest", min(1000, elements // 2))):
            x = torch.sort(random_array(torch, "float32", first))[0]
            y = torch.sort(random_array(torch, "float32", elements - first, seed=2))[0]
            require(torch.equal(fatlink.merge(x, y), torch.sort(torch.cat((x, y)))[0]), name, elements)
            views = cupy and (cupy.from_dlpack(x), cupy.from_dlpack(y))
            calls = [lambda: fatlink.merge(x, y), lambda: torch.sort(torch.cat((x, y))),
                     cupy and (lambda: cupy.sort(cupy.concatenate(views)))]
            print_row(name, elements, measure(torch, calls, elements))


def measure_rows(torch, cupy, fatlink):
    """Segments of equal lengths, which PyTorch and CuPy sort as rows of a matrix."""
    for elements in SIZES:
        x = random_array(torch, "float32", elements)
        out = torch.empty_like(x)
        for length in ROWS:
            if length > elements:
                continue
            rows = x.view(-1, length)
            offsets = torch.arange(0, elements + 1, length, device="cuda")
            expected = torch.sort(rows, dim=1)[0].view(-1)
            view = cupy and cupy.from_dlpack(rows)
            for name, longest in ((f"segmented_sort, {length}", None), (f"segmented_sort, {length}, longest known", length)):
                fatlink.segmented_sort(x, offsets, longest=longest, out=out)
                require(torch.equal(out, expected), name, elements)
                calls = [lambda: fatlink.segmented_sort(x, offsets, longest=longest, out=out), lambda: torch.sort(rows, dim=1),
                         cupy and (lambda: cupy.sort(view, axis=1))]
                print_row(name, elements, measure(torch, calls, elements))


def run_families(families, arguments, description):
    """Measures the families whose names begin with the second argument, if there is one. The first is the folder of a build."""
    if len(arguments) not in (1, 2):
        sys.exit(description)
    wanted = {name: family for name, family in families.items() if name.startswith(arguments[-1] if len(arguments) == 2 else "")}
    if not wanted:
        sys.exit(f"{arguments[-1]}: there are {', '.join(families)}")
    use_build(pathlib.Path(arguments[0]).resolve())
    import torch
    import fatlink
    cupy = __import__("cupy") if has("cupy") else None
    print(HEAD)
    for family in wanted.values():
        family(torch, cupy, fatlink)


def main():
    run_families({"sort": measure_sorts, "sort_pairs": measure_others, "top_k": measure_top_k, "searchsorted": measure_searches,
                  "merge": measure_merges, "segmented_sort": measure_rows}, sys.argv[1:], __doc__)


if __name__ == "__main__":
    main()

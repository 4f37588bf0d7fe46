#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fatlink's algorithms on runs of equal keys, on PyTorch's arrays on a GPU, beside PyTorch and CuPy: what users write where these
have no such function. Results are compared. Prints a table in Markdown, as python_sorts.py does. Calls wait for the number of
runs, except those named "count=".
    python_by_key.py BUILD_FOLDER [NAME]
NAME: measures only the calls whose names begin with it. CuPy is left out where it is not installed."""
import sys

from python_sorts import SIZES, measure, print_row, require, run_families

RUNS = (1, 3, 30, 10_000)


def sorted_keys(torch, elements, mean):
    """Ascending int32 keys, 0 first, in runs of random lengths with this mean."""
    generator = torch.Generator(device="cuda").manual_seed(1)
    heads = torch.randint(0, mean, (elements,), device="cuda", generator=generator, dtype=torch.int32) == 0
    heads[0] = False
    return torch.cumsum(heads, 0, dtype=torch.int32)


def sparse_ones(torch, elements):
    """float32 values of which every order of additions gives the same sums."""
    generator = torch.Generator(device="cuda").manual_seed(2)
    return (torch.randint(0, 64, (elements,), device="cuda", generator=generator, dtype=torch.int32) == 0).float()


def cases(torch):
    """The size, the mean length of runs and the keys of each case."""
    for elements in SIZES:
        for mean in RUNS:
            if mean <= elements:
                yield elements, mean, sorted_keys(torch, elements, mean)


def same(torch, own, expected):
    return all(torch.equal(a, b) for a, b in zip(own, expected))


def without_waiting(torch, function, keys, *values, out):
    """The call with arrays for its results and their number."""
    out_keys, count = torch.empty_like(keys), torch.empty(1, dtype=torch.int64, device="cuda")
    return lambda: function(keys, *values, out_keys=out_keys, out=out, count=count)


def torch_sums(torch, keys, x):
    runs, places = torch.unique_consecutive(keys, return_inverse=True)
    return runs, torch.zeros(len(runs), device="cuda").scatter_add_(0, places, x)


def measure_sums(torch, cupy, fatlink):
    """CuPy's bincount, of keys that are indexes, has sums of float64 and no keys."""
    for elements, mean, keys in cases(torch):
        name, x = f"reduce_by_key, runs of {mean}", sparse_ones(torch, elements)
        require(same(torch, fatlink.reduce_by_key(keys, x), torch_sums(torch, keys, x)), name, elements)
        views = cupy and (cupy.from_dlpack(keys), cupy.from_dlpack(x))
        calls = [lambda: fatlink.reduce_by_key(keys, x), lambda: torch_sums(torch, keys, x), cupy and (lambda: cupy.bincount(*views))]
        print_row(name, elements, measure(torch, calls, elements))
        direct = without_waiting(torch, fatlink.reduce_by_key, keys, x, out=torch.empty_like(x))
        print_row(f"{name}, count=", elements, measure(torch, [direct, calls[1], None], elements))


def torch_scans(torch, keys, x):
    _, places, lengths = torch.unique_consecutive(keys, return_inverse=True, return_counts=True)
    sums = torch.cumsum(x, 0)
    heads = torch.cumsum(lengths, 0) - lengths
    return sums - (sums - x)[heads][places]


def measure_scans(torch, cupy, fatlink):
    for elements, mean, keys in cases(torch):
        name, x = f"scan_by_key, runs of {mean}", sparse_ones(torch, elements)
        require(torch.equal(fatlink.scan_by_key(keys, x), torch_scans(torch, keys, x)), name, elements)
        calls = [lambda: fatlink.scan_by_key(keys, x), lambda: torch_scans(torch, keys, x), None]
        print_row(name, elements, measure(torch, calls, elements))


def torch_firsts(torch, keys, x):
    runs, lengths = torch.unique_consecutive(keys, return_counts=True)
    return runs, x[torch.cumsum(lengths, 0) - lengths]


def measure_firsts(torch, cupy, fatlink):
    """CuPy's unique sorts the keys."""
    for elements, mean, keys in cases(torch):
        name, x = f"unique_by_key, runs of {mean}", torch.randn(elements, device="cuda")
        require(same(torch, fatlink.unique_by_key(keys, x), torch_firsts(torch, keys, x)), name, elements)
        views = cupy and (cupy.from_dlpack(keys), cupy.from_dlpack(x))
        calls = [lambda: fatlink.unique_by_key(keys, x), lambda: torch_firsts(torch, keys, x),
                 cupy and (lambda: views[1][cupy.unique(views[0], return_index=True)[1]])]
        print_row(name, elements, measure(torch, calls, elements))


def measure_lengths(torch, cupy, fatlink):
    """CuPy's unique sorts the keys."""
    for elements, mean, keys in cases(torch):
        name = f"run_lengths, runs of {mean}"
        require(same(torch, fatlink.run_lengths(keys), torch.unique_consecutive(keys, return_counts=True)), name, elements)
        view = cupy and cupy.from_dlpack(keys)
        calls = [lambda: fatlink.run_lengths(keys), lambda: torch.unique_consecutive(keys, return_counts=True),
                 cupy and (lambda: cupy.unique(view, return_counts=True))]
        print_row(name, elements, measure(torch, calls, elements))
        direct = without_waiting(torch, fatlink.run_lengths, keys, out=torch.empty(elements, dtype=torch.int64, device="cuda"))
        print_row(f"{name}, count=", elements, measure(torch, [direct, calls[1], None], elements))


def main():
    run_families({"reduce_by_key": measure_sums, "scan_by_key": measure_scans, "unique_by_key": measure_firsts,
                  "run_lengths": measure_lengths}, sys.argv[1:], __doc__)


if __name__ == "__main__":
    main()

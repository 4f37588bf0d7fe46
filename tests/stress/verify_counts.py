#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls each algorithm from Python with more than 2^32 elements of one byte on a GPU and compares the results with PyTorch's or with
known ones. Prints which results are right, and fails if one is wrong or if arrays of a call
stay allocated. Needs about 60 GB of GPU memory.
    verify_counts.py BUILD_FOLDER [--elements N] [--only NAME]"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
from python_overhead import use_build

ELEMENTS = (1 << 32) + 70_001
PART = 1 << 28  # what PyTorch processes at once
RUN = 7  # the length of a run of equal keys
SEGMENT = (1 << 20) + 1
EXAMPLES = 1000


def parts(count, first=0):
    """Slices of all elements, so that PyTorch needs no large arrays of its own."""
    return (slice(begin, min(begin + PART, count)) for begin in range(first, count, PART))


class Arrays:
    """The input of all calls: `x` has random bytes below 250, and 255 as its last element."""

    def __init__(self, torch, count):
        self.torch, self.count = torch, count
        self.x = torch.empty(count, dtype=torch.uint8, device="cuda")
        generator = torch.Generator(device="cuda").manual_seed(1)
        for part in parts(count):
            self.x[part] = torch.randint(0, 250, (part.stop - part.start,), device="cuda", generator=generator, dtype=torch.uint8)
        self.x[-1] = 255
        self.counts = sum(torch.bincount(self.x[part], minlength=256) for part in parts(count))
        self.starts = torch.cat((torch.zeros(1, dtype=torch.int64, device="cuda"), self.counts.cumsum(0)))

    def array_of(self, function, dtype="uint8"):
        """An array from a function of the positions; numbers that are too large lose their upper bits."""
        array = self.torch.empty(self.count, dtype=getattr(self.torch, dtype), device="cuda")
        for part in parts(self.count):
            array[part] = function(self.torch.arange(part.start, part.stop, device="cuda")).to(array.dtype)
        return array

    def keys(self):
        return self.array_of(lambda i: i // RUN)

    def runs(self):
        return -(-self.count // RUN)

    def is_all(self, array, function):
        """Whether all elements are those of a function of a slice."""
        return all(bool((array[part] == function(part)).all()) for part in parts(len(array)))

    def of_runs(self, array, value):
        """Whether there is one element for each run of equal keys: for the last one, which may be shorter, too."""
        return len(array) == self.runs() and all(
            bool((array[part] == value(self.torch.arange(part.start, part.stop, device="cuda")).to(array.dtype)).all())
            for part in parts(len(array)))

    def length(self, run):
        return (self.count - run * RUN).clamp(max=RUN)

    def is_selection(self, array, keep):
        """Whether an array has the kept elements of x in their order."""
        done = 0
        for part in parts(self.count):
            kept = self.x[part][keep(self.x[part])]
            if not self.torch.equal(array[done:done + len(kept)], kept):
                return False
            done += len(kept)
        return done == len(array)

    def is_sorted(self, array, counts=None):
        ends = (self.counts if counts is None else counts).cumsum(0).tolist()
        return ends[-1] == len(array) and all(
            bool((array[begin:end] == value).all()) for value, (begin, end) in enumerate(zip([0, *ends], ends)))

    def positions(self, value):
        return self.torch.cat([(self.x[part] == value).nonzero().flatten() + part.start for part in parts(self.count)])


def maps_and_reductions(fatlink, a):
    x = a.x
    yield "map", lambda: a.is_all(fatlink.map(x, op="FATLINK_MAP1(unsigned char, unsigned char, x) { return x + 1; }"), lambda part: x[part] + 1)
    yield "reduce", lambda: int(fatlink.reduce(x, "max")) == 255 and int(fatlink.reduce(x)) == int(
        (a.counts * a.torch.arange(256, device="cuda")).sum())
    yield "histogram", lambda: a.torch.equal(
        fatlink.histogram(x, "FATLINK_BIN(unsigned char, x) { return x; }", bins=256).to(a.torch.int64), a.counts)
    offsets = a.torch.cat((a.torch.arange(0, a.count, SEGMENT, device="cuda"), a.torch.tensor([a.count], device="cuda")))
    most = a.torch.stack([part.max() for part in x.split(SEGMENT)])
    yield "segmented_reduce", lambda: a.torch.equal(fatlink.segmented_reduce(x, offsets, "max"), most)
    yield "segmented_sort", lambda: all(a.torch.equal(own, part.sort().values) for own, part in zip(
        fatlink.segmented_sort(x, offsets).split(SEGMENT), x.split(SEGMENT)))


def scans(fatlink, a):
    def steps(array, first):
        return all(bool((array[1:][part] - array[:-1][part] == a.x[first:][part]).all()) for part in parts(a.count - 1))
    yield "scan", lambda: steps(fatlink.scan(a.x), 1)
    yield "exclusive_scan", lambda: steps(fatlink.exclusive_scan(a.x), 0)
    yield "scan_by_key", lambda: a.is_all(
        fatlink.scan_by_key(a.keys(), a.array_of(a.torch.ones_like)),
        lambda part: a.torch.arange(part.start, part.stop, device="cuda") % RUN + 1)


def selections(fatlink, a):
    keep = "FATLINK_KEEP(unsigned char, x) { return x >= 200; }"
    yield "select", lambda: a.is_selection(fatlink.select(a.x, keep), lambda x: x >= 200)
    yield "partition", lambda: all(a.is_selection(array, kept) for array, kept in zip(
        fatlink.partition(a.x, keep), (lambda x: x >= 200, lambda x: x < 200)))
    yield "partition3", lambda: all(a.is_selection(array, kept) for array, kept in zip(
        fatlink.partition3(a.x, "FATLINK_PART(unsigned char, x) { return x < 100 ? 0 : x < 200 ? 1 : 2; }"),
        (lambda x: x < 100, lambda x: (x >= 100) & (x < 200), lambda x: x >= 200)))


def runs(fatlink, a):
    ones = a.array_of(a.torch.ones_like)
    yield "unique_consecutive", lambda: a.of_runs(fatlink.unique_consecutive(a.keys()), lambda run: run & 255)
    yield "run_lengths", lambda: a.of_runs(fatlink.run_lengths(a.keys())[1], a.length)
    yield "reduce_by_key", lambda: a.of_runs(fatlink.reduce_by_key(a.keys(), ones)[1], a.length)
    yield "unique_by_key", lambda: a.of_runs(
        fatlink.unique_by_key(a.keys(), a.array_of(lambda i: i, "int32"))[1], lambda run: run * RUN)


def sorts(fatlink, a):
    half = a.count // 2 + 1
    yield "sort", lambda: a.is_sorted(fatlink.sort(a.x))
    yield "sort by an order", lambda: a.is_sorted(fatlink.sort(a.x, "FATLINK_LESS(unsigned char, a, b) { return a < b; }"))

    def pairs():
        keys, values = fatlink.sort_pairs(a.x, a.array_of(lambda i: i, "int32"))
        starts = a.starts.tolist()
        return a.is_sorted(keys) and all(a.torch.equal(
            values[starts[value]:starts[value + 1]], a.positions(value).to(a.torch.int32)) for value in (0, 1, 249, 255))
    yield "sort_pairs", pairs
    yield "merge", lambda: a.is_sorted(fatlink.merge(fatlink.sort(a.x[:half]), fatlink.sort(a.x[half:])))
    yield "searchsorted", lambda: a.torch.equal(
        fatlink.searchsorted(fatlink.sort(a.x), a.torch.arange(256, device="cuda", dtype=a.torch.uint8)).to(a.torch.int64), a.starts[:-1])

    def top():
        values, indexes = fatlink.top_k(a.x, EXAMPLES)
        expected = a.torch.cat([a.positions(value) for value in (255, 249, 248, 247)])[:EXAMPLES]
        return a.torch.equal(indexes.to(a.torch.int64), expected) and a.torch.equal(values, a.x[expected])
    yield "top_k", top


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--elements", type=int, default=ELEMENTS)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    use_build(arguments.build)
    import fatlink
    import torch
    arrays = Arrays(torch, arguments.elements)
    wrong, count = 0, 0
    for family in (maps_and_reductions, scans, selections, runs, sorts):
        for name, is_right in family(fatlink, arrays):
            if name.startswith(arguments.only):
                count += 1
                before = torch.cuda.memory_allocated()
                try:
                    problem = "" if is_right() else "wrong results"
                    problem = problem or "arrays stay allocated" * (torch.cuda.memory_allocated() > before + PART)
                except (fatlink.Error, RuntimeError) as raised:
                    problem = str(raised)
                wrong += bool(problem)
                print(f"{name}: {problem or 'right'}", flush=True)
                torch.cuda.empty_cache()
    print(f"{count} algorithms with {arguments.elements} elements, {wrong} wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())

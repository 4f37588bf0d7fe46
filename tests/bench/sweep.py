#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sweeps the sizes, shapes and data of the algorithms on PyTorch's arrays, and looks for valleys. Prints a table in Markdown:
the time of a call, and its share of the memory limit: the time that a copy of as many bytes takes, over that of the call. A case is
marked if a neighbour in its row of cases has 1.5 times its share; of sizes only the smaller neighbour counts.
    sweep.py BUILD_FOLDER [--only FAMILY] [--elements N] [--device gpu|cpu]
Families: segments, sizes, selectivity, bins, keys, elements. N: elements where the size is not swept (default 2**26). With
--device cpu the reference device runs them on NumPy's arrays: it shows that the script works, and its times mean nothing.
Results are not compared: the tests of the algorithms do that."""
import argparse
import pathlib
import statistics
import sys
import time

import numpy

import python_overhead

VALLEY = 1.5
LARGEST = {"gpu": 1 << 28, "cpu": 1 << 12}


class Gpu:
    def __init__(self, torch):
        self.torch = torch
        self.rate = None

    def array(self, numbers):
        return self.torch.from_numpy(numpy.ascontiguousarray(numbers)).cuda()

    def microseconds(self, call):
        """The median of five rounds of calls that are queued behind a delay, so that the host is not seen."""
        torch = self.torch
        call()
        torch.cuda.synchronize()
        times = []
        for _ in range(5):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(1_000_000)
            start.record()
            for _ in range(3):
                call()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) / 3 * 1e3)
        return statistics.median(times)

    def copy_rate(self):
        source = self.torch.empty(1 << 28, dtype=self.torch.uint8, device="cuda")
        target = self.torch.empty_like(source)
        return 2 * (1 << 28) / self.microseconds(lambda: target.copy_(source))


class ReferenceDevice:
    @staticmethod
    def array(numbers):
        return numpy.ascontiguousarray(numbers)

    @staticmethod
    def microseconds(call):
        call()  # links
        start = time.perf_counter()
        call()
        return (time.perf_counter() - start) * 1e6

    def copy_rate(self):
        source = numpy.zeros(1 << 20, numpy.uint8)
        return 2 * (1 << 20) / self.microseconds(source.copy)


def powers(first, last, step=1):
    return [1 << k for k in range(first.bit_length() - 1, last.bit_length(), step)]


def segments(fatlink, place, n, largest):
    numbers = place.array(numpy.ones(n, numpy.float32))

    def case(name, offsets):
        count = len(offsets) - 1
        view, ends = numbers[:int(offsets[-1])], place.array(offsets.astype(numpy.int64))
        out = place.array(numpy.empty(count, numpy.float32))
        return name, lambda: fatlink.segmented_reduce(view, ends, out=out), 4 * len(view) + 12 * count + 8
    lengths = sorted({*powers(1, min(n, 1 << 22)), *[24, 48, 96, 192, 384, 768]})
    yield "segments of", [case(str(length), numpy.arange(n // length + 1) * length) for length in lengths if length <= n]
    half = numpy.concatenate([[0], n // 2 + 16 * numpy.arange(n // 32 + 1)])
    most_empty = numpy.repeat(numpy.arange(n // 160 + 1) * 160, 10)
    yield "skewed segments", [case("half in one, then 16", half), case("nine of ten empty, then 160", most_empty)]


def sizes(fatlink, place, n, largest):
    for name, factor in (("reduce", 4), ("scan", 8), ("map", 8), ("sort", 8), ("select", 8)):
        cases = []
        for count in powers(1 << 8, largest, 2):
            x = place.array(numpy.ones(count, numpy.float32))
            out = place.array(numpy.empty(1 if name == "reduce" else count, numpy.float32))
            calls = {"reduce": lambda x=x, out=out: fatlink.reduce(x, out=out), "scan": lambda x=x, out=out: fatlink.scan(x, out=out),
                     "map": lambda x=x, out=out: fatlink.map(x, op="square", out=out),
                     "sort": lambda x=x, out=out: fatlink.sort(x, out=out),
                     "select": lambda x=x, out=out: fatlink.select(x, "positive", out=out)}
            cases.append((f"{count}", calls[name], factor * count))
        yield f"{name} of elements", cases


def selectivity(fatlink, place, n, largest):
    order = numpy.random.default_rng(1).random(n, numpy.float32)
    out = place.array(numpy.empty(n, numpy.float32))
    cases = []
    for percent in (0, 1, 50, 100):
        x = place.array(numpy.where(order < percent / 100, numpy.float32(1), numpy.float32(-1)))
        cases.append((f"{percent} %", lambda x=x: fatlink.select(x, "positive", out=out), 4 * n + 4 * n * percent // 100))
    yield "select accepts", cases


def bins(fatlink, place, n, largest):
    state = place.array(numpy.array([0, 1], numpy.float32))
    for count in (2, 64, 256, 4096, 16384, 65536):
        uniform = numpy.random.default_rng(2).integers(0, count, n).astype(numpy.float32)
        cases = []
        for name, data in (("uniform", uniform), ("sorted", numpy.sort(uniform)), ("constant", numpy.full(n, count // 2, numpy.float32)),
                           ("nine of ten in one", numpy.where(uniform % 10 == 0, uniform, numpy.float32(0)))):
            x, out = place.array(data), place.array(numpy.empty(count, numpy.int64))
            cases.append((name, lambda x=x, out=out, count=count: fatlink.histogram(x, "uniform_bins", bins=count, state=state, out=out),
                          4 * n))
        yield f"histogram of {count} bins", cases


def keys(fatlink, place, n, largest):
    random = numpy.random.default_rng(3).random(n, numpy.float32)
    out = place.array(numpy.empty(n, numpy.float32))
    cases = []
    for name, data in (("random", random), ("sorted", numpy.sort(random)), ("reversed", numpy.sort(random)[::-1]),
                       ("of four values", numpy.floor(random * 4))):
        x = place.array(data)
        cases.append((name, lambda x=x: fatlink.sort(x, out=out), 8 * n))
    yield "sort keys", cases


def elements(fatlink, place, n, largest):
    for name in ("reduce", "scan"):
        cases = []
        for dtype, op in (("int8", "max"), ("int16", "max"), ("float32", "add"), ("float64", "add"), ("complex128", "add")):
            size = numpy.dtype(dtype).itemsize
            x = place.array(numpy.ones(n * 4 // size, dtype))
            out = place.array(numpy.empty(1 if name == "reduce" else len(x), dtype))
            call = fatlink.reduce if name == "reduce" else fatlink.scan
            cases.append((f"{size} bytes", lambda x=x, op=op, out=out, call=call: call(x, op, out=out), 4 * n * (1 if name == "reduce" else 2)))
        yield f"{name} elements of", cases


FAMILIES = {"segments": segments, "sizes": sizes, "selectivity": selectivity, "bins": bins, "keys": keys, "elements": elements}


def valleys(shares, both=True):
    """Whether each has a neighbour of 1.5 times its share. `both`: False if only the one before counts."""
    padded = [0, *shares, 0]
    return [max(before, after if both else 0) >= VALLEY * share for before, share, after in zip(padded, shares, padded[2:])]


def print_row(title, cases, place, rate):
    """The measured cases as lines of the table: how many are marked."""
    times = [place.microseconds(call) for _, call, _ in cases]
    shares = [size / rate / microseconds for microseconds, (_, _, size) in zip(times, cases)]
    marks = valleys(shares, both="of elements" not in title)
    for (name, _, size), microseconds, share, is_marked in zip(cases, times, shares, marks):
        print(f"| {title} | {name} | {microseconds:.1f} | {size / microseconds / 1e3:.0f} | {share:.2f} | {'valley' if is_marked else ''} |",
              flush=True)
    return sum(marks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", choices=FAMILIES)
    parser.add_argument("--elements", type=int, default=1 << 26)
    parser.add_argument("--device", choices=LARGEST, default="gpu")
    arguments = parser.parse_args()
    python_overhead.use_build(arguments.build.resolve())
    import fatlink
    if arguments.device == "cpu":
        place, machine = ReferenceDevice(), "the reference device, whose times mean nothing here"
    else:
        if not python_overhead.has("torch"):
            sys.exit("PyTorch is not installed for this Python (pip install torch); --device cpu needs NumPy only")
        import torch
        if not torch.cuda.is_available():
            sys.exit("PyTorch sees no GPU; --device cpu tries the script without one")
        place, machine = Gpu(torch), f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}"
    rate = place.copy_rate()  # bytes in a microsecond
    print(f"{machine}, fatlink {fatlink.version()}; a copy moves {rate / 1e3:.0f} GB/s.\n")
    print("| cases | case | µs | GB/s | share of the limit | |\n|---|---|---:|---:|---:|---|")
    marked = 0
    for name, family in FAMILIES.items():
        if arguments.only in (None, name):
            for title, cases in family(fatlink, place, arguments.elements, LARGEST[arguments.device]):
                marked += print_row(title, cases, place, rate)
    print(f"\n{marked} valleys.")


if __name__ == "__main__":
    main()

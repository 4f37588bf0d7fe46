#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills a cache layer with the links of the operators that Python names ("add", "max", ...), so that their first call
compiles and links nothing. The package chooses library and operator, as in a call; `fatlink cache warm` compiles and links.

  link_operators.py --package FOLDER --build FOLDER --layer FOLDER [--only TEXT]... [--list]

--package   the folder of the Python package `fatlink`
--build     a build tree with the program, the shared library and the fatbins
--layer     the folder to fill; what it held before is removed
--only      calls whose text begins with TEXT, for example "reduce add"
--list      prints the calls, and links nothing"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

# The oldest GPU of each major version: its cubins run on the newer ones (target::compatible_targets). GPUs of Tegra are
# not among them: the wheel is for x86-64.
TARGETS = "sm_75,sm_80,sm_90,sm_100,sm_120"
FLOATS, HALVES, INTEGERS = ("float32", "float64"), ("float16", "bfloat16"), ("int32", "int64")
NUMBERS = FLOATS + HALVES + INTEGERS
# What sums of narrow integers are made in: NumPy's and CuPy's rule, and PyTorch's.
SUMS = (("int32", "int64"), ("int8", "int64"), ("uint8", "uint64"), ("uint8", "int64"), ("bool", "int64"))


def named_calls():
    """(algorithm, contract's base, operator, element types, result type or None) of each call."""
    def of(algorithm, base, names, elements, arrays=1):
        return [(algorithm, base, name, (element,) * arrays, None) for name in names for element in elements]
    calls = of("reduce", "combine", ("add",), NUMBERS) + of("reduce", "combine", ("multiply",), FLOATS + ("int64",))
    calls += of("reduce", "combine", ("max", "min"), NUMBERS + ("uint8",)) + of("reduce", "combine", ("abs_max",), FLOATS)
    calls += [("reduce", "combine", "add", (element,), result) for element, result in SUMS]
    calls += of("segmented_reduce", "combine", ("add", "max"), ("float32",))
    calls += of("scan", "combine", ("add",), FLOATS + INTEGERS) + of("scan", "combine", ("max",), ("float32",) + INTEGERS)
    calls += of("exclusive_scan", "combine", ("add",), FLOATS + INTEGERS)
    # Their links are three times as large as those of other algorithms.
    calls += of("sort", "less", ("less", "greater"), FLOATS + INTEGERS)
    calls += of("sort_pairs", "less", ("less",), ("float32",)) + of("sort_pairs_wide", "less", ("less",), ("float32",))
    calls += of("select", "keep", ("nonzero",), ("float32", "uint8") + INTEGERS)
    calls += of("select", "keep", ("positive",), FLOATS + INTEGERS) + of("select", "keep", ("finite",), FLOATS)
    calls += of("partition", "keep", ("positive",), ("float32",))
    calls += of("map1", "map1", ("abs", "negate", "square"), NUMBERS)
    calls += of("map2", "map2", ("add", "subtract", "multiply", "divide", "max", "min"), NUMBERS, arrays=2)
    calls += of("map3", "map3", ("multiply_add",), FLOATS + HALVES, arrays=3)
    calls += of("transform_reduce", "load_combine", ("sum_squares",), ("float32",))
    calls += of("histogram", "bin", ("byte_bins",), ("uint8",)) + of("histogram", "bin", ("uniform_bins",), ("float32",))
    # Scans of narrow integers convert them first.
    return calls + [("map1", "map1", None, (element,), result) for element, result in SUMS]


def text_of(call):
    algorithm, _, name, elements, result = call
    return f"{algorithm} {name or 'convert'} {elements[0]}" + (f" {result}" if result else "")


class Found:
    """What a call would link: the library, and its transforms: names of fatbins, or sources."""

    def __init__(self, library, transforms):
        self.library = library
        self.transforms = transforms


class Source:
    def __init__(self, text, contract, name):
        self.text, self.contract, self.name = text, contract, name


class Recorder:
    """Takes the package's place where it compiles and prepares. Sources are compiled, and libraries prepared for the reference
    device in PTX, which links nothing, so that operators of other types are refused as in a call."""

    def __init__(self, package):
        sys.path.insert(0, str(package.parent))
        import fatlink
        from fatlink import _elements, _kept_calls, _operators
        self.fatlink, self.calls, self.operators, self.number_type = fatlink, _kept_calls, _operators, _elements.number_type
        self.sources = []  # (Input, Source)
        self.found = None  # the last one that was prepared
        self.prepared, self.device = _kept_calls.Prepared, fatlink.open_device("cpu")
        _operators.compile = self.compile
        _kept_calls.Prepared = self.prepare

    def compile(self, text, *, contract, name):
        result = self.fatlink.compile(text, contract=contract, name=name)
        self.sources.append((result, Source(text, contract, name)))
        return result

    def prepare(self, device, library, transforms, mode):
        self.found = Found(library, [self.source_of(transform) or transform.name for transform in transforms])
        return self.prepared(self.device, library, transforms, "ptx")

    def source_of(self, transform):
        return next((source for result, source in self.sources if result is transform), None)

    def record(self, call):
        """The Found of a call."""
        algorithm, base, op, elements, result = call
        if base == "less":  # as find_sort does with numbers
            algorithm, base, op = f"radix_{algorithm}", "key", self.operators.KEYS_OF_ORDERS[op]
        types_of = [self.number_type(name) for name in elements]
        result = result and self.number_type(result)
        sources = [types.SimpleNamespace(element=element) for element in types_of]
        conversion = result and self.operators.Conversion(types_of[0], result)
        if op is not None and conversion:
            self.calls._try_with_others(algorithm, base, op, sources, self.device, "lto", None, None, None, conversion)
        else:
            self.calls._try_sizes(algorithm, base, op or conversion, sources, self.device, "lto", result, None)
        return self.found


def warm(program, layer, folder, found):
    """Compiles and links what a call needs: cubins for GPUs, and PTX for the reference device."""
    folder.mkdir()
    inputs, contracts = [found.library], set()
    for transform in found.transforms:
        if isinstance(transform, Source):
            (folder / transform.name).write_text(transform.text)
            contracts.add(transform.contract)
            transform = str(folder / transform.name)
        inputs.append(transform)
    contract = ["--contract", *contracts] if contracts else []
    for kind in (["--emit", "cubin", "--target", TARGETS], ["--emit", "ptx", "--target", "sm_90"]):
        subprocess.run([program, "cache", "warm", "--json", "--mode", "lto", *kind, "--layer", str(layer), "--one-copy", *contract,
                        *inputs], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("package", "build", "layer"):
        parser.add_argument(f"--{name}", type=lambda text: pathlib.Path(text).resolve(), required=name != "layer")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    calls = [call for call in named_calls() if text_of(call).startswith(tuple(arguments.only or [""]))]
    if arguments.list or arguments.layer is None:
        print(*map(text_of, calls), sep="\n")
        return
    shutil.rmtree(arguments.layer, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="fatlink-operators.") as text:
        work = pathlib.Path(text)
        os.environ.update({"FATLINK_CACHE_DIR": str(work / "cache"), "FATLINK_SYSTEM_CACHE": "",
                           "FATLINK_LIBRARY": str(arguments.build / "lib/libfatlink.so")})
        recorder = Recorder(arguments.package)
        links = {}  # of several calls one, where they link the same
        for call in calls:
            found = recorder.record(call)
            key = (found.library, *[(part.text, part.name) if isinstance(part, Source) else part for part in found.transforms])
            links.setdefault(key, found)
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(lambda item: warm(arguments.build / "bin/fatlink", arguments.layer, work / str(item[0]), item[1]),
                          enumerate(links.values())))


if __name__ == "__main__":
    main()

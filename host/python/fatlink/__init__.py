# SPDX-License-Identifier: Apache-2.0
"""Links CUDA device code at run time: libraries that call hooks, and transforms that define them.

    import fatlink, torch
    x = torch.rand(1 << 20, device="cuda")
    fatlink.reduce(x, "max")                                       # an operator by name
    fatlink.scan(x, "FATLINK_COMBINE(float, a, b) { return a + b; }")  # in CUDA
    fatlink.map(x, op=lambda x: x * x)                             # in Python, through Numba

Arrays of PyTorch, CuPy and JAX are used on their GPU, without copies and in the caller's current stream. Arrays of NumPy are
used on the reference device, which executes PTX on the CPU. docs/python.md has worked examples."""
import sys as _sys

from . import _ffi, cache
from ._algorithms import (exclusive_scan, histogram, map, partition, partition3, reduce, scan, segmented_reduce, select, transform_reduce,
                          transform_select)
from ._by_key import reduce_by_key, run_lengths, scan_by_key, unique_by_key, unique_consecutive
from ._cufft import CufftCallbacks, cufft
from ._devices import Device, open_device
from ._errors import (CompileError, CompilerWarning, DefectError, DeviceError, Error, FileError, Finding, LinkError,
                      OutOfMemoryError, RefusedError, UnavailableError, UsageError, UsageTypeError)
from ._inputs import Input, find_file, pack
from ._install import installed
from ._kernels import Kernel, Module
from ._linking import Hook, Image, check, compile, configure, link
from ._live import LiveKernel, LiveModule, LivePlan, SwapReport
from ._operator_names import OperatorName, operators
from ._plans import Plan, PlanArgument, load
from ._sorts import merge, searchsorted, segmented_sort, sort, sort_pairs, top_k


def version() -> str:
    """The version of the shared library: "0.1.0"."""
    return _ffi.text(_ffi.c.version())


def gpu_count() -> int:
    """The number of GPUs that the driver reports; 0 without a driver."""
    return _ffi.c.gpu_count()


# What users of NumPy and PyTorch look for, and the expression to write: of an array `x`, often also `y`.
_MEAN = 'fatlink.reduce(x, dtype="float64") / x.size'
_VARIANCE = f'fatlink.reduce(fatlink.map(x - {_MEAN}, op="square")) / x.size'
_ELSEWHERE = {
    "sum": "fatlink.reduce(x)", "prod": 'fatlink.reduce(x, "multiply")', "max": 'fatlink.reduce(x, "max")',
    "min": 'fatlink.reduce(x, "min")', "amax": 'fatlink.reduce(x, "max")', "amin": 'fatlink.reduce(x, "min")',
    "any": 'fatlink.reduce(x != 0, "max")', "all": 'fatlink.reduce(x != 0, "min")', "count_nonzero": "fatlink.reduce(x != 0)",
    "mean": _MEAN, "average": _MEAN, "var": _VARIANCE, "std": f"({_VARIANCE}) ** 0.5", "median": "fatlink.sort(x)[len(x) // 2]",
    "norm": 'fatlink.transform_reduce(x, "sum_squares") ** 0.5', "fold": "fatlink.reduce(x, op)",
    "dot": 'fatlink.reduce(fatlink.map(x, y, op="multiply"))', "vdot": 'fatlink.reduce(fatlink.map(x, y, op="multiply"))',
    "inner": 'fatlink.reduce(fatlink.map(x, y, op="multiply"))', "reduceat": "fatlink.segmented_reduce(x, offsets)",
    "cumsum": "fatlink.scan(x)", "cumprod": 'fatlink.scan(x, "multiply")', "cummax": 'fatlink.scan(x, "max")',
    "cummin": 'fatlink.scan(x, "min")', "accumulate": "fatlink.scan(x, op)", "inclusive_scan": "fatlink.scan(x)",
    "argmax": 'fatlink.reduce(pairs, "argmax", init=pairs[0])["index"]', "argmin": "fatlink.sort_pairs(x, numpy.arange(len(x)))[1][0]",
    "argsort": "fatlink.sort_pairs(x, numpy.arange(len(x)))[1]", "topk": "fatlink.top_k(x, k)[0]",
    "argpartition": 'fatlink.top_k(x, k, "less")[1]', "lower_bound": "fatlink.searchsorted(x, values)",
    "upper_bound": 'fatlink.searchsorted(x, values, side="right")', "digitize": 'fatlink.searchsorted(bins, x, side="right")',
    "adjacent_difference": 'fatlink.map(x[1:], x[:-1], op="subtract")', "run_length_encode": "fatlink.run_lengths(x)",
    "unique": "fatlink.unique_consecutive(fatlink.sort(x))",
    "filter": "fatlink.select(x, op)", "compress": "fatlink.select(x, op)", "extract": "fatlink.select(x, op)",
    "masked_select": "fatlink.select(x, op)", "bincount": 'fatlink.histogram(x, "byte_bins")', "transform": "fatlink.map(x, op=op)",
    "where": 'fatlink.map(mask, x, y, op="FATLINK_MAP3(float, unsigned char, m, float, a, float, b) { return m ? a : b; }")',
    "clip": 'fatlink.map(x, op="FATLINK_MAP1(float, float, x) { return fminf(fmaxf(x, 0), 1); }")',
    "torch": "import fatlink.torch", "jax": "import fatlink.jax",
    "diff": 'fatlink.map(x[1:], x[:-1], op="subtract")',
    **{name: f'fatlink.map(x, op="{op}")' for name, op in (("abs", "abs"), ("absolute", "abs"), ("negative", "negate"), ("square", "square"))},
    **{name: f'fatlink.map(x, y, op="{op}")' for name, op in (
        ("add", "add"), ("subtract", "subtract"), ("multiply", "multiply"), ("divide", "divide"), ("maximum", "max"), ("minimum", "min"))},
}

_FRAMEWORKS = ("jax", "torch")  # each has a module, which is imported by its name because it imports the framework


def __getattr__(name):
    if name == "__version__":
        return version()
    expression = f"import fatlink.{name}" if name in _FRAMEWORKS else _ELSEWHERE.get(name)
    instead = f"; write {expression}" if expression else ""
    raise AttributeError(f"module 'fatlink' has no attribute {name!r}{instead}", name=name, obj=_sys.modules[__name__])


__all__ = [
    "CompileError", "CompilerWarning", "CufftCallbacks", "DefectError", "Device", "DeviceError", "Error", "FileError", "Finding", "Hook", "Image", "Input",
    "Kernel", "LinkError", "LiveKernel", "LiveModule", "LivePlan", "Module", "OperatorName", "OutOfMemoryError", "Plan", "PlanArgument", "RefusedError", "SwapReport",
    "UnavailableError", "UsageError", "UsageTypeError", "cache", "check", "compile", "configure", "cufft", "exclusive_scan", "find_file",
    "gpu_count", "histogram", "installed", "link", "load", "map", "merge", "open_device", "operators", "pack", "partition", "partition3", "reduce",
    "reduce_by_key", "run_lengths", "scan", "scan_by_key", "searchsorted", "segmented_reduce", "segmented_sort", "select", "sort", "sort_pairs", "top_k",
    "transform_reduce", "transform_select", "unique_by_key", "unique_consecutive", "version",
]

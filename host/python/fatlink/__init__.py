# SPDX-License-Identifier: Apache-2.0
"""CUDA device code that is linked at run time: libraries with hooks, and transforms that fill them.

    import fatlink, torch
    x = torch.rand(1 << 20, device="cuda")
    fatlink.reduce(x, "max")                                       # an operator by name
    fatlink.scan(x, "FATLINK_COMBINE(float, a, b) { return a + b; }")  # in CUDA
    fatlink.map(x, op=lambda x: x * x)                             # in Python, through Numba

Arrays are those of PyTorch, CuPy and JAX on GPUs, without copies and in the caller's current stream, and NumPy's on the
reference device, which executes PTX on the CPU. docs/python.md has worked examples."""
from . import _ffi, cache
from ._algorithms import (exclusive_scan, histogram, map, partition, reduce, scan, segmented_reduce, select, sort, sort_pairs,
                          transform_reduce, transform_select)
from ._devices import Device, open_device
from ._errors import (CompileError, DefectError, DeviceError, Error, FileError, Finding, LinkError, OutOfMemoryError,
                      RefusedError, UnavailableError, UsageError, UsageTypeError)
from ._inputs import Input, find_file
from ._install import installed
from ._linking import Hook, Image, check, compile, configure, link
from ._live import LiveKernel, LiveModule, LivePlan, SwapReport
from ._operators import operators
from ._plans import Plan, PlanArgument, load


def version() -> str:
    """The version of the shared library: "0.1.0"."""
    return _ffi.text(_ffi.c.version())


def gpu_count() -> int:
    """How many GPUs the driver reports; 0 without a driver."""
    return _ffi.c.gpu_count()


# What users of NumPy look for, and what to write.
_ELSEWHERE = {
    "sum": "reduce(x)", "prod": 'reduce(x, "multiply")', "max": 'reduce(x, "max")', "min": 'reduce(x, "min")',
    "amax": 'reduce(x, "max")', "amin": 'reduce(x, "min")', "any": 'reduce(x != 0, "max")', "all": 'reduce(x != 0, "min")',
    "mean": 'reduce(x, dtype="float64") / x.size', "cumsum": "scan(x)", "cumprod": 'scan(x, "multiply")',
    "accumulate": "scan(x, op)", "inclusive_scan": "scan(x)", "argmax": 'reduce(pairs, "argmax")',
    "argsort": "sort_pairs(x, numpy.arange(len(x)))", "filter": "select(x, op)", "compress": "select(x, op)",
    "bincount": 'histogram(x, "byte_bins")', "transform": "map(x, op=op)", "count_nonzero": "reduce(x != 0)",
}


def __getattr__(name):
    if name == "__version__":
        return version()
    instead = f"; write fatlink.{_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
    raise AttributeError(f"module 'fatlink' has no attribute {name!r}{instead}")


__all__ = [
    "CompileError", "DefectError", "Device", "DeviceError", "Error", "FileError", "Finding", "Hook", "Image", "Input",
    "LinkError", "LiveKernel", "LiveModule", "LivePlan", "OutOfMemoryError", "Plan", "PlanArgument", "RefusedError", "SwapReport",
    "UnavailableError", "UsageError", "UsageTypeError", "cache", "check", "compile", "configure", "exclusive_scan", "find_file",
    "gpu_count", "histogram", "installed", "link", "load", "map", "open_device", "operators", "partition", "reduce", "scan",
    "segmented_reduce", "select", "sort", "sort_pairs", "transform_reduce", "transform_select", "version",
]

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package on a GPU with PyTorch's arrays. Prints tables in Markdown: the time of `import fatlink`; host time of a
call, beside the same call through the C function alone and PyTorch's own; the wait for one call after a synchronization beside
PyTorch's; throughput beside the program `fatlink bench`; and
the time to the first result and throughput beside torch.compile, CuPy's kernels, JAX and cuda.compute, each in a process.
    python_overhead.py BUILD_FOLDER [ROUNDS]
Without a GPU and PyTorch only the import is measured. What is not installed is skipped, with the reason."""
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import first_results

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "host" / "python"
ELEMENTS = int(os.environ.get("FATLINK_BENCH_ELEMENTS", 1 << 28))
MAKERS = {"fatlink": ("torch",), "torch.compile": ("torch",), "CuPy": ("cupy",), "JAX": ("jax",),
          "cuda.compute": ("cuda.compute", "cupy")}
KINDS = ("map", "reduce")


def use_build(build):
    """Lets this process and its children use the package of the source tree with the library of the build."""
    os.environ.setdefault("FATLINK_LIBRARY", str(build / "lib/libfatlink.so"))
    os.environ.setdefault("FATLINK_PATH", str(build / "share/fatlink"))
    os.environ.setdefault("FATLINK_LINKD", str(build / "libexec/fatlink-linkd"))
    os.environ["PYTHONPATH"] = f"{PACKAGE}:{HERE}:{os.environ.get('PYTHONPATH', '')}"
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    sys.path.insert(0, str(PACKAGE))


def has(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def print_import(rounds):
    script = "import time; start = time.perf_counter(); import fatlink; print((time.perf_counter() - start) * 1e3)"
    times = [float(subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, check=True).stdout)
             for _ in range(rounds)]
    print(f"`import fatlink`: {statistics.median(times):.1f} ms, median of {rounds} processes.\n")


def host_time(call, synchronize, calls=200):
    """Microseconds of host time of a call that queues work: the least of several loops, whose work fits the GPU's queue."""
    best = float("inf")
    for _ in range(40):
        synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - start) / calls * 1e6)
        synchronize()
    return best


def direct_call(fatlink, names, arrays):
    """The last prepared plan with these arguments, called by its C function with its arguments set once."""
    import ctypes
    from fatlink import _kept_calls, _plans
    from fatlink._arrays import view
    bound = [bound for bound in _kept_calls._bound.values() if set(names) <= set(bound.prepared.by_name)][-1]
    prepared = bound.prepared
    slot = _plans.Slot(names, prepared._encoded)
    for item, name in zip(slot.items, names):
        if name == "init":
            item.value = bound.identity.address
        elif name in arrays:
            seen = view(arrays[name])
            item.address, item.count = seen.address, seen.count
        else:
            item.address, item.count = 0, 0
    function, handle, stream = prepared.run_function, prepared.handle, 0
    count, address = len(names), ctypes.addressof(slot.array)

    def call():
        if function(handle, stream, address, count, 0, 0) is not None:
            raise RuntimeError("the call failed")
    call.keeps = slot
    return call


def call_cases(fatlink, torch, x):
    """By name: the call that makes a new array, the call with out=, its arguments by name, and PyTorch's own."""
    out = torch.empty_like(x)
    total = torch.empty((), device="cuda")
    return {
        "reduce": (lambda: fatlink.reduce(x), lambda: fatlink.reduce(x, out=total), ("in", "out", "init"),
                   {"in": x, "out": total}, lambda: torch.sum(x)),
        "scan": (lambda: fatlink.scan(x), lambda: fatlink.scan(x, out=out), ("in", "out"), {"in": x, "out": out},
                 lambda: torch.cumsum(x, 0)),
        "map": (lambda: fatlink.map(x, op="square"), lambda: fatlink.map(x, op="square", out=out), ("out", "in", "state"),
                {"in": x, "out": out}, lambda: torch.square(x)),
    }


def print_calls(fatlink, torch):
    x = torch.ones(1024, device="cuda")
    cases = call_cases(fatlink, torch, x)
    print(f"Host time of a call, µs, of {x.numel()} float32 elements; overhead: with out= over the C function.\n")
    print("| call | new array | `out=` | C function | overhead | PyTorch's own |\n|---|---:|---:|---:|---:|---:|")
    for name, (new, given, names, arrays, own) in cases.items():
        given()
        direct = direct_call(fatlink, names, arrays)
        times = [host_time(call, torch.cuda.synchronize) for call in (new, given, direct, own)]
        print(f"| {name} | {times[0]:.1f} | {times[1]:.1f} | {times[2]:.1f} | {times[1] - times[2]:.1f} | {times[3]:.1f} |")
    print()


def single_calls(fatlink, torch, x):
    """By name, for `out=` and for a new array, the call and PyTorch's own."""
    out, total = torch.empty_like(x), torch.empty((), device="cuda")
    order = torch.empty_like(x), torch.empty(x.shape, dtype=torch.int64, device="cuda")
    return {
        "reduce": ((lambda: fatlink.reduce(x, out=total), lambda: torch.sum(x, 0, out=total)),
                   (lambda: fatlink.reduce(x), lambda: torch.sum(x))),
        "scan": ((lambda: fatlink.scan(x, out=out), lambda: torch.cumsum(x, 0, out=out)),
                 (lambda: fatlink.scan(x), lambda: torch.cumsum(x, 0))),
        "map": ((lambda: fatlink.map(x, op="square", out=out), lambda: torch.square(x, out=out)),
                (lambda: fatlink.map(x, op="square"), lambda: torch.square(x))),
        "sort": ((lambda: fatlink.sort(x, out=out), lambda: torch.sort(x, out=order)),
                 (lambda: fatlink.sort(x), lambda: torch.sort(x))),
        "select": ((lambda: fatlink.select(x, "positive", out=out), lambda: x[x > 0]),
                   (lambda: fatlink.select(x, "positive"), lambda: x[x > 0])),
    }


def waits(torch, calls, rounds=200):
    """Medians of what the GPU's events state, µs, of single calls of which each follows a synchronization, by turns."""
    times = [[] for _ in calls]
    for turn in range(rounds + 10):
        for call, found in zip(calls, times):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            start.record()
            call()
            end.record()
            end.synchronize()
            if turn >= 10:
                found.append(start.elapsed_time(end) * 1e3)
    return [statistics.median(found) for found in times]


def print_waits(fatlink, torch):
    print("One call after a synchronization, µs between events of the GPU, medians of 200 turns; select's own is x[x > 0].\n")
    print("| call | elements | `out=` | PyTorch's | ratio | new array | PyTorch's | ratio |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for elements in (1 << 10, 1 << 20):
        x = torch.randn(elements, device="cuda")
        for name, pairs in single_calls(fatlink, torch, x).items():
            times = waits(torch, [call for pair in pairs for call in pair])
            print(f"| {name} | {elements} | " + " | ".join(
                f"{own:.1f} | {other:.1f} | {own / other:.2f}" for own, other in (times[:2], times[2:])) + " |")
    pool = fatlink.open_device("gpu").memory_pool
    print(f"\nfatlink's pool holds {pool['reserved']} bytes then, of at most {pool['limit']}.\n")


def device_time(torch, call, rounds, calls=10):
    """Microseconds of a call on the GPU, of several that are queued behind a delay: the median of the rounds."""
    times = []
    call()
    for _ in range(rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(2_000_000)
        start.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / calls * 1e3)
    return statistics.median(times)


def program_time(build, library, transform, rounds):
    """Microseconds of the LTO link in `fatlink bench`."""
    done = subprocess.run([build / "bin/fatlink", "bench", "--json", "--library", library, "--transform", transform, "--elements",
                           str(ELEMENTS), "--only", "kernels", "--mode", "lto", "--repeat", str(rounds)], text=True,
                          capture_output=True)
    if done.returncode != 0:
        sys.exit(f"fatlink bench failed: {done.stdout}{done.stderr}")
    return next(row["us"] for row in json.loads(done.stdout)["kernels"] if row["variant"] == "LTO link")


def print_throughput(fatlink, torch, build, rounds):
    x = torch.ones(ELEMENTS, device="cuda")
    out = torch.empty_like(x)
    state = torch.tensor([2.0, 1.0], device="cuda")
    cases = {"reduce": ("reduce_4", "add_float", lambda: fatlink.reduce(x, "add_float"), 4),
             "scan": ("scan_4", "add_float", lambda: fatlink.scan(x, "add_float", out=out), 8),
             "map": ("map1", "scale_add", lambda: fatlink.map(x, op="scale_add", state=state, out=out), 8)}
    print(f"Time on the GPU, of {ELEMENTS} float32 elements; median of {rounds} rounds.\n")
    print("| algorithm | Python, µs | GB/s | program, µs | Python over program |\n|---|---:|---:|---:|---:|")
    for name, (library, transform, call, size) in cases.items():
        own = device_time(torch, call, rounds)
        program = program_time(build, library, transform, rounds)
        print(f"| {name} | {own:.1f} | {ELEMENTS * size / own / 1e3:.0f} | {program:.1f} | {own / program:.3f} |")
    print()


def makers():
    """The packages that are installed; prints why the others are skipped."""
    found = []
    for maker, modules in MAKERS.items():
        missing = [module for module in modules if not has(module)]
        if missing:
            print(f"{maker}: skipped, {', '.join(missing)} is not installed for this Python.\n")
        else:
            found.append(maker)
    return found


def first_result_commands(makers):
    return {(kind, maker): [sys.executable, HERE / "python_first.py", maker, kind, str(ELEMENTS)]
            for kind in KINDS for maker in makers}


def print_first_results(makers, rounds):
    commands = first_result_commands(makers)
    medians = first_results.measure(commands, rounds)
    print(f"To the first verified result in a new process with an operator of the caller's (2x² + 1; the sum of it), and "
          f"throughput afterwards, of {ELEMENTS} float32 elements; medians of {rounds} rounds, ms; cold: all caches empty.\n")
    print("| algorithm | package | cache | whole process | first result | then, µs | GB/s |\n|---|---|---|---:|---:|---:|---:|")
    for kind, maker in commands:
        then = medians[(kind, maker), "warm"][2]
        size = 8 if kind == "map" else 4
        for cache in ("cold", "warm"):
            whole, first, _ = medians[(kind, maker), cache]
            print(f"| {kind} | {maker} | {cache} | {whole:.0f} | {first:.1f} | {then:.1f} | {ELEMENTS * size / then / 1e3:.0f} |")


def main():
    arguments = first_results.argument_parser(__doc__, rounds=9).parse_args()
    use_build(arguments.build)
    print_import(arguments.rounds)
    if not has("torch"):
        sys.exit("PyTorch is not installed for this Python: only the import was measured (pip install torch).")
    import torch
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU: only the import was measured.")
    import fatlink
    print(f"{torch.cuda.get_device_name()}, fatlink {fatlink.version()}, PyTorch {torch.__version__}\n")
    print_calls(fatlink, torch)
    print_waits(fatlink, torch)
    print_throughput(fatlink, torch, arguments.build, arguments.rounds)
    print_first_results(makers(), arguments.rounds)


if __name__ == "__main__":
    main()

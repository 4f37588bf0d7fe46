#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From the start of a process to its first verified result of a reduction and a scan with the caller's operator:
`fatlink run` with its cache empty (cold) and in the next process (warm), without the links that its package ships and, where
it ships some (a wheel, or a build with FATLINK_OPERATOR_LINKS), with them, beside cuda.compute where Python has it. Prints a
table in Markdown. "Ready" is the time without the start of the process, imports, and opening the GPU: for fatlink reading,
linking, loading, the launches and their verification; for cuda.compute its first call, the copy and the comparison."""
import importlib.util
import os
import pathlib
import sys

import first_results

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ("reduce", "scan")


def fatlink(build, library, elements, *variables):
    device = os.environ.get("FATLINK_BENCH_DEVICE", "gpu")  # cpu: tries the script without a GPU
    return ["/usr/bin/env", *variables, build / "bin/fatlink", "run", "--json", "--device", device, "--mode", "lto", "--library", library,
            "--transform", "add_float", "--elements", str(elements)]


def has_cuda_compute():
    try:
        return all(importlib.util.find_spec(name) for name in ("cuda.compute", "cupy"))
    except ModuleNotFoundError:
        return False


def commands_of(build, elements):
    commands = {(kind, "fatlink run"): fatlink(build, f"{kind}_4", elements, "FATLINK_SYSTEM_CACHE=") for kind in KINDS}
    shipped = build / "share/fatlink/cache"
    if shipped.is_dir():
        for kind in KINDS:
            commands[kind, "fatlink run, shipped links"] = fatlink(build, f"{kind}_4", elements, f"FATLINK_SYSTEM_CACHE={shipped}")
    if has_cuda_compute():
        for kind in KINDS:
            commands[kind, "cuda.compute"] = [sys.executable, HERE / "cuda_compute_first.py", kind, str(elements)]
    else:
        print("cuda.compute or CuPy is not installed for this Python: cuda.compute is not measured "
              "(pip install 'cuda-cccl[cu13]' cupy-cuda13x).\n")
    return commands


def print_table(medians, rounds, elements):
    print(f"{elements} float32 elements, medians of {rounds} rounds by turns, ms; cold: all caches empty.\n")
    print("| algorithm | program | cache | whole process | of fatlink | ready | of fatlink |\n|---|---|---|---:|---:|---:|---:|")
    for ((kind, program), cache), (whole, ready) in sorted(medians.items()):
        base = medians[(kind, "fatlink run"), cache]
        print(f"| {kind} | {program} | {cache} | {whole:.1f} | {whole / base[0]:.1f} | {ready:.1f} | {ready / base[1]:.1f} |")


def main():
    parser = first_results.argument_parser(__doc__, rounds=9)
    parser.add_argument("elements", metavar="ELEMENTS", type=first_results.count, nargs="?", default=65536)
    arguments = parser.parse_args()
    medians = first_results.measure(commands_of(arguments.build, arguments.elements), arguments.rounds)
    print_table(medians, arguments.rounds, arguments.elements)


if __name__ == "__main__":
    main()

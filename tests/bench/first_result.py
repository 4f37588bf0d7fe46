#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From the start of a process to its first verified result of a reduction and a scan with the caller's operator:
`fatlink run` with its cache empty (cold) and in the next process (warm), beside cuda.compute where Python has it. Prints a
table in Markdown. "Ready" is the time without the start of the process, imports, and opening the GPU: for fatlink reading,
linking, loading, the launches and their verification; for cuda.compute its first call, the copy and the comparison.
    first_result.py BUILD_FOLDER [ROUNDS [ELEMENTS]]"""
import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
build = pathlib.Path(sys.argv[1]).resolve()
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
elements = int(sys.argv[3]) if len(sys.argv) > 3 else 65536
device = os.environ.get("FATLINK_BENCH_DEVICE", "gpu")  # cpu: tries the script without a GPU


def fatlink(library):
    return [build / "bin/fatlink", "run", "--json", "--device", device, "--mode", "lto", "--library", library,
            "--transform", "add_float", "--elements", str(elements)]


def has_cuda_compute():
    try:
        return all(importlib.util.find_spec(name) for name in ("cuda.compute", "cupy"))
    except ModuleNotFoundError:
        return False


def time_process(command, folder):
    """Milliseconds of the whole process to its verified result, and of what remains without starting up."""
    env = {**os.environ, "FATLINK_CACHE_DIR": f"{folder}/fatlink", "CUDA_CACHE_PATH": f"{folder}/driver",
           "NUMBA_CACHE_DIR": f"{folder}/numba", "CUPY_CACHE_DIR": f"{folder}/cupy",
           "CCCL_PCH_CACHE_DIR": f"{folder}/cccl"}
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    said = b""
    while b"verified" not in said:
        some = os.read(process.stdout.fileno(), 65536)
        if not some:
            sys.exit(f"{command[0]} did not verify: {process.stderr.read().decode()}")
        said += some
    took = (time.perf_counter() - start) * 1e3
    said += process.communicate()[0]
    if process.returncode != 0:
        sys.exit(f"{command[0]} did not verify: {said.decode()}")
    result = json.loads(said)
    return took, result.get("first_ms", took - result["device_ms"])


def measure(commands):
    seen = {}
    with tempfile.TemporaryDirectory(prefix="fatlink-bench-") as folder:
        for _ in range(rounds):
            for name, command in commands.items():
                shutil.rmtree(folder, ignore_errors=True)
                os.mkdir(folder)
                for cache in ("cold", "warm"):
                    seen.setdefault((*name, cache), []).append(time_process(command, folder))
    return {key: [statistics.median(column) for column in zip(*values)] for key, values in seen.items()}


def main():
    commands = {(kind, "fatlink run"): fatlink(f"{kind}_4") for kind in ("reduce", "scan")}
    if has_cuda_compute():
        for kind in ("reduce", "scan"):
            commands[kind, "cuda.compute"] = [sys.executable, HERE / "cuda_compute_first.py", kind, str(elements)]
    else:
        print("cuda.compute or CuPy is not installed for this Python: cuda.compute is not measured "
              "(pip install 'cuda-cccl[cu13]' cupy-cuda13x).\n")
    medians = measure(commands)
    print(f"{elements} float32 elements, medians of {rounds} rounds by turns, ms; cold: all caches empty.\n")
    print("| algorithm | program | cache | whole process | of fatlink | ready | of fatlink |\n|---|---|---|---:|---:|---:|---:|")
    for (kind, program, cache), (whole, ready) in sorted(medians.items()):
        base = medians[kind, "fatlink run", cache]
        print(f"| {kind} | {program} | {cache} | {whole:.1f} | {whole / base[0]:.1f} | {ready:.1f} | {ready / base[1]:.1f} |")


main()

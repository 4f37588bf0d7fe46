#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From the start of a process to its first verified result on a GPU: `fatlink run` with its cache empty
and full, beside the same job by raw nvJitLink with the driver's cache empty and full, by turns. Opening the
GPU (cuInit and the context) takes most of it and differs by tens of milliseconds from time to time.
    cold_start.py BUILD_FOLDER [ROUNDS]"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

build = pathlib.Path(sys.argv[1]).resolve()
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
share = build / "share" / "fatlink"
pair = [share / "apply_transform.fatbin", share / "relu_poly.fatbin"]
fatlink = [build / "bin" / "fatlink", "run", "--json", "--device", "gpu", "--mode", "lto"]
raw = [build / "bin" / "raw_nvjitlink", *pair]


def time_to_verified(command, folder):
    env = {**os.environ, "FATLINK_CACHE_DIR": f"{folder}/fatlink", "CUDA_CACHE_PATH": f"{folder}/driver"}
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    said = b""
    while b"verified" not in said:
        some = os.read(process.stdout.fileno(), 4096)
        if not some:
            sys.exit(f"{command[0]} did not verify: {process.stderr.read().decode()}")
        said += some
    took = (time.perf_counter() - start) * 1e3
    said += process.communicate()[0]
    return took, took - json.loads(said)["device_ms"]


def main():
    seen = {}
    with tempfile.TemporaryDirectory(prefix="fatlink-bench-") as folder:
        for _ in range(rounds):
            for name, command in (("fatlink run", fatlink), ("fatlink run --no-cache", [*fatlink, "--no-cache"]),
                                  ("raw nvJitLink", raw)):
                shutil.rmtree(folder, ignore_errors=True)
                os.mkdir(folder)
                for cache in ("cold", "warm"):
                    seen.setdefault((name, cache), []).append(time_to_verified(command, folder))
    middle = {key: [statistics.median(column) for column in zip(*values)] for key, values in seen.items()}
    best = middle["raw nvJitLink", "cold"]
    print(f"Process start to first verified result, ms, medians of {rounds} rounds by turns; all caches empty "
          "(cold),\nand in the next process (warm); raw nvJitLink has the driver's cache alone.\n")
    print("| | cache | all | of raw, cold | without opening the GPU | of raw, cold |\n|---|---|---:|---:|---:|---:|")
    for (name, cache), (whole, rest) in middle.items():
        print(f"| {name} | {cache} | {whole:.1f} | {whole / best[0]:.2f} | {rest:.1f} | {rest / best[1]:.2f} |")


main()

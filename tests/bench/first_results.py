# SPDX-License-Identifier: Apache-2.0
"""Times processes from their start to their first verified result, with their caches empty (cold) and in the next process
(warm), by turns. A process prints one JSON object that says "verified", and device_ms, what opening the GPU added to its time, or first_ms,
the time without starting up; further objects are figures of later work."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected a whole number of 1 or more")
    return number


def build_folder(text):
    path = pathlib.Path(text).resolve()
    if not (path / "bin/fatlink").is_file():
        raise argparse.ArgumentTypeError(f"{text}: has no bin/fatlink: name the folder of a build")
    return path


def argument_parser(description, rounds):
    """Parses BUILD_FOLDER [ROUNDS]."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD_FOLDER", type=build_folder)
    parser.add_argument("rounds", metavar="ROUNDS", type=count, nargs="?", default=rounds)
    return parser


def environment(folder):
    """All caches below `folder`: of fatlink, of the driver, and of the packages beside it and what they use."""
    caches = {"FATLINK_CACHE_DIR": "fatlink", "CUDA_CACHE_PATH": "driver", "NUMBA_CACHE_DIR": "numba", "CUPY_CACHE_DIR": "cupy",
              "CCCL_PCH_CACHE_DIR": "cccl", "TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton",
              "JAX_COMPILATION_CACHE_DIR": "jax"}
    return {**os.environ, **{variable: f"{folder}/{name}" for variable, name in caches.items()}}


def time_process(command, folder):
    """Milliseconds of the whole process to its verified result, and of what remains without starting up; then_us, if the process
    states it."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(folder)) as process:
        output = b""
        while b"verified" not in output:
            part = os.read(process.stdout.fileno(), 65536)
            if not part:
                sys.exit(f"{command[0]} did not verify: {process.stderr.read().decode()}")
            output += part
        whole = (time.perf_counter() - start) * 1e3
        rest, errors = process.communicate()
    output += rest
    if process.returncode != 0:
        sys.exit(f"{command[0]} did not verify: {output.decode()}{errors.decode()}")
    result = read_objects(output.decode())
    first = result["first_ms"] if "first_ms" in result else whole - result["device_ms"]
    return (whole, first, result["then_us"]) if "then_us" in result else (whole, first)


def read_objects(text):
    """The members of the JSON objects that a process has printed, one behind the other."""
    members, decoder = {}, json.JSONDecoder()
    while text := text.strip():
        entry, end = decoder.raw_decode(text)
        members.update(entry)
        text = text[end:]
    return members


def measure(commands, rounds):
    """{(name, "cold"): [whole, rest, …], (name, "warm"): …} of commands by name: medians of what time_process returns. Each
    command is started once before, so that its files are in the page cache."""
    times = {}
    with tempfile.TemporaryDirectory(prefix="fatlink-bench-") as folder:
        for command in commands.values():
            time_process(command, folder)
        for _ in range(rounds):
            for name, command in commands.items():
                shutil.rmtree(folder, ignore_errors=True)
                os.mkdir(folder)
                for cache in ("cold", "warm"):
                    times.setdefault((name, cache), []).append(time_process(command, folder))
    return {key: [statistics.median(column) for column in zip(*values)] for key, values in times.items()}

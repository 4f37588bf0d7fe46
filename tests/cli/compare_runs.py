#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `fatlink run` of two builds, the first of which may be older than the schema fatlink.run/2: the same exit status,
verdict of each mode, agreement and written results for every shipped transform of apply_transform, sizes from 1 to 2^20, .npy files, wrong results
and NaN, and for a kernel without a launch plan. Prints each difference and the number of runs; fails if there is one.
    compare_runs.py OLD_BUILD NEW_BUILD [--device cpu]"""
import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

SIZES = (1, 2, 3, 4, 5, 31, 255, 256, 257, 1023, 1024, 1025, 4097, 65535, 65536, 1 << 20)
SPECIAL = (0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1e-45, -1e-45, 1.17549435e-38, 3.4028235e38, -3.4028235e38, 0.5, -1.0)
PLAIN = """extern "C" __device__ float user_transform(float x);
extern "C" __global__ void plain(const float* in, float* out, size_t n)
{
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = user_transform(in[i]);
}
"""
HOOK = 'extern "C" __device__ float user_transform(float x) { return x; }\n'


def npy(values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values)


def verdict(text):
    """What both schemas say: the verdict of each mode, and whether the modes agree."""
    if not text:
        return None
    said = json.loads(text)
    if "error" in said:
        return said["error"].get("code")
    agree = said["agree"] if "agree" in said else said["between"][0]["verified"] if said["between"] else None
    return [(mode["mode"], mode["verified"]) for mode in said["modes"]], agree


def run(build, folder, device, words):
    output = folder / "out.npy"
    output.unlink(missing_ok=True)
    environment = {**os.environ, "FATLINK_PATH": str(build / "share/fatlink"), "FATLINK_CACHE_DIR": str(folder / f"cache-{build.name}"),
                   "FATLINK_LINKD": str(build / "libexec/fatlink-linkd")}
    done = subprocess.run([build / "bin/fatlink", "run", "--json", "--device", device, "--output", output, *map(str, words)],
                          cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    return done.returncode, verdict(done.stdout), output.read_bytes() if output.exists() else None


def transforms_of(share):
    for path in sorted(share.glob("*.json")):
        if json.loads(path.read_text()).get("hook") == "user_transform":
            yield path.stem


def cases(share, folder):
    (folder / "special.npy").write_bytes(npy(SPECIAL))
    for transform in transforms_of(share):
        for size in SIZES:
            yield "--transform", transform, "--elements", size
        yield "--transform", transform, "--input", "special.npy"
        yield "--transform", transform, "--elements", 1000, "--seed", 7, "--mode", "ptx"
    (folder / "plain.cu").write_text(PLAIN)
    (folder / "wrong.cu").write_text(HOOK.replace("return x", "return x == 0.25f ? 1.0f : x"))
    (folder / "nan.cu").write_text(HOOK.replace("return x", "return x == 0.25f ? __int_as_float(0x7fffffff) : x"))
    (folder / "bare.cu").write_text(HOOK.replace("return x", "return 2.0f * x"))
    for name in ("wrong", "nan"):
        (folder / f"{name}.json").write_text(json.dumps({"name": name, "summary": "x", "hook": "user_transform", "reference": "x", "tolerance_ulp": 0}))
    for transform in ("wrong.cu", "nan.cu", "bare.cu", "gelu", "identity"):
        for library in ((), ("--library", "plain.cu")):
            for size in (1, 255, 1000, 65537):
                yield *library, "--transform", transform, "--elements", size
            yield *library, "--transform", transform, "--input", "special.npy"
    yield "--library", "plain.cu", "--transform", "gelu", "--kernel", "plain"
    yield "--library", "plain.cu", "--transform", "gelu", "--kernel", "other"
    yield "--transform", "apply_transform"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("new", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    count = differences = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for words in cases(arguments.new / "share/fatlink", folder):
            old, new = (run(build, folder, arguments.device, words) for build in (arguments.old, arguments.new))
            count += 1
            if old != new:
                differences += 1
                print("differs:", *words, "\n  old:", old[:2], "\n  new:", new[:2], "\n  written:", "other" if old[2] != new[2] else "same")
    print(f"{count} runs compared, {differences} differ")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

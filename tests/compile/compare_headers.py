#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what two builds of fatlink make of the same sources: whether a change of how headers are found changes code.

    tests/compile/compare_headers.py OLD NEW [--only TEXT]

OLD and NEW: installation or build folders (with bin, libexec and share). Compiles every .cu of tests and kernels, and one source for each
header of CUDA's C++ library, by both. Prints each difference of exit status or PTX (names of header files left out), then the counts.
Exit status: 0 equal, 1 different, 2 nothing was compiled."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZES = ("", "_1", "_2", "_4", "_8", "_16", "_32", "1", "2", "3")  # of combine_4, of map1
FACTOR = 'extern "C" __device__ float user_transform(float x) { return 0.5F * x; }\n'


def without_names(line):
    """A line of PTX with the text of a string of __FILE__ in place of its bytes, without the compiler's names of folders."""
    found = re.search(r"\.b8 (\S+)\[\d+\] = \{([\d, ]+)\}", line)
    if not found:
        return line
    text = bytes(map(int, found[2].split(", "))).decode("latin-1")
    return f"{found[1].split('[')[0]} = {re.sub('^/@[a-z0-9]+/', '', text)}"


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.environment = {**os.environ, "FATLINK_PATH": str(self.folder / "share/fatlink"), "FATLINK_SYSTEM_CACHE": "",
                            "FATLINK_LINKD": str(self.folder / "libexec/fatlink-linkd")}

    def run(self, *words):
        return subprocess.run([self.folder / "bin/fatlink", *words], capture_output=True, text=True, env=self.environment, timeout=300)

    def compile(self, source, *words):
        """The exit status, and the PTX or the first line of the error."""
        with tempfile.TemporaryDirectory() as folder:
            done = self.run("compile", str(source), "-o", f"{folder}/out.fatbin", "--no-cache", "--compile-timeout", "200", *words)
            if done.returncode != 0:
                return done.returncode, (done.stderr.splitlines() or [""])[0]
            ptx = self.run("inspect", "--ptx", f"{folder}/out.fatbin").stdout
        lines = [without_names(line) for line in ptx.splitlines() if not re.match(r"// .*out\.fatbin: |\s*\.(file|loc)\b", line)]
        return 0, "\n".join(lines)


def words_of(source, old):
    """The options under which the old build compiles the source: those of the first contract that it is for."""
    words = ["-I", str(source.parent), "-I", str(ROOT / "kernels"), "-I", str(ROOT / "kernels/include")]
    folder = source.parent.name
    names = [folder + size for size in SIZES] if "transforms" in source.parts else []
    for name in [*names, "apply_transform"] if names else []:
        with_contract = [*words, "--contract", name]
        if old.compile(source, *with_contract)[0] == 0:
            return with_contract
    return words


def sources_of_headers(folder, old):
    """A source for each header of the first folder of CUDA's that has a C++ library."""
    import json
    folders = json.loads(old.run("doctor", "--json").stdout).get("nvrtc", {}).get("headers", [])
    for root in map(pathlib.Path, folders):
        names = sorted(path for pattern in ("cuda/std/*", "cuda/*", "cub/*/*.cuh", "thrust/*.h", "cuda_*.h", "nv/*")
                       for path in root.glob(pattern) if path.is_file())
        for path in names:
            name = path.relative_to(root)
            source = folder / (str(name).replace("/", "-") + ".cu")
            source.write_text(f"#include <{name}>\n{FACTOR}")
            yield source
    for name in ("cstdint", "cstddef", "climits", "cfloat", "limits", "type_traits", "cmath", "vector", "cassert", "tuple"):
        source = folder / f"std-{name}.cu"
        source.write_text(f"#include <{name}>\n{FACTOR}")
        yield source


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--only", default="", help="sources whose path has this text")
    arguments = parser.parse_args()
    old, new = Build(arguments.old), Build(arguments.new)
    counts = {"equal": 0, "equal errors": 0, "only the new one compiles": 0, "different": 0}
    with tempfile.TemporaryDirectory() as folder:
        own = [path for part in ("kernels", "tests") for path in sorted((ROOT / part).rglob("*.cu"))]
        for source in [*own, *sources_of_headers(pathlib.Path(folder), old)]:
            if arguments.only not in str(source):
                continue
            words = words_of(source, old) if source in own else []
            was, now = old.compile(source, *words), new.compile(source, *words)
            is_equal = was == now if was[0] == 0 else was[0] == now[0]
            is_new = was[0] != 0 and now[0] == 0
            counts["only the new one compiles" if is_new else "different" if not is_equal else "equal" if was[0] == 0 else "equal errors"] += 1
            if not is_equal:
                print(f"{source.name}: {was[0]} and {now[0]}", *(text for status, text in (was, now) if status != 0), sep="\n  ", flush=True)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return 2 if not counts["equal"] else 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())

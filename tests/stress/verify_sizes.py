#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every installed library with every installed transform that works with it, for each size and in both link modes, and prints
each run that `fatlink run` does not verify. Fails if there is one.
    verify_sizes.py BUILD_FOLDER [--device gpu|cpu] [--only LIBRARY] [--jobs N] [--check-races] [--one] [--sizes N …] [--verbose]
--one: only one transform, or one pair, for each library. --verbose: prints the verified runs, too. Default sizes: 0 1 2 31 32 33 1023 65537 1048576, on a GPU also
67108867."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fixtures"))
from shipped_pairs import pairs

SIZES = [0, 1, 2, 31, 32, 33, 1023, 65537, 1 << 20]
UNVERIFIED = ("there are no elements", "does not state what")  # outputs that no plan describes: the modes are compared
LARGEST = (1 << 26) + 3


def sizes_of(library, n):
    """The values of the plan's sizes that arrays do not determine."""
    return {"merge": {"n1": n, "n2": n // 2}, "lower_bound": {"n": n, "m": n // 3}, "upper_bound": {"n": n, "m": n // 3},
            "top_k": {"n": n, "k": min(n, 1000)}, "segmented_sort": {"n": n, "segments": n // 50 + 1},
            "segmented_reduce": {"n": n, "segments": n // 50 + 1}}.get(library.rpartition("_")[0], {"n": n})


def run(program, library, transforms, n, arguments):
    words = [program, "run", "--device", arguments.device, "--mode", "both", "--json", "--library", library, *transforms]
    words += [word for name, size in sizes_of(library, n).items() for word in ("--set", f"{name}={size}")]
    words += ["--check-races"] if arguments.check_races else []
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    label = f"{library} {' '.join(transforms)} {n}"
    try:
        said = json.loads(done.stdout)
    except json.JSONDecodeError:
        return label, done.stderr.strip() or "no output"
    if "error" in said:
        return label, said["error"]["message"]
    problems = [f"{mode['mode']} {output['output']}: {output['reason'] or 'WRONG'}" for mode in said["modes"]
                for output in mode["reference"] if not output["verified"] and not any(text in (output["reason"] or "") for text in UNVERIFIED)]
    return label, "; ".join(problems) if done.returncode == 0 or problems else f"status {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--check-races", action="store_true")
    parser.add_argument("--one", action="store_true")
    parser.add_argument("--sizes", nargs="+", type=int, default=[])
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    program = str(arguments.build / "bin/fatlink")
    listed = json.loads(subprocess.run([program, "list", "--json"], capture_output=True, text=True, check=True).stdout)["fatbins"]
    sizes = arguments.sizes or SIZES + ([LARGEST] if arguments.device != "cpu" else [])
    chosen = [pair for pair in pairs(listed) if pair[0].startswith(arguments.only)]
    if arguments.one:
        chosen = list({library: (library, transforms) for library, transforms in reversed(chosen)}.values())
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = [pool.submit(run, program, library, transforms, n, arguments) for n in sizes for library, transforms in chosen]
        failures = 0
        for label, problem in (done.result() for done in concurrent.futures.as_completed(runs)):
            failures += bool(problem)
            if problem or arguments.verbose:
                print(f"{label}: {problem or 'verified'}", flush=True)
    print(f"{len(runs)} runs of {len({library for library, _ in chosen})} libraries, {failures} not verified")
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From the start of a process to its first verified result on a GPU: `fatlink run` with its cache empty
and full, beside the same job by raw nvJitLink with the driver's cache empty and full, by turns. Opening the
GPU (cuInit and the context) takes most of it and differs by tens of milliseconds from time to time."""
import first_results


def commands_of(build):
    share = build / "share" / "fatlink"
    fatlink = [build / "bin" / "fatlink", "run", "--json", "--device", "gpu", "--mode", "lto"]
    raw = [build / "bin" / "raw_nvjitlink", share / "apply_transform.fatbin", share / "relu_poly.fatbin"]
    return {"fatlink run": fatlink, "fatlink run --no-cache": [*fatlink, "--no-cache"], "raw nvJitLink": raw}


def print_table(medians, rounds):
    base = medians["raw nvJitLink", "cold"]
    print(f"Process start to first verified result, ms, medians of {rounds} rounds by turns; all caches empty "
          "(cold),\nand in the next process (warm); raw nvJitLink has the driver's cache alone.\n")
    print("| | cache | all | of raw, cold | without opening the GPU | of raw, cold |\n|---|---|---:|---:|---:|---:|")
    for (name, cache), (whole, rest) in medians.items():
        print(f"| {name} | {cache} | {whole:.1f} | {whole / base[0]:.2f} | {rest:.1f} | {rest / base[1]:.2f} |")


def main():
    arguments = first_results.argument_parser(__doc__, rounds=15).parse_args()
    print_table(first_results.measure(commands_of(arguments.build), arguments.rounds), arguments.rounds)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what docs/charts.json states, on a machine with a GPU, PyTorch and the packages beside which fatlink is shown, and
prints it. scripts/plot-charts draws it.
    measure_charts.py BUILD_FOLDER [ROUNDS] > docs/charts.json"""
import datetime
import json
import os
import subprocess
import sys

import first_results
import python_overhead

COMMAND = "tests/bench/measure_charts.py build/default"


def throughput(build, rounds):
    """GB/s of apply_transform with relu_poly, from the program's own benchmark."""
    done = subprocess.run([build / "bin/fatlink", "bench", "--json", "--only", "kernels", "--elements", "1Mi,256Mi", "--repeat",
                           str(10 * rounds)], text=True, capture_output=True, check=True)
    report, groups = json.loads(done.stdout), {}
    for row in report["kernels"]:
        count = row["elements"]
        if row["time_over_single_source"] is None:
            sys.exit("nothing to compare with: build the target bench_kernels")
        groups.setdefault(f"2^{count.bit_length() - 1} elements", []).append([row["variant"], round(row["gb_per_s"], 1)])
    return report, {"name": "throughput", "title": "Kernel throughput", "unit": "GB/s of bytes read and written", "better": "longer",
                    "note": f"apply_transform with {report['transform']}; medians of {report['rounds']} rounds by turns",
                    "groups": [{"name": name, "bars": bars} for name, bars in groups.items()]}


def first_result(makers, rounds):
    """Milliseconds to the first verified result with an operator of the caller's, all caches empty."""
    medians = first_results.measure(python_overhead.first_result_commands(makers), rounds)
    names = {"map": "2x² + 1 of each element", "reduce": "sum of 2x² + 1"}
    groups = [{"name": f"{names[kind]}, {cache}",
               "bars": [[maker, round(medians[(kind, maker), cache][1], 1)] for maker in makers]}
              for kind in python_overhead.KINDS for cache in ("cold", "warm")]
    return {"name": "first_result", "title": "First result with your own operator", "unit": "ms, without imports", "better": "shorter",
            "note": f"2^{python_overhead.ELEMENTS.bit_length() - 1} float32 elements; cold: all caches empty; medians of {rounds} "
                    "processes by turns", "groups": groups}


def call_latency(fatlink, torch):
    """Microseconds of the host for a call that makes a new array."""
    x = torch.ones(1024, device="cuda")
    groups = []
    for name, (new, given, _, _, own) in python_overhead.call_cases(fatlink, torch, x).items():
        times = [python_overhead.host_time(call, torch.cuda.synchronize) for call in (new, given, own)]
        groups.append({"name": f"{name} of 1,024 float32 elements",
                       "bars": [[f"fatlink.{name}", round(times[0], 1)], ["… with out=", round(times[1], 1)],
                                ["PyTorch's own", round(times[2], 1)]]})
    return {"name": "call_latency", "title": "Host time of a call from Python", "unit": "µs", "better": "shorter",
            "note": "least of 40 loops of 200 calls", "groups": groups}


def main():
    arguments = first_results.argument_parser(__doc__, rounds=3).parse_args()
    python_overhead.use_build(arguments.build)
    report, first = throughput(arguments.build, arguments.rounds)
    import fatlink
    import torch
    charts = [first, call_latency(fatlink, torch)]
    found = [maker for maker, modules in python_overhead.MAKERS.items() if all(map(python_overhead.has, modules))]
    charts.append(first_result(found, arguments.rounds))
    device = report["device"]
    json.dump({"machine": f"{device['name']} ({device['target']}), {os.cpu_count()} CPU cores", "date": str(datetime.date.today()),
               "versions": f"fatlink {fatlink.version()}, driver CUDA {report['driver']}, nvJitLink {report['nvjitlink']}, "
                           f"Python {sys.version.split()[0]}, PyTorch {torch.__version__}",
               "command": COMMAND, "charts": charts}, sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()

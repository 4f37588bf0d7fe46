#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Transforms of cuFFT with a load callback, compared with the same transform without, and with a kernel of PyTorch before it
that computes the same. Prints a table in Markdown: medians of the calls' times on the GPU, which are measured by turns. Needs
the packages fatlink and PyTorch with cuFFT of CUDA 13."""
import argparse
import ctypes
import os
import statistics

C2C, FORWARD = 0x29, -1
SIZES = ((8192, 4096), (131072, 256), (1 << 20, 32))  # size, batch
CALLS = 10  # in a measurement
LOAD = """
__device__ float2 cufftJITCallbackLoadComplex(void* in, unsigned long long index, void* info, void*)
{
  auto const x = static_cast<float2 const*>(in)[index];
  auto const scale = *static_cast<float const*>(info);
  return {scale * x.x, scale * x.y};
}
"""


class Plan:
    """A plan of the cuFFT that PyTorch has loaded."""

    def __init__(self, size, batch, **callbacks):
        import fatlink
        import torch
        self.cufft = ctypes.CDLL("libcufft.so.12", mode=os.RTLD_NOLOAD)
        self.handle = ctypes.c_int()
        self.check(self.cufft.cufftCreate(ctypes.byref(self.handle)))
        self.callbacks = fatlink.cufft(self.handle.value, **callbacks) if callbacks else None
        self.check(self.cufft.cufftMakePlan1d(self.handle, size, C2C, batch, ctypes.byref(ctypes.c_size_t())))
        self.check(self.cufft.cufftSetStream(self.handle, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))

    def check(self, status):
        if status:
            raise SystemExit(f"cuFFT returned {status}")

    def execute(self, source, out):
        self.check(self.cufft.cufftExecC2C(self.handle, ctypes.c_void_p(source.data_ptr()), ctypes.c_void_p(out.data_ptr()), FORWARD))

    def destroy(self):
        self.check(self.cufft.cufftDestroy(self.handle))


def time_calls(call):
    """Microseconds of a call on the GPU."""
    import torch
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(CALLS):
        call()
    end.record()
    end.synchronize()
    return 1000 * begin.elapsed_time(end) / CALLS


def measure(size, batch, rounds):
    """The median times of the plain transform, the kernel and the transform, and the transform with the callback."""
    import torch
    x = torch.randn(batch, size, dtype=torch.complex64, device="cuda")
    scale = torch.tensor([3.0], device="cuda")
    scaled, out, expected = (torch.empty_like(x) for _ in range(3))
    plain, fused = Plan(size, batch), Plan(size, batch, load=LOAD, load_state=scale)

    def unfused():
        torch.mul(x, 3.0, out=scaled)
        plain.execute(scaled, expected)
    ways = (lambda: plain.execute(x, out), unfused, lambda: fused.execute(x, out))
    for way in ways:
        way()
    if (out - expected).abs().max() > 1e-5 * expected.abs().max():
        raise SystemExit(f"{batch} transforms of {size} elements: the result with the callback is wrong")
    times = [[time_calls(way) for way in ways] for _ in range(rounds)]
    plain.destroy()
    fused.destroy()
    return [statistics.median(column) for column in zip(*times)]


def print_row(size, batch, medians):
    plain, unfused, fused = medians
    print(f"| {batch:,} × {size:,} | {plain:.1f} | {unfused:.1f} | {fused:.1f} | {unfused / fused:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", metavar="ROUNDS", type=int, nargs="?", default=15)
    rounds = parser.parse_args().rounds
    print(f"C2C, single precision, medians of {rounds} rounds by turns, µs.\n")
    print("| batch × size | transform | kernel, then transform | transform with callback | faster |\n|---|---:|---:|---:|---:|")
    for size, batch in SIZES:
        print_row(size, batch, measure(size, batch, rounds))


if __name__ == "__main__":
    main()

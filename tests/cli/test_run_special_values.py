# SPDX-License-Identifier: Apache-2.0
"""Shipped transforms of convert and stencil on NaN, infinities, zeros, denormals and large numbers."""
import json
import shutil
import struct
import unittest

from fatlink_cli import SHARE, CliTest, nvjitlink

NAN, INF = float("nan"), float("inf")
# Largest and least denormal, least normal number of float; large numbers stand alone, because sums of them may
# overflow in the code where the expression in double does not.
VALUES = [0.0, -0.0, 1.5, -2.5, 1e-45, -1e-45, 1.1754942e-38, -1.1754944e-38, 126.5, 127.5, -128.5, 1e4, -65504.0, 65520.0]
ALONE = [NAN, INF, -INF, 1e38, -1e38, 0.0, -0.0, 1e-45, 7.0]
NEIGHBORS = [NAN, 1.0, INF, -INF, 2.0, INF, INF, NAN, NAN, -INF, 3.0, -0.0, 0.0, NAN]
FLOATS = [*VALUES, *[value for one in ALONE for value in (one, *[0.25] * 9)], *NEIGHBORS, *VALUES]
SCALES = ("1", "0", "-2", "3e38", "1e-40")
SUMS = ("smooth", "derivative", "diffuse")


def npy(dtype, code, values):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{len(values)}{code}", *values)


@unittest.skipUnless(nvjitlink(), "no nvJitLink on this machine")
class RunSpecialValues(CliTest):
    def setUp(self):
        super().setUp()
        self.file("float32.npy", npy("<f4", "f", FLOATS))
        halves = [min(max(value, -65504.0), 65504.0) if abs(value) < INF else value for value in FLOATS]
        self.file("float16.npy", npy("<f2", "e", halves))
        self.file("int8.npy", npy("|i1", "b", list(range(-128, 128))))

    def verdicts(self, *words, status=0):
        said = self.fatlink_json("run", "--device", "cpu", *words, status=status)
        return [mode["reference"][0]["verified"] for mode in said["modes"]]

    def test_every_loader_agrees_with_its_reference(self):
        for loader, kind in (("load_float32", "float32"), ("load_ramp", "float32"), ("load_float16", "float16"),
                             ("load_int8", "int8")):
            for scale in SCALES:
                with self.subTest(loader=loader, scale=scale):
                    self.assertEqual(self.verdicts("--library", "convert", "--transform", loader, "--input",
                                                   f"{kind}.npy", "--set", f"load_state.scale={scale}"), [True, True])

    def test_every_storer_agrees_with_its_reference(self):
        for storer in ("store_float32", "store_float16", "store_int8", "store_clamped"):
            for scale in SCALES:
                with self.subTest(storer=storer, scale=scale):
                    self.assertEqual(self.verdicts("--library", "convert", "--transform", storer, "--input",
                                                   "float32.npy", "--set", f"store_state.scale={scale}"), [True, True])

    def test_every_transform_of_stencil_agrees_with_its_reference(self):
        for name in (*SUMS, "median"):
            with self.subTest(name=name):
                self.assertEqual(self.verdicts("--library", "stencil", "--transform", name, "--input", "float32.npy"),
                                 [True, True])

    def scaled_input(self, scale):
        # The fractions of a generator of random numbers, in [-1, 1): neighbors cancel now and then.
        self.file("scaled.npy", npy("<f4", "f", [scale * ((i * 7919 + i * i * 104729) % 65536 / 32768 - 1)
                                                 for i in range(2000)]))

    def test_sums_that_cancel_are_verified_at_every_scale(self):
        for scale in (1e-6, 1, 1e6):
            self.scaled_input(scale)
            for name in SUMS:
                with self.subTest(name=name, scale=scale):
                    self.assertEqual(self.verdicts("--library", "stencil", "--transform", name, "--input",
                                                   "scaled.npy"), [True, True])

    def test_sums_that_are_off_by_a_part_of_their_operands_are_wrong_at_every_scale(self):
        for name in SUMS:
            self.compile(name, 'extern "C" __device__ float stencil_point(float const* c, void const*)\n'
                               f"{{ return {self.WRONG[name]}; }}")
            shutil.copyfile(SHARE / f"{name}.json", self.folder / f"{name}.json")
            stated = json.loads((self.folder / f"{name}.json").read_text())
            stated.pop("sha256", None)
            self.file(f"{name}.json", json.dumps(stated))
            for scale in (1e-6, 1, 1e6):
                self.scaled_input(scale)
                with self.subTest(name=name, scale=scale):
                    self.assertEqual(self.verdicts("--library", "stencil", "--transform", f"{name}.fatbin", "--input",
                                                   "scaled.npy", "--mode", "lto", status=1), [False])

    WRONG = {"smooth": "0.2F * (c[-2] + c[-1] + c[1] + c[2] + 1.0001F * c[0])",
             "derivative": "-2.8473F * c[0] + 1.6F * (c[-1] + c[1]) - 0.2F * (c[-2] + c[2]) + "
                           "8.0F / 315.0F * (c[-3] + c[3]) - 1.0F / 560.0F * (c[-4] + c[4])",
             "diffuse": "c[0] + 0.25F * (c[-1] - 2.0001F * c[0] + c[1])"}

# SPDX-License-Identifier: Apache-2.0
"""`fatlink run` verifies each shipped key of radix sorts, with values and on special numbers, and refuses references of keys
that are no number."""
import json
import struct
import unittest

from fatlink_cli import SHARE, CliTest
from test_bad_input import npy

KEYS = sorted(file.stem for file in SHARE.glob("*.json") if "key" in json.loads(file.read_text()).get("hooks", {}))


def bytes_of(key):
    """The element of the key, in bytes."""
    sidecar = json.loads((SHARE / f"{key}.json").read_text())
    if "element" in sidecar:
        return {"by_value": 8, "by_high": 16, "by_priority": 32}[key]
    return int("".join(filter(str.isdigit, key))) // 8


class RadixSorts(CliTest):
    def setUp(self):
        super().setUp()
        self.need_nvjitlink()

    def last_line(self, *words, status=0):
        return self.fatlink("run", "--device", "cpu", "--mode", "lto", *words, status=status).stdout.splitlines()[-1]

    def test_each_shipped_key_is_verified_with_values(self):
        self.assertGreaterEqual(len(KEYS), 27)
        for key in KEYS:
            with self.subTest(key=key):
                library = f"radix_sort_pairs_{bytes_of(key)}"
                self.assertEqual(self.last_line("--library", library, key, "--elements", 5000), "Result: verified")

    def test_special_numbers_are_verified(self):
        nan, inf = float("nan"), float("inf")
        self.file("f.npy", npy(shape="(9,)", data=struct.pack("<9f", nan, 0.0, -0.0, inf, -inf, -nan, 1, -1, 0.0)))
        limits = struct.pack("<4q", -2**63, 2**63 - 1, 0, -1)
        self.file("i.npy", npy("<i8", "(4,)", limits))
        self.file("u.npy", npy("<u8", "(4,)", struct.pack("<4Q", 2**64 - 1, 0, 2**63, 2**63 - 1)))
        self.file("v.npy", npy("<u4", "(4,)", struct.pack("<4I", 0, 1, 2, 3)))
        for order in "ascending", "descending":
            self.assertEqual(self.last_line("--library", "radix_sort_4", f"{order}_float32", "--input", "in=f.npy"), "Result: verified")
            for kind, file in (("int64", "i.npy"), ("uint64", "u.npy")):
                with self.subTest(order=order, kind=kind):
                    self.assertEqual(self.last_line("--library", "radix_sort_pairs_8", f"{order}_{kind}", "--input", f"in={file}",
                                                    "--input", "in_values=v.npy"), "Result: verified")

    def test_the_order_of_fewer_bits_is_verified(self):
        for library in ("radix_sort_4", "radix_sort_pairs_4", "top_k_4"):
            for bits in (1, 20):
                for key in ("ascending_int32", "descending_int32"):
                    with self.subTest(library=library, bits=bits, key=key):
                        words = ("--set", "k=100") if library == "top_k_4" else ()
                        self.assertEqual(self.last_line("--library", library, key, "--set", "n=5000", "--set", f"bits={bits}", *words),
                                         "Result: verified")

    def test_fewer_bits_of_keys_of_which_only_the_order_is_known_are_not_verified(self):
        self.file("key.cu", "FATLINK_KEY(int, x) { return fatlink::ascending(-x); }\n")
        self.file("key.json", json.dumps({"name": "key", "summary": "", "hooks": {"key": {"parameters": ["x"], "result": "-x"}}}))
        for key in ("ascending_float32", "key.cu"):
            with self.subTest(key=key):
                said = self.fatlink("run", "--device", "cpu", "--mode", "lto", "--library", "radix_sort_4", key, "--set", "bits=8",
                                    "--set", "n=100").stdout
                self.assertIn("not verified: the reference of key states the order of the keys, not their lower 8 bits", said)

    def test_a_wrong_reference_is_found(self):
        self.file("key.cu", "FATLINK_KEY(float, x) { return fatlink::descending(x); }\n")
        self.file("key.json", json.dumps({"name": "key", "summary": "", "hooks": {"key": {"parameters": ["x"], "result": "x"}}}))
        self.assertEqual(self.last_line("--library", "radix_sort_4", "key.cu", "--elements", 100, status=1), "Result: WRONG (out)")

    def test_a_reference_of_several_numbers_is_refused(self):
        self.file("key.cu", "struct pair { float a; int b; };\nFATLINK_KEY(pair, x) { return fatlink::ascending(x.a); }\n")
        self.file("key.json", json.dumps({
            "name": "key", "summary": "", "element": [{"name": "a", "type": "float32"}, {"name": "b", "type": "int32"}],
            "hooks": {"key": {"parameters": ["x"], "result": {"a": "x.a", "b": "x.b"}}}}))
        self.assert_fails(3, "run", "--device", "cpu", "--library", "radix_sort_8", "key.cu", "--elements", 100, says=["key.json", "key"])

    def test_unique_is_verified(self):
        for kind, size in (("float32", 4), ("uint8", 1), ("int64", 8), ("bfloat16", 2)):
            self.assertEqual(self.last_line("--library", f"unique_{size}", f"equal_{kind}", "--elements", 5000), "Result: verified")


if __name__ == "__main__":
    unittest.main()

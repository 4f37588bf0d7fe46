# SPDX-License-Identifier: Apache-2.0
"""The cache layer of the wheel with the operators that Python names: their first call compiles and links nothing."""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from python_case import BUILD, PACKAGE, SOURCE, NumpyCase, fatlink, variables

SCRIPT = pathlib.Path(SOURCE or "/none", "cmake/build/link_operators.py")
NAMES = ("FATLINK_NVJITLINK", "FATLINK_NVRTC")  # of users who name what links, and get links of their own
# Each call, and how many links and compiles were made for it.
CALLS = """
import json
import {package}
import fatlink
x = {package}.arange(1, 6, dtype={package}.int32{options})
results = []
for call in ({calls}):
    before = fatlink.cache.statistics()["misses"]
    result = call()
    results.append((result.tolist(), fatlink.cache.statistics()["misses"] - before))
print(json.dumps(results))
"""


def script(*words, **options):
    env = {name: value for name, value in {**os.environ, **variables()}.items() if name not in NAMES}
    return subprocess.run([sys.executable, str(SCRIPT), "--package", f"{PACKAGE}/fatlink", "--build", str(BUILD), *words],
                          check=True, text=True, stdout=subprocess.PIPE, env=env, **options).stdout


@unittest.skipUnless(SCRIPT.exists(), "the sources are not on this machine")
class OperatorLinks(NumpyCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.layer = tempfile.mkdtemp(prefix="fatlink-layer-")
        cls.addClassCleanup(shutil.rmtree, cls.layer)

    def setUp(self):
        super().setUp()
        self.need_links_and_compiles()
        if not os.listdir(self.layer):
            script("--layer", self.layer, "--only", "reduce max int32", "--only", "reduce add int32 int64", "--only", "map1 negate float32",
                   "--only", "sort greater int32")

    def misses(self, *calls, package="numpy", options="", **env):
        """The results of calls in a new process with the layer and an empty folder, and the misses of each."""
        env = {**os.environ, **variables(), "FATLINK_SYSTEM_CACHE": self.layer, "FATLINK_CACHE_DIR": str(self.folder / "cache"),
               "PYTHONPATH": PACKAGE, **env}
        for name in NAMES:
            env.pop(name, None)
        text = CALLS.format(calls="".join(f"lambda: {call}, " for call in calls), package=package, options=options)
        done = subprocess.run([sys.executable, "-c", text], text=True, capture_output=True, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_first_call_compiles_and_links_nothing(self):
        found = self.misses("fatlink.reduce(x, 'max')", "fatlink.reduce(x)", "fatlink.map(x.astype('float32'), op='negate')",
                            "fatlink.sort(x, 'greater')", FATLINK_LINKD="/nowhere")
        self.assertEqual(found, [[5, 0], [15, 0], [[-1, -2, -3, -4, -5], 0], [[5, 4, 3, 2, 1], 0]])

    def test_the_first_call_on_a_gpu_compiles_and_links_nothing(self):
        if not fatlink.gpu_count() or importlib.util.find_spec("torch") is None:
            self.skipTest("there is no GPU, or no PyTorch")
        found = self.misses("fatlink.reduce(x, 'max')", "fatlink.reduce(x)", "fatlink.map(x.float(), op='negate')",
                            package="torch", options=", device='cuda'", FATLINK_LINKD="/nowhere")
        self.assertEqual(found, [[5, 0], [15, 0], [[-1, -2, -3, -4, -5], 0]])

    def test_an_operator_outside_of_the_layer_is_compiled_and_linked(self):
        (result, misses), (_, again) = self.misses("fatlink.reduce(x, 'min')", "fatlink.reduce(x, 'min')")
        self.assertEqual(result, 1)
        self.assertGreater(misses, 0)
        self.assertEqual(again, 0)

    def test_another_build_of_the_library_misses_the_layer(self):
        data = self.folder / "data"
        data.mkdir()
        other = data / "reduce_4.fatbin"
        subprocess.run([BUILD / "bin/fatlink", "pack", "reduce_4", "--package", "other", "-o", other], check=True, capture_output=True)
        plan = json.loads((BUILD / "share/fatlink/reduce_4.json").read_text())
        packed = json.loads(other.with_suffix(".json").read_text())
        other.with_suffix(".json").write_text(json.dumps({**plan, "sha256": packed["sha256"]}))
        path = f"{data}:{BUILD / 'share/fatlink'}"
        self.assertEqual([misses > 0 for _, misses in self.misses("fatlink.reduce(x, 'max')", FATLINK_PATH=path)], [True])

    def test_the_calls_have_what_the_documentation_promises(self):
        calls = script("--list").splitlines()
        self.assertEqual(len(calls), len(set(calls)))
        for call in ("reduce add float32", "reduce add int32 int64", "scan add float32", "sort less int64", "select nonzero uint8",
                     "map2 multiply bfloat16", "segmented_reduce add float32", "histogram uniform_bins float32"):
            self.assertIn(call, calls)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Inputs of every form run on a GPU and give right results."""
import os
import pathlib
import shutil
import subprocess
import unittest

from fatlink_cli import LIBRARY, NVCC, CliTest, gpus

KERNELS = pathlib.Path(os.environ.get("FATLINK_SOURCE", "/absent")) / "kernels"
# The options of nvcc for each form, without the architecture.
FORMS = {"fatbin": ("-dlto", "-fatbin"), "ltoir": ("-dlto", "-ltoir"), "ptx": ("-rdc=true", "-ptx"),
         "cubin": ("-rdc=true", "-cubin"), "o": ("-dlto", "-dc")}


@unittest.skipUnless(gpus(), "no GPU on this machine")
@unittest.skipUnless(KERNELS.exists() and shutil.which(NVCC), "compiles, and the sources or nvcc are not here")
class Forms(CliTest):
    def make(self, name, source, form, architecture="sm_75"):
        output = self.folder / f"{name}.{form}"
        subprocess.run([NVCC, *FORMS[form], f"-arch={architecture}", "-std=c++17", "-I", KERNELS / "apply_transform",
                        source, "-o", output], check=True, capture_output=True)
        return output

    def transform(self, form, **options):
        """relu_poly in this form, with its reference beside it."""
        source = KERNELS / "transforms/relu_poly.cu"
        shutil.copy(source.with_suffix(".json"), self.folder / "relu.json")
        if form != "a":
            return self.make("relu", source, form, **options)
        archive = self.folder / "relu.a"
        subprocess.run(["ar", "rcs", archive, self.make("member", source, "o")], check=True)
        return archive

    def verified(self, *words):
        """Runs, and returns the mode's result, which the reference confirmed."""
        done = self.fatlink_json("run", "--device", "gpu", "--elements", "1000003", "--no-cache", *words)
        (mode,) = done["modes"]
        self.assertTrue(mode["verified"])
        return mode

    def test_with_lto_ir_are_inlined_and_verify(self):
        for form in ("fatbin", "ltoir", "o", "a"):
            with self.subTest(form=form):
                mode = self.verified("--mode", "lto", "--require-inlined", "--library", LIBRARY,
                                     "--transform", self.transform(form))
                self.assertTrue(mode["inlined"])

    def test_with_ptx_verify_as_calls(self):
        for form in ("fatbin", "ptx", "o", "a"):
            with self.subTest(form=form):
                self.verified("--mode", "ptx", "--library", LIBRARY, "--transform", self.transform(form))
        self.verified("--mode", "lto", "--allow-calls", "--library", LIBRARY, "--transform", self.transform("ptx"))

    def test_of_sass_verify_beside_lto_ir_and_ptx(self):
        transform = self.transform("cubin", architecture=gpus()[0]["target"])
        for mode in ("lto", "ptx"):
            with self.subTest(mode=mode):
                self.verified("--mode", mode, "--allow-calls", "--library", LIBRARY, "--transform", transform)

    def test_of_sass_alone_verify(self):
        target = gpus()[0]["target"]
        library = self.make("library", KERNELS / "apply_transform/apply_transform.cu", "cubin", architecture=target)
        transform = self.transform("cubin", architecture=target)
        mode = self.verified("--mode", "sass", "--library", library, "--transform", transform)
        print(f"link of SASS: {mode['links'][0]['link_ms']:.3f} ms")
        bench = self.fatlink_json("bench", "--mode", "sass", "--repeat", 2, "--elements", 4096, "--library", library,
                                  "--transform", transform)
        self.assertEqual([row["variant"] for row in bench["kernels"]], ["device-to-device copy", "SASS link"])
        self.assertEqual({row["verb"] for row in bench["starts"]}, {"link", "run"})


if __name__ == "__main__":
    unittest.main()

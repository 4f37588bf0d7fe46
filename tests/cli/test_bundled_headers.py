# SPDX-License-Identifier: Apache-2.0
"""The headers of CUDA and CCCL that NVRTC 13.3 and newer brings: unpacked once, for sources that include one.

With FATLINK_MAKERS, a folder that `make_maker_fixtures --newest` filled: its NVRTC compiles, its nvJitLink links. The
NVRTC is in a folder without headers; other toolkits of the machine are not searched before the headers it brings."""
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

from compile_case import CONTRACT, HALF, HALF_JSON
from fatlink_cli import PROGRAM, CliTest

NEWEST = os.environ.get("FATLINK_MAKERS")
LIBRARIES = ["libnvrtc.so.13", "libnvrtc-builtins.so.13.*", "libnvJitLink.so.13"]
FP16 = "#include <cuda_fp16.h>\n" + HALF.replace("0.5F * x", "__half2float(__float2half(0.5F)) * x")
CUDA_STD = "#include <cuda/std/array>\n" + HALF.replace("return", "cuda::std::array<float, 1> a{0.5F}; return").replace(
    "0.5F * x", "a[0] * x")
CUB = """#include <cub/block/block_reduce.cuh>
extern "C" __global__ void sum(float const* in, float* out)
{
  using reduce = cub::BlockReduce<float, 128>;
  __shared__ reduce::TempStorage storage;
  auto const total = reduce(storage).Sum(in[threadIdx.x]);
  if (threadIdx.x == 0) *out = total;
}
"""
MISSING = '#include "in_no_folder.h"\n' + HALF


@unittest.skipUnless(NEWEST, "FATLINK_MAKERS names no folder that make_maker_fixtures --newest filled")
class BundledHeaders(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.wheels = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-wheels-", dir=NEWEST))
        cls.addClassCleanup(shutil.rmtree, cls.wheels)
        (cls.wheels / "lib").mkdir()
        for name in LIBRARIES:
            file = next(pathlib.Path(NEWEST).rglob(f"nvidia/cu13/lib/{name}"), None)
            if file is None:
                raise unittest.SkipTest(f"{NEWEST} holds no {name} of a wheel: make_maker_fixtures could not download it")
            os.link(file, cls.wheels / "lib" / file.name)

    def environment(self, changes):
        return super().environment({"FATLINK_NVRTC": str(self.wheels / "lib/libnvrtc.so.13"),
                                    "FATLINK_NVJITLINK": str(self.wheels / "lib/libnvJitLink.so.13"), **changes})

    def setUp(self):
        super().setUp()
        self.file("half.json", HALF_JSON)

    def assert_verifies(self, text):
        """Linked by the nvJitLink of the same version, and executed."""
        self.file("half.cu", text)
        said = self.fatlink_json("run", "--device", "cpu", "--elements", "1000", "--transform", "./half.cu")
        self.assertEqual([(mode["mode"], mode["verified"]) for mode in said["modes"]], [("ptx", True), ("lto", True)])

    def compile_half(self, text=FP16, *words, **options):
        self.file("half.cu", text)
        return self.fatlink("compile", "half.cu", "-o", "out.fatbin", *CONTRACT, *words, **options)

    def version_file(self):
        file, = self.cache.glob("headers/*/.nvrtc_headers_version")
        return file

    def assert_usable(self):
        stats = self.fatlink_json("cache", "stats")
        self.assertEqual((stats["usable"], stats["faults"]), (True, 0), stats)

    def test_of_half_precision_compile_link_and_verify(self):
        self.assert_verifies(FP16)

    def test_of_cccl_compile_link_and_verify(self):
        self.assert_verifies(CUDA_STD)

    def test_of_cub_compile_and_link(self):
        self.file("sum.cu", CUB)
        self.fatlink("compile", "sum.cu", "-o", "sum.fatbin")
        self.link("sum.fatbin")
        self.assertEqual((self.folder / "out.cubin").read_bytes()[:4], b"\x7fELF")

    def test_are_unpacked_once_beside_the_entries_of_the_cache(self):
        self.compile_half()
        file = self.version_file()
        before = (file.stat().st_ino, file.stat().st_mtime_ns, file.read_bytes())
        self.assertIn("from the cache", self.compile_half().stdout)
        self.assertEqual(self.compile_half(FP16, "--no-cache").stderr, "")
        self.assertEqual((file.stat().st_ino, file.stat().st_mtime_ns, file.read_bytes()), before)
        self.assert_usable()

    def test_are_not_unpacked_for_a_source_without_headers(self):
        self.compile_half(HALF)
        self.assertFalse((self.cache / "headers").exists())

    def test_are_unpacked_by_one_of_several_processes_at_once(self):
        self.file("half.cu", FP16)
        commands = [[PROGRAM, "compile", "half.cu", "-o", f"{number}.fatbin", "--no-cache", *CONTRACT] for number in range(8)]
        processes = [subprocess.Popen(command, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      env=self.environment({})) for command in commands]
        for process in processes:
            output, errors = process.communicate(timeout=300)
            self.assertEqual((process.returncode, errors), (0, ""), output)
        self.assertEqual(len({file.read_bytes() for file in self.folder.glob("*.fatbin")}), 1)
        self.version_file()
        self.assert_usable()

    def test_that_a_process_left_incomplete_are_completed(self):
        self.compile_half()
        self.version_file().unlink()
        for file in self.cache.glob("headers/*/*.h"):
            file.unlink()
        self.assertEqual(self.compile_half(FP16, "--no-cache").stderr, "")
        self.version_file()

    def test_that_cannot_be_unpacked_are_reported_with_the_cause(self):
        self.file("half.cu", MISSING)
        plain = self.file("plain", "")
        for folder, cause in ((plain, "is not a folder"), ("/proc/nowhere", "/proc/nowhere")):
            with self.subTest(folder=folder):
                env = {"FATLINK_CACHE_DIR": str(folder)}
                done = self.assert_fails(4, "compile", "half.cu", "-o", "x.fatbin", env=env, says=["in_no_folder.h is in none"],
                                         hint="the CUDA headers that come with NVRTC could not be unpacked (")
                self.assertIn(cause, done.stderr)
                self.assertIn("use another folder (FATLINK_CACHE_DIR)", done.stderr)

    def test_are_unpacked_among_temporary_files_where_no_cache_can_be(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        for home in ("", str(self.file("plain", ""))):
            with self.subTest(home=home):
                env = {"FATLINK_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": home, "TMPDIR": str(temporary)}
                self.compile_half(env=env)
                folder = temporary / f"fatlink-{os.geteuid()}"
                self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700)
                self.assertEqual(len(list(folder.glob("headers/*/.nvrtc_headers_version"))), 1)
                shutil.rmtree(folder)

    def compile_in_mount(self, options):
        """With a file system of its own as the cache's folder, which needs root or user name spaces."""
        mount = f'mount -t tmpfs -o mode=700,{options} none "{self.cache}" && exec "$@"'
        self.file("half.cu", MISSING)
        done = subprocess.run(["unshare", "-rm", "sh", "-c", mount, "sh", PROGRAM, "compile", "half.cu", "-o", "x.fatbin",
                               "--no-cache"], cwd=self.folder, text=True, capture_output=True, env=self.environment({}))
        if "fatlink: " not in done.stderr:
            self.skipTest("no mount in a name space: " + done.stderr)
        self.assertEqual(done.returncode, 4, done.stderr)
        return done.stderr

    def test_on_a_read_only_file_system_are_reported(self):
        self.assertIn("CACHEDIR.TAG: Read-only file system)", self.compile_in_mount("ro"))

    def test_on_a_full_file_system_are_reported_with_the_log_of_nvrtc(self):
        errors = self.compile_in_mount("size=1m")
        self.assertIn("cannot be unpacked to ", errors)
        self.assertIn("nvrtc: error: ", errors)

    def test_that_cannot_be_unpacked_are_replaced_by_those_of_a_toolkit_with_a_warning(self):
        (self.folder / "toolkit/include").mkdir(parents=True)
        self.file("toolkit/include/cuda_fp16.h", "#define FACTOR 0.5F\n")
        done = self.compile_half("#include <cuda_fp16.h>\n" + HALF.replace("0.5F", "FACTOR"), "--no-cache",
                                 env={"CUDA_HOME": str(self.folder / "toolkit"), "FATLINK_CACHE_DIR": "/proc/nowhere"})
        self.assertRegex(done.stderr, r"^fatlink: warning: NVRTC 13\.\d+ cannot unpack its CUDA headers: .*/proc/nowhere")

    def test_are_removed_with_the_cache(self):
        self.compile_half()
        self.fatlink("cache", "clear")
        self.assertFalse((self.cache / "headers").exists())
        self.assertEqual(self.compile_half().stderr, "")

    def test_are_shown_by_doctor(self):
        self.assertEqual(self.fatlink_json("doctor")["nvrtc"]["headers"], [])
        self.assertIn("NVRTC 13.3 and newer unpacks its own headers when a source includes one", self.fatlink("doctor").stdout)
        self.compile_half()
        self.assertEqual(self.fatlink_json("doctor")["nvrtc"]["headers"],
                         [str(self.version_file().parent), str(self.version_file().parent / "cccl")])


if __name__ == "__main__":
    unittest.main()

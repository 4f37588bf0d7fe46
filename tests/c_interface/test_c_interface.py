# SPDX-License-Identifier: Apache-2.0
"""Callers of the C interface: the C program of docs/c_interface.md against the build tree and an install tree, ctypes
and Rust."""
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from fatlink_cli import nvjitlink

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
CMAKE = os.environ["FATLINK_CMAKE"]
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
DOCUMENT = (SOURCE / "docs/c_interface.md").read_text()
PTX = b""".version 9.0
.target sm_90
.address_size 64
.visible .entry add_one(.param .u64 data)
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.u32 %r3, %r2, 1;
  st.global.u32 [%rd3], %r3;
  ret;
}
"""


def block(language):
    """The first block of the document in this language."""
    return re.search(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)[1]


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def is_sanitized():
    return "fsanitize" in (BUILD / "CMakeCache.txt").read_text()


@unittest.skipIf(shutil.which("cc") is None, "no C compiler")
@unittest.skipIf(is_sanitized(), "the program is built without sanitizers")
class CProgram(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-c-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "host.c").write_text(block("c"))

    def check_output(self, library):
        """Runs each command of the document's session; `./host` must print what it shows."""
        if not nvjitlink():
            self.skipTest("no nvJitLink on this machine")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(library), "FATLINK_PATH": str(BUILD / "share/fatlink"),
                       "FATLINK_NVJITLINK": str(nvjitlink())}
        sessions = re.findall(r"^\$ \./host(.*)\n((?:(?!\$ ).*\n)*)", block("console"), re.MULTILINE)
        self.assertEqual(len(sessions), 2)
        for arguments, shown in sessions:
            done = subprocess.run(["./host", *arguments.split()], cwd=self.folder, text=True, capture_output=True,
                                  env=environment)
            self.assertEqual((done.stdout, done.stderr), (shown, ""))
            self.assertEqual(done.returncode, 1 if "hint:" in shown else 0)

    def test_has_at_most_60_lines(self):
        self.assertLessEqual(len(block("c").splitlines()), 60)

    def test_runs_with_the_build_tree(self):
        run("cc", "-std=c99", *WARNINGS, f"-I{SOURCE}/host/include", "host.c", "-o", "host", f"-L{BUILD}/lib", "-lfatlink",
            cwd=self.folder)
        self.check_output(BUILD / "lib")

    def test_is_built_by_a_cmake_project_of_c(self):
        (self.folder / "CMakeLists.txt").write_text(block("cmake"))
        run(CMAKE, "-S", self.folder, "-B", self.folder / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={BUILD}",
            f"-DCMAKE_C_FLAGS={' '.join(WARNINGS)}")
        run(CMAKE, "--build", self.folder / "build")
        self.assertTrue((self.folder / "build/host").exists())

    @unittest.skipIf(shutil.which("pkg-config") is None, "no pkg-config")
    def test_runs_with_an_install_tree(self):
        prefix = self.folder / "installed"
        for component in ("runtime", "development"):
            run(CMAKE, "--install", BUILD, "--prefix", prefix, "--component", component)
        self.assertTrue((prefix / "include/fatlink/c/plan.h").exists())
        package = next(prefix.rglob("fatlink.pc"))
        flags = run("pkg-config", "--cflags", "--libs", "fatlink",
                    env={**os.environ, "PKG_CONFIG_PATH": str(package.parent)}).split()
        run("cc", "-std=c99", *WARNINGS, "host.c", "-o", "host", *flags, cwd=self.folder)
        self.check_output(package.parent.parent)


class LaunchShape(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("extents", ctypes.c_uint32 * 6), ("shared_bytes", ctypes.c_uint32),
                ("overlap", ctypes.c_int32)]


class LinkOptions(ctypes.Structure):
    """The members that the test sets, and room for the others."""
    _fields_ = [("size", ctypes.c_size_t), ("target", ctypes.c_char_p), ("mode", ctypes.c_int32),
                ("emit", ctypes.c_int32), ("others", ctypes.c_byte * 256)]


@unittest.skipIf(is_sanitized(), "this Python is built without sanitizers")
class Ctypes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = ctypes.CDLL(str(BUILD / "lib/libfatlink.so"))
        for name in ("message", "code", "hint"):
            getattr(cls.library, f"fatlink_error_{name}").restype = ctypes.c_char_p
        cls.library.fatlink_buffer_address.restype = ctypes.c_uint64
        cls.library.fatlink_version.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        function = getattr(self.library, f"fatlink_{name}")
        function.restype = ctypes.c_void_p
        error = ctypes.c_void_p(function(*arguments))
        if error:
            text = self.library.fatlink_error_message(error).decode()
            self.library.fatlink_error_free(error)
            raise RuntimeError(text)

    def create(self, name, *arguments):
        handle = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(handle))
        self.addCleanup(getattr(self.library, f"fatlink_{name.split('_')[0]}_free"), handle)
        return handle

    def test_states_the_versions(self):
        project = re.search(r"fatlink VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual(self.library.fatlink_version().decode(), project)
        self.assertEqual(self.library.fatlink_c_version(), 1000)

    def test_links_and_launches_on_its_own_memory(self):
        device = self.create("device_open", b"cpu", None)
        linker = self.create("linker_create", None)
        source = self.create("input_from_bytes", PTX, ctypes.c_size_t(len(PTX)), b"add_one.ptx")
        options = LinkOptions(size=ctypes.sizeof(LinkOptions))
        self.call("device_link_options", device, 1, ctypes.byref(options))
        image = ctypes.c_void_p()
        self.call("link", linker, (ctypes.c_void_p * 1)(source.value), ctypes.c_size_t(1), ctypes.byref(options),
                  ctypes.byref(image))
        self.addCleanup(self.library.fatlink_image_free, image)
        module = self.create("module_load", device, image)
        kernel = ctypes.c_void_p()
        self.call("module_kernel", module, b"add_one", ctypes.byref(kernel))
        self.addCleanup(self.library.fatlink_kernel_free, kernel)
        values = (ctypes.c_int * 4)(1, 2, 3, 4)
        buffer = self.create("buffer_map_host", device, values, ctypes.c_size_t(16), 0)
        address = ctypes.c_uint64(self.library.fatlink_buffer_address(buffer))
        shape = LaunchShape(size=ctypes.sizeof(LaunchShape), extents=(1, 1, 1, 4, 1, 1))
        self.call("kernel_launch", kernel, None, ctypes.byref(shape),
                  (ctypes.c_void_p * 1)(ctypes.addressof(address)), ctypes.c_size_t(1))
        self.assertEqual(list(values), [2, 3, 4, 5])

    def test_receives_errors(self):
        with self.assertRaisesRegex(RuntimeError, "tpu"):
            self.create("device_open", b"tpu", None)


@unittest.skipIf(shutil.which("rustc") is None, "rustc is not installed")
@unittest.skipIf(is_sanitized(), "the program is built without sanitizers")
class Rust(unittest.TestCase):
    def test_calls_functions_and_receives_errors(self):
        with tempfile.TemporaryDirectory(prefix="fatlink-rust-") as folder:
            run("rustc", "-L", BUILD / "lib", "-o", f"{folder}/caller", SOURCE / "tests/c_interface/rust_caller.rs")
            printed = run(f"{folder}/caller", env={**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib")})
        self.assertEqual(printed.splitlines(), ["1000", 'Ok("ptx")', 'Err("empty-input")'])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""fatlink_bundle_cuda in small projects: the toolkit's libraries, if its licence permits distribution."""
import pathlib
import shutil
import unittest

from bundle_case import CMAKE, LICENCE, SOURCE, TOOLKIT, Bundle, digest

WHEELS = sorted(TOOLKIT.glob("dist-info/nvidia_nvjitlink-13.0.*/licenses/License.txt"))
# The licence's page, saved as text.
PAGE = """The following portions of the SDK are distributable under the Agreement:

|
Windows |
libnvJitLink.dll, libnvJitLink.lib |
Linux |
libnvJitLink.so, libnvJitLink_static.a |
|
All |
libforall.so, cuda.h |
"""


class Cuda(Bundle):
    """A fake toolkit whose library has symbols that `strip` would remove."""

    def setUp(self):
        super().setUp()
        self.put("one.c", "int one(void) { return 1; }\n")
        self.licence = self.put("licence.txt", LICENCE)
        self.library = self.make_library("nvJitLink", "13", "13.0.88")

    def make_library(self, name, major, version):
        folder = self.folder / "toolkit" / "lib"
        folder.mkdir(parents=True, exist_ok=True)
        real = folder / f"lib{name}.so.{version}"
        self.done("cc", "-g", "-shared", f"-Wl,-soname,lib{name}.so.{major}", "-o", real, "one.c")
        if version != major:
            (folder / f"lib{name}.so.{major}").symlink_to(real.name)
        (folder / f"lib{name}.so").symlink_to(f"lib{name}.so.{major}")
        return real

    def configure(self, *options, toolkit=None, languages="NONE", more=""):
        toolkit = toolkit or self.folder / "toolkit"
        self.put("CMakeLists.txt", f"""
cmake_minimum_required(VERSION 3.25)
project(outsider VERSION 1.0 LANGUAGES {languages})
set(CMAKE_INSTALL_DATADIR share)
set(CUDAToolkit_LIBRARY_DIR "{toolkit}/lib")
set(CUDAToolkit_BIN_DIR "{toolkit}/bin")
include("{SOURCE}/cmake/build/bundle.cmake")
fatlink_bundle_cuda(DESTINATION lib COMPONENT runtime)
get_property(licenses GLOBAL PROPERTY FATLINK_BUNDLED_LICENSES)
message(STATUS "licences: ${{licenses}}")
{more}
""")
        return [CMAKE, "-S", ".", "-B", "b", "-G", "Ninja", *options]

    def bundle(self, name, licence=None):
        return f"-DFATLINK_BUNDLE_CUDA={name}", f"-DFATLINK_CUDA_LICENSE={licence or self.licence}"

    def installed(self):
        self.done(CMAKE, "--install", "b", "--prefix", self.folder / "i")
        return sorted(str(path.relative_to(self.folder / "i"))
                      for path in self.folder.glob("i/**/*") if path.is_file())

    def test_nothing_unless_asked_for(self):
        self.done(*self.configure())
        self.assertEqual(self.installed(), [])

    def test_the_wheels_licence_does_not_let_nvjitlink_be_distributed(self):
        if not WHEELS:
            self.skipTest("this toolkit is not of the vendor's 13.0 wheels")
        self.assert_refused(
            f"nvJitLink: Attachment A of {WHEELS[0]} does not list libnvJitLink.so as distributable. "
            "Get the End User License Agreement of your toolkit from the vendor; if it lists "
            "libnvJitLink.so, name it with -DFATLINK_CUDA_LICENSE=FILE, else remove nvJitLink from the list.",
            *self.configure("-DFATLINK_BUNDLE_CUDA=nvJitLink", toolkit=TOOLKIT))

    def test_the_wheels_licence_lets_cudart_be_distributed(self):
        if not WHEELS or not (TOOLKIT / "lib/libcudart.so.13").exists():
            self.skipTest("this toolkit is not of the vendor's 13.0 wheels")
        self.done(*self.configure("-DFATLINK_BUNDLE_CUDA=cudart", toolkit=TOOLKIT))
        self.assertEqual(self.installed(), ["lib/libcudart.so.13", "share/doc/fatlink-runtime/CUDA-EULA.txt"])
        self.assertEqual(digest(self.folder / "i/lib/libcudart.so.13"), digest(TOOLKIT / "lib/libcudart.so.13"))
        self.assertEqual(digest(self.folder / "i/share/doc/fatlink-runtime/CUDA-EULA.txt"), digest(WHEELS[0]))

    def test_a_listed_library_is_installed_unchanged_also_when_others_are_stripped(self):
        more = "add_library(one SHARED one.c)\ninstall(TARGETS one)\n"
        self.done(*self.configure(*self.bundle("nvJitLink"), "-DCMAKE_C_FLAGS=-g", languages="C", more=more))
        self.done(CMAKE, "--build", "b")
        self.done(CMAKE, "--install", "b", "--strip", "--prefix", self.folder / "i")
        self.assertNotIn(".debug_info", self.done("readelf", "-SW", "i/lib/libone.so"))
        found = self.folder / "i/lib/libnvJitLink.so.13"
        self.assertFalse(found.is_symlink())
        self.assertEqual(digest(found), digest(self.library))
        self.assertIn(".debug_info", self.done("readelf", "-SW", found))
        self.assertEqual((self.folder / "i/share/doc/fatlink-runtime/CUDA-EULA.txt").read_text(), LICENCE)

    def test_rpmbuild_leaves_it_alone(self):
        if shutil.which("rpmbuild") is None or shutil.which("rpm") is None:
            self.skipTest("rpmbuild is not installed")
        more = (f'include("{SOURCE}/cmake/FatlinkAddPackage.cmake")\n'
                "fatlink_add_package(bundling COMPONENT runtime SUMMARY s)\n")
        self.done(*self.configure(*self.bundle("nvJitLink"), more=more))
        cpack = pathlib.Path(shutil.which(CMAKE)).parent / "cpack"
        self.done("env", "SOURCE_DATE_EPOCH=1700000000", cpack, "--config", "b/CPackConfig.cmake", "-G", "RPM", "-B", "p")
        dump = self.done("rpm", "-qp", "--dump", *(self.folder / "p").glob("*.rpm"))
        self.assertIn(digest(self.library), dump)

    def test_what_is_bundled_has_its_own_licence_in_the_sbom(self):
        said = self.done(*self.configure(*self.bundle("nvJitLink")))
        self.assertIn("/libnvJitLink[.]so[.]13$=LicenseRef-NVIDIA-CUDA-EULA;"
                      "/CUDA-EULA[.]txt$=LicenseRef-NVIDIA-CUDA-EULA", said)

    def test_lists_that_are_wrapped_and_pages_saved_as_text(self):
        self.make_library("wrapped", "1", "1")
        self.make_library("forall", "2", "2.1")
        page = self.put("page.txt", PAGE.replace("\n", "\r\n"))
        self.done(*self.configure(*self.bundle("wrapped")))
        self.done(*self.configure(*self.bundle("nvJitLink;forall", page)))
        self.assertEqual(self.installed(), ["lib/libforall.so.2", "lib/libnvJitLink.so.13",
                                            "share/doc/fatlink-runtime/CUDA-EULA.txt"])

    def test_names_that_are_not_in_a_list_for_linux(self):
        for name in ("onwindows", "inprose", "afterwards", "one", "cudart_static"):
            self.assert_refused(f"{name}: Attachment A of {self.licence} does not list lib{name}.so",
                                *self.configure(*self.bundle(name)))

    def test_a_library_of_the_driver(self):
        for name in ("cuda", "nvidia-ptxjitcompiler"):
            self.assert_refused(f"{name}: lib{name}.so belongs to the driver", *self.configure(*self.bundle(name)))

    def test_a_library_that_the_toolkit_has_not(self):
        self.assert_refused(f"cudart: no libcudart.so.<version> in {self.folder}/toolkit/lib.",
                            *self.configure(*self.bundle("cudart")))

    def test_a_library_that_the_toolkit_has_twice(self):
        self.done("cp", self.library, self.library.with_name("libnvJitLink.so.12.9"))
        self.assert_refused("nvJitLink: a package can hold only one of these files",
                            *self.configure(*self.bundle("nvJitLink")))

    def test_a_text_without_the_attachment(self):
        text = self.put("other.txt", LICENCE.replace("portions", "parts"))
        self.assert_refused(f"{text} has no Attachment A that lists the distributable libraries",
                            *self.configure(*self.bundle("nvJitLink", text)))

    def test_a_licence_that_is_not_there(self):
        self.assert_refused("nowhere.txt: no such file",
                            *self.configure(*self.bundle("nvJitLink", self.folder / "nowhere.txt")))
        self.assert_refused(f"no licence was found in {self.folder}/toolkit. Get the End User License",
                            *self.configure("-DFATLINK_BUNDLE_CUDA=nvJitLink", "-DFATLINK_CUDA_LICENSE="))

    def test_the_toolkits_own_licence_is_found(self):
        for name in ("EULA.txt", "doc/EULA.txt",
                     "dist-info/nvidia_nvjitlink-13.0.88.dist-info/licenses/License.txt", "License.txt"):
            file = self.put(f"toolkit/{name}", LICENCE)
            self.done(*self.configure("-DFATLINK_BUNDLE_CUDA=nvJitLink"))
            file.unlink()

    def test_a_file_that_is_no_library(self):
        self.put("toolkit/lib/libcudart.so.13", "GROUP ( libcudart_static.a )\n")
        self.assert_refused("libcudart.so.13: not a shared library", *self.configure(*self.bundle("cudart")))

    def test_misuse(self):
        for more, words in (("fatlink_bundle_cuda(WITH this)", "unknown argument: WITH this"),
                            ("fatlink_bundle_cuda(DESTINATION lib)", "COMPONENT is missing")):
            self.assert_refused(words, *self.configure(more=more))


if __name__ == "__main__":
    unittest.main()

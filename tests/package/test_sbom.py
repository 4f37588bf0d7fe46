# SPDX-License-Identifier: Apache-2.0
"""fatlink_write_sbom and fatlink_sbom_dependencies, by CMake scripts and a project of their own."""
import functools
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
CMAKE = os.environ["FATLINK_CMAKE"]
NVCC = pathlib.Path(os.environ["FATLINK_NVCC"])
EPOCH = {"SOURCE_DATE_EPOCH": "1700000000"}
DEPENDS = ('"zstd=1.5.4=BSD-3-Clause=DYNAMIC_LINK"'
           ' "nettle=3.8.1=LGPL-3.0-or-later OR GPL-2.0-or-later=DYNAMIC_LINK"'
           ' "libstdc++=12.2.0=GPL-3.0-or-later WITH GCC-exception-3.1=STATIC_LINK"'
           ' "libstdc++=12.2.0=GPL-3.0-or-later WITH GCC-exception-3.1=DYNAMIC_LINK"'
           ' "nvJitLink==LicenseRef-NVIDIA-CUDA-EULA=OPTIONAL_DEPENDENCY_OF"'
           ' "CUDA Toolkit=13.0.88=LicenseRef-NVIDIA-CUDA-EULA=BUILD_TOOL_OF"')


@functools.cache
def pyspdxtools():
    """The SPDX project's own checker, installed for these tests; nothing where it cannot be had."""
    folder = BUILD / "spdx-tools"
    program = folder / "bin" / "pyspdxtools"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "spdx-tools"],
                       capture_output=True)
    return program if program.exists() else None


class Sbom(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-sbom-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.root = self.folder / "root"
        self.document = self.folder / "package.spdx.json"
        self.put("usr/bin/fatlink", b"\x7fELF program")
        self.put("usr/share/fatlink/a.fatbin", b"code")
        self.put("usr/share/doc/fatlink/note.md", b"words")

    def put(self, name, content):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def cmake(self, arguments, env=EPOCH, cmake=CMAKE):
        script = self.folder / "write.cmake"
        script.write_text(f'include("{SOURCE}/cmake/detail/package/sbom.cmake")\nfatlink_write_sbom({arguments})\n')
        inherited = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
        return subprocess.run([cmake, "-P", script], text=True, capture_output=True, env={**inherited, **env})

    def write(self, more="", cmake=CMAKE, document=None, summary="Links"):
        document = document or self.document
        done = self.cmake(f'"{document}" ROOT "{self.root}" NAME fatlink-runtime VERSION 0.1.0 '
                          f'SUMMARY [[{summary}]] LICENSE Apache-2.0 SUPPLIER fatlink {more}', cmake=cmake)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(document.read_text())

    def assert_refused(self, words, arguments, env=EPOCH):
        done = self.cmake(arguments, env)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(words, " ".join(done.stderr.split()))

    def assert_valid(self, document=None):
        if pyspdxtools() is None:
            self.skipTest("spdx-tools cannot be downloaded")
        done = subprocess.run([pyspdxtools(), "-i", document or self.document], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Documents(Sbom):
    def test_the_checker_finds_it_valid(self):
        self.write(f"DEPENDS {DEPENDS} LICENSES \"a[.]fatbin$=MIT\"")
        self.assert_valid()

    def test_every_file_with_its_digests(self):
        files = {file["fileName"]: file for file in self.write()["files"]}
        self.assertEqual(list(files), ["./usr/bin/fatlink", "./usr/share/doc/fatlink/note.md",
                                       "./usr/share/fatlink/a.fatbin"])
        for name, file in files.items():
            content = (self.root / name).read_bytes()
            self.assertEqual({sum["algorithm"]: sum["checksumValue"] for sum in file["checksums"]},
                             {"SHA1": hashlib.sha1(content).hexdigest(),
                              "SHA256": hashlib.sha256(content).hexdigest()})
        self.assertEqual([file["fileTypes"] for file in files.values()],
                         [["BINARY"], ["DOCUMENTATION"], ["BINARY"]])

    def test_the_verification_code_is_the_specifications(self):
        digests = sorted(hashlib.sha1(path.read_bytes()).hexdigest()
                         for path in self.root.rglob("*") if path.is_file())
        package = self.write()["packages"][0]
        self.assertEqual(package["packageVerificationCode"],
                         {"packageVerificationCodeValue": hashlib.sha1("".join(digests).encode()).hexdigest()})

    def test_a_document_in_the_package_leaves_itself_out(self):
        document = self.root / "usr/share/doc/fatlink/package.spdx.json"
        outside = self.write()["packages"][0]["packageVerificationCode"]["packageVerificationCodeValue"]
        first = self.write(document=document)
        self.assertEqual(first["packages"][0]["packageVerificationCode"],
                         {"packageVerificationCodeValue": outside, "packageVerificationCodeExcludedFiles":
                          ["./usr/share/doc/fatlink/package.spdx.json"]})
        self.assertEqual(self.write(document=document), first)
        self.assert_valid(document)

    def test_symbolic_links_are_no_files_of_it(self):
        before = self.write()["files"]
        (self.root / "usr/bin/other").symlink_to("fatlink")
        (self.root / "usr/tmp").symlink_to("/usr/include")
        self.assertEqual(self.write()["files"], before)

    def test_relationships(self):
        written = self.write(f"DEPENDS {DEPENDS}")
        names = {package["SPDXID"]: package["name"] for package in written["packages"]}
        self.assertEqual(len(names), 6)
        found = {(names.get(r["spdxElementId"]), r["relationshipType"], names.get(r["relatedSpdxElement"]))
                 for r in written["relationships"] if r["relationshipType"] not in ("CONTAINS", "DESCRIBES")}
        me = "fatlink-runtime"
        self.assertEqual(found, {(me, "DYNAMIC_LINK", "zstd"), (me, "DYNAMIC_LINK", "nettle"),
                                 (me, "STATIC_LINK", "libstdc++"), (me, "DYNAMIC_LINK", "libstdc++"),
                                 ("nvJitLink", "OPTIONAL_DEPENDENCY_OF", me),
                                 ("CUDA Toolkit", "BUILD_TOOL_OF", me)})
        self.assertEqual(sum(r["relationshipType"] == "CONTAINS" for r in written["relationships"]), 3)

    def test_a_list_in_quotes_is_a_list(self):
        self.write(f'DEPENDS {DEPENDS} LICENSES "/a$=MIT" "/fatlink$=MIT"')
        first = self.document.read_bytes()
        quoted = DEPENDS.replace('" "', ";")
        self.write(f'DEPENDS {quoted} LICENSES "/a$=MIT;/fatlink$=MIT"')
        self.assertEqual(self.document.read_bytes(), first)
        self.assertEqual(self.write('DEPENDS "" LICENSES ""'), self.write())

    def test_a_licence_that_spdx_does_not_name_is_explained(self):
        self.assertNotIn("hasExtractedLicensingInfos", self.write())
        infos = self.write(f"DEPENDS {DEPENDS}")["hasExtractedLicensingInfos"]
        self.assertEqual([info["licenseId"] for info in infos], ["LicenseRef-NVIDIA-CUDA-EULA"])

    def test_files_under_other_licences(self):
        written = self.write('LICENSES "/a[.]fatbin$=LGPL-3.0-or-later OR GPL-2.0-or-later"')
        self.assertEqual([file["licenseConcluded"] for file in written["files"]],
                         ["Apache-2.0", "Apache-2.0", "LGPL-3.0-or-later OR GPL-2.0-or-later"])
        self.assertEqual(written["packages"][0]["licenseConcluded"],
                         "Apache-2.0 AND (LGPL-3.0-or-later OR GPL-2.0-or-later)")
        self.assertEqual(written["packages"][0]["licenseDeclared"], "Apache-2.0")

    def test_text_of_any_kind(self):
        summary = 'say "hi" \\ back; [half ü\nline'
        self.assertEqual(self.write(summary=summary)["packages"][0]["summary"], summary)
        self.assert_valid()

    def test_the_same_contents_give_the_same_bytes_by_any_cmake(self):
        self.write(f"DEPENDS {DEPENDS}")
        first = self.document.read_bytes()
        self.assertIn(b'"created": "2023-11-14T22:13:20Z"', first)
        newest = BUILD / "newest-cmake" / "bin" / "cmake"
        for cmake in [CMAKE, newest] if newest.exists() else [CMAKE]:
            self.write(f"DEPENDS {DEPENDS}", cmake=cmake)
            self.assertEqual(self.document.read_bytes(), first)

    def test_other_contents_have_another_namespace(self):
        first = self.write()["documentNamespace"]
        self.put("usr/bin/fatlink", b"\x7fELF another")
        self.assertNotEqual(self.write()["documentNamespace"], first)

    def test_it_names_a_tool_and_an_organization_and_no_person(self):
        for creator in self.write()["creationInfo"]["creators"]:
            self.assertRegex(creator, "^(Tool|Organization): ")

    def test_four_hundred_files_take_seconds(self):
        for number in range(400):
            self.put(f"usr/include/fatlink/{number}.hpp", bytes(number))
        begin = time.monotonic()
        self.assertEqual(len(self.write(f"DEPENDS {DEPENDS}")["files"]), 403)
        self.assertLess(time.monotonic() - begin, 5)


    def test_parts_have_the_supplier_and_package_url_that_are_stated(self):
        written = self.write('DEPENDS "zstd=1.5.4=BSD-3-Clause=DYNAMIC_LINK=Debian=pkg:deb/debian/libzstd1@1.5.4%2Bdfsg2-5?arch=amd64"'
                             ' "lz4=1.9.4=BSD-2-Clause=DYNAMIC_LINK"')
        self.assert_valid()
        parts = {package["name"]: package for package in written["packages"]}
        self.assertEqual(parts["zstd"]["supplier"], "Organization: Debian")
        self.assertEqual(parts["zstd"]["externalRefs"], [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": "pkg:deb/debian/libzstd1@1.5.4%2Bdfsg2-5?arch=amd64"}])
        self.assertEqual((parts["lz4"]["supplier"], parts["lz4"].get("externalRefs")), ("NOASSERTION", None))
        self.assertEqual(parts["fatlink-runtime"]["supplier"], "Organization: fatlink")
        self.assertEqual(parts["fatlink-runtime"]["externalRefs"][0]["referenceLocator"],
                         "pkg:generic/fatlink-runtime@0.1.0")


class Refusals(Sbom):
    def call(self, more="", name="NAME n"):
        return f'"{self.document}" ROOT "{self.root}" {name} VERSION 1 SUMMARY s {more}'

    def test_without_a_time(self):
        self.assert_refused("set SOURCE_DATE_EPOCH", self.call(), env={})

    def test_arguments(self):
        self.assert_refused("unknown argument: WITH THIS", self.call(name="NAME n WITH THIS"))
        self.assert_refused("NAME is missing", self.call(name=""))
        self.assert_refused("no value for SUPPLIER", self.call("SUPPLIER"))
        self.assert_refused("no such folder", f'o.json ROOT "{self.root}/none" NAME n VERSION 1 SUMMARY s')
        self.assert_refused("DEPENDS zstd: expected <name>=<version>=<licence>=<relationship>",
                            self.call("DEPENDS zstd"))
        self.assert_refused("zstd@1 is not a package URL (pkg:<type>/<name>)",
                            self.call("DEPENDS zstd=1=MIT=DYNAMIC_LINK=Debian=zstd@1"))
        self.assert_refused("unknown relationship; expected one of DEPENDS_ON, ", self.call("DEPENDS a=1=MIT=LIKES"))
        self.assert_refused("LICENSES MIT: expected <expression>=<licence>", self.call("LICENSES MIT"))
        self.assert_refused("the text has a control character: ", self.call(name='NAME "a\x01b"'))

    def test_an_empty_package(self):
        shutil.rmtree(self.root)
        self.root.mkdir()
        self.assert_refused("holds no files", self.call())


class Dependencies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-sbom-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(outsider LANGUAGES C CXX)\n"
            f'include("{SOURCE}/cmake/build/dependencies.cmake")\n'
            f'include("{SOURCE}/cmake/build/sbom/sbom_dependencies.cmake")\n'
            "foreach(component IN ITEMS runtime transforms development tests)\n"
            "  fatlink_sbom_dependencies(${component} found)\n"
            '  string(REPLACE ";" "\\n" found "${found}")\n'
            '  file(WRITE "${CMAKE_BINARY_DIR}/${component}" "${found}\\n")\n'
            "endforeach()\n"
            "if(WRONG)\n  fatlink_sbom_dependencies(${WRONG})\nendif()\n")
        done = cls.configure()
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    @classmethod
    def configure(cls, *options):
        return subprocess.run([CMAKE, "-S", cls.folder, "-B", cls.folder / "b", "-G", "Ninja",
                               f"-DCUDAToolkit_ROOT={NVCC.parent.parent}", *options],
                              text=True, capture_output=True)

    def of(self, component):
        lines = (self.folder / "b" / component).read_text().splitlines()
        return {(line.split("=")[0], line.split("=")[3]): line.split("=")[1:3] for line in lines}

    def test_versions_are_those_that_were_found(self):
        runtime = self.of("runtime")
        for name, module in (("zstd", "libzstd"), ("lz4", "liblz4"), ("nettle", "nettle")):
            version = subprocess.run(["pkg-config", "--modversion", module], text=True,
                                     capture_output=True).stdout.strip()
            self.assertEqual(runtime[name, "DYNAMIC_LINK"][0], version)
        for name in ("fmt", "nlohmann-json", "CLI11"):
            self.assertRegex(runtime[name, "STATIC_LINK"][0], r"^\d+\.\d+")
        self.assertRegex(runtime["CUDA Toolkit", "BUILD_TOOL_OF"][0], r"^13\.")

    def test_every_licence_is_known(self):
        for component in ("runtime", "transforms", "development", "tests"):
            for name, (_, license) in self.of(component).items():
                self.assertNotEqual(license, "NOASSERTION", name)

    def test_a_component_has_its_own(self):
        self.assertEqual(list(self.of("transforms")), [("CUDA Toolkit", "BUILD_TOOL_OF")])
        self.assertIn(("zstd", "DEPENDS_ON"), self.of("development"))
        self.assertNotIn(("CUDA Toolkit", "BUILD_TOOL_OF"), self.of("development"))
        self.assertIn(("googletest", "STATIC_LINK"), self.of("tests"))

    def urls(self, component):
        """The supplier and the package URL by name and relationship."""
        lines = (self.folder / "b" / component).read_text().splitlines()
        return {(line.split("=")[0], line.split("=")[3]): tuple(line.split("=", 5)[4:]) for line in lines}

    def test_every_part_has_a_supplier_and_a_package_url(self):
        for component in ("runtime", "transforms", "development", "tests"):
            for part, stated in self.urls(component).items():
                with self.subTest(component=component, part=part):
                    supplier, purl = stated
                    self.assertNotIn(supplier, ("", "NOASSERTION"))
                    self.assertRegex(purl, r"^pkg:(deb/[a-z]+|generic)/[a-z0-9.%B-]+(@[^@?+]+)?(\?arch=\w+)?$")

    def test_libraries_of_the_host_are_of_their_projects_and_bundled_ones_of_the_distribution(self):
        self.assertEqual(self.urls("runtime")["lz4", "DYNAMIC_LINK"][0], "The lz4 project")
        if shutil.which("dpkg-query") is None:
            self.skipTest("bundled libraries are those of Debian's packages")
        self.addCleanup(self.configure, "-DFATLINK_BUNDLE_LIBRARIES=OFF")
        self.assertEqual(self.configure("-DFATLINK_BUNDLE_LIBRARIES=ON").returncode, 0)
        bundled = self.urls("runtime")
        for part, package in (("zstd", "libzstd"), ("lz4", "liblz4"), ("nettle", "libnettle")):
            self.assertRegex(bundled[part, "DYNAMIC_LINK"][1], rf"^pkg:deb/\w+/{package}[\w-]*@.*\?arch=\w+$")
        self.assertRegex(bundled["fmt", "STATIC_LINK"][1], r"^pkg:deb/\w+/libfmt-dev@")

    def test_misuse(self):
        for wrong, words in (("documents;out", "no such component"),
                             ("runtime;out;more", "unknown argument: more")):
            done = self.configure(f"-DWRONG={wrong}")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, " ".join(done.stderr.split()))


if __name__ == "__main__":
    unittest.main()

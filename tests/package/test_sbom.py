# SPDX-License-Identifier: Apache-2.0
"""The packages' SPDX documents: their writer by itself, in a package of a small project, and with the parts of fatlink's own
packages."""
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
WRITER = SOURCE / "cmake/detail/sbom.py"
EPOCH = {"SOURCE_DATE_EPOCH": "1700000000"}
DEPENDS = ["--depends=zstd=1.5.4=BSD-3-Clause=DYNAMIC_LINK",
           "--depends=nettle=3.8.1=LGPL-3.0-or-later OR GPL-2.0-or-later=DYNAMIC_LINK",
           "--depends=libstdc++=12.2.0=GPL-3.0-or-later WITH GCC-exception-3.1=STATIC_LINK",
           "--depends=libstdc++=12.2.0=GPL-3.0-or-later WITH GCC-exception-3.1=DYNAMIC_LINK",
           "--depends=nvJitLink==LicenseRef-NVIDIA-CUDA-EULA=OPTIONAL_DEPENDENCY_OF",
           "--depends=CUDA Toolkit=13.0.88=LicenseRef-NVIDIA-CUDA-EULA=BUILD_TOOL_OF"]


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

    def run_writer(self, *options, document=None, env=EPOCH):
        inherited = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
        return subprocess.run([sys.executable, "-I", "-B", WRITER, document or self.document, *options], text=True,
                              capture_output=True, env={**inherited, **env})

    def write(self, *more, document=None, summary="Links"):
        done = self.run_writer(f"--root={self.root}", "--name=fatlink-runtime", "--version=0.1.0", f"--summary={summary}",
                               "--license=Apache-2.0", "--supplier=fatlink", *more, document=document)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((document or self.document).read_text())

    def assert_refused(self, words, *options, env=EPOCH):
        done = self.run_writer(*options, env=env)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(words, " ".join(done.stderr.split()))

    def assert_valid(self, document=None):
        if pyspdxtools() is None:
            self.skipTest("spdx-tools cannot be downloaded")
        done = subprocess.run([pyspdxtools(), "-i", document or self.document], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Documents(Sbom):
    def test_the_checker_finds_it_valid(self):
        self.write(*DEPENDS, "--license-of=a[.]fatbin$=MIT")
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
        written = self.write(*DEPENDS)
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

    def test_a_licence_that_spdx_does_not_name_is_explained(self):
        self.assertNotIn("hasExtractedLicensingInfos", self.write())
        infos = self.write(*DEPENDS)["hasExtractedLicensingInfos"]
        self.assertEqual([info["licenseId"] for info in infos], ["LicenseRef-NVIDIA-CUDA-EULA"])

    def test_files_under_other_licences(self):
        written = self.write("--license-of=/a[.]fatbin$=LGPL-3.0-or-later OR GPL-2.0-or-later")
        self.assertEqual([file["licenseConcluded"] for file in written["files"]],
                         ["Apache-2.0", "Apache-2.0", "LGPL-3.0-or-later OR GPL-2.0-or-later"])
        self.assertEqual(written["packages"][0]["licenseConcluded"],
                         "Apache-2.0 AND (LGPL-3.0-or-later OR GPL-2.0-or-later)")
        self.assertEqual(written["packages"][0]["licenseDeclared"], "Apache-2.0")

    def test_text_of_any_kind(self):
        summary = 'say "hi" \\ back; [half ü\nline'
        self.assertEqual(self.write(summary=summary)["packages"][0]["summary"], summary)
        self.assert_valid()

    def test_bundled_libraries_and_the_texts_of_their_licences_are_under_their_own_licence(self):
        self.put("usr/lib/libzstd.so.1", b"\x7fELF zstd")
        self.put("usr/lib/libunknown.so.2", b"\x7fELF unknown")
        self.put("usr/share/doc/licenses/libzstd.so.1", b"words")
        written = self.write("--bundled=libzstd.so.1", "--bundled=libunknown.so.2")
        licenses = {file["fileName"]: file["licenseConcluded"] for file in written["files"]}
        self.assertEqual(licenses["./usr/lib/libzstd.so.1"], "BSD-3-Clause")
        self.assertEqual(licenses["./usr/share/doc/licenses/libzstd.so.1"], "BSD-3-Clause")
        self.assertEqual(licenses["./usr/lib/libunknown.so.2"], "NOASSERTION")
        self.assertEqual(licenses["./usr/bin/fatlink"], "Apache-2.0")

    def test_the_bytes_are_known(self):
        """They change only with the contents: namespaces of documents must stay the same from release to release."""
        self.write(*DEPENDS, "--license-of=a[.]fatbin$=MIT", summary='say "hi" \\ back\tü\nline')
        self.assertIn(b'"created": "2023-11-14T22:13:20Z"', self.document.read_bytes())
        self.assertEqual(hashlib.sha256(self.document.read_bytes()).hexdigest(),
                         "9043d78f37513c5380a0e200dcd77bc1a1daa2df7789ab8e8a2b46e7a85c6d35")

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
        self.assertEqual(len(self.write(*DEPENDS)["files"]), 403)
        self.assertLess(time.monotonic() - begin, 5)

    def test_parts_have_the_supplier_and_package_url_that_are_stated(self):
        written = self.write("--depends=zstd=1.5.4=BSD-3-Clause=DYNAMIC_LINK=Debian=pkg:deb/debian/libzstd1@1.5.4%2Bdfsg2-5?arch=amd64",
                             "--depends=lz4=1.9.4=BSD-2-Clause=DYNAMIC_LINK")
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
    def options(self, *more, root=None, name="n"):
        return [f"--root={root or self.root}", f"--name={name}", "--version=1", "--summary=s", *more]

    def test_without_a_time(self):
        self.assert_refused("set SOURCE_DATE_EPOCH", *self.options(), env={})

    def test_arguments(self):
        self.assert_refused("unrecognized arguments: --with", *self.options("--with=this"))
        self.assert_refused("the following arguments are required: --name", *(
            option for option in self.options() if not option.startswith("--name")))
        self.assert_refused("none: no such folder", *self.options(root=self.root / "none"))
        self.assert_refused("the dependency zstd: expected <name>=<version>=<licence>=<relationship>",
                            *self.options("--depends=zstd"))
        self.assert_refused("the licence MIT: expected <expression>=<licence>", *self.options("--license-of=MIT"))
        self.assert_refused("the text has a control character: ", *self.options(name="a\x01b"))

    def test_an_empty_package(self):
        shutil.rmtree(self.root)
        self.root.mkdir()
        self.assert_refused("holds no files", *self.options())

    def test_an_old_python(self):
        code = f"import runpy, sys; sys.version_info = (3, 8, 18); runpy.run_path({str(WRITER)!r}, run_name='__main__')"
        done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the SPDX document needs Python 3.9 or newer", done.stderr)


class Packaging(Sbom):
    """The package of a project with one file, as cpack makes it."""

    def setUp(self):
        super().setUp()
        self.project = self.folder / "project"
        self.project.mkdir()
        (self.project / "file.txt").write_text("text\n")

    def configure(self, more="", *options):
        (self.project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(outsider VERSION 1.2 LANGUAGES NONE)\n"
            f'include("{SOURCE}/cmake/FatlinkAddPackage.cmake")\n'
            "install(FILES file.txt DESTINATION share/outsider COMPONENT c)\n"
            f"fatlink_add_package(outsider-data COMPONENT c SUMMARY [[a; b [x]] LICENSE_ID MIT {more})\n")
        return subprocess.run([CMAKE, "-S", self.project, "-B", self.project / "b", *options], text=True, capture_output=True)

    def cpack(self, **env):
        return subprocess.run([pathlib.Path(shutil.which(CMAKE)).with_name("cpack"), "--config", "b/CPackConfig.cmake", "-G", "TGZ",
                               "-B", "p"], cwd=self.project, text=True, capture_output=True, env={**os.environ, **EPOCH, **env})

    def path_without_python(self):
        """A folder with the tools that packaging runs, and no python3."""
        folder = self.folder / "tools"
        folder.mkdir()
        for tool in ("find", "chmod", "touch", "gzip"):
            (folder / tool).symlink_to(shutil.which(tool))
        return str(folder)

    def test_a_package_states_its_files_and_what_its_project_states(self):
        done = self.configure('SBOM "a b=1=MIT=DEPENDS_ON" "c==0BSD=STATIC_LINK=The maker=pkg:generic/c?x=y"')
        self.assertEqual(done.returncode, 0, done.stderr)
        made = self.cpack()
        self.assertEqual(made.returncode, 0, made.stderr)
        document = "outsider-1.2/share/doc/outsider-data/outsider-data.spdx.json"
        written = json.loads(subprocess.run(["tar", "xzOf", self.project / "p/outsider-data-1.2-linux-x86_64.tar.gz", document],
                                            capture_output=True, check=True).stdout)
        package, *parts = written["packages"]
        self.assertEqual([file["fileName"] for file in written["files"]], ["./outsider-1.2/share/outsider/file.txt"])
        self.assertEqual((package["name"], package["versionInfo"], package["summary"], package["licenseDeclared"],
                          package["supplier"]),
                         ("outsider-data", "1.2", "a; b [x", "MIT", "Organization: The developers of outsider"))
        self.assertEqual([(part["name"], part.get("versionInfo"), part["licenseDeclared"], part["supplier"]) for part in parts],
                         [("a b", "1", "MIT", "NOASSERTION"), ("c", None, "0BSD", "Organization: The maker")])

    def test_without_python_packaging_names_what_needs_it_and_the_remedy(self):
        self.assertEqual(self.configure().returncode, 0)
        made = self.cpack(PATH=self.path_without_python())
        self.assertNotEqual(made.returncode, 0)
        self.assertIn("fatlink_add_package(outsider-data): the package's SPDX document is written by Python, and no python3 was "
                      "found. Install Python 3.9 or newer (Debian, Ubuntu, Fedora: python3), or configure with "
                      "-DPython3_EXECUTABLE=FILE", " ".join(made.stderr.split()))

    def test_the_python_that_the_project_names_is_used(self):
        self.assertEqual(self.configure("", f"-DPython3_EXECUTABLE={sys.executable}").returncode, 0)
        made = self.cpack(PATH=self.path_without_python())
        self.assertEqual(made.returncode, 0, made.stderr)

    def test_what_the_writer_refuses_stops_packaging(self):
        self.assertEqual(self.configure().returncode, 0)
        made = self.cpack(SOURCE_DATE_EPOCH="now")
        self.assertNotEqual(made.returncode, 0)
        self.assertRegex(" ".join(made.stderr.split()),
                         r"fatlink_add_package\(outsider-data\): no SPDX document from \S+ \(1\): set SOURCE_DATE_EPOCH")

    def test_malformed_dependencies_stop_configuration(self):
        for wrong, words in (("zstd", "SBOM zstd: expected <name>=<version>=<licence>=<relationship>"),
                             ("zstd=1=MIT=DYNAMIC_LINK=Debian=zstd@1", "zstd@1 is not a package URL (pkg:<type>/<name>)"),
                             ("a=1=MIT=LIKES", "unknown relationship; expected one of DEPENDS_ON, ")):
            done = self.configure(f"SBOM {wrong}")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, " ".join(done.stderr.split()))


class Parts(Sbom):
    """fatlink's own packages: what the build states, and what the writer looks up."""

    @classmethod
    def setUpClass(cls):
        cls.build = pathlib.Path(tempfile.mkdtemp(prefix="fatlink-sbom-"))
        cls.addClassCleanup(shutil.rmtree, cls.build)
        (cls.build / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(outsider LANGUAGES C CXX)\n"
            f'include("{SOURCE}/cmake/build/dependencies.cmake")\n'
            f'include("{SOURCE}/cmake/build/package_parts.cmake")\n'
            "foreach(component IN ITEMS runtime development tests)\n"
            "  fatlink_package_parts(${component} found)\n"
            '  string(REPLACE ";" "\\n" found "${found}")\n'
            '  file(WRITE "${CMAKE_BINARY_DIR}/${component}" "${found}\\n")\n'
            "endforeach()\n"
            "if(WRONG)\n  fatlink_package_parts(${WRONG})\nendif()\n")
        done = cls.configure()
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    @classmethod
    def configure(cls, *options):
        return subprocess.run([CMAKE, "-S", cls.build, "-B", cls.build / "b", "-G", "Ninja",
                               f"-DCUDAToolkit_ROOT={NVCC.parent.parent}", *options],
                              text=True, capture_output=True)

    def of(self, component):
        """The elements of the parts by name and relationship."""
        parts = (self.build / "b" / component).read_text().splitlines()
        written = self.write(*(f"--part={part}" for part in parts))
        elements = {element["SPDXID"]: element for element in written["packages"]}
        links = [r for r in written["relationships"] if r["relationshipType"] not in ("CONTAINS", "DESCRIBES")]
        ends = [((r["spdxElementId"], r["relatedSpdxElement"]), r["relationshipType"]) for r in links]
        return {(elements[end]["name"], kind): elements[end] for pair, kind in ends for end in pair if end != "SPDXRef-Package"}

    def purl(self, element):
        return element["externalRefs"][0]["referenceLocator"]

    def test_versions_are_those_that_were_found(self):
        runtime = self.of("runtime")
        for name, module in (("zstd", "libzstd"), ("lz4", "liblz4"), ("nettle", "nettle")):
            version = subprocess.run(["pkg-config", "--modversion", module], text=True,
                                     capture_output=True).stdout.strip()
            self.assertEqual(runtime[name, "DYNAMIC_LINK"]["versionInfo"], version)
        for name in ("fmt", "nlohmann-json", "CLI11"):
            self.assertRegex(runtime[name, "STATIC_LINK"]["versionInfo"], r"^\d+\.\d+")
        self.assertRegex(runtime["CUDA Toolkit", "BUILD_TOOL_OF"]["versionInfo"], r"^13\.")

    def test_every_part_has_a_licence_a_supplier_and_a_package_url(self):
        for component in ("runtime", "development", "tests"):
            for part, element in self.of(component).items():
                with self.subTest(component=component, part=part):
                    self.assertNotEqual(element["licenseDeclared"], "NOASSERTION")
                    self.assertRegex(element["supplier"], "^Organization: ")
                    self.assertRegex(self.purl(element), r"^pkg:(deb/[a-z]+|generic)/[a-z0-9.%B-]+(@[^@?+]+)?(\?arch=\w+)?$")

    def test_a_component_has_its_own(self):
        self.assertIn(("libgcc", "STATIC_LINK"), self.of("runtime"))
        self.assertIn(("zstd", "DEPENDS_ON"), self.of("development"))
        self.assertNotIn(("CUDA Toolkit", "BUILD_TOOL_OF"), self.of("development"))
        self.assertIn(("googletest", "STATIC_LINK"), self.of("tests"))

    def test_libraries_of_the_host_are_of_their_projects_and_bundled_ones_of_the_distribution(self):
        self.assertEqual(self.of("runtime")["lz4", "DYNAMIC_LINK"]["supplier"], "Organization: The lz4 project")
        if shutil.which("dpkg-query") is None:
            self.skipTest("bundled libraries are those of Debian's packages")
        self.addCleanup(self.configure, "-DFATLINK_BUNDLE_LIBRARIES=OFF")
        self.assertEqual(self.configure("-DFATLINK_BUNDLE_LIBRARIES=ON").returncode, 0)
        bundled = self.of("runtime")
        for part, package in (("zstd", "libzstd"), ("lz4", "liblz4"), ("nettle", "libnettle")):
            self.assertRegex(self.purl(bundled[part, "DYNAMIC_LINK"]), rf"^pkg:deb/\w+/{package}[\w-]*@.*\?arch=\w+$")
        self.assertRegex(self.purl(bundled["fmt", "STATIC_LINK"]), r"^pkg:deb/\w+/libfmt-dev@")

    def test_misuse(self):
        for wrong, words in (("documents;out", "no such component"),
                             ("runtime;out;more", "unknown argument: more")):
            done = self.configure(f"-DWRONG={wrong}")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, " ".join(done.stderr.split()))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The layers of host/src (cmake/build/layers.cmake): include lines that go against their order do not compile, each file of
host/src and each public header belongs to one layer, and the documents have them as they are."""
import os
import pathlib
import re
import subprocess
import unittest
import xml.etree.ElementTree as xml
from concurrent.futures import ThreadPoolExecutor

from build_side import BUILD, SOURCE, BuildSide, plain

SOURCES, PUBLIC, LAYERS = SOURCE / "host/src", SOURCE / "host/include", BUILD / "layers"
GRAPH = (LAYERS / "graph.mmd").read_text()
COMPILER = re.search(r"(?m)^CMAKE_CXX_COMPILER:\w+=(.+)$", (BUILD / "CMakeCache.txt").read_text())[1]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
STANDARD_ONLY = ("ptx", "interpreter", "expression")  # use no library but the standard library, and util/
PROCESSOR_HEADERS = {"cpuid.h", "immintrin.h"}
GENERATED = {"install_layout.hpp", "version.hpp"}


def stated_uses():
    """Folder -> the folders that it USES, in the order of host/CMakeLists.txt."""
    lines = re.findall(r"(?m)^  (\w+)(?: --> (.*))?$", GRAPH)
    return {folder: used.split(" & ") if used else [] for folder, used in lines}


def below(folder):
    """The folder with all that it may include."""
    return {folder}.union(*(below(used) for used in USES[folder]))


def files_of(folder):
    """The files of a layer as include lines name them: those of host/src/FOLDER, and its public headers."""
    root = LAYERS / "refused" / folder
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


USES = stated_uses()
FILES = {folder: files_of(folder) for folder in USES}
FOLDER_OF = {file: folder for folder, files in FILES.items() for file in files}


def source_of(file):
    return (PUBLIC if file.startswith("fatlink/") else SOURCES) / file


def include_lines(folder):
    """(file, < or ", name) of each include line of a layer."""
    return [(file, *line) for file in FILES[folder] for line in INCLUDE.findall(source_of(file).read_text())]


def compile_includes(folder, names, *options):
    """Compiles a source with these include lines as a source of `folder`."""
    text = "".join(f'#include "{name}"\n' for name in names)
    return subprocess.run([COMPILER, "-std=gnu++20", f"@{LAYERS / folder}.flags", "-fno-diagnostics-show-caret", *options,
                           "-x", "c++", "-"],
                          input=text, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def for_each_layer(function):
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(function, USES))


class WrongIncludes(BuildSide):
    def test_do_not_compile(self):
        for right, wrong in (("cubin/cubin.hpp", "input/input_forms.hpp"), ("fatlink/target.hpp", "fatlink/linker.hpp")):
            done = compile_includes("fatbin", [right], "-fsyntax-only")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = compile_includes("fatbin", [wrong], "-fsyntax-only")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"may not include {FOLDER_OF[wrong]}/: see the layers in host/CMakeLists.txt", done.stderr)

    def test_are_those_of_every_folder_that_is_not_below(self):
        def check(folder):
            wrong = [file for other in USES if other not in below(folder) for file in FILES[other]]
            done = compile_includes(folder, wrong, "-E")
            refused = re.findall(r"#error \"this folder may not include (\w+)/", done.stderr)
            return folder, refused, [FOLDER_OF[file] for file in wrong]
        for folder, refused, wrong in for_each_layer(check):
            self.assertEqual(refused, wrong, folder)

    def test_are_in_no_header_whichever_layer_includes_it(self):
        (self.folder / "mpi.h").touch()  # of fatlink/mpi.hpp
        (self.folder / "cufftXt.h").write_text("#define CUFFT_VERSION 12000\n")  # of fatlink/cufft.hpp

        def check(folder):
            headers = [file for file in FILES[folder] if not file.endswith(".cpp")]
            return folder, compile_includes(folder, headers, "-E", f"-I{self.folder}")
        for folder, done in for_each_layer(check):
            self.assertEqual(done.returncode, 0, f"{folder}: {done.stderr}")


class Layers(BuildSide):
    def test_are_the_folders_of_the_map_in_its_order(self):
        mapped = re.findall(r"(?m)^- `(\w+)/`", (SOURCES / "README.md").read_text())
        self.assertEqual(list(USES), mapped)
        self.assertEqual(set(USES), {path.name for path in SOURCES.iterdir() if path.is_dir()})
        self.assertEqual([], list(SOURCES.glob("*.[ch]pp")), "files beside the folders can include all folders")

    def test_are_the_graph_of_the_architecture(self):
        titles = xml.parse(SOURCE / "docs/layers.svg").iter("{http://www.w3.org/2000/svg}title")
        plotted = {tuple(title.text.split("->")) for title in titles if "->" in title.text}
        self.assertEqual(plotted, {(folder, used) for folder, uses in USES.items() for used in uses},
                         f"run scripts/plot-layers {LAYERS}/graph.mmd docs/layers.svg")
        self.assertIn("](layers.svg)", (SOURCE / "docs/architecture.md").read_text())

    def test_use_what_was_added_before_and_only_what_they_include(self):
        folders = list(USES)
        for folder, uses in USES.items():
            included = {FOLDER_OF.get(name) for _, _, name in include_lines(folder)}
            for used in uses:
                self.assertLess(folders.index(used), folders.index(folder))
                others = set().union(*(below(other) for other in uses if other != used))
                self.assertTrue(included & (below(used) - others), f"{folder} uses {used} and includes nothing of it")

    def test_have_each_public_header_once(self):
        headers = sorted(str(path.relative_to(PUBLIC)) for path in PUBLIC.rglob("*.h*"))
        self.assertEqual(sorted(file for files in FILES.values() for file in files if file.startswith("fatlink/")), headers)

    def test_include_by_paths_that_the_compiler_checks(self):
        for folder in USES:
            for file, bracket, name in include_lines(folder):
                if bracket == '"':
                    self.assertTrue(name in FOLDER_OF or name in GENERATED, f'{file} includes "{name}"')
                else:
                    self.assertFalse(name.startswith("fatlink/"), f"{file} includes <{name}>")

    def test_of_the_language_of_ptx_and_of_formulas_use_the_standard_library_only(self):
        for folder in STANDARD_ONLY:
            self.assertLessEqual(below(folder), {"base", "util", "ptx", folder})
            for file, bracket, name in include_lines(folder):
                if bracket == "<" and re.search("[/.]", name):
                    self.assertIn(name, PROCESSOR_HEADERS, file)


class AddLayer(BuildSide):
    """fatlink_add_layer in another project."""

    def configure_layers(self, lines):
        for folder in "abc":
            self.write(f"host/src/{folder}/{folder}.cpp", "\n")
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(layers LANGUAGES CXX)\n"
                   "function(fatlink_warnings)\nendfunction()\nfunction(fatlink_harden)\nendfunction()\n"
                   f'include("{SOURCE}/cmake/build/groups.cmake")\ninclude("{SOURCE}/cmake/build/layers.cmake")\n{lines}')
        return self.cmake("-S", ".", "-B", "b", "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={COMPILER}",
                          "-DCMAKE_CXX_COMPILER_WORKS=ON")

    def expect_fault(self, lines, fault):
        done = self.configure_layers(lines)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"fatlink_add_layer({fault}", plain(done.stderr))

    def test_refuses_circles(self):
        self.expect_fault("fatlink_add_layer(a USES b)\nfatlink_add_layer(b USES a)\n",
                          "a): USES b: no layer that was added before")

    def test_refuses_a_folder_that_another_one_already_uses(self):
        self.expect_fault("fatlink_add_layer(a)\nfatlink_add_layer(b USES a)\nfatlink_add_layer(c USES a b)\n",
                          "c): USES a: another folder that it uses already does")

    def test_refuses_unknown_arguments(self):
        self.expect_fault("fatlink_add_layer(a INCLUDES b)\n", "a): unknown argument: INCLUDES;b")

    def test_accepts_the_fewest_folders(self):
        done = self.configure_layers("fatlink_add_layer(a)\nfatlink_add_layer(b USES a)\nfatlink_add_layer(c USES b)\n")
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()

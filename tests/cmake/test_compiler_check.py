# SPDX-License-Identifier: Apache-2.0
"""fatlink is not configured with a compiler that computes wrongly."""
import re
import unittest

from build_side import BUILD, SOURCE, BuildSide

FLAGS = "-DFATLINK_SHOW_THE_ERROR -Wno-shift-count-overflow"


class CompilerCheck(BuildSide):
    def configured(self, flags, source=SOURCE):
        """A project that includes the file with the check, from a checkout."""
        cache = (BUILD / "CMakeCache.txt").read_text()
        compiler = re.search(r"(?m)^CMAKE_CXX_COMPILER:\w+=(.+)$", cache).group(1)
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(check LANGUAGES CXX)\n"
                  f'set(PROJECT_SOURCE_DIR "{source}")\ninclude("{source}/cmake/build/compiler.cmake")\n')
        return self.cmake("-S", ".", "-B", "b", "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
                          f"-DCMAKE_CXX_FLAGS={flags}")

    def test_stops_the_configuration_and_names_the_compiler_and_a_remedy(self):
        done = self.configured(FLAGS)
        if done.returncode == 0 and not re.search(r"The CXX compiler identification is GNU 12\.2\.", done.stdout):
            self.skipTest("this compiler does not have the error of g++ 12")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        said = " ".join(done.stderr.split())
        self.assertRegex(said, r"fatlink: \S+ \(GNU 12[.0-9]+\) computes integers wrongly where it vectorises")
        self.assertIn("Use another compiler, or -DCMAKE_CXX_FLAGS=-fno-tree-vectorize.", said)
        link = self.folder / "a checkout"
        link.symlink_to(SOURCE)
        again = self.configured(f"{FLAGS} -fno-tree-vectorize", link)
        self.assertEqual(again.returncode, 0, again.stderr)


if __name__ == "__main__":
    unittest.main()

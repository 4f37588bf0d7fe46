# SPDX-License-Identifier: Apache-2.0
"""README's examples, taken from README itself: the C++ compiles without a warning, and the projects are built and run by
README's own commands, which print what README shows."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FATLINK_BUILD"])
SOURCE = pathlib.Path(os.environ["FATLINK_SOURCE"])
TOOLKIT = pathlib.Path(os.environ["FATLINK_NVCC"]).parent.parent
README = (SOURCE / "README.md").read_text()
SET_UP = "./scripts/"  # commands that build and test fatlink itself
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def blocks(text, languages=r"\w+"):
    """Each fenced block: the file that the text before it names last (or ""), its language, its content."""
    pattern = re.compile(rf"^```({languages})\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    end = 0
    for block in pattern.finditer(text):
        names = re.findall(r"`([\w/]+/[\w.]+\.\w+)`", text[end:block.start()])
        yield (names[-1] if names else "", block[1], block[2])
        end = block.end()


def commands(session):
    """Each command of a console block with the lines that it prints."""
    steps = []
    for line in session.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif line != "…":
            steps[-1][1].append(line)
    return steps


def pattern_of(line):
    """The line in any columns; with any number for each number if it states times or the machine's cores."""
    words = [re.escape(word) for word in line.split()]
    if "ms" in words or "Device:" in words:
        words = [re.sub(r"\d+(\\\.\d+)?", r"[\\d.]+", word) for word in words]
    return " +".join(words)


def environment(folder):
    nvjitlink = TOOLKIT / "lib" / "libnvJitLink.so.13"
    build_tree = BUILD / "lib" / "libnvJitLink.so.13"
    found = next((path for path in (build_tree, nvjitlink) if path.exists()), None)
    return {**os.environ, "PATH": f"{BUILD}/bin:{TOOLKIT}/bin:{os.environ['PATH']}",
            "CMAKE_PREFIX_PATH": str(BUILD), "CUDAToolkit_ROOT": str(TOOLKIT), "CMAKE_GENERATOR": "Ninja",
            "FATLINK_CACHE_DIR": f"{folder}/cache", "XDG_DATA_HOME": f"{folder}/data",
            **({"FATLINK_NVJITLINK": str(found)} if found else {})}


class Readme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fatlink-readme-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write_files(self):
        for name, language, content in blocks(README):
            if language != "console":
                self.assertNotEqual(name, "", f"README names no file for:\n{content}")
                (self.folder / name).parent.mkdir(exist_ok=True)
                (self.folder / name).write_text(content)

    def test_compiles_without_a_warning(self):
        using = (SOURCE / "docs/using.md").read_text()
        programs = [content for _, _, content in blocks(using, "cpp") if "int main" in content]
        self.assertNotEqual(programs, [])
        sources = [content for _, _, content in blocks(README, "cpp")] + programs
        self.assertNotEqual(sources, [])
        for source in sources:
            result = subprocess.run(
                ["g++", "-std=c++20", *WARNINGS, "-fsyntax-only", f"-I{SOURCE}/host/include", "-xc++", "-"],
                input=source, capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_commands_print_what_it_shows(self):
        self.write_files()
        sessions = [session for _, _, session in blocks(README, "console") if SET_UP not in session]
        expected = [step for session in sessions for step in commands(session)]
        script = ["set -eu"]
        for number, (command, _) in enumerate(expected):
            script += [f"echo '<{number}>'", command]
        self.assertGreater(len(expected), 4)
        result = subprocess.run(["bash", "-c", "\n".join(script)], cwd=self.folder, env=environment(self.folder),
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        for number, (command, lines) in enumerate(expected):
            printed = result.stdout.split(f"<{number}>\n")[1].split("<")[0]
            for line in lines:
                self.assertRegex(printed, f"(?m)^ *{pattern_of(line)}$", command)

    def test_is_short(self):
        self.assertLessEqual(len(README.splitlines()), 150)


if __name__ == "__main__":
    unittest.main()

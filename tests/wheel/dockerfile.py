# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of a Dockerfile without a container tool: each stage is a copy of a Debian root. Only the instructions
and forms that fatlink's Dockerfile has are known; another is an error."""
import glob
import json
import re
import shutil
import subprocess


def read_instructions(text):
    """(instruction, arguments) of each line; comments and continued lines as Docker reads them."""
    lines = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", text)).splitlines()
    return [tuple(line.split(None, 1)) for line in lines if line.strip()]


class Image:
    def __init__(self, root, entry_point):
        self.root = root
        self.entry_point = entry_point

    def run(self, *words, **options):
        return self.root.run(*self.entry_point, *words, **options)


def build(text, context, base, folder, **env):
    """The image of the last stage. `base` stands for debian:bookworm-slim; `env` is set for each RUN, and replaces values of ARG."""
    stages, entry_point, stage, arguments = {"debian:bookworm-slim": base}, [], None, {}
    for instruction, words in read_instructions(text):
        if instruction == "FROM":
            source, _, name = words.partition(" AS ")
            stage = stages[source].copy(folder / f"stage{len(stages)}")
            stages[name or "image"] = stage
            arguments = {}
        elif instruction == "ARG":
            name, _, value = words.partition("=")
            arguments[name] = value
        elif instruction == "RUN":
            stage.done("sh", "-c", words, **{**arguments, **env})
        elif instruction == "COPY" and words.startswith("--from="):
            source, path, target = re.fullmatch(r"--from=(\S+) (\S+) (\S+)", words).groups()
            subprocess.run(["cp", "-a", stages[source].folder / path[1:], stage.folder / target[1:]], check=True)
        elif instruction == "COPY":
            pattern, target = words.split()
            (stage.folder / target[1:]).mkdir(parents=True, exist_ok=True)
            for file in glob.glob(str(context / pattern)):
                shutil.copy(file, stage.folder / target[1:])
        elif instruction == "ENV":
            name, _, value = words.partition("=")
            stage.env[name] = value
        elif instruction == "ENTRYPOINT":
            entry_point = json.loads(words)
        else:
            raise AssertionError(f"unknown instruction: {instruction} {words}")
    return Image(stage, entry_point)

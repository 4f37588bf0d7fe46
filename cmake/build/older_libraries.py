#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes shared libraries against which the linker makes programs that run with an older C and C++ library:

    older_libraries.py --compiler g++ [--option=OPTION...] --readelf readelf FOLDER

They have the names and symbols of the compiler's own libraries, without code, but only the versions that manylinux_2_28 allows;
the newest of those is the default version. A symbol without such a version is missing, so the program must define it itself
(host/wheel/older_symbols.cpp), or takes it from the static libstdc++. Each symbol is in the library that has it in glibc 2.28,
where threads, dlopen and timers are not yet in libc.so.6. The folder is named with -L and precedes the compiler's own.
"""
import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

# The newest versions of manylinux_2_28 (glibc 2.28, GCC 8), which auditwheel checks.
NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
LIBRARIES = ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6")
# What glibc moved to libc.so.6 after 2.28, by the names of the functions. libutil, libanl and libresolv are not written.
MOVED_AFTER = (2, 31)
MOVED_FROM = {
    "libpthread.so.0": r"_*pthread_\w+|sem_\w+|call_once|(cnd|mtx|thrd|tss)_\w+",
    "libdl.so.2": r"dl\w+",
    "librt.so.1": r"(aio|lio|_*mq|shm|timer)_\w+",
    "libc.so.6": r"__libc_start_main|__isnanf128",
}
SECTIONS = {"FUNC": ("text", "function", '"ax",%progbits'), "IFUNC": ("text", "function", '"ax",%progbits'),
            "OBJECT": ("bss", "object", '"aw",%nobits'), "TLS": ("tbss", "tls_object", '"awT",%nobits')}
SYMBOL = re.compile(r" *\d+: ([0-9a-f]+) +(\w+) (\w+) +(GLOBAL|WEAK|UNIQUE) +DEFAULT .*?(\w+) (\S+?)(@@?)(([A-Z]+)_([0-9.]+))$")


@dataclasses.dataclass
class Symbol:
    name: str
    address: int
    size: int
    kind: str
    is_weak: bool
    is_default: bool
    version: str
    family: str
    number: tuple

    def is_allowed(self):
        return self.number <= NEWEST[self.family]


def output_of(*words):
    done = subprocess.run([str(word) for word in words], text=True, capture_output=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    if done.returncode != 0:
        sys.exit(f"older_libraries: error: {' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def read_symbols(readelf, file):
    """The symbols that a library defines, in all versions of NEWEST's families."""
    for line in output_of(readelf, "--dyn-syms", "-W", file).splitlines():
        match = SYMBOL.match(line)
        if match and match[5] not in ("UND", "ABS") and match[9] in NEWEST and match[3] in SECTIONS:
            yield Symbol(name=match[6], address=int(match[1], 16), size=int(match[2], 0), kind=match[3],
                         is_weak=match[4] == "WEAK", is_default=match[7] == "@@", version=match[8], family=match[9],
                         number=tuple(int(part) for part in match[10].split(".")))


def place_of(library, versions):
    """The library of glibc 2.28 that has the symbol with these versions; None if it is in none that is written."""
    newest = next(symbol for symbol in versions if symbol.is_default)
    if library != "libc.so.6" or newest.is_allowed() or newest.number <= MOVED_AFTER:
        return library
    return next((place for place, names in MOVED_FROM.items() if re.fullmatch(names, newest.name)), None)


def older_symbols(library, symbols):
    """(library, symbol) of what an older library has: the newest allowed version of each symbol that programs may still use."""
    versions_of = {}
    for symbol in symbols:
        versions_of.setdefault(symbol.name, []).append(symbol)
    for versions in versions_of.values():
        allowed = [symbol for symbol in versions if symbol.is_allowed()]
        if allowed and any(symbol.is_default for symbol in versions):
            place = place_of(library, versions)
            if place is not None:
                yield place, max(allowed, key=lambda symbol: (symbol.is_default, symbol.number))


def assembly_of(symbols):
    """Definitions with the type, the size and, for data, the distances of the originals: several names may be of one object."""
    lines = []
    for section, kind, flags in sorted(set(SECTIONS.values())):
        members = [symbol for symbol in symbols if SECTIONS[symbol.kind][0] == section]
        if not members:
            continue
        start = min(symbol.address for symbol in members) & -4096
        span = max(symbol.address + symbol.size for symbol in members) - start
        lines += [f".section .{section},{flags}", ".balign 4096", f"{section}_start: .skip {1 if section == 'text' else span}"]
        for symbol in members:
            offset = 0 if section == "text" else symbol.address - start
            lines += [f".{'weak' if symbol.is_weak else 'globl'} {symbol.name}", f".type {symbol.name}, %{kind}",
                      f".size {symbol.name}, {symbol.size}", f"{symbol.name} = {section}_start + {offset}"]
    return "\n".join(lines + ['.section .note.GNU-stack,"",%progbits', ""])


def version_script_of(symbols):
    names = {}
    for symbol in symbols:
        names.setdefault(symbol.version, []).append(symbol.name)
    nodes = [f"{version} {{ global: {'; '.join(sorted(members))}; }};" for version, members in sorted(names.items())]
    nodes[0] = nodes[0].replace("; };", "; local: *; };")
    return "\n".join(nodes) + "\n"


def write_library(folder, compiler, name, symbols):
    with tempfile.TemporaryDirectory(prefix="older-libraries-") as inputs:
        assembly, versions = pathlib.Path(inputs) / "symbols.s", pathlib.Path(inputs) / "symbols.map"
        assembly.write_text(assembly_of(symbols))
        versions.write_text(version_script_of(symbols))
        output_of(*compiler, "-shared", "-nostdlib", f"-Wl,-soname,{name},--version-script,{versions}", assembly, "-o", folder / name)


def write_linker_scripts(folder, loader, path_of):
    """The files that -lc and others find; the rest of the compiler's libraries is static."""
    for name, inputs in {
            "c": f"AS_NEEDED(libpthread.so.0 libdl.so.2 librt.so.1) libc.so.6 {path_of('libc_nonshared.a')} AS_NEEDED({loader})",
            "m": "libm.so.6", "gcc_s": "libgcc_s.so.1 -lgcc", "stdc++": f"libstdc++.so.6 {path_of('libstdc++.a')}"}.items():
        (folder / f"lib{name}.so").write_text(f"GROUP({inputs})\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", required=True, help="the compiler that also links")
    parser.add_argument("--option", action="append", default=[], help="an option for each of its runs, such as --sysroot=FOLDER")
    parser.add_argument("--readelf", required=True)
    parser.add_argument("folder", type=pathlib.Path)
    words = parser.parse_args()
    compiler = (words.compiler, *words.option)

    def path_of(name):
        path = pathlib.Path(output_of(*compiler, f"-print-file-name={name}").strip())
        if not path.is_absolute():
            sys.exit(f"older_libraries: error: {words.compiler} does not find {name}; install the C and C++ libraries for development")
        return path.resolve()

    words.folder.mkdir(parents=True, exist_ok=True)
    files = {name: path_of(name) for name in LIBRARIES}
    loader, = path_of("libc.so.6").parent.glob("ld-linux*.so.*")
    contents = {}
    for name, file in {**files, loader.name: loader}.items():
        for place, symbol in older_symbols(name, read_symbols(words.readelf, file)):
            contents.setdefault(place, []).append(symbol)
    for name, symbols in contents.items():
        write_library(words.folder, compiler, name, symbols)
    write_linker_scripts(words.folder, loader.name, path_of)


if __name__ == "__main__":
    main()

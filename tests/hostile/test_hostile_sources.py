# SPDX-License-Identifier: Apache-2.0
"""Sources that attack the compiler or want to read files: each ends in an error that names it, within its limits, and the
next source compiles. By default one or two sources of each kind, with a short time limit; all of them in the long tests, where
FATLINK_TEST_SCALE=N repeats each bomb N times."""
import json
import os
import unittest

from compile_case import CONTRACT, HALF, CompileCase
from fatlink_cli import SANITIZED, scaled
from run_tests import long_test

REPETITIONS = scaled(1)
SECONDS = "3"
SHORT = "0.6"  # seconds, for sources that never end
MOST_OUTPUT = 4 << 20  # bytes that an error may print
SECRET = "4a7c15c0ffee"
LIMITED = {"compile-timeout", "compile-memory"}
# The compiler gives up by itself, or crashes.
REFUSED = LIMITED | {"compile-failed", "SIGSEGV", "SIGABRT", "above-limit"}
if SANITIZED:
    # They handle the overflow of a stack: the address sanitizer ends the process with status 1; the thread sanitizer by a
    # trap, because it cannot read, in the sandbox, the bounds of the stack.
    REFUSED = REFUSED | {"exit status 1", "SIGILL"}


def doubling(line, depth, last):
    """#define A0 `line`; each further macro is the one before, twice."""
    return (f"#define A0 {line}\n" + "".join(f"#define A{i} A{i - 1} A{i - 1}\n" for i in range(1, depth))
            + last.replace("@", f"A{depth - 1}") + "\n")


def template_tree(depth):
    return ("template <int A, long long B> struct tree { enum { value = tree<A - 1, 2 * B>::value + tree<A - 1, 2 * B + 1>::value }; };\n"
            f"template <long long B> struct tree<0, B> {{ enum {{ value = 1 }}; }};\n__device__ int n = tree<{depth}, 1>::value;\n")


def constant_loop():
    return ("__device__ constexpr int loop() { int n = 0; for (long long i = 0; i < (1LL << 60); ++i) n += i & 1; return n; }\n"
            "__device__ int numbers[loop()];\n")


BOMBS = {
    "macros": (doubling("1,1,", 40, "__device__ int numbers[] = {@};"), LIMITED),
    "templates": (template_tree(60), REFUSED),
    "template recursion": ("template <int N> struct deep { enum { value = deep<N + 1>::value }; };\n"
                           "__device__ int n = deep<0>::value;\n", REFUSED),
    "pack expansion": ("template <class... T> struct list { typedef typename list<list<T, T...>..., list<T...>>::type type; };\n"
                       "typedef list<int, float>::type bomb;\n", REFUSED),
    "constant evaluation": (constant_loop(), REFUSED),
    "parentheses": (f"__device__ int n = {'(' * 2_000_000}1{')' * 2_000_000};\n", REFUSED),
    "braces": (f"__device__ void f() {'{' * 1_000_000}{'}' * 1_000_000}\n", REFUSED),
    "unary operators": (f"__device__ int n = {'- ' * 1_000_000}1;\n", REFUSED),
    "pointers": (f"__device__ int {'*' * 1_000_000} n;\n", REFUSED),
    "string literals": (doubling('"0123456789abcdef"', 40, "__device__ char const* text = @;"), LIMITED),
    "huge array": ("__device__ char numbers[1ULL << 62];\n", REFUSED | {"missing-hook"}),
    "huge initializer": ("struct big { char text[1 << 30]; };\n__device__ big first = {1};\n__device__ big numbers[64] = {{1}};\n",
                         REFUSED | {"missing-hook"}),
    "long name": (f"__device__ int {'a' * 8_000_000};\n", REFUSED | {"missing-hook"}),
    "long error": (f"#error {'e' * 8_000_000}\n", REFUSED),
    "many errors": ("int 3;\n" * 1_000_000, REFUSED),
    "loop of the optimizer": (doubling("x = x * x + 1; if (x > 3) x -= y;", 24,
                                       'extern "C" __device__ float user_transform(float x) { float y = x; @ return x; }'), LIMITED),
    "assembler": (doubling('"add.f32 %0, %0, %0;"', 24, 'extern "C" __device__ float user_transform(float x) '
                                                        '{ asm(@ : "+f"(x)); return x; }'), REFUSED),
}


# By default: one that ends at each limit, by the compiler itself, and in a crash. test_bad_sources and HostileSources of
# compile_tests have more.
QUICK_BOMBS = ("macros", "constant evaluation", "parentheses", "huge array", "many errors")
FORMS = ('#include "{}"', "#include <{}>", '#define NAME "{}"\n#include NAME', "#define NAME <{}>\n#include NAME",
         '#/**/include/**/"{}"', '#inc\\\nlude "{}"', '#include_next "{}"', '#import "{}"')


class HostileSources(CompileCase):
    def compile_hostile(self, text, *words, seconds=SECONDS):
        """The error of a compile that is refused; nothing is written."""
        self.file("hostile.cu", text)
        done = self.fatlink("compile", "hostile.cu", "-o", "out.fatbin", *CONTRACT, "--no-cache", "--timeout", seconds, "--json",
                            *words, status=4)
        error = json.loads(done.stdout)["error"]
        self.assertFalse((self.folder / "out.fatbin").exists())
        in_source = error["message"].startswith("hostile.cu")
        in_header = error["message"].endswith("(compiling hostile.cu)")
        self.assertTrue(in_source or in_header, error["message"][:200])
        self.assertNotEqual(error["hint"], "")
        self.assertLess(len(done.stderr) + len(done.stdout), MOST_OUTPUT)
        self.assertNotIn(SECRET, done.stdout + done.stderr)
        return error

    def compile_next(self):
        self.compile_source("half.cu", HALF)
        (self.folder / "out.fatbin").unlink()

    def assert_ends(self, name, memory, seconds):
        text, codes = BOMBS[name]
        error = self.compile_hostile(text, "--memory-limit", memory, seconds=seconds)
        self.assertIn(error["code"], codes, error["message"][:200])
        self.compile_next()

    def test_bombs_end_within_the_limits(self):
        for name in QUICK_BOMBS:
            with self.subTest(bomb=name):
                self.assert_ends(name, "256", SHORT)

    @long_test  # test_bombs_end_within_the_limits has some of them
    def test_all_bombs_end_within_the_limits(self):
        for name in BOMBS:
            for memory in ("256", "1024")[:2 if REPETITIONS > 1 else 1]:
                for i in range(REPETITIONS):
                    with self.subTest(bomb=name, memory=memory, run=i):
                        self.assert_ends(name, memory, SECONDS)

    def assert_memory_is_reported(self, *names):
        for name in names:
            with self.subTest(bomb=name):
                error = self.compile_hostile(BOMBS[name][0], "--memory-limit", "128", seconds="60")
                self.assertEqual(error["code"], "compile-memory")
                self.assertIn("its memory limit of 128 MiB", error["message"])

    @unittest.skipIf(SANITIZED, "sanitizers map more than the limit")
    def test_memory_is_reported_as_such(self):
        self.assert_memory_is_reported("templates")

    @unittest.skipIf(SANITIZED, "sanitizers map more than the limit")
    @long_test  # test_memory_is_reported_as_such has one of them
    def test_memory_is_reported_as_such_of_all_kinds(self):
        self.assert_memory_is_reported("macros", "templates", "string literals", "loop of the optimizer")

    def assert_crash_says_what_is_likely(self, *names):
        for name in names:
            with self.subTest(bomb=name):
                error = self.compile_hostile(BOMBS[name][0], "--memory-limit", "4096", seconds="60")
                self.assertEqual(error["code"], "SIGSEGV")
                self.assertIn("templates overflow the compiler's stack", error["hint"])

    @unittest.skipIf(SANITIZED, "sanitizers handle the signal")
    def test_a_crash_says_what_is_likely(self):
        self.assert_crash_says_what_is_likely("parentheses")

    @unittest.skipIf(SANITIZED, "sanitizers handle the signal")
    @long_test  # the test above has parentheses
    def test_a_crash_by_unary_operators_says_what_is_likely(self):
        self.assert_crash_says_what_is_likely("unary operators")

    def make_secrets(self):
        (self.folder / "include").mkdir()
        secret = self.file("secret.h", f"#define SECRET {SECRET}\nint {SECRET};\n")
        (self.folder / "include/link.h").symlink_to(secret)
        os.mkfifo(self.folder / "include/pipe.h")
        return secret

    def assert_reads_no_other_file(self, is_taken):
        """By the directives of which `is_taken` is true: a function of the numbers of the name and of the form."""
        secret = self.make_secrets()
        names = [str(secret), "../secret.h", f"/proc/self/cwd/secret.h", "link.h", "pipe.h", "x/../../secret.h", ".", "",
                 "/etc/passwd", "/dev/zero", "/dev/stdin", "//" + str(secret)]
        for number, name in enumerate(names):
            for form in [form for i, form in enumerate(FORMS) if is_taken(number, i)]:
                with self.subTest(name=name, form=form):
                    error = self.compile_hostile(f"{form.format(name)}\n" + HALF, "-I", "include")
                    self.assertIn(error["code"], {"header-not-found", "compile-failed"}, error["message"])
        self.compile_next()

    def test_no_directive_reads_another_file(self):
        """Each form once or twice, each name at least once."""
        self.assert_reads_no_other_file(lambda name, form: name % len(FORMS) == form)

    @long_test  # test_no_directive_reads_another_file has each name and each form
    def test_no_directive_reads_another_file_by_any_name(self):
        self.assert_reads_no_other_file(lambda name, form: True)

    def test_no_other_statement_reads_a_file(self):
        secret = self.make_secrets()
        for text in (f'#line 1 "{secret}"\nint 3;\n', f'#if __has_include("{secret}")\n#error {SECRET} is there\n#endif\nint 3;\n',
                     f'asm(".include \\"{secret}\\";");\nint 3;\n', f'#pragma include "{secret}"\nint 3;\n',
                     HALF.replace("return", f'asm(".include \\"{secret}\\"\\n"); return'),
                     HALF.replace("return", f'asm(".file 7 \\"{secret}\\"\\n.loc 7 1 1\\ngarbage;"); return')):
            with self.subTest(text=text):
                self.assertEqual(self.compile_hostile(text, "-I", "include")["code"], "compile-failed")
        self.compile_next()

    def assert_devices_are_not_read(self, *names):
        for name in names:
            with self.subTest(name=name):
                self.assertEqual(self.compile_hostile(f"#include <{name}>\n" + HALF, "-I", "/dev")["code"], "header-not-found")
        self.compile_next()

    def test_a_device_in_a_folder_is_not_read(self):
        self.assert_devices_are_not_read("zero", "null", "stdin")

    @long_test  # the test above has other devices
    def test_more_devices_in_a_folder_are_not_read(self):
        self.assert_devices_are_not_read("urandom", "tty", "full")

    def test_headers_that_include_themselves_or_never_end(self):
        include = self.folder / "include"
        include.mkdir()
        self.file("include/self.h", '#include "self.h"\n')
        self.file("include/one.h", '#include "two.h"\n#include "two.h"\n')
        self.file("include/two.h", '#include "one.h"\n#include "one.h"\n')
        for i in range(30):
            self.file(f"include/d{i}.h", f'#include "d{i + 1}.h"\n' * 2)
        self.file("include/d30.h", "")
        for name in ("self.h", "one.h", "d0.h"):
            with self.subTest(name=name):
                error = self.compile_hostile(f"#include <{name}>\n" + HALF, "-I", "include", seconds=SHORT)
                self.assertIn(error["code"], REFUSED)
        self.compile_next()

    @long_test  # cli.test_compile_headers has too many names and a header that is too large
    def test_more_headers_than_the_limit(self):
        include = self.folder / "include"
        include.mkdir()
        for i in range(4100):
            (include / f"h{i}.h").touch()
        self.file("hostile.cu", "".join(f"#include <h{i}.h>\n" for i in range(4100)) + HALF)
        done = self.fatlink("compile", "hostile.cu", "-o", "out.fatbin", "-I", "include", "--no-cache", status=3)
        self.assertIn("more than 4096", done.stderr)
        (include / "big.h").write_bytes(b" " * ((1 << 24) + 1))
        self.file("hostile.cu", "#include <big.h>\n" + HALF)
        done = self.fatlink("compile", "hostile.cu", "-o", "out.fatbin", "-I", "include", "--no-cache", status=4)
        self.assertIn("the header big.h is larger than 16 MiB", done.stderr)

    def test_several_at_once_in_one_process(self):
        """Beside a source that compiles: the program names the first that does not."""
        self.file("hostile.cu", BOMBS["string literals"][0])
        self.file("half.cu", HALF)
        done = self.fatlink("check", "half.cu", "hostile.cu", "--contract", "apply_transform", "--compile-timeout", "2", status=4)
        self.assertIn("fatlink: error: hostile.cu: the compile", done.stderr)
        self.compile_next()


if __name__ == "__main__":
    unittest.main()

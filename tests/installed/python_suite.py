# SPDX-License-Identifier: Apache-2.0
"""python_suite.py FOLDER FILE: runs the folder's test_*.py, and adds a line for each test to the
file, as `run` counts them: passed, failed NAME or skipped REASON."""
import sys
import unittest

ORDER = ("passed", "skipped", "failed")  # of a test with several subtests, the last of these counts


class Outcomes(unittest.TextTestResult):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.lines = {}

    def note(self, test, outcome, detail=""):
        name = getattr(test, "test_case", test).id()
        before = self.lines.get(name, ("passed",))
        self.lines[name] = max(before, (outcome, detail), key=lambda line: ORDER.index(line[0]))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "passed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped", reason)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.note(test, "failed", test.id())

    def addError(self, test, error):
        super().addError(test, error)
        self.note(test, "failed", test.id())

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.note(test, "failed", test.id())


def main(folder, file):
    tests = unittest.defaultTestLoader.discover(folder)
    result = unittest.TextTestRunner(verbosity=2, resultclass=Outcomes).run(tests)
    with open(file, "a") as outcomes:
        outcomes.writelines(" ".join(line).strip() + "\n" for line in result.lines.values())
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

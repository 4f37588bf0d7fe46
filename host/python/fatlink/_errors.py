# SPDX-License-Identifier: Apache-2.0
"""The exceptions that fatlink raises: one class for each kind of error of the C interface."""
import errno


class Finding:
    """A problem of the inputs, found by the check before a link."""

    __slots__ = ("id", "is_error", "files", "symbol", "message", "hint")

    def __init__(self, id: str, is_error: bool, files: tuple, symbol: str, message: str, hint: str):
        self.id = id  #: "missing-hook"; docs/findings.md lists all
        self.is_error = is_error  #: whether it stops the link
        self.files = files  #: every input involved
        self.symbol = symbol  #: the hook, kernel or definition concerned; may be empty
        self.message = message  #: one line: file and cause
        self.hint = hint  #: the remedy

    def __reduce__(self):
        return Finding, (self.id, self.is_error, self.files, self.symbol, self.message, self.hint)

    def __str__(self) -> str:
        return f"{'error' if self.is_error else 'warning'}: {self.message} [{self.id}]" + (
            f"\n  hint: {self.hint}" if self.hint else "")

    def __repr__(self) -> str:
        return f"<fatlink.Finding {self.id}: {self.message}>"


_ERROR_NUMBERS = {name: number for number, name in errno.errorcode.items()}


class Error(Exception):
    """The base class of fatlink's errors. `str(error)` is the message, with the hint on a second line."""

    #: "usage", "file", "refused", "link", "compile", "device", "unavailable", "memory", "defect", or "other" if the program
    #: fatlink failed
    kind = "other"

    def __init__(self, message: str, *, code: str = "invalid-argument", hint: str = "", stage: str = "usage",
                 input: str = "", log: str = "", findings: tuple = ()):
        super().__init__(message)
        self.message = message  #: one line: the file or value, then the cause
        self.code = code  #: for programs: "missing-hook", "NVJITLINK_ERROR_PTX_COMPILE"
        self.hint = hint  #: the remedy; may be empty
        self.stage = stage  #: where it occurred: "usage", "input", "preflight", "linker", "device"
        self.input = input  #: the file or value that caused the error; may be empty
        self.log = log  #: the complete log of nvJitLink or a compiler; may be empty
        self.findings = findings  #: of a RefusedError: the findings of the check, errors first

    def __str__(self) -> str:
        text = self.message if self.message.endswith(f"[{self.code}]") else f"{self.message} [{self.code}]"
        return text + (f"\n  hint: {self.hint}" if self.hint else "")

    def __reduce__(self):
        return _restore, (type(self), self.message, self.__dict__)


class CompilerWarning(UserWarning):
    """A compiler's warning about a source that it accepts."""


def warn(message: str, category=UserWarning) -> None:
    """Issues a warning that names the caller's line outside this package."""
    import sys
    import warnings
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class UsageError(Error, ValueError):
    """An argument is wrong. Nothing was linked, and no work was queued on a device."""

    kind = "usage"


class UsageTypeError(UsageError, TypeError):
    """An argument has the wrong type, for example another element type, or is not an array."""


class FileError(Error, OSError):
    """A file cannot be read, has the wrong content, or cannot be written."""

    kind = "file"

    @property
    def errno(self) -> "int | None":
        """The errno number if the code is an errno name, otherwise None."""
        return _ERROR_NUMBERS.get(self.code)

    @property
    def strerror(self) -> str:
        """The message."""
        return self.message

    @property
    def filename(self) -> "str | None":
        """The file that caused the error."""
        return self.input or None


class RefusedError(Error):
    """The check before a link refused the inputs; see `findings`."""

    kind = "refused"


class LinkError(Error):
    """nvJitLink refused or failed a link; see `log`."""

    kind = "link"


class CompileError(Error):
    """A compiler refused a source; see `log`."""

    kind = "compile"


class DeviceError(Error, RuntimeError):
    """A device failed a call."""

    kind = "device"


class UnavailableError(Error, RuntimeError):
    """A device, driver, nvJitLink, compiler or Python package is missing."""

    kind = "unavailable"


class OutOfMemoryError(Error, MemoryError):
    """The host or a device lacks memory."""

    kind = "memory"


class DefectError(Error):
    """An error in fatlink itself."""

    kind = "defect"


# By fatlink_error_kind.
CLASSES = {1: UsageError, 2: FileError, 3: RefusedError, 4: LinkError, 5: CompileError, 6: DeviceError, 7: UnavailableError,
           8: OutOfMemoryError, 9: DefectError}


def _restore(cls, message, attributes):
    """Restores an error that was pickled."""
    error = cls(message)
    error.__dict__.update(attributes)
    return error

# SPDX-License-Identifier: Apache-2.0
"""Inputs of links, in every form."""
import ctypes
import os

from ._arguments import data_of, encode, path_of, shown
from ._cuda_core import code_of, is_object_code
from ._errors import FileError, UsageTypeError, warn
from ._ffi import Handle, c, output as output_handle, raise_error, take_text, text


class Input(Handle):
    """A fatbin, PTX, LTO-IR, cubin, object or archive in memory, read once and checked."""

    __slots__ = ("warnings",)
    _free = "input_free"

    def __init__(self, handle, warnings: str = ""):
        super().__init__(handle)
        self.warnings = warnings  #: of the compiler or of pack() that made it; may be empty

    @classmethod
    def find(cls, name_or_file) -> "Input":
        """Reads an installed fatbin by name ("gelu"), or a file of any form."""
        handle = output_handle()
        raise_error(c.input_find(encode(name_or_file, "the name of an input"), ctypes.byref(handle)))
        return cls(handle.value)

    @classmethod
    def read(cls, path) -> "Input":
        """Reads a file. If its sidecar states a digest, the file must have it."""
        handle = output_handle()
        raise_error(c.input_read(encode(path, "the path of an input"), ctypes.byref(handle)))
        return cls(handle.value)

    @classmethod
    def from_bytes(cls, data, name: str = "input") -> "Input":
        """Makes an input of bytes in any form, which are copied; `name` is for messages."""
        handle = output_handle()
        data = data_of(data, "data")
        raise_error(c.input_from_bytes(data, len(data), encode(name, "the name of an input"), ctypes.byref(handle)))
        return cls(handle.value)

    @classmethod
    def from_object_code(cls, code) -> "Input":
        """Makes an input of an ObjectCode of cuda.core, for example the LTO-IR that `Program.compile("ltoir")` returns. Links,
        checks and plans take an ObjectCode as it is."""
        data, name = code_of(code)
        return cls.read(data) if isinstance(data, str) else cls.from_bytes(data, name)

    @property
    def name(self) -> str:
        """The name for messages: the file, if there is one."""
        return text(c.input_name(self))

    @property
    def form(self) -> str:
        """ "fatbin", "ptx", "ltoir", "cubin", "object" or "archive"."""
        return text(c.input_form(self))

    @property
    def digest(self) -> str:
        """The SHA-256 of the bytes, as 64 hexadecimal digits."""
        return text(c.input_digest(self))

    @property
    def is_verified(self) -> bool:
        """Whether the bytes are known to be unchanged since the build."""
        return bool(c.input_is_verified(self))

    def element(self, name: str) -> str:
        """The type of elements that the macros of contracts record under a name, such as "float32", or "bytes8" for a struct of
        8 bytes; empty: nothing is recorded. The name is that of a hook ("combine"), "load_out" or "map_element_in1"."""
        handle = output_handle()
        raise_error(c.input_get_element(self, encode(name, "name"), ctypes.byref(handle)))
        return take_text(handle)

    def __bytes__(self) -> bytes:
        """The bytes, as they were read or compiled."""
        count = ctypes.c_size_t()
        return ctypes.string_at(c.input_bytes(self, ctypes.byref(count)), count.value)

    def save(self, path) -> None:
        """Writes the bytes to a file, which appears only when it is complete."""
        write_file(path, bytes(self))

    def __repr__(self) -> str:
        return f"<fatlink.Input {self.name}: {self.form}>"


def stem(path: str) -> str:
    """The name of a file without its folder and extension."""
    return os.path.splitext(os.path.basename(path))[0]


def as_input(value, what: str = "an input") -> Input:
    """Converts a name, a file or an ObjectCode to an Input; an Input is returned as it is."""
    if isinstance(value, Input):
        return value
    if isinstance(value, (str, os.PathLike)):
        return Input.find(value)
    if is_object_code(value):
        return Input.from_object_code(value)
    raise UsageTypeError(f"{what} is {shown(value)}", hint="pass a name, a file, a fatlink.Input, or an ObjectCode of cuda.core")


def as_inputs(values, what: str = "inputs") -> list:
    """Converts one or several names, files, ObjectCodes or Inputs to a list of Inputs."""
    if values is None:
        return []
    if isinstance(values, (str, os.PathLike, Input)) or is_object_code(values):
        values = [values]
    try:
        values = list(values)
    except Exception:
        raise UsageTypeError(f"{what} is {shown(values)}", hint="pass a list of names, files or fatlink.Input") from None
    return [as_input(value) for value in values]


def handles(inputs: list):
    """An array of handles for the C interface."""
    return (ctypes.c_void_p * max(1, len(inputs)))(*[entry._as_parameter_ for entry in inputs])


def pack(inputs, output=None, *, package: "str | None" = None) -> Input:
    """Combines fatbins of one source, compiled for several architectures, to one fatbin, as `fatlink pack` does.

    inputs   names, files or Inputs; files of other forms become fatbins
    output   the file to write, with its sidecar; None: the fatbin is only returned
    package  "NAME" or "NAME VERSION": the package that ships the fatbin; None: as the inputs state it

    Raises RefusedError with findings if two inputs have an entry for the same architecture, or define different functions."""
    inputs = as_inputs(inputs)
    handle, warnings = output_handle(), output_handle()
    raise_error(c.pack(handles(inputs), len(inputs), None if output is None else encode(output, "the path of the output"),
                       None if package is None else encode(package, "package"), ctypes.byref(handle), ctypes.byref(warnings)))
    result = Input(handle.value, take_text(warnings))
    if result.warnings:
        warn(result.warnings)
    return result


def find_file(name: str) -> str:
    """Finds the file that Input.find would read."""
    handle = output_handle()
    raise_error(c.find_file(encode(name, "the name of an input"), ctypes.byref(handle)))
    return take_text(handle)


def write_file(path, data: bytes) -> None:
    """Writes a file: first beside `path`, then renamed."""
    path = path_of(path)
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, path)
    except OSError as cause:
        if os.path.exists(part):
            os.unlink(part)
        raise FileError(f"{path}: {cause.strerror}", code="unwritable-file", stage="output", input=path,
                        hint="check the folder, its permissions and its free space") from None

# SPDX-License-Identifier: Apache-2.0
"""Converts a caller's arguments for the C interface. If an object raises an exception, the caller gets one of fatlink's
errors."""
import os
import sys
from ctypes import c_char_p

from ._errors import Error, UsageError, UsageTypeError


def shown(value) -> str:
    """The representation of a value for a message; repr() may be long or fail."""
    try:
        text = repr(value)
    except Exception:
        text = f"an object of {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:200]}…"


def attribute(value, name):
    """An attribute of any object; None if it does not exist or raises."""
    try:
        return getattr(value, name, None)
    except Exception:  # of the object's own __getattr__
        return None


def encode(value, what="an argument") -> bytes:
    """Encodes a text or path for a `char const*` parameter."""
    try:
        encoded = os.fsencode(value)
    except UnicodeEncodeError:
        raise UsageError(f"{what} holds half of a surrogate pair: {shown(value)}", hint="pass a text without it") from None
    except Exception:  # also of the object's own __fspath__
        raise UsageTypeError(f"{what} must be a text or a path, not {shown(value)}", hint="pass a text or a path") from None
    if b"\0" in encoded:
        raise UsageError(f"{what} holds a NUL character: {shown(value)}", hint="pass a text without it")
    return encoded


def path_of(value, what="a path") -> str:
    """The path that a text or an os.PathLike names."""
    return os.fsdecode(encode(value, what))


def text_of(value, what) -> str:
    """Checks that a value is a text that can be encoded in UTF-8, and returns it."""
    if not isinstance(value, str):
        raise UsageTypeError(f"{what} must be a text, not {shown(value)}", hint="pass a text")
    encode(value, what)
    return value


def texts(values, what="a list"):
    """Converts one text or several for a struct: the array and its length; NULL and 0 if there are none."""
    if isinstance(values, (str, os.PathLike)):
        values = [values]
    try:
        values = list(values)
    except Exception:
        raise UsageTypeError(f"{what} is {shown(values)}", hint="pass a list of texts") from None
    values = [encode(value, what) for value in values]
    return ((c_char_p * len(values))(*values) if values else None), len(values)


def data_of(value, what) -> bytes:
    """The bytes of a buffer."""
    if not isinstance(value, bytes):
        try:
            return memoryview(value).tobytes()
        except Exception:
            raise UsageTypeError(f"{what} is {shown(value)}", hint="pass bytes, or an object with a buffer") from None
    return value


def unsigned(value, name, bits=64) -> int:
    """Checks that a whole number fits into `bits` bits, because ctypes would take it modulo 2**bits."""
    try:
        number = None if isinstance(value, bool) else value.__index__()
    except Exception:
        number = None
    if not isinstance(number, int):
        raise UsageTypeError(f"{name} is {shown(value)}", input=name, hint="pass a whole number")
    if not 0 <= number < 2**bits:
        raise UsageError(f"{name} is {shown(number)}", input=name, hint=f"pass a number from 0 to {2**bits - 1}")
    return number


def flag(value, name) -> bool:
    """The truth value of an object."""
    try:
        return bool(value)
    except Exception:
        raise UsageTypeError(f"{name} is {shown(value)}", input=name, hint="pass True or False") from None


def choice(value, name) -> int:
    """A fatlink_choice; None becomes unset."""
    return 0 if value is None else 1 if flag(value, name) else -1


def foreign(raised, array):
    """The error for an exception that another package's array raised; the exception itself if it is one of fatlink's."""
    if isinstance(raised, Error):
        return raised
    cls = type(array)
    return UsageTypeError(f"{cls.__module__}.{cls.__qualname__} is not passed: {type(raised).__name__}: "
                          f"{first_line(raised)[:200] or 'without a message'}",
                          hint="pass an array whose __dlpack__, __dlpack_device__ and __cuda_array_interface__ are as specified")


def first_line(raised) -> str:
    """The first line of an exception's message that is not blank; empty if there is none."""
    try:
        return next((line.strip() for line in str(raised).splitlines() if line.strip()), "")
    except Exception:  # of the exception's own __str__
        return ""


def imported(name: str):
    """A module if it is already imported, otherwise None."""
    return sys.modules.get(name)


def is_of_numpy(value, name) -> bool:
    """Whether a value is of the class `name` of NumPy; does not import NumPy."""
    numpy = imported("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, name))

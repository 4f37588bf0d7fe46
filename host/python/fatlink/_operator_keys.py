# SPDX-License-Identifier: Apache-2.0
"""What operators are told apart by, so that a call with an operator that was linked before finds it.

Numba compiles the values that a Python function uses into its code: globals, captured variables, defaults, attributes of modules,
and those of the functions that it calls. The key of a function has the type and the bits of each of them, so that 0.0 and -0.0,
1 and True, or an array before and after a change are different operators. Nothing here imports NumPy or Numba."""
import os
import struct
import sys

from ._arguments import attribute
from ._errors import UsageError

# Numba puts arrays into constant memory, of which CUDA has 64 KiB. The limit also bounds what each call compares.
MAXIMUM_ARRAY_BYTES = 65536
MISSING = object()
_PLAIN = (int, bool, str, bytes, type(None))
_Module = os.__class__
_Function = (lambda: None).__class__
_names: dict = {}  # by code object


def key_of(op):
    """A Python function's code and the values that it uses; a file and its state; any other operator itself."""
    function = function_of(op)
    if function is not None:
        return _key_of_function(function)
    if isinstance(op, os.PathLike) or op.__class__ is str and is_file(op):
        return op, _state_of(op)
    return op


def is_source(text):
    """Whether a text is CUDA source, and not a name or file."""
    return "{" in text or "\n" in text


def is_file(text):
    return not is_source(text) and (os.sep in text or os.path.splitext(text)[1] in (
        ".cu", ".fatbin", ".ptx", ".ltoir", ".cubin", ".o", ".a"))


def _state_of(path):
    """What changes when a file is written or replaced; None where there is none."""
    try:
        state = os.stat(path)
    except Exception:  # also of the object's own __fspath__
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino


def function_of(value):
    """The Python function of a function, a method or Numba's decorators; None of any other value."""
    if value.__class__ is not _Function:
        value = attribute(value, "py_func") or attribute(value, "__func__")
    return value if value.__class__ is _Function else None


def content(cell):
    """The value of a captured variable."""
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return MISSING


def names_in(code):
    """The globals that a code object and the functions inside of it use, and the names of all globals and attributes in them."""
    found = _names.get(code)
    if found is None:
        import dis
        used, names = {}, dict.fromkeys(code.co_names)
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                used[instruction.argval] = None
            elif instruction.argval.__class__ is code.__class__:
                inner_used, inner_names = names_in(instruction.argval)
                used.update(dict.fromkeys(inner_used))
                names.update(dict.fromkeys(inner_names))
        if len(_names) >= 1024:
            _names.clear()
        found = _names[code] = tuple(used), tuple(names)
    return found


def values_of(function):
    """The values that a function uses, each with its name."""
    code = function.__code__
    values = [(name, function.__globals__.get(name, MISSING)) for name in names_in(code)[0]]
    values += [(name, content(cell)) for name, cell in zip(code.co_freevars, function.__closure__ or ())]
    return values + [("a default", value) for value in function.__defaults__ or ()] + list((function.__kwdefaults__ or {}).items())


class _Identity:
    """Equals itself for the same object only, which it keeps."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return other.__class__ is _Identity and other.value is self.value

    def __hash__(self):
        return id(self.value)


def _key_of_function(function):
    try:
        return _Walk().function(function)
    except RecursionError:
        raise UsageError(f"the Python function {function.__name__} uses values that are nested too deeply", input="op",
                         hint="use numbers, arrays and tuples of them") from None


class _Walk:
    """Visits each function, module and container among the values of a function once."""

    def __init__(self):
        self.seen = {}  # the number of each that was visited
        self.array_bytes = 0

    def function(self, function):
        names = names_in(function.__code__)[1]
        return self.once(function, (), lambda: (function.__code__, *[
            self.value(value, name, names) for name, value in values_of(function)]))

    def once(self, value, names, make):
        key = id(value), names
        number = self.seen.get(key)
        if number is not None:  # it uses itself, or several use it
            return "seen", number
        self.seen[key] = len(self.seen)
        return make()

    def value(self, value, name, names):
        """The key of a value; of modules that of their attributes of these names, one of which is what the function uses."""
        cls = value.__class__
        if cls in _PLAIN:
            return cls, value
        if isinstance(value, (float, complex)) and not _is_of_numpy(value, "generic"):
            return _Identity(cls), struct.pack("dd", value.real, value.imag)
        if isinstance(value, _Module):
            return self.once(value, names, lambda: (_Identity(value), *[
                self.value(attribute(value, name), name, names) for name in names]))
        function = function_of(value)
        if function is not None:
            return self.options(value), self.function(function)
        return self.data(value, name, names)

    def options(self, helper):
        """How a decorator of Numba compiles a helper."""
        return self.value(attribute(helper, "targetoptions"), "", ())

    def data(self, value, name, names):
        cls = _Identity(value.__class__)
        if isinstance(value, (tuple, list)):
            return self.once(value, names, lambda: (cls, *[self.value(item, name, names) for item in value]))
        if isinstance(value, dict):
            return self.once(value, names, lambda: (cls, *[self.value(item, name, names) for pair in value.items() for item in pair]))
        if _is_of_numpy(value, "ndarray"):
            return cls, value.dtype, value.shape, self.digest(value, name)
        if _is_of_numpy(value, "generic"):
            return cls, value.dtype, value.tobytes()
        base = next((base for base in (int, str, bytes) if isinstance(value, base)), None)
        if base is not None:  # of a class of its own
            return cls, base.__repr__(value)
        interface = attribute(value, "__cuda_array_interface__")  # Numba compiles the address into the code
        return _Identity(value), None if interface is None else repr(interface)

    def digest(self, array, name):
        self.array_bytes += array.nbytes
        if self.array_bytes > MAXIMUM_ARRAY_BYTES:
            raise UsageError(f"the Python function uses arrays of more than {MAXIMUM_ARRAY_BYTES} bytes as constants: {name}, which "
                             f"has {array.nbytes}", input="op",
                             hint="pass the array to the call: as y= or z= of map, or as state= of an operator in CUDA source")
        from hashlib import sha256
        return sha256(array.tobytes()).digest()


def _is_of_numpy(value, name):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, name))

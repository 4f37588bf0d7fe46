# SPDX-License-Identifier: Apache-2.0
"""Element types: the number types of fatlink_scalar, and structs of named fields."""
import struct

from ._arguments import attribute, shown
from ._errors import UsageTypeError, warn

UNSTATED = 0
BYTES = 15
RECORD = 16

# name: (fatlink_scalar, bytes, struct's letter, CUDA's name)
NUMBERS = {
    "float16": (1, 2, "e", "__half"), "bfloat16": (2, 2, "", "__nv_bfloat16"), "float32": (3, 4, "f", "float"),
    "float64": (4, 8, "d", "double"), "int8": (5, 1, "b", "signed char"), "int16": (6, 2, "h", "short"),
    "int32": (7, 4, "i", "int"), "int64": (8, 8, "q", "long long"), "uint8": (9, 1, "B", "unsigned char"),
    "uint16": (10, 2, "H", "unsigned short"), "uint32": (11, 4, "I", "unsigned"),
    "uint64": (12, 8, "Q", "unsigned long long"), "complex64": (13, 8, "ff", ""), "complex128": (14, 16, "dd", ""),
}
NAMES = {number[0]: name for name, number in NUMBERS.items()}
SIZES = (1, 2, 4, 8, 16, 32)  # of elements that the libraries of algorithms take


class ElementType:
    """The type of an array's elements. Equal types are the same object, so they can be compared by identity."""

    __slots__ = ("name", "scalar", "bytes", "dtype", "is_bool", "sum_type")
    _all: dict = {}

    def __init__(self, name, scalar, size, dtype=None, is_bool=False):
        self.name = name  # "float32", "{value: float32, index: int32}"
        self.scalar = scalar
        self.bytes = size
        self.dtype = dtype  # NumPy's, of a struct
        self.is_bool = is_bool
        # The name of the integers of 64 bits that sums of narrower ones are made in; None of all other types.
        self.sum_type = ("uint64" if name.startswith("uint") else "int64") if is_bool or (
            size < 8 and name.startswith(("int", "uint"))) else None

    def __repr__(self):
        return self.name

    @property
    def cuda_name(self):
        """The type's name in CUDA C++; empty for complex numbers and structs."""
        return "bool" if self.is_bool else NUMBERS[self.name][3] if self.name in NUMBERS else ""


# Elements of range(n). Operators that compute elements from indexes declare an array of any type of 1 byte, which they do not read.
INDEXES = ElementType("indexes", NUMBERS["uint8"][0], 1)


def number_type(name):
    """The number type with this name; None for other names."""
    element = ElementType._all.get(name)
    if element is None and name in NUMBERS:
        scalar, size, *_ = NUMBERS[name]
        element = ElementType._all.setdefault(name, ElementType(name, scalar, size))
    elif element is None and name == "bool":  # a byte that is 0 or 1
        element = ElementType._all.setdefault(name, ElementType(name, UNSTATED, 1, is_bool=True))
    return element


def element_type(dtype):
    """The ElementType for the name of a number type, a dtype of NumPy, PyTorch or JAX, or anything that numpy.dtype()
    accepts."""
    if dtype.__class__ is ElementType:
        return dtype
    element = None if attribute(dtype, "names") else number_type(_name_of(dtype))
    if element is None and (dtype_of_numpy := _dtype_of_numpy(dtype)) is not None and dtype_of_numpy.isnative:
        element = record_type(dtype_of_numpy) if dtype_of_numpy.names else number_type(dtype_of_numpy.name)
    if element is None:
        raise not_a_type(dtype)
    return element


def _name_of(dtype):
    """The name that a dtype states."""
    names = (dtype,) if isinstance(dtype, str) else (attribute(dtype, "name"), attribute(dtype, "__name__"),
                                                     shown(dtype).removeprefix("torch."))
    return next(name for name in names if isinstance(name, str))


def _dtype_of_numpy(value):
    """The result of numpy.dtype() for a value such as float or "f8"; None if it refuses the value, or without NumPy."""
    try:
        from numpy import dtype
        return dtype(value)
    except Exception:
        return None


def not_a_type(dtype):
    return UsageTypeError(f"dtype is {shown(dtype)}, which is not a type of numbers", input="dtype",
                          hint='pass the name of a type, "float32", or what numpy.dtype() takes for one: numpy.float32, float, "f4"')


def sum_type_of(element, kind, out=None):
    """The type in which elements are added and multiplied: for integers of fewer than 64 bits, the type of the sums of the
    framework `kind`, or the integer type `out` of the array for results."""
    if element.sum_type is None:
        return element
    if out is None:
        return number_type(kind.sum_type(element.sum_type))
    return out if out.name.startswith(("int", "uint")) else number_type(element.sum_type)  # the error about out names it


class RecordedType:
    """A type that an operator records, as an argument of a plan for is_compatible(). The fields of structs are not recorded."""

    __slots__ = ("type_name", "element", "scalar", "element_bytes")

    def __init__(self, type_name):
        self.type_name = type_name  # "float32", "bytes8"
        self.element = number_type(type_name)
        self.scalar = self.element.scalar if self.element else BYTES
        self.element_bytes = self.element.bytes if self.element else int(type_name.removeprefix("bytes"))


def layout(types):
    """The offsets of numbers of these types in a C++ struct, and the size of the struct."""
    offsets, end, alignment = [], 0, 1
    for name in types:
        size = NUMBERS[name][1]
        offsets.append(-(-end // size) * size)
        end = offsets[-1] + size
        alignment = max(alignment, size)
    return offsets, -(-end // alignment) * alignment


def record_name(dtype):
    """The name of a structured dtype of NumPy: "{value: float32, index: int32}"; None if its layout differs from that of
    C++."""
    fields = [dtype.fields[name][0] for name in dtype.names]
    if any(field.name not in NUMBERS or not field.isnative for field in fields):
        return None
    if ([dtype.fields[name][1] for name in dtype.names], dtype.itemsize) != layout(field.name for field in fields):
        return None
    return "{" + ", ".join(f"{name}: {field.name}" for name, field in zip(dtype.names, fields)) + "}"


def record_type(dtype):
    """The element type of a structured or void dtype of NumPy."""
    key = dtype
    element = ElementType._all.get(key)
    if element is None:
        name = (dtype.names and record_name(dtype)) or str(dtype)
        element = ElementType._all.setdefault(key, ElementType(name, UNSTATED, dtype.itemsize, dtype))
    return element


def size_of_library(element, algorithm):
    """The element size in the name of the library for `algorithm`."""
    if element.bytes not in SIZES:
        raise UsageTypeError(f"{algorithm} takes elements of 1, 2, 4, 8, 16 or 32 bytes; {element.name} has {element.bytes}",
                             hint="pad the struct to one of these sizes")
    return element.bytes


def is_compatible(element, argument):
    """Whether arrays of type `element` may be passed for an argument of a plan."""
    if element.bytes != argument.element_bytes:
        return False
    if argument.scalar == BYTES or element is INDEXES:
        return True
    if argument.scalar == RECORD:
        return element.dtype is not None and (is_same_record(element.name, argument.type_name)
                                              or not argument.type_name.startswith("{"))
    if element.is_bool:
        return argument.scalar == NUMBERS["uint8"][0]
    return element.scalar == argument.scalar


def pack(value, argument, dtype=None):
    """The bytes of a value for an argument of a plan. The value is a number, a NumPy scalar, bytes, or a tuple or dict of
    fields. `dtype`: the structured dtype of the argument if the plan knows only its size."""
    try:
        if argument.scalar == BYTES and dtype is not None and dtype.names:
            packed = _pack_fields(value, dtype)
        else:
            packed = _pack(value, argument.scalar, argument.type_name, argument.element_bytes)
    except Exception as cause:  # also of the value's own __float__ or __index__
        raise UsageTypeError(f"{argument.name} is {shown(value)}; expected {argument.type_name} ({cause})",
                             input=argument.name, hint=_hint(argument)) from None
    if len(packed) != argument.element_bytes:
        raise UsageTypeError(f"{argument.name} has {len(packed)} bytes; {argument.type_name} has {argument.element_bytes}",
                             input=argument.name, hint=_hint(argument))
    return packed


def _hint(argument):
    if argument.scalar == RECORD:
        return "pass a tuple or dict with a number for each field, or the bytes of the struct"
    if argument.scalar == BYTES:
        return "pass the bytes of the element, for example a value of a NumPy structured dtype"
    return f"pass a number in the range of {argument.type_name}"


def _pack(value, scalar, type_name, size):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    dtype = getattr(value, "dtype", None)
    if scalar == RECORD and type_name.startswith("{"):
        return _pack_record(value, type_name, size)
    if scalar in (BYTES, RECORD, UNSTATED):
        if dtype is not None and dtype.itemsize == size:
            return value.tobytes()
        if not isinstance(value, (dict, tuple, list)) and value == 0:
            return bytes(size)
        raise TypeError("the type has no fields that Python knows")
    return _pack_number(value, NAMES[scalar])


def _pack_record(value, type_name, size):
    fields = split_record(type_name)
    packed = b""
    for number, (_, kind) in zip(_field_values(value, [name for name, _ in fields]), fields):
        number = _pack_number(number, kind)
        packed += bytes(-len(packed) % len(number)) + number
    return packed + bytes(size - len(packed))


def _field_values(value, names):
    """The value of each field. A dict or structured scalar is read by name, a tuple in order; a single number is used for
    every field."""
    own = getattr(getattr(value, "dtype", None), "names", None) or isinstance(value, dict) and tuple(value)
    if not own and not isinstance(value, (tuple, list)):
        return [value] * len(names)
    if len(own or value) != len(names):
        raise ValueError(f"it has {len(own or value)} fields, not {len(names)}")
    if own and (isinstance(value, dict) or set(own) & set(names)):
        return [value[name] for name in names]
    return [value[name] for name in own] if own else value


def _pack_fields(value, dtype):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if getattr(value, "dtype", None) == dtype:
        return value.tobytes()
    from numpy import array
    return array(tuple(_field_values(value, dtype.names)), dtype).tobytes()


def _pack_number(value, name):
    letters = NUMBERS[name][2]
    if name == "bfloat16":
        return _pack_bfloat16(float(value))
    if len(letters) == 2:
        value = complex(value)
        return struct.pack("=" + letters, value.real, value.imag)
    if letters in "efd":
        return _pack_float(float(value), letters)
    number = value.__index__() if hasattr(value, "__index__") else value
    return struct.pack("=" + letters, number)


def _pack_float(number, letter):
    try:
        return struct.pack("=" + letter, number)
    except OverflowError:  # of the type: infinite, as C++ converts it
        return struct.pack("=" + letter, number * float("inf"))


def _pack_bfloat16(number):
    """Packs a number as bfloat16, rounded to nearest, ties to even."""
    bits = int.from_bytes(_pack_float(number, "f"), "little")
    if number != number:
        return b"\xc0\x7f"
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).to_bytes(2, "little")


def require_known(name, what):
    """The number type with this name. Raises if there is none."""
    element = number_type(name)
    if element is None:
        raise UsageTypeError(f"{what} has elements of type {name}, which fatlink does not have",
                             hint=f"convert it to one of {', '.join(NUMBERS)}")
    return element


def warn_of_names(array, fields, operator, others="other names"):
    """Warns that the fields of an array and of an operator have different names."""
    warn(f"{array} has the fields {fields}, and {operator} has {others}: they are used by position")


def split_record(type_name):
    """The (name, type) pairs of "{value: float32, index: int32}"; empty for any other name."""
    if not type_name.startswith("{"):
        return []
    return [tuple(field.split(": ", 1)) for field in type_name[1:-1].split(", ")]


def is_same_record(first, second):
    """Whether two records have the same number types at the same positions, and no field name at different positions."""
    if first == second:
        return True
    first, second = split_record(first), split_record(second)
    if not first or [kind for _, kind in first] != [kind for _, kind in second]:
        return False
    return all(a == b or a not in dict(second) and b not in dict(first) for (a, _), (b, _) in zip(first, second))

# SPDX-License-Identifier: Apache-2.0
"""Operators in Python. Numba compiles the function to a C function on numbers. A generated CUDA source defines the hook,
whose elements are opaque bytes, and calls that function. Both are linked, and in lto mode inlined.

Numba compiles the values that a Python function uses into its code: globals, captured variables, defaults, attributes of
modules, and the values that called functions use. The key of a function therefore contains the type and bits of each value,
so that 0.0 and -0.0, 1 and True, or an array before and after a change give different operators. Computing a key imports
neither NumPy nor Numba."""
import struct
from types import CellType, FunctionType, ModuleType

from ._arguments import attribute, first_line, is_of_numpy
from ._elements import INDEXES, number_type
from ._errors import CompileError, UnavailableError, UsageError, UsageTypeError
from ._ffi import c
from ._inputs import Input
from ._linking import compile_operator as compile
from ._linking import has_line_info, is_offline

# Numba puts arrays into constant memory, of which CUDA has 64 KiB. The limit also bounds what each call compares.
_MAXIMUM_ARRAY_BYTES = 65536
_MISSING = object()
_PLAIN = (int, bool, str, bytes, type(None))
_names: dict = {}  # by code object


def function_of(value):
    """The Python function of a function, a method or an object of Numba's decorators; None for any other value."""
    if value.__class__ is not FunctionType:
        value = attribute(value, "py_func") or attribute(value, "__func__")
    return value if value.__class__ is FunctionType else None


def _content(cell):
    """The value of a captured variable."""
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return _MISSING


def _names_in(code):
    """The globals that a code object and its nested functions use, and the names of all globals and attributes in them."""
    found = _names.get(code)
    if found is None:
        import dis
        used, names = {}, dict.fromkeys(code.co_names)
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                used[instruction.argval] = None
            elif instruction.argval.__class__ is code.__class__:
                inner_used, inner_names = _names_in(instruction.argval)
                used.update(dict.fromkeys(inner_used))
                names.update(dict.fromkeys(inner_names))
        if len(_names) >= 1024:
            _names.clear()
        found = _names[code] = tuple(used), tuple(names)
    return found


def _values_of(function):
    """The values that a function uses, each with its name."""
    code = function.__code__
    values = [(name, function.__globals__.get(name, _MISSING)) for name in _names_in(code)[0]]
    values += [(name, _content(cell)) for name, cell in zip(code.co_freevars, function.__closure__ or ())]
    return values + [("a default", value) for value in function.__defaults__ or ()] + list((function.__kwdefaults__ or {}).items())


class _Identity:
    """Keeps an object, and is equal only to an identity of the same object."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return other.__class__ is _Identity and other.value is self.value

    def __hash__(self):
        return id(self.value)


def key_of_function(function):
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
        names = _names_in(function.__code__)[1]
        return self.once(function, (), lambda: (function.__code__, *[
            self.value(value, name, names) for name, value in _values_of(function)]))

    def once(self, value, names, make):
        key = id(value), names
        number = self.seen.get(key)
        if number is not None:  # it uses itself, or several use it
            return "seen", number
        self.seen[key] = len(self.seen)
        return make()

    def value(self, value, name, names):
        """The key of a value. For a module, it is the key of its attributes with these names, of which the function uses at
        least one."""
        cls = value.__class__
        if cls in _PLAIN:
            return cls, value
        if isinstance(value, (float, complex)) and not is_of_numpy(value, "generic"):
            return _Identity(cls), struct.pack("dd", value.real, value.imag)
        if isinstance(value, ModuleType):
            return self.once(value, names, lambda: (_Identity(value), *[
                self.value(attribute(value, name), name, names) for name in names]))
        function = function_of(value)
        if function is not None:
            return self.options(value), self.function(function)
        return self.data(value, name, names)

    def options(self, helper):
        """The options with which a decorator of Numba compiles a helper."""
        return self.value(attribute(helper, "targetoptions"), "", ())

    def data(self, value, name, names):
        cls = _Identity(value.__class__)
        if isinstance(value, (tuple, list)):
            return self.once(value, names, lambda: (cls, *[self.value(item, name, names) for item in value]))
        if isinstance(value, dict):
            return self.once(value, names, lambda: (cls, *[self.value(item, name, names) for pair in value.items() for item in pair]))
        if is_of_numpy(value, "ndarray"):
            return cls, value.dtype, value.shape, self.digest(value, name)
        if is_of_numpy(value, "generic"):
            return cls, value.dtype, value.tobytes()
        base = next((base for base in (int, str, bytes) if isinstance(value, base)), None)
        if base is not None:  # of a class of its own
            return cls, base.__repr__(value)
        interface = attribute(value, "__cuda_array_interface__")  # Numba compiles the address into the code
        return _Identity(value), None if interface is None else repr(interface)

    def digest(self, array, name):
        self.array_bytes += array.nbytes
        if self.array_bytes > _MAXIMUM_ARRAY_BYTES:
            raise UsageError(f"the Python function uses arrays of more than {_MAXIMUM_ARRAY_BYTES} bytes as constants: {name}, which "
                             f"has {array.nbytes}", input="op",
                             hint="pass the array to the call: as y= or z= of map, or as state= of an operator in CUDA source")
        from hashlib import sha256
        return sha256(array.tobytes()).digest()


_SYMBOL = "fatlink_python_operator"  # of the function
_SYMBOLS = {"same_key": f"{_SYMBOL}_of_keys", "load": f"{_SYMBOL}_of_load"}  # one link may have several
_BASES = ("load", "combine", "less", "equal", "same_key", "keep", "bin", "part", "map1", "map2", "map3")
_WIDENED = {"float16": "__half", "bfloat16": "__nv_bfloat16"}  # computed in float32, as their operators do on older GPUs
_HEADERS = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


def _numba():
    if is_offline():
        raise UnavailableError("offline mode is on, and Numba compiles Python functions", code="offline", stage="compiler",
                               hint="pass a name, or CUDA source, whose compile a cache layer can hold")
    try:
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from numba import cuda, types
    except Exception as cause:  # also a library of CUDA that numba-cuda does not find
        raise _unavailable(cause) from None
    return cuda, types


def _unavailable(cause):
    """The error if Numba, or a CUDA library that it opens, is missing."""
    return UnavailableError(f"a Python function needs Numba and libraries of CUDA: {first_line(cause) or 'no message'}",
                            code="no-numba", stage="compiler", log=str(cause),
                            hint="pip install 'numba-cuda[cu13]'; or pass CUDA source")


def _computed_name(element):
    """The number type that the function computes with."""
    if element.is_bool:
        return "boolean"
    if element is INDEXES:
        return "int64"
    if not element.cuda_name:
        raise UsageTypeError(f"a Python function takes numbers; the array has elements of {element}", input="op",
                             hint="pass CUDA source, whose structs have the fields of the dtype")
    return "float32" if element.name in _WIDENED else element.name


def _c_name(element):
    """The type of a parameter or result in the C function."""
    if element.name in _WIDENED:
        return "float"
    if element is INDEXES:
        return "long long"
    return "unsigned char" if element.is_bool else element.cuda_name


def _compile(function, arguments, mode, result=None, symbol=_SYMBOL):
    """The code of a function for a link mode, and the type of its result. `arguments` and `result` are Numba types; without
    `result`, the type is inferred."""
    cuda, types = _numba()
    python_function = function_of(function)
    if python_function is not None:
        function = _with_new_helpers(python_function, cuda)
        arguments += _defaults(function, len(arguments), types)
    c.range_push(b"Numba")
    try:
        code, result = cuda.compile(function, arguments if result is None else result(*arguments),
                                    device=True, lineinfo=has_line_info(), abi="c", abi_info={"abi_name": symbol}, cc=(7, 5),
                                    output="ptx" if mode == "ptx" else "ltoir")
    except Exception as cause:  # Numba raises errors of many classes
        if "LibNotFound" in type(cause).__name__:
            raise _unavailable(cause) from None
        name = getattr(function, "__name__", "op")
        raise CompileError(f"Numba cannot compile {name}: {type(cause).__name__}: {first_line(cause) or 'no message'}",
                           code="numba-error", stage="compiler", input=name, log=str(cause),
                           hint="error.log has Numba's whole message; CUDA source can do what Numba cannot") from cause
    finally:
        c.range_pop()
    return code.encode() if isinstance(code, str) else bytes(code), result


def _defaults(function, given, types):
    """The Numba types of the parameters that the hook does not pass and that keep their defaults."""
    code = function.__code__
    if code.co_flags & 12:  # *arguments or **options
        return ()
    defaults = function.__defaults__ or ()
    missing = code.co_argcount - given
    if missing < 0 or missing > len(defaults):
        raise UsageTypeError(f"the Python function {function.__name__} takes {_count_of(code, defaults)}; the call passes {given}",
                             input="op", hint="define it with as many parameters, or with defaults for the others")
    return tuple(types.Omitted(value) for value in defaults[len(defaults) - missing:])


def _count_of(code, defaults):
    fewest, most = code.co_argcount - len(defaults), code.co_argcount
    return f"{most} argument{'s' * (most != 1)}" if fewest == most else f"{fewest} to {most} arguments"


def _with_new_helpers(function, cuda):
    """The function with new helpers instead of those that decorators of Numba made. This is needed because Numba compiles a
    helper only once, with the values that it uses at that time."""
    made, names = {}, _names_in(function.__code__)[1]
    changed = {name: new for name, value in _values_of(function) if (new := _renewed(value, names, cuda, made)) is not value}
    if not changed:
        return function
    copy = _copy_of(function)
    _change(copy, changed)
    return copy


def _renewed(value, names, cuda, made):
    """Replaces a value: a helper of Numba by a new one, a module by a copy with new helpers for `names`; any other value is
    returned unchanged. `made`: the new helpers by the ids of the old ones."""
    if id(value) in made:
        return made[id(value)]
    if isinstance(value, ModuleType):
        return _renewed_module(value, names, cuda, made)
    function = None if value.__class__ is FunctionType else function_of(value)
    options = attribute(value, "targetoptions")
    if function is None or not isinstance(options, dict):
        return value
    copy = _copy_of(function)
    made[id(value)] = helper = type(value)(copy, targetoptions=options) if "device" in options else cuda.jit(
        copy, device=True, fastmath=bool(options.get("fastmath")), inline=options.get("inline", "never"))
    _change(copy, {name: _renewed(used, _names_in(function.__code__)[1], cuda, made) for name, used in _values_of(function)})
    return helper


def _renewed_module(module, names, cuda, made):
    made[id(module)] = module  # it may have itself as an attribute
    attributes = {name: attribute(module, name) for name in names}
    changed = {name: new for name, value in attributes.items() if (new := _renewed(value, names, cuda, made)) is not value}
    del made[id(module)]
    if not changed:
        return module
    copy = ModuleType(module.__name__)
    copy.__dict__.update(module.__dict__, **changed)
    return copy


def _copy_of(function):
    """A copy of a function with its own globals and captured variables."""
    cells = tuple(CellType(cell.cell_contents) if _content(cell) is not _MISSING else cell for cell in function.__closure__ or ())
    copy = FunctionType(function.__code__, dict(function.__globals__), function.__name__, function.__defaults__, cells or None)
    copy.__kwdefaults__, copy.__module__, copy.__qualname__ = function.__kwdefaults__, function.__module__, function.__qualname__
    return copy


def _change(copy, values):
    """Sets globals and captured variables of a copy."""
    for name, value in values.items():
        if name in copy.__code__.co_freevars:
            copy.__closure__[copy.__code__.co_freevars.index(name)].cell_contents = value
        elif name in copy.__globals__:
            copy.__globals__[name] = value


def _makes_other_types(base):
    """Whether the results of a hook may have another type than the elements that it gets."""
    return base.startswith("map") or base == "load"


def _result_of_map(function, elements, mode):
    """The element type of a map's results. It is the inputs' type if all have the same type and the function returns that
    kind of number; otherwise it is the type that Numba infers, which can hold every result."""
    _, types = _numba()
    _, inferred = _compile(function, tuple(getattr(types, _computed_name(element)) for element in elements), mode)
    name = "bool" if str(inferred) in ("bool", "boolean") else str(inferred)
    result = number_type(name)
    if result is None or not result.cuda_name:
        raise UsageError(f"the Python function returns {name}", input="op", hint="return a number, or pass dtype=")
    first = elements[0]
    if name != "bool" and not first.is_bool and first is not INDEXES and all(element is first for element in elements) and (
            ("float" in name) == ("float" in first.name)):
        return first
    return result


def _declarations(base, elements, result):
    """The C function and the hook that calls it."""
    names = [element.cuda_name or "unsigned char" for element in elements]
    parameters = {"combine": "ab", "less": "ab", "equal": "ab", "same_key": "ab", "keep": "x", "bin": "x", "part": "x", "load": "x", "map1": "x", "map2": "ab", "map3": "abc"}[base]
    types = [elements[0]] * len(parameters) if not _makes_other_types(base) else elements
    declared = ", ".join(_c_name(element) for element in types)
    arguments = ", ".join(f"static_cast<{_c_name(element)}>({letter})" for element, letter in zip(types, parameters))
    macro = {
        "combine": f"FATLINK_COMBINE({names[0]}_, a, b)", "less": f"FATLINK_LESS({names[0]}_, a, b)",
        "equal": f"FATLINK_EQUAL({names[0]}_, a, b)", "same_key": f"FATLINK_SAME_KEY({names[0]}_, a, b)",
        "keep": f"FATLINK_KEEP({names[0]}_, x)", "bin": f"FATLINK_BIN({names[0]}_, x)",
        "part": f"FATLINK_PART({names[0]}_, x)", "load": f"FATLINK_LOAD_AT(result, {names[0]}_, in, x)" if elements[0] is INDEXES else f"FATLINK_LOAD(result, {names[0]}_, x)"}.get(base)
    if macro is None:
        pairs = ", ".join(f"element{index}, {letter}" for index, letter in enumerate(parameters))
        macro = f"FATLINK_{base.upper()}(result, {pairs})"
    else:
        macro = macro.replace(f"{names[0]}_", "element0")
    aliases = "".join(f"using element{index} = {name};\n" for index, name in enumerate(names))
    c_result = {"less": "unsigned char", "equal": "unsigned char", "same_key": "unsigned char", "keep": "unsigned char", "bin": "unsigned", "part": "unsigned"}.get(base) or _c_name(result)
    returned = {"less": "bool", "equal": "bool", "same_key": "bool", "keep": "bool", "bin": "unsigned", "part": "unsigned"}.get(base, "result")
    return (f"{_HEADERS}{aliases}using result = {result.cuda_name};\n"
            f'extern "C" __device__ {c_result} {_SYMBOLS.get(base, _SYMBOL)}({declared});\n'
            f"{macro}\n{{\n  return static_cast<{returned}>({_SYMBOLS.get(base, _SYMBOL)}({arguments}));\n}}\n")


def result_of(function, base, elements, mode, dtype):
    """The type of the function's result, as the hook writes it."""
    if base not in _BASES:
        raise UsageTypeError(f"a Python function cannot define both hooks of {base}", input="op",
                             hint="pass CUDA source with a macro for each, or an installed name")
    if not _makes_other_types(base):
        return elements[0]
    return dtype or _result_of_map(function, elements, mode)


def compile_function(function, base, contract, elements, mode, result):
    """The Inputs for a Python function: the hook, and the function that it calls."""
    _, types = _numba()
    returned = {"less": types.uint8, "equal": types.uint8, "same_key": types.uint8, "keep": types.uint8, "bin": types.uint32, "part": types.uint32}.get(base) or getattr(
        types, "uint8" if result.is_bool else _computed_name(result))
    count = 2 if base in ("combine", "less", "equal", "same_key") else len(elements) if base.startswith("map") else 1
    arguments = tuple(getattr(types, _computed_name(element)) for element in (elements * 2 if count == 2 and len(elements) == 1
                                                                          else elements))[:count]
    code, _ = _compile(function, arguments, mode, returned, _SYMBOLS.get(base, _SYMBOL))
    name = getattr(function, "__name__", "operator").strip("<>")
    hook = compile(_declarations(base, elements, result), contract=contract, name=f"{name}.cu", has_lines=False)
    return [hook, Input.from_bytes(code, f"{name} of Python")]

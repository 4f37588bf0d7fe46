# SPDX-License-Identifier: Apache-2.0
"""Operators in Python: Numba compiles the function to a C function on numbers, and a generated CUDA source calls it from the
hook, whose elements are opaque bytes. Both are linked, and in lto mode inlined."""
import warnings
from types import CellType, FunctionType, ModuleType

from ._arguments import attribute
from ._elements import number_type
from ._errors import CompileError, UnavailableError, UsageError, UsageTypeError
from ._inputs import Input
from ._linking import compile
from ._operator_keys import MISSING, content, function_of, names_in, values_of

_SYMBOL = "fatlink_python_operator"
_BASES = ("combine", "less", "keep", "bin", "map1", "map2", "map3")
_WIDENED = {"float16": "__half", "bfloat16": "__nv_bfloat16"}  # computed in float32, as their operators do on older GPUs
_HEADERS = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


def _numba():
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from numba import cuda, types
    except Exception as cause:  # also a library of CUDA that numba-cuda does not find
        raise _unavailable(cause) from None
    return cuda, types


def _unavailable(cause):
    """The error where Numba, or a library of CUDA that it opens, is missing."""
    return UnavailableError(f"a Python function needs Numba and libraries of CUDA: {_first_line(cause)}", code="no-numba",
                            stage="compiler", log=str(cause),
                            hint="pip install 'numba-cuda[cu13]'; or pass CUDA source as op=")


def _computed_name(element):
    """The number type that the function computes with."""
    if element.is_bool:
        return "boolean"
    if not element.cuda_name:
        raise UsageTypeError(f"a Python function takes numbers; the array has elements of {element}", input="op",
                             hint="pass CUDA source, whose structs have the fields of the dtype")
    return "float32" if element.name in _WIDENED else element.name


def _c_name(element):
    """Its parameter or result as the C function has it."""
    if element.name in _WIDENED:
        return "float"
    return "unsigned char" if element.is_bool else element.cuda_name


def _compile(function, arguments, mode, result=None):
    """The code of a function for a link mode, and the type of its result. `arguments` and `result` are types of Numba; without
    `result` it is inferred."""
    cuda, types = _numba()
    python_function = function_of(function)
    if python_function is not None:
        function = _with_new_helpers(python_function, cuda)
        arguments += _defaults(function, len(arguments), types)
    try:
        code, result = cuda.compile(function, arguments if result is None else result(*arguments),
                                    device=True, abi="c", abi_info={"abi_name": _SYMBOL}, cc=(7, 5),
                                    output="ptx" if mode == "ptx" else "ltoir")
    except Exception as cause:  # Numba raises errors of many classes
        if "LibNotFound" in type(cause).__name__:
            raise _unavailable(cause) from None
        name = getattr(function, "__name__", "op")
        raise CompileError(f"Numba cannot compile {name}: {type(cause).__name__}: {_first_line(cause)}", code="numba-error",
                           stage="compiler", input=name, log=str(cause),
                           hint="error.log has Numba's whole message; CUDA source can do what Numba cannot") from cause
    return code.encode() if isinstance(code, str) else bytes(code), result


def _defaults(function, given, types):
    """Numba's types of the parameters after those that the hook passes, which keep their defaults."""
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
    """The function with new helpers in place of those that decorators of Numba made: Numba compiles a helper once, with the values
    that it uses then."""
    made, names = {}, names_in(function.__code__)[1]
    changed = {name: new for name, value in values_of(function) if (new := _renewed(value, names, cuda, made)) is not value}
    if not changed:
        return function
    copy = _copy_of(function)
    _change(copy, changed)
    return copy


def _renewed(value, names, cuda, made):
    """A new helper for one of Numba's; a copy of a module with the new helpers of those of `names`; any other value itself.
    `made`: the new helpers by the ids of those that they replace."""
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
    _change(copy, {name: _renewed(used, names_in(function.__code__)[1], cuda, made) for name, used in values_of(function)})
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
    """A function with globals and captured variables of its own."""
    cells = tuple(CellType(cell.cell_contents) if content(cell) is not MISSING else cell for cell in function.__closure__ or ())
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


def _first_line(cause):
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return lines[0] if lines else "no message"


def _result_of_map(function, elements, mode):
    """The element type of a map's results: the inputs' one, where they have one and the function makes that kind of number;
    otherwise what Numba infers, which holds every result."""
    _, types = _numba()
    _, inferred = _compile(function, tuple(getattr(types, _computed_name(element)) for element in elements), mode)
    name = "bool" if str(inferred) in ("bool", "boolean") else str(inferred)
    result = number_type(name)
    if result is None or not result.cuda_name:
        raise UsageError(f"the Python function returns {name}", input="op", hint="return a number, or pass dtype=")
    first = elements[0]
    if name != "bool" and not first.is_bool and all(element is first for element in elements) and (
            ("float" in name) == ("float" in first.name)):
        return first
    return result


def _declarations(base, elements, result):
    """The C function and the hook that calls it."""
    names = [element.cuda_name for element in elements]
    parameters = {"combine": "ab", "less": "ab", "keep": "x", "bin": "x", "map1": "x", "map2": "ab", "map3": "abc"}[base]
    types = [elements[0]] * len(parameters) if not base.startswith("map") else elements
    declared = ", ".join(_c_name(element) for element in types)
    arguments = ", ".join(f"static_cast<{_c_name(element)}>({letter})" for element, letter in zip(types, parameters))
    macro = {
        "combine": f"FATLINK_COMBINE({names[0]}_, a, b)", "less": f"FATLINK_LESS({names[0]}_, a, b)",
        "keep": f"FATLINK_KEEP({names[0]}_, x)", "bin": f"FATLINK_BIN({names[0]}_, x)"}.get(base)
    if macro is None:
        pairs = ", ".join(f"element{index}, {letter}" for index, letter in enumerate(parameters))
        macro = f"FATLINK_{base.upper()}(result, {pairs})"
    else:
        macro = macro.replace(f"{names[0]}_", "element0")
    aliases = "".join(f"using element{index} = {name};\n" for index, name in enumerate(names))
    c_result = {"less": "unsigned char", "keep": "unsigned char", "bin": "unsigned"}.get(base) or _c_name(result)
    returned = {"less": "bool", "keep": "bool", "bin": "unsigned"}.get(base, "result")
    return (f"{_HEADERS}{aliases}using result = {result.cuda_name};\n"
            f'extern "C" __device__ {c_result} {_SYMBOL}({declared});\n'
            f"{macro}\n{{\n  return static_cast<{returned}>({_SYMBOL}({arguments}));\n}}\n")


def result_of(function, base, elements, mode, dtype):
    """The type of what the function returns, as the hook writes it."""
    if base not in _BASES:
        raise UsageTypeError(f"a Python function cannot define both hooks of {base}", input="op",
                             hint="pass CUDA source with a macro for each, or an installed name")
    if not base.startswith("map"):
        return elements[0]
    return dtype or _result_of_map(function, elements, mode)


def compile_function(function, base, contract, elements, mode, result):
    """The Inputs for a Python function: the hook, and the function that it calls."""
    _, types = _numba()
    returned = {"less": types.uint8, "keep": types.uint8, "bin": types.uint32}.get(base) or getattr(
        types, "uint8" if result.is_bool else _computed_name(result))
    count = 2 if base in ("combine", "less") else len(elements) if base.startswith("map") else 1
    arguments = tuple(getattr(types, _computed_name(element)) for element in (elements * 2 if count == 2 and len(elements) == 1
                                                                          else elements))[:count]
    code, _ = _compile(function, arguments, mode, returned)
    name = getattr(function, "__name__", "operator").strip("<>")
    hook = compile(_declarations(base, elements, result), contract=contract, name=f"{name}.cu")
    return [hook, Input.from_bytes(code, f"{name} of Python")]

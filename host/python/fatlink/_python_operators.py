# SPDX-License-Identifier: Apache-2.0
"""Operators in Python: Numba compiles the function to a C function on numbers, and a generated CUDA source calls it from the
hook, whose elements are opaque bytes. Both are linked, and in lto mode inlined."""
import warnings

from ._compiling import compile
from ._element_types import number_type
from ._errors import CompileError, UnavailableError, UsageError, UsageTypeError
from ._inputs import Input

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


def _compile(function, signature, mode):
    """The code of a function for a link mode, and the type of its result."""
    cuda, _ = _numba()
    form = "ptx" if mode == "ptx" else "ltoir"
    try:
        code, result = cuda.compile(getattr(function, "py_func", function), signature, device=True, abi="c",
                                    abi_info={"abi_name": _SYMBOL}, cc=(7, 5), output=form)
    except Exception as cause:  # Numba raises errors of many classes
        if "LibNotFound" in type(cause).__name__:
            raise _unavailable(cause) from None
        name = getattr(function, "__name__", "op")
        raise CompileError(f"Numba cannot compile {name}: {type(cause).__name__}: {_first_line(cause)}", code="numba-error",
                           stage="compiler", input=name, log=str(cause),
                           hint="use arithmetic on numbers and functions of math; error.log has Numba's message") from cause
    return code.encode() if isinstance(code, str) else bytes(code), result


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
    arguments = [getattr(types, _computed_name(element)) for element in (elements * 2 if count == 2 and len(elements) == 1
                                                                     else elements)][:count]
    code, _ = _compile(function, returned(*arguments), mode)
    name = getattr(function, "__name__", "operator").strip("<>")
    hook = compile(_declarations(base, elements, result), contract=contract, name=f"{name}.cu")
    return [hook, Input.from_bytes(code, f"{name} of Python")]

# SPDX-License-Identifier: Apache-2.0
"""Lists operators by name, and makes the errors for operators that do not fit a call.

To find the element types of an operator, operators() does the same as a call: it prepares the operator with the library of
its contract, and reads the types from the plan. It uses the reference device and PTX, which needs no link. The list therefore
contains exactly what calls accept."""
from ._arguments import attribute, shown
from ._devices import opened
from ._elements import INDEXES, SIZES, RecordedType, element_type, is_compatible, split_record
from ._errors import CompileError, Error, RefusedError, UsageError, UsageTypeError
from ._inputs import Input
from ._install import installed
from ._operators import (ALGORITHMS, KEYS_OF_ORDERS, MACROS, compile_code, contract_for, families, has_family, is_name, is_of_any_size, is_path, name_of,
                         stem_of, suffixes_of)
from ._plans import Prepared

TYPE_CHECKING = False  # of typing, whose import takes longer than all others here
if TYPE_CHECKING:
    from typing import Any
else:  # typing.get_type_hints needs the name
    Any = object


class OperatorName(str):
    """The name of an operator, which is a text. `needs_compiler`: whether NVRTC compiles the operator, unless the cache holds
    it."""

    __slots__ = ("needs_compiler",)
    needs_compiler: bool

    def __new__(cls, name: str, needs_compiler: bool = False) -> "OperatorName":
        self = super().__new__(cls, name)
        self.needs_compiler = needs_compiler
        return self

    def __reduce__(self):
        return OperatorName, (str(self), self.needs_compiler)


def operators(algorithm: str, dtype: Any, arrays: int = 1) -> list[OperatorName]:
    """The names that an algorithm accepts as `op` for arrays of a type: first those of families, then those of installed
    operators. Each name is a text; its attribute `needs_compiler` says whether NVRTC compiles the operator at its first call.
    Every algorithm also accepts CUDA source, which needs NVRTC. All except transform_reduce and transform_select accept a
    Python function, which needs Numba.

    algorithm   the name of a function: "reduce", "sort", "map"
    dtype       the type of the elements: "float32", a dtype of NumPy, PyTorch or JAX, or anything that numpy.dtype() accepts
    arrays      for map: the number of arrays, from 1 to 3

        >>> fatlink.operators("sort", "float32")
        ['less', 'greater', 'greater_float', 'less_float']"""
    if algorithm == "top_k":  # accepts only the orders that keys express
        return [name for name in operators("sort", dtype, arrays) if name in KEYS_OF_ORDERS]
    bases = [base for base, functions in ALGORITHMS.items() if algorithm in functions]
    if not bases:
        names = dict.fromkeys(name for functions in ALGORITHMS.values() for name in functions)
        raise UsageError(f"algorithm is {shown(algorithm)}", input="algorithm", hint=f"pass one of {', '.join(names)}")
    base = f"map{arrays}" if algorithm == "map" else bases[0]
    if base not in bases:
        raise UsageError(f"arrays is {shown(arrays)}", input="arrays", hint="pass 1, 2 or 3")
    return _names_of(base, element_type(dtype), _installed_operators())


# The library that states which elements an operator takes.
_LIBRARIES = {"load": "", "combine": "reduce_{}", "load_combine": "transform_reduce_{}", "keep": "select_{}", "keep_store": "transform_select_{}",
              "less": "sort_{}", "key": "radix_sort_{}", "equal": "unique_{}", "same_key": "run_lengths", "bin": "histogram_{}", "part": "partition3_{}", "map1": "map1", "map2": "map2", "map3": "map3"}
_COUNTS = {"map1": 1, "map2": 2, "map3": 3}
_taken: dict = {}  # by the digest of an input and its contract: as types_taken() returns


def _installed_operators(*names):
    """The base and size of the contract of each installed operator, or of the named ones, by name."""
    found = {}
    for entry in installed(*names):
        contract = (entry.get("contract") or {}).get("name") or ""
        base, _, size = contract.rpartition("_") if contract[-1:].isdigit() and "_" in contract else (contract, "", "")
        if entry["kind"] == "transform":
            found[entry["name"]] = (base, int(size or 0)) if base in _LIBRARIES else (contract, 0)
    return found


def recorded_type(inputs, name):
    """The type that one of the inputs records under a name, as an argument of a plan; None if none does."""
    found = next(filter(None, (entry.element(name) for entry in inputs)), "")
    return RecordedType(found) if found else None


def types_taken(inputs, base, size):
    """The arrays that an operator takes, each as an argument of a plan. None if it does not link with the library."""
    if base == "load":  # no library has this hook only
        recorded = recorded_type(inputs, base)
        return recorded and [recorded]
    key = (base, size, *[entry.digest for entry in inputs])
    if key not in _taken:
        if len(_taken) >= 1024:
            _taken.clear()
        _taken[key] = _prepare(inputs, base, size)
    return _taken[key]


def _prepare(inputs, base, size):
    for mode in ("ptx", "lto"):  # an operator may have one of them only
        try:
            by_name = Prepared(opened("cpu"), _LIBRARIES[base].format(size), inputs, mode).by_name
        except Error:
            continue
        count = _COUNTS.get(base, 1)
        if base == "same_key":
            return [by_name["keys"]]
        return [by_name[name] for name in (["in"] if count == 1 else [f"in{index + 1}" for index in range(count)])]
    return None


def _taken_by(name, base, size):
    try:
        return types_taken([Input.find(name)], base, size)
    except Error:  # its file is damaged
        return None


def _names_of(base, element, entries):
    if not is_of_any_size(base) and element.bytes not in SIZES:
        return []
    fits = [name for name, (own_base, size) in entries.items() if own_base == base and (
        size in (0, element.bytes) or base.startswith("load")) and _accepts(_taken_by(name, base, size), element)]
    own = dict.fromkeys(families(base, element), False)
    if base == "combine" and element.sum_type is not None:
        own.update(add=True, multiply=True)  # they convert the elements, in code that is compiled
    known = {*fits, *(name for name, (own_base, _) in entries.items() if own_base == "key")}
    names = [OperatorName(name, is_converted or not _spellings(name, base, element) & known) for name, is_converted in own.items()]
    return names + [OperatorName(name) for name in fits if name not in own]


def _spellings(name, base, element):
    """What installed operators of a family are called."""
    if base == "less" and element.cuda_name:
        name = KEYS_OF_ORDERS.get(name, name)
    name = stem_of(name, base)
    return {name, *(f"{name}_{suffix}" for suffix in suffixes_of(element))}


def _accepts(taken, element):
    return taken is not None and all(is_compatible(element, argument) for argument in taken)


# What users of other libraries write, and the family that computes it.
_ALIASES = {
    **dict.fromkeys(("sum", "plus", "+", "nansum"), "add"), **dict.fromkeys(("prod", "product", "mul", "times", "*"), "multiply"),
    **dict.fromkeys(("sub", "minus", "-"), "subtract"), **dict.fromkeys(("div", "truediv", "true_divide", "/"), "divide"),
    **dict.fromkeys(("maximum", "amax", "largest", "fmax", "any", "or"), "max"),
    **dict.fromkeys(("minimum", "amin", "smallest", "fmin", "all", "and"), "min"),
    **dict.fromkeys(("desc", "descending", "reverse", "reversed", "gt", ">"), "greater"),
    **dict.fromkeys(("asc", "ascending", "lt", "<"), "less"), **dict.fromkeys(("neg", "negative"), "negate"),
    **dict.fromkeys(("absolute", "fabs"), "abs"), **dict.fromkeys(("sqr", "pow2"), "square"),
    **dict.fromkeys(("isfinite", "notnan"), "finite"), **dict.fromkeys(("fma", "mad", "muladd"), "multiply_add"),
    **dict.fromkeys(("bincount", "bytes"), "byte_bins"), **dict.fromkeys(("hist", "linear", "uniform"), "uniform_bins"),
    "bool": "nonzero",
}


def suggestion(name, names):
    """The name in `names` that another name probably means; None: there is none."""
    import difflib
    meant = _ALIASES.get(name.lower())
    return meant if meant in names else next(iter(difflib.get_close_matches(name.lower(), names, 1)), None)


def _hint(base, element, name=""):
    """A hint: the operators for elements of a type, and which one an unknown name probably means."""
    try:
        names = _names_of(base, element, _installed_operators())
    except Exception:  # the hint lacks the installed ones; the error is another one
        names = list(families(base, element))
    if name in names:  # of elements that are converted, which these are not: dtype= states their type
        names = list(families(base, element))
    meant = name and suggestion(name, names)
    listing = f"names for {element}: {', '.join(names)}; or pass" if names else f"no name is known for {element}: pass"
    macro = "FATLINK_LOAD_AT(type, char, in, index)" if element is INDEXES else MACROS[base].replace("element", "type")
    return f"{f'did you mean {meant!r}? ' if meant else ''}{listing} CUDA source with {macro}{'' if base == 'key' else ', or a Python function'}"


def _type_name(argument):
    """The type of an argument's elements for a message."""
    size = argument.type_name.removeprefix("bytes")
    return f"structs of {size} bytes" if size.isdigit() else argument.type_name


def label_of(op):
    """The name of an operator in messages."""
    if is_path(op):
        return str(op)
    if isinstance(op, Input):
        return op.name
    return f"operator {name_of(op) or attribute(op, '__name__')}" if is_name(op) or callable(op) else "the CUDA source"


# What the elements are that an operator does not take, if they are not those of an array.
_GIVEN = {"load": "{} makes {}", "dtype": "x is converted to {1}, the {0} of the call"}
_REMEDIES = {"load": "let load make {}", "dtype": "pass {} as dtype="}


def wrong_type(op, taken, base, elements, names="xyz"):
    """The error for an operator that takes arrays of other types; None if the types fit. `taken`: arguments of a plan; `names`:
    of the arrays, for the message."""
    wrong = next((index for index, (argument, element) in enumerate(zip(taken, elements)) if not is_compatible(element, argument)), None)
    if wrong is None:
        return None
    array, element, argument = names[wrong], elements[wrong], taken[wrong]
    fields = split_record(argument.type_name)
    hint = _hint(base, elements[0]) if is_name(op) or element is INDEXES else (
        f"write it for {element.cuda_name or 'a struct with the fields of the dtype'}, or "
        + (_REMEDIES[array].format(_type_name(argument)) if array in _REMEDIES else f"convert {array} to {argument.type_name}" if argument.element else f"pass {_type_name(argument)}"))
    if fields and array not in _GIVEN:
        hint = f"make an array of them: numpy.empty(len({array}), {fields!r}), and set its fields; {hint}"
    given = "x is a range" if element is INDEXES else _GIVEN.get(array, "{} is an array of {}").format(array, element)
    return UsageTypeError(f"{label_of(op)} takes {_type_name(argument)}, but {given}",
                          input=op if isinstance(op, str) else "op", code="wrong-operator", hint=hint)


def _several(names):
    names = list(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_NUMBERS = {1: "one array", 2: "two arrays", 3: "three arrays"}


def _wrong_algorithm(label, bases, algorithm, base, element):
    """The error for an operator of other algorithms, whose contracts are `bases`."""
    maps = [other for other in bases if other in _COUNTS]
    if base in _COUNTS and maps:
        takes, given = _COUNTS[maps[0]], _COUNTS[base]
        arrays = ", ".join("xyz"[:takes])
        text = f"{label} takes {_NUMBERS[takes]}; map was given {_NUMBERS[given]}"
        return UsageError(text, input="op", code="wrong-operator", hint=f"call fatlink.map({arrays}, op=…); {_hint(base, element)}")
    of = _several(dict.fromkeys(name for other in bases for name in ALGORITHMS.get(other, (f"libraries with the contract {other}",))))
    return UsageError(f"{label} is for {of}, not for {algorithm}", input="op", code="wrong-operator", hint=_hint(base, element))


def explained(failure, op, algorithm, base, elements, names="xyz"):
    """The error of a call whose operator does not fit, in terms of the call; `failure` itself if there is nothing to add. `names`:
    of the arrays, for the message."""
    is_of_operator = isinstance(failure, (RefusedError, CompileError)) or failure.code == "no-operator"
    if not is_of_operator:
        return failure
    algorithm = "map" if base in _COUNTS else algorithm.removeprefix("radix_").removesuffix("_wide")
    algorithm = {"unique": "unique_consecutive", "lower_bound": "searchsorted", "upper_bound": "searchsorted", "unique_by_key_wide": "unique_by_key"}.get(algorithm, algorithm)
    if base in ("key", "load"):
        algorithm += f"({base}=…)"
    try:
        if (name := name_of(op)) is not None:
            return _explain_name(name, algorithm, base, elements, names) or failure
        return not callable(op) and _explain_code(failure, op, algorithm, base, elements, names) or failure
    except (Error, OSError):  # of the search for an explanation
        return failure


def _explain_name(name, algorithm, base, elements, names):
    element = elements[0]
    try:
        own_base, size = _installed_operators(name).get(name, (None, 0))
    except Error:  # there is none
        own_base = None
    if own_base == base:
        taken = _taken_by(name, base, size)
        return taken and wrong_type(name, taken, base, elements, names)
    others = [own_base] if own_base else [other for other in MACROS if other not in (base, "key") and has_family(name, other)]
    if others and not has_family(name, base):
        return _wrong_algorithm(f"operator {name}", others, algorithm, base, element)
    if name in families(base, element):  # the failure is that of another input of the link
        return None
    return UsageError(f"unknown operator {name!r} for {element} (contract {contract_for(base, element.bytes)})", code="no-operator",
                      input=name, hint=_hint(base, element, name))


# The macros of each contract.
_DEFINED = {"combine": {"COMBINE"}, "load_combine": {"LOAD", "COMBINE"}, "load": {"LOAD"}, "keep": {"KEEP"}, "keep_store": {"KEEP", "STORE"},
            "less": {"LESS"}, "key": {"KEY"}, "equal": {"EQUAL"}, "same_key": {"SAME_KEY"}, "bin": {"BIN"}, "part": {"PART"}, "map1": {"MAP1"}, "map2": {"MAP2"}, "map3": {"MAP3"}}


def _explain_code(failure, op, algorithm, base, elements, names):
    """Explains an error for CUDA source, a file or an Input."""
    import re
    if isinstance(failure, RefusedError):
        file = op if isinstance(op, Input) else Input.find(op)
        taken = next(filter(None, (types_taken([file], base, size) for size in SIZES)), None)
        return taken and wrong_type(op, taken, base, elements, names)
    text = op
    if is_path(op):
        with open(op, encoding="utf-8", errors="replace") as file:
            text = file.read()
    defined = set(re.findall(r"\bFATLINK_(COMBINE|LOAD|KEEP|STORE|LESS|KEY|SAME_KEY|EQUAL|BIN|PART|MAP[123])(?:_AT)?\b", text))
    bases = [other for other, macros in _DEFINED.items() if macros == defined]
    if bases and bases != [base]:
        return _wrong_algorithm(f"{label_of(op)}, which defines {_several(sorted(f'FATLINK_{name}' for name in defined))},", bases, algorithm,
                                base, elements[0])
    size = re.search(rf"use the contract {base}_(\d+)", failure.message)
    if size is None:
        return None
    taken = types_taken([compile_code(op, f"{base}_{size[1]}")], base, int(size[1]))
    return taken and wrong_type(op, taken, base, elements, names)

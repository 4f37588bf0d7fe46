# SPDX-License-Identifier: Apache-2.0
"""Operators, as passed with `op=`: an installed name, the name of a family ("add" of any type), a file, an Input, CUDA
source, or a Python function.

The fields of structured dtypes of NumPy are compared with those of an operator's struct, by name. For a file, the .json
beside it states the fields. CUDA source is compiled with a check of each field's offset, size and kind of number. If the
field names differ, the struct is used by position, with a warning, provided that no name occurs at another position.
Operators in fatbins without a .json have no fields to compare."""
import operator
import os

from ._arguments import attribute, path_of, shown
from ._elements import number_type, warn_of_names
from ._errors import CompileError, FileError, UnavailableError, UsageError, UsageTypeError
from ._inputs import Input
from ._linking import compile_operator as compile
from ._linking import is_offline, warn_of_compile
from ._python_operators import compile_function, function_of, key_of_function, result_of

# The contracts of operators, without the size of an element, and the functions that take these operators.
ALGORITHMS = {"combine": ("reduce", "segmented_reduce", "scan", "exclusive_scan", "reduce_by_key", "scan_by_key"), "load_combine": ("transform_reduce",),
              "keep": ("select", "partition"), "part": ("partition3",), "keep_store": ("transform_select",), "less": ("sort", "sort_pairs", "segmented_sort", "merge", "searchsorted"),
              "key": ("sort(key=…)", "sort_pairs(key=…)", "top_k(key=…)"), "equal": ("unique_consecutive",),
              "load": ("reduce(load=…)", "scan(load=…)", "exclusive_scan(load=…)", "select(load=…)", "histogram(load=…)", "reduce_by_key(load=…)",
                       "scan_by_key(load=…)"),
              "same_key": ("unique_by_key", "run_lengths", "reduce_by_key(equal=…)", "scan_by_key(equal=…)"), "bin": ("histogram",), "map1": ("map",), "map2": ("map",), "map3": ("map",)}
# What installed operators of a type are called: add_float, add_floats, add_double.
_SUFFIXES = {"float32": ("float", "floats"), "float64": ("double", "doubles")}
_HEADERS = {"float16": "#include <cuda_fp16.h>\n", "bfloat16": "#include <cuda_bf16.h>\n"}
MACROS = {"combine": "FATLINK_COMBINE(element, a, b)", "less": "FATLINK_LESS(element, a, b)",
           "keep": "FATLINK_KEEP(element, x)", "map1": "FATLINK_MAP1(element, element, x)",
           "map2": "FATLINK_MAP2(element, element, a, element, b)",
           "map3": "FATLINK_MAP3(element, element, a, element, b, element, c)",
           "load_combine": "FATLINK_LOAD and FATLINK_COMBINE", "keep_store": "FATLINK_KEEP and FATLINK_STORE",
           "key": "FATLINK_KEY(element, x)", "equal": "FATLINK_EQUAL(element, a, b)", "same_key": "FATLINK_SAME_KEY(element, a, b)", "bin": "FATLINK_BIN(element, x)",
           "part": "FATLINK_PART(element, x)", "load": "FATLINK_LOAD(element, from, x)"}
# Families, which fatlink writes for any type of numbers where no installed operator has it.
_EXPRESSIONS = {
    "combine": {"add": "a + b", "multiply": "a * b", "max": "a < b ? b : a", "min": "b < a ? b : a",
                "abs_max": "(a < zero ? -a : a) < (b < zero ? -b : b) ? (b < zero ? -b : b) : (a < zero ? -a : a)"},
    "less": {"less": "!(b <= a) && a == a", "greater": "!(a <= b) && b == b"},  # NaN last; first
    "equal": {"equal": "a == b"},
    "same_key": {"equal": "a == b"},
    "key": {"ascending": "fatlink::ascending(x)", "descending": "fatlink::descending(x)"},
    "keep": {"nonzero": "x != zero", "positive": "x > zero", "finite": "x - x == zero"},
    "map1": {"abs": "x < zero ? -x : x", "negate": "-x", "square": "x * x"},
    "map2": {"add": "a + b", "subtract": "a - b", "multiply": "a * b", "divide": "a / b", "max": "a < b ? b : a",
             "min": "b < a ? b : a"},
    "map3": {"multiply_add": "a * b + c"},
}
_COMPLEX_EXPRESSIONS = {
    "equal": {"equal": "a.x == b.x && a.y == b.y"},
    "same_key": {"equal": "a.x == b.x && a.y == b.y"},
    "combine": {"add": "a.x + b.x, a.y + b.y", "multiply": "a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x"},
    "map1": {"negate": "-x.x, -x.y", "square": "x.x * x.x - x.y * x.y, 2 * x.x * x.y"},
    "map2": {"add": "a.x + b.x, a.y + b.y", "subtract": "a.x - b.x, a.y - b.y",
             "multiply": "a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x"},
}
_COMPLEX_NAMES = {"complex64": "float2", "complex128": "double2"}
for _table in _EXPRESSIONS, _COMPLEX_EXPRESSIONS:
    _table["load"] = _table["map1"]
# What the names of installed operators of a family begin with, if that is not the name of the family.
_STEMS = {"same_key": {"equal": "same"}, "load": {"abs": "magnitudes", "square": "squares"}}
# The keys by which a radix sort sorts numbers in these orders.
KEYS_OF_ORDERS = {"less": "ascending", "greater": "descending"}
_FAMILIES_OF_BOOL = ("max", "min", "less", "greater", "ascending", "descending", "equal", "nonzero")
_FUNCTIONS = {operator.add: "add", operator.mul: "multiply", max: "max", min: "min", operator.lt: "less", operator.gt: "greater", operator.eq: "equal",
              operator.sub: "subtract", operator.truediv: "divide", operator.neg: "negate", abs: "abs"}
# NumPy's universal functions that compute the same, by their names.
_UNIVERSAL = {"add": "add", "multiply": "multiply", "maximum": "max", "minimum": "min", "less": "less", "greater": "greater", "equal": "equal",
              "subtract": "subtract", "divide": "divide", "true_divide": "divide", "negative": "negate", "absolute": "abs", "square": "square"}
_LOWEST = {"float16": float("-inf"), "bfloat16": float("-inf"), "float32": float("-inf"), "float64": float("-inf")}


def _limit(element, is_highest):
    """The largest or smallest value of a type of numbers."""
    if element.name in _LOWEST:
        return -_LOWEST[element.name] if is_highest else _LOWEST[element.name]
    if element.is_bool:
        return is_highest
    bits, is_signed = 8 * element.bytes, element.name.startswith("int")
    if is_highest:
        return 2 ** (bits - is_signed) - 1
    return -(2 ** (bits - 1)) if is_signed else 0


def identity_of(name, element):
    """The identity of an operator on numbers, by its name; None: unknown."""
    if not element.cuda_name and element.name not in _COMPLEX_NAMES:
        return None
    if name.startswith(("sum_", "count_")):
        return 0
    for suffix in suffixes_of(element):
        name = name.removesuffix("_" + suffix)
    return {"add": lambda: 0, "multiply": lambda: 1, "abs_max": lambda: 0, "max": lambda: _limit(element, False),
            "min": lambda: _limit(element, True)}.get(name, lambda: None)()


def suffixes_of(element):
    return (*_SUFFIXES.get(element.name, ()), element.name)


class Operator:
    """The inputs of a link for an operator. `name` is for messages. `is_guess`: if it does not fit, another one may be
    tried."""

    __slots__ = ("name", "make", "identity", "is_guess", "result")

    def __init__(self, name, make, identity=None, is_guess=False, result=None):
        self.name = name
        self.result = result  # the ElementType of a map's results, where the inputs do not tell it from another
        self.make = make  # returns a list of Inputs
        self.identity = identity
        self.is_guess = is_guess


def contract_for(base, size):
    return base if is_of_any_size(base) else f"{base}_{size}"


def is_of_any_size(base):
    """Whether a contract is for elements of any size."""
    return base.startswith("map") or base == "same_key"


def stem_of(family, base):
    """What the names of the installed operators of a family begin with."""
    return _STEMS.get(base, {}).get(family, family)


def family_of(function):
    """The family that computes the same as a function of Python or NumPy; None for any other function."""
    if type(function).__name__ == "ufunc":
        return _UNIVERSAL.get(function.__name__)
    try:
        return _FUNCTIONS.get(function)
    except TypeError:  # it has no hash
        return None


def candidates(op, base, elements, mode, result=None, size=None, out=None, contract=None):
    """The Operators to try for `op`, an operator of the contract `base`_`size` on arrays of these element types. The size is
    that of the elements, except for load and load_combine, which make elements of another type. `out`: the element type of the
    caller's array for the results. `contract`: a different contract that includes the hooks of `base`, for which sources are
    compiled."""
    element = elements[0]
    contract = contract or contract_for(base, size or element.bytes)
    records = _records_of(base, ("keys",) if base == "same_key" else "xyz", elements, out)
    if isinstance(op, Input):
        return [Operator(op.name, lambda: [op], result=result)]
    if op.__class__ is Conversion:
        return [Operator("the conversion", lambda: [op.compile(base, contract)], result=result)]
    if callable(op):
        family = family_of(op)
        if base in _EXPRESSIONS and (family or is_of_library(op)) and not has_family(family, base):
            raise _unknown(name_of(op))
        if family is None or base not in _EXPRESSIONS:
            result = result_of(op, base, elements, mode, result)
            if base == "load":
                contract = contract_for(base, result.bytes)
            name = getattr(op, "__name__", repr(op))
            return [Operator(name, lambda: _compiled(f"the Python function {name}", lambda: compile_function(
                op, base, contract, elements, mode, result)), result=result)]
        if family == "divide" and not element.name.startswith(("float", "bfloat", "complex")):
            raise UsageTypeError(f"{op.__name__} makes floats of {element}, and the operator 'divide' truncates", input="op",
                                 hint='convert the arrays to floats, or pass op="divide"')
        op = family
    if is_name(op):
        return _by_name(op, base, contract, elements, result)
    if not isinstance(op, (str, os.PathLike)):
        raise not_an_operator(op, base)
    name = path_of(op, "op") if is_path(op) else "the CUDA source"
    return [Operator(name, lambda: [_compiled(name, lambda: compile_code(op, contract, records))], result=result)]


def _unknown(name):
    """The error for an unknown name; _operator_names.py adds details."""
    return UsageError(f"unknown operator {name!r}", code="no-operator", input=name, hint="fatlink.operators() lists the names")


def is_of_library(function):
    """Whether a function belongs to Python or an array framework; Numba does not compile such functions."""
    module = attribute(function, "__module__")
    return function.__class__.__name__ in ("builtin_function_or_method", "ufunc", "type") or isinstance(module, str) and (
        module.partition(".")[0] in ("numpy", "cupy", "torch", "jax"))


def name_of(op):
    """The name of an operator. For a function, it is the family that computes the same, or the function's own name. None for
    a file and for CUDA source."""
    if callable(op):
        return family_of(op) or is_of_library(op) and attribute(op, "__name__") or None
    return op if is_name(op) else None


def framework_operator(classes, algorithm, op, options, *, others, without_gradient):
    """The class in `classes` of an operator of PyTorch or JAX, its operator, and those of `options` that are stated. The hints of
    errors: `others`, for another algorithm; `without_gradient`, where the algorithm takes no `gradient`."""
    cls = classes.get(algorithm) if isinstance(algorithm, str) else None
    if cls is None:
        raise UsageError(f"algorithm is {shown(algorithm)}", input="algorithm", hint=f"pass one of {', '.join(classes)}; {others}")
    stated = {option: value for option, value in options.items() if value is not None}
    for option in stated:
        if option not in cls.options:
            raise UsageTypeError(f"{option} is not an argument of {algorithm}", input=option, hint=(
                without_gradient if option == "gradient" else f"leave it out; {algorithm} takes {', '.join(cls.options)}"))
    op = cls.default if op is None else op
    if not callable(op) and not isinstance(op, (str, os.PathLike, Input)):
        raise not_an_operator(op, "map1")
    return cls, op, stated


def not_an_operator(op, base):
    """The error for a value that is not an operator. For an array, it says what the caller probably wants."""
    hint = "pass a name, a file, a fatlink.Input, CUDA source or a Python function"
    argument = {"same_key": "equal", "load": "load"}.get(base, "op")
    dtype = attribute(op, "dtype")
    if dtype is None:
        return UsageTypeError(f"{argument} is {shown(op)}", input=argument, hint=hint)
    if base in ("keep", "keep_store"):
        hint = ("index with a mask in the arrays' own framework: x[mask]; or pass the condition on an element as op: a name "
                "(\"nonzero\"), CUDA source (\"FATLINK_KEEP(float, x) { return x > 3; }\") or a Python function (lambda x: x > 3)")
    elif not is_of_any_size(base):
        hint += "; fatlink.map applies an operator to several arrays"
    return UsageTypeError(f"{argument} is an array of {shown(dtype)}, not an operator", input=argument, hint=hint)


def compile_code(op, contract, records=()):
    """The Input for a file or CUDA source, compiled for a contract. `records`: as in _compile_compared()."""
    if not is_path(op):
        return _from_source(op, contract, "operator.cu", records, "the CUDA source")
    path = path_of(op, "op")
    if not path.endswith(".cu"):
        return Input.find(path)
    try:
        with open(path, encoding="utf-8") as file:
            source = file.read()
    except (OSError, UnicodeDecodeError) as cause:
        raise FileError(f"{path}: {cause}", code="unreadable-file", stage="input", input=path,
                        hint="check the path and its permissions") from None
    return _from_source(source, contract, path, records, path, include_folders=[os.path.dirname(path) or "."])


def _from_source(source, contract, name, records, operator, **options):
    result = _compile_compared(lambda text: compile(text, contract=contract, name=name, **options), source, records, operator)
    warn_of_compile(result)
    return result


def _compiled(what, make, why=""):
    """Returns the result of `make`. If a compiler is missing, the error says what has to be compiled, and why."""
    try:
        return make()
    except UnavailableError as cause:
        if cause.code != "no-numba":  # which says it
            cause.message = f"{what} has to be compiled{why}: {cause.message}"
        raise


class Conversion(tuple):
    """An operator of one array that converts numbers: (element, result). Equal conversions are the same operator."""

    __slots__ = ()

    def __new__(cls, element, result):
        conversion_source("map1", element, result)  # raises where there is none
        return super().__new__(cls, (element, result))

    def compile(self, base, contract):
        """Compiles the conversion to an Input; `base` as in conversion_source()."""
        source = conversion_source(base, *self)
        return _compiled(f"the conversion of {self[0]} to {self[1]}", lambda: compile(source, contract=contract, name="convert.cu"))


def _by_name(name, base, contract, elements, result):
    element = elements[0]
    if has_family(name, base):
        _require_one_type(name, elements)
    operators = []
    is_family = name in families(base, element)
    suffixes = sorted(suffixes_of(element), key=lambda suffix: suffix.endswith("s") != base.startswith("map"))  # add_floats
    names = [name, *(f"{stem_of(name, base)}_{suffix}" for suffix in suffixes)] if element.cuda_name else [name]
    missing = None
    try:
        for spelling in names:
            try:
                entry = Input.find(spelling)
            except FileError as cause:
                missing = missing or cause
                continue
            operators.append(Operator(spelling, lambda entry=entry: [entry], identity_of(spelling, element),
                                      is_family or spelling != name, result))
            if spelling == name and not is_family:
                return operators
        if is_family:
            operators.append(_of_family(name, base, contract, element, result))
        if not operators:
            raise _unknown(name) from missing
        return operators
    finally:
        missing = None  # refers to this frame, and so to the arrays of the caller


def _of_family(name, base, contract, element, result):
    """The operator that fatlink writes for this type."""
    return Operator(name, lambda: [_compiled(
        f"operator {name} of {element}", lambda: compile(source_of(name, base, element, result), contract=contract, name=f"{name}.cu"),
        " (no installed operator of this name is for this type)")],
        identity_of(name, element), result=result or (element if element.is_bool else None))


def _require_one_type(name, elements):
    """Operators that fatlink writes take arrays of one type; bool is stored as uint8."""
    types = [number_type("uint8") if element.is_bool else element for element in elements]
    wrong = next((index for index, element in enumerate(types) if element is not types[0]), None)
    if wrong is not None:
        raise UsageTypeError(
            f"operator {name} takes arrays of one type; x is an array of {elements[0]}, {'xyz'[wrong]} of {elements[wrong]}",
            input="op", code="wrong-operator",
            hint="convert one of them (x.astype of NumPy and CuPy, x.to of PyTorch), or pass CUDA source for both types")


def families(base, element):
    """The families for which fatlink writes operators on elements of this type: the expression of each, by name."""
    if element.name in _COMPLEX_NAMES:
        return _COMPLEX_EXPRESSIONS.get(base, {})
    expressions = _EXPRESSIONS.get(base, {})
    if element.is_bool:
        return {name: expressions[name] for name in _FAMILIES_OF_BOOL if name in expressions}
    return expressions if element.cuda_name else {}


def has_family(name, base):
    """Whether fatlink writes operators of this name for some types."""
    return name in _EXPRESSIONS.get(base, {})


def source_of(name, base, element, result=None):
    """The CUDA source of an operator of a family. `result`: the type in which `load` computes, if that is another one."""
    expression = families(base, element)[name]
    if base == "load":
        return conversion_source(base, element, result or element, expression)
    if element.name in _COMPLEX_NAMES:
        return f"using element = {_COMPLEX_NAMES[element.name]};\n{MACROS[base]}\n{{\n  return {{{expression}}};\n}}\n"
    kind = "unsigned char" if element.is_bool else element.cuda_name
    return (f"{_HEADERS.get(element.name, '')}using element = {kind};\n{MACROS[base]}\n{{\n"
            f"  [[maybe_unused]] element const zero = element(0);\n  return {expression};\n}}\n")


def conversion_source(base, element, result, family=""):
    """The CUDA source that converts numbers, for the contract `base`: map1 or load. `family`: the expression of a family to apply
    to the converted number."""
    kind = "unsigned char" if result.is_bool else result.cuda_name or _COMPLEX_NAMES.get(result.name)
    own = "unsigned char" if element.is_bool else element.cuda_name or _COMPLEX_NAMES.get(element.name)
    if not kind or not own or element.name in _COMPLEX_NAMES and result.name not in _COMPLEX_NAMES:
        raise UsageTypeError(f"dtype is {result}, and {element} does not convert to it", input="dtype",
                             hint="leave dtype= out, or convert the array before the call")
    part = kind[:-1] if result.name in _COMPLEX_NAMES else kind
    between = "float" if element.name in _HEADERS or result.name in _HEADERS and element.name not in _LOWEST else part
    parts = [f"static_cast<{part}>(static_cast<{between}>({field}))" for field in (
        ("number.x", "number.y") if element.name in _COMPLEX_NAMES else ("number",))]
    expression = "!(number == static_cast<from>(0))" if result.is_bool else parts[0] if kind == part else (
        f"to{{{', '.join(parts)}}}")
    macro = "FATLINK_MAP1(to, from, number)" if base == "map1" else "FATLINK_LOAD(to, from, number)"
    headers = "".join(_HEADERS[name] for name in dict.fromkeys((element.name, result.name)) if name in _HEADERS)
    if family:
        zero = "" if kind != part else "  [[maybe_unused]] to const zero = to(0);\n"
        family = family if kind == part else f"{{{family}}}"
        body = f"  to const x = {expression};\n{zero}  return {family};\n"
    else:
        body = f"  return {expression};\n"
    return f"{headers}using from = {own};\nusing to = {kind};\n{macro}\n{{\n{body}}}\n"


def is_sum(op):
    """Whether an operator is one of the families whose results outgrow the elements: "add" or "multiply"."""
    return op in ("add", "multiply") if isinstance(op, str) else callable(op) and family_of(op) in ("add", "multiply")


def key_of(op):
    """The key of an operator: for a Python function its code and the values that it uses, for a file the file and its state;
    any other operator is its own key."""
    function = function_of(op)
    if function is not None:
        return key_of_function(function)
    if is_path(op):
        return op, _state_of(op)
    return op


def is_source(text):
    """Whether a text is CUDA source rather than a name or file."""
    return "{" in text or "\n" in text


def text_of(op):
    """The CUDA source of an operator that is source or a file; empty for another kind of file."""
    if not is_path(op):
        return op
    path = path_of(op, "op")
    if not path.endswith(".cu"):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def is_path(op):
    """Whether an operator is a file by its name or path."""
    return isinstance(op, os.PathLike) or isinstance(op, str) and is_file(op)


def is_name(op):
    return isinstance(op, str) and not is_source(op) and not is_file(op)


def is_file(text):
    return not is_source(text) and (os.sep in text or os.path.splitext(text)[1] in (
        ".cu", ".fatbin", ".ptx", ".ltoir", ".cubin", ".o", ".a"))


def _state_of(path):
    """A value that changes when a file is written or replaced; None if there is no file."""
    try:
        state = os.stat(path)
    except Exception:  # also of the object's own __fspath__
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino


_KINDS = {"f": ("float", "double"), "i": ("char", "signed char", "short", "int", "long", "long long"),
          "u": ("unsigned char", "unsigned short", "unsigned", "unsigned long", "unsigned long long")}
_CHECKS = """
namespace fatlink_fields {
template <typename Type> struct kind { static constexpr char value = 0; };  // of classes and enumerations
%s
template <typename Type> struct number { using type = Type; };
template <typename Type, unsigned long long Count> struct number<Type[Count]> : number<Type> {};
template <typename Member> __device__ constexpr bool is(char expected, unsigned long long bytes)
{
  constexpr char found = kind<typename number<Member>::type>::value;
  return sizeof(Member) == bytes && (expected == 0 || found == expected || found == 0);
}
template <bool Value> struct verdict { static constexpr bool value = Value; };
template <typename Element, unsigned long long Bytes> constexpr bool is_struct_of =
    (__is_class(Element) || __is_union(Element)) && sizeof(Element) == Bytes;
}
""" % "\n".join(f"template <> struct kind<{name}> {{ static constexpr char value = '{letter}'; }};"
                for letter, names in _KINDS.items() for name in names)
# Of one hook: `unstated` is found where the source does not state a type for it.
_CHECK_OF_HOOK = """
namespace fatlink_fields {{
namespace unstated {{ struct {hook}; }}
template <typename Element, bool = is_struct_of<Element, {bytes}>> struct check_{hook} {{}};
{check}
}}
namespace fatlink_element_types {{ using namespace fatlink_fields::unstated; }}
namespace fatlink_fields {{
namespace unstated {{ struct {hook} {{ char unused[{bytes} + 1]; }}; }}
template struct check_{hook}<fatlink_element_types::{hook}>;
}}
"""
_INPUTS = {"load_combine": ("load",), "keep_store": ("keep",), "map1": ("map_element_in",),
           "map2": ("map_element_in1", "map_element_in2"), "map3": ("map_element_in1", "map_element_in2", "map_element_in3")}
_OUTPUTS = {"load": "load_out", "keep_store": "store", "map1": "map_element", "map2": "map_element", "map3": "map_element"}


class _Record:
    """A structured dtype of a call's array, to which `hook` applies."""

    __slots__ = ("hook", "array", "dtype")

    def __init__(self, hook, array, dtype):
        self.hook = hook
        self.array = array  # for messages: "x"
        self.dtype = dtype

    def check_by_name(self):
        lines = [f"  static_assert(__INTADDR__(&static_cast<Element*>(nullptr)->{path}) == {offset} &&\n"
                 f'                is<decltype(static_cast<Element*>(nullptr)->{path})>({kind}, {size}), "fatlink: field {self.array}.{path}");'
                 for path, offset, kind, size in _fields(self.dtype)]
        text = "template <typename Element> struct check_{0}<Element, true> {{\n{1}\n}};".format(self.hook, "\n".join(lines))
        return _CHECK_OF_HOOK.format(hook=self.hook, bytes=self.dtype.itemsize, check=text)

    def check_by_position(self):
        fields = _fields(self.dtype)
        names = [f"field{index}" for index in range(len(fields))]
        matches = " && ".join(f"is<decltype({name})>({kind}, {size})" for name, (_, _, kind, size) in zip(names, fields))
        text = (f"template <typename Element> __device__ constexpr auto positions_{self.hook}(Element& element)\n{{\n"
                f"  auto& [{', '.join(names)}] = element;\n  return verdict<{matches}>{{}};\n}}\n"
                f"template <typename Element> struct check_{self.hook}<Element, true> {{\n  static_assert(decltype("
                f'positions_{self.hook}(*static_cast<Element*>(nullptr)))::value, "fatlink: field {self.array}.");\n}};')
        return _CHECK_OF_HOOK.format(hook=self.hook, bytes=self.dtype.itemsize, check=text)

    @property
    def is_flat(self):
        """Whether it contains only numbers, with the layout that C++ would give them."""
        end = 0
        for field, offset, *_ in (self.dtype.fields[name] for name in self.dtype.names):
            if field.base.kind not in "fiub" or offset != -(-end // field.base.itemsize) * field.base.itemsize:
                return False
            end = offset + field.itemsize
        return True


def _fields(dtype, path="", start=0):
    """The name in C++, offset, kind of number (0: any) and size of each field of a dtype, including the fields of nested
    structs."""
    fields = []
    for name in dtype.names:
        field, offset = dtype.fields[name][:2]
        if field.base.names:
            inner = f"{path}{name}{'[0]' * len(field.shape)}."
            fields += _fields(field.base, inner, start + offset)
        else:
            kind = repr(field.base.kind) if field.base.kind in _KINDS else "0"
            fields.append((path + name, start + offset, kind, field.itemsize))
    return fields


def _records_of(base, names, elements, out):
    """The structs among a call's arrays. `out`: the element type of the array for results, or None."""
    hooks = _INPUTS.get(base, (base,))
    found = [_Record(hook, name, element.dtype) for hook, name, element in zip(hooks, names, elements)]
    if base in _OUTPUTS and (out or base != "load"):
        found.append(_Record(_OUTPUTS[base], "dtype" if base == "load" else "out", (out or elements[0]).dtype))
    return [record for record in found if record.dtype is not None and record.dtype.names]


def _compile_compared(compile, source, records, operator):
    """Compiles CUDA source to an Input. `compile` takes a text. Raises if the fields of its structs are not those of the
    arrays."""
    if not records:
        return compile(source)
    result, log = _compile_with(compile, source, [record.check_by_name() for record in records])
    if result is not None:
        return result
    result = compile(source)  # an error of the source itself is raised here
    if not _field_in(log) and all(record.is_flat for record in records):  # it lacks a name
        checked, log = _compile_with(compile, source, [record.check_by_position() for record in records])
        if checked is not None:
            for record in records:
                warn_of_names(record.array, _text(record.dtype), operator)
            return result
    if is_offline():
        return compile(source + _CHECKS + "".join(record.check_by_name() for record in records))  # raises what is missing
    raise _other_fields(operator, records, _field_in(log))


def _compile_with(compile, source, checks):
    """Returns the Input, or None and the compiler's log."""
    try:
        return compile(source + _CHECKS + "".join(checks)), ""
    except CompileError as cause:
        return None, cause.log
    except UnavailableError as cause:
        if cause.code != "offline":  # layers do not hold compiles that failed
            raise
        return None, ""


def _field_in(log):
    """The field of an array, "x.value", whose check failed."""
    import re
    found = re.search(r'failed with "fatlink: field ([^"]+)"', log)
    return found[1] if found else ""


def _other_fields(operator, records, field):
    array, _, name = field.partition(".")
    record = next((record for record in records if record.array == array), records[0])
    return UsageTypeError(
        f"{record.array} has the fields {_text(record.dtype)}, but the struct of {operator} has others" + (f", at {name}" if name else ""),
        code="wrong-operator", input=operator,
        hint="pass out=, an array with the fields of the results" if record.array == "out" else
        "define the struct with the fields of the dtype: the same names, types and offsets")


def _text(dtype):
    return "{" + ", ".join(f"{name}: {dtype.fields[name][0]} at {dtype.fields[name][1]}" for name in dtype.names) + "}"

# SPDX-License-Identifier: Apache-2.0
"""Compares the fields of structured dtypes of NumPy with those of an operator's struct.

A .json beside an operator states the fields; of CUDA source the compiler compares them: the source is compiled with a check of
each field's offset, size and kind of number. Fields are compared by name. A struct whose names differ is used by position, with
a warning, if no name stands at another position. Operators in fatbins without a .json have no fields to compare."""
from ._elements import warn_of_names
from ._errors import CompileError, UsageTypeError

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
_OUTPUTS = {"keep_store": "store", "map1": "map_element", "map2": "map_element", "map3": "map_element"}


class Record:
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
        """Whether it has numbers only, and C++ lays out structs of them in the same way."""
        end = 0
        for field, offset, *_ in (self.dtype.fields[name] for name in self.dtype.names):
            if field.base.kind not in "fiub" or offset != -(-end // field.base.itemsize) * field.base.itemsize:
                return False
            end = offset + field.itemsize
        return True


def _fields(dtype, path="", start=0):
    """Each field of a dtype: its name in C++, offset, kind of number (0: any) and size; of a struct inside of it its fields."""
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


def records_of(base, names, elements, out):
    """The structs among the arrays of a call. `out`: the element type of the array for results, or None."""
    hooks = _INPUTS.get(base, (base,))
    found = [Record(hook, name, element.dtype) for hook, name, element in zip(hooks, names, elements)]
    if base in _OUTPUTS:
        found.append(Record(_OUTPUTS[base], "out", (out or elements[0]).dtype))
    return [record for record in found if record.dtype is not None and record.dtype.names]


def compile_compared(compile, source, records, operator):
    """Compiles CUDA source: an Input. `compile` takes a text. Raises where the fields of its structs are not those of the
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
    raise _other_fields(operator, records, _field_in(log))


def _compile_with(compile, source, checks):
    """The Input, or None and the compiler's log."""
    try:
        return compile(source + _CHECKS + "".join(checks)), ""
    except CompileError as cause:
        return None, cause.log


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

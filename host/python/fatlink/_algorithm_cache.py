# SPDX-License-Identifier: Apache-2.0
"""The prepared libraries of algorithms, by algorithm, operator, element types, device and link mode."""
from ._arguments import attribute, shown
from ._arrays import require_one_place
from ._devices import as_device
from ._elements import SIZES, ElementType, is_compatible, number_type, size_of_library, warn_of_names
from ._errors import CompileError, RefusedError, UsageError, UsageTypeError
from ._ffi import after_fork, make_lock
from ._linking import after_configure, compile, mode_number
from ._operators import candidates, conversion_source, key_of, not_an_operator, what_exists
from ._plans import Prepared, device_for, element_for_output

# Bytes of the linked images that are kept for calls on the host's memory; the reference device needs about 30 times as many for
# the program that it makes of each, so 250 MB. On GPUs all are kept: dropping them would free nothing (_plans.py).
_LIMIT = 8 << 20


class _ConvertFirst:
    """In place of a BoundAlgorithm: the operator combines elements of the type `dtype`, and cannot be linked with a conversion."""

    bytes = 0
    is_used = False
    prepared = None


CONVERT_FIRST = _ConvertFirst()
_bound: dict = {}
_gates: dict = {}  # of the calls that are being prepared
_lock = make_lock()


class BoundAlgorithm:
    """A prepared library of an algorithm, with its operator."""

    __slots__ = ("prepared", "operator", "identity", "elements", "bytes", "is_used")

    def __init__(self, prepared, operator):
        self.bytes = 0 if prepared.device.is_gpu else prepared.image_bytes
        self.is_used = False  # since the last time that calls were dropped
        self.prepared = prepared
        self.operator = operator
        self.identity = None if operator.identity is None else prepared.value("init", operator.identity) if (
            "init" in prepared.by_name) else None
        self.elements = {argument.name: argument.element for argument in prepared.arguments}  # None of structs
        if operator.result is not None and "out" in self.elements:
            self._set_result(operator.result, prepared.by_name["out"])

    def _set_result(self, element, argument):
        """The type that `dtype` states: it tells apart only types that the plan describes alike, as bool and uint8."""
        if not is_compatible(element, argument):
            raise UsageTypeError(f"dtype is {element}, but {self.operator.name} makes {argument.type_name}", input="dtype",
                                 hint="leave dtype= out, or pass an operator of this type; it converts the results of Python "
                                      "functions only")
        self.elements[argument.name] = element

    def accepts(self, name, element):
        """Whether arrays of this type may be given for an argument."""
        return is_compatible(element, self.prepared.by_name[name])

    def require_element(self, name, like):
        """The struct type of an argument: that of the array `like`."""
        return element_for_output(self.prepared.by_name[name], like)

    def initial(self, value, element=None):
        """The Value of `init`, where `element` is its type; None: the operator's identity."""
        if value is not None:
            return self.prepared.value("init", value, element and element.dtype)
        if self.identity is None:
            raise UsageError(f"the identity of {self.operator.name} is not known", input="init", code="no-identity",
                             hint="pass init=, with which the result begins, and which it is of no elements")
        return self.identity


def find_algorithm(algorithm, base, op, sources, device, mode, dtype=None, out=None):
    """The BoundAlgorithm for these arrays, kept for the next call, or CONVERT_FIRST. `out`: the View of an array
    for results that may be of another struct than the sources."""
    first = sources[0]
    key = (algorithm, op if op.__class__ is str and op.isidentifier() else key_of(op), first.element, first.place, mode, device)
    if len(sources) > 1 or dtype is not None:
        key = (*key, dtype, *[source.element for source in sources[1:]])
    if out is not None:
        key = (*key, out.element)
    try:
        entry = _bound.get(key)
    except TypeError:
        raise _unhashable(op, mode, device, dtype) from None
    if entry is not None and (len(sources) == 1 or _are_together(sources)):
        entry.is_used = True
        return entry
    return _prepare(key, algorithm, base, op, sources, device, mode, dtype, out and out.element)


def _unhashable(op, mode, device, dtype):
    """The error of the argument that is neither a name nor an object."""
    try:
        hash(op)
    except TypeError:
        return not_an_operator(op)
    mode_number(mode)
    if device is not None:
        as_device(device)
    return _not_a_type(dtype)


def _not_a_type(dtype):
    return UsageTypeError(f"dtype is {shown(dtype)}", input="dtype", hint='pass the name of a number type: "float32"')


def _are_together(sources):
    place = sources[0].place
    return all(source.place == place for source in sources)


def _prepare(key, algorithm, base, op, sources, device, mode, dtype, out):
    names = ("in",) if len(sources) == 1 else tuple(f"in{index + 1}" for index in range(len(sources)))
    place = require_one_place(dict(zip("xyz", sources)))
    target = device_for(place, device)
    mode_number(mode)
    with _lock:
        gate = _gates.setdefault(key, make_lock())
    try:
        with gate:  # others link at the same time, the same call waits
            entry = _bound.get(key)
            if entry is None:
                result = None if dtype is None else result_type(dtype)
                entry = _try_sizes(algorithm, base, op, names, sources, target, mode, result, out)
                _keep(key, entry)
    finally:
        _gates.pop(key, None)
    return entry


def _warn_of_names(operator, prepared, names, sources):
    for name, array, source in zip(names, "xyz", sources):
        type_name = prepared.by_name[name].type_name
        if type_name.startswith("{") and source.element.name != type_name:
            warn_of_names(array, source.element, operator.name, type_name)


def _forget_gpus():
    """In a child process: the next call for a GPU fails when it prepares its library, before it makes an array."""
    for key in [key for key, entry in _bound.items() if entry.prepared is not None and entry.prepared.device.is_gpu]:
        del _bound[key]


after_configure.append(_bound.clear)  # the next calls link with the new settings
after_fork.append(_forget_gpus)


def _keep(key, algorithm):
    with _lock:
        size = sum(entry.bytes for entry in _bound.values()) + algorithm.bytes
        for oldest in [kept for kept, entry in _bound.items() if entry.bytes] * 2:
            if size <= _LIMIT:
                break
            entry = _bound.pop(oldest, None)
            if entry is not None and entry.is_used:
                entry.is_used = False
                _bound[oldest] = entry  # a second chance
            elif entry is not None:
                size -= entry.bytes
        _bound[key] = algorithm


def result_type(dtype):
    """The ElementType of a number type's name, or of a dtype of NumPy, PyTorch or JAX."""
    if dtype.__class__ is ElementType:
        return dtype
    name = dtype
    if not isinstance(dtype, str):
        names = (attribute(dtype, "name"), attribute(dtype, "__name__"), shown(dtype).removeprefix("torch."))
        name = next(name for name in names if isinstance(name, str))
    element = number_type(name)
    if element is None:
        raise _not_a_type(dtype)
    return element


def _try_sizes(algorithm, base, op, names, sources, device, mode, result, out):
    """The library for the size of the elements. Of load_combine it is that of the results, which the operator states."""
    elements = [source.element for source in sources]
    if base == "combine" and result is not None:
        return _try_converted(algorithm, op, sources, device, mode, result)
    if base.startswith("map"):
        operators = candidates(op, base, elements, mode, result, out=out)
        return _try_candidates(operators, algorithm, base, names, sources, device, mode)
    sizes = [size_of_library(elements[0], algorithm)]
    if base == "load_combine":
        sizes += [size for size in SIZES if size not in sizes]
    failure = None
    while sizes:
        size = sizes.pop(0)
        try:
            operators = candidates(op, base, elements, mode, result, size, out)
            return _try_candidates(operators, f"{algorithm}_{size}", base, names, sources, device, mode)
        except (RefusedError, CompileError) as cause:
            failure = failure or cause
            sizes = _remaining_sizes(sizes, cause, base)
    raise failure


def _try_converted(algorithm, op, sources, device, mode, result):
    """The library whose `load` converts each element to the type `result`, in which the operator combines them; CONVERT_FIRST
    where the operator is compiled already, for libraries without a `load`."""
    contract = f"load_combine_{result.bytes}"
    text = conversion_source("load_combine", sources[0].element, result)
    operators = candidates(op, "combine", [result], mode, result, contract=contract)
    for operator in operators:
        operator.make = _with_conversion(operator.make, text, contract)
    try:
        return _try_candidates(operators, f"transform_{algorithm}_{result.bytes}", "combine", ("in",), sources, device, mode)
    except RefusedError as cause:
        if cause.code != "contract-mismatch":
            raise
        return CONVERT_FIRST


def _with_conversion(make, source, contract):
    return lambda: [compile(source, contract=contract, name="convert.cu"), *make()]


def _remaining_sizes(sizes, cause, base):
    """The sizes that are still to be tried after an error that says that this one is wrong."""
    if isinstance(cause, RefusedError):
        return sizes if cause.code == "contract-mismatch" else []
    _, _, size = cause.message.partition(f"use the contract {base}_")
    digits = size[:len(size) - len(size.lstrip("0123456789"))]
    return [int(digits)] if digits and int(digits) in sizes else []


def _try_candidates(operators, library, base, names, sources, device, mode):
    failure = None
    for operator in operators:
        try:
            prepared = Prepared(device, library, operator.make(), mode)
        except RefusedError as cause:
            failure = failure or cause
            if operator.is_guess:  # an installed name that is of another contract
                continue
            raise
        mismatch = next((index for index, (name, source) in enumerate(zip(names, sources))
                         if not is_compatible(source.element, prepared.by_name[name])), None)
        if mismatch is None:
            _warn_of_names(operator, prepared, names, sources)
            return BoundAlgorithm(prepared, operator)
        failure = UsageTypeError(
            f"operator {operator.name} takes {prepared.by_name[names[mismatch]].type_name}, but {'xyz'[mismatch]} is an array "
            f"of {sources[mismatch].element}", input=operator.name, code="wrong-operator",
            hint=what_exists(base, sources[0].element))
        if not operator.is_guess:
            break
    raise failure

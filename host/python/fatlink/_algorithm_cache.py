# SPDX-License-Identifier: Apache-2.0
"""The prepared libraries of algorithms, by algorithm, operator, element types, device and link mode."""
from . import _calls, _forks
from ._devices import Device, device_at
from ._element_types import SIZES, agrees, number_type, size_of_library
from ._errors import CompileError, RefusedError, UsageError, UsageTypeError
from ._linking import mode_number
from ._operators import candidates, what_exists
from ._prepared import Prepared
from ._views import require_one_place

_LIMIT = 1024  # calls that are kept, the oldest are dropped
_bound: dict = {}
_gates: dict = {}  # of the calls that are being prepared
_lock = _forks.make_lock()


class BoundAlgorithm:
    """A prepared library of an algorithm, with its operator."""

    __slots__ = ("prepared", "operator", "identity", "elements")

    def __init__(self, prepared, operator):
        self.prepared = prepared
        self.operator = operator
        self.identity = None if operator.identity is None else prepared.value("init", operator.identity) if (
            "init" in prepared.by_name) else None
        self.elements = {argument.name: argument.element for argument in prepared.arguments}  # None of structs
        if operator.result is not None and "out" in self.elements and agrees(operator.result, prepared.by_name["out"]):
            self.elements["out"] = operator.result

    def has(self, name):
        """Whether the library has an argument of this name."""
        return name in self.prepared.by_name

    def accepts(self, name, element):
        """Whether arrays of this type may be given for an argument."""
        return agrees(element, self.prepared.by_name[name])

    def require_element(self, name, like):
        """The struct type of an argument: that of the array `like`."""
        from ._plans import element_for_output
        return element_for_output(self.prepared.by_name[name], like)

    def initial(self, value):
        """The Value of `init`; None: the operator's identity."""
        if value is not None:
            return self.prepared.value("init", value)
        if self.identity is None:
            raise UsageError(f"the identity of {self.operator.name} is not known", input="init", code="no-identity",
                             hint="pass init=, with which the result begins, and which it is of no elements")
        return self.identity


def _key_of(op):
    """What operators are told apart by: Python functions without captured variables by their code."""
    code = getattr(op, "__code__", None)
    if code is not None and op.__closure__ is None and op.__defaults__ is None:
        return code, id(op.__globals__)
    return op


def bound(algorithm, base, op, sources, device, mode, dtype=None) -> BoundAlgorithm:
    """The library of an algorithm for these arrays, linked with the operator; kept for the next call."""
    first = sources[0]
    key = (algorithm, op if op.__class__ is str else _key_of(op), first.element, first.place, mode, device)
    if len(sources) > 1 or dtype is not None:
        key = (*key, dtype, *[source.element for source in sources[1:]])
    try:
        known = _bound.get(key)
    except TypeError:
        raise UsageTypeError(f"op is {op!r}", input="op",
                             hint="pass a name, a file, a fatlink.Input, CUDA source or a Python function") from None
    if known is not None and (len(sources) == 1 or _are_together(sources)):
        return known
    return _prepare(key, algorithm, base, op, sources, device, mode, dtype)


def _are_together(sources):
    place = sources[0].place
    return all(source.place == place for source in sources)


def _prepare(key, algorithm, base, op, sources, device, mode, dtype):
    names = ("in",) if len(sources) == 1 else tuple(f"in{index + 1}" for index in range(len(sources)))
    place = require_one_place(dict(zip(names, sources)))
    used = device_at(place) if device is None else _calls.device_for(place, device)
    mode_number(mode)
    with _lock:
        gate = _gates.setdefault(key, _forks.make_lock())
    try:
        with gate:  # others link at the same time, the same call waits
            known = _bound.get(key)
            if known is None:
                result = None if dtype is None else _result_type(dtype)
                known = _try_sizes(algorithm, base, op, names, sources, used, mode, result)
                _keep(key, known)
    finally:
        _gates.pop(key, None)
    return known


def _keep(key, known):
    with _lock:
        while len(_bound) >= _LIMIT:
            _bound.pop(next(iter(_bound)))
        _bound[key] = known


def _result_type(dtype):
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(
        dtype).removeprefix("torch.")
    known = number_type(name)
    if known is None:
        raise UsageTypeError(f"dtype is {dtype!r}", input="dtype", hint='pass the name of a number type: "float32"')
    return known


def _try_sizes(algorithm, base, op, names, sources, device, mode, result):
    """The library for the size of the elements. Of load_combine it is that of the results, which the operator states."""
    elements = [source.element for source in sources]
    if base.startswith("map"):
        return _try_candidates(candidates(op, base, elements, mode, result), algorithm, base, names, sources, device, mode)
    sizes = [size_of_library(elements[0], algorithm)]
    if base == "load_combine":
        sizes += [size for size in SIZES if size not in sizes]
    failure = None
    while sizes:
        size = sizes.pop(0)
        try:
            operators = candidates(op, base, elements, mode, result, size)
            return _try_candidates(operators, f"{algorithm}_{size}", base, names, sources, device, mode)
        except (RefusedError, CompileError) as cause:
            failure = failure or cause
            sizes = _remaining_sizes(sizes, cause, base)
    raise failure


def _remaining_sizes(sizes, cause, base):
    """The sizes that are still to be tried after an error that says that this one is wrong."""
    if isinstance(cause, RefusedError):
        return sizes if cause.code == "contract-mismatch" else []
    _, _, size = cause.message.partition(f"use the contract {base}_")
    digits = size[:len(size) - len(size.lstrip("0123456789"))]
    return [int(digits)] if digits and int(digits) in sizes else []


def _try_candidates(operators, library, base, names, sources, device, mode):
    for operator in operators:
        try:
            prepared = Prepared(device, library, operator.make(), mode)
        except RefusedError:
            if operator.is_guess:  # an installed name that is of another contract
                continue
            raise
        mismatch = next((name for name, source in zip(names, sources)
                         if not agrees(source.element, prepared.by_name[name])), None)
        if mismatch is None:
            return BoundAlgorithm(prepared, operator)
        if not operator.is_guess:
            break
    element = sources[names.index(mismatch)].element
    raise UsageTypeError(f"operator {operator.name} is of {prepared.by_name[mismatch].type_name}; {mismatch} is an array of "
                         f"{element}", input=operator.name, code="wrong-operator", hint=what_exists(base, sources[0].element))


__all__ = ["BoundAlgorithm", "bound", "Device"]

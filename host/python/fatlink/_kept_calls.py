# SPDX-License-Identifier: Apache-2.0
"""Prepared libraries and calls that are kept for the next call of an algorithm.

Prepared libraries are kept by algorithm, operator, element types, device and link mode. If a call has the operator and types
of an earlier call, and the class of its arrays has the C exchange API of DLPack 1.3 (PyTorch since 2.10), it is repeated by a
single call of the C interface, which reads the arrays and runs the plan. If that call refuses the arrays, the call takes the
path of a first call, which runs it or reports why it cannot."""
from __future__ import annotations

import ctypes
import os
import sys

from ._arrays import View, exchanges, require_one_place
from ._devices import HOST, as_device
from ._elements import SIZES, element_type, is_compatible, size_of_library, sum_type_of, warn_of_names
from ._errors import CompileError, RefusedError, UnavailableError, UsageError, UsageTypeError
from ._ffi import ObjectCall, after_fork, c, error_of, make_lock
from ._linking import after_configure, mode_number
from ._operator_names import explained, label_of, recorded_type, types_taken, wrong_type
from ._operators import (Conversion, candidates, families, is_name, is_of_any_size, is_source, is_sum, key_of, name_of, not_an_operator,
                         result_of, text_of)
from ._plans import Address, Prepared, Slot, Value, device_for, element_for_output

# Bytes of the linked images that are kept for calls on the host's memory; the reference device needs about 30 times as many for
# the program that it makes of each, so 250 MB. On GPUs all are kept: dropping them would free nothing (_plans.py).
_LIMIT = 8 << 20


# What the plans of some algorithms call the array whose elements the operator takes; others call it "in".
_FIRST_ARRAYS = {"merge": "in1", "run_lengths": "keys", "unique_by_key": "keys", "unique_by_key_wide": "keys"}
# Algorithms whose results do not have the type of the elements that the operator takes.
_OWN_RESULTS = ("lower_bound", "upper_bound", "unique_by_key", "unique_by_key_wide", "run_lengths")
# Libraries that link `load` as well, if their names are not load_…
_LOADING = {"reduce": "transform_reduce"}
_bound: dict = {}
_gates: dict = {}  # of the calls that are being prepared
_lock = make_lock()


def for_operator(label, make):
    """Returns the result of `make`. If a compiler is missing, the error names the operator that needs it."""
    try:
        return make()
    except UnavailableError as cause:
        cause.message = f"{label}: {cause.message}"
        raise


class BoundAlgorithm:
    """A prepared library of an algorithm, with its operator."""

    __slots__ = ("prepared", "operator", "identity", "elements", "bytes", "is_used")

    def __init__(self, prepared, operator, has_own_results=False):
        self.bytes = 0 if prepared.device.is_gpu else prepared.image_bytes
        self.is_used = False  # since the last time that calls were dropped
        self.prepared = prepared
        self.operator = operator
        self.identity = None if operator.identity is None else prepared.value("init", operator.identity) if (
            "init" in prepared.by_name) else None
        self.elements = {argument.name: argument.element for argument in prepared.arguments}  # None of structs
        if operator.result is not None and "out" in self.elements and not has_own_results:
            self._set_result(operator.result, prepared.by_name["out"])

    def _set_result(self, element, argument):
        """Sets the type of the results to `dtype`. It can only distinguish types that the plan describes in the same way,
        such as bool and uint8."""
        if not is_compatible(element, argument):
            raise UsageTypeError(f"dtype is {element}, but {self.operator.name} makes {argument.type_name}", input="dtype",
                                 hint="leave dtype= out, or pass an operator of this type; it converts the results of Python "
                                      "functions only")
        self.elements[argument.name] = element

    def accepts(self, name, element):
        """Whether arrays of this type may be passed for an argument."""
        return is_compatible(element, self.prepared.by_name[name])

    def require_element(self, name, like):
        """The struct type of an argument, taken from the array `like`."""
        return element_for_output(self.prepared.by_name[name], like)

    def initial(self, value, element=None):
        """The Value of `init`; `element` is its type. If `value` is None, the operator's identity."""
        if value is not None:
            return self.prepared.value("init", value, element and element.dtype)
        if self.identity is None:
            raise UsageError(f"the identity of {self.operator.name} is not known", input="init", code="no-identity",
                             hint=f"pass init=, a value of {self.prepared.by_name['init'].type_name} with which the result begins: "
                                  "the operator's identity, or init=x[0] where the operator picks one of two elements, as argmax does")
        return self.identity


def find_algorithm(algorithm, base, op, sources, device, mode, dtype=None, out=None, equal=None, load=None):
    """The BoundAlgorithm for these arrays, kept for the next call. `out`: the View of the array for results if its type
    matters. `equal`: an operator for keys, which are the second source. `load`: an operator that computes the elements that `op`
    takes from the first source."""
    first = sources[0]
    if dtype is not None:
        dtype = element_type(dtype)
    key = (algorithm, _hashable(op), first.element, first.place, mode, device)
    if len(sources) > 1 or dtype is not None or load is not None:
        key = (*key, dtype, *[source.element for source in sources[1:]])
    if out is not None:
        key = (*key, out.element)
    if equal is not None:
        key = (*key, _hashable(equal))
    if load is not None:
        key = (*key, _hashable(load), first.kind)
    try:
        entry = _bound.get(key)
    except TypeError:
        raise _unhashable(((op, base), (equal, "same_key"), (load, "load")), mode, device) from None
    if entry is not None and (len(sources) == 1 or _are_together(sources)):
        entry.is_used = True
        return entry
    return _prepare(key, algorithm, base, op, sources, device, mode, dtype, out and out.element, equal, load)


def _hashable(op):
    return op if isinstance(op, str) and op.isidentifier() else key_of(op)


def _unhashable(operators, mode, device):
    """The error for the argument that cannot be hashed."""
    for operator, contract in operators:
        try:
            hash(operator)
        except TypeError:
            return not_an_operator(operator, contract)
    mode_number(mode)
    as_device(device)
    return not_an_operator(*operators[0])


def _are_together(sources):
    place = sources[0].place
    return all(source.place == place for source in sources)


def _prepare(key, algorithm, base, op, sources, device, mode, dtype, out, equal, load):
    place = require_one_place(dict(zip("xyz" if equal is None else ("x", "keys"), sources)))
    target = device_for(place, device)
    mode_number(mode)
    with _lock:
        gate = _gates.setdefault(key, make_lock())
    try:
        with gate:  # others link at the same time, the same call waits
            entry = _bound.get(key)
            if entry is None and equal is None and load is None:
                entry = _explaining(lambda: _try_sizes(algorithm, base, op, sources, target, mode, dtype, out),
                                    op, algorithm, base, [source.element for source in sources])
            elif entry is None:
                entry = _try_with_others(algorithm, base, op, sources, target, mode, dtype, out, equal, load)
            if key not in _bound:
                _keep(key, entry)
    finally:
        _gates.pop(key, None)
    return entry


def _explaining(make, op, algorithm, base, elements, names="xyz"):
    """Returns the result of `make`. An error that is about the operator is explained in terms of the call. `names`: of what it
    takes."""
    try:
        return make()
    except (RefusedError, CompileError, UsageError) as cause:
        if (error := explained(cause, op, algorithm, base, elements, names)) is cause:
            raise
        raise error from cause


def _warn_of_names(operator, taken, labels, elements):
    for argument, label, element in zip(taken, labels, elements):
        if argument.type_name.startswith("{") and element.name != argument.type_name:
            warn_of_names(label, element, operator.name, argument.type_name)


def _forget_gpus():
    """In a child process: makes the next call for a GPU fail when it prepares its library, before it makes an array."""
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


def _try_sizes(algorithm, base, op, sources, device, mode, result, out):
    """Finds the library for the size of the elements. For load_combine it is the size of the results, which the operator
    states."""
    names = (_FIRST_ARRAYS.get(algorithm, "in"),) if len(sources) == 1 else tuple(f"in{index + 1}" for index in range(len(sources)))
    elements = [source.element for source in sources]
    labels = names if base == "same_key" else "xyz"
    if is_of_any_size(base):
        operators = candidates(op, base, elements, mode, result, out=out)
        return _try_candidates(operators, algorithm, base, op, names, elements, labels, device, mode)
    return _try_each_size(base, size_of_library(elements[0], algorithm), base == "load_combine", lambda size: _try_candidates(
        candidates(op, base, elements, mode, result, size, out), f"{algorithm}_{size}", base, op, names, elements, labels, device, mode))


def _try_each_size(base, first, is_free, make):
    """Returns the result of `make` for the size `first`, or, if `is_free`, for the first other size that is right."""
    sizes = [first, *(size for size in SIZES if size != first)] if is_free else [first]
    failure = None
    try:
        while sizes:
            size = sizes.pop(0)
            try:
                return make(size)
            except (RefusedError, CompileError) as cause:
                failure = cause if failure is None or isinstance(cause, CompileError) else failure  # of the size that a compile names
                sizes = _remaining_sizes(sizes, cause, base)
            except UnavailableError as cause:
                if cause.code != "offline":  # layers do not hold compiles that failed
                    raise
                failure = failure or cause
        raise failure
    finally:
        failure = None  # refers to this frame, and so to the arrays of the caller


def _try_with_others(algorithm, base, op, sources, device, mode, result, out, equal, load):
    """Finds the library of an operator that is linked with others: `load` computes the elements that it takes, and `equal`
    compares the keys, which are the second source."""
    values = sources[0]
    element, inputs, label, contract = values.element, [], "x", None
    if load.__class__ is Conversion:  # `fatlink cache warm` compiles all sources for one contract
        label, contract = "dtype", f"load_{base}_{load[1].bytes}"
    elif load is not None:
        label = "load"
    if load is not None:
        element, inputs = _find_load(load, algorithm, op, values, mode, result, out, contract)
    size = size_of_library(element, algorithm)
    if equal == "equal" and _defines_keys(op):
        contract = f"{'by_key' if load is None else 'load_by_key'}_{size}"
    elif equal is not None:
        inputs = [*inputs, *_find_same_key(algorithm, equal, sources[1], device, mode)]
    library = algorithm if load is None else _LOADING.get(algorithm, f"load_{algorithm}")
    names = ("in",) if load is None else () if base == "bin" else ("out",)
    arguments = [element], (label,)

    def make():
        operators = candidates(op, base, [element], mode, size=size, contract=contract)
        for operator in operators:
            operator.make = _with_inputs(inputs, operator.make)
        return _try_candidates(operators, f"{library}_{size}", base, op, names, *arguments, device, mode)

    call = _explaining(make, op, algorithm, base, *arguments)
    others = [(load, "load", "in", values, "x")] if load is not None else []
    others += [(op, "same_key", "keys", sources[1], "keys")] if equal is not None else []
    for operator, contract, name, source, label in others:
        if (failure := wrong_type(operator, [call.prepared.by_name[name]], contract, [source.element], (label,))) is not None:
            raise failure
    if load is not None and "out" in call.elements:
        call.elements["out"] = element
    return call


def _find_load(load, algorithm, op, source, mode, dtype, out, contract):
    """The type of the elements that an operator computes from an array, and the inputs of the operator. `contract`: as in
    candidates()."""
    def make():
        result = _result_of_load(load, op, source, mode, dtype, out)
        first = result or source.element
        return _try_each_size("load", first.bytes if first.bytes in SIZES else SIZES[0], True, lambda size: _try_loads(
            candidates(load, "load", [source.element], mode, result, size, result or out, contract), load, source.element, result, out))

    if load.__class__ is Conversion:
        return for_operator(label_of(op), make)
    return _explaining(make, load, algorithm, "load", [source.element])


def _result_of_load(load, op, source, mode, dtype, out):
    """The type of the elements that a conversion, a family or a Python function makes. None: the operator states it."""
    if load.__class__ is Conversion or dtype is not None:
        return load[1] if load.__class__ is Conversion else dtype
    if name_of(load) in families("load", source.element):
        made = source.element
    elif callable(load) and name_of(load) is None:
        made = result_of(load, "load", [source.element], mode, None)
    else:
        return None
    return sum_type_of(made, source.kind, out) if is_sum(op) else made


def _try_loads(operators, load, element, result, out):
    """The type and the inputs of the first operator that takes elements of a type. `result`: the type that it must make; None:
    any."""
    for operator in operators:
        inputs = operator.make()
        taken, made = recorded_type(inputs, "load"), recorded_type(inputs, "load_out")
        if operator.is_guess and not (taken and is_compatible(element, taken) and made and (
                result is None or is_compatible(result, made))):
            continue
        return _type_made(operator.name if name_of(load) else load, made, result, out), inputs
    raise UsageError(f"unknown operator {load!r}", code="no-operator", input="load", hint="fatlink.operators() lists the names")


def _type_made(load, made, result, out):
    """The type that an operator makes, which is `result`, unless that is None. `made`: as the operator records it."""
    if made is None and result is None:
        raise UsageError(f"{label_of(load)} records no type for load", input="load", code="no-operator",
                         hint="define it with FATLINK_LOAD or FATLINK_LOAD_AT; or pass dtype=, the type of the elements that it makes")
    if result is None:
        result = made.element or out
        if result is None or made.element is None and result.dtype is None or not is_compatible(result, made):
            raise UsageError(f"{label_of(load)} makes structs of {made.element_bytes} bytes, whose fields are not known", input="load",
                             hint="pass dtype=, a structured dtype of NumPy with the fields")
    elif made is not None and not is_compatible(result, made):
        raise UsageTypeError(f"dtype is {result}, but {label_of(load)} makes {made.type_name}", input="dtype",
                             hint="leave dtype= out, or pass an operator of this type; it converts the results of Python functions only")
    return result


def _defines_keys(op):
    """Whether CUDA source, or a file with it, combines values and compares keys."""
    try:
        text = "" if not isinstance(op, (str, os.PathLike)) or is_name(op) else text_of(op)
        return "FATLINK_COMBINE" in text and "FATLINK_SAME_KEY" in text
    except (OSError, UnicodeDecodeError):  # the compile says why
        return False


def _find_same_key(algorithm, equal, keys, device, mode):
    """The inputs of an operator that compares these keys."""
    arguments = equal, algorithm, "same_key", [keys.element]
    failure = None
    for operator in _explaining(lambda: candidates(equal, "same_key", [keys.element], mode), *arguments):
        inputs = _explaining(operator.make, *arguments)
        taken = types_taken(inputs, "same_key", 0)
        if taken is not None:
            failure = wrong_type(operator.name if name_of(equal) else equal, taken, "same_key", [keys.element], ("keys",))
            if failure is None:
                return inputs
        if not operator.is_guess:
            break
    if failure is not None:
        raise failure
    _explaining(lambda: Prepared(device, "run_lengths", inputs, mode), *arguments)  # raises what is wrong
    raise not_an_operator(equal, "same_key")


def _with_inputs(inputs, make):
    return lambda: [*inputs, *make()]


def _remaining_sizes(sizes, cause, base):
    """The sizes to try after an error that shows that the current size is wrong."""
    if isinstance(cause, RefusedError):
        return sizes if cause.code == "contract-mismatch" else []
    _, _, size = cause.message.partition(f"use the contract {base}_")
    digits = size[:len(size) - len(size.lstrip("0123456789"))]
    return [int(digits)] if digits and int(digits) in sizes else []


def _try_candidates(operators, library, base, op, names, elements, labels, device, mode):
    """The BoundAlgorithm of the first operator that fits. `names`: the arguments of the plan that have the types `elements`, which
    errors call `labels`. If no argument has the operator's type, the type that it records is compared."""
    failure = None
    try:
        for operator in operators:
            inputs = operator.make()
            try:
                prepared = Prepared(device, library, inputs, mode)
            except RefusedError as cause:
                failure = failure or cause
                if operator.is_guess:  # an installed name that is of another contract
                    continue
                raise
            taken = [prepared.by_name[name] for name in names] or list(filter(None, [recorded_type(inputs, base)]))
            failure = wrong_type(operator.name if name_of(op) else op, taken, base, elements, labels)
            if failure is None:
                _warn_of_names(operator, taken, labels, elements)
                return BoundAlgorithm(prepared, operator, library.rstrip("_0123456789") in _OWN_RESULTS)
            if not operator.is_guess:
                break
        raise failure
    finally:
        failure = None  # refers to this frame, and so to the arrays of the caller


_repeated: dict = {}  # by Repeated.key


class Repeated:
    """A call that can be repeated: an algorithm with an operator, link mode and device, and the types and place of its
    arrays."""

    __slots__ = ("key", "load", "exchange", "settings", "run", "is_of_pytorch")

    def __init__(self, key, load, exchange, is_of_pytorch=False):
        self.key = key
        self.load = load
        self.exchange = exchange
        self.settings = _generation[0]
        self.run = _not_made_yet
        self.is_of_pytorch = is_of_pytorch  # an operator of PyTorch, which allocates its scratch memory

    def learn(self, prepared, names, entries, arrays, result, has_one_result=False):
        """Keeps a call that was made. `arrays`: the Views of the caller's arrays; `result`: the View of the results."""
        if self.settings != _generation[0] or self.run is not _not_made_yet or not self.is_of_pytorch and not all(
                text.isidentifier() or is_source(text) for text in (self.key[1], self.load) if text):
            return  # a file may be replaced
        for name, entry in zip(names, entries):
            if entry.__class__ is View and (entry.kind is not result.kind or entry.element is not prepared.by_name[name].element):
                return
        slot = Slot(names, prepared._encoded)
        for item, entry in zip(slot.items, entries):
            if entry.__class__ is Value:
                item.value = entry.address
            elif entry.__class__ is not View:  # a state that is not given
                item.count = 0
        scratch = _ScratchSizes(prepared, names, entries, result if has_one_result else None) if self.is_of_pytorch else None
        self.run = _bind(_Calls(prepared, self.exchange, slot, [entry for entry in entries if entry.__class__ is Value]),
                         [entries.index(array) for array in arrays], entries.index(result), has_one_result,
                         _maker(arrays[0].array, has_one_result, result.array.dtype), scratch, result.kind.increment_version,
                         any(entry.array.dtype.is_complex for entry in (*arrays, result)))
        _repeated[self.key] = self


class _ScratchSizes:
    """The bytes of scratch memory of a plan, by the number of elements of its arrays. `single`: the View of an array that has one
    element, or None."""

    def __init__(self, prepared, names, entries, single):
        self.prepared = prepared
        self.names = names
        self.entries = [None if entry.__class__ is View and entry is not single else
                        Address(_SOME_ADDRESS, 1) if entry is single else entry for entry in entries]
        self.sizes = {}

    def of(self, count):
        size = self.sizes.get(count)
        if size is None:
            size = self.prepared.scratch_bytes(self.names, [entry or Address(_SOME_ADDRESS, count) for entry in self.entries])
            if len(self.sizes) == 1024:
                self.sizes.clear()
            self.sizes[count] = size
        return size


_SOME_ADDRESS = 256  # of an array that is not read


class _Calls:
    """Memory for calls of the C interface with the same argument names; each piece is used by one thread at a time."""

    def __init__(self, prepared, exchange, slot, values):
        self.keeps = prepared, slot, values
        self.names = {"plan": prepared.handle, "exchange": exchange, "arguments": slot.address, "count": len(slot.items)}
        self.spare = []

    def make(self):
        """The objects of a call, and the address of its struct."""
        objects = (ctypes.c_void_p * self.names["count"])()
        struct = ObjectCall(**self.names, objects=ctypes.addressof(objects))
        return objects, ctypes.addressof(struct), struct


def _not_made_yet(arrays, out):
    """The function of a call that was not made yet."""


def _is_special(array):
    """Whether an array has properties that DLPack does not express, or refers to memory that was freed."""
    return array.requires_grad or array.is_neg() or array.is_conj() or array.storage_offset() and not array.untyped_storage().nbytes()


def _bind(calls, places, result_place, has_one_result, make, scratch_sizes, mark_written, may_be_conj):
    """Returns the function that repeats a call. It uses only its own variables and handles the first array outside of a loop,
    because every step costs time compared with a launch. `places`: the positions of the arrays among the arguments."""
    place, *more = places
    looks_at_all = more or may_be_conj
    torch = sys.modules["torch"]
    run_objects, spare, empty, uint8 = c.plan_run_objects, calls.spare, torch.empty, torch.uint8

    def run_again(arrays, out):
        """Queues the call and returns `out` or a new array of results. None: nothing was done."""
        first = arrays[0]
        try:
            if first.requires_grad or first.is_neg() or first.storage_offset() and not first.untyped_storage().nbytes():
                return None
            if out is not None and (out.requires_grad or out.is_neg() or out.storage_offset() and not out.untyped_storage().nbytes()
                                    or has_one_result and out.numel() != 1):
                return None
            if looks_at_all and any(_is_special(array) for array in (*arrays, first if out is None else out)):
                return None
        except RuntimeError:  # traced by vmap: it has no storage
            return None
        result = make(first) if out is None else out
        try:
            memory = spare.pop()
        except IndexError:
            memory = calls.make()
        objects, address, struct = memory
        if scratch_sizes is not None:
            struct.scratch_bytes = size = scratch_sizes.of(first.numel())
            scratch = empty(size, dtype=uint8, device=first.device) if size else None  # until the launches are queued
            struct.scratch = scratch.data_ptr() if size else 0
        objects[place] = id(first)
        if more:
            for other_place, array in zip(more, arrays[1:]):
                objects[other_place] = id(array)
        objects[result_place] = id(result)
        error = run_objects(address)
        spare.append(memory)
        if error is not None:
            if c.error_get_kind(error) != _USAGE:
                raise error_of(error)
            c.error_free(error)
            return None
        if out is not None:
            mark_written(out)
        return result
    return run_again


def _maker(source, has_one_result, dtype):
    """Returns the function that makes an array for results from the first array of a call: with its shape, or without
    dimensions. PyTorch's empty_like takes half the time of a call with a stated type and device."""
    empty_like = sys.modules["torch"].empty_like
    if has_one_result:
        return lambda first: first.new_empty((), dtype=dtype)
    return empty_like if dtype is source.dtype else lambda first: empty_like(first, dtype=dtype)


def find_repeated(algorithm, op, mode, device, arrays, out, dimensions=0, load=None):
    """The Repeated for this kind of call, which may not have been made yet; None if such calls cannot be repeated.
    `dimensions`: as in a fatlink_array_exchange. `load`: as in find_algorithm()."""
    first = arrays[0]
    array_class = first.__class__
    if array_class not in exchanges or out is not None and out.__class__ is not array_class:
        return None
    key = algorithm, op, mode, device, first.get_device(), first.dtype, None if out is None else out.dtype
    if len(arrays) > 1:
        if any(array.__class__ is not array_class for array in arrays):
            return None
        key = (*key, *[array.dtype for array in arrays[1:]])
    if load is not None:
        key = (*key, "load", load)
    try:
        return _repeated[key]
    except KeyError:
        pass
    except TypeError:  # an operator or mode that is no text
        return None
    is_text = isinstance(op, str) and (load is None or isinstance(load, str))
    return Repeated(key, load, exchanges[array_class][dimensions]) if is_text and key[4] != HOST else None


def find_repeated_operator(definition, operators, mode, arrays, dimensions=0):
    """The Repeated for this call of an operator of PyTorch, whose scratch memory PyTorch allocates; None if such calls cannot be
    repeated. `definition`: an object for each definition of an operator of PyTorch. `operators`: those of fatlink that it uses."""
    first = arrays[0]
    if first.__class__ not in exchanges or first.get_device() == HOST or any(array.__class__ is not first.__class__ for array in arrays):
        return None
    key = definition, *[key_of(op) for op in operators], mode, first.get_device(), *[array.dtype for array in arrays]
    try:
        return _repeated[key]
    except KeyError:
        return Repeated(key, None, exchanges[first.__class__][dimensions], is_of_pytorch=True)
    except TypeError:  # a Python function that uses a value which cannot be hashed
        return None


_USAGE = 1  # a fatlink_error_kind
_generation = [0]  # of the settings


def _forget_repeated():
    _generation[0] += 1
    _repeated.clear()


after_configure.append(_forget_repeated)  # the next calls link with the new settings
after_fork.append(_repeated.clear)  # the way of the first call says why a GPU cannot be used

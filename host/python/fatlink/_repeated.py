# SPDX-License-Identifier: Apache-2.0
"""Calls that are made again, with the operator and the types of an earlier one, on arrays of a class that has the C exchange API of
DLPack 1.3 (PyTorch since 2.10): one call of the C interface reads the arrays and runs the plan. What that refuses is done as a first
call, which also says why it cannot be done."""
import ctypes
import sys

from ._arrays import View, exchanges
from ._devices import HOST
from ._ffi import ObjectCall, after_fork, c, error_of
from ._linking import after_configure
from ._operators import is_source
from ._plans import Slot, Value

_calls: dict = {}


class Repeated:
    """A call of an algorithm, by its operator, link mode and device, and the types and the place of its arrays."""

    __slots__ = ("key", "exchange", "settings", "run")

    def __init__(self, key, exchange):
        self.key = key
        self.exchange = exchange
        self.settings = _generation[0]
        self.run = _nothing

    def learn(self, prepared, names, entries, arrays, result):
        """Keeps a call that was made. `arrays`: the Views of the caller's arrays; `result`: that of the results."""
        algorithm, op = self.key[:2]
        if self.settings != _generation[0] or not op.isidentifier() and not is_source(op):  # a file may be replaced
            return
        for name, entry in zip(names, entries):
            if entry.__class__ is View and (entry.kind is not result.kind or entry.element is not prepared.by_name[name].element):
                return
        slot = Slot(names, prepared._encoded)
        for item, entry in zip(slot.items, entries):
            if entry.__class__ is Value:
                item.value = entry.address
            elif entry.__class__ is not View:  # a state that is not given
                item.count = 0
        has_one_result = algorithm == "reduce" or tuple(result.shape) != tuple(arrays[0].shape)
        self.run = _bind(_Calls(prepared, self.exchange, slot, [entry for entry in entries if entry.__class__ is Value]),
                         [entries.index(array) for array in arrays], entries.index(result), has_one_result,
                         _maker(arrays[0].array, has_one_result, result.array.dtype), result.kind.increment_version,
                         any(entry.array.dtype.is_complex for entry in (*arrays, result)))
        _calls[self.key] = self


class _Calls:
    """The memory of calls of the C interface that name the same arguments: each is used by one thread at a time."""

    def __init__(self, prepared, exchange, slot, values):
        self.keeps = prepared, slot, values
        self.names = {"plan": prepared.handle, "exchange": exchange, "arguments": slot.address, "count": len(slot.items)}
        self.spare = []

    def make(self):
        """The objects of a call, and the address of its struct."""
        objects = (ctypes.c_void_p * self.names["count"])()
        struct = ObjectCall(**self.names, objects=ctypes.addressof(objects))
        return objects, ctypes.addressof(struct), struct


def _nothing(arrays, out):
    """Of a call that was not made yet."""


def _is_special(array):
    """Whether an array has what DLPack does not tell, or is a part of memory that was freed."""
    return array.requires_grad or array.is_neg() or array.is_conj() or array.storage_offset() and not array.untyped_storage().nbytes()


def _bind(calls, places, result_place, has_one_result, make, mark_written, may_be_conj):
    """The function that makes a call again. What it uses are variables of its own, and the first array is not looked at in a loop,
    because all of this takes time beside a launch. `places`: of the arrays among the arguments."""
    place, *more = places
    looks_at_all = more or may_be_conj
    run_objects, spare = c.plan_run_objects, calls.spare

    def run(arrays, out):
        """Queues the call: `out`, or a new array of results. None: nothing was done."""
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
        objects, address, _ = memory
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
    return run


def _maker(source, has_one_result, dtype):
    """The function that makes an array for results from the first array of a call: of its shape, or without dimensions. PyTorch makes
    one like another in half the time that it takes for one of a stated type and device."""
    torch = sys.modules["torch"]
    if has_one_result:
        model = torch.empty((), dtype=dtype, device=source.device)
        return lambda first: torch.empty_like(model)
    if dtype is source.dtype:
        return torch.empty_like
    return lambda first: torch.empty_like(first, dtype=dtype)


def find(algorithm, op, mode, device, arrays, out, dimensions=0):
    """The call of this kind, which may not have been made yet; None where such calls cannot be repeated. `dimensions`: as of a
    fatlink_array_exchange."""
    first = arrays[0]
    array_class = first.__class__
    if array_class not in exchanges or out is not None and out.__class__ is not array_class:
        return None
    key = algorithm, op, mode, device, first.get_device(), first.dtype, None if out is None else out.dtype
    if len(arrays) > 1:
        if any(array.__class__ is not array_class for array in arrays):
            return None
        key = (*key, *[array.dtype for array in arrays[1:]])
    try:
        return _calls[key]
    except KeyError:
        pass
    except TypeError:  # an operator or mode that is no text
        return None
    return Repeated(key, exchanges[array_class][dimensions]) if op.__class__ is str and key[4] != HOST else None


_USAGE = 1  # a fatlink_error_kind
_generation = [0]  # of the settings


def _forget():
    _generation[0] += 1
    _calls.clear()


after_configure.append(_forget)  # the next calls link with the new settings
after_fork.append(_calls.clear)  # the way of the first call says why a GPU cannot be used

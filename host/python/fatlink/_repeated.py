# SPDX-License-Identifier: Apache-2.0
"""Calls that are made again, with the operator and the types of an earlier one, on arrays of a class that has the C exchange API of
DLPack 1.3 (PyTorch since 2.10): one call of the C interface reads the arrays and runs the plan. What that refuses is done as a first
call, which also says why it cannot be done."""
import ctypes
import sys

from . import _forks, _settings
from ._c_interface import ArrayExchange, c, error_of
from ._prepared import Slot, Value
from ._operator_keys import is_source
from ._views import HOST, View

_calls: dict = {}


class Repeated:
    """A call of an algorithm, by its operator, link mode and device, and the types and the place of its arrays."""

    __slots__ = ("key", "exchange", "prepared", "handle", "arguments", "places", "result", "keeps_shape", "dtype", "mark_written",
                 "may_be_conj", "spare", "keeps", "settings")

    def __init__(self, key, exchange):
        self.key = key
        self.exchange = exchange
        self.settings = _generation[0]
        self.prepared = None

    def run(self, arrays, out):
        """Queues the call: `out`, or a new array of results. None: nothing was done."""
        if self.prepared is None:
            return None
        for array in arrays:
            if self.is_special(array):
                return None
        if out is None:
            result = self.make(arrays[0])
        elif self.is_special(out) or not self.keeps_shape and out.numel() != 1:
            return None
        else:
            result = out
        try:
            objects, address = self.spare.pop()
        except IndexError:
            objects = (ctypes.c_void_p * len(self.arguments.items))()
            address = ctypes.addressof(objects)
        for place, array in zip(self.places, arrays):
            objects[place] = id(array)
        objects[self.result] = id(result)
        error = c.plan_run_objects(self.handle, self.exchange, self.arguments.address, len(objects), address)
        self.spare.append((objects, address))
        if error is not None:
            if c.error_get_kind(error) != _USAGE:
                raise error_of(error)
            c.error_free(error)
            return None
        if out is not None:
            self.mark_written(out)
        return result

    def is_special(self, array):
        """Whether an array has what DLPack does not tell, or is a part of memory that was freed."""
        try:
            return array.requires_grad or array.is_neg() or self.may_be_conj and array.is_conj() or (
                array.storage_offset() != 0 and array.untyped_storage().nbytes() == 0)
        except RuntimeError:  # sparse, or traced by vmap: it has no storage
            return True

    def make(self, like):
        torch = sys.modules["torch"]
        if self.keeps_shape:
            return torch.empty_like(like, dtype=self.dtype)
        return torch.empty((), dtype=self.dtype, device=like.device)

    def learn(self, prepared, names, entries, arrays, result):
        """Keeps a call that was made. `arrays`: the Views of the caller's arrays; `result`: that of the results."""
        algorithm, op = self.key[:2]
        if self.settings != _generation[0] or not op.isidentifier() and not is_source(op):  # a file may be replaced
            return
        for name, entry in zip(names, entries):
            if entry.__class__ is View and (entry.kind is not result.kind or entry.element is not prepared.by_name[name].element):
                return
        self.arguments = Slot(names, prepared._encoded)
        for item, entry in zip(self.arguments.items, entries):
            if entry.__class__ is Value:
                item.value = entry.address
            elif entry.__class__ is not View:  # a state that is not given
                item.count = 0
        self.keeps = [entry for entry in entries if entry.__class__ is Value]
        self.places = [entries.index(array) for array in arrays]
        self.result = entries.index(result)
        self.keeps_shape = tuple(result.shape) == tuple(arrays[0].shape) and algorithm != "reduce"
        self.dtype = result.array.dtype
        self.mark_written = result.kind.mark_written
        self.may_be_conj = self.dtype.is_complex or any(array.array.dtype.is_complex for array in arrays)
        self.spare = []
        self.handle = prepared.handle  # an integer, which ctypes passes faster than the object
        self.prepared = prepared
        _calls[self.key] = self


def find(algorithm, op, mode, device, arrays, out, dimensions=0):
    """The call of this kind, which may not have been made yet; None where such calls cannot be repeated. `dimensions`: as of a
    fatlink_array_exchange."""
    first = arrays[0]
    if op.__class__ is not str or (exchanges := _exchanges.get(first.__class__)) is None:
        return None
    if out is not None and out.__class__ is not first.__class__:
        return None
    key = algorithm, op, mode, device, first.get_device(), first.dtype, None if out is None else out.dtype
    if len(arrays) > 1:
        if any(array.__class__ is not first.__class__ for array in arrays):
            return None
        key = (*key, *[array.dtype for array in arrays[1:]])
    try:
        call = _calls.get(key)
    except TypeError:  # a mode that is no text
        return None
    return call if call is not None else Repeated(key, exchanges[dimensions]) if key[4] != HOST else None


_exchanges: dict = {}  # by class, its fatlink_array_exchanges by `dimensions`


def add_class(cls) -> None:
    """Lets calls on arrays of exactly this class be repeated, if it has the exchange API."""
    capsule = cls.__dict__.get("__dlpack_c_exchange_api__")
    if capsule is None:
        return
    python = ctypes.pythonapi
    python.PyCapsule_GetPointer.restype, python.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    api = python.PyCapsule_GetPointer(capsule, b"dlpack_exchange_api")
    release, acquire, clear = (ctypes.cast(function, ctypes.c_void_p).value for function in (
        python.PyEval_SaveThread, python.PyEval_RestoreThread, python.PyErr_Clear))
    _kept.append([ArrayExchange(api=api, release=release, acquire=acquire, clear=clear, dimensions=dimensions)
                  for dimensions in (0, 1, -1)])
    _exchanges[cls] = [ctypes.addressof(exchange) for exchange in _kept[-1]]


_kept: list = []
_USAGE = 1  # a fatlink_error_kind
_generation = [0]  # of the settings


def _forget():
    _generation[0] += 1
    _calls.clear()


_settings.changes.append(_forget)  # the next calls link with the new settings
_forks.in_child.append(_calls.clear)  # the way of the first call says why a GPU cannot be used

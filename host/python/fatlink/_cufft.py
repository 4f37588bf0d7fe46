# SPDX-License-Identifier: Apache-2.0
"""Passes transforms to cuFFT as LTO callbacks, which cuFFT links into its kernels when a plan is made (docs/cufft.md)."""
from __future__ import annotations

import ctypes
import os
import re

from ._arguments import attribute, shown, unsigned
from ._arrays import view
from ._devices import HOST, device_at
from ._errors import DeviceError, RefusedError, UnavailableError, UsageError, UsageTypeError
from ._inputs import Input, as_input
from ._linking import check, compile
from ._operators import is_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
else:  # typing.get_type_hints needs the name
    Any = object

_SONAME = "libcufft.so.12"
_ELEMENTS = ("complex", "double_complex", "real", "double_real")
_CALLBACKS = [f"cufft_{direction}_{element}" for direction in ("load", "store") for element in _ELEMENTS]  # by cufftXtCallbackType


class CufftCallbacks:
    """The callbacks of a cuFFT plan. Keep the object until the plan is destroyed: cuFFT reads the callbacks and the addresses of
    their states when it makes the plan, and the callbacks read the states whenever the plan runs."""

    __slots__ = ("load", "store", "_keeps")

    def __init__(self):
        self.load: Input | None = None  #: the load callback
        self.store: Input | None = None  #: the store callback
        self._keeps: list = []

    def __repr__(self) -> str:
        names = [entry.name for entry in (self.load, self.store) if entry is not None]
        return f"<fatlink.CufftCallbacks {', '.join(names)}>"


def cufft(plan: Any, *, load: Any = None, store: Any = None, load_state: Any = None, store_state: Any = None,
          target: str | None = None) -> CufftCallbacks:
    """Sets callbacks of a cuFFT plan: functions that cuFFT calls instead of reading its input or writing its output. The plan must
    have been created (cufftCreate), and not been made yet (cufftMakePlan1d).

    plan         the cufftHandle: a number, or an object with it as `handle`
    load, store  the name of an installed callback, a file, an Input, or CUDA source that defines one of cuFFT's callbacks, such as
                 cufftJITCallbackLoadComplex
    load_state, store_state   an array on the GPU, whose address the callback gets as `info`; None: a null pointer
    target       "sm_90": the target of the plan's GPU; None: that of the states' GPU, or else of the first GPU

    Uses the libcufft.so.12 (CUDA 13) that this process has loaded, with PyTorch, CuPy or nvmath for example. Raises RefusedError if
    a callback has other types than cuFFT's. Returns an object to keep until the plan is destroyed."""
    handle = _handle_of(plan)
    states = {"load": _address(load_state, "load_state"), "store": _address(store_state, "store_state")}
    if load is None and store is None:
        raise UsageError("neither load nor store is given", hint="pass a callback")
    if target is None:
        target = device_at(max(place for _, place in states.values())).target
    library = _loaded_library()
    result = CufftCallbacks()
    result._keeps += [load_state, store_state]
    chosen = [(direction, _find(value, direction, target)) for direction, value in (("load", load), ("store", store))
              if value is not None]
    for direction, (code, contract) in chosen:
        setattr(result, direction, code)
        _set(library, handle, code, contract, states[direction][0], result)
    return result


def _handle_of(plan):
    handle = plan if hasattr(plan, "__index__") else attribute(plan, "handle")
    if handle is None:
        raise UsageTypeError(f"plan is {shown(plan)}", input="plan", hint="pass the cufftHandle, or an object with it as handle")
    return unsigned(handle, "plan", 31)


def _address(state, name):
    """The address of a state, and the ordinal of its GPU."""
    if state is None:
        return None, 0
    array = view(state)
    if array.place == HOST:
        raise UsageError(f"{name} is in the host's memory", input=name, hint="move it to the plan's GPU")
    return array.address, array.place


def _loaded_library():
    try:
        library = ctypes.CDLL(_SONAME, mode=os.RTLD_NOLOAD)
    except OSError:
        raise UnavailableError(f"this process has not loaded {_SONAME}", code="no-cufft", stage="usage",
                               hint="make the plan with cuFFT of CUDA 13 first; other versions have other callbacks") from None
    library.cufftXtSetJITCallback.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                                              ctypes.POINTER(ctypes.c_void_p)]
    return library


def _find(value, direction, target):
    """The callback as an Input, and its contract."""
    if isinstance(value, str) and is_source(value):
        contract = _contract_of(value, direction)
        return compile(value, contract=contract, name=f"{direction}.cu"), contract
    code = as_input(value, direction)
    if code.form != "fatbin":
        raise UsageError(f"{code.name} is of the form {code.form}; fatlink passes fatbins to cuFFT", input=code.name,
                         hint="compile the callback with fatlink_add_fatbin, nvcc -fatbin, fatlink compile or fatlink.compile")
    errors = {contract: [finding for finding in check([contract, code], target=target) if finding.is_error]
              for contract in _CALLBACKS if contract.startswith(f"cufft_{direction}")}
    fitting = [contract for contract, found in errors.items() if not found]
    if len(fitting) > 1:
        raise UsageError(f"{code.name} does not state the types of its functions", input=code.name, code="unchecked-types",
                         hint="compile it with PTX beside the LTO-IR: code=[compute_75,lto_75]")
    if not fitting:
        raise _refusal(code, direction, errors)
    return code, fitting[0]


def _contract_of(source, direction):
    """The contract of the callback that a source defines."""
    found = re.search(rf"\bcufftJITCallback{direction.capitalize()}((?:Double)?)(Complex|Real)\b", source)
    if found is None:
        raise UsageError(f"the source of {direction} defines no callback", input=direction,
                         hint=f"define cufftJITCallback{direction.capitalize()}Complex, …DoubleComplex, …Real or …DoubleReal")
    return f"cufft_{direction}_{'double_' if found[1] else ''}{found[2].lower()}"


def _refusal(code, direction, errors):
    """The error for an input that is none of the callbacks. It is about the callback that the input defines with other types."""
    for found in errors.values():
        first = found[0]
        is_overload = re.match(r"define (\w+)\(.*, not \1\(", first.hint)
        if is_overload or all(finding.id != "missing-hook" for finding in found):
            return RefusedError(first.message, code=first.id, hint=first.hint, stage="preflight", input=code.name,
                                findings=tuple(found))
    return RefusedError(f"{code.name} defines no {direction} callback of cuFFT", code="missing-hook", stage="preflight",
                        input=code.name, findings=tuple(finding for found in errors.values() for finding in found),
                        hint=f"define the function that one of these contracts declares: {', '.join(errors)}")


def _set(library, handle, code, contract, address, result):
    data = bytes(code)
    info = ctypes.c_void_p(address)
    result._keeps += [data, info]
    # Without a name, cuFFT calls the function with the name of the type.
    status = library.cufftXtSetJITCallback(handle, None, data, len(data), _CALLBACKS.index(contract), ctypes.byref(info))
    if status:
        raise DeviceError(f"{code.name}: cufftXtSetJITCallback returned {status}", code=f"cufftResult {status}", stage="device",
                          input=code.name, hint="create the plan with cufftCreate, and pass it before cufftMakePlan…")

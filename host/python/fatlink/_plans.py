# SPDX-License-Identifier: Apache-2.0
"""Libraries that are run by their launch plans, with a caller's arrays."""
from __future__ import annotations

from os import PathLike

from . import _calls
from ._arguments import attribute, shown
from ._arrays import View, require_one_place, view
from ._devices import Device, as_device, device_at
from ._elements import is_compatible
from ._errors import FileError, UsageError, UsageTypeError
from ._ffi import ProcessObject, make_lock
from ._inputs import Input, as_inputs
from ._linking import PlanImage, mode_number
from ._prepared import Prepared


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
else:  # typing.get_type_hints needs the name
    Any = object


def nearest(name, names):
    """ "; did you mean X?", or a list of all names."""
    import difflib
    similar = difflib.get_close_matches(name, names, 1)
    return f"did you mean {similar[0]}?" if similar else f"it has {', '.join(names)}"


def _argument(prepared, name):
    """The argument of a plan for a keyword: `in_` is `in`, which is a keyword of Python."""
    for spelling in (name, name.removesuffix("_")):
        argument = prepared.by_name.get(spelling)
        if argument is not None and argument.role != "scratch":
            return argument
    names = [argument.name for argument in prepared.arguments if argument.role != "scratch"]
    raise UsageError(f"plan {prepared.name} has no argument {name}", input=name, hint=nearest(name, names))


def element_for_output(argument, model: View):
    """The type of an output's elements: a number's, or the struct of the arrays of the call."""
    element = argument.element
    if element is not None:
        return element
    if model.element.dtype is not None and is_compatible(model.element, argument):
        return model.element
    raise UsageError(f"{argument.name} has elements of {argument.type_name}, for which fatlink knows no dtype",
                     input=argument.name, hint=f"pass an array for it: {argument.name}=")


def view_of(value, name):
    """The View of an argument's array, whose errors name the argument. `value` may be a View already."""
    if value.__class__ is View:
        return value
    try:
        return view(value)
    except UsageError as cause:
        cause.message = f"{name}: {cause.message}"
        cause.input = name
        raise


def _array(prepared, argument, value):
    array_view = view_of(value, argument.name)
    if argument.role != "state" and not is_compatible(array_view.element, argument):
        raise UsageTypeError(f"{argument.name} is an array of {array_view.element}; plan {prepared.name} takes {argument.type_name}",
                             input=argument.name, hint=f"convert it to {argument.type_name}, or prepare the library with a "
                                                       f"transform of {array_view.element}")
    if argument.role == "state" and prepared.state_type is not None:
        prepared.state_type.check(argument.name, array_view)
    if argument.role == "output":
        _calls.require_output(argument.name, array_view, lambda element: True, None)
    return array_view


def _result(names, arrays):
    if len(arrays) <= 1:
        return arrays[0] if arrays else None
    from collections import namedtuple
    return namedtuple("Results", names)(*arrays)


def _entries(prepared, arguments):
    """The views of arrays, and the values, by the plan's names."""
    entries = {}
    for keyword, value in arguments.items():
        argument = _argument(prepared, keyword)
        if argument.name in entries:
            raise UsageError(f"argument {argument.name} is given twice", input=argument.name, hint="pass it once")
        if value is None and argument.role == "state":
            continue
        entries[argument.name] = _array(prepared, argument, value) if argument.is_array else prepared.value(argument.name, value)
    return entries


def run_with(prepared, arguments, stream, scratch):
    """Runs a prepared plan with arrays, sizes and values by name; returns the outputs that were not given."""
    entries = _entries(prepared, arguments)
    views = {name: entry for name, entry in entries.items() if entry.__class__ is View}
    if views:
        _calls.device_for(require_one_place(views), prepared.device)
    outputs = _missing(prepared, entries, stream)
    _calls.run(prepared, tuple(entries), list(entries.values()), stream, scratch)
    return _result([argument.name for argument in outputs], list(outputs.values()))


def _missing(prepared, entries, stream):
    """Makes the outputs that the caller does not give: a dict by argument. Adds their views to `entries`."""
    outputs = {}
    model = next((entry for entry in entries.values() if entry.__class__ is View), None)
    for argument in prepared.arguments:
        if argument.name in entries:
            continue
        if argument.role == "input" or argument.role == "value" and not argument.has_default:
            keyword = argument.name + ("_" if argument.name == "in" else "")
            raise UsageError(f"argument {argument.name} of plan {prepared.name} is missing: {argument.role}, "
                             f"{argument.type_name}", input=argument.name, hint=f"pass {keyword}=…")
        if argument.role == "output" and model is not None:
            outputs[argument] = None
    if outputs:
        names, given = list(entries), list(entries.values())
        for argument in outputs:
            shape = prepared.extents(names, given, argument.name)
            entries[argument.name] = model.kind.make(model, shape, element_for_output(argument, model), stream)
            outputs[argument] = entries[argument.name].array
    return outputs


class Plan(ProcessObject):
    """A library with transforms, ready to be run by its launch plan. Several threads may run it."""

    def __init__(self, library, transforms, device, mode):
        mode_number(mode)
        self._library = library
        self._transforms = transforms
        self._mode = mode
        self._device = device
        self._prepared = {}
        self._lock = make_lock()
        if device is not None:
            self.on(device)

    def on(self, device) -> Prepared:
        """The plan on a device, linked and loaded."""
        device = as_device(device)
        key = id(device)
        prepared = self._prepared.get(key)
        if prepared is None:
            with self._lock:
                prepared = self._prepared.get(key) or Prepared(device, self._library, self._transforms, self._mode)
                self._prepared[key] = prepared
        return prepared

    def _first_prepared(self):
        if not self._prepared:
            raise UsageError(f"{self._library} is not prepared for a device yet", hint="pass device= to fatlink.load, or run it")
        return next(iter(self._prepared.values()))

    @property
    def arguments(self) -> list:
        """What the plan is given: name, role, type_name, … of each argument, scratch arrays among them."""
        return list(self._first_prepared().arguments)

    @property
    def name(self) -> str:
        """The plan's name."""
        return self._first_prepared().name

    @property
    def image(self) -> PlanImage:
        """The image that runs."""
        return self._first_prepared().image

    @property
    def device(self):
        """The Device that load() was given; None: that of the arrays."""
        return self._device

    def scratch_bytes(self, **arguments) -> int:
        """The memory of the plan's scratch arrays for these sizes or arrays."""
        prepared, entries = self._entries(arguments)
        return prepared.scratch_bytes(list(entries), list(entries.values()))

    def extents(self, array: str, **arguments) -> tuple:
        """The extents of an array of the plan, slowest first, for these sizes or arrays."""
        prepared, entries = self._entries(arguments)
        return prepared.extents(list(entries), list(entries.values()), array)

    def _entries(self, arguments):
        prepared, arguments = self._for_arrays(arguments)
        return prepared, _entries(prepared, arguments)

    def _for_arrays(self, arguments):
        """The plan on the device of the first array, and the arguments with the view of that array."""
        for name, value in arguments.items():
            if isinstance(value, (int, float, bytes, tuple, dict, complex)) or value is None:
                continue
            if any(attribute(value, protocol) is not None for protocol in ("__dlpack__", "__cuda_array_interface__")):
                first = view_of(value, name.removesuffix("_"))
                return self.on(device_at(first.place) if self._device is None else _calls.device_for(
                    first.place, self._device)), {**arguments, name: first}
        return self._first_prepared(), arguments

    def run(self, *, stream: Any = None, scratch: Any = None, **arguments: Any) -> Any:
        """Runs the plan with arrays, sizes and values by the plan's names (`in_` for `in`), in the caller's current stream.

        Sizes follow from the arrays where they can. Outputs that are not given are made as the caller's kind of array and
        returned: one as itself, several as a named tuple. `scratch`: memory for the plan's scratch arrays, at least
        scratch_bytes(); otherwise it is allocated and released on the stream. Everything is checked before the first launch."""
        prepared, arguments = self._for_arrays(arguments)
        return run_with(prepared, arguments, stream, scratch)

    def __repr__(self) -> str:
        return f"<fatlink.Plan {self._library}, {self._mode} mode>"


def _file_of(library):
    """The file of an Input. Its sidecar has the launch plan, so that bytes in memory are not enough."""
    try:
        is_same = Input.find(library.name).digest == library.digest
    except FileError:
        is_same = False
    if not is_same:
        raise UsageError(f"library {library.name} is an Input whose bytes are not those of a file of this name",
                         input=library.name, hint="pass the name or path of a file, which has the launch plan beside it")
    return library.name


def load(library: Any, transform: Any = None, *, device: Any = None, mode: str = "lto") -> Plan:
    """A library with a launch plan, and its transforms: one or a list of names, files or Inputs; None: the library's defaults.

    device   a name ("gpu", "cpu") or a Device, for which the library is linked and loaded at once; None: the device of the
             arrays of each run
    mode     "lto": optimized across the inputs; "ptx": compiled PTX, real calls"""
    if isinstance(library, Input):
        library = _file_of(library)
    elif not isinstance(library, (str, PathLike)):
        raise UsageTypeError(f"library is {shown(library)}", hint="pass a name, a file, or a fatlink.Input that was read from a file")
    transforms = as_inputs(transform, "transform")
    if device is None:
        Input.find(library)  # a wrong name fails here, not at the first run
    elif not isinstance(device, Device):
        device = as_device(device)
    return Plan(library, transforms, device, mode)

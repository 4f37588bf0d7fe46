# SPDX-License-Identifier: Apache-2.0
"""Links libraries, loads them on a device, and runs their launch plans with a caller's arrays. Determines the place of the
arrays and the stream, and maps the arrays for the reference device."""
from __future__ import annotations

import ctypes
import os

from ._arguments import attribute, encode, shown
from ._arrays import View, require_one_place, view
from ._devices import HOST, Device, as_device, device_at, place_name, stream_handle
from ._elements import NAMES, NUMBERS, is_compatible, is_same_record, layout, number_type, pack, warn_of_names
from ._errors import DeviceError, Error, FileError, UsageError, UsageTypeError
from ._ffi import (UNKNOWN_COUNT, Argument, Handle, ImageInfo, PlanArgumentStruct, PlanRequest, ProcessObject, after_fork, c,
                   disable_after_fork, error_of, forked, make_lock, output, raise_error, text)
from ._inputs import Input, as_inputs, handles, stem
from ._linking import PlanImage, linker, mode_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
else:  # typing.get_type_hints needs the name
    Any = object

ROLES = (None, "input", "output", "scratch", "size", "value", "state")
_ARRAYS = ("input", "output", "state")


class PlanArgument:
    """An argument of a plan."""

    __slots__ = ("name", "role", "scalar", "element_bytes", "type_name", "dimensions", "alignment", "has_default")
    name: str
    role: str
    scalar: int
    element_bytes: int
    type_name: str
    dimensions: int
    alignment: int
    has_default: bool

    def __init__(self, struct):
        self.name = text(struct.name)  #: the name in the plan: "in"
        self.role = ROLES[struct.role]  #: "input", "output", "scratch", "size", "value" or "state"
        self.scalar = struct.scalar  #: the fatlink_scalar of fatlink/fatlink.h
        self.element_bytes = struct.element_bytes  #: size of an element or of the value; 0 for a state
        self.type_name = text(struct.type_name)  #: "float32", "bytes8", "{value: float32, index: int32}"
        self.dimensions = struct.dimensions  #: number of dimensions of an array
        self.alignment = struct.alignment  #: of an array's address, in bytes
        self.has_default = bool(struct.has_default)  #: whether a size, value or input may be omitted

    @property
    def is_array(self) -> bool:
        """Whether the argument is passed as an array: an input, output or state."""
        return self.role in _ARRAYS

    @property
    def element(self):
        """Its ElementType if it is a number; None for structs and bytes."""
        name = NAMES.get(self.scalar)
        return number_type(name) if name in NUMBERS else None

    def __repr__(self) -> str:
        return f"<fatlink.PlanArgument {self.name}: {self.role}, {self.type_name}>"


class Value:
    """The bytes of a value and their address."""

    __slots__ = ("buffer", "address")

    def __init__(self, data: bytes):
        self.buffer = ctypes.create_string_buffer(data, len(data))
        self.address = ctypes.addressof(self.buffer)


class Slot:
    """The argument structs of a call; used by one thread at a time."""

    __slots__ = ("array", "address", "items")

    def __init__(self, names, arguments):
        self.array = (Argument * len(names))()
        self.address = ctypes.addressof(self.array)
        self.items = [self.array[index] for index in range(len(names))]
        for item, name in zip(self.items, names):
            argument = arguments[name]
            item.size = ctypes.sizeof(Argument)
            item.name = argument[0]
            item.element_bytes = argument[1].element_bytes  # callers have compared the types
            item.scalar = argument[1].scalar
            item.count = UNKNOWN_COUNT

    def fill(self, entries):
        """Sets the arguments: Values, or objects with address and count."""
        for item, entry in zip(self.items, entries):
            if entry.__class__ is Value:
                item.value = entry.address
            else:
                item.address = entry.address
                item.count = entry.count


class PreparedPlan(Handle):
    """A plan of the C interface, with the facts that Python needs about it."""

    __slots__ = ("device", "name", "arguments", "by_name", "handle", "run_function", "state_type", "_slots", "_values",
                 "_encoded")
    _prefix = ""  # of the functions of the C interface

    def __init__(self, handle, name, device, *keeps):
        super().__init__(handle, device, *keeps)
        self.handle = handle
        self.device = device
        self.name = name
        self.run_function = self._function("run")
        self.arguments = [self._argument(index) for index in range(self._function("argument_count")(self))]
        self.by_name = {argument.name: argument for argument in self.arguments}
        self._encoded = {argument.name: (argument.name.encode(), argument) for argument in self.arguments}
        self.state_type = None
        self._slots = {}
        self._values = {}
        if device.is_gpu:
            disable_after_fork(self)

    def _function(self, name):
        return getattr(c, self._prefix + name)

    def _argument(self, index):
        struct = PlanArgumentStruct()
        raise_error(self._function("get_argument")(self, index, ctypes.byref(struct)))
        return PlanArgument(struct)

    def _fail_after_fork(self):
        super()._fail_after_fork()
        self.run_function = _run_after_fork

    def describe_state(self, transforms):
        """Finds the type of the plan's state. If a plan has several states, it is unknown which transform reads which."""
        is_one = sum(argument.role == "state" for argument in self.arguments) == 1
        self.state_type = _find_state(transforms) if is_one else None

    def value(self, name, number, dtype=None) -> Value:
        """The bytes of a value or size for an argument, kept for the next call with the same value. `dtype`: as in pack()."""
        key = (name, number.__class__, number) if number.__class__ in (int, float) else None
        result = self._values.get(key) if key else None
        if result is None or number != number or number == 0:  # 0.0 and -0.0 are equal
            result = Value(pack(number, self.by_name[name], dtype))
            if key and len(self._values) < 1024:
                self._values[key] = result
        return result

    def run(self, stream: int, names: tuple, entries, scratch: int = 0, scratch_bytes: int = 0) -> None:
        """Queues the launches. `entries`: for each argument a Value, or an object with address, count and scalar."""
        try:
            slot = (slots := self._slots[names]).pop()
        except (KeyError, IndexError):
            slots = self._slots.setdefault(names, [])
            slot = Slot(names, self._encoded)
        slot.fill(entries)
        error = self.run_function(self.handle, stream, slot.address, len(names), scratch, scratch_bytes)
        slots.append(slot)
        if error is not None:
            raise _explained(error_of(error))

    def sizes(self, names, entries):
        """The arguments for a query about sizes."""
        slot = Slot(tuple(names), self._encoded)
        slot.fill(entries)
        return slot.array, len(slot.items)

    def extents(self, names, entries, array) -> tuple:
        """The extents of an array for the sizes that follow from these arguments."""
        self._require_usable()
        structs, count = self.sizes(names, entries)
        values, dimensions = (ctypes.c_uint64 * 8)(), ctypes.c_size_t()
        name = encode(array, "the name of an array")
        raise_error(self._function("extents")(self, structs, count, name, values, 8, ctypes.byref(dimensions)))
        return tuple(values[:dimensions.value])

    def scratch_bytes(self, names, entries) -> int:
        """The size of the scratch arrays for the sizes that follow from these arguments."""
        self._require_usable()
        structs, count = self.sizes(names, entries)
        size = ctypes.c_size_t()
        raise_error(self._function("scratch_bytes")(self, structs, count, ctypes.byref(size)))
        return size.value


# Plans of GPUs stay loaded until the process ends: work that was queued, or a CUDA graph, may use their code.
_loaded: list = []


class Prepared(PreparedPlan):
    """A fatlink_plan."""

    __slots__ = ("library", "transforms", "mode", "linker")
    _free, _prefix = "plan_free", "plan_"

    def __init__(self, device, library, transforms, mode):
        self.library = library
        self.transforms = transforms
        self.mode = mode
        self.linker = linker()
        handle = output()
        raise_error(c.plan_prepare(device._require_usable(), self.linker, ctypes.byref(self.request()), ctypes.byref(handle)))
        super().__init__(handle.value, text(c.plan_name(handle)), device, self.linker)
        self.describe_state(transforms)
        if device.is_gpu:
            _loaded.append(self)

    def request(self) -> PlanRequest:
        """What was prepared, to prepare it for another device."""
        request = PlanRequest(library=encode(self.library, "library"), transform_count=len(self.transforms),
                              mode=mode_number(self.mode))
        request.transforms = ctypes.cast(handles(self.transforms), type(request.transforms))  # which keeps the array
        return request

    @property
    def image_bytes(self) -> int:
        """The size of the image, or of the texts of a PTX set, which are not copied."""
        info = ImageInfo()
        raise_error(c.image_get_info(c.plan_image(self), ctypes.byref(info)))
        return info.size_bytes

    @property
    def image(self) -> PlanImage:
        self._require_usable()
        return PlanImage(c.plan_image(self), self)


def _explained(error):
    """Replaces the hint about memory in a call's error by one about arrays. An exception of a signal handler is returned
    unchanged."""
    if not isinstance(error, Error):
        return error
    if error.code == "invalid-argument" and "which is not a multiple of" in error.message and error.input != "scratch":
        error.hint = ("copy the array (x.clone() of PyTorch, x.copy() of NumPy and CuPy), or pass a slice that begins at a "
                      "multiple of as many bytes")
    return error


def _run_after_fork(*arguments):
    raise forked(Handle._origin)


class StateType:
    """The fields of a state, with the layout of C++."""

    __slots__ = ("owner", "names", "types", "bytes")

    def __init__(self, owner, fields):
        self.owner = owner
        self.names = [name for name, _ in fields]
        self.types = [type_name for _, type_name in fields]
        self.bytes = layout(self.types)[1]

    def __str__(self):
        return ", ".join(f"{name}: {type_name}" for name, type_name in zip(self.names, self.types))

    def check(self, name, view):
        """Raises if an array has too few bytes for the state, or another number type. Bytes (uint8) match any type."""
        if view.count * view.element.bytes < self.bytes:
            raise UsageError(f"{name} has {view.count * view.element.bytes} bytes; the state of {self.owner} has {self.bytes} "
                             f"({self})", input=name, hint="pass an array with these fields")
        if not self._fits(view.element):
            raise UsageTypeError(f"{name} is an array of {view.element}; the state of {self.owner} has {self}", input=name,
                                 hint="pass an array of this type, a structured dtype with these fields, or bytes (uint8)")
        if view.element.name.startswith("{") and view.element.name != f"{{{self}}}":
            warn_of_names(name, view.element, self.owner, self)

    def _fits(self, element):
        if element.dtype is not None:
            return not element.dtype.names or is_same_record(element.name, f"{{{self}}}")
        return element.name == "uint8" or all(type_name == element.name for type_name in self.types)


def _find_state(transforms) -> StateType | None:
    """The state of the first transform whose file states one; None if there is none."""
    for transform in transforms:
        fields = _read_fields(transform)
        if fields:
            return StateType(stem(transform.name), fields)
    return None


def _read_fields(transform):
    """The fields in the .json beside a transform's file, if the .json belongs to these bytes."""
    import json
    try:
        with open(os.path.splitext(transform.name)[0] + ".json", encoding="utf-8") as file:
            description = json.load(file)
        if description.get("sha256") != transform.digest:
            return None
        fields = [(field["name"], field["type"]) for field in description.get("state", ())]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return fields if all(type_name in NUMBERS for _, type_name in fields) else None


class Address:
    """The address of an array, for a call."""

    __slots__ = ("address", "count")

    def __init__(self, address, count):
        self.address = address
        self.count = count


ABSENT = Address(0, 0)  # a state that is not given


def device_for(place: int, device) -> Device:
    """The device for a call on arrays at `place`. If `device` is given, it must be able to use these arrays."""
    if device is None:
        return device_at(place)
    device = as_device(device)
    if device.place != place:
        reach = f"gpu:{device.ordinal} uses {place_name(device.ordinal)}" if device.is_gpu else (
            "the reference device uses the host's memory")
        hint = ("move the arrays to it: x.cuda() of PyTorch, cupy.asarray(x), jax.device_put(x)" if place == HOST
                else "move the arrays to it, or leave device= out")
        raise UsageError(f"the arrays are in {place_name(place)}, and {reach}", code="wrong-device", hint=hint)
    return device


def require_output(name, view: View, element_check, shape) -> None:
    """Checks an array that the caller passes for results."""
    if view.read_only:
        raise UsageError(f"{name} cannot be written", input=name, code="read-only-output",
                         hint="pass a writable array; JAX's are not: leave it out, and the result is a new array")
    if not element_check(view.element):
        raise UsageTypeError(f"{name} is an array of {view.element}", input=name, hint="pass one of the results' type")
    if shape is not None and view.shape != shape and tuple(view.shape) != tuple(shape):
        raise UsageError(f"{name} has the shape {tuple(view.shape)}; the result has {tuple(shape)}", input=name,
                         hint="pass an array of the result's shape")
    view.kind.mark_written(view.array)


def run(prepared, names, entries, stream=None, scratch=None) -> None:
    """Runs a plan. `entries`: a View, a Value or ABSENT for each name."""
    first = entries[0] if entries else None
    if first.__class__ is not View:
        first = next((entry for entry in entries if entry.__class__ is View), None)
        if first is None:
            raise UsageError(f"plan {prepared.name} was given no array", hint="pass arrays for its inputs and outputs")
    kind, place = first.kind, first.place
    if place == HOST or scratch is not None:
        return _run_others(prepared, names, entries, stream, scratch)
    for entry in entries:
        if entry.__class__ is View and (entry.place != place or entry.kind is not kind or not kind.is_ordered):
            return _run_others(prepared, names, entries, stream, scratch)
    handle = kind.current_stream(place) if stream is None else stream_handle(stream, place)
    prepared.run(handle, names, entries)


def _run_others(prepared, names, entries, stream, scratch):
    views = {name: entry for name, entry in zip(names, entries) if entry.__class__ is View}
    place = require_one_place(views)
    if place == HOST:
        if stream is not None:
            raise UsageError("a stream was given for arrays in the host's memory", input="stream",
                             hint="leave stream= out: the reference device has finished when the call returns")
        _run_on_host(prepared, names, entries, views, scratch)
        return
    kinds = list({id(entry.kind): entry.kind for entry in views.values()}.values())
    kind = next((kind for kind in kinds if kind.is_ordered), kinds[0])
    handle = kind.current_stream(place) if stream is None else stream_handle(stream, place)
    address, size = _scratch(scratch, place)
    must_wait = wait_for_others(prepared.device, views.values(), kind, handle, place)
    prepared.run(handle, names, entries, address, size)
    if must_wait:
        raise_error(c.synchronize(prepared.device, handle))


def wait_for_others(device, views, kind, handle, place) -> bool:
    """Orders the work that produces arrays of other kinds than `kind` before work on the stream `handle`. Returns whether the
    call must wait for its own work, because streams of other frameworks do not wait for this one."""
    must_wait = False
    streams = set()
    for entry in views:
        if not entry.kind.is_ordered:
            entry.kind.wait_for(entry, handle)
            must_wait = True
        elif entry.kind is not kind and (stream := entry.kind.current_stream(place)) != handle:
            streams.add(stream)
    for stream in streams:
        raise_error(c.synchronize(device, stream))
    return must_wait or bool(streams)


class Counter(Handle):
    """Memory for a number that a call computes on a GPU and the host waits for."""

    __slots__ = ("device", "address", "number")
    _free = "buffer_free"

    def __init__(self, device):
        handle = output()
        raise_error(c.buffer_allocate(device._require_usable(), 8, ctypes.byref(handle)))
        super().__init__(handle.value, device)
        self.device = device
        self.address = c.buffer_address(self)
        self.number = ctypes.c_uint64()
        disable_after_fork(self)

    def read(self, stream: int) -> int:
        """Waits for the work on `stream`, and returns the number."""
        try:
            raise_error(c.buffer_read(self, 0, ctypes.byref(self.number), 8, stream))
        except DeviceError as failure:
            if failure.code == "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED":
                failure.message = "the call waits for the number of results, and the stream is being captured into a CUDA graph"
                failure.hint = ("pass count= (for partition3 counts=), an array for the number on the device, or make the call before or "
                                "after the capture")
            raise
        raise_error(c.synchronize(self.device, stream))
        return self.number.value


_counters: dict = {}  # by the ordinal of the GPU, those that no call uses
after_fork.append(_counters.clear)


def run_counted(prepared, names, entries, count, like, stream) -> int:
    """Runs a plan on arrays of a GPU, and returns the number that it stores for entries[count], which must be None. `like`:
    the View of an array of the framework whose stream is used."""
    spare = _counters.setdefault(like.place, [])
    try:
        counter = spare.pop()
    except IndexError:
        counter = Counter(prepared.device)
    entries[count] = View(None, like.kind, counter.address, 1, (1,), number_type("uint64"), like.place)
    run(prepared, names, entries, stream)
    number = counter.read(like.kind.current_stream(like.place) if stream is None else stream_handle(stream, like.place))
    spare.append(counter)
    return number


def _scratch(scratch, place):
    """The address and size of the memory that the caller passes for scratch arrays."""
    if scratch is None:
        return 0, 0
    scratch_view = view(scratch)
    if scratch_view.place != place:
        raise UsageError(f"scratch is in {place_name(scratch_view.place)}, the other arrays in {place_name(place)}",
                         input="scratch", code="several-devices", hint="allocate it on the same device")
    if scratch_view.read_only:
        raise UsageError("scratch cannot be written", input="scratch", code="read-only-output", hint="pass a writable array")
    return scratch_view.address, scratch_view.count * scratch_view.element.bytes


def _run_on_host(prepared, names, entries, views, scratch):
    if scratch is not None:
        raise UsageError("scratch was given for arrays in the host's memory", input="scratch",
                         hint="leave it out: the reference device allocates it")
    for entry in views.values():
        if not entry.kind.is_ordered:
            entry.kind.wait_for(entry, 0)
    with HostMappings(prepared.device, views.values()) as mappings:
        prepared.run(0, names, [mappings.place(entry) if entry.__class__ is View else entry for entry in entries])


class HostMappings:
    """Host memory that the reference device uses during a call, without a copy. Arrays that overlap share a mapping, so that
    the plan's rules about overlapping arguments apply."""

    def __init__(self, device, views):
        self.device = device
        self.ranges = []  # [start, end, read_only, fatlink_buffer, its address]
        for entry in sorted(views, key=lambda entry: entry.address):
            end = entry.address + entry.count * entry.element.bytes
            if end == entry.address:
                continue
            if self.ranges and entry.address < self.ranges[-1][1]:
                last = self.ranges[-1]
                last[1], last[2] = max(last[1], end), last[2] and entry.read_only
            else:
                self.ranges.append([entry.address, end, entry.read_only, None, 0])

    def __enter__(self):
        try:
            for entry in self.ranges:
                handle = output()
                raise_error(c.buffer_map_host(self.device, entry[0], entry[1] - entry[0], entry[2], ctypes.byref(handle)))
                entry[3], entry[4] = handle, c.buffer_address(handle)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *cause):
        for entry in self.ranges:
            if entry[3] is not None:
                c.buffer_free(entry[3])

    def place(self, view) -> Address:
        """The array's address on the device."""
        for start, end, _, _, address in self.ranges:
            if start <= view.address < end:
                return Address(address + view.address - start, view.count)
        return Address(view.address, view.count)  # empty


def _nearest(name, names):
    """ "; did you mean X?", or a list of all names."""
    import difflib
    similar = difflib.get_close_matches(name, names, 1)
    return f"did you mean {similar[0]}?" if similar else f"it has {', '.join(names)}"


def _argument(prepared, name):
    """The argument of a plan for a keyword argument: `in_` stands for `in`, which is a keyword of Python."""
    for spelling in (name, name.removesuffix("_")):
        argument = prepared.by_name.get(spelling)
        if argument is not None and argument.role != "scratch":
            return argument
    names = [argument.name for argument in prepared.arguments if argument.role != "scratch"]
    raise UsageError(f"plan {prepared.name} has no argument {name}", input=name, hint=_nearest(name, names))


def element_for_output(argument, model: View):
    """The type of an output's elements: a number type, or the struct of the call's arrays."""
    element = argument.element
    if element is not None:
        return element
    if model.element.dtype is not None and is_compatible(model.element, argument):
        return model.element
    raise UsageError(f"{argument.name} has elements of {argument.type_name}, for which fatlink knows no dtype",
                     input=argument.name, hint=f"pass an array for it: {argument.name}=")


def view_of(value, name):
    """The View of an argument's array; its errors name the argument. `value` may already be a View."""
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
        require_output(argument.name, array_view, lambda element: True, None)
    return array_view


def _result(names, arrays):
    if len(arrays) <= 1:
        return arrays[0] if arrays else None
    from collections import namedtuple
    return namedtuple("Results", names)(*arrays)


def _entries(prepared, arguments):
    """The Views of arrays, and the values, by their names in the plan."""
    entries = {}
    for keyword, value in arguments.items():
        argument = _argument(prepared, keyword)
        if argument.name in entries:
            raise UsageError(f"argument {argument.name} is given twice", input=argument.name, hint="pass it once")
        if value is None and (argument.role == "state" or argument.role == "input" and argument.has_default):
            continue
        entries[argument.name] = _array(prepared, argument, value) if argument.is_array else prepared.value(argument.name, value)
    return entries


def run_with(prepared, arguments, stream, scratch):
    """Runs a prepared plan with arrays, sizes and values by name; returns the outputs that the caller did not pass."""
    entries = _entries(prepared, arguments)
    views = {name: entry for name, entry in entries.items() if entry.__class__ is View}
    if views:
        device_for(require_one_place(views), prepared.device)
    outputs = _missing(prepared, entries, stream)
    run(prepared, tuple(entries), list(entries.values()), stream, scratch)
    return _result([argument.name for argument in outputs], list(outputs.values()))


def _missing(prepared, entries, stream):
    """Creates the outputs that the caller did not pass: a dict by argument. Adds their Views to `entries`."""
    outputs = {}
    model = next((entry for entry in entries.values() if entry.__class__ is View), None)
    for argument in prepared.arguments:
        if argument.name in entries:
            continue
        if argument.role in ("input", "value") and not argument.has_default:
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
    """A library with transforms that is run through its launch plan. Several threads may run it."""

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
        """The plan's arguments, including scratch arrays, each with name, role, type_name, …"""
        return list(self._first_prepared().arguments)

    @property
    def name(self) -> str:
        """The plan's name."""
        return self._first_prepared().name

    @property
    def image(self) -> PlanImage:
        """The linked image."""
        return self._first_prepared().image

    @property
    def device(self):
        """The Device that was passed to load(); None: the device of the arrays."""
        return self._device

    def scratch_bytes(self, **arguments) -> int:
        """The size of the plan's scratch arrays in bytes, for these sizes or arrays."""
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
                return self.on(device_for(first.place, self._device)), {**arguments, name: first}
        return self._first_prepared(), arguments

    def run(self, *, stream: Any = None, scratch: Any = None, **arguments: Any) -> Any:
        """Runs the plan with arrays, sizes and values by the plan's names (`in_` for `in`), in the caller's current stream.

        Sizes that follow from the arrays may be omitted. Outputs that are not passed are created as the caller's kind of
        array and returned: a single one directly, several as a named tuple. `scratch`: memory for the plan's scratch arrays,
        at least scratch_bytes(); if it is omitted, memory is allocated and released on the stream. All arguments are checked
        before the first launch."""
        prepared, arguments = self._for_arrays(arguments)
        return run_with(prepared, arguments, stream, scratch)

    def __repr__(self) -> str:
        return f"<fatlink.Plan {self._library}, {self._mode} mode>"


def _file_of(library):
    """The file of an Input. A file is required, because its sidecar contains the launch plan."""
    try:
        is_same = Input.find(library.name).digest == library.digest
    except FileError:
        is_same = False
    if not is_same:
        raise UsageError(f"library {library.name} is an Input whose bytes are not those of a file of this name",
                         input=library.name, hint="pass the name or path of a file, which has the launch plan beside it")
    return library.name


def load(library: Any, transform: Any = None, *, device: Any = None, mode: str = "lto") -> Plan:
    """Loads a library with a launch plan, and its transforms: one or a list of names, files or Inputs; None: the library's
    defaults.

    device   a name ("gpu", "cpu") or a Device, for which the library is linked and loaded immediately; None: the device of
             the arrays in each run
    mode     "lto": optimized across the inputs; "ptx": compiled PTX, calls stay calls"""
    if isinstance(library, Input):
        library = _file_of(library)
    elif not isinstance(library, (str, os.PathLike)):
        raise UsageTypeError(f"library is {shown(library)}", hint="pass a name, a file, or a fatlink.Input that was read from a file")
    transforms = as_inputs(transform, "transform")
    if device is None:
        Input.find(library)  # a wrong name fails here, not at the first run
    elif not isinstance(device, Device):
        device = as_device(device)
    return Plan(library, transforms, device, mode)

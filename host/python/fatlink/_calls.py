# SPDX-License-Identifier: Apache-2.0
"""Calls of prepared plans with a caller's arrays: where they are, in which stream, and on the reference device their mapping."""
import ctypes

from ._arrays import View, require_one_place, view
from ._devices import HOST, Device, as_device, device_at, place_name, stream_handle
from ._elements import number_type
from ._errors import UsageError, UsageTypeError
from ._ffi import Handle, after_fork, c, disable_after_fork, output, raise_error


class Address:
    """Where an array is, for a call."""

    __slots__ = ("address", "count")

    def __init__(self, address, count):
        self.address = address
        self.count = count


ABSENT = Address(0, 0)  # a state that is not given


def device_for(place: int, device) -> Device:
    """The device of a call on arrays at `place`: `device`, if it is given, must be able to use them."""
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
    """An array that the caller gives for results."""
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
    """Runs a plan. `entries`: for each name a View, a Value or ABSENT."""
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
    """Orders the work that makes arrays of other kinds than `kind` before work on the stream `handle`. Whether the call must wait
    for its own work, because streams of other frameworks do not wait for this one."""
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
    """Memory of a GPU for a number that a call makes, of which the host waits for its end."""

    __slots__ = ("device", "address", "number")
    _free = "buffer_free"

    def __init__(self, device):
        handle = output()
        raise_error(c.buffer_allocate(device.require_usable(), 8, ctypes.byref(handle)))
        super().__init__(handle.value, device)
        self.device = device
        self.address = c.buffer_address(self)
        self.number = ctypes.c_uint64()
        disable_after_fork(self)

    def fail_after_fork(self):
        self._as_parameter_ = None

    def read(self, stream: int) -> int:
        """The number, when the work on `stream` has finished."""
        raise_error(c.buffer_read(self, 0, ctypes.byref(self.number), 8, stream))
        raise_error(c.synchronize(self.device, stream))
        return self.number.value


_counters: dict = {}  # by the ordinal of the GPU, those that no call uses
after_fork.append(_counters.clear)


def run_counted(prepared, names, entries, count, like, stream) -> int:
    """Runs a plan on arrays of a GPU: the number that it stores at entries[count], which is None. `like`: a View of an array of
    the framework whose stream is used."""
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
    """The address and size of memory that the caller gives for scratch arrays."""
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
    """Host memory that the reference device works on during a call, without a copy. Arrays that overlap are in one mapping, so
    that the plan's rules about overlapping arguments hold."""

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

# SPDX-License-Identifier: Apache-2.0
"""Device code that can be replaced while it is in use."""
from __future__ import annotations

import ctypes

from ._arguments import encode, is_of_numpy, shown, unsigned
from ._arrays import View, require_one_place, view
from ._devices import as_device, stream_handle
from ._errors import UsageError, UsageTypeError
from ._ffi import (Extent, Handle, LaunchShape, LiveSettings, SwapReportStruct, c, disable_after_fork, make_lock, output,
                   raise_error)
from ._inputs import as_input, as_inputs, handles, stem
from ._linking import CACHE_OUTCOMES, MODES, linker, mode_number
from ._plans import HostMappings, PreparedPlan, device_for, run_with, wait_for_others


class SwapReport:
    """The result of a swap: `version` (1, 2, …), `mode` of the link, `cache` ("off", "miss", "hit"), `link_ms`, `load_ms`,
    `total_ms`."""

    __slots__ = ("version", "mode", "cache", "link_ms", "load_ms", "total_ms")
    version: int
    mode: str
    cache: str
    link_ms: float
    load_ms: float
    total_ms: float

    def __init__(self, struct):
        self.version = struct.version
        self.mode = MODES[struct.mode]
        self.cache = CACHE_OUTCOMES[struct.cache]
        self.link_ms = struct.link_ms
        self.load_ms = struct.load_ms
        self.total_ms = struct.total_ms

    def __repr__(self) -> str:
        return f"<fatlink.SwapReport version {self.version}, {self.mode} mode, {self.total_ms:.1f} ms>"


class _Live(Handle):
    __slots__ = ("device", "_lock")
    _create = _swap = _version = ""
    _origin = "a live plan or module that was made before os.fork()"

    def __init__(self, device="gpu", *, mode: str = "lto", tiered: bool = False):
        device = as_device(device)._require_usable()
        settings = LiveSettings(mode=mode_number(mode), tiered=bool(tiered))
        used, handle = linker(), output()
        raise_error(getattr(c, self._create)(device, used, ctypes.byref(settings), ctypes.byref(handle)))
        super().__init__(handle.value, used, device)
        self.device = device  #: the Device that runs it
        self._lock = make_lock()
        disable_after_fork(self)  # live objects of the reference device do not survive a fork, either

    def _publish(self, inputs):
        self._require_usable()
        report = SwapReportStruct()
        raise_error(getattr(c, self._swap)(self, handles(inputs), len(inputs), ctypes.byref(report)))
        return SwapReport(report)

    @property
    def version(self) -> int:
        """The number of the published version; 0: none."""
        self._require_usable()
        return getattr(c, self._version)(self)


class _LivePrepared(PreparedPlan):
    """The published version of a live plan. Every version has the same arguments. The live plan owns it."""

    __slots__ = ()
    _prefix = "live_plan_"


class LivePlan(_Live):
    """A plan whose library and transforms can be replaced while it is in use. A swap that fails changes nothing.

    tiered   first publishes a quick link, and the link in lto mode when it is ready"""

    __slots__ = ("_prepared",)
    _free, _create, _swap, _version = "live_plan_free", "live_plan_create", "live_plan_swap", "live_plan_version"

    def __init__(self, device="gpu", *, mode: str = "lto", tiered: bool = False):
        super().__init__(device, mode=mode, tiered=tiered)
        self._prepared: _LivePrepared | None = None

    def swap(self, library, transform=None) -> SwapReport:
        """Links the library with transforms (names, files or Inputs), and publishes the result."""
        first = as_input(library, "library")
        transforms = as_inputs(transform, "transform")
        with self._lock:
            report = self._publish([first, *transforms])
            if self._prepared is None:  # later versions have the same arguments
                self._prepared = _LivePrepared(self._as_parameter_, stem(first.name), self.device)
            self._prepared.describe_state(transforms)
        return report

    def run(self, *, stream=None, scratch=None, **arguments):
        """As Plan.run, for the published version."""
        self._require_usable()
        if self._prepared is None:
            raise UsageError("the live plan has no version yet", hint="call swap(library, transform) first")
        return run_with(self._prepared, arguments, stream, scratch)


class LiveModule(_Live):
    """Kernels that can be replaced while they are in use. A swap that fails changes nothing."""

    __slots__ = ()
    _free, _create, _swap, _version = "live_module_free", "live_module_create", "live_module_swap", "live_module_version"

    def swap(self, inputs) -> SwapReport:
        """Links `inputs` (names, files or Inputs, the library first), and publishes the result."""
        return self._publish(as_inputs(inputs))

    def kernel(self, name: str) -> "LiveKernel":
        """Returns a kernel by its symbol. A launch uses the version that is published at the time of the call."""
        self._require_usable()
        handle = output()
        raise_error(c.live_module_kernel(self, encode(name, "the name of a kernel"), ctypes.byref(handle)))
        return LiveKernel(handle.value, self, name)


def _extents(value, name):
    """Converts a grid or block: a number, or up to three."""
    values = (value,) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(values, (tuple, list)) or not 1 <= len(values) <= 3:
        raise UsageTypeError(f"{name} is {shown(value)}", input=name, hint="pass a whole number, or up to three")
    values = [unsigned(extent, name, 32) for extent in values]
    if 0 in values:
        raise UsageError(f"{name} is {shown(value)}", input=name, hint="pass 1 or more; launch nothing for empty arrays")
    return Extent(*values, *[1] * (3 - len(values)))


def _parameter(value):
    """The bytes of a kernel's parameter; for an array, a View."""
    if isinstance(value, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union, ctypes.Array)):
        return bytes(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, (int, float)) and not hasattr(value, "dtype"):
        raise UsageTypeError(f"parameter {shown(value)} has no size", hint="pass ctypes.c_int(1), numpy.float32(1) or an array")
    if is_of_numpy(value, "generic"):
        return value.tobytes()
    return view(value)


class LiveKernel(Handle):
    """A kernel of a LiveModule."""

    __slots__ = ("name", "_module", "_sizes")
    _free = "live_kernel_free"

    def __init__(self, handle, module, name):
        super().__init__(handle, module)
        self.name = name  #: its symbol
        self._module = module
        self._sizes = [c.live_kernel_parameter_bytes(self, index) for index in range(c.live_kernel_parameter_count(self))]
        disable_after_fork(self)

    def launch(self, grid, block, *parameters, stream=None, shared_bytes: int = 0) -> None:
        """Queues a launch. `grid` and `block` are a number or up to three numbers. Parameters are arrays, ctypes or NumPy
        scalars, or bytes."""
        self._module._require_usable()
        values = self._checked([_parameter(value) for value in parameters])
        views = {f"parameter {index}": value for index, value in enumerate(values) if isinstance(value, View)}
        device = self._module.device
        if views:
            device_for(require_one_place(views), device)
        if device.is_gpu:
            kinds = [view.kind for view in views.values()]
            kind = next((kind for kind in kinds if kind.is_ordered), None)
            if stream is not None:
                handle = stream_handle(stream, device.place)
            else:
                handle = kind.current_stream(device.place) if kind else 0
            must_wait = wait_for_others(device, views.values(), kind, handle, device.place)
            self._launch(handle, grid, block, shared_bytes, values, lambda entry: entry)
            if must_wait:
                device.synchronize(handle)
            return
        with HostMappings(device, views.values()) as mappings:
            self._launch(0, grid, block, shared_bytes, values, mappings.place)

    def _checked(self, values):
        """Checks that the sizes of the parameters are those of the kernel, and returns the parameters."""
        if len(values) != len(self._sizes):
            raise UsageTypeError(f"{len(values)} parameters were given; kernel {self.name} takes {len(self._sizes)}",
                                 input=self.name, hint=f"pass parameters of {', '.join(map(str, self._sizes)) or 'no'} bytes")
        for index, (value, size) in enumerate(zip(values, self._sizes)):
            count = 8 if isinstance(value, View) else len(value)
            if count != size:
                hint = {1: "ctypes.c_uint8(5)", 2: "ctypes.c_uint16(5)", 4: "ctypes.c_uint32(5)", 8: "ctypes.c_uint64(5)"}
                raise UsageTypeError(f"parameter {index} has {count} bytes; kernel {self.name} takes {size}", input=self.name,
                                     hint=f"pass {hint.get(size, 'a ctypes.Structure')}, or another value of {size} bytes")
        return values

    def _launch(self, stream, grid, block, shared_bytes, values, place):
        shape = LaunchShape(grid=_extents(grid, "grid"), block=_extents(block, "block"),
                            shared_bytes=unsigned(shared_bytes, "shared_bytes", 32))
        encoded = [place(value).address.to_bytes(8, "little") if isinstance(value, View) else value for value in values]
        buffers = [ctypes.create_string_buffer(value, len(value)) for value in encoded]
        pointers = (ctypes.c_void_p * max(1, len(buffers)))(*[ctypes.addressof(buffer) for buffer in buffers])
        raise_error(c.live_kernel_launch(self, stream, ctypes.byref(shape), pointers, len(buffers)))

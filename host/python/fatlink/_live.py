# SPDX-License-Identifier: Apache-2.0
"""Device code that can be replaced while it is in use."""
from __future__ import annotations

import ctypes

from ._arguments import encode
from ._devices import as_device
from ._errors import UsageError
from ._ffi import Handle, LiveSettings, SwapReportStruct, c, disable_after_fork, make_lock, output, raise_error
from ._inputs import as_input, as_inputs, handles, stem
from ._kernels import LaunchableKernel
from ._linking import CACHE_OUTCOMES, MODES, linker, mode_number
from ._plans import PreparedPlan, run_with


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


class LiveKernel(LaunchableKernel):
    """A kernel of a LiveModule."""

    __slots__ = ()
    _free, _prefix = "live_kernel_free", "live_kernel_"

# SPDX-License-Identifier: Apache-2.0
"""GPUs, their streams, and the reference device."""
import ctypes

from ._arguments import attribute, encode, flag, shown, unsigned
from ._errors import UsageError, UsageTypeError
from ._ffi import DeviceInfo, DeviceOptions, Handle, MemoryPool, c, disable_after_fork, make_lock, output, raise_error, text

HOST = -1  # the place of an array in the host's memory; that of another is the ordinal of its GPU


class Device(Handle):
    """An open device: a GPU, in its primary context, or the reference device, which executes PTX on the CPU.

    `name`, `target` ("sm_90", what to link for), `is_gpu`, `ordinal`, `memory_bytes`, `multiprocessors`,
    `max_shared_bytes_per_block`."""

    __slots__ = ("name", "target", "is_gpu", "ordinal", "memory_bytes", "multiprocessors", "max_shared_bytes_per_block")
    _free = "device_free"
    name: str
    target: str
    is_gpu: bool
    ordinal: int
    memory_bytes: int
    multiprocessors: int
    max_shared_bytes_per_block: int

    def __init__(self, handle):
        super().__init__(handle)
        info = DeviceInfo()
        raise_error(c.device_get_info(handle, ctypes.byref(info)))
        self.name = text(info.name)
        self.target = text(info.target)
        self.is_gpu = bool(info.is_gpu)
        self.ordinal = info.ordinal
        self.memory_bytes = info.memory_bytes
        self.multiprocessors = info.multiprocessors
        self.max_shared_bytes_per_block = info.max_shared_bytes_per_block
        if self.is_gpu:
            disable_after_fork(self)

    @property
    def place(self) -> int:
        """The place of its arrays: the ordinal of a GPU, -1 for the host."""
        return self.ordinal if self.is_gpu else HOST

    def synchronize(self, stream=0) -> None:
        """Waits until all work queued on `stream` has finished. Raises DeviceError if the work failed."""
        raise_error(c.synchronize(self._require_usable(), stream_handle(stream, self.place)))

    @property
    def memory_pool(self) -> dict:
        """The state of the memory pool for scratch arrays on a GPU, in bytes: "limit" (the most that it keeps after a stream
        was synchronized; 1/32 of the GPU's memory by default), "reserved" (in use or kept) and "used" (by calls that have not
        finished). The process has one pool for each GPU. The reference device has no pool; all values are 0."""
        pool = MemoryPool()
        raise_error(c.device_get_memory_pool(self._require_usable(), ctypes.byref(pool)))
        return {"limit": pool.limit_bytes, "reserved": pool.reserved_bytes, "used": pool.used_bytes}

    def limit_memory_pool(self, size: int) -> None:
        """Limits the memory that the pool keeps, in bytes. Unused memory above the limit is returned to the GPU."""
        raise_error(c.device_limit_memory_pool(self._require_usable(), unsigned(size, "size")))

    def trim_memory_pool(self, keep: int = 0) -> None:
        """Returns unused memory to the GPU until `keep` bytes are left. Does not wait for calls in progress."""
        raise_error(c.device_trim_memory_pool(self._require_usable(), unsigned(keep, "keep")))

    def __repr__(self) -> str:
        return f"<fatlink.Device {'gpu:' + str(self.ordinal) if self.is_gpu else 'cpu'}: {self.name}, {self.target}>"


def open_device(name: str = "gpu", *, check_races: bool = False, check_uninitialized: bool = False, deterministic: bool = False,
                instruction_budget: int = 0) -> Device:
    """Opens "gpu", "gpu:1", "cpu" (the reference device) or "cpu:sm_80". The other arguments apply to the reference device.

    Raises UnavailableError if there is no such device. Never opens a different device instead."""
    options = DeviceOptions(instruction_budget=unsigned(instruction_budget, "instruction_budget"), check_races=flag(check_races, "check_races"),
                            check_uninitialized=flag(check_uninitialized, "check_uninitialized"),
                            deterministic=flag(deterministic, "deterministic"))
    handle = output()
    raise_error(c.device_open(encode(name, "the name of a device"), ctypes.byref(options), ctypes.byref(handle)))
    return Device(handle.value)


_opened: dict = {}
_lock = make_lock()


def opened(name: str) -> Device:
    """The device with this name, which is opened only once."""
    with _lock:
        if name not in _opened:
            _opened[name] = open_device(name)
        return _opened[name]


def device_at(place: int) -> Device:
    """The device for arrays at a place."""
    return opened("cpu" if place == HOST else f"gpu:{place}")


def as_device(device) -> Device:
    """Converts a name to a Device; a Device is returned as it is."""
    if isinstance(device, Device):
        return device
    if isinstance(device, str):
        return opened(device)
    raise UsageTypeError(f"device is {shown(device)}", hint='pass "gpu", "gpu:1", "cpu", "cpu:sm_80" or a fatlink.Device')


def place_name(place: int) -> str:
    return "the host's memory" if place == HOST else f"the memory of gpu:{place}"


def stream_handle(stream, place: int = HOST) -> int:
    """The CUstream for work on a GPU: from an integer, a stream of PyTorch or CuPy, or an object with __cuda_stream__."""
    handle = _handle_of(stream)
    if not isinstance(handle, int) or isinstance(handle, bool) or not 0 <= handle < 2**64:
        raise UsageTypeError(f"stream is {shown(stream)}", input="stream",
                             hint="pass a stream of PyTorch or CuPy, an object with __cuda_stream__, or the CUstream as an integer")
    ordinal = next((value for value in (attribute(stream, name) for name in ("device_index", "device_id"))
                    if isinstance(value, int) and value >= 0), place)
    if place not in (HOST, ordinal):
        raise UsageError(f"the stream is of gpu:{ordinal}, the arrays are in {place_name(place)}", input="stream",
                         code="several-devices", hint="pass a stream of the arrays' GPU")
    return handle


def _handle_of(stream):
    if isinstance(stream, int):
        return stream
    try:
        protocol = getattr(stream, "__cuda_stream__", None)
        if protocol is not None:
            version, handle = protocol() if callable(protocol) else protocol
            return handle if version == 0 else None
        cls = type(stream)
        is_of_cupy = cls.__module__.partition(".")[0] == "cupy" and cls.__name__.endswith("Stream")
        return getattr(stream, "ptr" if is_of_cupy else "cuda_stream", None)
    except Exception:  # of the object's own attributes
        return None

# SPDX-License-Identifier: Apache-2.0
"""Loaded images and their kernels."""
from __future__ import annotations

import ctypes

from ._arguments import encode, is_of_numpy, shown, unsigned
from ._arrays import View, require_one_place, view
from ._cuda_core import core_kernel
from ._devices import as_device, stream_handle
from ._errors import UsageError, UsageTypeError
from ._ffi import Extent, Handle, LaunchShape, c, disable_after_fork, output, raise_error
from ._linking import Image
from ._plans import HostMappings, device_for, wait_for_others

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
else:  # typing.get_type_hints needs the name
    Any = object


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


class LaunchableKernel(Handle):
    """A kernel of a module that has a `device`. Subclasses name the prefix of their functions."""

    __slots__ = ("name", "_module", "_sizes")
    _prefix = ""

    def __init__(self, handle, module, name):
        super().__init__(handle, module)
        self.name = name  #: its symbol
        self._module = module
        count, size = self._function("parameter_count"), self._function("parameter_bytes")
        self._sizes = [size(self, index) for index in range(count(self))]
        disable_after_fork(self)

    def _function(self, name):
        return getattr(c, self._prefix + name)

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
        raise_error(self._function("launch")(self, stream, ctypes.byref(shape), pointers, len(buffers)))


class Module(Handle):
    """A linked image that is loaded on a device, for which it must have been linked: `link(inputs, target=device)`. The image is
    unloaded when the module and all its kernels are freed; keep one of them until their launches have finished."""

    __slots__ = ("device",)
    _free = "module_free"
    _origin = "a module that was loaded before os.fork()"

    def __init__(self, image: Image, device="gpu"):
        if not isinstance(image, Image):
            raise UsageTypeError(f"image is {shown(image)}", input="image", hint="pass the result of fatlink.link")
        device = as_device(device)._require_usable()
        handle = output()
        raise_error(c.module_load(device, image, ctypes.byref(handle)))
        super().__init__(handle.value, device)
        self.device = device  #: the Device that it is loaded on
        disable_after_fork(self)

    @property
    def cu_library(self) -> int | None:
        """The CUlibrary (cudaLibrary_t), for other libraries. It is valid while the module or a kernel of it exists. None on
        the reference device."""
        return c.module_handle(self._require_usable())

    def kernel(self, name: str) -> Kernel:
        """Returns a kernel by its symbol."""
        self._require_usable()
        handle = output()
        raise_error(c.module_kernel(self, encode(name, "the name of a kernel"), ctypes.byref(handle)))
        return Kernel(handle.value, self, name)


class Kernel(LaunchableKernel):
    """A kernel of a Module."""

    __slots__ = ()
    _free, _prefix = "kernel_free", "kernel_"
    _origin = Module._origin

    @property
    def cu_kernel(self) -> int | None:
        """The CUkernel (cudaKernel_t), for other libraries. It is valid while this object or its module exists. None on the
        reference device."""
        return c.kernel_cu_kernel(self._require_usable())

    @property
    def cu_function(self) -> int | None:
        """The CUfunction in the GPU's primary context. It is valid while this object or its module exists. None on the
        reference device."""
        return c.kernel_handle(self._require_usable())

    def to_cuda_core(self) -> Any:
        """The kernel as a cuda.core.Kernel, for cuda.core.launch. It keeps this object alive. Needs cuda.core 0.5 or newer."""
        if self.cu_kernel is None:
            raise UsageError(f"kernel {self.name} is on the reference device, which cuda.core does not know", input=self.name,
                             hint='load the image with fatlink.Module(image, "gpu")')
        return core_kernel(self.cu_kernel, self)

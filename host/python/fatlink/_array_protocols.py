# SPDX-License-Identifier: Apache-2.0
"""Arrays by __cuda_array_interface__ (version 3) and by DLPack, as their specifications state them."""
import ctypes

from ._element_types import NUMBERS, require_known
from ._errors import DeviceError, UsageError, UsageTypeError
from ._ffi import c, forked, raise_error
from ._views import HOST, View, freed, imported, not_contiguous

_TYPE_CODES = {"f": "float", "i": "int", "u": "uint", "c": "complex"}  # of typestr
_DLPACK_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex"}  # DLDataTypeCode
_DLPACK_HOST, _DLPACK_CUDA = (1, 3), (2, 13)  # DLDeviceType: CPU and pinned; CUDA and managed


def product(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


def is_contiguous(shape, strides, item):
    """Whether strides, in units of `item`, are those of row-major order."""
    if strides is None or product(shape) == 0:
        return True
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != item:
            return False
        item *= extent
    return True


def _element_of_typestr(interface, what):
    order, kind, size = interface["typestr"][0], interface["typestr"][1], int(interface["typestr"][2:])
    if order == ">":
        raise UsageTypeError(f"{what} has elements in the other byte order", hint="convert it")
    if kind == "b":
        return require_known("bool", what)
    if kind == "V" and interface.get("descr"):
        from ._array_kinds import element_of_dtype, numpy_kind
        numpy_kind()
        return element_of_dtype(imported("numpy").dtype([tuple(field) for field in interface["descr"]]), what)
    return require_known(f"{_TYPE_CODES.get(kind, kind)}{8 * size}", what)


def _ordinal(array, address, count):
    """The GPU of an array with __cuda_array_interface__, which does not state it."""
    if hasattr(array, "__dlpack_device__"):
        place = place_of(array)
        if place == HOST:
            raise UsageError("the array has __cuda_array_interface__, but its __dlpack_device__ states the host's memory",
                             hint="pass an array in the memory of a CUDA device")
        return place
    if count:
        return _ordinal_of_address(address)
    if c.gpu_count() <= 1:
        return 0
    raise UsageError("the array is empty and does not state on which of the GPUs it is", code="several-devices",
                     hint="pass an array with __dlpack_device__, as those of PyTorch, CuPy and JAX")


def _ordinal_of_address(address):
    ordinal = ctypes.c_int32()
    try:
        raise_error(c.address_get_device(address, ctypes.byref(ordinal), None))
    except UsageError as cause:
        raise UsageError(f"the array has no memory of a GPU: {cause.message}", code="freed-array",
                         hint="pass an array whose memory CUDA has allocated, and which still has it") from None
    except DeviceError as cause:
        if cause.code == "CUDA_ERROR_NOT_INITIALIZED":  # fatlink has initialized it before os.fork()
            raise forked("a GPU that was used before os.fork()") from None
        raise
    return ordinal.value


def interface_view(array, interface, kind):
    """An array with __cuda_array_interface__."""
    if interface.get("mask") is not None:
        raise UsageTypeError("the array is a masked one", hint="pass an array without a mask")
    element = _element_of_typestr(interface, "the array")
    shape = tuple(interface["shape"])
    if not is_contiguous(shape, interface.get("strides"), element.bytes):
        raise not_contiguous("the array")
    address, is_read_only = interface["data"]
    count = product(shape)
    if count and not address:
        raise freed("the array")
    stream = interface.get("stream")
    if stream == 0:
        raise UsageError("the array states the stream 0, which __cuda_array_interface__ does not allow",
                         hint="state None, or 1 for the legacy default stream")
    result = View(array, kind, address or 0, count, shape, element, _ordinal(array, address, count), bool(is_read_only))
    result.keeps = stream
    return result


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("dtype", _DLDataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


# A prototype of its own: other packages set the argument types of ctypes.pythonapi's function.
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


def _tensor(capsule):
    """The DLTensor of a capsule, which stays unconsumed: it frees the tensor when it is freed itself."""
    return _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))


def _dlpack_device(array):
    """DLPack's type and number of the device of an array."""
    try:
        device_type, ordinal = array.__dlpack_device__()
    except (AttributeError, BufferError, TypeError) as cause:
        raise _no_export(array, cause) from cause
    return int(device_type), ordinal


def place_of(array):
    """Where an array with __dlpack_device__ is: a GPU's number, or HOST."""
    device_type, ordinal = _dlpack_device(array)
    if device_type in _DLPACK_HOST:
        return HOST
    if device_type not in _DLPACK_CUDA:
        raise UsageError(f"the array is on a device of DLPack's type {device_type}",
                         hint="move it to a CUDA device or to the CPU")
    return ordinal


def _exported(array, export, *arguments, **options):
    """What a producer of DLPack makes of its array."""
    try:
        return export(*arguments, **options)
    except (AttributeError, BufferError, TypeError, RuntimeError) as cause:
        raise _no_export(array, cause) from cause


def _no_export(array, cause):
    return UsageTypeError(f"{type(array).__module__}.{type(array).__qualname__} is not passed by DLPack: {cause}",
                          hint="pass an array in memory of the CPU or a CUDA device, whose __dlpack__ and __dlpack_device__ work")


def dlpack_view(array, kind):
    """An array with __dlpack__, whose memory is on the host or on a GPU."""
    place = place_of(array)
    if place == HOST:
        from ._array_kinds import numpy_kind
        kind = numpy_kind()
        host = kind.view(_exported(array, imported("numpy").from_dlpack, array))
        host.read_only = True
        return host
    capsule = _exported(array, array.__dlpack__, stream=1)  # the legacy default stream, which every blocking stream waits for
    tensor = _tensor(capsule)
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else None
    if not is_contiguous(shape, strides, 1):
        raise not_contiguous("the array")
    name = f"{_DLPACK_CODES.get(tensor.dtype.code, 'unknown')}{tensor.dtype.bits}"
    if tensor.dtype.code == 6:
        name = "bool"
    if tensor.dtype.lanes != 1 or name not in NUMBERS and name != "bool":
        raise UsageTypeError(f"the array has elements of DLPack's type {tensor.dtype.code} with {tensor.dtype.bits} bits",
                             hint=f"convert it to one of {', '.join(NUMBERS)}")
    if product(shape) and not tensor.data:
        raise freed("the array")
    result = View(array, kind, (tensor.data or 0) + tensor.byte_offset, product(shape), shape, require_known(name, "the array"),
                  place)
    result.keeps = capsule
    return result


def wait_for(view, stream):
    """Lets `stream` wait for the stream that an array states."""
    if isinstance(view.keeps, int):
        _synchronize(view, view.keeps)  # 1 and 2 are also the driver's handles of the default streams
    elif view.keeps is not None and stream:
        _synchronize(view, 0)


def _synchronize(view, stream):
    from ._devices import device_at
    raise_error(c.synchronize(device_at(view.place), stream))

# SPDX-License-Identifier: Apache-2.0
"""Arrays by __cuda_array_interface__ (version 3) and by DLPack, as their specifications state them."""
import ctypes

from ._c_interface import c
from ._element_types import NUMBERS, require_known
from ._errors import UsageError, UsageTypeError
from ._views import View, freed, imported, not_contiguous

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


def _ordinal(array):
    """The GPU of an array with __cuda_array_interface__, which does not state it."""
    device = getattr(array, "__dlpack_device__", None)
    if device is not None:
        return device()[1]
    if c.gpu_count() <= 1:
        return 0
    raise UsageError("the array does not state on which of the GPUs it is", code="several-devices",
                     hint="pass an array with __dlpack_device__, as those of PyTorch, CuPy and JAX")


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
    result = View(array, kind, address or 0, count, shape, element, _ordinal(array), bool(is_read_only))
    result.keeps = interface.get("stream")
    return result


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("dtype", _DLDataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


def _tensor(capsule):
    """The DLTensor of a capsule, which stays unconsumed: it frees the tensor when it is freed itself."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return _DLTensor.from_address(pointer(capsule, b"dltensor"))


def dlpack_view(array, kind):
    """An array with __dlpack__, whose memory is on the host or on a GPU."""
    device_type, ordinal = array.__dlpack_device__()
    if int(device_type) not in _DLPACK_HOST + _DLPACK_CUDA:
        raise UsageError(f"the array is on a device of DLPack's type {int(device_type)}",
                         hint="move it to a CUDA device or to the CPU")
    if int(device_type) in _DLPACK_HOST:
        from ._array_kinds import numpy_kind
        host = numpy_kind().view(imported("numpy").from_dlpack(array))
        host.read_only = True
        return host
    capsule = array.__dlpack__(stream=1)  # the legacy default stream, which every blocking stream waits for
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
    result = View(array, kind, (tensor.data or 0) + tensor.byte_offset, product(shape), shape, require_known(name, "the array"),
                  ordinal)
    result.keeps = capsule
    return result


def wait_for(view, stream):
    """Lets `stream` wait for the stream that an array states."""
    if isinstance(view.keeps, int):
        _synchronize(view, view.keeps)  # 1 and 2 are also the driver's handles of the default streams
    elif view.keeps is not None and stream:
        _synchronize(view, 0)


def _synchronize(view, stream):
    from ._c_interface import check
    from ._devices import device_at
    check(c.synchronize(device_at(view.place), stream))

# SPDX-License-Identifier: Apache-2.0
"""Describes a caller's array: its address, number of elements and element type. Nothing is copied.

Supported are arrays of NumPy, PyTorch, CuPy and JAX, and others with __cuda_array_interface__ (version 3) or DLPack. The kind
of an array is determined by its class. PyTorch, CuPy, JAX and NumPy are not imported for this, because their arrays exist
only if they are already imported."""
import ctypes

from ._arguments import foreign, imported
from ._devices import HOST, device_at, place_name, stream_handle
from ._elements import INDEXES, NUMBERS, record_type, require_known
from ._errors import DeviceError, UnavailableError, UsageError, UsageTypeError
from ._ffi import ArrayExchange, c, forked, raise_error




class View:
    """Describes an array for the duration of a call."""

    __slots__ = ("array", "kind", "address", "count", "shape", "element", "place", "read_only", "keeps")

    def __init__(self, array, kind, address, count, shape, element, place, read_only=False):
        self.array = array
        self.kind = kind  # how arrays of this framework are handled: an ArrayKind
        self.address = address
        self.count = count
        self.shape = shape
        self.element = element
        self.place = place
        self.read_only = read_only
        self.keeps = None


class Indexes(View):
    """Describes the elements of range(n), which are not in memory: an operator computes them from their indexes. Not a View for the
    code that runs plans, which would map its memory."""

    __slots__ = ()

    def __init__(self, numbers, like):
        kind, place = (numpy_kind(), HOST) if like is None else (like.kind, like.place)
        # Plans refuse the null address.
        super().__init__(like and like.array, kind, 16, len(numbers), (len(numbers),), INDEXES, place, read_only=True)


class ArrayKind:
    """How arrays of one framework are handled."""

    name = ""
    is_ordered = True  # whether work on current_stream() follows the work that made an array, and precedes its next use
    is_of_classes = True  # whether an array's class tells its kind
    index_type = "uint64"  # of counts that fatlink makes

    def view(self, array) -> View:
        """The View of an array. Raises if the array cannot be passed."""
        raise NotImplementedError

    def empty(self, like: View, shape: tuple, element):
        """A new array of this kind on the device of another one."""
        raise UsageError(f"fatlink makes no arrays of {type(like.array).__module__}.{type(like.array).__qualname__}",
                         hint="pass the results' arrays: out=")

    def make(self, like: View, shape: tuple, element, stream=None) -> View:
        """A new array for results that `stream` writes. The framework's allocator uses the stream to order the reuse of
        memory."""
        if stream is None:
            return self.make_now(like, shape, element)
        with self.using(stream, like.place):
            return self.make_now(like, shape, element)

    def make_now(self, like: View, shape: tuple, element) -> View:
        """A new array for results that the current stream writes."""
        result = self.view(self.empty(like, shape, element))
        result.read_only = False
        return result

    def sum_type(self, name: str) -> str:
        """The name of the type in which the framework sums integers. `name` is the type by NumPy's rule: "int64" or
        "uint64"."""
        return name

    def using(self, stream, place: int):
        """A context manager in which `stream` is the framework's current stream; it does nothing if the framework has
        none."""
        from contextlib import nullcontext
        return nullcontext()

    def current_stream(self, place: int) -> int:
        """The caller's current stream on a GPU."""
        return 0

    def wait_for(self, view: View, stream: int):
        """Makes `stream` wait for the work that produces the array, if is_ordered is False."""

    def mark_written(self, array):
        """Tells the framework that a call writes to a caller's array."""

    def first(self, array, count: int):
        """The first elements of an array."""
        return array[:count]

    def result(self, array):
        """The value that a function returns for an array without dimensions."""
        return array


_viewers: dict = {}  # by class: ArrayKind.view


def view(array) -> View:
    """The View of `array`."""
    viewer = _viewers.get(type(array))
    if viewer is None:
        kind = _find_kind(array)
        viewer = kind.view
        if kind.is_of_classes:
            _viewers[type(array)] = viewer
    return viewer(array)


def _find_kind(array) -> ArrayKind:
    try:
        for cls in type(array).__mro__:
            kind = _kind_of_module(cls.__module__.partition(".")[0])
            if kind is not None and kind.is_array(array):
                return kind
        if any(hasattr(type(array), name) or name in getattr(array, "__dict__", ()) for name in (
                "__cuda_array_interface__", "__dlpack__")):
            return _kind_of_module("fatlink")
    except Exception as raised:  # of the object's own attributes
        raise foreign(raised, array) from raised
    raise _not_an_array(array)


def _not_an_array(array):
    name = f"{type(array).__module__}.{type(array).__qualname__}"
    if type(array).__name__ == "PyCapsule":
        return UsageTypeError("a DLPack capsule was given, which can be consumed only once",
                              hint="pass the array that made it: fatlink calls __dlpack__ itself")
    hint = "pass an array of PyTorch, CuPy, JAX or NumPy, or one with __cuda_array_interface__ or __dlpack__"
    if isinstance(array, (list, tuple, int, float)):
        hint = "make an array of it: torch.tensor, cupy.array, jax.numpy.array or numpy.array"
    return UsageTypeError(f"{name} is not an array", hint=hint)


def _not_contiguous(what):
    return UsageError(f"{what} is not contiguous in row-major order",
                      hint="pass x.contiguous() of PyTorch, or ascontiguousarray(x) of NumPy and CuPy, which copy it")


def _freed(what):
    return UsageError(f"{what} has no memory: it was freed, deleted or donated", code="freed-array",
                      hint="pass an array that still has its data")


def require_one_place(views: dict):
    """The place of all arrays. Raises if they are in different places."""
    first_name = first = None
    for name, entry in views.items():
        if first is None:
            first_name, first = name, entry
        elif entry.place != first.place:
            raise UsageError(
                f"{first_name} is in {place_name(first.place)}, {name} in {place_name(entry.place)}", code="several-devices",
                hint="move all arrays of a call to one device")
    return HOST if first is None else first.place


_elements: dict = {}  # by dtype of NumPy


def _element_of_dtype(dtype, what):
    """The element type of a dtype of NumPy."""
    known = _elements.get(dtype)
    if known is None:
        if not hasattr(dtype, "isnative"):  # of JAX: random keys
            return require_known(str(dtype), what)
        if not dtype.isnative:
            raise UsageTypeError(f"{what} has elements of type {dtype.str}, in the other byte order",
                                 hint="convert it: x.astype(x.dtype.newbyteorder('='))")
        if dtype.hasobject and dtype.names:
            raise UsageTypeError(f"{what} has elements of type {dtype}, whose fields are Python objects",
                                 hint="pass an array whose fields are numbers")
        known = record_type(dtype) if dtype.names or dtype.kind == "V" and dtype.name.startswith("void") else require_known(
            dtype.name, what)
        _elements[dtype] = known
    return known


def dtype_of(element):
    """The dtype of NumPy for an element type."""
    if element.dtype is not None:
        return element.dtype
    if element.name == "bfloat16":
        ml_dtypes = imported("ml_dtypes")
        if ml_dtypes is None:
            raise UsageError("NumPy has no bfloat16", hint="import ml_dtypes, or pass out=")
        return ml_dtypes.bfloat16
    import numpy
    return numpy.dtype(element.name)


class NumpyArrays(ArrayKind):
    name = "NumPy"

    def is_array(self, array):
        return isinstance(array, imported("numpy").ndarray)

    def view(self, array):
        ma = imported("numpy.ma")
        if ma is not None and isinstance(array, ma.MaskedArray):
            raise UsageTypeError("the array is a masked one", hint="pass x.filled(), or x.compressed()")
        flags = array.flags
        if not flags.c_contiguous:
            raise _not_contiguous("the array")
        element = _element_of_dtype(array.dtype, "the array")
        return View(array, self, array.__array_interface__["data"][0], array.size, array.shape, element, HOST,
                    not flags.writeable)

    def empty(self, like, shape, element):
        import numpy
        return numpy.empty(shape, dtype_of(element))

    def result(self, array):
        return array[()]


class TorchArrays(ArrayKind):
    name = "PyTorch"
    index_type = "int64"  # PyTorch does not compute with uint64

    def __init__(self):
        torch = imported("torch")
        self.torch = torch
        self.elements = {}
        self.raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        self.increment_version = getattr(torch.autograd.graph, "increment_version", None)  # since PyTorch 2.1
        _add_exchange(torch.Tensor)

    def is_array(self, array):
        return isinstance(array, self.torch.Tensor)

    def view(self, array):
        if array.requires_grad:
            raise UsageError("the tensor requires a gradient, which fatlink does not compute", hint="pass x.detach(), or define an operator with a gradient: fatlink.torch.operator")
        try:
            address = array.data_ptr()
            is_contiguous = array.is_contiguous()
        except RuntimeError as cause:
            raise self._without_data(array, cause) from None
        if not is_contiguous:
            raise _not_contiguous("the tensor")
        if array.is_neg() or array.is_conj():
            raise UsageError("the tensor is a negated or conjugated view", hint="pass x.resolve_neg().resolve_conj()")
        count = array.numel()
        dtype = array.dtype
        element = self.elements.get(dtype) or self.element_of(dtype)
        place = array.get_device() if array.is_cuda else self._place(array)
        if count:
            if array.untyped_storage().nbytes() < (array.storage_offset() + count) * element.bytes:
                raise _freed("the tensor")
            if address == 0:
                raise self._without_data(array, "its address is null")
        return View(array, self, address, count, array.shape, element, place)

    def make_now(self, like, shape, element):
        array = self.empty(like, shape, element)
        return View(array, self, array.data_ptr(), array.numel(), shape, element, like.place)

    def sum_type(self, name):
        return "int64"

    def using(self, stream, place):
        if place == HOST:
            return super().using(stream, place)
        cuda, handle = self.torch.cuda, stream_handle(stream, place)
        return cuda.stream(cuda.ExternalStream(handle, device=place) if handle > 1 else cuda.default_stream(place))

    def mark_written(self, array):
        if self.increment_version is not None and not array.is_inference():
            self.increment_version(array)  # autograd refuses a backward pass that saved the former values

    def _without_data(self, array, cause):
        if array.layout is not self.torch.strided:
            return UsageTypeError(f"the tensor has the layout {array.layout}", hint="pass x.to_dense()")
        return UsageError(f"the tensor has no memory ({str(cause).splitlines()[0]})", code="freed-array",
                          hint="call fatlink outside of torch.compile, torch.export and vmap, on a tensor with data, or define an "
                               "operator that they accept: fatlink.torch.operator")

    def _place(self, array):
        if array.device.type == "cpu":
            return HOST
        raise UsageError(f"the tensor is on the device {array.device}", hint="move it to a CUDA device or to the CPU")

    def element_of(self, dtype):
        """The element type of a torch.dtype."""
        element = require_known(str(dtype).removeprefix("torch."), "the tensor")
        self.elements[dtype] = element
        return element

    def empty(self, like, shape, element):
        return self.torch.empty(shape, dtype=self.dtype_of(element), device=like.array.device)

    def dtype_of(self, element):
        """The torch.dtype of an element type."""
        dtype = getattr(self.torch, element.name, None)
        if dtype is None:
            raise UsageError(f"PyTorch has no elements of type {element.name}", hint="pass the results' arrays: out=")
        return dtype

    def current_stream(self, place):
        if place == HOST:
            return 0
        if self.raw_stream is not None:
            return self.raw_stream(place)
        return self.torch.cuda.current_stream(place).cuda_stream


class CupyArrays(ArrayKind):
    name = "CuPy"

    def __init__(self):
        self.cupy = imported("cupy")
        self.cuda = self.cupy.cuda

    def is_array(self, array):
        return isinstance(array, self.cupy.ndarray)

    def view(self, array):
        if not array.flags.c_contiguous:
            raise _not_contiguous("the array")
        data = array.data
        if array.size and data.ptr == 0:
            raise _freed("the array")
        return View(array, self, data.ptr, array.size, array.shape, _element_of_dtype(array.dtype, "the array"), data.device_id)

    def empty(self, like, shape, element):
        with self.cuda.Device(like.place):
            return self.cupy.empty(shape, dtype_of(element))

    def using(self, stream, place):
        from contextlib import contextmanager
        return contextmanager(self._using)(stream, place)

    def _using(self, stream, place):
        handle = stream_handle(stream, place)
        with self.cuda.Device(place), self.cuda.ExternalStream(handle, place) if handle > 1 else self.cuda.Stream.null:
            yield

    def current_stream(self, place):
        if self.cuda.runtime.getDevice() == place:
            return self.cuda.get_current_stream().ptr
        with self.cuda.Device(place):
            return self.cuda.get_current_stream().ptr


class JaxArrays(ArrayKind):
    """Arrays of JAX, which uses its own streams: __dlpack__ orders their work before the call, and the call ends with a
    synchronization."""

    name = "JAX"
    is_ordered = False

    def __init__(self):
        self.jax = imported("jax")

    def is_array(self, array):
        return isinstance(array, self.jax.Array)

    def view(self, array):
        if isinstance(array, self.jax.core.Tracer):
            raise UsageTypeError("the array is a tracer of a JAX transformation",
                                 hint="call fatlink outside of jax.jit, jax.vmap and jax.grad, or define an operator that they "
                                      "accept: fatlink.jax.operator")
        if array.is_deleted():
            raise _freed("the array")
        if len(array.sharding.device_set) != 1:
            raise UsageError("the array is divided over several devices", code="several-devices",
                             hint="pass the parts: x.addressable_shards[i].data")
        element = self.element_of(array, "the array")
        return View(array, self, array.unsafe_buffer_pointer(), array.size, array.shape, element,
                    _place_of(array), read_only=True)

    def empty(self, like, shape, element):
        (device,) = like.array.devices()
        dtype = self.dtype_of(element)
        with self.jax.default_device(device):
            # Zeros. The call writes to it although JAX's arrays do not change: nothing else knows this one yet.
            return self.jax.numpy.empty(shape, dtype)

    def dtype_of(self, element):
        """The dtype of JAX for an element type."""
        dtype = dtype_of(element)
        if self.jax.dtypes.canonicalize_dtype(dtype) != dtype:
            raise UsageError(f"JAX makes no arrays of {dtype}: its types of 64 bits are off",
                             hint="jax.config.update('jax_enable_x64', True)")
        return dtype

    def element_of(self, array, what):
        """The element type of an array, which may be traced."""
        return _element_of_dtype(array.dtype, what)

    def sum_type(self, name):
        return self.jax.dtypes.canonicalize_dtype(name).name  # 32 bits, unless those of 64 are on

    def wait_for(self, view, stream):
        if view.place == HOST:
            view.array.block_until_ready()
        else:  # NULL, the legacy default stream, is 1 in DLPack
            view.keeps = view.array.__dlpack__(stream=stream or 1)


class OtherArrays(ArrayKind):
    """Arrays of other packages, with __cuda_array_interface__ or DLPack. They can be inputs, or outputs that the caller
    passes."""

    name = "another package"
    is_ordered = False
    is_of_classes = False  # an object may have __cuda_array_interface__ of its own

    def is_array(self, array):
        return True

    def view(self, array):
        try:
            try:
                interface = array.__cuda_array_interface__
            except AttributeError:
                return _dlpack_view(array, self)
            return _interface_view(array, interface, self)
        except MemoryError:
            raise
        except Exception as raised:  # of the package whose array it is, or of what it states
            raise foreign(raised, array) from raised

    def wait_for(self, view, stream):
        _wait_for(view, stream)


_KINDS = {"numpy": NumpyArrays, "torch": TorchArrays, "cupy": CupyArrays, "jax": JaxArrays, "jaxlib": JaxArrays,
          "fatlink": OtherArrays}
_made: dict = {}


def _kind_of_module(name):
    """The ArrayKind for classes of the module `name`; None for other modules."""
    cls = _KINDS.get(name)
    if cls is None:
        return None
    kind = _made.get(cls)
    return _made.setdefault(cls, cls()) if kind is None else kind


def jax_kind():
    """The ArrayKind of JAX, which must be imported."""
    return _kind_of_module("jax")


def numpy_kind():
    """The ArrayKind of NumPy, for results of calls whose arrays are host memory of unknown kind."""
    from importlib import import_module
    try:
        import_module("numpy")
    except ImportError:
        raise UnavailableError("NumPy is not installed", code="no-numpy", stage="array", hint="pip install numpy") from None
    return _kind_of_module("numpy")


def torch_kind():
    """The ArrayKind of PyTorch, which must be imported."""
    return _kind_of_module("torch")


_TYPE_CODES = {"f": "float", "i": "int", "u": "uint", "c": "complex"}  # of typestr
_DLPACK_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex"}  # DLDataTypeCode
_DLPACK_HOST, _DLPACK_CUDA = (1, 3), (2, 13)  # DLDeviceType: CPU and pinned; CUDA and managed


def _product(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


def _is_contiguous(shape, strides, item):
    """Whether strides, in units of `item`, describe row-major order."""
    if strides is None or _product(shape) == 0:
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
        numpy_kind()
        return _element_of_dtype(imported("numpy").dtype([tuple(field) for field in interface["descr"]]), what)
    return require_known(f"{_TYPE_CODES.get(kind, kind)}{8 * size}", what)


def _ordinal(array, address, count):
    """The GPU of an array with __cuda_array_interface__. The interface does not state it."""
    if hasattr(array, "__dlpack_device__"):
        place = _place_of(array)
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


def _interface_view(array, interface, kind):
    """The View of an array with __cuda_array_interface__."""
    if interface.get("mask") is not None:
        raise UsageTypeError("the array is a masked one", hint="pass an array without a mask")
    element = _element_of_typestr(interface, "the array")
    shape = tuple(interface["shape"])
    if not _is_contiguous(shape, interface.get("strides"), element.bytes):
        raise _not_contiguous("the array")
    address, is_read_only = interface["data"]
    count = _product(shape)
    if count and not address:
        raise _freed("the array")
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
    """The DLTensor of a capsule. The capsule is not consumed; it frees the tensor when it is freed."""
    return _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))


def _dlpack_device(array):
    """The DLPack type and number of an array's device."""
    try:
        device_type, ordinal = array.__dlpack_device__()
    except (AttributeError, BufferError, TypeError) as cause:
        raise _no_export(array, cause) from cause
    return int(device_type), ordinal


def _place_of(array):
    """The place of an array with __dlpack_device__: a GPU's number, or HOST."""
    device_type, ordinal = _dlpack_device(array)
    if device_type in _DLPACK_HOST:
        return HOST
    if device_type not in _DLPACK_CUDA:
        raise UsageError(f"the array is on a device of DLPack's type {device_type}",
                         hint="move it to a CUDA device or to the CPU")
    return ordinal


def _exported(array, export, *arguments, **options):
    """The capsule that a DLPack producer makes for its array."""
    try:
        return export(*arguments, **options)
    except (AttributeError, BufferError, TypeError, RuntimeError) as cause:
        raise _no_export(array, cause) from cause


def _no_export(array, cause):
    return UsageTypeError(f"{type(array).__module__}.{type(array).__qualname__} is not passed by DLPack: {cause}",
                          hint="pass an array in memory of the CPU or a CUDA device, whose __dlpack__ and __dlpack_device__ work")


def _dlpack_view(array, kind):
    """The View of an array with __dlpack__, whose memory is on the host or on a GPU."""
    place = _place_of(array)
    if place == HOST:
        kind = numpy_kind()
        host = kind.view(_exported(array, imported("numpy").from_dlpack, array))
        host.read_only = True
        return host
    capsule = _exported(array, array.__dlpack__, stream=1)  # the legacy default stream, which every blocking stream waits for
    tensor = _tensor(capsule)
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else None
    if not _is_contiguous(shape, strides, 1):
        raise _not_contiguous("the array")
    name = f"{_DLPACK_CODES.get(tensor.dtype.code, 'unknown')}{tensor.dtype.bits}"
    if tensor.dtype.code == 6:
        name = "bool"
    if tensor.dtype.lanes != 1 or name not in NUMBERS and name != "bool":
        raise UsageTypeError(f"the array has elements of DLPack's type {tensor.dtype.code} with {tensor.dtype.bits} bits",
                             hint=f"convert it to one of {', '.join(NUMBERS)}")
    if _product(shape) and not tensor.data:
        raise _freed("the array")
    result = View(array, kind, (tensor.data or 0) + tensor.byte_offset, _product(shape), shape, require_known(name, "the array"),
                  place)
    result.keeps = capsule
    return result


def _wait_for(view, stream):
    """Makes `stream` wait for the stream that an array states."""
    if isinstance(view.keeps, int):
        _synchronize(view, view.keeps)  # 1 and 2 are also the driver's handles of the default streams
    elif view.keeps is not None and stream:
        _synchronize(view, 0)


def _synchronize(view, stream):
    raise_error(c.synchronize(device_at(view.place), stream))


exchanges: dict = {}  # by class, its fatlink_array_exchanges by `dimensions`
_kept: list = []  # what exchanges has the addresses of


def _add_exchange(cls) -> None:
    """Allows calls on arrays of exactly this class to be repeated, if it has the exchange API."""
    capsule = cls.__dict__.get("__dlpack_c_exchange_api__")
    if capsule is None:
        return
    python = ctypes.pythonapi
    api = _capsule_pointer(capsule, b"dlpack_exchange_api")
    release, acquire, clear = (ctypes.cast(function, ctypes.c_void_p).value for function in (
        python.PyEval_SaveThread, python.PyEval_RestoreThread, python.PyErr_Clear))
    _kept.append([ArrayExchange(api=api, release=release, acquire=acquire, clear=clear, dimensions=dimensions)
                  for dimensions in (0, 1, -1)])
    exchanges[cls] = [ctypes.addressof(exchange) for exchange in _kept[-1]]

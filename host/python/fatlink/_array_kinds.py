# SPDX-License-Identifier: Apache-2.0
"""The kinds of arrays: NumPy, PyTorch, CuPy, JAX, and others by __cuda_array_interface__ or DLPack."""
from contextlib import contextmanager

from . import _repeated
from ._arguments import foreign
from ._element_types import record_type, require_known
from ._errors import UnavailableError, UsageError, UsageTypeError
from ._views import HOST, ArrayKind, View, freed, imported, not_contiguous, stream_handle

_elements: dict = {}  # by dtype of NumPy


def element_of_dtype(dtype, what):
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
            raise not_contiguous("the array")
        element = element_of_dtype(array.dtype, "the array")
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
        _repeated.add_class(torch.Tensor)

    def is_array(self, array):
        return isinstance(array, self.torch.Tensor)

    def view(self, array):
        if array.requires_grad:
            raise UsageError("the tensor requires a gradient, which fatlink does not compute", hint="pass x.detach()")
        try:
            address = array.data_ptr()
            is_contiguous = array.is_contiguous()
        except RuntimeError as cause:
            raise self._without_data(array, cause) from None
        if not is_contiguous:
            raise not_contiguous("the tensor")
        if array.is_neg() or array.is_conj():
            raise UsageError("the tensor is a negated or conjugated view", hint="pass x.resolve_neg().resolve_conj()")
        count = array.numel()
        dtype = array.dtype
        element = self.elements.get(dtype) or self._element(dtype)
        place = array.get_device() if array.is_cuda else self._place(array)
        if count:
            if array.untyped_storage().nbytes() < (array.storage_offset() + count) * element.bytes:
                raise freed("the tensor")
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
                          hint="call fatlink outside of torch.compile, torch.export and vmap, on a tensor with data")

    def _place(self, array):
        if array.device.type == "cpu":
            return HOST
        raise UsageError(f"the tensor is on the device {array.device}", hint="move it to a CUDA device or to the CPU")

    def _element(self, dtype):
        element = require_known(str(dtype).removeprefix("torch."), "the tensor")
        self.elements[dtype] = element
        return element

    def empty(self, like, shape, element):
        return self.torch.empty(shape, dtype=self._dtype(element), device=like.array.device)

    def _dtype(self, element):
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
            raise not_contiguous("the array")
        data = array.data
        if array.size and data.ptr == 0:
            raise freed("the array")
        return View(array, self, data.ptr, array.size, array.shape, element_of_dtype(array.dtype, "the array"), data.device_id)

    def empty(self, like, shape, element):
        with self.cuda.Device(like.place):
            return self.cupy.empty(shape, dtype_of(element))

    @contextmanager
    def using(self, stream, place):
        handle = stream_handle(stream, place)
        with self.cuda.Device(place), self.cuda.ExternalStream(handle, place) if handle > 1 else self.cuda.Stream.null:
            yield

    def current_stream(self, place):
        if self.cuda.runtime.getDevice() == place:
            return self.cuda.get_current_stream().ptr
        with self.cuda.Device(place):
            return self.cuda.get_current_stream().ptr


class JaxArrays(ArrayKind):
    """JAX runs on streams of its own: __dlpack__ orders them before the call, and the call ends with a synchronization."""

    name = "JAX"
    is_ordered = False

    def __init__(self):
        self.jax = imported("jax")

    def is_array(self, array):
        return isinstance(array, self.jax.Array)

    def view(self, array):
        if isinstance(array, self.jax.core.Tracer):
            raise UsageTypeError("the array is a tracer of a JAX transformation",
                                 hint="call fatlink outside of jax.jit, jax.vmap and jax.grad")
        if array.is_deleted():
            raise freed("the array")
        if len(array.sharding.device_set) != 1:
            raise UsageError("the array is divided over several devices", code="several-devices",
                             hint="pass the parts: x.addressable_shards[i].data")
        element = element_of_dtype(array.dtype, "the array")
        return View(array, self, array.unsafe_buffer_pointer(), array.size, array.shape, element,
                    self._place(array), read_only=True)

    def _place(self, array):
        from ._array_protocols import place_of
        return place_of(array)

    def empty(self, like, shape, element):
        (device,) = like.array.devices()
        dtype = dtype_of(element)
        if self.jax.dtypes.canonicalize_dtype(dtype) != dtype:
            raise UsageError(f"JAX makes no arrays of {dtype}: its types of 64 bits are off",
                             hint="jax.config.update('jax_enable_x64', True)")
        with self.jax.default_device(device):
            # Zeros. The call writes to it although JAX's arrays do not change: nothing else knows this one yet.
            return self.jax.numpy.empty(shape, dtype)

    def sum_type(self, name):
        return self.jax.dtypes.canonicalize_dtype(name).name  # 32 bits, unless those of 64 are on

    def wait_for(self, view, stream):
        if view.place == HOST:
            view.array.block_until_ready()
        else:  # NULL, the legacy default stream, is 1 in DLPack
            view.keeps = view.array.__dlpack__(stream=stream or 1)


class OtherArrays(ArrayKind):
    """Arrays of other packages, by __cuda_array_interface__ or DLPack. They are inputs, or outputs that the caller gives."""

    name = "another package"
    is_ordered = False
    is_of_classes = False  # an object may have __cuda_array_interface__ of its own

    def is_array(self, array):
        return True

    def view(self, array):
        from . import _array_protocols
        try:
            try:
                interface = array.__cuda_array_interface__
            except AttributeError:
                return _array_protocols.dlpack_view(array, self)
            return _array_protocols.interface_view(array, interface, self)
        except MemoryError:
            raise
        except Exception as raised:  # of the package whose array it is, or of what it states
            raise foreign(raised, array) from raised

    def wait_for(self, view, stream):
        from . import _array_protocols
        _array_protocols.wait_for(view, stream)


_KINDS = {"numpy": NumpyArrays, "torch": TorchArrays, "cupy": CupyArrays, "jax": JaxArrays, "jaxlib": JaxArrays,
          "fatlink": OtherArrays}
_made: dict = {}


def kind_of_module(name):
    """How arrays of classes in the module `name` are handled; None of other modules."""
    cls = _KINDS.get(name)
    if cls is None:
        return None
    kind = _made.get(cls)
    return _made.setdefault(cls, cls()) if kind is None else kind


def numpy_kind():
    """For results where only host memory is known."""
    from importlib import import_module
    try:
        import_module("numpy")
    except ImportError:
        raise UnavailableError("NumPy is not installed", code="no-numpy", stage="array", hint="pip install numpy") from None
    return kind_of_module("numpy")

# SPDX-License-Identifier: Apache-2.0
"""What fatlink sees of a caller's array: an address, a number of elements and their type. Nothing is copied.

The kind of an array is found by its class, without importing PyTorch, CuPy, JAX or NumPy: an array of theirs exists only where
they are imported already."""
import sys

from ._arguments import attribute, foreign, shown
from ._errors import UsageError, UsageTypeError

HOST = -1  # the place of an array in the host's memory; that of another is the ordinal of its GPU


class View:
    """An array for the duration of a call."""

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


class ArrayKind:
    """Arrays of one framework."""

    name = ""
    is_ordered = True  # whether work on current_stream() follows the work that made an array, and precedes its next use
    is_of_classes = True  # whether an array's class tells its kind
    index_type = "uint64"  # of counts that fatlink makes

    def view(self, array) -> View:
        """Raises where the array cannot be passed."""
        raise NotImplementedError

    def empty(self, like: View, shape: tuple, element):
        """A new array of this kind beside another one."""
        raise UsageError(f"fatlink makes no arrays of {type(like.array).__module__}.{type(like.array).__qualname__}",
                         hint="pass the results' arrays: out=")

    def make(self, like: View, shape: tuple, element, stream=None) -> View:
        """A new array for results, which `stream` writes: the framework's allocator orders the reuse of memory by streams."""
        if stream is None:
            return self.make_now(like, shape, element)
        with self.using(stream, like.place):
            return self.make_now(like, shape, element)

    def make_now(self, like: View, shape: tuple, element) -> View:
        """A new array for results, in the current stream."""
        result = self.view(self.empty(like, shape, element))
        result.read_only = False
        return result

    def sum_type(self, name: str) -> str:
        """The name of the type that the framework sums integers in, where NumPy's rule says `name`: "int64" or "uint64"."""
        return name

    def using(self, stream, place: int):
        """A context manager in which `stream` is the framework's current one; nothing where it has none."""
        from contextlib import nullcontext
        return nullcontext()

    def current_stream(self, place: int) -> int:
        """The caller's current stream on a GPU."""
        return 0

    def wait_for(self, view: View, stream: int):
        """Lets `stream` wait for the work that makes the array, where is_ordered is False."""

    def mark_written(self, array):
        """Tells the framework that a call writes to an array of the caller."""

    def first(self, array, count: int):
        """The first elements of an array."""
        return array[:count]

    def result(self, array):
        """What a function returns for an array without dimensions."""
        return array


_viewers: dict = {}  # by class: ArrayKind.view


def view(array) -> View:
    """What fatlink sees of `array`."""
    viewer = _viewers.get(type(array))
    if viewer is None:
        kind = _find_kind(array)
        viewer = kind.view
        if kind.is_of_classes:
            _viewers[type(array)] = viewer
    return viewer(array)


def _find_kind(array) -> ArrayKind:
    from . import _array_kinds
    try:
        for cls in type(array).__mro__:
            kind = _array_kinds.kind_of_module(cls.__module__.partition(".")[0])
            if kind is not None and kind.is_array(array):
                return kind
        if any(hasattr(type(array), name) or name in getattr(array, "__dict__", ()) for name in (
                "__cuda_array_interface__", "__dlpack__")):
            return _array_kinds.kind_of_module("fatlink")
    except Exception as raised:  # of the object's own attributes
        raise foreign(raised, array) from raised
    raise not_an_array(array)


def not_an_array(array):
    name = f"{type(array).__module__}.{type(array).__qualname__}"
    if type(array).__name__ == "PyCapsule":
        return UsageTypeError("a DLPack capsule was given, which can be consumed only once",
                              hint="pass the array that made it: fatlink calls __dlpack__ itself")
    hint = "pass an array of PyTorch, CuPy, JAX or NumPy, or one with __cuda_array_interface__ or __dlpack__"
    if isinstance(array, (list, tuple, int, float)):
        hint = "make an array of it: torch.tensor, cupy.array, jax.numpy.array or numpy.array"
    return UsageTypeError(f"{name} is not an array", hint=hint)


def not_contiguous(what):
    return UsageError(f"{what} is not contiguous in row-major order",
                      hint="pass x.contiguous() of PyTorch, or ascontiguousarray(x) of NumPy and CuPy, which copy it")


def freed(what):
    return UsageError(f"{what} has no memory: it was freed, deleted or donated", code="freed-array",
                      hint="pass an array that still has its data")


def place_name(place: int) -> str:
    return "the host's memory" if place == HOST else f"the memory of gpu:{place}"


def require_one_place(views: dict):
    """The place of all arrays. Raises where they have several."""
    first_name = first = None
    for name, entry in views.items():
        if first is None:
            first_name, first = name, entry
        elif entry.place != first.place:
            raise UsageError(
                f"{first_name} is in {place_name(first.place)}, {name} in {place_name(entry.place)}", code="several-devices",
                hint="move all arrays of a call to one device")
    return HOST if first is None else first.place


def stream_handle(stream, place: int = HOST) -> int:
    """The CUstream of an integer, a stream of PyTorch or CuPy, or an object with __cuda_stream__, for work on a GPU."""
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


def imported(name: str):
    """A module that is imported already, otherwise None."""
    return sys.modules.get(name)

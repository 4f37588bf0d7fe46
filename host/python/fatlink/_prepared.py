# SPDX-License-Identifier: Apache-2.0
"""A library that is linked, loaded on one device, and called by its launch plan."""
import ctypes

from ._arguments import encode
from ._elements import NAMES, NUMBERS, number_type, pack
from ._errors import Error
from ._ffi import (Argument, Handle, ImageInfo, PlanArgumentStruct, PlanRequest, UNKNOWN_COUNT, c, disable_after_fork, error_of,
                   forked, output, raise_error, text)
from ._inputs import handles
from ._linking import PlanImage, linker, mode_number
from ._states import find_state

ROLES = (None, "input", "output", "scratch", "size", "value", "state")
_ARRAYS = ("input", "output", "state")


class PlanArgument:
    """What a plan is given for one of its arguments."""

    __slots__ = ("name", "role", "scalar", "element_bytes", "type_name", "dimensions", "alignment", "has_default")
    name: str
    role: str
    scalar: int
    element_bytes: int
    type_name: str
    dimensions: int
    alignment: int
    has_default: bool

    def __init__(self, struct):
        self.name = text(struct.name)  #: as the plan states it: "in"
        self.role = ROLES[struct.role]  #: "input", "output", "scratch", "size", "value" or "state"
        self.scalar = struct.scalar  #: the fatlink_scalar of fatlink/fatlink.h
        self.element_bytes = struct.element_bytes  #: of an element or of the value; 0 of a state
        self.type_name = text(struct.type_name)  #: "float32", "bytes8", "{value: float32, index: int32}"
        self.dimensions = struct.dimensions  #: how many an array has
        self.alignment = struct.alignment  #: of an array's address, in bytes
        self.has_default = bool(struct.has_default)  #: whether a size or value may be left out

    @property
    def is_array(self) -> bool:
        """Whether it is given as an array: an input, output or state."""
        return self.role in _ARRAYS

    @property
    def element(self):
        """Its ElementType, where it is a number; None of structs and bytes."""
        name = NAMES.get(self.scalar)
        return number_type(name) if name in NUMBERS else None

    def __repr__(self) -> str:
        return f"<fatlink.PlanArgument {self.name}: {self.role}, {self.type_name}>"


class Value:
    """The bytes of a value and their address."""

    __slots__ = ("buffer", "address")

    def __init__(self, data: bytes):
        self.buffer = ctypes.create_string_buffer(data, len(data))
        self.address = ctypes.addressof(self.buffer)


class Slot:
    """The argument structs of a call, used by one thread at a time."""

    __slots__ = ("array", "address", "items")

    def __init__(self, names, arguments):
        self.array = (Argument * len(names))()
        self.address = ctypes.addressof(self.array)
        self.items = [self.array[index] for index in range(len(names))]
        for item, name in zip(self.items, names):
            argument = arguments[name]
            item.size = ctypes.sizeof(Argument)
            item.name = argument[0]
            item.element_bytes = argument[1].element_bytes  # callers have compared the types
            item.scalar = argument[1].scalar
            item.count = UNKNOWN_COUNT

    def fill(self, entries):
        """Sets the arguments: Values, or objects with address and count."""
        for item, entry in zip(self.items, entries):
            if entry.__class__ is Value:
                item.value = entry.address
            else:
                item.address = entry.address
                item.count = entry.count


class PreparedPlan(Handle):
    """A plan of the library, with what Python needs to know of it."""

    __slots__ = ("device", "name", "arguments", "by_name", "handle", "run_function", "state_type", "_slots", "_values",
                 "_encoded")
    _prefix = ""  # of the functions of the C interface

    def __init__(self, handle, name, device, *keeps):
        super().__init__(handle, device, *keeps)
        self.handle = handle
        self.device = device
        self.name = name
        self.run_function = self._function("run")
        self.arguments = [self._argument(index) for index in range(self._function("argument_count")(self))]
        self.by_name = {argument.name: argument for argument in self.arguments}
        self._encoded = {argument.name: (argument.name.encode(), argument) for argument in self.arguments}
        self.state_type = None
        self._slots = {}
        self._values = {}
        if device.is_gpu:
            disable_after_fork(self)

    def _function(self, name):
        return getattr(c, self._prefix + name)

    def _argument(self, index):
        struct = PlanArgumentStruct()
        raise_error(self._function("get_argument")(self, index, ctypes.byref(struct)))
        return PlanArgument(struct)

    def fail_after_fork(self):
        self._as_parameter_ = None
        self.run_function = _fail_after_fork

    def describe_state(self, transforms):
        """Finds the type of the plan's state. Of plans with several states it is not known which transform reads which."""
        is_one = sum(argument.role == "state" for argument in self.arguments) == 1
        self.state_type = find_state(transforms) if is_one else None

    def require_usable(self):
        """Raises in a child process of one that prepared the plan for a GPU."""
        if self._as_parameter_ is None:
            raise forked()

    def value(self, name, number, dtype=None) -> Value:
        """The bytes of a value or size for an argument, kept for the next call with it. `dtype`: as of pack()."""
        key = (name, number.__class__, number) if number.__class__ in (int, float) else None
        result = self._values.get(key) if key else None
        if result is None or number != number or number == 0:  # 0.0 and -0.0 are equal
            result = Value(pack(number, self.by_name[name], dtype))
            if key and len(self._values) < 1024:
                self._values[key] = result
        return result

    def run(self, stream: int, names: tuple, entries, scratch: int = 0, scratch_bytes: int = 0) -> None:
        """Queues the launches. `entries`: of each argument a Value, or an object with address, count and scalar."""
        try:
            slot = (slots := self._slots[names]).pop()
        except (KeyError, IndexError):
            slots = self._slots.setdefault(names, [])
            slot = Slot(names, self._encoded)
        slot.fill(entries)
        error = self.run_function(self.handle, stream, slot.address, len(names), scratch, scratch_bytes)
        slots.append(slot)
        if error is not None:
            raise _explained(error_of(error))

    def sizes(self, names, entries):
        """The arguments of a question about sizes."""
        slot = Slot(tuple(names), self._encoded)
        slot.fill(entries)
        return slot.array, len(slot.items)

    def extents(self, names, entries, array) -> tuple:
        """The extents of an array for the sizes that follow from these arguments."""
        self.require_usable()
        structs, count = self.sizes(names, entries)
        values, dimensions = (ctypes.c_uint64 * 8)(), ctypes.c_size_t()
        name = encode(array, "the name of an array")
        raise_error(self._function("extents")(self, structs, count, name, values, 8, ctypes.byref(dimensions)))
        return tuple(values[:dimensions.value])

    def scratch_bytes(self, names, entries) -> int:
        """The memory of the scratch arrays for the sizes that follow from these arguments."""
        self.require_usable()
        structs, count = self.sizes(names, entries)
        size = ctypes.c_size_t()
        raise_error(self._function("scratch_bytes")(self, structs, count, ctypes.byref(size)))
        return size.value

# Plans of GPUs stay loaded until the process ends: work that was queued, or a CUDA graph, may use their code.
_loaded: list = []


class Prepared(PreparedPlan):
    """A fatlink_plan."""

    __slots__ = ()
    _free, _prefix = "plan_free", "plan_"

    def __init__(self, device, library, transforms, mode):
        request = PlanRequest(library=encode(library, "library"), transform_count=len(transforms), mode=mode_number(mode))
        array = handles(transforms)
        request.transforms = ctypes.cast(array, type(request.transforms))
        used, handle = linker(), output()
        raise_error(c.plan_prepare(device.require_usable(), used, ctypes.byref(request), ctypes.byref(handle)))
        super().__init__(handle.value, text(c.plan_name(handle)), device, used)
        self.describe_state(transforms)
        if device.is_gpu:
            _loaded.append(self)

    @property
    def image_bytes(self) -> int:
        """The size of the image, or of the texts of a set of PTX, which are not copied."""
        info = ImageInfo()
        raise_error(c.image_get_info(c.plan_image(self), ctypes.byref(info)))
        return info.size_bytes

    @property
    def image(self) -> PlanImage:
        self.require_usable()
        return PlanImage(c.plan_image(self), self)


class LivePrepared(PreparedPlan):
    """The published version of a live plan, whose arguments every version has. The live plan owns it."""

    __slots__ = ()
    _prefix = "live_plan_"

    def __del__(self):
        pass


def _explained(error):
    """An error of a call with a hint about arrays instead of memory; what a handler of a signal raised as it is."""
    if not isinstance(error, Error):
        return error
    if error.code == "invalid-argument" and "which is not a multiple of" in error.message and error.input != "scratch":
        error.hint = ("copy the array (x.clone() of PyTorch, x.copy() of NumPy and CuPy), or pass a slice that begins at a "
                      "multiple of as many bytes")
    return error


def _fail_after_fork(*arguments):
    raise forked()

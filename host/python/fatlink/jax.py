# SPDX-License-Identifier: Apache-2.0
"""Operators of JAX that run fatlink's algorithms: within jit, grad, vmap and shard_map, in XLA's stream and without waiting.

When JAX traces a call, the operator is linked for the default device, which determines the type of the result. XLA's program has a
custom call to libfatlink (fatlink/c/xla.h), which runs without Python. Other devices link at their first execution."""
from __future__ import annotations

import ctypes
import functools
import hashlib
import math
import weakref

import jax

from . import _ffi
from ._algorithms import MAPS, Any, Mode, Operator, accumulator, require_one_dimension, views_of_equal_shapes
from ._arguments import shown
from ._arrays import View, jax_kind
from ._devices import HOST
from ._elements import element_type
from ._errors import UsageError, UsageTypeError
from ._ffi import XlaCall, c, raise_error
from ._inputs import Input
from ._kept_calls import find_algorithm
from ._linking import mode_number
from ._operators import Conversion, framework_operator, name_of
from ._plans import Slot
from ._sorts import find_sort, key_bits

_NAMES = ("x", "y", "z")
_TARGET = "fatlink"  # of custom calls
_SCRATCH_PADDING = 255  # bytes: scratch memory begins at a multiple of 256


@functools.cache
def _register_with_jax():
    """Registers the functions that XLA calls, and _Static. On GPUs, the stage "initialize" prepares the plan before CUDA graphs are
    recorded."""
    jax.tree_util.register_pytree_node(_Static, lambda static: ((), static.value), lambda value, _: _Static(value))
    cuda = jax.ffi.pycapsule(c.xla_run_cuda)
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(c.xla_run_host), platform="cpu")
    jax.ffi.register_ffi_target(_TARGET, {"initialize": cuda, "execute": cuda}, platform="CUDA")


def _place():
    """The place of arrays on JAX's default device."""
    device = jax.config.jax_default_device or jax.local_devices()[0]
    if isinstance(device, str):
        device = jax.local_devices(backend=device)[0]
    if device.platform == "cpu":
        return HOST
    if device.platform in ("gpu", "cuda"):
        return device.local_hardware_id
    raise UsageError(f"the default device of JAX is {device}", hint="use a GPU of NVIDIA, or the CPU: jax.config.update('jax_platforms', 'cpu')")


def _source(array, name):
    """The View of an array that JAX traces, which has no address."""
    return View(None, jax_kind(), 0, array.size, array.shape, jax_kind().element_of(array, name), _place())


_digests: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _digest(prepared):
    """Identifies the code of a plan in all processes."""
    if prepared not in _digests:
        parts = [_ffi.text(c.version()), prepared.library, Input.find(prepared.library).digest, prepared.mode]
        _digests[prepared] = "\n".join([*parts, *[transform.digest for transform in prepared.transforms]])
    return _digests[prepared]


def _texts(names):
    return (ctypes.c_char_p * len(names))(*[name.encode() for name in names])


def _register(prepared, operands, results, values):
    """Registers a call of a plan with libfatlink. Returns its name, by which XLA's programs refer to it."""
    stated = [_digest(prepared), *operands, "->", *results]
    stated += [f"{name}={value.buffer.raw.hex()}" for name, value in values.items()]
    name = f"{prepared.name} {hashlib.sha256(chr(10).join(stated).encode()).hexdigest()}"
    request, slot = prepared.request(), Slot(tuple(values), prepared._encoded)
    slot.fill(values.values())
    call = XlaCall(linker=prepared.linker._as_parameter_, request=ctypes.addressof(request), plan=prepared.handle,
                   operands=_texts(operands), operand_count=len(operands), results=_texts(results), result_count=len(results),
                   values=slot.address, value_count=len(values))
    raise_error(c.xla_register(name.encode(), ctypes.byref(call)))
    return name


def _scratch(prepared, names, entries):
    """The shapes of the result that a plan uses as scratch memory on a GPU: one or none."""
    size = prepared.scratch_bytes(names, entries) if prepared.device.is_gpu else 0
    return [jax.ShapeDtypeStruct((size + _SCRATCH_PADDING,), jax.numpy.uint8)] if size else []


def _axes(array):
    """The axes of a shard_map over which the elements of an array differ."""
    stated = jax.typeof(array)
    return getattr(stated, "vma", None) or getattr(getattr(stated, "mat", None), "varying", frozenset())


def _varying(array, axes):
    """Declares that the elements of an array differ over these axes."""
    missing = tuple(axes - _axes(array))
    return jax.lax.pcast(array, missing, to="varying") if missing else array


def _in_common(arrays):
    """Declares that the elements of all arrays differ over the axes of each of them, as custom calls and gradients require."""
    axes = frozenset().union(*[_axes(array) for array in arrays])
    return [_varying(array, axes) for array in arrays]


def _call(prepared, operands, results, values=None, vmap_method=None):
    """Calls a plan: with (array, View) pairs and Values by the plan's names. `results`: the Views of the results. `vmap_method`: of
    ffi_call; None: a call for each entry of a batch. Returns the results, in order."""
    values = values or {}
    name = _register(prepared, tuple(operands), tuple(results), values)
    views = {**{argument: source for argument, (_, source) in operands.items()}, **results}
    shapes = [jax.ShapeDtypeStruct(result.shape, jax_kind().dtype_of(result.element)) for result in results.values()]
    shapes += _scratch(prepared, [*views, *values], [*views.values(), *values.values()])

    def execute(*arrays):
        arrays = _in_common(arrays)
        found = jax.ffi.ffi_call(_TARGET, shapes, vmap_method=vmap_method)(*arrays, call=name)
        return tuple(_varying(result, _axes(arrays[0])) for result in found[:len(results)])
    function = execute if vmap_method is not None else jax.custom_batching.sequential_vmap(execute)
    return function(*[array for array, _ in operands.values()])


def _like(source, element, shape=None):
    """The View of results for a source."""
    shape = source.shape if shape is None else shape
    return View(None, source.kind, 0, math.prod(shape), shape, element, source.place)


class _Static:
    """A value that is not an array and that the backward pass of a gradient needs."""

    def __init__(self, value):
        self.value = value


class _Algorithm:
    """An algorithm with an operator, as a function of arrays."""

    options: tuple = ("backward", "mode")  # the arguments of operator() that it takes
    default: Any = None  # the operator if none is passed

    def __init__(self, algorithm, op, mode="lto", backward=None):
        self.__name__ = algorithm
        self.__qualname__ = f"fatlink.jax.{algorithm}"
        self.op = op
        self.mode = mode
        self.backward = backward
        self._function = jax.custom_vjp(self.compute)
        self._function.defvjp(self._run_forward, self._run_backward, symbolic_zeros=True)

    def __call__(self, *arrays):
        return self._function(*_in_common([jax.numpy.asarray(array) for array in self.checked(arrays)]))

    def __repr__(self):
        return f"<{self.__qualname__} of {shown(self.op)}>"

    def checked(self, arrays):
        """The arrays of a call. Raises if their number is wrong."""
        if len(arrays) != 1:
            raise UsageTypeError(f"{self.__name__} was given {len(arrays)} arrays", hint="pass one")
        return arrays

    def compute(self, *arrays):
        """The result."""
        raise NotImplementedError

    def _run_forward(self, *primals):
        arrays = [primal.value for primal in primals]
        is_needed = tuple(primal.perturbed for primal in primals)
        result, saved = (self._function(*arrays), tuple(arrays)) if self.backward is not None else self.forward(*arrays)
        return result, (_Static(is_needed), saved)

    def _run_backward(self, residuals, grad):
        is_needed, saved = residuals
        if isinstance(grad, jax.custom_derivatives.SymbolicZero):
            return (None,) * len(is_needed.value)
        if self.backward is None:
            return self.gradients(is_needed.value, saved, grad)
        gradients = self.backward(*saved, grad)
        return tuple(gradients) if isinstance(gradients, (tuple, list)) else (gradients,)

    def forward(self, *arrays):
        """The result, and what gradients() needs. Only calls functions that JAX can differentiate again."""
        return self._function(*arrays), ()

    def gradients(self, is_needed, saved, grad):
        """The gradient of each array; None where it is zero or not needed."""
        raise self.no_gradient()

    def no_gradient(self, argument=""):
        return UsageError(f"no gradient was stated for {self.__name__} of {shown(self.op)}{argument}", input="gradient",
                          code="no-gradient", hint=self.remedy)

    remedy = "pass backward=, a function of the arrays and the gradient of the result, which returns the gradient of each array"


class _Map(_Algorithm):
    """map. `like`: the array whose type the results have, for a gradient; None: the operator states the type."""

    options = ("backward", "dtype", "gradient", "mode")
    remedy = "pass gradient=, an operator that takes the same elements and the gradient of the result, or backward="

    def __init__(self, algorithm, op, mode="lto", backward=None, dtype=None, gradient=None, like=None):
        super().__init__(algorithm, op, mode, backward)
        self.dtype = None if dtype is None else element_type(dtype)
        self.like = like
        stated = gradient if isinstance(gradient, (tuple, list)) else (gradient,) * (gradient is not None)
        if stated and backward is not None:
            raise UsageError("gradient and backward are both given", input="backward", hint="leave out one of them")
        if len(stated) > 2:
            raise UsageError("a gradient of three arrays is an operator of four, and map takes three", input="gradient", hint=_Algorithm.remedy)
        self._gradients = [self._gradient(index, entry) for index, entry in enumerate(stated)]

    def _gradient(self, index, gradient):
        """The function that computes the gradient of an array."""
        return gradient if gradient is None or isinstance(gradient, _Algorithm) else _Map("map", gradient, self.mode, like=index)

    def checked(self, arrays):
        if len(arrays) not in MAPS:
            raise UsageTypeError(f"map was given {len(arrays)} arrays", hint="pass 1, 2 or 3")
        if self._gradients and len(self._gradients) != len(arrays):
            raise UsageError(f"map was given {len(arrays)} arrays; gradient has an operator for {len(self._gradients)}", input="gradient",
                             hint="pass a tuple with an operator for each array; None: the array has no gradient")
        return arrays

    def compute(self, *arrays):
        sources = [_source(array, name) for array, name in zip(arrays, _NAMES)]
        if len(sources) > 1:
            sources = views_of_equal_shapes(*sources, *[None] * (3 - len(sources)))
        base, names = MAPS[len(sources)]
        dtype = self.dtype if self.like is None else sources[self.like].element
        call = find_algorithm(base, base, self.op, sources, None, self.mode, dtype)
        operands = dict(zip(names[1:], zip(arrays, sources)))
        element = call.elements["out"] or call.require_element("out", sources[0])
        return _call(call.prepared, operands, {"out": _like(sources[0], element)}, vmap_method="broadcast_all")[0]

    def forward(self, *arrays):
        return self._function(*arrays), arrays

    def gradients(self, is_needed, saved, grad):
        if not self._gradients:
            raise self.no_gradient()
        return tuple(self._one(index, saved, grad) if needed else None for index, needed in enumerate(is_needed))

    def _one(self, index, arrays, grad):
        gradient = self._gradients[index]
        if gradient is None:
            raise self.no_gradient(f" with respect to {_NAMES[index]}")
        return gradient(*arrays, grad)


class _Sum(_Algorithm):
    """An algorithm that combines elements; sums of integers have the type that JAX gives them."""

    options = ("backward", "dtype", "mode")
    default = "add"
    remedy = f'{_Algorithm.remedy}; fatlink knows the gradient of "add"'

    def __init__(self, algorithm, op, mode="lto", backward=None, dtype=None, init=None):
        super().__init__(algorithm, op, mode, backward)
        self.dtype = dtype
        self.init = init

    def forward(self, x):
        return self._function(x), _Static((x.shape, x.dtype))

    def gradients(self, is_needed, saved, grad):
        if name_of(self.op) != "add":
            raise self.no_gradient()
        shape, dtype = saved.value
        return (self.gradient_of_sum(grad, shape).astype(dtype),)

    def gradient_of_sum(self, grad, shape):
        """The gradient of "add", for `x` of this shape."""
        raise NotImplementedError

    def result(self, x, shape, has_init):
        source = _source(x, "x")
        element = accumulator(source, self.op, self.dtype, None)
        load = None if element is None else Conversion(source.element, element)
        call = find_algorithm(self.__name__, "combine", self.op, (source,), None, self.mode, load=load)
        combined = call.elements["out"] or source.element
        values = {"init": call.initial(self.init, combined)} if has_init else {}
        return _call(call.prepared, {"in": (x, source)}, {"out": _like(source, combined, shape)}, values)[0]


class _Reduce(_Sum):
    options = ("backward", "dtype", "init", "mode")

    def compute(self, x):
        return self.result(x, (), True)

    def gradient_of_sum(self, grad, shape):
        return jax.numpy.broadcast_to(grad, shape)


class _Scan(_Sum):
    has_init = False

    def compute(self, x):
        require_one_dimension(x, self.__name__)
        return self.result(x, x.shape, self.has_init)

    def gradient_of_sum(self, grad, shape):
        scan = type(self)(self.__name__, self.op, self.mode)
        return scan(grad[::-1])[::-1]


class _ExclusiveScan(_Scan):
    options = ("backward", "dtype", "init", "mode")
    has_init = True


class _Sort(_Algorithm):
    options = ("backward", "bits", "key", "mode")
    default = "less"

    def __init__(self, algorithm, op, mode="lto", backward=None, key=None, bits=None):
        super().__init__(algorithm, op, mode, backward)
        self.key = key
        self.bits = bits
        self._sort_with_order = jax.custom_vjp(self.compute_with_order)
        self._sort_with_order.defvjp(lambda x: (found := self._sort_with_order(x), found[1]),
                                     lambda order, grads: self.gradients((True,), order, grads[0]))

    def compute(self, x):
        call, source = self._find("", x)
        return _call(call.prepared, {"in": (x, source)}, {"out": _like(source, source.element)}, self._bits(call))[0]

    def _find(self, suffix, x):
        require_one_dimension(x, "sort")
        source = _source(x, "x")
        return find_sort(suffix, self.op, self.key, self.bits, source, None, self.mode), source

    def _bits(self, call):
        return dict(zip(*key_bits(call, self.bits)))

    def compute_with_order(self, x):
        """The result, and the indexes that sort the elements."""
        call, source = self._find("_pairs", x)
        indexes = jax.numpy.arange(x.size, dtype=jax.numpy.uint32)
        operands = {"in": (x, source), "in_values": (indexes, _source(indexes, "indexes"))}
        results = {"out": _like(source, source.element), "out_values": operands["in_values"][1]}
        return _call(call.prepared, operands, results, self._bits(call))

    def forward(self, x):
        return self._sort_with_order(x)

    def gradients(self, is_needed, saved, grad):
        return (jax.numpy.zeros_like(grad).at[saved].set(grad, unique_indices=True),)


_ALGORITHMS = {"map": _Map, "reduce": _Reduce, "scan": _Scan, "exclusive_scan": _ExclusiveScan, "sort": _Sort}


def operator(algorithm: str, op: Operator = None, *, gradient: Any = None, backward: Any = None, dtype: Any = None, init: Any = None,
             key: Operator | None = None, bits: int | None = None, mode: Mode = "lto") -> Any:
    """Defines a function of JAX arrays that runs an algorithm with an operator, within jit, grad, vmap and shard_map.

    algorithm   "map" (of 1 to 3 arrays), "reduce", "scan", "exclusive_scan" or "sort" (of 1 array)
    op          the operator, as in the function of this name; None: the default of that function
    gradient    for map of one or two arrays: the operator that computes the gradient of `x` from an element of each array and
                of the gradient of the result, which are its last argument; for two arrays a tuple with an operator for each
                of them, or None. It may also be the result of operator(), which may have a gradient itself. None: there is no
                gradient. fatlink knows the gradients of sorts and of sums ("add")
    backward    instead of `gradient`, for every algorithm: a function of the arrays and the gradient of the result, all of JAX,
                which returns the gradient, or a tuple with the gradient of each array
    dtype       for map, reduce and scans: the type of the results, as in the function
    init        for reduce and exclusive_scan: as in the function
    key, bits   for sort: as in the function
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> square = fatlink.jax.operator("map", "square")
        >>> jax.jit(square)(jax.numpy.array([1.0, 2.0]))
        Array([1., 4.], dtype=float32)"""
    options = {"gradient": gradient, "backward": backward, "dtype": dtype, "init": init, "key": key, "bits": bits}
    cls, op, stated = framework_operator(_ALGORITHMS, algorithm, op, options, without_gradient=_Algorithm.remedy,
                                         others="call other algorithms of fatlink outside of jax.jit")
    mode_number(mode)
    _register_with_jax()
    return cls(algorithm, op, mode, **stated)

# SPDX-License-Identifier: Apache-2.0
"""The algorithms of docs/algorithms.md, on a caller's arrays.

A call runs in the caller's current stream, or in `stream`. On GPUs it returns before the work has finished, like operations
of PyTorch and CuPy; only functions that return as many elements as there are results wait, for their number. For NumPy arrays
and CPU tensors the call runs on the reference device, and has finished when it returns."""
from __future__ import annotations

import ctypes

from ._arguments import shown
from ._arrays import Indexes, View
from ._devices import HOST
from ._elements import element_type, number_type, sum_type_of
from ._errors import UsageError, UsageTypeError
from ._kept_calls import find_algorithm, find_repeated, for_operator
from ._operator_names import label_of
from ._operators import Conversion, is_sum
from ._plans import ABSENT, require_output, run, run_counted, view_of

TYPE_CHECKING = False  # of typing, whose import takes longer than all others here
if TYPE_CHECKING:
    import os
    from typing import Any, Callable, Literal, NoReturn as Never, TypeVar, Union

    from ._devices import Device
    from ._inputs import Input

    Array = Any  # of PyTorch, CuPy, JAX or NumPy, or with __cuda_array_interface__ or __dlpack__
    A = TypeVar("A")  # the caller's kind of array, which results are, too
    Operator = Union[str, os.PathLike, Input, Callable]
    Where = Union[str, Device, None]
    Mode = Literal["lto", "ptx"]
    Side = Literal["left", "right"]
else:  # typing.get_type_hints needs the names
    Any = Array = A = Never = Operator = Where = Mode = Side = object


def require_one_dimension(array_view, name):
    if len(array_view.shape) != 1:
        raise UsageError(f"{name} takes arrays of one dimension; this one has the shape {tuple(array_view.shape)}", input=name,
                         hint="pass x.reshape(-1)")


def output_for(call, name, given, shape, like, stream, argument=None):
    """The view of an output: the caller's array, or a new one. `argument`: its name in the call, if that is another one."""
    if given is None:
        return like.kind.make(like, shape, call.elements[name] or call.require_element(name, like), stream)
    array_view = view_of(given, argument or name)
    require_output(argument or name, array_view, lambda other: call.accepts(name, other), shape)
    return array_view


def _given_struct(given, name):
    """The view of the caller's array for results if its elements are structs; their fields are compared with the
    operator's."""
    array_view = None if given is None else view_of(given, name)
    return array_view if array_view is not None and array_view.element.dtype is not None else None


def _single_output(call, given, model, stream):
    """The view of an output of one element."""
    result = output_for(call, "out", given, None if given is not None else (), model, stream)
    if result.count != 1:
        raise UsageError(f"out has {result.count} elements; the result is one", input="out", hint="pass an array of the shape ()")
    return result


def state_view(call, array, name="state"):
    """The view of a state. Its type is checked if the operator's file states it."""
    if array is None:
        return ABSENT
    state = view_of(array, name)
    if call.prepared.state_type is not None:
        call.prepared.state_type.check(name, state)
    return state


def limit_of(call, n):
    """The names and entries of the arguments for `n`, the number of elements that the device knows; none without it."""
    if n is None:
        return (), ()
    given = view_of(n, "n")
    if given.count != 1 or given.element.name not in ("int64", "uint64"):
        raise UsageTypeError(f"n is an array of {given.count} {given.element}", input="n",
                             hint="pass an array of one int64 or uint64 on the device of x; of a known number, pass x[:number]")
    if "limit" not in call.prepared.by_name:
        raise UsageError("n is given for an order that is no key", input="n",
                         hint='pass op "less" or "greater" for numbers, or key=; or pass x[:number]')
    return ("limit",), (View(given.array, given.kind, given.address, 1, (1,), number_type("uint64"), given.place),)


def accumulator(source, op, dtype, out):
    """The type that elements are converted to before they are combined; None: no conversion. Integers of fewer than 64 bits
    are added and multiplied in the type that the framework's own sum uses, or in the type of `out`."""
    if dtype is not None:
        element = element_type(dtype)
    elif source.element.sum_type is None or not is_sum(op):
        return None
    else:
        element = sum_type_of(source.element, source.kind, None if out is None else view_of(out, "out").element)
    return None if element is source.element else element


def require_load(load, **options):
    """Raises if options for `load` are given without it."""
    name = next((name for name, value in options.items() if value is not None), None)
    if load is None and name is not None:
        raise UsageError(f"{name} is given without load", input=name, hint=f"pass load=, or leave {name}= out")


def elements_of(x, load, like):
    """The View of `x`, which may be a range if `load` computes the elements. `like`: an array of the framework and device of the
    call; None: those of NumPy."""
    if x.__class__ is not range:
        return view_of(x, "x")
    if load is None or x.start != 0 or x.step != 1:
        raise UsageError(f"x is {x}", input="x", hint="pass range(n) and load=, an operator that computes elements from their indexes; "
                                                      "or an array")
    return Indexes(x, None if like is None else view_of(like, "out"))


def find_loaded(algorithm, base, op, sources, load, load_state, device, mode, dtype, out, equal=None):
    """Finds the BoundAlgorithm for elements that `load` computes; without `load`, for the elements of the arrays. Returns the
    names and entries of the arguments for its state as well."""
    if load is None:
        return find_algorithm(algorithm, base, op, sources, device, mode, equal=equal), (), ()
    call = find_algorithm(algorithm, base, op, sources, device, mode, dtype, None if out is None else view_of(out, "out"), equal, load)
    if load_state is None:
        return call, (), ()
    return call, ("load_state" if "load_state" in call.prepared.by_name else "state",), (state_view(call, load_state, "load_state"),)


def converted(source, element, op, stream, device, mode):
    """Converts the numbers of an array to another type, for `op`: a View of a new array."""
    call = for_operator(label_of(op), lambda: find_algorithm(
        "map1", "map1", Conversion(source.element, element), (source,), device, mode, element))
    result = source.kind.make(source, source.shape, element, stream)
    run(call.prepared, MAPS[1][1], (result, source, ABSENT), stream)
    return result


def _find_and_convert(algorithm, source, element, op, stream, device, mode):
    """Finds the BoundAlgorithm for another type, and then converts the numbers of an array to it."""
    Conversion(source.element, element)  # raises where there is none
    stand_in = View(source.array, source.kind, source.address, source.count, source.shape, element, source.place)
    try:
        call = find_algorithm(algorithm, "combine", op, (stand_in,), device, mode)
    except UsageError as cause:
        cause.message = cause.message.replace(f"x is an array of {element}", f"x is converted to {element}, the dtype of the call")
        raise
    return converted(source, element, op, stream, device, mode), call


# What users of other libraries write: the argument, and what to write instead.
_ELSEWHERE = {
    "axis": "pass x.reshape(-1) for all elements; rows of a matrix are segments of segmented_reduce and segmented_sort",
    "keepdims": "reshape the result", "initial": "pass init=", "where": "call fatlink.select first, or pass load=, which computes the elements",
    "descending": 'pass the order: fatlink.sort(x, "greater")', "reverse": 'pass the order: fatlink.sort(x, "greater")',
    "stable": "leave it out: equal elements keep their order", "kind": "leave it out: equal elements keep their order",
    "range": 'pass op="uniform_bins" with state=, or an operator that gives the bin', "func": "pass op=", "function": "pass op=",
    "predicate": "pass op=", "return_counts": "call fatlink.run_lengths(fatlink.sort(x))", "right": 'pass side="right"',
    "sorter": "index x first", "largest": 'pass the order: fatlink.top_k(x, k, "less") for the smallest elements',
    "sorted": "leave it out: the results are sorted", "return_index": "call fatlink.unique_by_key with indexes as values",
}


def unknown_arguments(function, names):
    """The error for arguments that a function does not have."""
    name = next(iter(names))
    return UsageTypeError(f"{function}() has no argument {name!r}", input=name, code="invalid-argument",
                          hint=_ELSEWHERE.get(name, f"help(fatlink.{function}) lists the arguments"))


def reduce(x: Array, op: Operator = "add", *, load: Operator | None = None, load_state: Array | None = None, dtype: Any = None,
           init: Any = None, n: Array | None = None, out: Array | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto", **others: Never) -> Any:
    """Folds all elements of `x` with an operator, in order, starting with `init`. Returns an array without dimensions; for
    NumPy, a scalar.

    x           an array of any shape; with `load` also range(n), whose elements are computed from their indexes. The result of a
                range is on the device of `out`; without `out`, it is a NumPy array
    op          combines two elements: "add", "multiply", "max", "min", "abs_max", another installed name, a file, CUDA
                source, an Input or a Python function
    load        computes the elements that are combined, each from an element of `x`, in the same pass: "square", "abs", "negate",
                another installed name, a file, CUDA source with FATLINK_LOAD or FATLINK_LOAD_AT, an Input or a Python function;
                None: the elements of `x`. Of a range, an operator gets only indexes: "indices", FATLINK_LOAD_AT(type, char, in,
                index), or a Python function of the index
    load_state  an array that `load` receives in addition; None: a null pointer
    dtype       the type ("int64", numpy.int64, int) of the result, to which elements are converted before they are combined.
                None: the elements' type, except for "add" and "multiply" of bool and of integers of fewer than 64 bits: these
                use the type of `out`, or the type of the framework's own sum (int64 or uint64; PyTorch int64; JAX 32 bits
                unless jax_enable_x64). With `load`: the type that it makes; CUDA source and compiled operators state it
    init        a number, or bytes or a tuple for a struct; None: the identity of "add", "multiply", "max", "min" and "abs_max"
    n           an array of one int64 or uint64 on the device of `x`: only the first n elements are used, at most len(x); the call
                does not wait for the number. None: all
    out         an array of the shape () or (1,) for the result; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.reduce(numpy.array([3, 8, 1], numpy.float32), "max")
        8.0"""
    if others:
        raise unknown_arguments("reduce", others)
    again = None
    if dtype is None and init is None and stream is None and load_state is None and n is None:
        again = find_repeated("reduce", op, mode, device, (x,), out, -1, load)
        if again is not None and (done := again.run((x,), out)) is not None:
            return done
    require_load(load, load_state=load_state)
    source = elements_of(x, load, out)
    if load is None and (element := accumulator(source, op, dtype, out)) is not None:
        load = Conversion(source.element, element)
    call, *state = find_loaded("reduce", "combine", op, (source,), load, load_state, device, mode, dtype, out)
    return _folded(call, again, source, init, out, stream, *state, *limit_of(call, n))


def _folded(call, again, source, init, out, stream, state_names, states, limit_names=(), limits=()):
    """Runs a reduction. `again`: the Repeated that learns the call."""
    result = _single_output(call, out, source, stream)
    names = ("in", "out", "init", *state_names, *limit_names)
    entries = (source, result, call.initial(init, call.elements["out"] or source.element), *states, *limits)
    run(call.prepared, names, entries, stream)
    if again is not None:
        again.learn(call.prepared, names, entries, (source,), result)
    return source.kind.result(result.array) if out is None else out


def transform_reduce(x: Array, op: Operator, *, dtype: Any = None, init: Any = None, state: Array | None = None,
                     out: Array | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto",
                     **others: Never) -> Any:
    """As reduce with `load`, with one operator that has both hooks: `load`, which is applied to each element, and `combine`.

    x           an array of any shape
    op          an installed name ("sum_squares"), a file, an Input, or CUDA source with FATLINK_LOAD and FATLINK_COMBINE
    dtype       the type of the result, as the operator states it; any other type is refused
    init        the value that the result begins with; optional for operators whose names begin with "sum_" or "count_"
    state       an array that `load` receives in addition to the element; None: a null pointer
    out         an array of the shape () or (1,) for the result; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.transform_reduce(numpy.array([3, 4], numpy.float32), "sum_squares")
        25.0"""
    if others:
        raise unknown_arguments("transform_reduce", others)
    source = view_of(x, "x")
    call = find_algorithm("transform_reduce", "load_combine", op, (source,), device, mode, dtype)
    return _folded(call, None, source, init, out, stream, ("state",), (state_view(call, state),))


def require_offsets(offsets, count):
    """Raises if the offsets have a wrong type or shape. In host memory their values are checked as well."""
    if offsets.element.name not in ("int64", "uint64"):
        raise UsageTypeError(f"offsets is an array of {offsets.element}", input="offsets", hint="convert it to int64 or uint64")
    if len(offsets.shape) != 1 or offsets.count < 1:
        raise UsageError(f"offsets has the shape {tuple(offsets.shape)}", input="offsets",
                         hint="pass one dimension, with one element more than there are segments")
    if offsets.place != HOST:
        return
    numbers = (_OFFSETS[offsets.element.name] * offsets.count).from_address(offsets.address)
    previous = 0
    for index, number in enumerate(numbers):
        if not previous <= number <= count:
            problem = "which is negative" if number < 0 else f"which is less than offsets[{index - 1}], {previous}" if (
                number < previous) else f"beyond the end of x, which has {count} elements"
            raise UsageError(f"offsets[{index}] is {number}, {problem}", input="offsets",
                             hint="pass offsets that do not decrease, from 0 to len(x): segment i is x[offsets[i]:offsets[i + 1]]")
        previous = number


_OFFSETS = {"int64": ctypes.c_int64, "uint64": ctypes.c_uint64}


def segmented_reduce(x: A, offsets: Array, op: Operator = "add", *, dtype: Any = None, init: Any = None,
                     out: A | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto",
                     **others: Never) -> A:
    """Folds each segment of `x`: segment `i` is x[offsets[i]:offsets[i + 1]].

    x           an array of one dimension
    offsets     int64 or uint64; one more than there are segments, not decreasing, at most len(x). On a GPU the values are not
                checked, because the call would have to wait for them; wrong values cause reads outside the array
    op          as in reduce
    dtype       as in reduce; elements of another type are first converted in a separate pass
    init        as in reduce, for each segment
    out         an array for the result; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.segmented_reduce(numpy.arange(6, dtype=numpy.float32), numpy.array([0, 3, 6]))  # the rows of 2 × 3
        array([ 3., 12.], dtype=float32)"""
    if others:
        raise unknown_arguments("segmented_reduce", others)
    source, offsets_view = view_of(x, "x"), view_of(offsets, "offsets")
    require_one_dimension(source, "segmented_reduce")
    require_offsets(offsets_view, source.count)
    if (element := accumulator(source, op, dtype, out)) is None:
        call = find_algorithm("segmented_reduce", "combine", op, (source,), device, mode)
    else:
        source, call = _find_and_convert("segmented_reduce", source, element, op, stream, device, mode)
    result = output_for(call, "out", out, (offsets_view.count - 1,), source, stream)
    run(call.prepared, ("in", "offsets", "out", "init"), (source, offsets_view, result, call.initial(init, source.element)), stream)
    return result.array


def _scan(name, again, x, op, load, load_state, dtype, n, out, stream, device, mode, *init):
    """The result of a scan. `again`: the Repeated that learns the call. `init`: only for an exclusive scan."""
    require_load(load, load_state=load_state)
    source = elements_of(x, load, out)
    require_one_dimension(source, name)
    element = accumulator(source, op, dtype, out) if load is None else None
    state_names, states = (), ()
    if element is None:
        call, state_names, states = find_loaded(name, "combine", op, (source,), load, load_state, device, mode, dtype, out)
    else:
        source, call = _find_and_convert(name, source, element, op, stream, device, mode)
    is_in_place = element is not None and out is None
    result = source if is_in_place else output_for(call, "out", out, source.shape, source, stream)
    limit_names, limits = limit_of(call, n)
    names = (*("in", "out", "init")[:2 + len(init)], *state_names, *limit_names)
    entries = (source, result, *[call.initial(value, call.elements["out"] or source.element) for value in init], *states, *limits)
    run(call.prepared, names, entries, stream)
    if again is not None and element is None:
        again.learn(call.prepared, names, entries, (source,), result)
    return result.array


def scan(x: A, op: Operator = "add", *, load: Operator | None = None, load_state: Array | None = None, dtype: Any = None,
         n: Array | None = None, out: A | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto", **others: Never) -> A:
    """Inclusive scan: element i combines x[0] to x[i].

    x           an array of one dimension; with `load` also range(n), as in reduce
    op          as in reduce
    load        as in reduce
    load_state  as in reduce
    dtype       as in reduce; without `load`, elements of another type are first converted in a separate pass
    n           as in reduce; elements of the result beyond n are not written
    out         an array for the result, which may be `x` without `load`; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.scan(numpy.array([1, 2, 3], numpy.float32))
        array([1., 3., 6.], dtype=float32)"""
    if others:
        raise unknown_arguments("scan", others)
    again = None
    if dtype is None and stream is None and load_state is None and n is None:
        again = find_repeated("scan", op, mode, device, (x,), out, 1, load)
        if again is not None and (done := again.run((x,), out)) is not None:
            return done
    return _scan("scan", again, x, op, load, load_state, dtype, n, out, stream, device, mode)


def exclusive_scan(x: A, op: Operator = "add", *, load: Operator | None = None, load_state: Array | None = None, dtype: Any = None,
                   init: Any = None, n: Array | None = None, out: A | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto",
                   **others: Never) -> A:
    """Exclusive scan: element i combines `init` and x[0] to x[i - 1].

    x           an array of one dimension; with `load` also range(n), as in reduce
    op          as in reduce
    load        as in reduce
    load_state  as in reduce
    dtype       as in scan
    init        as in reduce
    n           as in scan
    out         as in scan
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.exclusive_scan(numpy.array([1, 2, 3], numpy.float32))
        array([0., 1., 3.], dtype=float32)"""
    if others:
        raise unknown_arguments("exclusive_scan", others)
    again = None
    if dtype is None and init is None and stream is None and load_state is None and n is None:
        again = find_repeated("exclusive_scan", op, mode, device, (x,), out, 1, load)
        if again is not None and (done := again.run((x,), out)) is not None:
            return done
    return _scan("exclusive_scan", again, x, op, load, load_state, dtype, n, out, stream, device, mode, init)


# map: by the number of arrays: the library, and the names of its arguments.
MAPS = {1: ("map1", ("out", "in", "state")), 2: ("map2", ("out", "in1", "in2", "state")),
         3: ("map3", ("out", "in1", "in2", "in3", "state"))}


def map(x: A, y: Array | None = None, z: Array | None = None, *, op: Operator, dtype: Any = None,
        state: Array | None = None, n: Array | None = None, out: A | None = None, stream: Any = None, device: Where = None,
        mode: Mode = "lto", **others: Never) -> A:
    """Applies an operator to each element of one to three arrays of equal shape.

    x, y, z     arrays of the same shape
    op          takes one element of each array: "square", "subtract", "multiply_add", another name, a file, CUDA source, an
                Input or a Python function
    dtype       for a Python function: the type of the results ("float32"); None: the type of the arrays, unless the function
                returns another kind of number
    state       an array that the operator receives in addition to the elements; None: a null pointer
    n           as in reduce; elements of the result beyond n are not written
    out         an array for the result; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.map(numpy.array([1, 2], numpy.float32), op="scale_add", state=numpy.array([2, 1], numpy.float32))
        array([3., 5.], dtype=float32)"""
    if others:
        raise unknown_arguments("map", others)
    arrays = (x,) if y is None and z is None else (x, y) if z is None else (x, y, z)
    again = find_repeated("map", op, mode, device, arrays, out) if state is None and dtype is None and stream is None and n is None else None
    if again is not None and (done := again.run(arrays, out)) is not None:
        return done
    sources = (view_of(x, "x"),) if len(arrays) == 1 else views_of_equal_shapes(x, y, z)
    base, names = MAPS[len(sources)]
    given = _given_struct(out, "out")
    call = find_algorithm(base, base, op, sources, device, mode, dtype, given)
    result = output_for(call, "out", given or out, sources[0].shape, sources[0], stream)
    entries = (result, *sources, state_view(call, state))
    limit_names, limits = limit_of(call, n)
    run(call.prepared, (*names, *limit_names), (*entries, *limits), stream)
    if again is not None:
        again.learn(call.prepared, names, entries, sources, result)
    return result.array


def views_of_equal_shapes(x, y, z):
    if y is None:
        raise UsageError("map was given x and z, but no y", input="y", hint="pass the second array as y")
    arrays = {"x": x, "y": y} if z is None else {"x": x, "y": y, "z": z}
    sources = tuple(view_of(array, name) for name, array in arrays.items())
    for name, source in zip(arrays, sources):
        if tuple(source.shape) != tuple(sources[0].shape):
            raise UsageError(f"{name} has the shape {tuple(source.shape)}, x has {tuple(sources[0].shape)}", input=name,
                             hint="pass arrays of one shape")
    return sources


class _Counts:
    """Numbers of results, which a library stores as uint64: in the caller's array, or in a new one that read() reads."""

    def __init__(self, source, size, given, name, stream):
        self.source = source
        self.stream = stream
        self.is_given = given is not None
        if given is None:
            self.memory = source.kind.make(source, (2 * size,), number_type("int32"), stream)  # not every framework has uint64
        else:
            self.memory = view_of(given, name)
            shape = () if size == 1 and not self.memory.shape else (size,)
            require_output(name, self.memory, lambda element: element.name in ("int64", "uint64"), shape)
        self.views = [View(self.memory.array, self.memory.kind, self.memory.address + 8 * index, 1, (1,), number_type("uint64"),
                           self.memory.place) for index in range(size)]

    def read(self):
        """Waits, and returns the numbers; None for each in the caller's array."""
        if self.is_given:
            return [None] * len(self.views)
        if self.stream is None:
            halves = self.memory.array.tolist()  # waits for the current stream
        else:
            with self.source.kind.using(self.stream, self.source.place):
                halves = self.memory.array.tolist()
        words = [int(half) & 0xFFFFFFFF for half in halves]
        return [low | high << 32 for low, high in zip(words[::2], words[1::2])]


def counted(call, names, source, arrays, states, stream, count=None):
    """Runs a library that stores the number of its results in `count`, and returns that number; None if the caller gave an
    array for it."""
    if count is None and source.kind.is_ordered and source.place != HOST:
        entries = [source, *arrays, None, *states]
        return run_counted(call.prepared, names, entries, 1 + len(arrays), source, stream)
    counts = _Counts(source, 1, count, "count", stream)
    run(call.prepared, names, (source, *arrays, *counts.views, *states), stream)
    return counts.read()[0]


def first(source, array, count):
    """The first `count` elements of `array`; all if the count is not known."""
    return array if count is None else source.kind.first(array, count)


def _outputs_of_parts(call, outputs, source, stream, names=None):
    """The views of arrays that each may receive all elements of `source`. `names`: of outputs whose argument has another one."""
    names = names or {}
    results = [output_for(call, output, given, None if given is not None else source.shape, source, stream, names.get(output))
               for output, given in outputs.items()]
    for output, result in zip(outputs, results):
        if result.count < source.count or len(result.shape) != 1:
            name = names.get(output, output)
            raise UsageError(f"{name} has the shape {tuple(result.shape)}; x has {source.count} elements", input=name,
                             hint="pass an array of one dimension with as many elements as x")
    return results


def selection(name, base, x, op, states, outputs, count, stream, device, mode, load=None, load_state=None, dtype=None,
              n=None):
    require_load(load, load_state=load_state, dtype=dtype)
    source = elements_of(x, load, outputs["out"])
    require_one_dimension(source, name)
    given = _given_struct(outputs["out"], "out") if base == "keep_store" or load is not None else None
    call, *loading = find_loaded(name, base, op, (source,), load, load_state, device, mode, dtype, given)
    results = _outputs_of_parts(call, outputs, source, stream)
    values = [state_view(call, array, state) for state, array in states.items()]
    limit_names, limits = limit_of(call, n)
    names = ("in", *outputs, "count", *states, *loading[0], *limit_names)
    number = counted(call, names, source, results, (*values, *loading[1], *limits), stream, count)
    return source, results, number


def select(x: A, op: Operator, *, load: Operator | None = None, load_state: Array | None = None, dtype: Any = None,
           state: Array | None = None, n: Array | None = None, out: A | None = None, count: Array | None = None, stream: Any = None,
           device: Where = None, mode: Mode = "lto", **others: Never) -> A:
    """Returns the elements that a predicate accepts, in order. Waits for their number. The result is the beginning of an
    array of len(x) elements; copy it to free the rest.

    x           an array of one dimension; with `load` also range(n), as in reduce
    op          returns whether to accept an element: "nonzero", "positive", "finite", another name, a file, CUDA source, an
                Input or a Python function
    load        computes the elements from which to select, as in reduce
    load_state  as in reduce
    dtype       the type of the elements that `load` makes; CUDA source and compiled operators state it. Not without `load`
    state       an array that the predicate receives in addition to the element; None: a null pointer
    n           as in reduce
    out         an array of len(x) elements; None: a new one of the kind of `x`
    count       an array of one int64 or uint64 for the number of results. The call then does not wait, and returns whole arrays,
                of which that many elements are results; None: wait for the number
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.select(numpy.array([3, -1, 2], numpy.float32), "positive")
        array([3., 2.], dtype=float32)"""
    if others:
        raise unknown_arguments("select", others)
    source, (result,), number = selection("select", "keep", x, op, {"state": state}, {"out": out}, count, stream, device, mode, load,
                                          load_state, dtype, n)
    return first(source, result.array, number)


def partition(x: A, op: Operator, *, state: Array | None = None, out: A | None = None, count: Array | None = None,
              rejected: A | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto", **others: Never) -> tuple[A, A]:
    """Returns the elements that a predicate accepts, and the others, both in order. Waits for their number.

    x           an array of one dimension
    op          as in select
    state       as in select
    rejected    as `out`, for the elements that are not accepted
    out         as in select
    count       as in select
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.partition(numpy.array([3, -1, 2], numpy.float32), "positive")
        (array([3., 2.], dtype=float32), array([-1.], dtype=float32))"""
    if others:
        raise unknown_arguments("partition", others)
    source, results, number = selection("partition", "keep", x, op, {"state": state}, {"out": out, "rejected": rejected}, count, stream,
                                        device, mode)
    others_count = None if number is None else source.count - number
    return first(source, results[0].array, number), first(source, results[1].array, others_count)


def partition3(x: A, op: Operator, *, state: Array | None = None, out: A | None = None, second: A | None = None,
               third: A | None = None, counts: Array | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto",
               **others: Never) -> tuple[A, A, A]:
    """Divides the elements into three parts, each in order, and waits for their numbers. The results are the beginnings of
    arrays of len(x) elements; copy them to free the rest.

    x           an array of one dimension
    op          returns the part of an element: 0, 1, or any other number for the third part; an installed name ("signs_float"),
                a file, CUDA source with FATLINK_PART, an Input or a Python function
    state       an array that the operator receives in addition to the element; None: a null pointer
    second      as `out`, for the second part
    third       as `out`, for the third part
    out         an array of len(x) elements for the first part; None: a new one of the kind of `x`
    counts      an array of two int64 or uint64 for the numbers of elements in the first two parts. The call then does not wait,
                and returns whole arrays; None: wait for the numbers
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.partition3(numpy.array([3, -1, 0, -2], numpy.float32), "signs_float")
        (array([-1., -2.], dtype=float32), array([0.], dtype=float32), array([3.], dtype=float32))"""
    if others:
        raise unknown_arguments("partition3", others)
    source = view_of(x, "x")
    require_one_dimension(source, "partition3")
    call = find_algorithm("partition3", "part", op, (source,), device, mode)
    results = _outputs_of_parts(call, {"first": out, "second": second, "third": third}, source, stream, {"first": "out"})
    numbers = _Counts(source, 2, counts, "counts", stream)
    run(call.prepared, ("in", "first", "second", "third", "first_count", "second_count", "state"),
        (source, *results, *numbers.views, state_view(call, state)), stream)
    first_count, second_count = numbers.read()
    third_count = None if first_count is None else source.count - first_count - second_count
    return tuple(first(source, result.array, size) for result, size in zip(results, (first_count, second_count, third_count)))


def transform_select(x: A, op: Operator, *, keep_state: Array | None = None, store_state: Array | None = None,
                     out: A | None = None, count: Array | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto",
                     **others: Never) -> A:
    """Applies the operator's hook `store` to the elements that its hook `keep` accepts, in order and in one pass. Waits for
    their number.

    x           an array of one dimension
    op          an installed name ("halves_of_positive"), a file, an Input, or CUDA source with FATLINK_KEEP and FATLINK_STORE
    keep_state  an array that `keep` receives in addition to the element; None: a null pointer
    store_state  as `keep_state`, for `store`
    out         as in select
    count       as in select
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.transform_select(numpy.array([3, -1, 2], numpy.float32), "halves_of_positive")
        array([3., 2.], dtype=float16)"""
    if others:
        raise unknown_arguments("transform_select", others)
    states = {"keep_state": keep_state, "store_state": store_state}
    source, (result,), number = selection("transform_select", "keep_store", x, op, states, {"out": out}, count, stream, device, mode)
    return first(source, result.array, number)


def histogram(x: A, op: Operator, *, bins: int = 256, load: Operator | None = None, load_state: Array | None = None, dtype: Any = None,
              state: Array | None = None, n: Array | None = None, out: A | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto",
              **others: Never) -> A:
    """Counts the elements in each bin. The counts are uint64; for PyTorch, int64.

    x           an array of any shape; with `load` also range(n), as in reduce
    op          returns the bin of an element: "byte_bins", "uniform_bins", another name, a file, source or function; elements
                whose bin is not from 0 to bins - 1 are not counted
    bins        the number of bins
    load        computes the elements that are counted, as in reduce
    load_state  as in reduce
    dtype       the type of the elements that `load` makes; CUDA source and compiled operators state it. Not without `load`
    state       an array that the operator receives in addition to the element; None: a null pointer
    n           as in reduce
    out         an array of `bins` elements of int64 or uint64; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.histogram(numpy.array([0, 2, 2], numpy.uint8), "byte_bins", bins=4)
        array([1, 0, 2, 0], dtype=uint64)"""
    if others:
        raise unknown_arguments("histogram", others)
    require_load(load, load_state=load_state, dtype=dtype)
    source = elements_of(x, load, out)
    call, *loading = find_loaded("histogram", "bin", op, (source,), load, load_state, device, mode, dtype, None)
    if not isinstance(bins, int) or isinstance(bins, bool) or not 1 <= bins < 2**59:
        raise UsageError(f"bins is {shown(bins)}", input="bins", hint="pass a whole number from 1, whose counts fit into memory")
    if out is None:
        result = source.kind.make(source, (bins,), number_type(source.kind.index_type), stream)
    else:
        result = view_of(out, "out")
        require_output("out", result, lambda element: element.name in ("int64", "uint64"), (bins,))
    limit_names, limits = limit_of(call, n)
    run(call.prepared, ("in", "counts", "bins", "state", *loading[0], *limit_names),
        (source, result, call.prepared.value("bins", bins), state_view(call, state), *loading[1], *limits), stream)
    return result.array

# SPDX-License-Identifier: Apache-2.0
"""The algorithms of docs/algorithms.md, on a caller's arrays.

A call runs in the caller's current stream, or in `stream`. On GPUs it returns before the work has finished, like operations
of PyTorch and CuPy; only select, partition and transform_select wait, for the number of results. For NumPy arrays and CPU
tensors the call runs on the reference device, and has finished when it returns.

Prepared libraries are kept by algorithm, operator, element types, device and link mode. If a call has the operator and types
of an earlier call, and the class of its arrays has the C exchange API of DLPack 1.3 (PyTorch since 2.10), it is repeated by a
single call of the C interface, which reads the arrays and runs the plan. If that call refuses the arrays, the call takes the
path of a first call, which runs it or reports why it cannot."""
from __future__ import annotations

import ctypes
import sys

from ._arguments import shown
from ._arrays import View, exchanges, require_one_place
from ._devices import HOST, as_device
from ._elements import SIZES, element_type, is_compatible, number_type, size_of_library, warn_of_names
from ._errors import CompileError, RefusedError, UnavailableError, UsageError, UsageTypeError
from ._ffi import ObjectCall, after_fork, c, error_of, make_lock
from ._linking import after_configure, mode_number
from ._operator_names import explained, label_of, wrong_type
from ._operators import KEYS_OF_ORDERS, Conversion, candidates, is_source, is_sum, key_of, name_of, not_an_operator
from ._plans import ABSENT, Prepared, Slot, Value, device_for, element_for_output, require_output, run, run_counted, view_of

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
else:  # typing.get_type_hints needs the names
    Any = Array = A = Never = Operator = Where = Mode = object


def _require_one_dimension(array_view, name):
    if len(array_view.shape) != 1:
        raise UsageError(f"{name} takes arrays of one dimension; this one has the shape {tuple(array_view.shape)}", input=name,
                         hint="pass x.reshape(-1)")


def _output(call, name, given, shape, like, stream):
    """The view of an output: the caller's array, or a new one."""
    if given is None:
        return like.kind.make(like, shape, call.elements[name] or call.require_element(name, like), stream)
    array_view = view_of(given, name)
    require_output(name, array_view, lambda other: call.accepts(name, other), shape)
    return array_view


def _given_struct(given, name):
    """The view of the caller's array for results if its elements are structs; their fields are compared with the
    operator's."""
    array_view = None if given is None else view_of(given, name)
    return array_view if array_view is not None and array_view.element.dtype is not None else None


def _single_output(call, given, model, stream):
    """The view of an output of one element."""
    result = _output(call, "out", given, None if given is not None else (), model, stream)
    if result.count != 1:
        raise UsageError(f"out has {result.count} elements; the result is one", input="out", hint="pass an array of the shape ()")
    return result


def _state(call, array, name="state"):
    """The view of a state. Its type is checked if the operator's file states it."""
    if array is None:
        return ABSENT
    state = view_of(array, name)
    if call.prepared.state_type is not None:
        call.prepared.state_type.check(name, state)
    return state


def _accumulator(source, op, dtype, out):
    """The type that elements are converted to before they are combined; None: no conversion. Integers of fewer than 64 bits
    are added and multiplied in the type that the framework's own sum uses, or in the type of `out`."""
    if dtype is not None:
        element = element_type(dtype)
    elif source.element.sum_type is None or not is_sum(op):
        return None
    elif out is None:
        element = number_type(source.kind.sum_type(source.element.sum_type))
    else:
        element = view_of(out, "out").element
        if not element.name.startswith(("int", "uint")):
            element = number_type(source.element.sum_type)  # the error about out names it
    return None if element is source.element else element


def _for_operator(label, make):
    """Returns the result of `make`. If a compiler is missing, the error names the operator that needs it."""
    try:
        return make()
    except UnavailableError as cause:
        cause.message = f"{label}: {cause.message}"
        raise


def _converted(source, element, op, stream, device, mode):
    """Converts the numbers of an array to another type, for `op`: a View of a new array."""
    call = _for_operator(label_of(op), lambda: find_algorithm(
        "map1", "map1", Conversion(source.element, element), (source,), device, mode, element))
    result = source.kind.make(source, source.shape, element, stream)
    run(call.prepared, _MAPS[1][1], (result, source, ABSENT), stream)
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
    return _converted(source, element, op, stream, device, mode), call


# What users of other libraries write: the argument, and what to write instead.
_ELSEWHERE = {
    "axis": "pass x.reshape(-1) for all elements; rows of a matrix are segments: fatlink.segmented_reduce(x.reshape(-1), offsets)",
    "keepdims": "reshape the result", "initial": "pass init=", "where": "call fatlink.select first, or fatlink.transform_reduce",
    "descending": 'pass the order: fatlink.sort(x, "greater")', "reverse": 'pass the order: fatlink.sort(x, "greater")',
    "stable": "leave it out: equal elements keep their order", "kind": "leave it out: equal elements keep their order",
    "range": 'pass op="uniform_bins" with state=, or an operator that gives the bin', "func": "pass op=", "function": "pass op=",
    "predicate": "pass op=", "return_counts": "call fatlink.histogram",
}


def _unknown_arguments(function, names):
    """The error for arguments that a function does not have."""
    name = next(iter(names))
    return UsageTypeError(f"{function}() has no argument {name!r}", input=name, code="invalid-argument",
                          hint=_ELSEWHERE.get(name, f"help(fatlink.{function}) lists the arguments"))


def reduce(x: Array, op: Operator = "add", *, dtype: Any = None, init: Any = None, out: Array | None = None, stream: Any = None,
           device: Where = None, mode: Mode = "lto", **others: Never) -> Any:
    """Folds all elements of `x` with an operator, in order, starting with `init`. Returns an array without dimensions; for
    NumPy, a scalar.

    x           an array of any shape
    op          combines two elements: "add", "multiply", "max", "min", "abs_max", another installed name, a file, CUDA
                source, an Input or a Python function
    dtype       the type ("int64", numpy.int64, int) of the result, to which elements are converted before they are combined.
                None: the elements' type, except for "add" and "multiply" of bool and of integers of fewer than 64 bits: these
                use the type of `out`, or the type of the framework's own sum (int64 or uint64; PyTorch int64; JAX 32 bits
                unless jax_enable_x64)
    init        a number, or bytes or a tuple for a struct; None: the identity of "add", "multiply", "max", "min" and "abs_max"
    out         an array of the shape () or (1,) for the result; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.reduce(numpy.array([3, 8, 1], numpy.float32), "max")
        8.0"""
    if others:
        raise _unknown_arguments("reduce", others)
    again = _find_repeated("reduce", op, mode, device, (x,), out, -1) if dtype is None and init is None and stream is None else None
    if again is not None and (done := again.run((x,), out)) is not None:
        return done
    source = given = view_of(x, "x")
    element = _accumulator(source, op, dtype, out)
    call = find_algorithm("reduce", "combine", op, (source,), device, mode, element)
    if call is CONVERT_FIRST:
        source, call = _find_and_convert("reduce", source, element, op, stream, device, mode)
    result = _single_output(call, out, source, stream)
    names, entries = ("in", "out", "init"), (source, result, call.initial(init, source.element))
    run(call.prepared, names, entries, stream)
    if again is not None and source is given:
        again.learn(call.prepared, names, entries, (source,), result)
    return source.kind.result(result.array) if out is None else out


def transform_reduce(x: Array, op: Operator, *, dtype: Any = None, init: Any = None, state: Array | None = None,
                     out: Array | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto",
                     **others: Never) -> Any:
    """As reduce, but first applies the operator's hook `load` to each element, in the same pass.

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
        raise _unknown_arguments("transform_reduce", others)
    source = view_of(x, "x")
    call = find_algorithm("transform_reduce", "load_combine", op, (source,), device, mode, dtype)
    result = _single_output(call, out, source, stream)
    run(call.prepared, ("in", "out", "init", "state"),
               (source, result, call.initial(init), _state(call, state)), stream)
    return source.kind.result(result.array) if out is None else out


def _require_offsets(offsets, count):
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
        raise _unknown_arguments("segmented_reduce", others)
    source, offsets_view = view_of(x, "x"), view_of(offsets, "offsets")
    _require_one_dimension(source, "segmented_reduce")
    _require_offsets(offsets_view, source.count)
    if (element := _accumulator(source, op, dtype, out)) is None:
        call = find_algorithm("segmented_reduce", "combine", op, (source,), device, mode)
    else:
        source, call = _find_and_convert("segmented_reduce", source, element, op, stream, device, mode)
    result = _output(call, "out", out, (offsets_view.count - 1,), source, stream)
    run(call.prepared, ("in", "offsets", "out", "init"), (source, offsets_view, result, call.initial(init, source.element)), stream)
    return result.array


def _scan(name, again, x, op, dtype, out, stream, device, mode, *init):
    """The result of a scan. `again`: the Repeated that learns the call. `init`: only for an exclusive scan."""
    source = view_of(x, "x")
    _require_one_dimension(source, name)
    element = _accumulator(source, op, dtype, out)
    if element is None:
        call = find_algorithm(name, "combine", op, (source,), device, mode)
    else:
        source, call = _find_and_convert(name, source, element, op, stream, device, mode)
    is_in_place = element is not None and out is None
    result = source if is_in_place else _output(call, "out", out, source.shape, source, stream)
    names = ("in", "out", "init")[:2 + len(init)]
    entries = (source, result, *[call.initial(value, source.element) for value in init])
    run(call.prepared, names, entries, stream)
    if again is not None and element is None:
        again.learn(call.prepared, names, entries, (source,), result)
    return result.array


def scan(x: A, op: Operator = "add", *, dtype: Any = None, out: A | None = None, stream: Any = None,
         device: Where = None, mode: Mode = "lto", **others: Never) -> A:
    """Inclusive scan: element i combines x[0] to x[i].

    x           an array of one dimension
    op          as in reduce
    dtype       as in reduce; elements of another type are first converted in a separate pass
    out         an array for the result, which may be `x`; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.scan(numpy.array([1, 2, 3], numpy.float32))
        array([1., 3., 6.], dtype=float32)"""
    if others:
        raise _unknown_arguments("scan", others)
    again = _find_repeated("scan", op, mode, device, (x,), out, 1) if dtype is None and stream is None else None
    if again is not None and (done := again.run((x,), out)) is not None:
        return done
    return _scan("scan", again, x, op, dtype, out, stream, device, mode)


def exclusive_scan(x: A, op: Operator = "add", *, dtype: Any = None, init: Any = None, out: A | None = None,
                   stream: Any = None, device: Where = None, mode: Mode = "lto", **others: Never) -> A:
    """Exclusive scan: element i combines `init` and x[0] to x[i - 1].

    x           an array of one dimension
    op          as in reduce
    dtype       as in reduce; elements of another type are first converted in a separate pass
    init        as in reduce
    out         an array for the result, which may be `x`; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.exclusive_scan(numpy.array([1, 2, 3], numpy.float32))
        array([0., 1., 3.], dtype=float32)"""
    if others:
        raise _unknown_arguments("exclusive_scan", others)
    again = _find_repeated("exclusive_scan", op, mode, device, (x,), out, 1) if dtype is None and init is None and stream is None else None
    if again is not None and (done := again.run((x,), out)) is not None:
        return done
    return _scan("exclusive_scan", again, x, op, dtype, out, stream, device, mode, init)


# map: by the number of arrays: the library, and the names of its arguments.
_MAPS = {1: ("map1", ("out", "in", "state")), 2: ("map2", ("out", "in1", "in2", "state")),
         3: ("map3", ("out", "in1", "in2", "in3", "state"))}


def map(x: A, y: Array | None = None, z: Array | None = None, *, op: Operator, dtype: Any = None,
        state: Array | None = None, out: A | None = None, stream: Any = None, device: Where = None,
        mode: Mode = "lto", **others: Never) -> A:
    """Applies an operator to each element of one to three arrays of equal shape.

    x, y, z     arrays of the same shape
    op          takes one element of each array: "square", "subtract", "multiply_add", another name, a file, CUDA source, an
                Input or a Python function
    dtype       for a Python function: the type of the results ("float32"); None: the type of the arrays, unless the function
                returns another kind of number
    state       an array that the operator receives in addition to the elements; None: a null pointer
    out         an array for the result; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.map(numpy.array([1, 2], numpy.float32), op="scale_add", state=numpy.array([2, 1], numpy.float32))
        array([3., 5.], dtype=float32)"""
    if others:
        raise _unknown_arguments("map", others)
    arrays = (x,) if y is None and z is None else (x, y) if z is None else (x, y, z)
    again = _find_repeated("map", op, mode, device, arrays, out) if state is None and dtype is None and stream is None else None
    if again is not None and (done := again.run(arrays, out)) is not None:
        return done
    sources = (view_of(x, "x"),) if len(arrays) == 1 else _views_of_equal_shapes(x, y, z)
    base, names = _MAPS[len(sources)]
    given = _given_struct(out, "out")
    call = find_algorithm(base, base, op, sources, device, mode, dtype, given)
    result = _output(call, "out", given or out, sources[0].shape, sources[0], stream)
    entries = (result, *sources, _state(call, state))
    run(call.prepared, names, entries, stream)
    if again is not None:
        again.learn(call.prepared, names, entries, sources, result)
    return result.array


def _views_of_equal_shapes(x, y, z):
    if y is None:
        raise UsageError("map was given x and z, but no y", input="y", hint="pass the second array as y")
    arrays = {"x": x, "y": y} if z is None else {"x": x, "y": y, "z": z}
    sources = tuple(view_of(array, name) for name, array in arrays.items())
    for name, source in zip(arrays, sources):
        if tuple(source.shape) != tuple(sources[0].shape):
            raise UsageError(f"{name} has the shape {tuple(source.shape)}, x has {tuple(sources[0].shape)}", input=name,
                             hint="pass arrays of one shape")
    return sources


def _counted(call, names, source, arrays, states, stream):
    """Runs a library that stores the number of its results in `count`, and returns that number."""
    kind = source.kind
    if kind.is_ordered and source.place != HOST:
        entries = [source, *arrays, None, *states]
        return run_counted(call.prepared, names, entries, 1 + len(arrays), source, stream)
    halves = kind.make(source, (2,), number_type("int32"), stream)  # of a uint64, which not every framework has
    counter = View(halves.array, kind, halves.address, 1, (1,), number_type("uint64"), source.place)
    run(call.prepared, names, (source, *arrays, counter, *states), stream)
    if stream is None:
        numbers = halves.array.tolist()  # waits for the current stream
    else:
        with kind.using(stream, source.place):
            numbers = halves.array.tolist()
    low, high = (int(half) & 0xFFFFFFFF for half in numbers)
    return low | high << 32


def _selection(name, base, x, op, states, outputs, stream, device, mode):
    source = view_of(x, "x")
    _require_one_dimension(source, name)
    given = _given_struct(outputs["out"], "out") if base == "keep_store" else None
    call = find_algorithm(name, base, op, (source,), device, mode, out=given)
    results = [_output(call, output, given, None if given is not None else source.shape, source, stream)
               for output, given in outputs.items()]
    for output, result in zip(outputs, results):
        if result.count < source.count or len(result.shape) != 1:
            raise UsageError(f"{output} has the shape {tuple(result.shape)}; x has {source.count} elements", input=output,
                             hint="pass an array of one dimension with as many elements as x")
    values = [_state(call, array, state) for state, array in states.items()]
    count = _counted(call, ("in", *outputs, "count", *states), source, results, values, stream)
    return source, results, count


def select(x: A, op: Operator, *, state: Array | None = None, out: A | None = None, stream: Any = None,
           device: Where = None, mode: Mode = "lto", **others: Never) -> A:
    """Returns the elements that a predicate accepts, in order. Waits for their number. The result is the beginning of an
    array of len(x) elements; copy it to free the rest.

    x           an array of one dimension
    op          returns whether to accept an element: "nonzero", "positive", "finite", another name, a file, CUDA source, an
                Input or a Python function
    state       an array that the predicate receives in addition to the element; None: a null pointer
    out         an array of len(x) elements; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.select(numpy.array([3, -1, 2], numpy.float32), "positive")
        array([3., 2.], dtype=float32)"""
    if others:
        raise _unknown_arguments("select", others)
    source, (result,), count = _selection("select", "keep", x, op, {"state": state}, {"out": out}, stream, device, mode)
    return source.kind.first(result.array, count)


def partition(x: A, op: Operator, *, state: Array | None = None, out: A | None = None, rejected: A | None = None,
              stream: Any = None, device: Where = None, mode: Mode = "lto", **others: Never) -> tuple[A, A]:
    """Returns the elements that a predicate accepts, and the others, both in order. Waits for their number.

    x           an array of one dimension
    op          as in select
    state       as in select
    rejected    as `out`, for the elements that are not accepted
    out         an array of len(x) elements; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.partition(numpy.array([3, -1, 2], numpy.float32), "positive")
        (array([3., 2.], dtype=float32), array([-1.], dtype=float32))"""
    if others:
        raise _unknown_arguments("partition", others)
    source, results, count = _selection("partition", "keep", x, op, {"state": state}, {"out": out, "rejected": rejected}, stream,
                                        device, mode)
    return source.kind.first(results[0].array, count), source.kind.first(results[1].array, source.count - count)


def transform_select(x: A, op: Operator, *, keep_state: Array | None = None, store_state: Array | None = None,
                     out: A | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto",
                     **others: Never) -> A:
    """Applies the operator's hook `store` to the elements that its hook `keep` accepts, in order and in one pass. Waits for
    their number.

    x           an array of one dimension
    op          an installed name ("halves_of_positive"), a file, an Input, or CUDA source with FATLINK_KEEP and FATLINK_STORE
    keep_state  an array that `keep` receives in addition to the element; None: a null pointer
    store_state  as `keep_state`, for `store`
    out         an array of len(x) elements; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.transform_select(numpy.array([3, -1, 2], numpy.float32), "halves_of_positive")
        array([3., 2.], dtype=float16)"""
    if others:
        raise _unknown_arguments("transform_select", others)
    states = {"keep_state": keep_state, "store_state": store_state}
    source, (result,), count = _selection("transform_select", "keep_store", x, op, states, {"out": out}, stream, device, mode)
    return source.kind.first(result.array, count)


def unique_consecutive(x: A, op: Operator = "equal", *, out: A | None = None, stream: Any = None, device: Where = None,
                       mode: Mode = "lto", **others: Never) -> A:
    """Returns the elements that differ from the element before them, in order: of a sorted array, each value once. Waits for
    their number. The result is the beginning of an array of len(x) elements; copy it to free the rest.

    x           an array of one dimension
    op          returns whether an element repeats the one before: "equal", another name, a file, CUDA source, an Input or a
                Python function of both
    out         an array of len(x) elements; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.unique_consecutive(numpy.array([1, 1, 3, 3, 1], numpy.int32))
        array([1, 3, 1], dtype=int32)"""
    if others:
        raise _unknown_arguments("unique_consecutive", others)
    source, (result,), count = _selection("unique", "equal", x, op, {}, {"out": out}, stream, device, mode)
    return source.kind.first(result.array, count)


def sort(x: A, op: Operator = "less", *, key: Operator | None = None, bits: int | None = None, out: A | None = None, stream: Any = None,
         device: Where = None, mode: Mode = "lto", **others: Never) -> A:
    """Returns the elements in sorted order; equal elements keep their order. Numbers are sorted as NumPy sorts them: 0 and -0
    are equal, and NaN is last. "greater" is the reverse order: NaN is first.

    x           an array of one dimension
    op          the order: "less" (ascending), "greater" (descending), or another strict weak order as a name, file,
                source or function
    key         instead of `op`: returns the unsigned integer by which an element is sorted, which is faster than an order:
                a name, a file or source with FATLINK_KEY; of elements of N < 8 bytes, the lower 8 N bits of the key count
    bits        how many bits of the keys are compared, the least significant ones, rounded up to a multiple of 8; fewer bits
                take less time; None: all
    out         an array for the result; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.sort(numpy.array([3, 8, 1], numpy.float32), "greater")
        array([8., 3., 1.], dtype=float32)"""
    if others:
        raise _unknown_arguments("sort", others)
    again = _find_repeated("sort", op, mode, device, (x,), out, 1) if stream is None and key is None and bits is None else None
    if again is not None and (done := again.run((x,), out)) is not None:
        return done
    source = view_of(x, "x")
    _require_one_dimension(source, "sort")
    call = _find_sort("", op, key, bits, source, device, mode)
    result = _output(call, "out", out, source.shape, source, stream)
    names, values = _key_bits(call, bits)
    run(call.prepared, ("in", "out", *names), (source, result, *values), stream)
    if again is not None:
        again.learn(call.prepared, ("in", "out"), (source, result), (source,), result)
    return result.array


def sort_pairs(keys: A, values: Array, op: Operator = "less", *, key: Operator | None = None, bits: int | None = None,
               out: A | None = None, out_values: Array | None = None, stream: Any = None, device: Where = None,
               mode: Mode = "lto", **others: Never) -> tuple[A, Array]:
    """Returns the keys in sorted order, and the values in the order of their keys.

    keys        an array of one dimension
    values      an array of the same length, with elements of 4 or 8 bytes
    op          as in sort
    key         as in sort
    bits        as in sort
    out_values  as `out`, for the values
    out         an array for the keys; None: a new one of the kind of `keys`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.sort_pairs(numpy.array([3, 8, 1], numpy.float32), numpy.array([0, 1, 2], numpy.int32))
        (array([1., 3., 8.], dtype=float32), array([2, 0, 1], dtype=int32))"""
    if others:
        raise _unknown_arguments("sort_pairs", others)
    source, values_view = view_of(keys, "keys"), view_of(values, "values")
    _require_one_dimension(source, "sort_pairs")
    if values_view.element.bytes not in (4, 8) or tuple(values_view.shape) != tuple(source.shape):
        raise UsageError(f"values is an array of {values_view.element} ({values_view.element.bytes} bytes) with the shape "
                         f"{tuple(values_view.shape)}; the keys have {tuple(source.shape)}", input="values",
                         hint="pass as many values as keys, with elements of 4 or 8 bytes")
    call = _find_sort("_pairs" if values_view.element.bytes == 4 else "_pairs_wide", op, key, bits, source, device, mode)
    result = _output(call, "out", out, source.shape, source, stream)
    if out_values is None:
        result_values = values_view.kind.make(values_view, values_view.shape, values_view.element, stream)
    else:
        result_values = view_of(out_values, "out_values")
        require_output("out_values", result_values, lambda element: element is values_view.element, values_view.shape)
    names, sizes = _key_bits(call, bits)
    run(call.prepared, ("in", "in_values", "out", "out_values", *names), (source, values_view, result, result_values, *sizes), stream)
    return result.array, result_values.array


def _find_sort(suffix, op, key, bits, source, device, mode):
    """The algorithm of sort and, by its suffix, of sort_pairs. A radix sort by a key; numbers have one for "less" and
    "greater"."""
    if bits is not None:
        if key is None:
            raise UsageError("bits without key", input="bits", hint="bits is how many bits of the keys are compared: pass key=")
        if isinstance(bits, bool) or not hasattr(bits, "__index__") or not 1 <= bits <= 64:
            raise UsageError(f"bits is {shown(bits)}", input="bits", hint="pass the number of bits of the keys, from 1 to 64")
    if key is not None:
        if op != "less":
            raise UsageError("op and key are both given", input="key", hint="leave out op: the key is the order")
        if callable(key) or isinstance(key, (int, float)):
            raise UsageTypeError(f"key is {'a Python function' if callable(key) else shown(key)}", input="key", hint=(
                'pass CUDA source: key="FATLINK_KEY(float, x) { return fatlink::ascending(fabsf(x)); }"'))
        return find_algorithm(f"radix_sort{suffix}", "key", key, (source,), device, mode)
    name = KEYS_OF_ORDERS.get(name_of(op))
    if name is not None and source.element.cuda_name:
        return find_algorithm(f"radix_sort{suffix}", "key", name, (source,), device, mode)
    return find_algorithm(f"sort{suffix}", "less", op, (source,), device, mode)


def _key_bits(call, bits):
    """The arguments of a radix sort with fewer bits."""
    return ((), ()) if bits is None else (("bits",), (call.prepared.value("bits", int(bits)),))


def histogram(x: A, op: Operator, *, bins: int = 256, state: Array | None = None, out: A | None = None,
              stream: Any = None, device: Where = None, mode: Mode = "lto", **others: Never) -> A:
    """Counts the elements in each bin. The counts are uint64; for PyTorch, int64.

    x           an array of any shape
    op          returns the bin of an element: "byte_bins", "uniform_bins", another name, a file, source or function; elements
                whose bin is not from 0 to bins - 1 are not counted
    bins        the number of bins
    state       an array that the operator receives in addition to the element; None: a null pointer
    out         an array of `bins` elements of int64 or uint64; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.histogram(numpy.array([0, 2, 2], numpy.uint8), "byte_bins", bins=4)
        array([1, 0, 2, 0], dtype=uint64)"""
    if others:
        raise _unknown_arguments("histogram", others)
    source = view_of(x, "x")
    call = find_algorithm("histogram", "bin", op, (source,), device, mode)
    if not isinstance(bins, int) or isinstance(bins, bool) or not 1 <= bins < 2**59:
        raise UsageError(f"bins is {shown(bins)}", input="bins", hint="pass a whole number from 1, whose counts fit into memory")
    if out is None:
        result = source.kind.make(source, (bins,), number_type(source.kind.index_type), stream)
    else:
        result = view_of(out, "out")
        require_output("out", result, lambda element: element.name in ("int64", "uint64"), (bins,))
    run(call.prepared, ("in", "counts", "bins", "state"),
               (source, result, call.prepared.value("bins", bins), _state(call, state)), stream)
    return result.array


# Bytes of the linked images that are kept for calls on the host's memory; the reference device needs about 30 times as many for
# the program that it makes of each, so 250 MB. On GPUs all are kept: dropping them would free nothing (_plans.py).
_LIMIT = 8 << 20


class _ConvertFirst:
    """Stands for a BoundAlgorithm whose operator cannot be linked with a conversion to the type `dtype`."""

    bytes = 0
    is_used = False
    prepared = None


CONVERT_FIRST = _ConvertFirst()
_bound: dict = {}
_gates: dict = {}  # of the calls that are being prepared
_lock = make_lock()


class BoundAlgorithm:
    """A prepared library of an algorithm, with its operator."""

    __slots__ = ("prepared", "operator", "identity", "elements", "bytes", "is_used")

    def __init__(self, prepared, operator):
        self.bytes = 0 if prepared.device.is_gpu else prepared.image_bytes
        self.is_used = False  # since the last time that calls were dropped
        self.prepared = prepared
        self.operator = operator
        self.identity = None if operator.identity is None else prepared.value("init", operator.identity) if (
            "init" in prepared.by_name) else None
        self.elements = {argument.name: argument.element for argument in prepared.arguments}  # None of structs
        if operator.result is not None and "out" in self.elements:
            self._set_result(operator.result, prepared.by_name["out"])

    def _set_result(self, element, argument):
        """Sets the type of the results to `dtype`. It can only distinguish types that the plan describes in the same way,
        such as bool and uint8."""
        if not is_compatible(element, argument):
            raise UsageTypeError(f"dtype is {element}, but {self.operator.name} makes {argument.type_name}", input="dtype",
                                 hint="leave dtype= out, or pass an operator of this type; it converts the results of Python "
                                      "functions only")
        self.elements[argument.name] = element

    def accepts(self, name, element):
        """Whether arrays of this type may be passed for an argument."""
        return is_compatible(element, self.prepared.by_name[name])

    def require_element(self, name, like):
        """The struct type of an argument, taken from the array `like`."""
        return element_for_output(self.prepared.by_name[name], like)

    def initial(self, value, element=None):
        """The Value of `init`; `element` is its type. If `value` is None, the operator's identity."""
        if value is not None:
            return self.prepared.value("init", value, element and element.dtype)
        if self.identity is None:
            raise UsageError(f"the identity of {self.operator.name} is not known", input="init", code="no-identity",
                             hint=f"pass init=, a value of {self.prepared.by_name['init'].type_name} with which the result begins: "
                                  "the operator's identity, or init=x[0] where the operator picks one of two elements, as argmax does")
        return self.identity


def find_algorithm(algorithm, base, op, sources, device, mode, dtype=None, out=None):
    """The BoundAlgorithm for these arrays, kept for the next call, or CONVERT_FIRST. `out`: the View of the array for results
    if its struct may differ from the sources'."""
    first = sources[0]
    if dtype is not None:
        dtype = element_type(dtype)
    key = (algorithm, op if isinstance(op, str) and op.isidentifier() else key_of(op), first.element, first.place, mode, device)
    if len(sources) > 1 or dtype is not None:
        key = (*key, dtype, *[source.element for source in sources[1:]])
    if out is not None:
        key = (*key, out.element)
    try:
        entry = _bound.get(key)
    except TypeError:
        raise _unhashable(op, base, mode, device) from None
    if entry is not None and (len(sources) == 1 or _are_together(sources)):
        entry.is_used = True
        return entry
    return _prepare(key, algorithm, base, op, sources, device, mode, dtype, out and out.element)


def _unhashable(op, base, mode, device):
    """The error for the argument that cannot be hashed."""
    try:
        hash(op)
    except TypeError:
        return not_an_operator(op, base)
    mode_number(mode)
    as_device(device)
    return not_an_operator(op, base)


def _are_together(sources):
    place = sources[0].place
    return all(source.place == place for source in sources)


def _prepare(key, algorithm, base, op, sources, device, mode, dtype, out):
    names = ("in",) if len(sources) == 1 else tuple(f"in{index + 1}" for index in range(len(sources)))
    place = require_one_place(dict(zip("xyz", sources)))
    target = device_for(place, device)
    mode_number(mode)
    with _lock:
        gate = _gates.setdefault(key, make_lock())
    try:
        with gate:  # others link at the same time, the same call waits
            entry = _bound.get(key)
            if entry is None:
                try:
                    entry = _try_sizes(algorithm, base, op, names, sources, target, mode, dtype, out)
                except (RefusedError, CompileError, UsageError) as cause:
                    elements = [dtype] if base == "combine" and dtype is not None else [source.element for source in sources]
                    if (error := explained(cause, op, algorithm, base, elements)) is cause:
                        raise
                    raise error from cause
                _keep(key, entry)
    finally:
        _gates.pop(key, None)
    return entry


def _warn_of_names(operator, prepared, names, sources):
    for name, array, source in zip(names, "xyz", sources):
        type_name = prepared.by_name[name].type_name
        if type_name.startswith("{") and source.element.name != type_name:
            warn_of_names(array, source.element, operator.name, type_name)


def _forget_gpus():
    """In a child process: makes the next call for a GPU fail when it prepares its library, before it makes an array."""
    for key in [key for key, entry in _bound.items() if entry.prepared is not None and entry.prepared.device.is_gpu]:
        del _bound[key]


after_configure.append(_bound.clear)  # the next calls link with the new settings
after_fork.append(_forget_gpus)


def _keep(key, algorithm):
    with _lock:
        size = sum(entry.bytes for entry in _bound.values()) + algorithm.bytes
        for oldest in [kept for kept, entry in _bound.items() if entry.bytes] * 2:
            if size <= _LIMIT:
                break
            entry = _bound.pop(oldest, None)
            if entry is not None and entry.is_used:
                entry.is_used = False
                _bound[oldest] = entry  # a second chance
            elif entry is not None:
                size -= entry.bytes
        _bound[key] = algorithm


def _try_sizes(algorithm, base, op, names, sources, device, mode, result, out):
    """Finds the library for the size of the elements. For load_combine it is the size of the results, which the operator
    states."""
    elements = [source.element for source in sources]
    if base == "combine" and result is not None:
        return _try_converted(algorithm, op, sources, device, mode, result)
    if base.startswith("map"):
        operators = candidates(op, base, elements, mode, result, out=out)
        return _try_candidates(operators, algorithm, base, op, names, sources, device, mode)
    sizes = [size_of_library(elements[0], algorithm)]
    if base == "load_combine":
        sizes += [size for size in SIZES if size not in sizes]
    failure = None
    while sizes:
        size = sizes.pop(0)
        try:
            operators = candidates(op, base, elements, mode, result, size, out)
            return _try_candidates(operators, f"{algorithm}_{size}", base, op, names, sources, device, mode)
        except (RefusedError, CompileError) as cause:
            failure = failure or cause
            sizes = _remaining_sizes(sizes, cause, base)
    raise failure


def _try_converted(algorithm, op, sources, device, mode, result):
    """Finds the library whose hook `load` converts each element to the type `result`, in which the operator combines them.
    CONVERT_FIRST if the operator is already compiled for libraries without `load`."""
    contract = f"load_combine_{result.bytes}"
    conversion = Conversion(sources[0].element, result)
    operators = candidates(op, "combine", [result], mode, result, contract=contract)
    for operator in operators:
        operator.make = _with_conversion(label_of(op), operator.make, conversion, contract)
    try:
        return _try_candidates(operators, f"transform_{algorithm}_{result.bytes}", "combine", op, ("in",), sources, device, mode)
    except RefusedError as cause:
        if cause.code != "contract-mismatch":
            raise
        return CONVERT_FIRST


def _with_conversion(label, make, conversion, contract):
    return lambda: [_for_operator(label, lambda: conversion.compile("load_combine", contract)), *make()]


def _remaining_sizes(sizes, cause, base):
    """The sizes to try after an error that shows that the current size is wrong."""
    if isinstance(cause, RefusedError):
        return sizes if cause.code == "contract-mismatch" else []
    _, _, size = cause.message.partition(f"use the contract {base}_")
    digits = size[:len(size) - len(size.lstrip("0123456789"))]
    return [int(digits)] if digits and int(digits) in sizes else []


def _try_candidates(operators, library, base, op, names, sources, device, mode):
    failure = None
    for operator in operators:
        try:
            prepared = Prepared(device, library, operator.make(), mode)
        except RefusedError as cause:
            failure = failure or cause
            if operator.is_guess:  # an installed name that is of another contract
                continue
            raise
        failure = wrong_type(operator.name if name_of(op) else op, [prepared.by_name[name] for name in names], base,
                             [source.element for source in sources])
        if failure is None:
            _warn_of_names(operator, prepared, names, sources)
            return BoundAlgorithm(prepared, operator)
        if not operator.is_guess:
            break
    raise failure


_repeated: dict = {}  # by Repeated.key


class Repeated:
    """A call that can be repeated: an algorithm with an operator, link mode and device, and the types and place of its
    arrays."""

    __slots__ = ("key", "exchange", "settings", "run")

    def __init__(self, key, exchange):
        self.key = key
        self.exchange = exchange
        self.settings = _generation[0]
        self.run = _not_made_yet

    def learn(self, prepared, names, entries, arrays, result):
        """Keeps a call that was made. `arrays`: the Views of the caller's arrays; `result`: the View of the results."""
        algorithm, op = self.key[:2]
        if self.settings != _generation[0] or not op.isidentifier() and not is_source(op):  # a file may be replaced
            return
        for name, entry in zip(names, entries):
            if entry.__class__ is View and (entry.kind is not result.kind or entry.element is not prepared.by_name[name].element):
                return
        slot = Slot(names, prepared._encoded)
        for item, entry in zip(slot.items, entries):
            if entry.__class__ is Value:
                item.value = entry.address
            elif entry.__class__ is not View:  # a state that is not given
                item.count = 0
        has_one_result = algorithm == "reduce" or tuple(result.shape) != tuple(arrays[0].shape)
        self.run = _bind(_Calls(prepared, self.exchange, slot, [entry for entry in entries if entry.__class__ is Value]),
                         [entries.index(array) for array in arrays], entries.index(result), has_one_result,
                         _maker(arrays[0].array, has_one_result, result.array.dtype), result.kind.increment_version,
                         any(entry.array.dtype.is_complex for entry in (*arrays, result)))
        _repeated[self.key] = self


class _Calls:
    """Memory for calls of the C interface with the same argument names; each piece is used by one thread at a time."""

    def __init__(self, prepared, exchange, slot, values):
        self.keeps = prepared, slot, values
        self.names = {"plan": prepared.handle, "exchange": exchange, "arguments": slot.address, "count": len(slot.items)}
        self.spare = []

    def make(self):
        """The objects of a call, and the address of its struct."""
        objects = (ctypes.c_void_p * self.names["count"])()
        struct = ObjectCall(**self.names, objects=ctypes.addressof(objects))
        return objects, ctypes.addressof(struct), struct


def _not_made_yet(arrays, out):
    """The function of a call that was not made yet."""


def _is_special(array):
    """Whether an array has properties that DLPack does not express, or refers to memory that was freed."""
    return array.requires_grad or array.is_neg() or array.is_conj() or array.storage_offset() and not array.untyped_storage().nbytes()


def _bind(calls, places, result_place, has_one_result, make, mark_written, may_be_conj):
    """Returns the function that repeats a call. It uses only its own variables and handles the first array outside of a loop,
    because every step costs time compared with a launch. `places`: the positions of the arrays among the arguments."""
    place, *more = places
    looks_at_all = more or may_be_conj
    run_objects, spare = c.plan_run_objects, calls.spare

    def run_again(arrays, out):
        """Queues the call and returns `out` or a new array of results. None: nothing was done."""
        first = arrays[0]
        try:
            if first.requires_grad or first.is_neg() or first.storage_offset() and not first.untyped_storage().nbytes():
                return None
            if out is not None and (out.requires_grad or out.is_neg() or out.storage_offset() and not out.untyped_storage().nbytes()
                                    or has_one_result and out.numel() != 1):
                return None
            if looks_at_all and any(_is_special(array) for array in (*arrays, first if out is None else out)):
                return None
        except RuntimeError:  # traced by vmap: it has no storage
            return None
        result = make(first) if out is None else out
        try:
            memory = spare.pop()
        except IndexError:
            memory = calls.make()
        objects, address, _ = memory
        objects[place] = id(first)
        if more:
            for other_place, array in zip(more, arrays[1:]):
                objects[other_place] = id(array)
        objects[result_place] = id(result)
        error = run_objects(address)
        spare.append(memory)
        if error is not None:
            if c.error_get_kind(error) != _USAGE:
                raise error_of(error)
            c.error_free(error)
            return None
        if out is not None:
            mark_written(out)
        return result
    return run_again


def _maker(source, has_one_result, dtype):
    """Returns the function that makes an array for results from the first array of a call: with its shape, or without
    dimensions. PyTorch's empty_like takes half the time of a call with a stated type and device."""
    torch = sys.modules["torch"]
    if has_one_result:
        model = torch.empty((), dtype=dtype, device=source.device)
        return lambda first: torch.empty_like(model)
    if dtype is source.dtype:
        return torch.empty_like
    return lambda first: torch.empty_like(first, dtype=dtype)


def _find_repeated(algorithm, op, mode, device, arrays, out, dimensions=0):
    """The Repeated for this kind of call, which may not have been made yet; None if such calls cannot be repeated.
    `dimensions`: as in a fatlink_array_exchange."""
    first = arrays[0]
    array_class = first.__class__
    if array_class not in exchanges or out is not None and out.__class__ is not array_class:
        return None
    key = algorithm, op, mode, device, first.get_device(), first.dtype, None if out is None else out.dtype
    if len(arrays) > 1:
        if any(array.__class__ is not array_class for array in arrays):
            return None
        key = (*key, *[array.dtype for array in arrays[1:]])
    try:
        return _repeated[key]
    except KeyError:
        pass
    except TypeError:  # an operator or mode that is no text
        return None
    return Repeated(key, exchanges[array_class][dimensions]) if isinstance(op, str) and key[4] != HOST else None


_USAGE = 1  # a fatlink_error_kind
_generation = [0]  # of the settings


def _forget_repeated():
    _generation[0] += 1
    _repeated.clear()


after_configure.append(_forget_repeated)  # the next calls link with the new settings
after_fork.append(_repeated.clear)  # the way of the first call says why a GPU cannot be used

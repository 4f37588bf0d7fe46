# SPDX-License-Identifier: Apache-2.0
"""The algorithms of docs/algorithms.md by name, on a caller's arrays.

A call runs in the caller's current stream, or in `stream`. On GPUs it returns before the work has finished, as operations of
PyTorch and CuPy do; select, partition and transform_select wait for the number of results. On NumPy arrays and CPU tensors the
reference device runs it, and it has finished."""
from __future__ import annotations

from . import _repeated
from ._algorithm_cache import CONVERT_FIRST, find_algorithm, result_type
from ._arguments import shown
from ._arrays import View
from ._devices import HOST
from ._elements import number_type
from ._errors import UsageError, UsageTypeError
from ._operators import conversion_source, is_sum
from ._plans import ABSENT, require_output, run, run_counted, view_of

TYPE_CHECKING = False  # of typing, whose import takes longer than all others here
if TYPE_CHECKING:
    import os
    from typing import Any, Callable, Literal, Union

    from ._devices import Device
    from ._inputs import Input

    Array = Any  # of PyTorch, CuPy, JAX or NumPy, or with __cuda_array_interface__ or __dlpack__
    Operator = Union[str, os.PathLike, Input, Callable]
    Where = Union[str, Device, None]
    Mode = Literal["lto", "ptx"]
else:  # typing.get_type_hints needs the names
    Any = Array = Operator = Where = Mode = object


def _require_one_dimension(array_view, name):
    if len(array_view.shape) != 1:
        raise UsageError(f"{name} takes arrays of one dimension; this one has the shape {tuple(array_view.shape)}", input=name,
                         hint="pass x.reshape(-1)")


def _output(call, name, given, shape, like, stream):
    """The view of an output: of the caller's array, or of a new one."""
    if given is None:
        return like.kind.make(like, shape, call.elements[name] or call.require_element(name, like), stream)
    array_view = view_of(given, name)
    require_output(name, array_view, lambda other: call.accepts(name, other), shape)
    return array_view


def _given_struct(given, name):
    """The view of the caller's array for results, if its elements are structs, whose fields are compared with the operator's."""
    array_view = None if given is None else view_of(given, name)
    return array_view if array_view is not None and array_view.element.dtype is not None else None


def _single_output(call, given, model, stream):
    """The view of an output of one element."""
    result = _output(call, "out", given, None if given is not None else (), model, stream)
    if result.count != 1:
        raise UsageError(f"out has {result.count} elements; the result is one", input="out", hint="pass an array of the shape ()")
    return result


def _state(call, array, name="state"):
    """The view of a state, whose type is checked where the operator's file states it."""
    if array is None:
        return ABSENT
    state = view_of(array, name)
    if call.prepared.state_type is not None:
        call.prepared.state_type.check(name, state)
    return state


def _accumulator(source, op, dtype, out):
    """The type that elements are converted to before they are combined; None: their own. Integers of fewer than 64 bits are
    added and multiplied as the framework's own sum does it, or in the type of `out`."""
    if dtype is not None:
        element = result_type(dtype)
    elif source.element.sum_type is None or not is_sum(op):
        return None
    elif out is None:
        element = number_type(source.kind.sum_type(source.element.sum_type))
    else:
        element = view_of(out, "out").element
        if not element.name.startswith(("int", "uint")):
            element = number_type(source.element.sum_type)  # the error about out names it
    return None if element is source.element else element


def _converted(source, element, stream, device, mode):
    """The numbers of an array as another type: a View of a new array."""
    call = find_algorithm("map1", "map1", conversion_source("map1", source.element, element), (source,), device, mode, element)
    result = source.kind.make(source, source.shape, element, stream)
    run(call.prepared, _MAPS[1][1], (result, source, ABSENT), stream)
    return result


def reduce(x: Array, op: Operator = "add", *, dtype: Any = None, init: Any = None, out: Array | None = None, stream: Any = None,
           device: Where = None, mode: Mode = "lto") -> Array:
    """Folds all elements of `x` with an operator, in order, starting with `init`: an array without dimensions.

    dtype   the name of the type ("int64") that elements are converted to before they are combined, and of the result. None: with
            "add" and "multiply", for integers of fewer than 64 bits and bool, that of the framework's own sum (int64 or uint64;
            PyTorch int64; JAX 32 bits unless jax_enable_x64), or that of `out`; otherwise the elements' own type
    init    a number, or bytes or a tuple for a struct; None: the identity of "add", "multiply", "max", "min" and "abs_max"
    out     an array of the shape () or (1,) for the result"""
    again = _repeated.find("reduce", op, mode, device, (x,), out, -1) if dtype is None and init is None and stream is None else None
    if again is not None and (done := again.run((x,), out)) is not None:
        return done
    source = given = view_of(x, "x")
    element = _accumulator(source, op, dtype, out)
    call = find_algorithm("reduce", "combine", op, (source,), device, mode, element)
    if call is CONVERT_FIRST:
        source = _converted(source, element, stream, device, mode)
        call = find_algorithm("reduce", "combine", op, (source,), device, mode)
    result = _single_output(call, out, source, stream)
    names, entries = ("in", "out", "init"), (source, result, call.initial(init, source.element))
    run(call.prepared, names, entries, stream)
    if again is not None and source is given:
        again.learn(call.prepared, names, entries, (source,), result)
    return source.kind.result(result.array) if out is None else out


def transform_reduce(x: Array, op: Operator, *, dtype: Any = None, init: Any = None, state: Array | None = None,
                     out: Array | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto") -> Array:
    """As reduce, of what the operator's hook `load` makes of each element, in one pass: an installed name ("sum_squares"), or
    CUDA source with FATLINK_LOAD and FATLINK_COMBINE. `init` may be left out of names that begin with "sum_" or "count_".
    The operator states the type of its results; a `dtype` that is another one is refused."""
    source = view_of(x, "x")
    call = find_algorithm("transform_reduce", "load_combine", op, (source,), device, mode, dtype)
    result = _single_output(call, out, source, stream)
    run(call.prepared, ("in", "out", "init", "state"),
               (source, result, call.initial(init), _state(call, state)), stream)
    return source.kind.result(result.array) if out is None else out


def segmented_reduce(x: Array, offsets: Array, op: Operator = "add", *, dtype: Any = None, init: Any = None,
                     out: Array | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto") -> Array:
    """Folds each segment of `x`: segment `i` is x[offsets[i]:offsets[i + 1]]. `offsets`: int64 or uint64, one more than there
    are segments, not decreasing, at most len(x); they are not checked, and wrong ones read outside of the array. `dtype`: as of
    reduce; elements of another type are converted in a pass before."""
    source, offsets_view = view_of(x, "x"), view_of(offsets, "offsets")
    _require_one_dimension(source, "segmented_reduce")
    if offsets_view.element.name not in ("int64", "uint64") or len(offsets_view.shape) != 1 or offsets_view.count < 1:
        raise UsageError(f"offsets is an array of {offsets_view.element} with the shape {tuple(offsets_view.shape)}",
                         input="offsets", hint="pass int64 or uint64, one dimension, one element more than there are segments")
    if (element := _accumulator(source, op, dtype, out)) is not None:
        source = _converted(source, element, stream, device, mode)
    call = find_algorithm("segmented_reduce", "combine", op, (source,), device, mode)
    result = _output(call, "out", out, (offsets_view.count - 1,), source, stream)
    run(call.prepared, ("in", "offsets", "out", "init"), (source, offsets_view, result, call.initial(init, source.element)), stream)
    return result.array


def _for_scan(source, op, dtype, out, stream, device, mode):
    """The array in the type in which it is scanned, and whether it is a new one, which may be the result's too."""
    element = _accumulator(source, op, dtype, out)
    return (source, False) if element is None else (_converted(source, element, stream, device, mode), True)


def scan(x: Array, op: Operator = "add", *, dtype: Any = None, out: Array | None = None, stream: Any = None,
         device: Where = None, mode: Mode = "lto") -> Array:
    """Inclusive scan: element i combines x[0] to x[i]. `out` may be `x`. `dtype`: as of reduce; elements of another type are
    converted in a pass before."""
    again = _repeated.find("scan", op, mode, device, (x,), out, 1) if dtype is None and stream is None else None
    if again is not None and (done := again.run((x,), out)) is not None:
        return done
    source = view_of(x, "x")
    _require_one_dimension(source, "scan")
    source, is_new = _for_scan(source, op, dtype, out, stream, device, mode)
    call = find_algorithm("scan", "combine", op, (source,), device, mode)
    result = source if is_new and out is None else _output(call, "out", out, source.shape, source, stream)
    run(call.prepared, ("in", "out"), (source, result), stream)
    if again is not None and not is_new:
        again.learn(call.prepared, ("in", "out"), (source, result), (source,), result)
    return result.array


def exclusive_scan(x: Array, op: Operator = "add", *, dtype: Any = None, init: Any = None, out: Array | None = None,
                   stream: Any = None, device: Where = None, mode: Mode = "lto") -> Array:
    """Exclusive scan: element i combines `init` and x[0] to x[i - 1]. `out` may be `x`. `dtype`: as of scan."""
    again = _repeated.find("exclusive_scan", op, mode, device, (x,), out, 1) if dtype is None and init is None and stream is None else None
    if again is not None and (done := again.run((x,), out)) is not None:
        return done
    source = view_of(x, "x")
    _require_one_dimension(source, "exclusive_scan")
    source, is_new = _for_scan(source, op, dtype, out, stream, device, mode)
    call = find_algorithm("exclusive_scan", "combine", op, (source,), device, mode)
    result = source if is_new and out is None else _output(call, "out", out, source.shape, source, stream)
    names, entries = ("in", "out", "init"), (source, result, call.initial(init, source.element))
    run(call.prepared, names, entries, stream)
    if again is not None and not is_new:
        again.learn(call.prepared, names, entries, (source,), result)
    return result.array


# map: by the number of arrays: the library, and the names of its arguments.
_MAPS = {1: ("map1", ("out", "in", "state")), 2: ("map2", ("out", "in1", "in2", "state")),
         3: ("map3", ("out", "in1", "in2", "in3", "state"))}


def map(x: Array, y: Array | None = None, z: Array | None = None, *, op: Operator | None = None, dtype: Any = None,
        state: Array | None = None, out: Array | None = None, stream: Any = None, device: Where = None,
        mode: Mode = "lto") -> Array:
    """Applies the operator to each element of one to three arrays of equal shape.

    dtype   for a Python function: the name of the results' type ("float32"); None: that of the arrays, unless the function
            returns another kind of number"""
    if op is None:
        text = y if isinstance(y, str) else getattr(y, "__name__", None) if callable(y) else None
        raise UsageTypeError("map was given no operator", input="op", hint=f"pass op={text!r}" if isinstance(y, str) else
                             f"pass op={text}" if text else 'pass op="square", CUDA source or a Python function')
    arrays = (x,) if y is None and z is None else (x, y) if z is None else (x, y, z)
    again = _repeated.find("map", op, mode, device, arrays, out) if state is None and dtype is None and stream is None else None
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
    """Runs a library that states in `count` how many results it has: that number."""
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


def select(x: Array, op: Operator, *, state: Array | None = None, out: Array | None = None, stream: Any = None,
           device: Where = None, mode: Mode = "lto") -> Array:
    """The elements that a predicate accepts, in order. Waits for their number. The result is the beginning of an array of
    len(x) elements: copy it to free the rest."""
    source, (result,), count = _selection("select", "keep", x, op, {"state": state}, {"out": out}, stream, device, mode)
    return source.kind.first(result.array, count)


def partition(x: Array, op: Operator, *, state: Array | None = None, out: Array | None = None, rejected: Array | None = None,
              stream: Any = None, device: Where = None, mode: Mode = "lto") -> tuple[Array, Array]:
    """The elements that a predicate accepts, and the others, both in order. Waits for their number."""
    source, results, count = _selection("partition", "keep", x, op, {"state": state}, {"out": out, "rejected": rejected}, stream,
                                        device, mode)
    return source.kind.first(results[0].array, count), source.kind.first(results[1].array, source.count - count)


def transform_select(x: Array, op: Operator, *, keep_state: Array | None = None, store_state: Array | None = None,
                     out: Array | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto") -> Array:
    """What the operator's hook `store` makes of the elements that its hook `keep` accepts, in order and in one pass: an installed
    name ("halves_of_positive"), or CUDA source with FATLINK_KEEP and FATLINK_STORE. Waits for their number."""
    states = {"keep_state": keep_state, "store_state": store_state}
    source, (result,), count = _selection("transform_select", "keep_store", x, op, states, {"out": out}, stream, device, mode)
    return source.kind.first(result.array, count)


def sort(x: Array, op: Operator = "less", *, out: Array | None = None, stream: Any = None, device: Where = None,
         mode: Mode = "lto") -> Array:
    """The elements in the order of `op`, "less", "greater" or another strict weak order; equal ones keep their order."""
    again = _repeated.find("sort", op, mode, device, (x,), out, 1) if stream is None else None
    if again is not None and (done := again.run((x,), out)) is not None:
        return done
    source = view_of(x, "x")
    _require_one_dimension(source, "sort")
    call = find_algorithm("sort", "less", op, (source,), device, mode)
    result = _output(call, "out", out, source.shape, source, stream)
    run(call.prepared, ("in", "out"), (source, result), stream)
    if again is not None:
        again.learn(call.prepared, ("in", "out"), (source, result), (source,), result)
    return result.array


def sort_pairs(keys: Array, values: Array, op: Operator = "less", *, out: Array | None = None, out_values: Array | None = None,
               stream: Any = None, device: Where = None, mode: Mode = "lto") -> tuple[Array, Array]:
    """The keys in the order of `op`, and the values, of 4 or 8 bytes, which move with their keys."""
    source, values_view = view_of(keys, "keys"), view_of(values, "values")
    _require_one_dimension(source, "sort_pairs")
    if values_view.element.bytes not in (4, 8) or tuple(values_view.shape) != tuple(source.shape):
        raise UsageError(f"values is an array of {values_view.element} with the shape {tuple(values_view.shape)}; the keys have "
                         f"{tuple(source.shape)}", input="values", hint="pass as many values as keys, of 4 or 8 bytes")
    algorithm = "sort_pairs" if values_view.element.bytes == 4 else "sort_pairs_wide"
    call = find_algorithm(algorithm, "less", op, (source,), device, mode)
    result = _output(call, "out", out, source.shape, source, stream)
    if out_values is None:
        result_values = values_view.kind.make(values_view, values_view.shape, values_view.element, stream)
    else:
        result_values = view_of(out_values, "out_values")
        require_output("out_values", result_values, lambda element: element is values_view.element, values_view.shape)
    run(call.prepared, ("in", "in_values", "out", "out_values"), (source, values_view, result, result_values), stream)
    return result.array, result_values.array


def histogram(x: Array, op: Operator, *, bins: int = 256, state: Array | None = None, out: Array | None = None,
              stream: Any = None, device: Where = None, mode: Mode = "lto") -> Array:
    """How many elements are in each bin: `op` gives the bin of an element; elements in no bin from 0 to bins - 1 are not counted.
    The counts are uint64, of PyTorch int64."""
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

# SPDX-License-Identifier: Apache-2.0
"""Algorithms on runs of equal keys, which are consecutive elements of an array; _algorithms.py says what all algorithms have
in common. In a sorted array, a run has all elements of one value."""
from __future__ import annotations

from ._algorithms import (A, Any, Array, Mode, Never, Operator, Where, accumulator, converted, counted, elements_of, find_loaded, first, limit_of,
                          output_for,
                          require_load, require_one_dimension, selection, unknown_arguments)
from ._elements import number_type
from ._errors import UsageError
from ._kept_calls import find_algorithm
from ._operators import not_an_operator
from ._plans import require_output, run, view_of


def unique_consecutive(x: A, op: Operator = "equal", *, n: Array | None = None, out: A | None = None, count: Array | None = None, stream: Any = None, device: Where = None,
                       mode: Mode = "lto", **others: Never) -> A:
    """Returns the elements that differ from the element before them, in order: of a sorted array, each value once. Waits for
    their number. The result is the beginning of an array of len(x) elements; copy it to free the rest.

    x           an array of one dimension
    op          returns whether an element repeats the one before: "equal", another name, a file, CUDA source, an Input or a
                Python function of both
    n           as in reduce
    out         as in select
    count       as in select
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.unique_consecutive(numpy.array([1, 1, 3, 3, 1], numpy.int32))
        array([1, 3, 1], dtype=int32)"""
    if others:
        raise unknown_arguments("unique_consecutive", others)
    source, (result,), number = selection("unique", "equal", x, op, {}, {"out": out}, count, stream, device, mode,
                                          n=n)
    return first(source, result.array, number)


def _views(name, keys, values, values_name, load=None):
    keys_view = view_of(keys, "keys")
    values_view = view_of(values, values_name) if load is None else elements_of(values, load, keys_view)
    require_one_dimension(keys_view, name)
    if tuple(values_view.shape) != tuple(keys_view.shape):
        raise UsageError(f"{values_name} has the shape {tuple(values_view.shape)}, keys has {tuple(keys_view.shape)}",
                         input=values_name, hint="pass as many values as keys, both in one dimension")
    return keys_view, values_view


def _require_equal(equal):
    if equal is None:  # which stands for no keys elsewhere
        raise not_an_operator(equal, "same_key")


def _keys_of_runs(call, given, keys, stream):
    """The view of an array for the key of each run; bool keys stay bool."""
    if given is None:
        return keys.kind.make(keys, keys.shape, keys.element, stream)
    return _output_of_runs(call, "out_keys", given, keys, stream)


def _output_of_runs(call, name, given, like, stream):
    """The view of an array for a result of each run, of which there may be as many as keys."""
    result = output_for(call, name, given, None if given is not None else like.shape, like, stream)
    if result.count < like.count or len(result.shape) != 1:
        raise UsageError(f"{name} has the shape {tuple(result.shape)}; there are {like.count} keys", input=name,
                         hint="pass an array of one dimension with as many elements as keys")
    return result


def reduce_by_key(keys: A, x: Array, op: Operator = "add", *, equal: Operator = "equal", load: Operator | None = None,
                  load_state: Array | None = None, dtype: Any = None,
                  out_keys: A | None = None, n: Array | None = None, out: Array | None = None, count: Array | None = None, stream: Any = None,
                  device: Where = None, mode: Mode = "lto", **others: Never) -> tuple[A, Array]:
    """Folds the elements of `x` whose keys are equal and consecutive. Returns the key and the result of each run of equal keys,
    and waits for their number. The results are the beginnings of arrays of len(keys) elements; copy them to free the rest.

    keys        an array of one dimension; sorted keys make one result of each key
    x           the values, as many as keys; with `load` also range(len(keys)), as in reduce
    op          as in reduce
    equal       returns whether a key is equal to the key before it: "equal", another name, a file, CUDA source with
                FATLINK_SAME_KEY, an Input or a Python function of both
    load        computes the values from the elements of `x`, as in reduce
    load_state  as in reduce
    dtype       as in reduce; without `load`, elements of another type are first converted in a separate pass
    out_keys    as `out`, for the keys
    n           as in reduce, of the keys
    out         an array of len(keys) elements for the results; None: a new one of the kind of `x`
    count       as in select, for the number of runs
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.reduce_by_key(numpy.array([1, 1, 3], numpy.int32), numpy.array([10, 20, 30], numpy.float32))
        (array([1, 3], dtype=int32), array([30., 30.], dtype=float32))"""
    if others:
        raise unknown_arguments("reduce_by_key", others)
    _require_equal(equal)
    require_load(load, load_state=load_state)
    keys_view, source = _views("reduce_by_key", keys, x, "x", load)
    if load is None and (element := accumulator(source, op, dtype, out)) is not None:
        source = converted(source, element, op, stream, device, mode)
    call, state_names, states = find_loaded("reduce_by_key", "combine", op, (source, keys_view), load, load_state, device, mode, dtype,
                                            out, equal)
    result_keys = _keys_of_runs(call, out_keys, keys_view, stream)
    result = _output_of_runs(call, "out", out, source, stream)
    limit_names, limits = limit_of(call, n)
    number = counted(call, ("keys", "in", "out_keys", "out", "count", *state_names, *limit_names), keys_view,
                     (source, result_keys, result), (*states, *limits), stream, count)
    return first(keys_view, result_keys.array, number), first(source, result.array, number)


def scan_by_key(keys: Array, x: A, op: Operator = "add", *, equal: Operator = "equal", load: Operator | None = None,
                load_state: Array | None = None, dtype: Any = None, n: Array | None = None, out: A | None = None,
                stream: Any = None, device: Where = None, mode: Mode = "lto", **others: Never) -> A:
    """Inclusive scan of each run of equal keys: element i combines the elements of `x` from the beginning of its run to x[i].

    keys        an array of one dimension
    x           the values, as many as keys; with `load` also range(len(keys)), as in reduce
    op          as in reduce
    equal       as in reduce_by_key
    load        computes the values from the elements of `x`, as in reduce
    load_state  as in reduce
    dtype       as in reduce; without `load`, elements of another type are first converted in a separate pass
    n           as in reduce, of the keys; elements of the result beyond n are not written
    out         an array for the result, which may be `x`; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.scan_by_key(numpy.array([1, 1, 3], numpy.int32), numpy.array([10, 20, 30], numpy.float32))
        array([10., 30., 30.], dtype=float32)"""
    if others:
        raise unknown_arguments("scan_by_key", others)
    _require_equal(equal)
    require_load(load, load_state=load_state)
    keys_view, source = _views("scan_by_key", keys, x, "x", load)
    element = accumulator(source, op, dtype, out) if load is None else None
    if element is not None:
        source = converted(source, element, op, stream, device, mode)
    call, state_names, states = find_loaded("scan_by_key", "combine", op, (source, keys_view), load, load_state, device, mode, dtype, out,
                                            equal)
    is_in_place = element is not None and out is None
    result = source if is_in_place else output_for(call, "out", out, source.shape, source, stream)
    limit_names, limits = limit_of(call, n)
    run(call.prepared, ("keys", "in", "out", *state_names, *limit_names), (keys_view, source, result, *states, *limits), stream)
    return result.array


def unique_by_key(keys: A, values: Array, equal: Operator = "equal", *, out_keys: A | None = None, n: Array | None = None, out: Array | None = None,
                  count: Array | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto",
                  **others: Never) -> tuple[A, Array]:
    """Returns the key and the first value of each run of equal keys, and waits for their number. The results are the beginnings
    of arrays of len(keys) elements; copy them to free the rest.

    keys        an array of one dimension; of sorted keys, each key is returned once
    values      an array of the same length, with elements of 4 or 8 bytes
    equal       as in reduce_by_key
    out_keys    as `out`, for the keys
    n           as in reduce, of the keys
    out         an array of len(keys) elements for the values; None: a new one of the kind of `values`
    count       as in select, for the number of runs
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.unique_by_key(numpy.array([1, 1, 3], numpy.int32), numpy.array([10, 20, 30], numpy.float32))
        (array([1, 3], dtype=int32), array([10., 30.], dtype=float32))"""
    if others:
        raise unknown_arguments("unique_by_key", others)
    _require_equal(equal)
    keys_view, source = _views("unique_by_key", keys, values, "values")
    if source.element.bytes not in (4, 8):
        raise UsageError(f"values is an array of {source.element} ({source.element.bytes} bytes)", input="values",
                         hint="pass values of 4 or 8 bytes, such as indexes, and index the other arrays with them")
    library = "unique_by_key" if source.element.bytes == 4 else "unique_by_key_wide"
    call = find_algorithm(library, "same_key", equal, (keys_view,), device, mode)
    result_keys = _keys_of_runs(call, out_keys, keys_view, stream)
    if out is None:
        result = source.kind.make(source, source.shape, source.element, stream)
    else:
        result = view_of(out, "out")
        require_output("out", result, lambda element: element is source.element, source.shape)
    limit_names, limits = limit_of(call, n)
    number = counted(call, ("keys", "in", "out_keys", "out", "count", *limit_names), keys_view, (source, result_keys, result), limits,
                     stream, count)
    return first(keys_view, result_keys.array, number), first(source, result.array, number)


def run_lengths(keys: A, equal: Operator = "equal", *, out_keys: A | None = None, n: Array | None = None, out: Array | None = None,
                count: Array | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto",
                **others: Never) -> tuple[A, Array]:
    """Returns the key and the length of each run of equal keys (a run-length encoding), and waits for their number. The results
    are the beginnings of arrays of len(keys) elements; copy them to free the rest. The lengths are uint64; for PyTorch, int64.

    keys        an array of one dimension
    equal       as in reduce_by_key
    out_keys    as `out`, for the keys
    n           as in reduce, of the keys
    out         an array of len(keys) elements of int64 or uint64 for the lengths; None: a new one of the kind of `keys`
    count       as in select, for the number of runs
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.run_lengths(numpy.array([1, 1, 3], numpy.int32))
        (array([1, 3], dtype=int32), array([2, 1], dtype=uint64))"""
    if others:
        raise unknown_arguments("run_lengths", others)
    _require_equal(equal)
    source = view_of(keys, "keys")
    require_one_dimension(source, "run_lengths")
    call = find_algorithm("run_lengths", "same_key", equal, (source,), device, mode)
    result_keys = _keys_of_runs(call, out_keys, source, stream)
    if out is None:
        lengths = source.kind.make(source, source.shape, number_type(source.kind.index_type), stream)
    else:
        lengths = view_of(out, "out")
        require_output("out", lengths, lambda element: element.name in ("int64", "uint64"), source.shape)
    limit_names, limits = limit_of(call, n)
    number = counted(call, ("keys", "out_keys", "lengths", "count", *limit_names), source, (result_keys, lengths), limits, stream, count)
    return first(source, result_keys.array, number), first(source, lengths.array, number)

# SPDX-License-Identifier: Apache-2.0
"""Sorts, and algorithms on sorted arrays; _algorithms.py says what all algorithms have in common."""
from __future__ import annotations

from ._algorithms import A, Any, Array, Mode, Never, Operator, Side, Where, output_for, require_offsets, require_one_dimension, unknown_arguments
from ._arguments import shown
from ._arrays import require_one_place
from ._elements import number_type
from ._errors import UsageError, UsageTypeError
from ._kept_calls import find_algorithm, find_repeated
from ._operators import KEYS_OF_ORDERS, name_of
from ._plans import require_output, run, view_of


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
        raise unknown_arguments("sort", others)
    again = find_repeated("sort", op, mode, device, (x,), out, 1) if stream is None and key is None and bits is None else None
    if again is not None and (done := again.run((x,), out)) is not None:
        return done
    source = view_of(x, "x")
    require_one_dimension(source, "sort")
    call = find_sort("", op, key, bits, source, device, mode)
    result = output_for(call, "out", out, source.shape, source, stream)
    names, values = key_bits(call, bits)
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
        raise unknown_arguments("sort_pairs", others)
    source, values_view = view_of(keys, "keys"), view_of(values, "values")
    require_one_dimension(source, "sort_pairs")
    if values_view.element.bytes not in (4, 8) or tuple(values_view.shape) != tuple(source.shape):
        raise UsageError(f"values is an array of {values_view.element} ({values_view.element.bytes} bytes) with the shape "
                         f"{tuple(values_view.shape)}; the keys have {tuple(source.shape)}", input="values",
                         hint="pass as many values as keys, with elements of 4 or 8 bytes")
    call = find_sort("_pairs" if values_view.element.bytes == 4 else "_pairs_wide", op, key, bits, source, device, mode)
    result = output_for(call, "out", out, source.shape, source, stream)
    if out_values is None:
        result_values = values_view.kind.make(values_view, values_view.shape, values_view.element, stream)
    else:
        result_values = view_of(out_values, "out_values")
        require_output("out_values", result_values, lambda element: element is values_view.element, values_view.shape)
    names, sizes = key_bits(call, bits)
    run(call.prepared, ("in", "in_values", "out", "out_values", *names), (source, values_view, result, result_values, *sizes), stream)
    return result.array, result_values.array


def _check_key(op, key, bits, default):
    """Raises if the arguments of a sort by a key do not go together; `default` is that of `op`."""
    if bits is not None:
        if key is None:
            raise UsageError("bits without key", input="bits", hint="bits is how many bits of the keys are compared: pass key=")
        if isinstance(bits, bool) or not hasattr(bits, "__index__") or not 1 <= bits <= 64:
            raise UsageError(f"bits is {shown(bits)}", input="bits", hint="pass the number of bits of the keys, from 1 to 64")
    if key is not None:
        if op != default:
            raise UsageError("op and key are both given", input="key", hint="leave out op: the key is the order")
        if callable(key) or isinstance(key, (int, float)):
            raise UsageTypeError(f"key is {'a Python function' if callable(key) else shown(key)}", input="key", hint=(
                'pass CUDA source: key="FATLINK_KEY(float, x) { return fatlink::ascending(fabsf(x)); }"'))


def find_sort(suffix, op, key, bits, source, device, mode):
    """The algorithm of sort and, by its suffix, of sort_pairs. A radix sort by a key; numbers have one for "less" and
    "greater"."""
    _check_key(op, key, bits, "less")
    if key is not None:
        return find_algorithm(f"radix_sort{suffix}", "key", key, (source,), device, mode)
    name = KEYS_OF_ORDERS.get(name_of(op))
    if name is not None and source.element.cuda_name:
        return find_algorithm(f"radix_sort{suffix}", "key", name, (source,), device, mode)
    return find_algorithm(f"sort{suffix}", "less", op, (source,), device, mode)


def key_bits(call, bits):
    """The arguments of a radix sort with fewer bits."""
    return ((), ()) if bits is None else (("bits",), (call.prepared.value("bits", int(bits)),))


def segmented_sort(x: A, offsets: Array, op: Operator = "less", *, longest: int | None = None, out: A | None = None,
                   stream: Any = None, device: Where = None, mode: Mode = "lto", **others: Never) -> A:
    """Sorts each segment of `x`: segment `i` is x[offsets[i]:offsets[i + 1]]. Equal elements keep their order. Elements in no
    segment are copied.

    x           an array of one dimension
    offsets     as in segmented_reduce
    op          the order, as in sort
    longest     an upper bound of the lengths of the segments, which saves launches: of the rows of a matrix, their length. A value
                that is too small gives wrong results; None: not known
    out         an array for the result, which may be `x`; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.segmented_sort(numpy.array([3, 1, 2, 0], numpy.int32), numpy.array([0, 3, 4]))
        array([1, 2, 3, 0], dtype=int32)"""
    if others:
        raise unknown_arguments("segmented_sort", others)
    source, offsets_view = view_of(x, "x"), view_of(offsets, "offsets")
    require_one_dimension(source, "segmented_sort")
    require_offsets(offsets_view, source.count)
    if longest is not None and (isinstance(longest, bool) or not hasattr(longest, "__index__") or not 0 <= longest < 2**63):
        raise UsageError(f"longest is {shown(longest)}", input="longest", hint="pass the number of elements of the longest segment")
    call = find_algorithm("segmented_sort", "less", op, (source,), device, mode)
    result = output_for(call, "out", out, source.shape, source, stream)
    bound = () if longest is None else (call.prepared.value("longest", int(longest)),)
    run(call.prepared, ("in", "offsets", "out", "longest")[:3 + len(bound)], (source, offsets_view, result, *bound), stream)
    return result.array


def _two_views(name, x, y, y_name):
    """The views of two arrays of one dimension and one type."""
    source, other = view_of(x, "x"), view_of(y, y_name)
    require_one_dimension(source, name)
    if len(other.shape) != 1:
        raise UsageError(f"{y_name} has the shape {tuple(other.shape)}", input=y_name, hint=f"pass {y_name}.reshape(-1)")
    if other.element is not source.element:
        raise UsageTypeError(f"{y_name} is an array of {other.element}, x of {source.element}", input=y_name,
                             hint="convert one of them")
    if other.place != source.place:
        require_one_place({"x": source, y_name: other})
    return source, other


def merge(x: A, y: A, op: Operator = "less", *, out: A | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto",
          **others: Never) -> A:
    """Merges two sorted arrays. Elements of `x` come before equal elements of `y`.

    x, y        arrays of one dimension and one type, both sorted by `op`; of other arrays, the result is not defined
    op          the order, as in sort
    out         an array of len(x) + len(y) elements for the result; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.merge(numpy.array([1, 4], numpy.int32), numpy.array([2, 3], numpy.int32))
        array([1, 2, 3, 4], dtype=int32)"""
    if others:
        raise unknown_arguments("merge", others)
    source, other = _two_views("merge", x, y, "y")
    call = find_algorithm("merge", "less", op, (source,), device, mode)
    result = output_for(call, "out", out, (source.count + other.count,), source, stream)
    run(call.prepared, ("in1", "in2", "out"), (source, other, result), stream)
    return result.array


def searchsorted(x: A, values: A, op: Operator = "less", *, side: Side = "left", out: Array | None = None,
                 stream: Any = None, device: Where = None, mode: Mode = "lto", **others: Never) -> Array:
    """Finds the index in a sorted array before which each value can be inserted, so that the array remains sorted. The indexes
    are uint64; for PyTorch, int64.

    x           an array of one dimension, sorted by `op`; of another array, the result is not defined
    values      an array of one dimension and the type of `x`
    op          the order, as in sort
    side        "left": before all equal elements of `x` (a lower bound); "right": after them (an upper bound)
    out         an array of len(values) elements of int64 or uint64; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.searchsorted(numpy.array([1, 3, 3], numpy.int32), numpy.array([3, 0], numpy.int32))
        array([1, 0], dtype=uint64)"""
    if others:
        raise unknown_arguments("searchsorted", others)
    if side not in ("left", "right"):
        raise UsageError(f"side is {shown(side)}", input="side", hint='pass "left" or "right"')
    source, wanted = _two_views("searchsorted", x, values, "values")
    call = find_algorithm("lower_bound" if side == "left" else "upper_bound", "less", op, (source,), device, mode)
    if out is None:
        result = source.kind.make(source, wanted.shape, number_type(source.kind.index_type), stream)
    else:
        result = view_of(out, "out")
        require_output("out", result, lambda element: element.name in ("int64", "uint64"), wanted.shape)
    run(call.prepared, ("in", "values", "out"), (source, wanted, result), stream)
    return result.array


def top_k(x: A, k: int, op: Operator = "greater", *, key: Operator | None = None, bits: int | None = None, out: A | None = None,
          out_indexes: Array | None = None, stream: Any = None, device: Where = None, mode: Mode = "lto",
          **others: Never) -> tuple[A, Array]:
    """Returns the first `k` elements of sort(x, op) and their indexes in `x`, without sorting the others. The indexes are uint64;
    for PyTorch, int64.

    x           an array of one dimension
    k           the number of elements, at most len(x) and 2^28
    op          the order: "greater" (the largest elements, in descending order) or "less" (the smallest ones, in ascending order)
    key         instead of `op`: as in sort; the elements with the smallest keys are returned
    bits        as in sort
    out_indexes  an array of `k` elements of int64 or uint64 for the indexes; None: a new one of the kind of `x`
    out         an array of `k` elements; None: a new one of the kind of `x`
    stream      a stream of PyTorch or CuPy, or a CUstream; None: the current stream of the framework
    device      "gpu", "gpu:1", "cpu" or a Device; None: the device of the arrays
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> fatlink.top_k(numpy.array([3, 8, 1], numpy.float32), 2)
        (array([8., 3.], dtype=float32), array([1, 0], dtype=uint64))"""
    if others:
        raise unknown_arguments("top_k", others)
    source = view_of(x, "x")
    require_one_dimension(source, "top_k")
    if isinstance(k, bool) or not hasattr(k, "__index__") or not 0 <= k <= min(source.count, 2**28):
        raise UsageError(f"k is {shown(k)}; x has {source.count} elements", input="k",
                         hint="pass a whole number from 0 to the number of elements, at most 2^28")
    _check_key(op, key, bits, "greater")
    if key is None and (key := KEYS_OF_ORDERS.get(name_of(op))) is None:
        raise UsageError(f"op is {shown(op)}", input="op", code="wrong-operator",
                         hint='pass "greater" or "less"; for another order pass key=, the integer by which an element is ordered')
    call = find_algorithm("top_k", "key", key, (source,), device, mode)
    result = output_for(call, "out", out, (k,), source, stream)
    if out_indexes is None:
        indexes = source.kind.make(source, (k,), number_type(source.kind.index_type), stream)
    else:
        indexes = view_of(out_indexes, "out_indexes")
        require_output("out_indexes", indexes, lambda element: element.name in ("int64", "uint64"), (k,))
    names, sizes = key_bits(call, bits)
    run(call.prepared, ("in", "out", "out_indexes", *names), (source, result, indexes, *sizes), stream)
    return result.array, indexes.array

# SPDX-License-Identifier: Apache-2.0
"""Operators of PyTorch that run fatlink's algorithms: with gradients, and for torch.compile, torch.export and CUDA graphs.

The definition of an operator links nothing; the first call for each device and type of tensors does. While PyTorch traces a
program, it calls a function that only states the shape and type of the result."""
from __future__ import annotations

import re

import torch

from ._algorithms import MAPS, Any, Mode, Operator, output_for, require_one_dimension, views_of_equal_shapes
from ._arguments import shown
from ._arrays import View, torch_kind
from ._devices import HOST
from ._elements import element_type
from ._errors import UsageError
from ._kept_calls import find_algorithm, find_repeated_operator
from ._linking import mode_number
from ._operators import framework_operator, has_family, is_path, is_source, is_sum, name_of, text_of
from ._plans import ABSENT, run, view_of
from ._python_operators import function_of
from ._sorts import find_sort, key_bits

_NAMES = ("x", "y", "z")


def _element(tensor):
    return torch_kind().element_of(tensor.dtype)


def _dtype(stated):
    """The torch.dtype of an argument `dtype`; None stays None."""
    return None if stated is None else torch_kind().dtype_of(element_type(stated))


def _array(tensor):
    """A tensor without its gradient; a tensor that is not contiguous is copied."""
    return (tensor.detach() if tensor.requires_grad else tensor).contiguous()


class _Algorithm:
    """The functions of a custom_op for an algorithm with an operator."""

    options: tuple = ()  # the arguments that operator() passes
    default: Any = None  # the operator if none is passed
    dimensions = 0  # of the tensors, as in a fatlink_array_exchange
    is_repeated = True  # the plan has no arrays besides those of the call
    has_one_result = False
    remedy = "call register_autograd of the operator, with a function that computes the gradient from tensors; or pass x.detach()"

    def __init__(self, name, op, mode, count=1):
        self.name = name  # of the custom_op
        self.op = op
        self.mode = mode
        self.count = count  # of tensors

    @property
    def operators(self):
        """All operators of fatlink that the result depends on."""
        return (self.op,)

    def shape(self, x):
        """The shape of the result; sizes may be symbolic."""
        return x.shape

    def dtype_of_result(self, *tensors):
        return tensors[0].dtype

    def fake(self, *tensors):
        """A tensor like the result, without data."""
        return tensors[0].new_empty(self.shape(tensors[0]), dtype=self.dtype_of_result(*tensors))

    def compute(self, *tensors):
        """The result, in the current stream. PyTorch allocates the scratch memory on a GPU, so that its statistics include this
        memory, and a CUDA graph keeps it."""
        arrays = self.arrays(*tensors)
        again = find_repeated_operator(self, self.operators, self.mode, arrays, self.dimensions) if self.is_repeated else None
        if again is not None and (done := again.run(arrays, None)) is not None:
            return done
        sources = self.views(arrays)
        call, names, entries, result = self.bind(*sources)
        place = sources[0].place
        size = 0 if place == HOST else call.prepared.scratch_bytes(names, entries)
        scratch = torch.empty(size, dtype=torch.uint8, device=arrays[0].device) if size else None
        run(call.prepared, names, entries, scratch=scratch)
        if again is not None:
            again.learn(call.prepared, names, entries, sources, result, self.has_one_result)
        return result.array

    def arrays(self, *tensors):
        """The tensors that the plan reads."""
        return tuple(_array(tensor) for tensor in tensors)

    def views(self, arrays):
        return tuple(view_of(array, name) for array, name in zip(arrays, _NAMES))

    def bind(self, *sources):
        """The prepared algorithm, the names and entries of its arguments, and the View of the result."""
        raise NotImplementedError

    def define(self):
        """Defines the custom_op, whose gradient raises an error."""
        torch_kind()  # finds PyTorch's exchange API, so that the first call can be repeated
        schema = f"({', '.join(f'Tensor {name}' for name in _NAMES[:self.count])}) -> Tensor"
        defined = torch.library.custom_op(self.name, self.compute, mutates_args=(), schema=schema)
        defined.register_fake(self.fake)
        defined.register_autograd(lambda ctx, grad: self.refuse_gradient())
        return defined

    def define_gradient(self, defined):
        """Registers the gradient if it is known."""

    def refuse_gradient(self, argument=""):
        raise UsageError(f"no gradient was stated for {self.name}{argument}", input=self.name, code="no-gradient", hint=self.remedy)


class _Map(_Algorithm):
    """map. `like`: the array whose type the results have, for a gradient; None: the operator states the type."""

    options = ("arrays", "dtype", "gradient")
    remedy = "pass gradient=, an operator that takes the same elements and the gradient of the result; or pass x.detach()"

    def __init__(self, name, op, mode, arrays=None, dtype=None, gradient=None, like=None):
        super().__init__(name, op, mode, _count_of_arrays(op) if arrays is None else arrays)
        if isinstance(self.count, bool) or self.count not in MAPS:
            raise UsageError(f"map takes 1 to 3 arrays; {self.name} is for {shown(self.count)}", input="op" if arrays is None else "arrays",
                             hint="pass an operator of 1 to 3 arrays")
        self.dtype = _dtype(dtype)
        self.gradients = self._gradients(gradient)
        self.like = like

    def _gradients(self, gradient):
        """The operator of the gradient of each array, or None."""
        gradients = gradient if isinstance(gradient, (tuple, list)) else (gradient,) * (gradient is not None)
        if gradients and len(gradients) != self.count:
            raise UsageError(f"{self.name} takes {self.count} arrays; gradient has an operator for {len(gradients)}", input="gradient",
                             hint="pass a tuple with an operator for each array, or with None for an array without a gradient")
        if self.count == 3 and not all(entry is None or isinstance(entry, torch.library.CustomOpDef) for entry in gradients):
            raise UsageError("a gradient of three arrays is an operator of four, and map takes three", input="gradient",
                             hint=_Algorithm.remedy)
        return gradients

    def dtype_of_result(self, *tensors):
        if self.like is not None:
            return tensors[self.like].dtype
        if self.dtype is not None:
            return self.dtype
        base = MAPS[self.count][0]
        sources = [View(None, torch_kind(), 0, 0, (), _element(tensor), HOST) for tensor in tensors]
        call = find_algorithm(base, base, self.op, sources, None, "ptx")  # which the reference device does not link
        return torch_kind().dtype_of(call.elements["out"] or call.require_element("out", sources[0]))

    def views(self, arrays):
        return views_of_equal_shapes(*arrays, *[None] * (3 - len(arrays))) if len(arrays) > 1 else super().views(arrays)

    def bind(self, *sources):
        base, names = MAPS[len(sources)]
        dtype = self.dtype if self.like is None else sources[self.like].element
        call = find_algorithm(base, base, self.op, sources, None, self.mode, dtype)
        result = output_for(call, "out", None, sources[0].shape, sources[0], None)
        return call, names, (result, *sources, ABSENT), result

    def define(self):
        defined = super().define()
        defined.register_vmap(lambda info, dimensions, *tensors: (defined(*_batched(info, dimensions, tensors)), 0))
        return defined

    def define_gradient(self, defined):
        if not self.gradients:
            return
        gradients = [self._define_one(index, gradient) for index, gradient in enumerate(self.gradients)]

        def save(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        def backward(ctx, grad):
            return tuple(gradient(*ctx.saved_tensors, grad) if needed else None
                         for gradient, needed in zip(gradients, ctx.needs_input_grad))
        defined.register_autograd(backward, setup_context=save)

    def _define_one(self, index, gradient):
        """The operator that computes the gradient of an array."""
        name = _NAMES[index]
        if gradient is None:
            return lambda *tensors: self.refuse_gradient(f" with respect to {name}")
        if isinstance(gradient, torch.library.CustomOpDef):
            return gradient
        suffix = "" if self.count == 1 else f"_{name}"
        return _Map(f"{self.name}_gradient{suffix}", gradient, self.mode, self.count + 1, like=index).define()


def _batched(info, dimensions, tensors):
    """The tensors of a vmap, with the dimension that it adds first."""
    return [tensor.expand(info.batch_size, *tensor.shape) if dimension is None else tensor.movedim(dimension, 0)
            for tensor, dimension in zip(tensors, dimensions)]


def _count_of_arrays(op):
    """How many arrays an operator of map takes: by the parameters of a Python function, the macro of CUDA source, or the
    family; 1 for any other operator."""
    if (function := function_of(op)) is not None:
        return function.__code__.co_argcount - len(function.__defaults__ or ())
    if is_path(op) or isinstance(op, str) and is_source(op):
        try:
            stated = re.search(r"\bFATLINK_MAP([123])\b", text_of(op))
        except (OSError, UnicodeDecodeError):  # the first call says why
            stated = None
        return int(stated[1]) if stated else 1
    name = name_of(op)
    return next((count for count, (base, _) in MAPS.items() if has_family(name, base)), 1)


class _Sum(_Algorithm):
    """An algorithm that combines elements; sums of integers have the type that PyTorch gives them."""

    options: tuple = ("dtype",)
    default = "add"

    def __init__(self, name, op, mode, dtype=None):
        super().__init__(name, op, mode)
        self.dtype = _dtype(dtype)

    def dtype_of_result(self, x):
        if self.dtype is not None:
            return self.dtype
        return torch.int64 if _element(x).sum_type is not None and is_sum(self.op) else x.dtype

    def arrays(self, x):
        return (_array(x.to(self.dtype_of_result(x))),)

    def define_gradient(self, defined):
        if name_of(self.op) != "add":
            return

        def save(ctx, inputs, output):
            ctx.shape, ctx.dtype = inputs[0].shape, inputs[0].dtype
        add = self.gradient_of_sum(defined)
        defined.register_autograd(lambda ctx, grad: add(grad, ctx.shape).to(ctx.dtype), setup_context=save)

    def gradient_of_sum(self, defined):
        """The function that computes the gradient of "add" from the gradient of the result and the shape of `x`."""
        raise NotImplementedError


class _Reduce(_Sum):
    options = ("dtype", "init")
    dimensions = -1
    has_one_result = True

    def __init__(self, name, op, mode, dtype=None, init=None):
        super().__init__(name, op, mode, dtype)
        self.init = init

    def shape(self, x):
        return ()

    def bind(self, source):
        call = find_algorithm("reduce", "combine", self.op, (source,), None, self.mode)
        result = output_for(call, "out", None, (), source, None)
        return call, ("in", "out", "init"), (source, result, call.initial(self.init)), result

    def gradient_of_sum(self, defined):
        return lambda grad, shape: grad.expand(shape)


class _Scan(_Sum):
    algorithm = "scan"
    dimensions = 1

    def shape(self, x):
        require_one_dimension(x, self.algorithm)
        return x.shape

    def bind(self, source):
        require_one_dimension(source, self.algorithm)
        call = find_algorithm(self.algorithm, "combine", self.op, (source,), None, self.mode)
        result = output_for(call, "out", None, source.shape, source, None)
        names, values = self.initial(call)
        return call, ("in", "out", *names), (source, result, *values), result

    def initial(self, call):
        """The argument with which the scan begins: its name and value."""
        return (), ()

    def gradient_of_sum(self, defined):
        return lambda grad, shape: defined(grad.flip(0)).flip(0)


class _ExclusiveScan(_Scan):
    options = ("dtype", "init")
    algorithm = "exclusive_scan"

    def __init__(self, name, op, mode, dtype=None, init=None):
        super().__init__(name, op, mode, dtype)
        self.init = init

    def initial(self, call):
        return ("init",), (call.initial(self.init),)

    def gradient_of_sum(self, defined):
        if self.init is None:
            return super().gradient_of_sum(defined)
        from_zero = _ExclusiveScan(f"{self.name}_gradient", self.op, self.mode, self.dtype)
        scan = from_zero.define()
        from_zero.define_gradient(scan)
        return super().gradient_of_sum(scan)


class _Sort(_Algorithm):
    options = ("key", "bits")
    dimensions = 1
    default = "less"
    suffix = ""  # of the algorithm's name

    def __init__(self, name, op, mode, key=None, bits=None):
        super().__init__(name, op, mode)
        self.key = key
        self.bits = bits

    @property
    def operators(self):
        return self.op, self.key

    def shape(self, x):
        require_one_dimension(x, "sort")
        return x.shape

    def bind(self, source):
        require_one_dimension(source, "sort")
        call = find_sort(self.suffix, self.op, self.key, self.bits, source, None, self.mode)
        result = output_for(call, "out", None, source.shape, source, None)
        others, values, returned = self.others(source, result)
        names, bits = key_bits(call, self.bits)
        return call, ("in", "out", *others, *names), (source, result, *values, *bits), returned

    def others(self, source, result):
        """The names and Views of further arrays, and the View that is returned."""
        return (), (), result

    def define_gradient(self, defined):
        order_of = _Order(f"{self.name}_order", self.op, self.mode, self.key, self.bits).define()

        def save(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        def backward(ctx, grad):
            return torch.zeros_like(grad).scatter(0, order_of(*ctx.saved_tensors), grad)
        defined.register_autograd(backward, setup_context=save)


class _Order(_Sort):
    """The indexes that sort the elements."""

    suffix = "_pairs_wide"
    is_repeated = False

    def dtype_of_result(self, x):
        return torch.int64

    def others(self, source, result):
        indexes = view_of(torch.arange(source.count, device=source.array.device), "indexes")
        order = indexes.kind.make(indexes, indexes.shape, indexes.element)
        return ("in_values", "out_values"), (indexes, order), order


_ALGORITHMS = {"map": _Map, "reduce": _Reduce, "scan": _Scan, "exclusive_scan": _ExclusiveScan, "sort": _Sort}


def operator(name: str, algorithm: str, op: Operator = None, *, gradient: Any = None, arrays: int | None = None, dtype: Any = None,
             init: Any = None, key: Operator | None = None, bits: int | None = None, mode: Mode = "lto") -> torch.library.CustomOpDef:
    """Defines an operator of PyTorch, a torch.library.CustomOpDef, which runs an algorithm with an operator. Call it with tensors:
    on a GPU it runs there, in the current stream. Tensors that are not contiguous are copied first.

    name        the namespace and the name in PyTorch: "mylib::silu"
    algorithm   "map" (of 1 to 3 tensors), "reduce", "scan", "exclusive_scan" or "sort" (of 1 tensor)
    op          the operator, as in the function of this name; None: the default of that function
    gradient    for map of one or two tensors: the operator that computes the gradient of `x` from an element of each tensor and
                of the gradient of the result, which are its last argument; for two tensors a tuple with an operator for each
                of them, or None. It may also be the result of operator(), which may have a gradient itself. None: there is no
                gradient. fatlink knows the gradients of sorts and of sums ("add")
    arrays      for map: the number of tensors; None: that of the parameters of a Python function, of the macro of CUDA source,
                or of a family; 1 for other operators
    dtype       for map, reduce and scans: the type of the results, as in the function
    init        for reduce and exclusive_scan: as in the function
    key, bits   for sort: as in the function
    mode        "lto": optimized across the operator; "ptx": the operator is called

        >>> square = fatlink.torch.operator("example::square", "map", "square")
        >>> square(torch.tensor([1.0, 2.0]))
        tensor([1., 4.])"""
    if not isinstance(name, str) or not re.fullmatch(r"\w+::\w+", name):
        raise UsageError(f"name is {shown(name)}", input="name", hint='pass a namespace and a name: "mylib::silu"')
    options = {"gradient": gradient, "arrays": arrays, "dtype": dtype, "init": init, "key": key, "bits": bits}
    cls, op, stated = framework_operator(_ALGORITHMS, algorithm, op, options, without_gradient="call register_autograd of the operator",
                                         others="for another, write a torch.library.custom_op that calls fatlink")
    mode_number(mode)
    function = cls(name, op, mode, **stated)
    defined = function.define()
    function.define_gradient(defined)
    return defined

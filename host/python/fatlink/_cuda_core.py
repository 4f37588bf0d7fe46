# SPDX-License-Identifier: Apache-2.0
"""Exchanges code with cuda.core, which is imported only when an object of it is made. Versions before 0.5 have the classes in
cuda.core.experimental."""
import weakref

from ._arguments import attribute, shown
from ._errors import UnavailableError, UsageError, UsageTypeError


def is_object_code(value) -> bool:
    """Whether a value is an ObjectCode of cuda.core."""
    cls = type(value)
    return cls.__name__ == "ObjectCode" and cls.__module__.startswith("cuda.core.")


def code_of(value):
    """The code of an ObjectCode, which is bytes or the path of a file, and a name for messages."""
    code, kind = attribute(value, "code"), attribute(value, "code_type")
    if not isinstance(code, (bytes, bytearray, str)) or not isinstance(kind, str):
        raise UsageTypeError(f"{shown(value)} is not an ObjectCode", hint="pass the result of cuda.core.Program.compile")
    return code, attribute(value, "name") or f"the {kind} of cuda.core"


def _find(name):
    """A class of cuda.core."""
    from importlib import import_module
    cause = None
    for module in ("cuda.core", "cuda.core.experimental"):
        try:
            cls = getattr(import_module(module), name, None)
        except ImportError as raised:
            cause = cause or raised
            continue
        if cls is not None:
            return cls
    is_absent = isinstance(cause, ModuleNotFoundError) and cause.name in ("cuda", "cuda.core")
    raise UnavailableError("cuda.core is not installed" if is_absent else f"cuda.core cannot be imported: {cause}",
                           code="no-cuda-core", stage="usage", hint="pip install 'cuda-core[cu13]'") from cause


def object_code(data: bytes, kind: str, name: str, symbol_mapping):
    """An ObjectCode of a linked image of this kind."""
    constructor = {"cubin": "from_cubin", "ptx": "from_ptx", "ltoir": "from_fatbin", "relocatable": "from_fatbin"}.get(kind)
    if constructor is None:
        raise UsageError(f"cuda.core has no ObjectCode for an image of the kind {kind}", input=name,
                         hint='link with emit="cubin" or emit="ptx"')
    return getattr(_find("ObjectCode"), constructor)(data, name=name, symbol_mapping=symbol_mapping)


def core_kernel(handle: int, owner):
    """A Kernel of cuda.core, which keeps `owner` alive."""
    from_handle = getattr(_find("Kernel"), "from_handle", None)
    if from_handle is None:
        raise UnavailableError("this version of cuda.core takes no kernels of other libraries", code="old-cuda-core", stage="usage",
                               hint="pip install 'cuda-core>=0.5', or call get_kernel of the image's object_code()")
    kernel = from_handle(handle)
    weakref.finalize(kernel, _release, owner).atexit = False
    return kernel


def _release(owner):
    """Is called when a kernel is freed. weakref.finalize holds `owner` until then."""

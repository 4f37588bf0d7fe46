# SPDX-License-Identifier: Apache-2.0
"""The C interface of libfatlink.so (fatlink/fatlink.h), called through ctypes, which releases the GIL in every call.

The library is opened at its first use, not by `import fatlink`. tests/python/test_c_interface.py compares the structs and
prototypes with the headers.

After os.fork(), the child may use inherited objects of the reference device. CUDA does not survive a fork, so devices, plans
and live modules of GPUs raise UnavailableError in the child.

Ctrl-C during a long call: in the main thread, the library checks about ten times a second whether the call is cancelled, and
Python then runs its signal handlers. An exception that a handler raises ends the call."""
import ctypes
import os
import sys
import threading
import weakref
from ctypes import POINTER, c_char_p, c_double, c_int32, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p

from . import _distributions
from ._errors import CLASSES, Error, Finding, UnavailableError, UsageTypeError, warn
from ._install import shared_library

MAJOR = 1  # of the C interface that the structs below are of
MINOR = 0


class SizedStruct(ctypes.Structure):
    """A struct whose first member is its size."""

    def __init__(self, **members):
        super().__init__(ctypes.sizeof(self), **members)


def _struct(name, *members):
    """A struct of fatlink/fatlink.h: its `size`, then (name, type) pairs."""
    return type(name, (SizedStruct,), {"_fields_": [("size", c_size_t), *members]})


class Extent(ctypes.Structure):
    _fields_ = [("x", c_uint32), ("y", c_uint32), ("z", c_uint32)]


CacheSettings = _struct("fatlink_cache_settings", ("folder", c_char_p), ("folder_limit", c_uint64), ("memory_limit", c_uint64))
CacheStatistics = _struct("fatlink_cache_statistics", ("usable", c_int32), ("entries", c_uint64), ("bytes", c_uint64),
                          ("limit", c_uint64), ("hits", c_uint64), ("misses", c_uint64), ("stored", c_uint64),
                          ("evicted", c_uint64), ("faults", c_uint64))
CompilerSettings = _struct("fatlink_compiler_settings", ("time_limit_ms", c_uint32), ("memory_limit_mib", c_uint32),
                           ("allow_unconfined", c_int32), ("cache", c_void_p), ("nvrtc", c_char_p), ("libnvvm", c_char_p),
                           ("offline", c_int32), ("reserved", c_int32))
CompileOptions = _struct("fatlink_compile_options", ("contract", c_char_p), ("architectures", POINTER(c_char_p)),
                         ("architecture_count", c_size_t), ("sass", POINTER(c_char_p)), ("sass_count", c_size_t),
                         ("definitions", POINTER(c_char_p)), ("definition_count", c_size_t),
                         ("include_folders", POINTER(c_char_p)), ("include_folder_count", c_size_t), ("standard", c_char_p),
                         ("ftz", c_int32), ("prec_div", c_int32), ("prec_sqrt", c_int32), ("fma", c_int32),
                         ("line_info", c_int32), ("reserved", c_int32), ("folder", c_char_p), ("layer", c_char_p))
DeviceOptions = _struct("fatlink_device_options", ("instruction_budget", c_uint64), ("check_races", c_int32),
                        ("check_uninitialized", c_int32), ("deterministic", c_int32), ("reserved", c_int32))
DeviceInfo = _struct("fatlink_device_info", ("is_gpu", c_int32), ("ordinal", c_int32), ("name", c_char_p), ("target", c_char_p),
                     ("memory_bytes", c_uint64), ("multiprocessors", c_uint32), ("max_shared_bytes_per_block", c_uint64))
MemoryPool = _struct("fatlink_memory_pool", ("limit_bytes", c_uint64), ("reserved_bytes", c_uint64), ("used_bytes", c_uint64))
FindingStruct = _struct("fatlink_finding", ("id", c_char_p), ("is_error", c_int32), ("file_count", c_uint32),
                        ("files", POINTER(c_char_p)), ("symbol", c_char_p), ("message", c_char_p), ("hint", c_char_p))
ImageInfo = _struct("fatlink_image_info", ("kind", c_int32), ("mode", c_int32), ("cache", c_int32), ("inlined", c_int32),
                    ("target", c_char_p), ("hook_count", c_uint64), ("warning_count", c_uint64), ("link_ms", c_double),
                    ("size_bytes", c_uint64))
HookStruct = _struct("fatlink_hook", ("name", c_char_p), ("inlined", c_int32), ("is_default", c_int32))
LaunchShape = _struct("fatlink_launch_shape", ("grid", Extent), ("block", Extent), ("shared_bytes", c_uint32),
                      ("overlap", c_int32))
LinkerSettings = _struct("fatlink_linker_settings", ("in_process", c_int32), ("allow_unconfined", c_int32),
                         ("time_limit_ms", c_uint32), ("cache", c_void_p), ("nvjitlink", c_char_p), ("offline", c_int32),
                         ("reserved", c_int32))
LinkOptions = _struct("fatlink_link_options", ("target", c_char_p), ("mode", c_int32), ("emit", c_int32),
                      ("allow_calls", c_int32), ("whole_archive", c_int32), ("require_inlined", c_int32),
                      ("drop_unused_variables", c_int32), ("kernels", POINTER(c_char_p)), ("kernel_count", c_size_t),
                      ("variables", POINTER(c_char_p)), ("variable_count", c_size_t), ("max_registers", c_uint32),
                      ("threads", c_uint32), ("no_optimization", c_int32), ("line_info", c_int32), ("debug", c_int32),
                      ("ftz", c_int32), ("prec_div", c_int32), ("prec_sqrt", c_int32), ("fma", c_int32),
                      ("ptxas", POINTER(c_char_p)), ("ptxas_count", c_size_t), ("latest_nvvm", c_int32), ("reserved", c_int32))
LiveSettings = _struct("fatlink_live_settings", ("mode", c_int32), ("tiered", c_int32))
SwapReportStruct = _struct("fatlink_swap_report", ("version", c_uint64), ("mode", c_int32), ("cache", c_int32),
                           ("link_ms", c_double), ("load_ms", c_double), ("total_ms", c_double))
PlanArgumentStruct = _struct("fatlink_plan_argument", ("name", c_char_p), ("role", c_int32), ("scalar", c_int32),
                             ("element_bytes", c_size_t), ("type_name", c_char_p), ("dimensions", c_uint32),
                             ("alignment", c_uint32), ("has_default", c_int32), ("reserved", c_int32))
Argument = _struct("fatlink_argument", ("name", c_char_p), ("address", c_uint64), ("count", c_uint64), ("value", c_void_p),
                   ("element_bytes", c_size_t), ("scalar", c_int32), ("reserved", c_int32))
ArrayExchange = _struct("fatlink_array_exchange", ("api", c_void_p), ("release", c_void_p), ("acquire", c_void_p),
                        ("clear", c_void_p), ("dimensions", c_int32), ("reserved", c_int32))
ObjectCall = _struct("fatlink_object_call", ("plan", c_void_p), ("exchange", c_void_p), ("arguments", c_void_p), ("count", c_size_t),
                     ("objects", c_void_p), ("scratch", c_uint64), ("scratch_bytes", c_size_t))
PlanRequest = _struct("fatlink_plan_request", ("library", c_char_p), ("transforms", POINTER(c_void_p)),
                      ("transform_count", c_size_t), ("mode", c_int32), ("reserved", c_int32),
                      ("library_input", c_void_p))

XlaCall = _struct("fatlink_xla_call", ("linker", c_void_p), ("request", c_void_p), ("plan", c_void_p), ("operands", POINTER(c_char_p)),
                  ("operand_count", c_size_t), ("results", POINTER(c_char_p)), ("result_count", c_size_t), ("values", c_void_p),
                  ("value_count", c_size_t))

STRUCTS = [CacheSettings, CacheStatistics, CompilerSettings, CompileOptions, DeviceOptions, DeviceInfo, MemoryPool, FindingStruct, ImageInfo,
           HookStruct, LaunchShape, LinkerSettings, LinkOptions, LiveSettings, SwapReportStruct, PlanArgumentStruct, Argument,
           ArrayExchange, ObjectCall, PlanRequest, XlaCall]

UNKNOWN_COUNT = 2**64 - 1
CANCELLED = 10  # a fatlink_error_kind
WORDING_PYTHON = 1  # a fatlink_wording

# Result and parameters of each function, one letter each.
TYPES = {"-": None, "p": c_void_p, "s": c_char_p, "z": c_size_t, "i": c_int32, "u": c_uint64, "b": c_uint8}
PROTOTYPES = {
    "version": "s", "c_version": "i", "range_push": "-s", "range_pop": "-", "text_free": "-p",
    "cache_open": "ppp", "cache_folder": "sp", "cache_get_statistics": "ppp", "cache_prune": "pp", "cache_clear": "pp",
    "cache_free": "-p",
    "compiler_create": "ppp", "compile": "ppszsppp", "compiler_free": "-p",
    "device_open": "pspp", "device_get_info": "ppp", "device_get_memory_pool": "ppp", "device_limit_memory_pool": "ppu",
    "device_trim_memory_pool": "ppu", "gpu_count": "i", "device_free": "-p",
    "stream_create": "ppp", "stream_handle": "pp", "synchronize": "ppp", "stream_free": "-p",
    "set_cancel_check": "-pp", "set_wording": "-i", "error_get_kind": "ip", "error_stage": "sp", "error_code": "sp", "error_message": "sp", "error_input": "sp",
    "error_hint": "sp", "error_log": "sp", "error_exit_status": "ip", "error_free": "-p", "error_findings": "pp",
    "findings_count": "zp", "findings_get": "ppzp", "findings_free": "-p",
    "image_get_info": "ppp", "image_bytes": "ppp", "image_get_hook": "ppzp", "image_warning": "spz", "image_free": "-p",
    "input_find": "psp", "input_read": "psp", "input_from_bytes": "ppzsp", "input_name": "sp", "input_form": "sp",
    "input_bytes": "ppp", "input_digest": "sp", "input_is_verified": "ip", "input_get_element": "ppsp", "input_free": "-p",
    "find_file": "psp", "set_python_path": "ps", "pack": "ppzsspp",
    "device_link_options": "ppip", "module_load": "pppp", "module_kernel": "ppsp", "module_variable": "ppspp",
    "module_handle": "pp", "module_free": "-p",
    "kernel_parameter_count": "zp", "kernel_parameter_bytes": "zpz", "kernel_handle": "pp", "kernel_cu_kernel": "pp", "kernel_launch": "pppppz",
    "kernel_free": "-p",
    "linker_create": "ppp", "link": "pppzpp", "check": "ppzpp", "cache_warm": "pppzpsip", "linker_free": "-p",
    "live_module_create": "ppppp", "live_module_swap": "pppzp", "live_module_kernel": "ppsp", "live_module_version": "up",
    "live_module_free": "-p", "live_kernel_parameter_count": "zp", "live_kernel_parameter_bytes": "zpz",
    "live_kernel_launch": "pppppz", "live_kernel_free": "-p",
    "live_plan_create": "ppppp", "live_plan_swap": "pppzp", "live_plan_argument_count": "zp",
    "live_plan_get_argument": "ppzp", "live_plan_extents": "pppzspzp", "live_plan_scratch_bytes": "pppzp",
    "live_plan_run": "ppppzuz",
    "live_plan_bind": "pppzuzp", "live_plan_version": "up", "live_plan_free": "-p",
    "address_get_device": "pupp",
    "buffer_allocate": "ppzp", "buffer_map_host": "pppzip", "buffer_address": "up", "buffer_bytes": "zp", "buffer_free": "-p",
    "buffer_write": "ppzpzp", "buffer_write_now": "ppzpz", "buffer_read": "ppzpzp", "buffer_read_now": "ppzpz",
    "buffer_fill": "ppbp",
    "plan_prepare": "ppppp", "plan_name": "sp", "plan_image": "pp", "plan_argument_count": "zp", "plan_get_argument": "ppzp",
    "plan_extents": "pppzspzp", "plan_scratch_bytes": "pppzp", "plan_run": "ppppzuz", "plan_run_objects": "pp",
    "plan_bind": "pppzuzp",
    "call_run": "ppp", "call_free": "-p", "plan_free": "-p",
    "xla_register": "psp", "xla_run_host": "pp", "xla_run_cuda": "pp",
}
SEARCHING = ("cache_open", "compile", "input_find", "find_file", "plan_prepare", "live_plan_create")  # look up names


_gpu_objects: weakref.WeakSet = weakref.WeakSet()
_locks: weakref.WeakSet = weakref.WeakSet()
after_fork: list = []  # functions that run in a child process, after locks are renewed and objects of GPUs disabled


def make_lock():
    """Makes a lock that is free in a child process even if a thread of the parent held it."""
    lock = _Lock()
    _locks.add(lock)
    return lock


class _Lock:
    def __init__(self):
        self._lock = threading.RLock()

    def renew(self):
        self._lock = threading.RLock()

    def __enter__(self):
        self._held = self._lock
        return self._lock.__enter__()

    def __exit__(self, *cause):
        return self._held.__exit__(*cause)


def disable_after_fork(entry):
    """Registers a Handle, whose _fail_after_fork() is called in a child process."""
    _gpu_objects.add(entry)


def forked(what):
    """The error that a call of such an object raises in a child process."""
    return UnavailableError(f"{what} cannot be used in the child process", code="forked", stage="device",
                            hint="start processes with multiprocessing's 'spawn', or open it in the child only")


def _in_child():
    for lock in list(_locks):
        lock.renew()
    for entry in list(_gpu_objects):
        entry._fail_after_fork()
    for function in after_fork:
        function()


os.register_at_fork(after_in_child=_in_child)


class _Functions:
    """The functions of the shared library, without their prefix `fatlink_`. The library is opened when a function is first
    used."""

    def __init__(self):
        self._lock = make_lock()

    def __getattr__(self, name):  # only for what is not bound yet
        with self._lock:
            if "version" not in self.__dict__:
                self.__dict__.update(_bind(_open()))
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(name) from None


def _open():
    path = shared_library()
    try:
        return ctypes.CDLL(path)
    except OSError as cause:
        raise UnavailableError(f"{path}: {cause}", code="no-shared-library", stage="installation", input=path,
                               hint="install the wheel of fatlink, or name a built libfatlink.so in $FATLINK_LIBRARY") from None


def _bind(library):
    try:
        library.fatlink_c_version.restype = c_int32
        version = library.fatlink_c_version()
        if version // 1000 != MAJOR or version % 1000 < MINOR:
            raise AttributeError(f"has version {version // 1000}.{version % 1000} of the C interface")
        functions = {}
        holding_the_gil = ctypes.PyDLL(library._name, handle=library._handle)
        for name, types in PROTOTYPES.items():
            function = (holding_the_gil if name == "plan_run_objects" else library)["fatlink_" + name]
            function.restype, *function.argtypes = (TYPES[letter] for letter in types)
            functions[name] = function
        functions["set_wording"](WORDING_PYTHON)
        for name in SEARCHING:
            functions[name] = _searching(functions[name], functions["set_python_path"])
        return functions
    except AttributeError as cause:
        raise UnavailableError(
            f"{library._name}: {cause}; this Python package needs version {MAJOR}.{MINOR}", code="wrong-shared-library",
            stage="installation", input=library._name,
            hint="use the Python package and libfatlink.so of one installation; $FATLINK_LIBRARY names another one") from None


_told: list = [None]  # the folders of distributions that the library searches


def _searching(function, set_python_path):
    """The function; before each call, the library is told of new folders of Python distributions."""
    def call(*arguments):
        folders, problems = _distributions.find()
        if _told[0] is not folders:
            _told[0] = folders
            raise_error(set_python_path(os.fsencode(_distributions.variable())))
            for problem in problems:
                warn(problem)
        return function(*arguments)
    call.__wrapped__ = function
    return call


c = _Functions()


def text(bytes_or_none):
    """Decodes a text of the library, which is UTF-8; file names may contain any bytes."""
    return (bytes_or_none or b"").decode("utf-8", "surrogateescape")


def take_text(handle):
    """Decodes and frees a text that the caller owns; empty if there is none."""
    try:
        return text(ctypes.string_at(handle.value)) if handle else ""
    finally:
        c.text_free(handle)


def read_findings(findings):
    """The findings behind a fatlink_findings const*."""
    result = []
    for index in range(c.findings_count(findings) if findings else 0):
        finding = FindingStruct()
        raise_error(c.findings_get(findings, index, ctypes.byref(finding)))
        result.append(Finding(text(finding.id), bool(finding.is_error),
                              tuple(text(finding.files[i]) for i in range(finding.file_count)), text(finding.symbol),
                              text(finding.message), text(finding.hint)))
    return tuple(result)


def error_of(handle):
    """The exception for a fatlink_error*, which is freed."""
    try:
        if c.error_get_kind(handle) == CANCELLED and (raised := _take_interrupt()) is not None:
            return raised
        cls = CLASSES.get(c.error_get_kind(handle), Error)
        return cls(text(c.error_message(handle)), code=text(c.error_code(handle)),
                   hint=text(c.error_hint(handle)), stage=text(c.error_stage(handle)),
                   input=text(c.error_input(handle)), log=text(c.error_log(handle)),
                   findings=read_findings(c.error_findings(handle)))
    finally:
        c.error_free(handle)


def raise_error(handle):
    """Raises the error that a function returned, unless it is NULL."""
    if handle is not None:
        raise error_of(handle)


_Check = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
_raised: list = []
_kept: list = []  # what the library calls must live as long as the process


def _answers():
    """Answers the cancel checks. Python runs signal handlers when it resumes this generator, inside the `try`. In a function
    they would run before the first statement, where nothing would catch their exceptions."""
    answer = 0
    while True:
        try:
            yield answer
            answer = 1 if _raised else 0
        except GeneratorExit:
            return
        except BaseException as raised:
            # Without this frame, whose generator would end if somebody cleared the frames of the traceback.
            _raised.append(raised.with_traceback(raised.__traceback__.tb_next))
            answer = 1


def _watch_interrupts() -> None:
    """Allows calls of the main thread to be interrupted. Does nothing in other threads, because the main thread handles their
    signals."""
    if _kept or threading.current_thread() is not threading.main_thread():
        return
    answers = _answers()
    next(answers)
    check = _Check(answers.send)
    _kept.append(check)
    c.set_cancel_check(ctypes.cast(check, ctypes.c_void_p), None)


def _take_interrupt():
    """The exception that a handler raised within a call; None: there is none."""
    return _raised.pop() if _raised else None


def output():
    """A handle for a function to set. The function may take long."""
    _watch_interrupts()
    return c_void_p()


class ProcessObject:
    """An immutable object of this process: a copy is the object itself, and it cannot be pickled."""

    __slots__ = ()

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        raise UsageTypeError(f"fatlink.{type(self).__name__} cannot be pickled: it belongs to this process",
                             hint="pass the names, files or bytes of its inputs, and make it in the other process")


class Handle(ProcessObject):
    """Owns an object of the library; `_as_parameter_` is passed to functions. Subclasses name the function that frees it, or
    none if another object owns it."""

    __slots__ = ("_as_parameter_", "_keeps", "__weakref__")
    _free = ""
    _origin = "a GPU that was opened before os.fork()"  # what cannot be used in a child process

    def __init__(self, handle, *keeps):
        self._as_parameter_ = handle
        self._keeps = keeps  # freed after this object

    def _fail_after_fork(self):
        """Called in a child process, where the handle is neither used nor freed."""
        self._as_parameter_ = None

    def _require_usable(self):
        """Raises in a child process after _fail_after_fork()."""
        if self._as_parameter_ is None:
            raise forked(self._origin)
        return self

    def __del__(self):
        handle = getattr(self, "_as_parameter_", None)
        if handle is None or not self._free:
            return
        self._as_parameter_ = None
        try:
            getattr(c, self._free)(handle)
        except (AttributeError, TypeError):  # at the interpreter's end functions are gone
            if sys is not None and not sys.is_finalizing():
                raise

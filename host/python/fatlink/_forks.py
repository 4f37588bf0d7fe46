# SPDX-License-Identifier: Apache-2.0
"""After os.fork() the child may use what it inherits for the reference device. CUDA does not survive a fork: devices, plans and
live modules of GPUs raise UnavailableError there."""
import os
import threading
import weakref

from ._errors import UnavailableError

_gpu_objects: weakref.WeakSet = weakref.WeakSet()
_locks: weakref.WeakSet = weakref.WeakSet()
in_child: list = []  # functions that run in a child process, after locks are renewed and objects of GPUs disabled


def make_lock():
    """A lock that is free in a child process even if a thread of the parent held it."""
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


def register(entry):
    """Registers an object with a method fail_after_fork()."""
    _gpu_objects.add(entry)


def forked(what="a GPU that was opened before os.fork()"):
    """What a call of such an object raises in a child process."""
    return UnavailableError(f"{what} cannot be used in the child process", code="forked", stage="device",
                            hint="start processes with multiprocessing's 'spawn', or open it in the child only")


def _in_child():
    for lock in list(_locks):
        lock.renew()
    for entry in list(_gpu_objects):
        entry.fail_after_fork()
    for function in in_child:
        function()


os.register_at_fork(after_in_child=_in_child)

# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C within a call that takes long: the library asks about ten times a second whether it is cancelled, in the main thread,
where Python then runs the handlers of signals. What a handler raises ends the call."""
import ctypes
import threading

_Check = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
_raised: list = []
_kept: list = []  # what the library calls must live as long as the process


def _answers():
    """Python runs handlers when it resumes this generator, within the `try`. In a function they would run before its first
    statement, where nothing catches what they raise."""
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


def watch(functions) -> None:
    """Lets calls of the main thread be interrupted; nothing in another thread, whose signals the main one handles."""
    if _kept or threading.current_thread() is not threading.main_thread():
        return
    answers = _answers()
    next(answers)
    check = _Check(answers.send)
    _kept.append(check)
    functions.set_cancel_check(ctypes.cast(check, ctypes.c_void_p), None)


def take():
    """What a handler raised within a call; None: nothing."""
    return _raised.pop() if _raised else None

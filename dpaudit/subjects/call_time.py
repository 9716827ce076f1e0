"""The time that one call of a function may take; that it takes longer is an outcome, for an attacker sees it."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

from dpaudit.errors import UsageError
from dpaudit.options import CALL_TIME
from dpaudit.outputs.canonical import TookLonger
from dpaudit.outputs.failures import frames
from dpaudit.subjects.user_errors import unheard

AGAIN = 0.02
"""Seconds after which a function that swallowed the exception is interrupted again."""
EARLY = 0.001
"""Seconds by which a timer may come before its time by another clock."""


class CallTooLong(BaseException):
    """The time of a call is over; not an `Exception`, so that an `except Exception` on the way does not swallow it."""


def refuse_without_timer() -> None:
    """Refuse to limit calls where nothing can interrupt them.

    Raises:
        UsageError: there are no timers here (not POSIX), or this is not the main thread.
    """
    if not hasattr(signal, "setitimer"):
        raise UsageError("{} needs timers of POSIX, which this system lacks; leave it out.", CALL_TIME)
    if threading.current_thread() is not threading.main_thread():
        raise UsageError("{} works in the main thread alone, where signals arrive; call dpaudit there.", CALL_TIME)


def called_within(seconds: float, call: Callable[[], object]) -> object:
    """What the call returns, or the outcome of one that took longer.

    A time limit over many calls (`Runner.limited`), which uses the same timer, goes on meanwhile.

    Args:
        seconds: that the call may take.
        call: what to call, in the main thread.

    Raises:
        Whatever the call raises, and `StopNow` where the time limit over many calls comes first.
        UsageError: as `refuse_without_timer`.
    """
    refuse_without_timer()
    begun = time.monotonic()
    outer = signal.getsignal(signal.SIGALRM)
    left, interval = signal.setitimer(signal.ITIMER_REAL, 0)
    if interval and not left:
        # it came this instant: Linux sets it anew only when its signal arrives, which another thread may delay
        left = EARLY
    limit = begun + left if left else float("inf")
    here, over, hook = sys._getframe(), False, sys.unraisablehook

    def stop(signum: int, frame: FrameType | None) -> None:
        nonlocal over
        now = time.monotonic()
        if now >= limit - EARLY and callable(outer):
            outer(signum, frame)
        elif now >= begun + seconds - EARLY and frame is not here:
            # only inside the call: in this function, before or after it, nothing would catch this
            over = True
            raise CallTooLong

    where = "it went on after it was interrupted"
    try:
        sys.unraisablehook = unheard(CallTooLong)
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, min(seconds, left or seconds), AGAIN)
        output = call()
    except CallTooLong as error:
        # the timer goes on until `finally`, but this frame is not interrupted; what it calls might be
        signal.setitimer(signal.ITIMER_REAL, 0)
        where = frames(error, leave_out=1)
    except Exception:
        # what is raised after the interrupt, in its place, came too late as well
        if not over:
            raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if outer is None else outer)
        sys.unraisablehook = hook
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(limit - time.monotonic(), 1e-6), interval)
    return TookLonger(f"{seconds:g} s", where) if over else output

"""Commands with limits, none of whose processes outlives them."""
import ctypes
import os
import resource
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
TICKS = os.sysconf("SC_CLK_TCK")
IDLE = 0.01  # of a processor: a command that uses less than that is stuck

_running = set()
_lock = threading.Lock()
_is_stopped = False


class Stopped(Exception):
    """No command runs any more."""


@dataclass
class Result:
    status: int  # of the exit; negative: the signal
    out: str
    err: str
    is_late: bool  # it took too long, and was killed
    seconds: float


def begin():
    """Before the first command, and after stop(): what every process of ours inherits."""
    global _is_stopped
    _is_stopped = False
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # Criterion's workers leave their group
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _children(pid):
    try:
        text = "".join(task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:
        return []
    return [int(word) for word in text.split()]


def _kill_tree(pid):
    """The process and all below it, the top first, so that none starts another."""
    try:
        os.kill(pid, signal.SIGSTOP)
        below = _children(pid)
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return
    for child in below:
        _kill_tree(child)


def kill_orphans():
    """What commands have left behind. Only while none runs."""
    while pids := _children(os.getpid()):
        for pid in pids:
            _kill_tree(pid)
            try:
                os.waitpid(pid, 0)
            except OSError:
                pass


def stop():
    """Kills all commands, and lets no other begin."""
    global _is_stopped
    with _lock:
        _is_stopped = True
        for process in _running:
            _kill_tree(process.pid)


def _cpu_seconds(pid):
    """Of the process, of those below it, and of those that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS + sum(map(_cpu_seconds, _children(pid)))


def _communicate(process, seconds):
    """Raises TimeoutExpired if it uses more CPU time, or is stuck."""
    used, left = 0.0, seconds
    while True:
        try:
            return process.communicate(timeout=left)
        except subprocess.TimeoutExpired:
            before, used = used, _cpu_seconds(process.pid)
            if used >= seconds or used - before < IDLE * left:
                raise
            left = max(1.0, seconds - used)


def execute(command, seconds=None, **options):
    """Runs a command, a list of words, to its end, or kills it after so much CPU time. The load of
    the machine changes nothing."""
    start = time.monotonic()
    with _lock:
        if _is_stopped:
            raise Stopped
        process = subprocess.Popen([str(word) for word in command], text=True, errors="replace",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True, **options)
        _running.add(process)
    is_late = False
    try:
        out, err = _communicate(process, seconds)
    except subprocess.TimeoutExpired:
        is_late = True
        _kill_tree(process.pid)
        try:
            out, err = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:  # a process that has left the tree holds the pipe
            process.stdout.close()
            process.stderr.close()
            process.wait()
            out = err = ""
    except BaseException:
        _kill_tree(process.pid)
        process.wait()
        raise
    finally:
        with _lock:
            _running.discard(process)
    if _is_stopped:
        raise Stopped
    return Result(process.returncode, out, err, is_late, time.monotonic() - start)


def at_once(jobs, function, items):
    """Calls a function with every item, so many at a time. The first exception, also Ctrl-C, ends
    all."""
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(function, item) for item in items]
        try:
            return [item.result() for item in waiting]
        except BaseException:
            for item in waiting:
                item.cancel()
            stop()
            raise

"""Calls the program, which is in the extension, with tests in its catalog.

Each call is in a process of its own: it leaves nothing here, and a crash ends that process only.
"""
import contextlib
import glob
import importlib.util
import io
import json
import mmap
import os
import platform
import signal
import sys
import tempfile
import threading
import traceback
import typing
import warnings

INTERNAL = 70
COMMAND = "python3 -m buzzer"
RUNTIME = "python-" + platform.python_version()
FOLDER = ".buzzer"  # where runs that fail are kept

NO_STOP = 0xFFFFFFFF  # of `replay --once`: a step that no run has


class NotBuilt(ImportError):
    """There is no extension for this interpreter."""


def check_is_built():
    if importlib.util.find_spec("buzzer._native") is None:
        raise NotBuilt(f"Buzzer is not built for {RUNTIME}: pip install ./tools/python, with this "
                       f"interpreter's pip{hint_of_venv()}")


def hint_of_venv(command="buzzer"):
    """Of a program of the system, such as Debian's `pytest`, in a virtual environment: a sentence."""
    own = os.environ.get("VIRTUAL_ENV", "")
    if not own or os.path.realpath(own) == os.path.realpath(sys.prefix):
        return ""
    return (f"; this interpreter, {sys.executable}, is not that of the virtual environment {own}: "
            f"say 'python3 -m {command}'")


class Signs(io.TextIOBase):
    """What a test has done in another process: it stopped at a breakpoint, it printed, also bytes."""

    def __init__(self):
        self._shared = mmap.mmap(-1, 2)

    def watch(self):
        """Breakpoints do nothing and prints vanish: a test runs very many times."""
        sys.breakpointhook = self._stop
        sys.stdout = self
        if sys.stdin is sys.__stdin__:  # pytest's refuses by itself
            sys.stdin = self

    def _stop(self, *args, **kwargs):
        self._shared[0] = 1

    def write(self, text):
        self._shared[1] = 1
        return len(text)

    def readline(self, *args):
        from buzzer import outside
        outside.running()._refuse("input() or sys.stdin: a run has nobody to ask")

    read = readlines = readline

    @property
    def buffer(self):
        return self

    @property
    def has_stopped(self):
        return self._shared[0] != 0

    @property
    def has_printed(self):
        return self._shared[1] != 0


def _be_program(parent, words, cases, replay, missing, signs, files):
    code = INTERNAL
    try:
        for case in cases:
            case.prepare()
        for file, number in zip(files, (1, 2)):
            os.dup2(file.fileno(), number)
        if signs is not None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        if not files:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        from buzzer import _native
        from buzzer.loop import Loop
        if "hypothesis" in sys.modules:
            from buzzer import strategies
            strategies.warm_up()
        _native.end_with_parent(parent)
        if signs is not None:
            signs.watch()
        tests = [(case.name, case.summary, case) for case in cases]
        code = _native.main(["buzzer", *words], tests, RUNTIME, Loop, COMMAND,
                            replay or f"{COMMAND} replay", missing or {},
                            files[2].fileno() if len(files) > 2 else -1)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


@contextlib.contextmanager
def _passing_on(pid, numbers):
    """Signals that would end this process go to the child, which ends in good order. A list of them."""
    passed = []

    def pass_on(number, frame):
        passed.append(number)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    is_main = threading.current_thread() is threading.main_thread()
    caught = [number for number in numbers
              if is_main and signal.getsignal(number) is signal.SIG_DFL]
    for number in caught:
        signal.signal(number, pass_on)
    try:
        yield passed
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)


def _wait(pid, passes_on):
    """The exit status. An interrupt is for the child as well, which ends in good order.

    A terminal has sent it one already, but kill(1) has not. The program takes two at once for one.
    """
    interrupt = None
    while True:
        try:
            _, status = os.waitpid(pid, 0)
            break
        except KeyboardInterrupt as caught:
            interrupt = caught
            if passes_on:
                os.kill(pid, signal.SIGINT)
    return (-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)), interrupt


def _tidy(is_new):
    """The folder of runs that fail is no part of a repository, and checkpoints are for campaigns
    that have not ended."""
    if is_new and os.path.isdir(FOLDER):
        with contextlib.suppress(OSError):
            with open(os.path.join(FOLDER, ".gitignore"), "w", encoding="utf-8") as file:
                file.write("*\n")
    for path in glob.glob(os.path.join(FOLDER, "*.checkpoint")):
        with contextlib.suppress(OSError):
            with open(path, "rb") as file:
                has_ended = file.readline(1000).split()[-1:] == [b"finished"]
            if has_ended:
                os.remove(path)


def call_python(*words):
    """Runs another program of this interpreter on this terminal. Its exit status."""
    pid = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, *words])
    with _passing_on(pid, (signal.SIGTERM, signal.SIGHUP)):
        return _wait(pid, passes_on=False)[0]


def _start(words, cases, replay, missing, signs, files=()):
    check_is_built()
    is_new = not os.path.isdir(FOLDER)
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of forks with threads: the child has none
        pid = os.fork()
    if pid == 0:
        _be_program(parent, words, cases, replay, missing, signs, files)
    ends = () if files else (signal.SIGTERM, signal.SIGHUP)
    with _passing_on(pid, ends) as passed:
        code, interrupt = _wait(pid, passes_on=signs is not None)
    if f"--out={FOLDER}" in words:
        _tidy(is_new)
    return code if code >= 0 else 128 - code, interrupt, passed


def call_one(words, cases, *, missing=None, signs=None):
    """Runs it on this terminal. The exit code, 128 + N if signal N ended it; and True if a signal has
    interrupted it.

    missing: why tests are not among the cases, by name"""
    code, interrupt, passed = _start(words, cases, None, missing, signs or Signs())
    return 130 if interrupt and code > 128 else code, interrupt is not None or bool(passed)


def call(words, cases, **more):
    """The exit code alone."""
    return call_one(words, cases, **more)[0]


def call_bare(words, cases):
    """The same, with breakpoints and prints: for the one run of `replay --once`."""
    return _start(words, cases, None, None, None)[0]


class Answer(typing.NamedTuple):
    code: int
    output: str  # on standard output
    errors: str
    results: typing.Optional[dict]  # as --json has them; None: it ended without


def ask(words, cases, *, replay=None, signs=None, has_results=True):
    """Runs it, and nothing is printed here."""
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(2 + has_results)]
        code, interrupt, _ = _start(words, cases, replay, None, signs or Signs(), files)
        if interrupt is not None:
            raise interrupt
        texts = []
        for file in files:
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    results = texts.pop() if has_results else ""
    return Answer(code, *texts, json.loads(results) if results else None)

"""Shared by the tests: a folder to work in, the module under test, and calls of the program."""
import atexit
import contextlib
import importlib
import linecache
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import textwrap
import traceback
import unittest
import warnings

if os.environ.get("PYTHONHASHSEED") != "0":  # else each process of Buzzer starts a second time
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable, *sys.argv])

HERE = os.getcwd()
PACKAGES = os.path.abspath(sys.argv.pop(1))  # the folder with `buzzer`
RUNTIME = "python-{}.{}.{}".format(*sys.version_info)

sys.path.insert(0, PACKAGES)
os.environ["PYTHONPATH"] = PACKAGES
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # a file that changes within a second is read again
sys.dont_write_bytecode = True

from buzzer import case  # noqa: E402

FOLDER = tempfile.mkdtemp(prefix="buzzer_python_test.")
atexit.register(shutil.rmtree, FOLDER)
os.chdir(FOLDER)

# A lock that is not released by a task that is cancelled while it holds it; the same, repaired; and
# a check that fails at once.
TESTS = '''
    import asyncio
    import buzzer


    async def use(sim, lock, give_back):
        async def worker():
            await lock.acquire()
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                if give_back:
                    lock.release()
                raise
            lock.release()

        tasks = [sim.spawn(None, worker(), name=f"worker-{n}") for n in range(3)]
        await asyncio.wait(tasks)


    @buzzer.test(runs=200)
    async def test_leaks(sim):
        """A lock that leaks."""
        await use(sim, sim.watch(asyncio.Lock()), False)


    @buzzer.test(runs=50)
    async def test_holds(sim):
        await use(sim, sim.watch(asyncio.Lock()), True)


    @buzzer.test(runs=5, cancel="none", no_shrink=True)
    async def test_check(sim):
        await asyncio.sleep(0)
        sim.check(False, "says no")
'''


def write(path, text):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(textwrap.dedent(text).lstrip("\n"))
    return path


@contextlib.contextmanager
def _as_it_was():
    """What a call leaves in this process, but for modules of libraries."""
    names = "stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__", "argv", "path"
    kept = {name: getattr(sys, name) for name in names}
    environment, profiles = dict(os.environ), dict(case._profiles)
    descriptors = [os.dup(number) for number in range(3)]
    sys.path = list(sys.path)
    with warnings.catch_warnings():
        yield
    vars(sys).update(kept)
    os.environ.clear()
    os.environ.update(environment)
    case._profiles.clear()
    case._profiles.update(profiles)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(FOLDER):
            del sys.modules[name]
    linecache.clearcache()
    importlib.invalidate_caches()


def _call_here(module, words, stdin, environment):
    """This process is `python3 -m MODULE` for a while."""
    importlib.import_module("buzzer.loop")  # each process of the program has it then
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(stdin.encode())
        files[0].seek(0)
        sys.stdout.flush()
        sys.stderr.flush()
        with _as_it_was():
            for number, file in enumerate(files):
                os.dup2(file.fileno(), number)
            sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = [
                open(number, mode, encoding="utf-8", closefd=False)
                for number, mode in enumerate("rww")]
            os.environ.update(environment)
            sys.argv = [module, *words]
            sys.path[:2] = [os.getcwd(), PACKAGES]
            code = 0
            try:
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
            except BaseException:
                traceback.print_exc()
                code = 1
            sys.stdout.flush()
            sys.stderr.flush()
        for file in files:
            file.seek(0)
        return code, *(file.read().decode("utf-8", "replace") for file in files[1:])


def _call_new(module, words, stdin, environment):
    done = subprocess.run([sys.executable, "-m", module, *words], input=stdin, capture_output=True,
                          text=True, timeout=300, check=False, env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=FOLDER)
        os.chdir(self.folder)

    def call(self, *words, code=0, stdin="", module="buzzer", is_new=False, **environment):
        """Runs python3 -m MODULE, in this process, where nothing has to be imported again; returns
        what it wrote on standard output and error."""
        call = _call_new if is_new else _call_here
        got, output, errors = call(module, words, stdin, environment)
        self.assertEqual(got, code, f"{words}\n{output}\n{errors}")
        return output, errors

    def line(self, text, head):
        """The rest of the first line that begins with `head`."""
        for line in text.splitlines():
            if line.startswith(head):
                return line[len(head):].strip()
        self.fail(f"no line begins with '{head}':\n{text}")
        return None

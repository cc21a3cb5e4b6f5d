"""Shared by the tests: a folder to work in, the module under test, and calls of the program."""
import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.getcwd()
PACKAGES = os.path.abspath(sys.argv.pop(1))  # the folder with `buzzer`
RUNTIME = "python-{}.{}.{}".format(*sys.version_info)

sys.path.insert(0, PACKAGES)
os.environ["PYTHONPATH"] = PACKAGES
os.environ["PYTHONHASHSEED"] = "0"  # which spares a second start
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # a file that changes within a second is read again
sys.dont_write_bytecode = True

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


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=FOLDER)
        os.chdir(self.folder)

    def call(self, *words, code=0, stdin="", module="buzzer", **environment):
        """Runs python3 -m MODULE; returns what it wrote on standard output and error."""
        done = subprocess.run([sys.executable, "-m", module, *words], input=stdin,
                              capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def line(self, text, head):
        """The rest of the first line that begins with `head`."""
        for line in text.splitlines():
            if line.startswith(head):
                return line[len(head):].strip()
        self.fail(f"no line begins with '{head}':\n{text}")
        return None

"""wheel_test.py SOURCES FOLDER: the wheel of the module in FOLDER, in a virtual environment.

SOURCES is tools/python. The module itself is not built again; `tools/dev python` does that.
"""
import glob
import importlib.util
import os
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile

SOURCES, BUILD = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
os.environ.pop("PYTHONPATH", None)
sys.path.insert(0, SOURCES)
sys.dont_write_bytecode = True
import build_wheel  # noqa: E402

TEST = """
import asyncio
import buzzer

@buzzer.test(runs=100, no_shrink=True)
async def test_pool(sim):
    sim.check(False, "no")
"""


def run(*words, cwd=None, **environment):
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=cwd, check=False,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout + done.stderr


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="buzzer_wheel_test.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_installed(self):
        if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("pip") is None:
            self.skipTest("no pip, or no venv")
        extension, = glob.glob(os.path.join(
            BUILD, "tools", "python", "buzzer", "_native" + sysconfig.get_config_var("EXT_SUFFIX")))
        wheel = os.path.join(self.folder, build_wheel.pack(extension, self.folder))
        with zipfile.ZipFile(wheel) as archive:
            names = set(archive.namelist())
        sources = glob.glob(os.path.join(SOURCES, "buzzer", "*.py"))
        self.assertLessEqual({f"buzzer/{os.path.basename(path)}" for path in sources}, names)
        self.assertRegex(wheel, r"-manylinux_2_\d\d_\w+\.whl$")
        self.assertIn("buzzer/libcjson.so.1", names)
        place = os.path.join(self.folder, "venv")
        code, text = run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip",
                         place)
        self.assertEqual(code, 0, text)
        python = os.path.join(place, "bin", "python")
        code, text = run(sys.executable, "-m", "pip", "--disable-pip-version-check", "install",
                         "--no-index", "--no-deps", "--prefix", place, "--ignore-installed", wheel)
        self.assertEqual(code, 0, text)
        if "$ORIGIN" in run("objdump", "-p", extension)[1]:  # of a wheel, not of a build for tests
            code, text = run(python, "-c", "import buzzer._native; print(open('/proc/self/maps').read())")
            self.assertRegex(text, rf"{place}/\S+/buzzer/libcjson.so.1")
        with open(os.path.join(self.folder, "test_it.py"), "w", encoding="utf-8") as file:
            file.write(TEST)
        code, text = run(python, "-m", "buzzer", "run", "test_it.py", cwd=self.folder)
        self.assertEqual(code, 1, text)
        self.assertIn("violation: assertion", text)
        if importlib.util.find_spec("pytest") is not None: # the plug-in needs no option
            code, text = run(python, "-m", "pytest", "-q", cwd=self.folder)
            self.assertEqual(code, 1, text)
            self.assertIn("violation: assertion", text)

    def test_metadata(self):
        name = build_wheel.prepare_metadata_for_build_wheel(self.folder)
        with open(os.path.join(self.folder, name, "METADATA"), encoding="utf-8") as file:
            self.assertIn("Name: buzzer\nVersion: ", file.read())
        self.assertEqual(build_wheel.get_requires_for_build_wheel(), [])

    def refuses(self, call, *messages, **environment):
        program = f"import sys; sys.path.insert(0, {SOURCES!r}); import build_wheel; {call}"
        code, text = run(sys.executable, "-c", program, cwd=self.folder, **environment)
        self.assertEqual(code, 1, text)
        for message in messages:
            self.assertIn(message, text)
        self.assertNotIn("Traceback", text)

    def test_what_is_missing(self):
        build = "build_wheel.build_wheel('.')"
        self.refuses(build, "buzzer: cmake is missing", "apt-get install", PATH=self.folder)
        os.symlink("/bin/true", os.path.join(self.folder, "cmake"))
        self.refuses(build, "buzzer: ninja or make is missing", PATH=self.folder)
        self.refuses("import sysconfig; sysconfig.get_path = lambda name: '/none'; " + build,
                     "buzzer: /none/Python.h is missing", "python3-dev")
        self.refuses("build_wheel.ROOT = '/none'; " + build, "was copied out of the sources")
        self.refuses("build_wheel.build_sdist('.')", "there is no sdist")

    def test_failed_build(self):
        """A compiler that is none: the end of the log, or a remedy."""
        self.refuses("build_wheel.build_wheel('.')", "buzzer: ", CC="/none/cc")


if __name__ == "__main__":
    unittest.main()

"""readme_test.py FOLDER README: the section "A failing test in Python" is true.

Writes its program into the file that it names, runs its commands, and compares what they print.
"""
import os
import re
import subprocess
import sys
import unittest

import support
from support import RUNTIME, write

with open(os.path.join(support.HERE, sys.argv.pop(1)), encoding="utf-8") as readme:
    SECTION = readme.read().partition("## A failing test in Python\n")[2].partition("\n## ")[0]
WRITTEN_WITH = "python-3.11."  # another minor version may run otherwise
LINES_MAX = 10


class Readme(support.Case):
    def setUp(self):
        super().setUp()
        os.mkdir("bin")
        os.symlink(sys.executable, "bin/python3")
        self.environment = {**os.environ, "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"}
        self.program = re.search(r"```python\n(.*?)```", SECTION, re.DOTALL).group(1)
        self.file = re.search(r"Save this as `([\w.]+)`", SECTION).group(1)
        write(self.file, self.program)

    def test_is_short(self):
        self.assertLessEqual(len([line for line in self.program.splitlines() if line]), LINES_MAX)

    def test_commands(self):
        block = re.search(r"```shell-session\n(.*?)```", SECTION, re.DOTALL).group(1)
        commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
        self.assertEqual(len(commands), 2)
        recorded = re.search(r"python-[\d.]+", block).group()
        for command, expected in commands:
            command = command.replace(recorded, RUNTIME)
            printed = subprocess.run(["bash", "-c", command], capture_output=True, text=True,
                                     env=self.environment, check=False, timeout=300).stdout
            if RUNTIME.startswith(WRITTEN_WITH):
                self.assertEqual(printed, expected.replace(recorded, RUNTIME))
            elif command.startswith("python3 -m buzzer run"):
                self.assertIn("violation: deadlock", printed)

    def test_repaired(self):
        """What the section says makes it pass."""
        self.assertIn("Write `async with lock:`", SECTION)
        repaired = re.sub(r"await lock.acquire\(\)\n(.*)\n +lock.release\(\)",
                          r"async with lock:\n    \1", self.program)
        self.assertIn("async with", repaired)
        write("test_repaired.py", repaired)
        output, _ = self.call("run", "test_repaired.py", "--runs", "500")
        self.assertIn("no violation found", output)


if __name__ == "__main__":
    unittest.main()

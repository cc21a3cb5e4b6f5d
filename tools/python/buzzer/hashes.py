"""Sets of texts come in the order of their hashes, which differ from process to process."""
import os
import sys


def is_program():
    """True while `python3 -m buzzer` imports the package: from 3.10 on."""
    words = getattr(sys, "orig_argv", [])
    called = words[-len(sys.argv):][:1]
    return sys.argv[:1] == ["-m"] and called in (["buzzer"], ["-mbuzzer"])


def pin():
    """Starts this `python3 -m buzzer` again, with hashes that are always the same."""
    if sys.flags.hash_randomization and "PYTHONHASHSEED" not in os.environ:
        os.environ["PYTHONHASHSEED"] = "0"
        command = getattr(sys, "orig_argv", None)  # not in 3.9
        if command is None:
            command = [sys.executable, "-m", "buzzer", *sys.argv[1:]]
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, *command[1:]])

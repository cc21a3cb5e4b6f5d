"""The commands of `buzzer replay --gdb`, for a gdb with Python: bz tasks, bz bt TASK, bz go STEP. They
need no debug information of the program.

bz bt gives gdb no other registers: for the length of one backtrace, an unwinder says that the frame
where the program stopped was called by the suspended task. So nothing in the program changes.
"""
import gdb
import gdb.unwinder

for setting in ("confirm", "startup-with-shell"):
    gdb.execute(f"set {setting} off")

REGISTERS = {"i386:x86-64": ("rip", "rsp", "rbp"), "aarch64": ("pc", "sp", "x29")}


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class TaskUnwinder(gdb.unwinder.Unwinder):
    def __init__(self):
        super().__init__("buzzer-task")
        self.stack = None  # pc, sp, fp of the task that is shown
        self.top = None  # the stack pointer of the frame below which it is shown
        self.names = None  # of the three registers

    def __call__(self, pending):
        if self.stack is None:
            return None
        if int(pending.read_register("sp")) != self.top:
            return None
        # Callers have larger addresses, and gdb insists on it.
        frame = pending.create_unwind_info(FrameId(gdb.Value(self.stack[1] - 16),
                                                   pending.read_register("pc")))
        for name, value in zip(self.names, self.stack):
            frame.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
        return frame


unwinder = TaskUnwinder()
gdb.unwinder.register_unwinder(None, unwinder, True)


def text_of_tasks(which):
    """0: lines for people; 1: for tasks()."""
    text = gdb.parse_and_eval(f"*((char **)&bz_debug_tasks + {which})")
    return "" if int(text) == 0 else text.string(errors="replace")


def tasks():
    """Number, name, (pc, sp, fp) of each task."""
    for line in text_of_tasks(1).splitlines():
        number, rest = line.split(" ", 1)
        name, *registers = rest.rsplit(" ", 3)
        yield int(number), name, tuple(int(register, 16) for register in registers)


class Prefix(gdb.Command):
    """Commands for a run of Buzzer: bz tasks, bz bt TASK, bz go STEP.
They know the tasks as they were right before the step at which bz_debug_step() stopped."""

    def __init__(self):
        super().__init__("bz", gdb.COMMAND_USER, prefix=True)


class Tasks(gdb.Command):
    """List the tasks: number, name, state, what they wait for."""

    def __init__(self):
        super().__init__("bz tasks", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        print((text_of_tasks(0) or "no tasks yet: the run has not begun").rstrip("\n"))


class Go(gdb.Command):
    """Continue, and stop before a later step: bz go STEP."""

    def __init__(self):
        super().__init__("bz go", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        if not argument.strip().isdecimal():
            raise gdb.GdbError("usage: bz go STEP")
        gdb.execute(f"set var *(unsigned *)&bz_debug_next = {argument.strip()}")
        gdb.execute("continue")


class Backtrace(gdb.Command):
    """Show the stack of a suspended task: bz bt TASK, by name or number."""

    def __init__(self):
        super().__init__("bz bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        wanted = argument.strip()
        found = [task for task in tasks() if wanted in (str(task[0]), task[1])]
        if not wanted:
            raise gdb.GdbError("usage: bz bt TASK, by name or number")
        if not found:
            raise gdb.GdbError(f"no task '{wanted}': 'bz tasks' lists them")
        number, name, stack = found[0]
        if stack[0] == 0:
            raise gdb.GdbError(f"task {number}, {name}, has no suspended stack: it has not "
                               "started, or has ended")
        print(f"task {number}, {name}:")
        print(self.frames(stack))

    @staticmethod
    def frames(stack):
        newest = gdb.newest_frame()
        unwinder.names = REGISTERS.get(newest.architecture().name())
        if unwinder.names is None:
            raise gdb.GdbError(f"not for the architecture {newest.architecture().name()}")
        unwinder.top = int(newest.read_register("sp"))
        unwinder.stack = stack
        try:
            gdb.invalidate_cached_frames()
            text = gdb.execute("backtrace", to_string=True)
        finally:
            unwinder.stack = None
            gdb.invalidate_cached_frames()
        start = text.find("\n#1 ")  # frame 0 is where the program stopped
        return text[start + 1:].rstrip("\n")


for command in (Prefix, Tasks, Go, Backtrace):
    command()

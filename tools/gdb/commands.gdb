# The commands of `buzzer replay --gdb`, in gdb's own language: they need neither Python nor debug
# information of the program. With Python, commands.py replaces `bz bt`. The test gdb runs both.
set confirm off
set startup-with-shell off

define-prefix bz
document bz
Commands for a run of Buzzer: bz tasks, bz bt TASK, bz go STEP.
They know the tasks as they were right before the step at which bz_debug_step() stopped.
end

define bz tasks
  if *(char **)&bz_debug_tasks == 0
    printf "no tasks yet: the run has not begun\n"
  else
    printf "%s", *(char **)&bz_debug_tasks
  end
end
document bz tasks
List the tasks: number, name, state, what they wait for.
end

define bz go
  if $argc != 1
    printf "usage: bz go STEP\n"
  else
    set var *(unsigned *)&bz_debug_next = $arg0
    continue
  end
end
document bz go
Go on, and stop before a later step: bz go STEP.
end

define bz bt
  set $bz_task = 0
  if $argc == 1
    set $bz_task = $arg0
  end
  if $bz_task < 1 || $bz_task > *(unsigned *)((char **)&bz_debug_tasks + 3)
    printf "usage: bz bt NUMBER, a task of 'bz tasks' (by its name, gdb needs Python)\n"
  else
    set $bz_stack = *((unsigned long **)&bz_debug_tasks + 2) + 3 * ($bz_task - 1)
    if $bz_stack[0] == 0
      printf "task %u has no suspended stack: it has not started, or has ended\n", $bz_task
    else
      select-frame 0
      set $bz_pc = $pc
      set $bz_sp = $sp
      set $bz_fp = @FP@
      set $sp = $bz_stack[1]
      set @FP@ = $bz_stack[2]
      set $pc = $bz_stack[0]
      bt
      set $pc = $bz_pc
      set @FP@ = $bz_fp
      set $sp = $bz_sp
      select-frame 0
    end
  end
end
document bz bt
Show the stack of a suspended task: bz bt TASK.
end

# The commands of `buzzer replay --gdb`, in gdb's own language: they need neither Python nor debug
# information of the program. With Python, commands.py replaces `bz bt`.
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
  printf "bz bt needs a gdb with Python\n"
end
document bz bt
Show the stack of a suspended task: bz bt TASK.
end

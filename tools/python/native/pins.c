/* Sources of differences between runs, and ways out of the simulation, during a run: clocks,
 * random numbers and numbers of processes are those of the run, and time.sleep() moves the clock;
 * threads, processes and sockets are refused.
 *
 * A function of the interpreter is replaced in its definition, so that those who imported it before
 * are also pinned. Between runs everything is as it was. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/python/native/native.h"

#define EPOCH_S 1000000000 /* what the system's clock shows when a run begins: 9 September 2001 */

/* --- the clocks ------------------------------------------------------------------------------- */

/* Functions of the kinds METH_FASTCALL, with and without names. */
typedef PyObject *(*fast_function)(PyObject *, PyObject *const *, Py_ssize_t);
typedef PyObject *(*named_function)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
#define FAST(function) ((fast_function)(void (*)(void))(function))
#define NAMED(function) ((named_function)(void (*)(void))(function))

/* The functions that were there before. */
static PyCFunction real_sleep, real_localtime, real_gmtime, real_ctime, real_asctime, real_strftime,
    real_clock, real_clock_ns, real_utcnow, real_urandom, real_random, real_bits, real_now,
    real_exit, real_seed, real_kill, real_start;
static PyCFunctionWithKeywords real_start_joinable, real_acquire;

static bool is_pinned(void) {
    return bz_py_current != NULL && bz_py_current->judge != NULL;
}

/* A function without arguments, and the value that it has in a run. */
#define PIN(name, value)                                                                           \
    static PyCFunction real_##name;                                                                \
    static PyObject *pinned_##name(PyObject *self, PyObject *args) {                               \
        return bz_py_current == NULL ? real_##name(self, args) : (value);                          \
    }

static uint64_t clock_ns(void) {
    return bz_py_current->now_ns + bz_py_current->late_ns;
}

static PyObject *seconds(uint64_t from_s) {
    uint64_t now_ns = clock_ns();
    return PyFloat_FromDouble((double)(from_s + now_ns / 1000000000u) +
                              (double)(now_ns % 1000000000u) / 1e9);
}

static PyObject *nanoseconds(uint64_t from_s) {
    return PyLong_FromUnsignedLongLong(from_s * 1000000000u + clock_ns());
}

PIN(time, seconds(EPOCH_S))
PIN(time_ns, nanoseconds(EPOCH_S))
PIN(monotonic, seconds(0))
PIN(monotonic_ns, nanoseconds(0))
PIN(perf, seconds(0))
PIN(perf_ns, nanoseconds(0))
/* CPU time: that of slow steps; a sleep takes none. */
static uint64_t busy_ns(void) {
    return is_pinned() ? bz_judge_lag_ns(bz_py_current->judge) : 0;
}

PIN(process, PyFloat_FromDouble((double)busy_ns() / 1e9))
PIN(process_ns, PyLong_FromUnsignedLongLong(busy_ns()))
PIN(thread, PyFloat_FromDouble((double)busy_ns() / 1e9))
PIN(thread_ns, PyLong_FromUnsignedLongLong(busy_ns()))

/* Functions of a time, which is now where it is left out: behind so many arguments (0 or 1), as
 * seconds or as a date. */
static PyObject *with_now(PyCFunction real, PyObject *self, PyObject *args, Py_ssize_t place,
                          bool is_date) {
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    bool is_none = count == place + 1 && !is_date && PyTuple_GET_ITEM(args, place) == Py_None;
    if (bz_py_current == NULL || (count != place && !is_none)) {
        return real(self, args);
    }
    PyObject *all = Py_BuildValue("(N)", seconds(EPOCH_S));
    if (is_date && all != NULL) {
        Py_SETREF(all, real_localtime(self, all));
        all = all == NULL  ? NULL
              : place == 0 ? Py_BuildValue("(N)", all)
                           : Py_BuildValue("(ON)", PyTuple_GET_ITEM(args, 0), all);
    }
    PyObject *result = all == NULL ? NULL : real(self, all);
    Py_XDECREF(all);
    return result;
}

#define PIN_NOW(name, place, is_date)                                                              \
    static PyObject *pinned_##name(PyObject *self, PyObject *args) {                               \
        return with_now(real_##name, self, args, place, is_date);                                  \
    }
PIN_NOW(localtime, 0, false)
PIN_NOW(gmtime, 0, false)
PIN_NOW(ctime, 0, false)
PIN_NOW(asctime, 0, true)
PIN_NOW(strftime, 1, true)

/* The time of a clock of the system; false: it is not pinned. */
static bool read_clock(long clock, uint64_t *ns) {
    bool is_date = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
    bool is_busy = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
    *ns = is_busy ? busy_ns() : clock_ns() + (is_date ? EPOCH_S * UINT64_C(1000000000) : 0);
    return is_date || is_busy || clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
           clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME;
}

/* clock_gettime() and clock_gettime_ns(): of a tuple, since 3.13 of its item. */
static PyObject *clock_of(PyCFunction real, PyObject *self, PyObject *arg, bool is_ns) {
    PyObject *number = !PyTuple_Check(arg)          ? arg
                       : PyTuple_GET_SIZE(arg) == 1 ? PyTuple_GET_ITEM(arg, 0)
                                                    : NULL;
    long clock = number != NULL && PyLong_Check(number) ? PyLong_AsLong(number) : -1;
    uint64_t ns;
    PyErr_Clear(); /* then the real one says so */
    if (bz_py_current == NULL || !read_clock(clock, &ns)) {
        return real(self, arg);
    }
    return is_ns
               ? PyLong_FromUnsignedLongLong(ns)
               : PyFloat_FromDouble((double)(ns / 1000000000u) + (double)(ns % 1000000000u) / 1e9);
}

static PyObject *pinned_clock(PyObject *self, PyObject *arg) {
    return clock_of(real_clock, self, arg, false);
}

static PyObject *pinned_clock_ns(PyObject *self, PyObject *arg) {
    return clock_of(real_clock_ns, self, arg, true);
}

static PyObject *pinned_utcnow(PyObject *type, PyObject *args) {
    return bz_py_current == NULL
               ? real_utcnow(type, args)
               : PyObject_CallMethod(type, "utcfromtimestamp", "N", seconds(EPOCH_S));
}

/* datetime.now(tz=None) */
static PyObject *pinned_now(PyObject *type, PyObject *const *args, Py_ssize_t count,
                            PyObject *names) {
    Py_ssize_t all = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    if (bz_py_current == NULL || all > 1) {
        return NAMED(real_now)(type, args, count, names);
    }
    return PyObject_CallMethod(type, "fromtimestamp", "NO", seconds(EPOCH_S),
                               all == 0 ? Py_None : args[0]);
}

/* The step takes so long. A thread would sleep beside the loop. */
static PyObject *pinned_sleep(PyObject *self, PyObject *argument) {
    double ns = bz_py_current == NULL ? -1 : PyFloat_AsDouble(argument) * 1e9;
    PyErr_Clear(); /* then the real one says so */
    if (!(ns >= 0)) {
        return real_sleep(self, argument);
    }
    PyObject *is_thread = PyObject_CallMethod((PyObject *)bz_py_current, "_is_in_thread", NULL);
    if (is_thread == NULL) {
        return NULL;
    }
    Py_DECREF(is_thread);
    if (is_thread == Py_True || ns > (double)(BZ_TIME_MAX_NS - bz_py_current->now_ns)) {
        return bz_py_loop_refuse(
            bz_py_current, "time.sleep() in a thread of an executor, which would sleep beside "
                           "the loop (or for years): use asyncio.sleep()");
    }
    if (is_pinned()) {
        bz_py_current->now_ns += (uint64_t)(ns + 0.999); /* no less, as in reality */
        bz_judge_sleep(bz_py_current->judge, bz_py_current->now_ns);
    }
    Py_RETURN_NONE;
}

/* --- random numbers --------------------------------------------------------------------------- */

/* A seed that the strategy chooses, and the trace holds. */
static uint64_t draw_seed(const char *label) {
    return bz_judge_draw(bz_py_current->judge, label, UINT64_C(1) << 32u);
}

/* splitmix64 */
static uint64_t next_word(void) {
    uint64_t word = bz_py_current->chaos += UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 30u) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ word >> 27u) * UINT64_C(0x94d049bb133111eb);
    return word ^ word >> 31u;
}

static PyObject *pinned_urandom(PyObject *self, PyObject *argument) {
    Py_ssize_t count = is_pinned() ? PyLong_AsSsize_t(argument) : -1;
    PyErr_Clear();
    if (count < 0) {
        return real_urandom(self, argument);
    }
    if (bz_py_current->chaos == 0) {
        bz_py_current->chaos = draw_seed("os.urandom") + 1;
    }
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, count);
    char *text = bytes == NULL ? NULL : PyBytes_AS_STRING(bytes);
    for (Py_ssize_t index = 0; text != NULL && index < count; index += 8) {
        uint64_t word = next_word();
        size_t left = (size_t)(count - index);
        memcpy(text + index, &word, left < sizeof word ? left : sizeof word);
    }
    return bytes;
}

static PyObject *shared_random; /* random._inst: that of the functions of the module */

/* Before the first number of a run from the module random. False with an exception. */
static bool seed_shared(PyObject *self) {
    if (self != shared_random || !is_pinned() || bz_py_current->is_random_drawn) {
        return true;
    }
    bz_py_current->is_random_drawn = true;
    PyObject *result = PyObject_CallMethod(self, "seed", "K", draw_seed("random"));
    Py_XDECREF(result);
    return result != NULL;
}

static PyObject *pinned_random(PyObject *self, PyObject *args) {
    return seed_shared(self) ? real_random(self, args) : NULL;
}

static PyObject *pinned_bits(PyObject *self, PyObject *argument) {
    return seed_shared(self) ? real_bits(self, argument) : NULL;
}

/* The argument of Random() and seed(). None would take the seed from the system.
 * random.Random.seed() passes its argument. */
static PyObject *seed_for(PyObject *self, PyObject *argument) {
    if (is_pinned()) {
        bz_py_current->is_random_drawn |= self == shared_random;
        if (argument == Py_None) {
            return PyLong_FromUnsignedLongLong(draw_seed("random"));
        }
    }
    Py_INCREF(argument);
    return argument;
}

static PyObject *pinned_seed(PyObject *self, PyObject *argument) {
    PyObject *seed = seed_for(self, argument);
    PyObject *result = seed == NULL ? NULL : real_seed(self, seed);
    Py_XDECREF(seed);
    return result;
}

static PyObject *pinned_seed_fast(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    PyObject *seed = count > 1 ? NULL : seed_for(self, count == 0 ? Py_None : args[0]);
    PyObject *result = count > 1      ? FAST(real_seed)(self, args, count)
                       : seed == NULL ? NULL
                                      : FAST(real_seed)(self, &seed, 1);
    Py_XDECREF(seed);
    return result;
}

/* --- numbers of processes --------------------------------------------------------------------- */

/* They differ from process to process, so a run that depended on them would not replay. No process
 * has these: Linux has none above 4194303. */
#define PINNED_PID 4194304
#define PINNED_PARENT 4194305

PIN(getpid, PyLong_FromLong(PINNED_PID))
PIN(getppid, PyLong_FromLong(PINNED_PARENT))
PIN(native_id, PyLong_FromLong(PINNED_PID))

static PyObject *pinned_kill(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    long pid = is_pinned() && count == 2 && PyLong_Check(args[0]) ? PyLong_AsLong(args[0]) : 0;
    PyErr_Clear(); /* then the real one says so */
    if (pid != PINNED_PID && pid != PINNED_PARENT) {
        return FAST(real_kill)(self, args, count);
    }
    PyObject *own[] = {PyLong_FromLong(pid == PINNED_PID ? getpid() : getppid()), args[1]};
    PyObject *result = own[0] == NULL ? NULL : FAST(real_kill)(self, own, count);
    Py_XDECREF(own[0]);
    return result;
}

/* --- the end of the process ------------------------------------------------------------------- */

static PyObject *pinned_exit(PyObject *self, PyObject *const *args, Py_ssize_t count,
                             PyObject *names) {
    if (bz_py_current != NULL) {
        bz_py_note_place();
    }
    return NAMED(real_exit)(self, args, count, names);
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Not every version has an audit event for them. */
#define NO_THREADS                                                                                 \
    "a thread, whose order would be left to the system: asyncio.to_thread() and functions of "     \
    "ThreadPoolExecutor are steps of the run"

static PyObject *pinned_start(PyObject *self, PyObject *args) {
    return bz_py_current == NULL ? real_start(self, args)
                                 : bz_py_loop_refuse(bz_py_current, NO_THREADS);
}

static PyObject *pinned_start_joinable(PyObject *self, PyObject *args, PyObject *kwargs) {
    return bz_py_current == NULL ? real_start_joinable(self, args, kwargs)
                                 : bz_py_loop_refuse(bz_py_current, NO_THREADS);
}

/* A lock that is held stays so: no other task can release it. */
static PyObject *pinned_acquire(PyObject *self, PyObject *args, PyObject *kwargs) {
    if (bz_py_current == NULL) {
        return real_acquire(self, args, kwargs);
    }
    PyObject *blocking = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0)
                         : kwargs == NULL           ? NULL
                                                    : PyDict_GetItemString(kwargs, "blocking");
    if (blocking != NULL && PyObject_IsTrue(blocking) != 1) {
        return real_acquire(self, args, kwargs);
    }
    PyObject *at_once = Py_BuildValue("(O)", Py_False);
    PyObject *result = at_once == NULL ? NULL : real_acquire(self, at_once, NULL);
    Py_XDECREF(at_once);
    if (result != Py_False) {
        return result;
    }
    Py_DECREF(result);
    return bz_py_loop_refuse(bz_py_current, "a lock or a wait of the module threading, which only "
                                            "another thread could end: functions of executors, "
                                            "too, run in that of the loop");
}

/* --- what is refused -------------------------------------------------------------------------- */

#define NO_NETWORK                                                                                 \
    "of the system: use socket.socket by this name, which in a run is one of the network in "      \
    "memory"

static const struct {
    const char *event; /* of sys.audit() */
    const char *sentence;
} refused[] = {
    {"socket.__new__", "a socket " NO_NETWORK},
    {"socket.getaddrinfo", "a look-up of a name " NO_NETWORK},
    {"socket.gethostbyname", "a look-up of a name " NO_NETWORK},
    {"subprocess.Popen", "another process: a simulation is one process"},
    {"os.fork", "os.fork(): a simulation is one process"},
    {"os.forkpty", "os.forkpty(): a simulation is one process"},
    {"os.system", "os.system(): a simulation is one process"},
    {"os.exec", "os.exec(): a simulation is one process"},
    {"os.posix_spawn", "os.posix_spawn(): a simulation is one process"},
};

static int on_audit(const char *event, PyObject *args, void *context) {
    (void)args;
    (void)context;
    if (bz_py_current == NULL) {
        return 0;
    }
    for (size_t index = 0; index < sizeof refused / sizeof refused[0]; index++) {
        if (strcmp(event, refused[index].event) == 0) {
            bz_py_loop_refuse(bz_py_current, refused[index].sentence);
            return -1;
        }
    }
    return 0;
}

/* --- installation ----------------------------------------------------------------------------- */

#define PLAIN(function) ((PyCFunction)(void (*)(void))(function))

/* Names of one function share what was there before. */
static const struct pin {
    const char *module;
    const char *type; /* whose method it is; NULL: a function of the module */
    const char *name;
    int flags;
    PyCFunction pinned;
    PyCFunction *real;
} pins[] = {
    {"time", NULL, "time", METH_NOARGS, pinned_time, &real_time},
    {"time", NULL, "time_ns", METH_NOARGS, pinned_time_ns, &real_time_ns},
    {"time", NULL, "monotonic", METH_NOARGS, pinned_monotonic, &real_monotonic},
    {"time", NULL, "monotonic_ns", METH_NOARGS, pinned_monotonic_ns, &real_monotonic_ns},
    {"time", NULL, "perf_counter", METH_NOARGS, pinned_perf, &real_perf},
    {"time", NULL, "perf_counter_ns", METH_NOARGS, pinned_perf_ns, &real_perf_ns},
    {"time", NULL, "process_time", METH_NOARGS, pinned_process, &real_process},
    {"time", NULL, "process_time_ns", METH_NOARGS, pinned_process_ns, &real_process_ns},
    {"time", NULL, "thread_time", METH_NOARGS, pinned_thread, &real_thread},
    {"time", NULL, "thread_time_ns", METH_NOARGS, pinned_thread_ns, &real_thread_ns},
    {"time", NULL, "localtime", METH_VARARGS, pinned_localtime, &real_localtime},
    {"time", NULL, "gmtime", METH_VARARGS, pinned_gmtime, &real_gmtime},
    {"time", NULL, "ctime", METH_VARARGS, pinned_ctime, &real_ctime},
    {"time", NULL, "asctime", METH_VARARGS, pinned_asctime, &real_asctime},
    {"time", NULL, "strftime", METH_VARARGS, pinned_strftime, &real_strftime},
    {"time", NULL, "clock_gettime", METH_VARARGS, pinned_clock, &real_clock},
    {"time", NULL, "clock_gettime", METH_O, pinned_clock, &real_clock},
    {"time", NULL, "clock_gettime_ns", METH_VARARGS, pinned_clock_ns, &real_clock_ns},
    {"time", NULL, "clock_gettime_ns", METH_O, pinned_clock_ns, &real_clock_ns},
    {"time", NULL, "sleep", METH_O, pinned_sleep, &real_sleep},
    {"_datetime", "datetime", "utcnow", METH_NOARGS | METH_CLASS, pinned_utcnow, &real_utcnow},
    {"_datetime", "datetime", "now", METH_FASTCALL | METH_KEYWORDS | METH_CLASS, PLAIN(pinned_now),
     &real_now},
    {"posix", NULL, "urandom", METH_O, pinned_urandom, &real_urandom},
    {"posix", NULL, "getpid", METH_NOARGS, pinned_getpid, &real_getpid},
    {"posix", NULL, "getppid", METH_NOARGS, pinned_getppid, &real_getppid},
    {"posix", NULL, "kill", METH_FASTCALL, PLAIN(pinned_kill), &real_kill},
    {"_thread", NULL, "get_native_id", METH_NOARGS, pinned_native_id, &real_native_id},
    {"posix", NULL, "_exit", METH_FASTCALL | METH_KEYWORDS, PLAIN(pinned_exit), &real_exit},
    {"_thread", NULL, "start_new_thread", METH_VARARGS, pinned_start, &real_start},
    {"_thread", NULL, "start_new", METH_VARARGS, pinned_start, &real_start},
    {"_thread", NULL, "start_joinable_thread", METH_VARARGS | METH_KEYWORDS,
     PLAIN(pinned_start_joinable), (PyCFunction *)&real_start_joinable},
    {"_thread", "LockType", "acquire", METH_VARARGS | METH_KEYWORDS, PLAIN(pinned_acquire),
     (PyCFunction *)&real_acquire},
    {"_thread", "LockType", "acquire_lock", METH_VARARGS | METH_KEYWORDS, PLAIN(pinned_acquire),
     (PyCFunction *)&real_acquire},
    {"_thread", "LockType", "__enter__", METH_VARARGS | METH_KEYWORDS, PLAIN(pinned_acquire),
     (PyCFunction *)&real_acquire},
    {"_random", "Random", "random", METH_NOARGS, pinned_random, &real_random},
    {"_random", "Random", "getrandbits", METH_O, pinned_bits, &real_bits},
    {"_random", "Random", "seed", METH_O, pinned_seed, &real_seed},
    {"_random", "Random", "seed", METH_FASTCALL, PLAIN(pinned_seed_fast), &real_seed},
};

/* The definition of a function or a method in C; NULL: it is none. */
static PyMethodDef *definition_of(const struct pin *pin) {
    PyMethodDef *definition = NULL;
    PyObject *module = PyImport_ImportModule(pin->module);
    PyObject *holder =
        module == NULL || pin->type == NULL ? module : PyObject_GetAttrString(module, pin->type);
    PyObject *dict = holder == NULL ? NULL : PyObject_GetAttrString(holder, "__dict__");
    PyObject *function = dict == NULL ? NULL : PyMapping_GetItemString(dict, pin->name);
    if (function != NULL && PyCFunction_Check(function)) {
        definition = ((PyCFunctionObject *)function)->m_ml;
    } else if (function != NULL && (Py_IS_TYPE(function, &PyMethodDescr_Type) ||
                                    Py_IS_TYPE(function, &PyClassMethodDescr_Type))) {
        definition = ((PyMethodDescrObject *)function)->d_method;
    }
    PyErr_Clear();
    Py_XDECREF(function);
    Py_XDECREF(dict);
    if (holder != module) {
        Py_XDECREF(holder);
    }
    Py_XDECREF(module);
    return definition;
}

bool bz_py_pins_init(void) {
    shared_random = bz_py_attribute("random", "_inst");
    if (shared_random == NULL) {
        return false;
    }
    for (size_t index = 0; index < sizeof pins / sizeof pins[0]; index++) {
        PyMethodDef *definition = definition_of(&pins[index]);
        if (definition != NULL && definition->ml_flags == pins[index].flags) {
            *pins[index].real = definition->ml_meth;
            definition->ml_meth = pins[index].pinned;
        }
    }
    return PySys_AddAuditHook(on_audit, NULL) == 0;
}

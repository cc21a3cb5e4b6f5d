/* The module buzzer._native: the program `buzzer`, with tests in Python among its scenarios.
 *
 * main() is the whole program, so what works for a scenario in C works for a test in Python: run,
 * replay, shrink, explain, show, diff. A test is a scenario of another runtime
 * (sim/program/scenario.h). Its runs are contained, as those of plug-ins are. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sim/contain/contain.h"
#include "sim/program/scenario.h"
#include "tools/cli/cli.h"
#include "tools/plugin/plugins.h"
#include "tools/python/native/native.h"
#include "traces/json.h"

/* --- a run ------------------------------------------------------------------------------------ */

static PyObject *loop_class; /* buzzer.loop.Loop */
static bool *was_refused;    /* shared: a run has ended without a verdict, by the test's fault */

/* A fault of the bridge itself is no verdict. */
static void give_up(struct bz_judge *judge) {
    PyErr_Print();
    bz_judge_lacks(judge, "the bridge to Python (the traceback is above)", "a run");
}

/* --- where it is ------------------------------------------------------------------------------ */

static int note_place(void *unused) {
    (void)unused;
    bz_py_note_place();
    return 0;
}

/* In a signal handler: the interpreter calls note_place() before its next instruction. It is asked
 * again if there is none, because the process sleeps in a function in C: the handler may do then
 * what that function may. */
static void ask_place(void) {
    static bool was_asked;
    if (!was_asked) {
        was_asked = true;
        (void)Py_AddPendingCall(note_place, NULL);
        return;
    }
    PyGILState_STATE state = PyGILState_Ensure();
    bz_py_note_place();
    PyGILState_Release(state);
}

void bz_py_note_place(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *module = PyImport_ImportModule("buzzer.where");
    PyObject *place = module == NULL ? NULL : PyObject_CallMethod(module, "of_caller", NULL);
    const char *text = place == NULL ? NULL : PyUnicode_AsUTF8(place);
    if (text != NULL) {
        bz_child_note_place(text);
    }
    Py_XDECREF(place);
    Py_XDECREF(module);
    PyErr_Restore(type, value, traceback);
}

#define STEP_NS 8000u /* of CPython, with all that a short run takes besides its steps */

/* --- the life of a run ------------------------------------------------------------------------ */

static void interrupt(struct bz_judge *judge) {
    PyErr_Clear();
    bz_interrupt_requested = 1;
    bz_judge_give_up(judge);
}

/* An error of the bridge itself is no verdict. */
static void end_without_verdict(const struct bz_py_loop *loop, struct bz_judge *judge) {
    char text[BZ_LACK_BYTES];
    if (loop->refusal[0] != '\0') {
        *was_refused = true;
        bz_judge_died(judge, NULL, loop->refusal);
    } else if (bz_judge_verdict(judge) == BZ_RUN_BAD_SOURCE) {
        snprintf(text, sizeof text, "%.*s", (int)sizeof text - 1, bz_judge_error(judge));
        bz_judge_died(judge, NULL, text);
    }
}

static void run_in(struct bz_py_loop *loop, struct bz_judge *judge, PyObject *test) {
    bool is_fifo = bz_judge_order(judge) == BZ_ORDER_FIFO;
    if (!bz_py_loop_call(loop, "_begin", test)) {
        give_up(judge);
        return;
    }
    if (loop->judge == NULL) { /* it ended in run_forever() */
        end_without_verdict(loop, judge);
        return;
    }
    if (loop->refusal[0] == '\0' && !bz_py_loop_drive(loop, is_fifo)) {
        bz_py_is_interrupt() ? interrupt(judge) : give_up(judge);
    } else if (loop->refusal[0] == '\0' && bz_judge_verdict(judge) == BZ_RUN_PASSED &&
               !bz_py_loop_call(loop, "_finish", NULL)) {
        give_up(judge);
    }
    if (loop->refusal[0] == '\0') {
        bz_judge_end(judge);
    }
    end_without_verdict(loop, judge);
}

/* Lets go of all that the run has left, whose code may run once more. */
static void clean_up(struct bz_py_loop *loop) {
    PyObject *left = PyObject_CallMethod((PyObject *)loop, "_left", "O", Py_True);
    bz_py_loop_end(loop);
    if (left == NULL || !bz_py_loop_call(loop, "_end", left)) {
        PyErr_Print();
    }
    Py_XDECREF(left);
}

/* Blocks that move the objects of this run, as against the run before: what depends on addresses
 * shows when a run is repeated. */
#define SHIFTS 5u
#define SHIFT_SIZES 16u

static void shift_addresses(void **blocks) {
    static uint32_t count;
    uint32_t wanted = count++ % SHIFTS;
    for (uint32_t index = 0; index < SHIFTS * SHIFT_SIZES; index++) {
        size_t bytes = 16u * (index % SHIFT_SIZES + 1);
        blocks[index] = index < wanted * SHIFT_SIZES ? PyObject_Malloc(bytes) : NULL;
    }
}

/* The program dies of SIGPIPE, as programs do; what Python code writes to is its own affair. */
static void ignore_pipes(void) {
    static bool is_done; /* of a process in which runs are made */
    if (!is_done) {
        is_done = true;
        signal(SIGPIPE, SIG_IGN);
    }
}

static void run(void *context, struct bz_judge *judge) {
    ignore_pipes();
    void *blocks[SHIFTS * SHIFT_SIZES];
    shift_addresses(blocks);
    struct bz_py_loop *loop = (struct bz_py_loop *)PyObject_CallNoArgs(loop_class);
    if (loop == NULL) {
        give_up(judge);
        return;
    }
    bz_child_on_ask(ask_place);
    loop->judge = judge;
    loop->is_fifo = bz_judge_order(judge) == BZ_ORDER_FIFO;
    bz_py_current = loop;
    run_in(loop, judge, context);
    clean_up(loop);
    bz_py_current = NULL;
    Py_DECREF(loop);
    for (size_t index = 0; index < sizeof blocks / sizeof blocks[0]; index++) {
        PyObject_Free(blocks[index]);
    }
}

static bool callback_is_ready(void *context) {
    (void)context;
    for (const struct bz_py_loop *loop = bz_py_current; loop != NULL; loop = loop->next) {
        if (bz_py_callback_is_ready(loop)) {
            return true;
        }
    }
    return false;
}

static bool variant_is_busy(void *context) {
    (void)context; /* a timer or a callback may be of any owner */
    for (const struct bz_py_loop *loop = bz_py_current; loop != NULL; loop = loop->next) {
        if (loop->heap_count > 0 || bz_py_callback_is_ready(loop)) {
            return true;
        }
    }
    return false;
}

/* --- the catalog ------------------------------------------------------------------------------ */

static struct bz_variant variant = {.version = BZ_VARIANT_VERSION,
                                    .summary = "asyncio, as this interpreter has it"};

static const struct bz_param no_params[] = {{.name = NULL}};

static bool is_foreign(const void *asked) {
    return asked == &variant || bz_plugins_is_foreign(asked);
}

static bool is_suite(PyObject *function) {
    PyObject *answer = PyObject_GetAttrString(function, "is_suite");
    PyErr_Clear();
    Py_XDECREF(answer);
    return answer == Py_True;
}

/* A test is a tuple: name, summary, a function of the simulation. */
static bool add_test(struct bz_scenario *scenario, struct bz_runtime *runtime, PyObject *test) {
    PyObject *name, *summary, *function;
    if (!PyArg_ParseTuple(test, "UUO", &name, &summary, &function)) {
        return false;
    }
    Py_INCREF(function);
    *runtime = (struct bz_runtime){.variant = variant.name,
                                   .run = run,
                                   .callback_is_ready = callback_is_ready,
                                   .variant_is_busy = variant_is_busy,
                                   .context = function,
                                   .step_ns = STEP_NS,
                                   .is_suite = is_suite(function),
                                   .outside = "the order of a set of objects, id(), or a "
                                              "global variable that a run changes"};
    *scenario = (struct bz_scenario){.name = bz_py_name(name),
                                     .summary = bz_py_name(summary),
                                     .params = no_params,
                                     .runtime = runtime};
    return scenario->name != NULL && scenario->summary != NULL;
}

static PyObject *missing; /* why tests are not in the catalog, by name */

static const char *why_missing(const char *name) {
    PyObject *why = missing == NULL ? NULL : PyDict_GetItemString(missing, name); /* borrowed */
    return why == NULL ? NULL : bz_py_name(why);
}

static bool add_tests(PyObject *tests) {
    size_t count = (size_t)PyList_GET_SIZE(tests);
    struct bz_scenario *scenarios = PyMem_Calloc(count + 1, sizeof *scenarios);
    struct bz_runtime *runtimes = PyMem_Calloc(count + 1, sizeof *runtimes);
    bool is_ok = scenarios != NULL && runtimes != NULL;
    for (size_t index = 0; is_ok && index < count; index++) {
        is_ok = add_test(&scenarios[index], &runtimes[index],
                         PyList_GET_ITEM(tests, (Py_ssize_t)index));
        if (is_ok) {
            bz_catalog_add_scenario(&bz_cli_catalog, &scenarios[index]);
        }
    }
    return is_ok;
}

/* --- the module ------------------------------------------------------------------------------- */

/* The results are written; a failed write fails the command, as at the end of the program. */
static int finish(int code) {
    errno = 0;
    bool has_failed = ferror(stdout) != 0;
    if (fflush(stdout) != 0 || has_failed) {
        code = bz_cli_fail(BZ_EXIT_USAGE, "cannot write the results to stdout: %s",
                           errno != 0 ? strerror(errno) : "write error");
    }
    return code;
}

static int results_to; /* the descriptor for the results of the program; below 0: none */

static void take_results(const struct bz_json *document) {
    char *text = bz_json_print(document, false);
    for (size_t length = strlen(text), done = 0; done < length;) {
        ssize_t written = write(results_to, text + done, length - done);
        if (written < 0 && errno != EINTR) {
            break; /* the reader has none */
        }
        done += written > 0 ? (size_t)written : 0;
    }
    free(text);
}

/* main(arguments, tests, runtime, loop_class, program, replay, missing, results): the exit code of
 * the program, which the user calls as `program`, and with which a run is replayed as `replay`.
 * `missing` says why tests are not there, by name. The results go to the descriptor `results`, if
 * it is 0 or more. The process ends soon after: the catalog stays as it is. */
static PyObject *module_main(PyObject *module, PyObject *args) {
    PyObject *arguments, *tests, *name, *loop;
    PyObject *program, *replay, *reasons;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!UOUUO!i", &PyList_Type, &arguments, &PyList_Type, &tests,
                          &name, &loop, &program, &replay, &PyDict_Type, &reasons, &results_to)) {
        return NULL;
    }
    Py_INCREF(loop);
    Py_INCREF(reasons);
    Py_XSETREF(missing, reasons);
    was_refused = bz_shared_alloc(sizeof *was_refused); /* with the children of this process */
    if (was_refused == NULL) {
        return PyErr_NoMemory();
    }
    bz_caller.was_refused = was_refused;
    bz_cli_catalog.why_missing = why_missing;
    Py_XSETREF(loop_class, loop);
    bz_caller.program = bz_py_name(program);
    bz_caller.replay = bz_py_name(replay);
    bz_caller.take_results = results_to >= 0 ? take_results : NULL;
    bz_command = bz_caller.program;
    variant.name = bz_py_name(name);
    if (bz_caller.program == NULL || bz_caller.replay == NULL || variant.name == NULL ||
        !add_tests(tests)) {
        return NULL;
    }
    bz_catalog_add_variant(&bz_cli_catalog, &variant);
    bz_cli_catalog.is_foreign = is_foreign;
    Py_ssize_t count = PyList_GET_SIZE(arguments);
    char **argv = PyMem_Calloc((size_t)count + 1, sizeof *argv);
    for (Py_ssize_t index = 0; index < count; index++) {
        const char *text =
            argv == NULL ? NULL : PyUnicode_AsUTF8(PyList_GET_ITEM(arguments, index));
        if (text == NULL || (argv[index] = strdup(text)) == NULL) {
            return PyErr_Occurred() ? NULL : PyErr_NoMemory();
        }
    }
    PyObject *is_installed = PyObject_CallMethod(loop, "_install", NULL);
    if (is_installed == NULL) {
        return NULL;
    }
    Py_DECREF(is_installed);
    return PyLong_FromLong(finish(bz_cli_main((int)count, argv)));
}

/* The process ends when its parent does, if the system can do that. */
static PyObject *end_with_parent(PyObject *module, PyObject *parent) {
    (void)module;
    long pid = PyLong_AsLong(parent);
    if (PyErr_Occurred()) {
        return NULL;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != (pid_t)pid) {
        _exit(BZ_EXIT_INTERRUPTED);
    }
    Py_RETURN_NONE;
}

/* The number of this process, also while os.getpid() is pinned. */
static PyObject *process(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyLong_FromLong(getpid());
}

static PyMethodDef functions[] = {
    {"process", process, METH_NOARGS, NULL},
    {"main", module_main, METH_VARARGS, NULL},
    {"end_with_parent", end_with_parent, METH_O, NULL},
    {0},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_native", .m_size = -1,
                                        .m_methods = functions};

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void) {
    /* Before its part in C: that one alone, asyncio would do without it. */
    PyObject *asyncio = PyImport_ImportModule("asyncio");
    PyObject *module = asyncio == NULL ? NULL : PyModule_Create(&definition);
    Py_XDECREF(asyncio);
    if (module == NULL || !bz_py_names_init() || !bz_py_futures_init() ||
        !bz_py_handle_init(module) || !bz_py_loop_init(module) || !bz_py_task_init(module) ||
        !bz_py_acquire_init() || !bz_py_objects_init(module) || !bz_py_pins_init()) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}

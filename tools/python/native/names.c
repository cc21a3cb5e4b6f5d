/* Names that last. The judge keeps pointers to names of tasks and objects, and reads them in the
 * process that has forked the one which made the run. So they lie in memory that both share, at one
 * address, and are never given back. A name is there once for each process that used it. */
#include <string.h>
#include <sys/mman.h>

#include "tools/python/native/native.h"

#define NAMES_BYTES ((size_t)256 << 20)

static struct names {
    size_t used; /* by all processes */
    char text[];
} * names;

static PyObject *known; /* name -> address, of this process */

bool bz_py_names_init(void) {
    void *block = mmap(NULL, NAMES_BYTES, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) {
        PyErr_NoMemory();
        return false;
    }
    names = block;
    known = PyDict_New();
    return known != NULL;
}

const char *bz_py_name(PyObject *name) {
    PyObject *address = PyDict_GetItemWithError(known, name);
    if (address != NULL) {
        return PyLong_AsVoidPtr(address);
    }
    Py_ssize_t length;
    const char *text = PyErr_Occurred() ? NULL : PyUnicode_AsUTF8AndSize(name, &length);
    if (text == NULL) {
        return NULL;
    }
    size_t bytes = (size_t)length + 1;
    size_t place = __atomic_fetch_add(&names->used, bytes, __ATOMIC_RELAXED);
    if (place + bytes > NAMES_BYTES - sizeof *names) {
        PyErr_SetString(PyExc_MemoryError,
                        "256 MiB of names of tasks and objects: use the same names in each run");
        return NULL;
    }
    char *copy = memcpy(names->text + place, text, bytes);
    address = PyLong_FromVoidPtr(copy);
    if (address == NULL || PyDict_SetItem(known, name, address) != 0) {
        copy = NULL;
    }
    Py_XDECREF(address);
    return copy;
}

#include "sim/native/exceptions.h"

#include <dlfcn.h>
#include <string.h>

#include "primitives/runtime/internal.h"
#include "sim/variant/plugin.h"

/* The symbol of that name in the object that contains `part`; NULL: none. dlopen() would search the
 * system's folders for a name without a slash, which only a program that was found in PATH has. */
static void *find_symbol(const void *part, const char *name) {
    Dl_info info;
    void *object = NULL;
    if (dladdr(part, &info) != 0 && strchr(info.dli_fname, '/') != NULL) {
        object = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }
    if (object == NULL) {
        object = dlopen(NULL, RTLD_LAZY); /* the program itself */
    }
    if (object == NULL) {
        return NULL;
    }
    void *symbol = dlsym(object, name);
    dlclose(object);
    return symbol;
}

void bz_exceptions_find(struct bz_loop *loop, const void *part) {
    void *(*of_thread)(void) = NULL;
    struct bz_mem **(*mem)(void) = NULL;
    if (loop->exceptions.of_thread != NULL) {
        return;
    }
    *(void **)&of_thread = find_symbol(part, "__cxa_get_globals");
    *(void **)&mem = find_symbol(part, BZ_EXCEPTIONS_SYMBOL);
    bz_loop_keep_exceptions(loop, of_thread);
    loop->exceptions.mem = mem != NULL ? mem() : NULL;
}

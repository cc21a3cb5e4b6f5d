/* The version that recorded a run, and why it is no longer the same run. */
#include <string.h>

#include "sim/judge/record.h"
#include "traces/text.h"

#ifndef BZ_ENGINE_VERSION
#define BZ_ENGINE_VERSION "0"
#endif

const char *bz_engine(void) {
    return "buzzer " BZ_ENGINE_VERSION;
}

const char *bz_engine_version(void) {
    return BZ_ENGINE_VERSION;
}

const char *bz_cause_name(enum bz_cause cause) {
    static const char *const names[] = {"unknown", "version", "edited", "code"};
    return names[cause];
}

enum bz_cause bz_trace_cause(const struct bz_trace *trace, char *text, size_t text_bytes) {
    const char *engine = trace->engine == NULL ? "an unnamed program" : trace->engine;
    bool is_own = strcmp(engine, bz_engine()) == 0;
    enum bz_trace_seal seal = bz_trace_seal(trace);
    if (seal == BZ_TRACE_EDITED) {
        bz_fail(text, text_bytes,
                "the file was edited: its checksum does not fit; it says that %s recorded it, and "
                "this is %s",
                engine, bz_engine());
        return BZ_CAUSE_EDITED;
    }
    if (!is_own) {
        bz_fail(text, text_bytes, "another version: recorded by %s, and this is %s%s", engine,
                bz_engine(),
                seal == BZ_TRACE_UNSEALED ? "; without a checksum there is no way to tell "
                                            "whether the file was edited"
                                          : "");
        return BZ_CAUSE_VERSION;
    }
    if (seal == BZ_TRACE_UNSEALED) {
        bz_fail(text, text_bytes,
                "not the version, which is %s in both: the code changed or the file was edited (it "
                "has no checksum, so Buzzer cannot tell which)",
                engine);
        return BZ_CAUSE_UNKNOWN;
    }
    bz_fail(text, text_bytes,
            "the code has changed, or something besides the choices decides: the file is as this "
            "version, %s, has recorded it",
            engine);
    return BZ_CAUSE_CODE;
}

enum bz_cause bz_token_cause(const struct bz_token *token, char *text, size_t text_bytes) {
    if (token->version == NULL) {
        bz_fail(text, text_bytes,
                "another version, changed code, or an edited token: it names no version; this is "
                "%s",
                bz_engine());
        return BZ_CAUSE_UNKNOWN;
    }
    if (strcmp(token->version, bz_engine_version()) != 0) {
        bz_fail(text, text_bytes, "another version: the token is of buzzer %s, and this is %s",
                token->version, bz_engine());
        return BZ_CAUSE_VERSION;
    }
    bz_fail(text, text_bytes,
            "the code has changed, something besides the choices decides, or the token was "
            "edited: it is of this version, %s",
            bz_engine());
    return BZ_CAUSE_CODE;
}

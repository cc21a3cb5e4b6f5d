#include "tools/session/fuzz/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PPM_TO_PERCENT 10000u

/* --- words ------------------------------------------------------------------------------------ */

const char *bz_fuzz_count_text(uint64_t count, char *text) {
    static const char units[] = "MGTPE";
    uint64_t unit = 1000000;
    size_t index = 0;
    if (count < unit) {
        snprintf(text, BZ_COUNT_BYTES, "%" PRIu64, count);
        return text;
    }
    for (; count / unit >= 1000 && units[index + 1] != '\0'; index++) {
        unit *= 1000;
    }
    if (count / unit < 100) {
        snprintf(text, BZ_COUNT_BYTES, "%" PRIu64 ".%" PRIu64 "%c", count / unit,
                 count % unit / (unit / 10), units[index]);
    } else {
        snprintf(text, BZ_COUNT_BYTES, "%" PRIu64 "%c", count / unit, units[index]);
    }
    return text;
}

const char *bz_fuzz_time_text(uint64_t ms, char *text) {
    uint64_t seconds = ms / 1000;
    uint64_t minutes = seconds / 60;
    uint64_t hours = minutes / 60;
    if (hours >= 48) {
        snprintf(text, BZ_COUNT_BYTES, "%" PRIu64 " d %" PRIu64 " h", hours / 24, hours % 24);
    } else if (hours > 0) {
        snprintf(text, BZ_COUNT_BYTES, "%" PRIu64 " h %02" PRIu64 " min", hours, minutes % 60);
    } else if (minutes > 0) {
        snprintf(text, BZ_COUNT_BYTES, "%" PRIu64 " min %02" PRIu64 " s", minutes, seconds % 60);
    } else {
        snprintf(text, BZ_COUNT_BYTES, "%" PRIu64 " s", seconds);
    }
    return text;
}

uint64_t bz_fuzz_rate(const struct bz_fuzz_status *status) {
    return status->session_ms == 0 ? 0 : status->session_runs * 1000 / status->session_ms;
}

/* Windows in which a cancel finds a task that is in this operation, as bits. A variant may use
 * others, too, if it polls. */
static unsigned windows_of(unsigned op) {
    switch (op) {
    case BZ_OP_START:
        return 1u << BZ_WINDOW_UNSTARTED | 1u << BZ_WINDOW_CANCELLING;
    case BZ_OP_YIELD:
    case BZ_OP_SLEEP:
        return 1u << BZ_WINDOW_SLEEPING | 1u << BZ_WINDOW_HOLDING | 1u << BZ_WINDOW_CANCELLING;
    case BZ_OP_JOIN:
    case BZ_OP_AWAIT:
        return 1u << BZ_WINDOW_WAITING | 1u << BZ_WINDOW_WOKEN | 1u << BZ_WINDOW_HOLDING |
               1u << BZ_WINDOW_CANCELLING;
    case BZ_OP_RUN:
        return 1u << BZ_WINDOW_DONE | 1u << BZ_WINDOW_RUNNING;
    case BZ_OP_ACQUIRE:
    case BZ_OP_WAIT:
    case BZ_OP_PUT:
    case BZ_OP_GET:
        return 1u << BZ_WINDOW_WAITING | 1u << BZ_WINDOW_WOKEN | 1u << BZ_WINDOW_CANCELLING;
    default:
        return 0;
    }
}

/* Whether the primitive of the target has this operation, which may wait. */
static bool is_of_primitive(const struct bz_program *program, unsigned op) {
    if (program->scenario->runtime != NULL) {
        return false;
    }
    switch (program->args.primitive) {
    case BZ_PRIMITIVE_SEMAPHORE:
    case BZ_PRIMITIVE_BOUNDED:
    case BZ_PRIMITIVE_LOCK:
    case BZ_PRIMITIVE_POOL:
    case BZ_PRIMITIVE_DEFERRED:
        return op == BZ_OP_ACQUIRE;
    case BZ_PRIMITIVE_QUEUE:
        return op == BZ_OP_PUT || op == BZ_OP_GET;
    case BZ_PRIMITIVE_EVENT:
    case BZ_PRIMITIVE_CONDITION:
    case BZ_PRIMITIVE_BARRIER:
        return op == BZ_OP_WAIT;
    default:
        return false;
    }
}

bool bz_fuzz_may_strike(const struct bz_fuzz_target *target, unsigned op, unsigned window) {
    uint64_t total = 0;
    for (unsigned other = 1; other < BZ_WINDOW_COUNT; other++) {
        total += target->windows[op][other];
    }
    bool has_op = op == BZ_OP_START || total > 0 || is_of_primitive(&target->program, op);
    return target->windows[op][window] > 0 || (has_op && (windows_of(op) >> window & 1u) != 0);
}

bool bz_fuzz_missed(const struct bz_fuzz_target *target, uint32_t index, char *words) {
    for (unsigned op = 1; op < BZ_OP_COUNT; op++) {
        for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
            if (bz_fuzz_may_strike(target, op, window) && target->windows[op][window] == 0 &&
                index-- == 0) {
                snprintf(words, BZ_WORDS_BYTES, "%s:%s", bz_op_name(op), bz_window_name(window));
                return true;
            }
        }
    }
    return false;
}

const char *bz_fuzz_finding_words(const struct bz_fuzz_finding *finding, char *words) {
    const struct bz_violation *violation = &finding->finding.violation;
    if (violation->op == BZ_OP_NONE) {
        snprintf(words, BZ_WORDS_BYTES, "%s", violation->oracle);
    } else {
        snprintf(words, BZ_WORDS_BYTES, "%s, in %s while %s", violation->oracle,
                 bz_op_name(violation->op), bz_window_name(violation->window));
    }
    return words;
}

/* --- the text --------------------------------------------------------------------------------- */

/* Comma-separated words in lines of 80 columns, each indented by two. */
struct list {
    struct bz_text *text;
    size_t column;
};

static void add_word(struct list *list, const char *word) {
    size_t length = strlen(word);
    bool is_first = list->column == 0;
    if (is_first || list->column + 2 + length > BZ_WRAP_COLUMNS) {
        bz_text_add(list->text, "%s    %s", is_first ? "" : ",\n", word);
        list->column = 5 + length;
    } else {
        bz_text_add(list->text, ", %s", word);
        list->column += 2 + length;
    }
}

static void add_head(const struct bz_fuzz_status *status, bool has_times, struct bz_text *text) {
    const struct bz_fuzz *fuzz = status->fuzz;
    char spent[BZ_COUNT_BYTES];
    bz_text_add(text, "buzzer fuzz, version %s: %s\n\n", bz_engine_version(), status->state);
    if (has_times) {
        bz_text_add(text, "time      %s, %" PRIu64 " schedules a second in this session\n",
                    bz_fuzz_time_text(status->order->spent_ms, spent), bz_fuzz_rate(status));
    }
    bz_text_add(text, "schedules %" PRIu64 ", steps %" PRIu64 "\n", fuzz->runs, fuzz->steps);
    bz_text_add(text,
                "slices    %" PRIu64 " of about %" PRIu64 " steps; %" PRIu32 " arms of %" PRIu32
                " target%s\n",
                fuzz->slices, fuzz->slice_steps, fuzz->arm_count, fuzz->target_count,
                fuzz->target_count == 1 ? "" : "s");
    bz_text_add(text, "corpus    %" PRIu64 " traces\n", status->examples);
    bz_text_add(text, "failed    %" PRIu64 " schedules, with %" PRIu32 " different findings\n",
                fuzz->violations, fuzz->finding_count);
    if (fuzz->out_of_steps > 0) {
        bz_text_add(text, "cut       %" PRIu64 " schedules by the step limit: they prove nothing\n",
                    fuzz->out_of_steps);
    }
}

static void add_findings(const struct bz_fuzz_status *status, bool has_times,
                         struct bz_text *text) {
    const struct bz_fuzz *fuzz = status->fuzz;
    char words[BZ_WORDS_BYTES];
    char spent[BZ_COUNT_BYTES];
    for (uint32_t index = 0; index < fuzz->finding_count; index++) {
        const struct bz_fuzz_finding *finding = &fuzz->findings[index];
        const struct bz_program *program = &fuzz->targets[finding->target]->program;
        bz_text_add(text, "\n%s%s\n", index == 0 ? "Findings, in order of time\n\n" : "",
                    bz_fuzz_finding_words(finding, words));
        bz_text_add(text, "  of %s %s, arm %s, seed 0x%" PRIx64 "\n", program->scenario->name,
                    program->variant->name, fuzz->arms[finding->arm].name, finding->finding.seed);
        bz_text_add(text,
                    "  slice %" PRIu64 "%s%s, %" PRIu64 " schedules before it; %" PRIu64
                    " failed so\n",
                    finding->slice, has_times ? ", after " : "",
                    has_times ? bz_fuzz_time_text(finding->spent_ms, spent) : "", finding->runs,
                    finding->finding.count);
        if (finding->token[0] != '\0') {
            bz_text_add(text, "  token   %s\n", finding->token);
        }
        if (finding->small_token[0] != '\0') {
            bz_text_add(text, "  shrunk  %s\n", finding->small_token);
        }
    }
}

/* A chance of so many in a million, as a percentage. */
static void add_chance(struct bz_text *text, uint32_t ppm) {
    bz_text_add(text, "%" PRIu32 ".%04" PRIu32 " %%", ppm / PPM_TO_PERCENT, ppm % PPM_TO_PERCENT);
}

static void add_windows(const struct bz_fuzz_target *target, struct bz_text *text) {
    char count[BZ_COUNT_BYTES];
    bz_text_add(text, "\n  %-8s", "cancels");
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        bz_text_add(text, " %6s", bz_window_name(window));
    }
    bz_text_add(text, "\n");
    for (unsigned op = 1; op < BZ_OP_COUNT; op++) {
        bool has_row = false;
        for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
            has_row |= bz_fuzz_may_strike(target, op, window);
        }
        if (!has_row) {
            continue;
        }
        bz_text_add(text, "  %-8s", bz_op_name(op));
        for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
            size_t width = strlen(bz_window_name(window));
            uint64_t hits = target->windows[op][window];
            bz_text_add(text, " %*s", width < 6 ? 6 : (int)width,
                        hits > 0                                 ? bz_fuzz_count_text(hits, count)
                        : bz_fuzz_may_strike(target, op, window) ? "never"
                                                                 : ".");
        }
        bz_text_add(text, "\n");
    }
}

static void add_missed(const struct bz_fuzz_target *target, struct bz_text *text) {
    struct list list = {.text = text};
    char words[BZ_WORDS_BYTES];
    for (uint32_t index = 0; bz_fuzz_missed(target, index, words); index++) {
        if (index == 0) {
            bz_text_add(text, "\n  Never struck:\n");
        }
        add_word(&list, words);
    }
    bz_text_add(text, list.column > 0 ? "\n" : "");
}

static void add_arms(const struct bz_fuzz *fuzz, uint32_t target, struct bz_text *text) {
    char counts[4][BZ_COUNT_BYTES];
    bz_text_add(text, "\n  %-13s %9s %7s %10s %10s %8s\n", "arm", "schedules", "slices",
                "new orders", "situations", "findings");
    for (uint32_t index = 0; index < fuzz->arm_count; index++) {
        const struct bz_fuzz_arm *arm = &fuzz->arms[index];
        if (arm->target != target) {
            continue;
        }
        bz_text_add(text, "  %-13s %9s %7s %10s %10s %8" PRIu64 "\n", arm->name,
                    bz_fuzz_count_text(arm->runs, counts[0]),
                    bz_fuzz_count_text(arm->slices, counts[1]),
                    bz_fuzz_count_text(arm->new_handoffs, counts[2]),
                    bz_fuzz_count_text(arm->new_situations, counts[3]), arm->findings);
    }
}

static void add_target(const struct bz_fuzz *fuzz, uint32_t index, struct bz_text *text) {
    const struct bz_fuzz_target *target = fuzz->targets[index];
    const char *about = bz_distinct_is_exact(&target->handoffs) ? "" : "about ";
    bz_text_add(text, "\n%s %s\n\n", target->program.scenario->name, target->program.variant->name);
    bz_text_add(text, "  schedules        %" PRIu64 ", %" PRIu64 " failed\n", target->runs,
                target->violations);
    bz_text_add(text, "  hand-off orders  %s%" PRIu64 "; the next run shows a new one: ", about,
                bz_distinct_count(&target->handoffs));
    add_chance(text, bz_distinct_new_ppm(&target->handoffs));
    bz_text_add(text, "\n  situations       %" PRIu32 "; the next cancel strikes a new one: ",
                target->situation_count);
    add_chance(text, bz_fuzz_new_situation_ppm(target));
    bz_text_add(text, "\n");
    if (target->findings_dropped > 0) {
        bz_text_add(text, "  other findings   %" PRIu64 " schedules, not kept: too many kinds\n",
                    target->findings_dropped);
    }
    add_arms(fuzz, index, text);
    add_windows(target, text);
    add_missed(target, text);
}

void bz_fuzz_status_text(const struct bz_fuzz_status *status, bool has_times,
                         struct bz_text *text) {
    add_head(status, has_times, text);
    add_findings(status, has_times, text);
    for (uint32_t index = 0; index < status->fuzz->target_count; index++) {
        add_target(status->fuzz, index, text);
    }
}

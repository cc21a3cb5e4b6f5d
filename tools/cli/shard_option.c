#include "tools/cli/shard_option.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/judge/record.h"
#include "tools/cli/cli.h"

/* The variables that engines set. */
static const struct engine {
    const char *name;
    const char *number; /* variable of the environment */
    uint32_t least;     /* the number of the first part */
    const char *count;  /* NULL: it does not say */
} engines[] = {
    {"Slurm", "SLURM_ARRAY_TASK_ID", 1, "SLURM_ARRAY_TASK_COUNT"},
    {"Kubernetes", "JOB_COMPLETION_INDEX", 0, NULL},
    {"GNU parallel", "PARALLEL_SEQ", 1, NULL},
    {"Bazel", "TEST_SHARD_INDEX", 0, "TEST_TOTAL_SHARDS"},
    {"GitLab", "CI_NODE_INDEX", 1, "CI_NODE_TOTAL"},
};
#define ENGINE_COUNT (sizeof engines / sizeof engines[0])

static void check(struct bz_parse *state, const char *option, const char *text,
                  const struct bz_shard *shard) {
    if (shard->number == 0) {
        bz_cli_misuse(state,
                      "--%s %s: shards count from 1: 1/N to N/N (for engines that count from 0 "
                      "there is auto/N)",
                      option, text);
    } else if (shard->number > shard->count) {
        bz_cli_misuse(state, "--%s %s: there is no shard %" PRIu32 " of %" PRIu32, option, text,
                      shard->number, shard->count);
    }
}

/* A number of shards. */
static uint32_t read_count(struct bz_parse *state, const char *option, const char *text,
                           const char *digits) {
    uint64_t count = 0;
    if (!bz_parse_u64(digits, &count) || count == 0 || count > BZ_SHARDS_MAX) {
        bz_cli_misuse(state, "--%s takes I/N, auto or auto/N with N from 1 to %u, and not '%s'",
                      option, BZ_SHARDS_MAX, text);
    }
    return (uint32_t)count;
}

/* The only engine that started this process. */
static const struct engine *find_engine(struct bz_parse *state, const char *option) {
    const struct engine *found = NULL;
    for (size_t index = 0; index < ENGINE_COUNT; index++) {
        const struct engine *engine = &engines[index];
        if (getenv(engine->number) == NULL) {
            continue;
        }
        if (found != NULL) {
            bz_cli_misuse(state, "--%s auto is ambiguous: both %s and %s are set; write --%s I/N",
                          option, found->number, engine->number, option);
        }
        found = engine;
    }
    if (found == NULL) {
        bz_cli_misuse(state,
                      "--%s auto: no engine has set SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, "
                      "PARALLEL_SEQ, TEST_SHARD_INDEX or CI_NODE_INDEX; write --%s I/N",
                      option, option);
    }
    return found;
}

/* The value of a variable of the engine. */
static uint32_t read_variable(struct bz_parse *state, const char *option,
                              const struct engine *engine, const char *variable, uint32_t least) {
    const char *text = getenv(variable);
    uint64_t value = 0;
    if (text == NULL || !bz_parse_u64(text, &value) || value < least || value > BZ_SHARDS_MAX) {
        bz_cli_misuse(state, "--%s auto: %s of %s is %s%s%s, and should be a number from %" PRIu32,
                      option, variable, engine->name, text == NULL ? "" : "'",
                      text == NULL ? "not set" : text, text == NULL ? "" : "'", least);
    }
    return (uint32_t)value;
}

/* How many parts there are. Slurm counts the tasks that were submitted together: a few of an array
 * that are submitted again are fewer, and then only the user knows. */
static uint32_t count_of(struct bz_parse *state, const char *option, const struct engine *engine) {
    if (engine->count == NULL) {
        bz_cli_misuse(state,
                      "--%s auto: %s does not say how many parts there are; write --%s auto/N",
                      option, engine->name, option);
        return 1;
    }
    uint32_t count = read_variable(state, option, engine, engine->count, 1);
    const char *most = getenv("SLURM_ARRAY_TASK_MAX");
    uint64_t last = 0;
    if (engine == &engines[0] && (most == NULL || !bz_parse_u64(most, &last) || last != count)) {
        bz_cli_misuse(state,
                      "--%s auto: the array has %" PRIu32 " tasks and ends with %s, so it is "
                      "not --array=1-N; write --%s auto/N",
                      option, count, most == NULL ? "none" : most, option);
    }
    return count;
}

void bz_shard_parse(struct bz_parse *state, const char *option, const char *text,
                    struct bz_shard *shard) {
    bool is_auto = strncmp(text, "auto", 4) == 0 && (text[4] == '\0' || text[4] == '/');
    const char *slash = strchr(text, '/');
    *shard = (struct bz_shard){1, 1};
    if (slash != NULL) {
        shard->count = read_count(state, option, text, slash + 1);
    }
    if (is_auto) {
        const struct engine *engine = find_engine(state, option);
        shard->number =
            read_variable(state, option, engine, engine->number, engine->least) - engine->least + 1;
        shard->count = slash == NULL ? count_of(state, option, engine) : shard->count;
    } else {
        char number[24] = "";
        uint64_t value = 0;
        snprintf(number, sizeof number, "%.*s", slash == NULL ? 0 : (int)(slash - text), text);
        if (!bz_parse_u64(number, &value) || value > BZ_SHARDS_MAX) {
            bz_cli_misuse(state, "--%s takes I/N, auto or auto/N, and not '%s'", option, text);
        }
        shard->number = (uint32_t)value;
    }
    check(state, option, text, shard);
}

void bz_shard_tell_engine(void) {
    const char *path = getenv("TEST_SHARD_STATUS_FILE");
    if (path == NULL) {
        return;
    }
    int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
        close(descriptor);
    }
}

void bz_shard_print(const struct bz_shard *shard, uint64_t first_run, uint64_t runs) {
    printf("shard %" PRIu32 " of %" PRIu32 ": ", shard->number, shard->count);
    if (runs == 0) {
        printf("no run is done\n");
    } else {
        printf("runs %" PRIu64 " to %" PRIu64 " of the campaign are done\n", first_run,
               first_run + runs - 1);
    }
}

void bz_shard_add_json(struct bz_json *root, const struct bz_shard *shard, uint64_t first_run,
                       uint64_t runs) {
    struct bz_json *item = bz_json_add_object(root, "shard");
    bz_json_add_number(item, "number", shard->number);
    bz_json_add_number(item, "count", shard->count);
    bz_json_add_hex(item, "first_run", first_run);
    bz_json_add_number(item, "runs", runs);
}

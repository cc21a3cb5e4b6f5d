#include "tools/cli/shard_option.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/judge/record.h"
#include "tools/cli/cli.h"

void bz_shard_parse(void *target, const char *option, char *text) {
    struct bz_shard *shard = target;
    uint64_t number = 0;
    uint64_t count = 0;
    char *slash = strchr(text, '/');
    char digits[24] = "";
    snprintf(digits, sizeof digits, "%.*s", slash == NULL ? 0 : (int)(slash - text), text);
    if (!bz_parse_u64(digits, &number) || !bz_parse_u64(slash + 1, &count) || count == 0 ||
        count > BZ_SHARDS_MAX) {
        bz_cli_misuse("--%s takes I/N with N from 1 to %u, and not '%s'", option, BZ_SHARDS_MAX,
                      text);
    } else if (number == 0) {
        bz_cli_misuse("--%s %s: shards count from 1: 1/N to N/N", option, text);
    } else if (number > count) {
        bz_cli_misuse("--%s %s: there is no shard %" PRIu64 " of %" PRIu64, option, text, number,
                      count);
    }
    *shard = (struct bz_shard){.number = (uint32_t)number, .count = (uint32_t)count};
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

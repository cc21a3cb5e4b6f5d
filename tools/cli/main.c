#include "tools/cli/cli.h"

int main(int argc, char **argv) {
    return bz_cli_main(argc, argv);
}

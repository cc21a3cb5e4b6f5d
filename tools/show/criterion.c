#include "tools/show/show.h"

void bz_show_criterion(const struct bz_view *view, struct bz_paper *paper) {
    (void)view;
    (void)paper;
}

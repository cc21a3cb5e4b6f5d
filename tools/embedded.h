/* Files that are a part of the program; cmake/BuzzerEmbed.cmake puts them there. */
#ifndef BZ_TOOLS_EMBEDDED_H
#define BZ_TOOLS_EMBEDDED_H

struct bz_embedded {
    const char *name; /* NULL ends a list */
    const char *text;
};

/* templates/variant: what `buzzer new variant` writes. */
extern const struct bz_embedded bz_variant_templates[];

#endif

/* Files embedded into the program by cmake/BuzzerEmbed.cmake. */
#ifndef BZ_TOOLS_EMBEDDED_H
#define BZ_TOOLS_EMBEDDED_H

struct bz_embedded {
    const char *name; /* NULL ends a list */
    const char *text;
};

/* The templates of `buzzer new variant`. */
extern const struct bz_embedded bz_variant_templates[];

/* The templates of `buzzer show`: page.html, ... */
extern const struct bz_embedded bz_show_templates[];

#endif

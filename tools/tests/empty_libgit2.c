/* In place of libgit2 for Criterion: it does not show how two strings differ. */
int git_libgit2_init(void);
int git_libgit2_shutdown(void);
int git_diff_buffers(void);

int git_libgit2_init(void) {
    return 1;
}

int git_libgit2_shutdown(void) {
    return 0;
}

int git_diff_buffers(void) {
    return 0;
}

/* What the shim does with a call: it finds out which file it is about, and makes it, fails it, or ends the process. */

struct call {
    const struct kind *kind;
    const char *name;
    const long *arguments;
    char path[PATH_MAX], to[PATH_MAX]; /* absolute */
    long long more;                    /* flags, offset or size */
    const struct iovec *data;          /* of a write */
    struct iovec single;
    int pieces;
};

static int path_of(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    long length = SYSTEM(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    return length > 0;
}

static int absolute(int folder, const char *given, char *path) {
    char base[PATH_MAX] = "";
    if (given[0] != '/' && !(folder == AT_FDCWD ? getcwd(base, sizeof base) != NULL : path_of(folder, base))) return 0;
    return snprintf(path, PATH_MAX, given[0] == '/' ? "%s%s" : "%s/%s", base, given) < PATH_MAX;
}

static int below_root(const char *path) {
    return !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

static int is_watched(struct call *call) {
    const struct kind *kind = call->kind;
    const long *a = call->arguments;
    if (!watching) return 0;
    if (kind->path == NONE) return path_of((int)a[0], call->path) && below_root(call->path);
    int folder = kind->folder == NONE ? AT_FDCWD : (int)a[kind->folder];
    int other = kind->other_folder == NONE ? AT_FDCWD : (int)a[kind->other_folder];
    if (!absolute(folder, (const char *)a[kind->path], call->path) || !below_root(call->path)) return 0;
    return kind->other_path == NONE || absolute(other, (const char *)a[kind->other_path], call->to);
}

static void look_closer(struct call *call) {
    const long *a = call->arguments;
    long number = call->kind->number;
    call->name = call->kind->name;
    if (call->kind->more != NONE) call->more = a[call->kind->more];
    if (number == SYS_unlinkat && a[2] & AT_REMOVEDIR) call->name = "rmdir";
    if (number == SYS_fallocate) call->more = a[1] ? 0 : a[2] + a[3];
    if (strcmp(call->name, "write")) return;
    int at_a_place = number == SYS_pwrite64 || number == SYS_pwritev || (number == SYS_pwritev2 && a[3] != -1);
    int appends = (int)SYSTEM(SYS_fcntl, a[0], F_GETFL) & O_APPEND;
    call->more = at_a_place ? a[3] : SYSTEM(SYS_lseek, a[0], 0, appends ? SEEK_END : SEEK_CUR);
    call->single = (struct iovec){(void *)a[1], (size_t)a[2]};
    int single = number == SYS_write || number == SYS_pwrite64;
    call->data = single ? &call->single : (const struct iovec *)a[1];
    call->pieces = single ? 1 : (int)a[2];
}

/* The first half of the first piece: it goes where the whole would. */
static long half_of_a_write(const struct call *call) {
    struct iovec half = {call->data[0].iov_base, call->data[0].iov_len / 2};
    const long *a = call->arguments;
    int moves = call->kind->number == SYS_write || call->kind->number == SYS_writev;
    return moves ? SYSTEM(SYS_writev, a[0], (long)&half, 1) : SYSTEM(SYS_pwritev, a[0], (long)&half, 1, call->more, 0);
}

static long make(const struct call *call) {
    long number = call->kind->number;
    if (number != SYS_fsync && number != SYS_fdatasync) return system_call(number, call->arguments);
    /* It is the program that is killed, not the machine, so nobody has to wait for the disk. */
    long flags = SYSTEM(SYS_fcntl, call->arguments[0], F_GETFD);
    return flags < 0 ? flags : 0;
}

static void note(const struct call *call, long result) {
    char head[2 * PATH_MAX + 128];
    long size = call->data && result > 0 ? result : 0;
    const char *path = strlen(call->path) > root_length ? call->path + root_length + 1 : "";
    const char *to = strlen(call->to) > root_length ? call->to + root_length + 1 : "";
    int length = snprintf(head, sizeof head, "%s\t%ld\t%lld\t%ld\t%s\t%s\n", call->name, result, call->more, size,
                          path, to);
    SYSTEM(SYS_write, record, (long)head, length);
    for (int piece = 0; size > 0; piece++) {
        long part = (long)call->data[piece].iov_len < size ? (long)call->data[piece].iov_len : size;
        SYSTEM(SYS_write, record, (long)call->data[piece].iov_base, part);
        size -= part;
    }
}

static long answer(const struct kind *kind, const long *a) {
    struct call call = {.kind = kind, .arguments = a};
    if (!is_watched(&call)) return system_call(kind->number, a);
    look_closer(&call);
    long result;
    pthread_mutex_lock(&lock);
    long at = ++count;
    if (at == kill_at) {
        if (kill_midst && call.data) half_of_a_write(&call);
        SYSTEM(SYS_kill, getpid(), SIGKILL);
    }
    if (at == fail_at && fail_short && call.data) {
        fail_short = 0;
        fail_at = fail_error ? at + 1 : 0; /* what follows is the write of the rest */
        result = half_of_a_write(&call);
    } else {
        /* A close that fails closes nevertheless. */
        result = at == fail_at && kind->number != SYS_close ? 0 : make(&call);
        if (at == fail_at) result = -fail_error;
    }
    if (record >= 0) note(&call, result);
    pthread_mutex_unlock(&lock);
    return result;
}

void shim_mark(long long number) {
    struct call call = {.name = "mark", .more = number};
    pthread_mutex_lock(&lock);
    if (record >= 0) note(&call, 0);
    pthread_mutex_unlock(&lock);
    syscall(SYS_getpid, 0, 0, 0, 0, 0, 0); /* so that no register has the mark of the filter left in it */
}

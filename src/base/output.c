/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/text.h"

/* ---- signals that nothing else handles ---- */

static const int output_signals[] = { SIGHUP, SIGINT, SIGTERM };
enum { OUTPUT_SIGNALS = sizeof(output_signals) / sizeof(output_signals[0]) };

static struct {
	pid_t pid; /* forked processes print nothing */
	int fd;
	char path[PATH_MAX], words[PATH_MAX + 64];
} output_last;

/* As output__finish after a failure. By now the signal's action is the default one again. */
static void output_on_signal(int signal)
{
	struct stat st = { 0 };

	if (output_last.pid == getpid()) {
		if (!fstat(output_last.fd, &st) && !st.st_size)
			unlink(output_last.path);
		else if (write(STDERR_FILENO, output_last.words, strlen(output_last.words)) < 0)
			_exit(1);
	}
	raise(signal);
}

/* A command that handles signals itself, and ends with output__finish, is not affected. */
static void output_arm(const struct output *o)
{
	const struct sigaction ours = { .sa_handler = output_on_signal,
					.sa_flags = (int)SA_RESETHAND | SA_NODEFER };
	char path[PATH_MAX];
	struct sigaction old;

	output_last.pid = getpid();
	output_last.fd = fileno(o->file);
	memcpy(output_last.path, o->partial, sizeof(output_last.path));
	snprintf(output_last.words, sizeof(output_last.words),
		 "iosonar: the output is incomplete; it is in %s\n",
		 text__terminal(path, sizeof(path), o->partial));
	for (int i = 0; i < OUTPUT_SIGNALS; i++)
		if (!sigaction(output_signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(output_signals[i], &ours, NULL);
}

static void output_disarm(void)
{
	struct sigaction old;

	for (int i = 0; i < OUTPUT_SIGNALS; i++)
		if (!sigaction(output_signals[i], NULL, &old) && old.sa_handler == output_on_signal)
			signal(output_signals[i], SIG_DFL);
}

/* ---- the beginning ---- */

/* The missing permission is the file's, not that of tracing. */
static int output_err(const char *path, int err)
{
	return log_err(err == -EACCES || err == -EPERM || err == -EINVAL || err == -ENODEV ? -EIO
											   : err,
		       "cannot write %s: %s", path, strerror(-err));
}

static int output_refuse(const struct output *o, const char *input)
{
	if (place__is_same(o->place.path, input))
		return log_err(-EINVAL,
			       "--out %s is a file that this run also reads or records to; choose "
			       "another name",
			       o->path);
	if (place__is_same(o->partial, input))
		return log_err(-EINVAL,
			       "--out %s is first written to %s, which this run also reads or "
			       "records to; choose another name",
			       o->path, o->partial);
	return 0;
}

/* Like the file to be replaced, unless another user put that into a shared directory. */
static void output_keep_owner(const struct output *o, int fd)
{
	const struct stat *old = &o->place.stat;

	if (!o->place.exists || (o->place.is_shared && old->st_uid != geteuid()))
		return;
	if (old->st_uid != geteuid() || old->st_gid != getegid())
		if (fchown(fd, old->st_uid, old->st_gid))
			log_verbose("%s: cannot keep the owner of %s: %s", o->partial, o->path,
				    strerror(errno));
	if (fchmod(fd, old->st_mode & 0777))
		log_verbose("%s: cannot keep the permissions of %s: %s", o->partial, o->path,
			    strerror(errno));
}

/* Replaces what an earlier run left. Others know its name, so links are not followed. */
static int output_open_partial(struct output *o)
{
	int fd;

	if (unlink(o->partial) && errno != ENOENT)
		return -errno;
	fd = open(o->partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	output_keep_owner(o, fd);
	o->renamer = (struct renamer){ .from = o->partial, .to = o->place.path };
	fstat(fd, &o->renamer.stat);
	return fd;
}

static int output_open_fd(struct output *o)
{
	if (!o->partial[0])
		return place__open(&o->place, O_WRONLY | O_TRUNC, 0);
	if (o->place.exists && access(o->place.path, W_OK))
		return -errno; /* a file that may not be written may not be replaced, either */
	return output_open_partial(o);
}

static int output_name(struct output *o)
{
	const bool is_file =
		!o->place.is_descriptor && (!o->place.exists || S_ISREG(o->place.stat.st_mode));
	int len = snprintf(o->partial, sizeof(o->partial), "%s.partial", o->place.path);

	if (!is_file)
		o->partial[0] = 0;
	return is_file && (size_t)len >= sizeof(o->partial) ? output_err(o->path, -ENAMETOOLONG)
							    : 0;
}

int output__open(struct output *o, const char *path, const struct option_list *inputs)
{
	int fd, err;

	memset(o, 0, sizeof(*o));
	o->path = path;
	o->file = stdout;
	if (!path)
		return 0;
	err = place__find(&o->place, path);
	err = err ?: output_name(o);
	/* A pipe or a device may be both read and written. */
	for (size_t i = 0; !err && o->partial[0] && inputs && i < inputs->nr; i++)
		err = output_refuse(o, inputs->words[i]);
	if (err)
		return err;
	fd = output_open_fd(o);
	if (fd < 0)
		return output_err(path, fd);
	o->file = fdopen(fd, "w");
	if (o->file && o->partial[0])
		output_arm(o);
	if (o->file)
		return 0;
	close(fd);
	if (o->partial[0])
		renamer__remove(&o->renamer);
	return log_no_memory();
}

int output__keep_rights(struct output *o)
{
	int err = o->partial[0] ? renamer__fork(&o->renamer) : 0;

	return err ? log_err(err, "cannot start a process for --out: %s", strerror(-err)) : 0;
}

/* ---- the end ---- */

static int output_close(struct output *o, int err)
{
	bool failed = ferror(o->file);
	struct stat st = { 0 };

	errno = 0;
	failed |= fflush(o->file) != 0;
	if (!fstat(fileno(o->file), &st))
		o->is_empty = !st.st_size;
	failed |= fclose(o->file) != 0;
	if (!failed || (err < 0 && err != -EPIPE))
		return err;
	if ((errno == EPIPE || err == -EPIPE) && !o->partial[0])
		return -EPIPE; /* the reader has what it wanted */
	return log_err(-EIO, "cannot write %s%s%s", o->path, errno ? ": " : "",
		       errno ? strerror(errno) : "");
}

static void output_keep_partial(struct output *o)
{
	const char *old = o->place.exists ? o->path : "";

	if (o->is_empty) {
		renamer__remove(&o->renamer);
		return;
	}
	deputy__end(&o->renamer.deputy);
	log_warn("the output is incomplete; it is in %s%s%s%s", o->partial, *old ? "; " : "", old,
		 *old ? " is unchanged" : "");
}

static int output_settle(struct output *o, int err)
{
	int failed;

	if (err < 0) {
		output_keep_partial(o);
		return err;
	}
	failed = renamer__rename(&o->renamer);
	if (!failed)
		return err;
	return log_err(-EIO, "cannot rename %s to %s: %s", o->partial, o->place.path,
		       failed == -ESTALE ? "another run has replaced the file" : strerror(-failed));
}

int output__finish(struct output *o, int err)
{
	if (o->file == stdout || !o->file)
		return err;
	err = output_close(o, err);
	output_disarm();
	o->file = NULL;
	return o->partial[0] ? output_settle(o, err) : err;
}

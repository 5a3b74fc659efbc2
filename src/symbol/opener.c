/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "symbol/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/deputy.h"
#include "base/privilege.h"
#include "symbol/mapping_notes.h"

/* ---- rights ---- */

#define OPENER_RIGHT(cap) (1ULL << (cap))

/*
 * A file that only its owner may read is opened through its mapping, never by a path: a compromised
 * reader could name any file.
 */
static const uint64_t opener_rights = OPENER_RIGHT(CAP_SYS_PTRACE);
static const uint64_t opener_rights_by_link = OPENER_RIGHT(CAP_SYS_PTRACE) |
					      OPENER_RIGHT(CAP_DAC_READ_SEARCH) |
					      OPENER_RIGHT(CAP_CHECKPOINT_RESTORE);

typedef struct __user_cap_data_struct opener_caps[_LINUX_CAPABILITY_U32S_3];

static void opener_keep(opener_caps caps, uint64_t rights)
{
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		caps[i].permitted &= (uint32_t)(rights >> 32 * i);
		caps[i].effective = caps[i].permitted;
		caps[i].inheritable = 0;
	}
}

/* A file in memory, written through its mapping: the process that asks reads it. */
static char *opener_make_text(int *fd)
{
	char *text;

	*fd = memfd_create("iosonar-maps", MFD_CLOEXEC);
	if (*fd < 0)
		return NULL;
	if (ftruncate(*fd, NOTES_TEXT))
		return NULL;
	text = mmap(NULL, NOTES_TEXT, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	return text == MAP_FAILED ? NULL : text;
}

void symbol_opener__init(struct symbol_opener *opener, const char *root)
{
	struct __user_cap_header_struct self = { .version = _LINUX_CAPABILITY_VERSION_3 };
	opener_caps caps = { 0 };

	opener->root = root;
	opener->noted_text = *root ? NULL : opener_make_text(&opener->noted_fd);
	opener->notes = opener->noted_text ? mapping_notes__new() : NULL;
	syscall(SYS_capget, &self, caps);
	opener->by_link =
		!*root &&
		caps[CAP_CHECKPOINT_RESTORE / 32].permitted >> CAP_CHECKPOINT_RESTORE % 32 & 1;
	opener_keep(caps, opener->by_link ? opener_rights_by_link : opener_rights);
	syscall(SYS_capset, &self, caps);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void symbol_opener__confine(const struct symbol_opener *opener)
{
	const struct privilege_needs needs = {
		.role = PRIVILEGE_OPENS,
		.opens_in_root = !opener->by_link,
	};

	privilege__filter_calls(&needs);
}

/* ---- files ---- */

static int opener_open_link(const struct opener_request *request)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
		 request->pid, request->start, request->end);
	return open(path, O_PATH | O_CLOEXEC);
}

/* Links inside a container lead to what they name there, not to ours. */
static int opener_open_path(const struct symbol_opener *opener,
			    const struct opener_request *request)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char root[PATH_MAX];
	int fd, root_fd;

	snprintf(root, sizeof(root), "%s/proc/%" PRIu32 "/root", opener->root, request->pid);
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, root_fd, request->path, &how, sizeof(how));
	close(root_fd);
	return fd;
}

/* Reopens a descriptor that cannot read, and closes it: opening a device can have effects, a
 * pipe would block. path_fd < 0: errno says why there is none. */
static int opener_reopen(int path_fd, uint64_t inode)
{
	struct stat status;
	char self[32];
	int fd;

	if (path_fd < 0)
		return -errno;
	fd = fstat(path_fd, &status) ? -errno : 0;
	if (!fd && (!S_ISREG(status.st_mode) || (inode && status.st_ino != inode)))
		fd = -ENOEXEC;
	if (!fd) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
		fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		fd = fd < 0 ? -errno : fd;
	}
	close(path_fd);
	return fd;
}

static int opener_open_mapped(const struct symbol_opener *opener,
			      const struct opener_request *request)
{
	if (opener->by_link)
		return opener_reopen(opener_open_link(request), 0);
	return opener_reopen(opener_open_path(opener, request), request->inode);
}

/* Its path comes from the kernel, not from the process that asks. */
static int opener_open_noted_file(const struct symbol_opener *opener,
				  const struct opener_request *request)
{
	const struct mapping_note *note = mapping_notes__find(
		opener->notes, request->pid, request->start, request->end, request->inode);

	if (!note || note->path[0] != '/')
		return -ENOENT;
	return opener_reopen(open(note->path, O_PATH | O_CLOEXEC), note->inode);
}

/* For a process that has ended: as it was noted, or as the process that forked it still has it. */
static int opener_open_file(const struct symbol_opener *opener,
			    const struct opener_request *request)
{
	int fd = opener_open_mapped(opener, request);
	struct opener_request of_parent;

	if (fd >= 0 || !opener->notes)
		return fd;
	fd = opener_open_noted_file(opener, request);
	if (fd >= 0)
		return fd;
	of_parent = *request;
	of_parent.pid = mapping_notes__parent(opener->notes, request->pid);
	return of_parent.pid ? opener_open_mapped(opener, &of_parent) : fd;
}

static int opener_open_proc(const struct symbol_opener *opener, uint32_t pid, const char *name,
			    int flags)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/proc/%" PRIu32 "/%s", opener->root, pid, name);
	fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int opener_open_maps(const struct symbol_opener *opener,
			    const struct opener_request *request)
{
	return opener_open_proc(opener, request->pid, "maps", O_RDONLY);
}

static int opener_open_status(const struct symbol_opener *opener,
			      const struct opener_request *request)
{
	return opener_open_proc(opener, request->pid, "status", O_RDONLY);
}

/* ---- what a process says of its own code ---- */

/* No name on the way may be a link: that would lead out of the process's root. */
static int opener_find_perf_map(const struct symbol_opener *opener,
				const struct opener_request *request)
{
	int root = opener_open_proc(opener, request->pid, "root", O_PATH | O_DIRECTORY);
	int tmp =
		root < 0 ? -1 : openat(root, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int fd = -1, err = errno;
	char name[32];

	if (tmp >= 0) {
		snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", request->inner_pid);
		fd = openat(tmp, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		err = errno;
		close(tmp);
	}
	if (root >= 0)
		close(root);
	errno = err;
	return fd;
}

/* Others may write to /tmp, too: the file must belong to the user that the process runs as. */
static bool opener_is_its_own(const struct symbol_opener *opener, uint32_t pid, int file_fd)
{
	int fd = opener_open_proc(opener, pid, "", O_PATH | O_DIRECTORY);
	struct stat process, file;
	bool is_own;

	if (fd < 0)
		return false;
	is_own = !fstat(fd, &process) && !fstat(file_fd, &file) && process.st_uid == file.st_uid;
	close(fd);
	return is_own;
}

static int opener_open_perf_map(const struct symbol_opener *opener,
				const struct opener_request *request)
{
	int fd = opener_find_perf_map(opener, request);

	if (fd >= 0 && !opener_is_its_own(opener, request->pid, fd)) {
		close(fd);
		return -EACCES;
	}
	return opener_reopen(fd, 0);
}

/* The build-id alone makes the name: a compromised reader cannot name another file. */
static int opener_debug_path(const struct symbol_opener *opener,
			     const struct opener_request *request, char *path)
{
	int len = snprintf(path, PATH_MAX, "%s/usr/lib/debug/.build-id/%02x/", opener->root,
			   request->build_id[0]);

	if (request->build_id_len < 2 || request->build_id_len > OPENER_BUILD_ID_MAX)
		return -EINVAL;
	if (len < 0 || len + 2 * OPENER_BUILD_ID_MAX + (int)sizeof(".debug") > PATH_MAX)
		return -ENAMETOOLONG;
	for (uint32_t i = 1; i < request->build_id_len; i++)
		len += snprintf(path + len, 3, "%02x", request->build_id[i]);
	strcpy(path + len, ".debug");
	return 0;
}

static int opener_open_debug(const struct symbol_opener *opener,
			     const struct opener_request *request)
{
	char path[PATH_MAX];
	int err = opener_debug_path(opener, request, path);

	return err ?: opener_reopen(open(path, O_PATH | O_CLOEXEC), 0);
}

/* A child that has not called exec runs from what its parent had. */
static int opener_open_noted(const struct symbol_opener *opener,
			     const struct opener_request *request)
{
	struct opener_request of_parent = { .what = OPENER_MAPS };
	char self[32];
	int fd;

	if (!opener->notes)
		return -ESRCH;
	if (!mapping_notes__text(opener->notes, request->pid, opener->noted_text)) {
		of_parent.pid = mapping_notes__parent(opener->notes, request->pid);
		return of_parent.pid ? opener_open_maps(opener, &of_parent) : -ESRCH;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", opener->noted_fd);
	fd = open(self, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int opener_open_named(const struct symbol_opener *opener,
			     const struct opener_request *request)
{
	if (!memchr(request->path, '\0', sizeof(request->path)))
		return -EINVAL;
	return opener_open_file(opener, request);
}

int symbol_opener__open(const struct symbol_opener *opener, const struct opener_request *request)
{
	static int (*const open_what[])(const struct symbol_opener *opener,
					const struct opener_request *request) = {
		[OPENER_MAPS] = opener_open_maps,     [OPENER_FILE] = opener_open_named,
		[OPENER_DEBUG] = opener_open_debug,   [OPENER_NOTED] = opener_open_noted,
		[OPENER_STATUS] = opener_open_status, [OPENER_PERF_MAP] = opener_open_perf_map,
	};

	if ((unsigned int)request->what >= sizeof(open_what) / sizeof(open_what[0]))
		return -EINVAL;
	return open_what[request->what](opener, request);
}

/* ---- the socket between the two ---- */

void symbol_opener__serve(const struct symbol_opener *opener, int socket)
{
	struct opener_request request;
	bool sent = true;
	ssize_t got;
	int fd;

	while (sent) {
		got = recv(socket, &request, sizeof(request), 0);
		if (opener->notes)
			mapping_notes__take(opener->notes);
		if (got < 0 && errno == EAGAIN) /* no question for a while */
			continue;
		if (got != sizeof(request))
			return;
		fd = symbol_opener__open(opener, &request);
		sent = deputy__send(socket, &fd, sizeof(fd), fd); /* an error is sent as a number */
		if (fd >= 0)
			close(fd);
	}
}

/* write and recvmsg: what privilege__drop leaves. */
int symbol_opener__ask(int socket, const struct opener_request *request)
{
	int answer, fd;

	if (write(socket, request, sizeof(*request)) != sizeof(*request) ||
	    !deputy__receive(socket, &answer, sizeof(answer), &fd))
		return -EPIPE;
	if (answer < 0)
		return answer;
	return fd < 0 ? -EMFILE : fd; /* no free descriptor here */
}

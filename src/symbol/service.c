/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "symbol/service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/privilege.h"

enum {
	SERVICE_FIRST_FD = STDERR_FILENO + 1, /* of those that a process keeps */
	SERVICE_FDS = 2,		      /* at most */
	SERVICE_HIGH_FD = 64,		      /* out of the way */
	SERVICE_CPU_S = 300,
	SERVICE_LOOK_MS = 250, /* the opener takes what the kernel notes so often, at least */
};

static const rlim_t service_memory_bytes = 2ULL << 30;

/* ---- in the new process ---- */

/* Signals to the terminal's group are for the one that measures; these two end with it. */
static void service_outlive_nobody(pid_t parent)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

/* No output, no program's descriptor, no folder that could not be unmounted: sockets only. */
static void service_keep_sockets(const int *sockets, int nr)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), high[SERVICE_FDS];

	for (int i = 0; i < nr; i++)
		high[i] = fcntl(sockets[i], F_DUPFD, SERVICE_HIGH_FD);
	for (int fd = 0; fd < SERVICE_FIRST_FD; fd++)
		dup2(null, fd);
	for (int i = 0; i < nr; i++)
		dup2(high[i], SERVICE_FIRST_FD + i);
	if (syscall(SYS_close_range, SERVICE_FIRST_FD + nr, ~0U, 0) || chdir("/"))
		_exit(1);
}

static void service_limit(int what, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) || limit.rlim_cur <= most)
		return;
	limit.rlim_cur = most;
	setrlimit(what, &limit);
}

/* A file can be made to take all memory and all time of who unpacks it. */
static void service_limit_reader(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%lu", &pages) == 1)
		service_limit(RLIMIT_AS,
			      pages * (rlim_t)sysconf(_SC_PAGESIZE) + service_memory_bytes);
	if (file)
		fclose(file);
	service_limit(RLIMIT_CPU, SERVICE_CPU_S);
	service_limit(RLIMIT_CORE, 0);
}

static void service_run_opener(const char *root)
{
	const struct timeval look = { .tv_usec = SERVICE_LOOK_MS * 1000 };
	struct symbol_opener opener;

	prctl(PR_SET_NAME, "iosonar-open");
	setsockopt(SERVICE_FIRST_FD, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look));
	symbol_opener__init(&opener, root);
	symbol_opener__confine(&opener);
	symbol_opener__serve(&opener, SERVICE_FIRST_FD);
}

static int service_ask_opener(void *arg, const struct opener_request *request)
{
	(void)arg;
	return symbol_opener__ask(SERVICE_FIRST_FD + 1, request);
}

static void service_run_reader(const char *root)
{
	const struct privilege_needs needs = { .role = PRIVILEGE_PARSES };
	struct symbol_reader *reader = symbol_reader__new(service_ask_opener, NULL);

	(void)root;
	prctl(PR_SET_NAME, "iosonar-symbols");
	service_limit_reader();
	privilege__drop(&needs);
	if (reader)
		symbol_reader__serve(reader, SERVICE_FIRST_FD);
}

static pid_t service_fork(void (*run)(const char *root), const char *root, const int *sockets,
			  int nr)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	service_outlive_nobody(parent);
	service_keep_sockets(sockets, nr);
	run(root);
	_exit(0);
}

/* ---- in this one ---- */

/* ours: the question's end; theirs: the reader's, and both ends between reader and opener. */
static int service_start_both(struct symbol_service *service, const char *root, int theirs,
			      const int files[2])
{
	const int reader[SERVICE_FDS] = { theirs, files[0] };

	service->opener = service_fork(service_run_opener, root, &files[1], 1);
	if (service->opener < 0)
		return -errno;
	service->reader = service_fork(service_run_reader, root, reader, SERVICE_FDS);
	return service->reader < 0 ? -errno : 0;
}

static void service_close(const int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

int symbol_service__start(struct symbol_service *service, const char *root)
{
	int names[2], files[2], err;

	*service = (struct symbol_service){ .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, names))
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, files)) {
		err = -errno;
		service_close(names);
		return err;
	}
	err = service_start_both(service, root, names[1], files);
	service->socket = names[0];
	close(names[1]);
	service_close(files);
	if (err)
		symbol_service__end(service);
	return err;
}

static bool service_wait(int socket)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };
	int nr;

	do {
		nr = poll(&fd, 1, SERVICE_PATIENCE_MS);
	} while (nr < 0 && errno == EINTR);
	return nr == 1;
}

/* write and not send: it is on the list of privilege.c. SIGPIPE is ignored by main. */
bool symbol_service__ask(struct symbol_service *service, const struct reader_request *request,
			 struct reader_reply *reply)
{
	if (service->socket < 0)
		return false;
	if (write(service->socket, request, sizeof(*request)) == sizeof(*request) &&
	    service_wait(service->socket) &&
	    recv(service->socket, reply, sizeof(*reply), 0) == sizeof(*reply)) {
		reply->name[SYMBOL_NAME_MAX] = '\0';
		return true;
	}
	close(service->socket);
	service->socket = -1;
	return false;
}

/* One that was given up may hang in a file system: it is left to end with this process. */
void symbol_service__end(struct symbol_service *service)
{
	bool answers = service->socket >= 0;

	if (answers)
		close(service->socket);
	service->socket = -1;
	if (service->reader > 0)
		waitpid(service->reader, NULL, answers ? 0 : WNOHANG);
	if (service->opener > 0)
		waitpid(service->opener, NULL, answers ? 0 : WNOHANG);
	service->reader = service->opener = 0;
}

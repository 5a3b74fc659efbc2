/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "symbol/service.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/privilege.h"

enum {
	SERVICE_FDS = 2, /* most that a process keeps */
	SERVICE_CPU_S = 300,
	SERVICE_LOOK_MS = 250, /* the opener reads the kernel's notes at least this often */
};

static const uint64_t service_memory_bytes = 2ULL << 30;

/* ---- in the new process ---- */

/* Signals to the terminal's group are for the process that measures; these two end with it. */
static void service_outlive_nobody(pid_t parent)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

static void service_run_opener(const char *root)
{
	const struct timeval look = { .tv_usec = SERVICE_LOOK_MS * 1000 };
	struct symbol_opener opener;

	prctl(PR_SET_NAME, "iosonar-open");
	setsockopt(PRIVILEGE_KEPT_FD, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look));
	symbol_opener__init(&opener, root);
	symbol_opener__confine(&opener);
	symbol_opener__serve(&opener, PRIVILEGE_KEPT_FD);
}

static int service_ask_opener(void *arg, const struct opener_request *request)
{
	(void)arg;
	return symbol_opener__ask(PRIVILEGE_KEPT_FD + 1, request);
}

static void service_run_reader(const char *root)
{
	const struct privilege_needs needs = { .role = PRIVILEGE_PARSES };
	struct symbol_reader *reader = symbol_reader__new(service_ask_opener, NULL);

	(void)root;
	prctl(PR_SET_NAME, "iosonar-symbols");
	privilege__limit(service_memory_bytes, SERVICE_CPU_S);
	privilege__drop(&needs);
	if (reader)
		symbol_reader__serve(reader, PRIVILEGE_KEPT_FD);
}

static pid_t service_fork(void (*run)(const char *root), const char *root, const int *sockets,
			  int nr)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	service_outlive_nobody(parent);
	privilege__keep_descriptors(sockets, nr);
	run(root);
	_exit(0);
}

/* ---- in this process ---- */

/* ours: the end for questions; theirs: the reader's; files: both ends between reader and opener. */
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

	*service = (struct symbol_service){ .socket = -1, .patience_ms = SERVICE_PATIENCE_MS };
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

static bool service_wait(int socket, int patience_ms)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };
	int nr;

	do {
		nr = poll(&fd, 1, patience_ms);
	} while (nr < 0 && errno == EINTR);
	return nr == 1;
}

/* write and not send: it is on the list of privilege.c. SIGPIPE is ignored by main. */
bool symbol_service__ask(struct symbol_service *service, const struct reader_request *request,
			 void *reply, size_t size)
{
	if (service->socket < 0)
		return false;
	if (write(service->socket, request, sizeof(*request)) == sizeof(*request) &&
	    service_wait(service->socket, service->patience_ms) &&
	    recv(service->socket, reply, size, MSG_TRUNC) == (ssize_t)size)
		return true;
	close(service->socket);
	service->socket = -1;
	return false;
}

/* A reader that was given up may hang in a file system: it is left to end with this process. */
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

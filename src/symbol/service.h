/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * service.h: the two processes behind user symbols, an opener that keeps rights and a reader that
 * has none, and the socket to the reader. A question costs two process switches, some 50 us. A
 * reader that dies, or takes longer than its patience, is not asked again.
 */
#ifndef IOSONAR_SYMBOL_SERVICE_H
#define IOSONAR_SYMBOL_SERVICE_H

#include <sys/types.h>
#include "symbol/reader.h"

/* Tables and names of a process with many large libraries took 10 s on a starved machine (fio with
 * those of Ceph, in an emulated guest). */
enum { SERVICE_PATIENCE_MS = 30000 };

struct symbol_service {
	int socket; /* -1: no reader to ask */
	pid_t opener, reader;
	int patience_ms;
};

/* root must stay valid. A negative errno: it could not be started. */
int symbol_service__start(struct symbol_service *service, const char *root);
/* False: no answer, now or later. size: of the reply, which is that of the request's what. */
bool symbol_service__ask(struct symbol_service *service, const struct reader_request *request,
			 void *reply, size_t size);
void symbol_service__end(struct symbol_service *service);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pods.h: what are the names of a container and of its pod? The kubelet's links to logs have them;
 * no API is asked and no link is followed. The directory is read when a container is unknown, at
 * most once per reading. The kubelet makes a link shortly after it starts the container.
 */
#ifndef IOSONAR_SERVE_PODS_H
#define IOSONAR_SERVE_PODS_H

#include "base/index.h"
#include "decode/cgroup_names.h"

#define PODS_DIRECTORY "/var/log/containers"
enum { PODS_MOST = 8192 }; /* links: 450 bytes each */

struct pods {
	const char *directory;	   /* set by the caller */
	const struct scout *scout; /* likewise: reads it for a process that may not; NULL: it may */
	struct pod_link *links;
	struct index by_id;
	bool is_fresh; /* it was read in this reading */
};

void pods__begin(struct pods *pods); /* a reading */
/* Valid until the next call. NULL: unknown. */
const struct pod_link *pods__find(struct pods *pods, const char *id);
void pods__free(struct pods *pods);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cgroup_names.h: which unit of systemd, container and pod does the path of a cgroup name? Knows
 * how systemd, Docker, containerd, CRI-O, Podman and the kubelet name their cgroups, and how the
 * kubelet names its links to logs. Pure. A container may create cgroups of any name below its own,
 * so the outermost name counts.
 */
#ifndef IOSONAR_DECODE_CGROUP_NAMES_H
#define IOSONAR_DECODE_CGROUP_NAMES_H

#include <stdbool.h>

/* With their ends. A file's name, a DNS name, a DNS label, a container's id, a pod's. */
enum { NAME_FILE = 256, NAME_DNS = 254, NAME_LABEL = 64, NAME_ID = 65, NAME_UID = 37 };

struct cgroup_names {
	char unit[NAME_FILE];	 /* "nginx.service", "docker-1f…e.scope", "user.slice"; hostile */
	char container[NAME_ID]; /* its whole id, 64 hexadecimal digits */
	char pod[NAME_UID];	 /* its UID: "8d2b6e0c-…"; set if `container` is one of a pod */
};

/* What the path does not name is "". */
void cgroup_names__find(struct cgroup_names *names, const char *path);

/* /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log */
struct pod_link {
	char pod[NAME_DNS], namespace[NAME_LABEL], container[NAME_LABEL], id[NAME_ID];
};

/* false: it is not such a name. */
bool pod_link__parse(struct pod_link *link, const char *name);

#endif

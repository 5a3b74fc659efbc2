/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctrl_watch.h: state changes of NVMe controllers and commands that timed out, for which there are
 * no tracepoints: probes functions of the driver, by fentry and fexit or by kprobes, as the kernel
 * allows. Costs nothing per I/O. What cannot be probed is reported in one line.
 */
#ifndef IOSONAR_COLLECT_CTRL_WATCH_H
#define IOSONAR_COLLECT_CTRL_WATCH_H

#include <stdint.h>

struct ctrl_watch;
struct kernel;

/* rings_fd: the map of rings that records go to. NULL: no memory. */
struct ctrl_watch *ctrl_watch__new(int rings_fd, uint32_t nr_cpus, const struct kernel *kernel);
void ctrl_watch__free(struct ctrl_watch *watch);	      /* NULL is fine */
uint64_t ctrl_watch__dropped(const struct ctrl_watch *watch); /* events lost to a full ring */

#endif

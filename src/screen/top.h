/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top.h: the screen of `top`: what is drawn where, and what a key does. It shows a top_model and
 * the facts of the run; it reads nothing itself.
 *
 *	iosonar top  host  Linux 6.12.0  12:00:07  interval 1.0 s
 *	IO/s 12.3k  MB/s 50.4  p50 80.0us  p99 203us  max 1.20ms  in flight 12
 *	issued 86112 = completed 86100 + in flight 12; nothing lost
 *	all  by dev, largest IO/s first                         CPU 0.4 %  BPF 0.31 %
 *	  dev              IO/s    MB/s   size     p50     p99     max in flight
 *	> nvme0n1         12.3k    50.4  4.0Ki  80.0us   203us  1.20ms        12
 *	latency of nvme0n1, last 60 s
 *	 128us |   ..::--==|
 *	STUCK  nvme0n1  write  2 for 3.21s: sent
 *	FAILED nvme0n1  read   6, the last 2 s ago: unrecovered read error (2/81)
 */
#ifndef IOSONAR_SCREEN_TOP_H
#define IOSONAR_SCREEN_TOP_H

#include "decode/ledger.h"
#include "screen/screen.h"
#include "screen/top_browse.h"
#include "view/top_model.h"
#include "view/top_troubles.h"

enum {
	TOP_LEAST_COLUMNS = 40,
	TOP_LEAST_LINES = 10,
	TOP_MESSAGE = 256,
	TOP_MOST_MULTIPLE = 3600,
};

/* Of the run, at the end of the interval. */
struct top_facts {
	char host[65], kernel[65], clock[32];
	struct ledger ledger;
	bool has_ledger;		 /* a truncated capture has none */
	double cpu_percent, bpf_percent; /* as in struct top_sample */
};

struct top_screen {
	struct top_model *model;
	const struct top_troubles *troubles; /* NULL: none are known */
	double now_s;			     /* since the start, at the last interval */
	struct top_facts facts;
	struct top_browse browse; /* with -r */
	struct chart_style style;
	unsigned int multiple; /* intervals of -i that one interval of the screen has */
	bool is_frozen, shows_help, hides_strip;
	bool quits;
	bool types; /* the filter */
	char input[TOP_FILTER];
	char message[TOP_MESSAGE]; /* the last one */
};

/* Draws what top_model__arrange made. */
void top_screen__draw(const struct top_screen *screen);
/* What this key does: changes the screen or its model, or sets quits; top_model__arrange follows.
 */
void top_screen__on_key(struct top_screen *screen, int key);

/* For the help: what each key does. NULL ends it. */
struct top_key {
	int key, also; /* 0: no other */
	const char *name, *help;
	void (*act)(struct top_screen *screen);
};
extern const struct top_key top_keys[];
extern const struct top_key top_browse_keys[]; /* with a capture, instead of the same keys there */
const struct top_key *top_key__find(const struct top_key *keys, int key); /* NULL: none */

#endif

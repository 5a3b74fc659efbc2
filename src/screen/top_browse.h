/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_browse.h: which window of a capture does `top -r` show? Times are those of the capture's
 * clock. Windows follow one another from the first moment on, or from where the user changed their
 * length. It reads nothing: the command visits what is asked for here.
 */
#ifndef IOSONAR_SCREEN_TOP_BROWSE_H
#define IOSONAR_SCREEN_TOP_BROWSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOP_BROWSE_TEXT = 96, TOP_BROWSE_FILE = 128 };

struct top_browse {
	bool is_on;		    /* a capture is shown */
	char file[TOP_BROWSE_FILE]; /* its name, hostile */
	uint64_t start_ns;	    /* times on the screen, --from and --to count from here */
	uint64_t first_ns, last_ns; /* what can be shown */
	uint64_t at_ns, window_ns;
	uint64_t shown_ns, shown_window_ns; /* the window that is on the screen; 0: none yet */
	double cost;			    /* seconds that a visit takes for each it shows */
	bool plays, is_damaged;
};

/* window_ns: at first. */
void top_browse__begin(struct top_browse *browse, uint64_t first_ns, uint64_t last_ns,
		       uint64_t window_ns);
/* What a user does. False: it stays where it was, because there is nothing more. */
bool top_browse__step(struct top_browse *browse, int by); /* windows: 1 or -1 */
void top_browse__to_first(struct top_browse *browse);
void top_browse__to_last(struct top_browse *browse);
bool top_browse__lengthen(struct top_browse *browse);
bool top_browse__shorten(struct top_browse *browse);

bool top_browse__has_moved(const struct top_browse *browse);
/* The window follows the one that is on the screen: only its own data is needed. */
bool top_browse__follows(const struct top_browse *browse);
/*
 * Where to begin to read: at the window, or before it, because the strip shows `most` windows; as
 * many as can be read at once. After the visit: what was read, and how long that took.
 */
uint64_t top_browse__from(const struct top_browse *browse, size_t most);
void top_browse__visited(struct top_browse *browse, uint64_t from_ns, double seconds);
/* "3.000 s to 4.000 s of 60.123 s", as --from and --to take them. Returns buf. */
char *top_browse__text(const struct top_browse *browse, char buf[TOP_BROWSE_TEXT]);

#endif

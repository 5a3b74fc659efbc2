/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_player.h: the capture of `top -r`: reads the window that the keys chose, and plays one window
 * after the other. A window costs what a replay of it costs; after a jump the windows before it are
 * read, too, for the strip.
 */
#ifndef IOSONAR_SCREEN_TOP_PLAYER_H
#define IOSONAR_SCREEN_TOP_PLAYER_H

#include "screen/top.h"
#include "session/session.h"

struct top_player {
	struct session *session;
	struct top_screen *screen;
	int (*draw)(void *arg); /* after a window that was played */
	void *arg;
	double next_s; /* when the next window is due; 0: it does not play */
	bool has_timer;
};

/* In on_start: the first window. session, screen, draw and arg are set. */
int top_player__open(struct top_player *player);
/* After keys: visits the window if it is another one, plays if it is asked to. */
int top_player__follow(struct top_player *player);

#endif

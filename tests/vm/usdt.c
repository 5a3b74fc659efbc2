/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usdt.c: a program with marks of its own, for tests of usdt: and user:.
 *	usdt [TURNS]	13 turns if it is not said
 * Every turn passes iosonar:turn with its number and twice that, and calls turn_around; every third
 * one passes iosonar:third with a text, if somebody listens. At the end it says how many times
 * somebody did.
 */
#include <stdio.h>
#include <stdlib.h>
#include "usdt.h"

USDT_SEMAPHORE(third_semaphore);

int turn_around(int turn);

__attribute__((noinline)) int turn_around(int turn)
{
	USDT_MARK2("iosonar", "turn", turn, 2 * turn);
	return turn + 1;
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 13, heard = 0;

	USDT_MARK("iosonar", "begin");
	for (int turn = 0; turn < turns; turn = turn_around(turn)) {
		if (turn % 3 || !third_semaphore)
			continue;
		USDT_MARK_TEXT("iosonar", "third", third_semaphore, "three");
		heard++;
	}
	USDT_MARK1("iosonar", "end", 7);
	printf("%d\n", heard);
	return 0;
}

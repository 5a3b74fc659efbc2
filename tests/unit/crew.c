/* SPDX-License-Identifier: BSD-2-Clause */
/* crew.c: do all that copies send arrive, and what if a copy dies? */
#include "base/crew.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"

enum { CREW_NUMBERS = 100000 };

static int send_numbers(void *arg, unsigned int number, struct crew_end *end)
{
	int err = 0;

	printf("not ok - a copy prints\n");
	fflush(stdout);
	for (unsigned int i = 0; i < CREW_NUMBERS && !err; i++) {
		unsigned int sent = *(unsigned int *)arg + number + i;

		err = crew__send(end, &sent, sizeof(sent));
	}
	return err != 0;
}

static int send_and_die(void *arg, unsigned int number, struct crew_end *end)
{
	crew__send(end, &number, sizeof(number));
	if (number)
		return *(int *)arg;
	raise(SIGKILL);
	return 0;
}

static int lend_pages(void *arg, unsigned int number, struct crew_end *end)
{
	static unsigned char page[65536];
	int err = 0;

	(void)arg;
	for (unsigned int i = 0; i < 50 && !err; i++) {
		memset(page, (int)(number * 50 + i), sizeof(page));
		err = crew__lend(end, page, sizeof(page)) ?: crew__send(end, "", 1);
	}
	return err != 0;
}

static int work_forever(void *arg, unsigned int number, struct crew_end *end)
{
	(void)arg, (void)number, (void)end;
	while (pause())
		;
	return 0;
}

static void test_numbers(void)
{
	unsigned int first = 7, got, wrong = 0;
	struct crew crew;

	crew__start(&crew, 3, send_numbers, &first);
	is_u64(crew.nr, 3, "three start");
	for (unsigned int i = 0; i < CREW_NUMBERS; i++)
		for (unsigned int number = 3; number-- > 0;)
			wrong += crew__receive(&crew, number, &got, sizeof(got)) ||
				 got != first + number + i;
	is_u64(wrong, 0, "more than a pipe holds arrives, of each in its order");
	crew__end(&crew);
	ok(waitpid(-1, NULL, 0) < 0 && errno == ECHILD, "none is left");
}

static void test_lent(void)
{
	struct crew crew;
	unsigned int wrong = 0;
	char done;

	crew__start(&crew, 2, lend_pages, NULL);
	for (unsigned int i = 0; i < 100; i++) {
		const uint8_t *page;

		wrong += crew__receive(&crew, i % 2, &done, 1) != 0;
		page = crew__borrow(&crew, i % 2);
		usleep(i < 4 ? 20000 : 0); /* time to overwrite it, if a copy did not wait */
		wrong += page[0] != i % 2 * 50 + i / 2 || page[65535] != page[0];
		crew__return(&crew, i % 2);
	}
	is_u64(wrong, 0, "what is lent stays until it is returned");
	crew__end(&crew);
}

static void test_deaths(void)
{
	unsigned int got = 9;
	struct crew crew;
	int status = 5;

	crew__start(&crew, 2, send_and_die, &status);
	for (unsigned int number = 0; number < 2; number++) {
		ok(!crew__receive(&crew, number, &got, sizeof(got)) && got == number,
		   "what %u sent before it ended arrives", number);
		ok(crew__receive(&crew, number, &got, sizeof(got)) == -EIO,
		   "then its end is an error");
	}
	crew__end(&crew);
	ok(waitpid(-1, NULL, 0) < 0 && errno == ECHILD, "none is left");
}

int main(void)
{
	struct crew crew;

	setvbuf(stdout, NULL, _IONBF, 0);
	signal(SIGPIPE, SIG_IGN); /* as main does */
	ok(crew__default() >= 1 && crew__default() <= CREW_MOST, "there is a CPU");
	test_numbers();
	test_lent();
	test_deaths();
	crew__start(&crew, CREW_MOST + 1, work_forever, NULL);
	is_u64(crew.nr, CREW_MOST, "no more than that");
	crew__end(&crew);
	ok(waitpid(-1, NULL, 0) < 0 && errno == ECHILD, "those that never end are ended");
	return done_testing();
}

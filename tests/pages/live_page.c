/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_page.c: the page of `serve`, for a test that plays its server: the policy of its header on
 * the first line, then the page.
 */
#include "serve/live_page.h"

#include <stdio.h>

int main(void)
{
	struct http_page page = { NULL, NULL, 0 };

	if (live_page__make(&page))
		return 1;
	printf("%s\n%s", page.policy, page.text);
	live_page__free(&page);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nested.c: a function that calls itself, for probes of its returns: `nested N` opens N + 1 calls
 * of it at a time and returns from each; `nested N TIMES` does so TIMES, and leaves all but the
 * last time by longjmp from the innermost call, so that none of those returns.
 */
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf outside;
static int leaves;

__attribute__((noinline, noclone)) static int nested_call(int n)
{
	volatile int depth = n; /* used behind the call: it is no jump */

	if (n <= 0 && leaves)
		longjmp(outside, 1);
	return n <= 0 ? 0 : nested_call(depth - 1) + depth - depth;
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 0, times = argc > 2 ? atoi(argv[2]) : 1;
	volatile int sum = 0;

	for (volatile int i = 0; i < times; i++) {
		leaves = i + 1 < times;
		if (!setjmp(outside))
			sum += nested_call(n);
	}
	return sum;
}

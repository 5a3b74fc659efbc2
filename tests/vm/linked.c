// SPDX-License-Identifier: BSD-2-Clause
/*
 * linked.c: requests of io_uring that wait for others. linked link: a request that does nothing,
 * behind one that takes 50 ms. linked twins: two at a time with the same user_data. linked silent:
 * one that is to have no completion (Linux 5.17).
 */
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENTRIES = 8, SKIP_SUCCESS = 1 << 6 };

static struct ring {
	int fd;
	struct io_uring_params params;
	struct io_uring_sqe *sqes;
	unsigned char *sq;
	unsigned int nr;
} ring;

static const struct {
	int64_t s, ns;
} delay = { 0, 50000000 };

static void *map(size_t bytes, uint64_t at)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, (off_t)at);
}

static int ring_open(void)
{
	const struct io_sqring_offsets *off = &ring.params.sq_off;

	ring.fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &ring.params);
	if (ring.fd < 0)
		return -1;
	ring.sq = map(off->array + ENTRIES * sizeof(unsigned int), IORING_OFF_SQ_RING);
	ring.sqes = map(ENTRIES * sizeof(*ring.sqes), IORING_OFF_SQES);
	return ring.sq == MAP_FAILED || (void *)ring.sqes == MAP_FAILED ? -1 : 0;
}

static void put(uint8_t opcode, unsigned int flags, uint64_t user_data)
{
	struct io_uring_sqe *sqe = &ring.sqes[ring.nr];

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = opcode;
	sqe->flags = (uint8_t)flags;
	sqe->user_data = user_data;
	sqe->fd = -1;
	if (opcode == IORING_OP_TIMEOUT) {
		sqe->addr = (uintptr_t)&delay;
		sqe->len = 1;
	}
	((unsigned int *)(void *)(ring.sq + ring.params.sq_off.array))[ring.nr] = ring.nr;
	ring.nr++;
}

/* Submits all, and waits for so many completions. */
static int go(unsigned int completions)
{
	unsigned int *tail = (void *)(ring.sq + ring.params.sq_off.tail);

	__atomic_store_n(tail, *tail + ring.nr, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, ring.fd, ring.nr, completions, IORING_ENTER_GETEVENTS,
		       NULL, 0) == (long)ring.nr
		       ? 0
		       : 1;
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	if (ring_open()) {
		perror("linked: io_uring");
		return 1;
	}
	if (!strcmp(what, "link")) {
		put(IORING_OP_TIMEOUT, IOSQE_IO_LINK, 1);
		put(IORING_OP_NOP, 0, 2);
		return go(2);
	}
	if (!strcmp(what, "twins")) {
		put(IORING_OP_TIMEOUT, 0, 7);
		put(IORING_OP_TIMEOUT, 0, 7);
		return go(2);
	}
	put(IORING_OP_NOP, SKIP_SUCCESS, 1);
	put(IORING_OP_NOP, 0, 2);
	return go(1);
}

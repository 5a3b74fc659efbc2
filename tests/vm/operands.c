/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * operands.c: values that are hard to get at, each a known number of times.
 *	operands many N		calls operands_many with the twelve arguments 101 to 112
 *	operands udp N		sends N datagrams of 17 bytes to ourselves
 *	operands usdt N		passes iosonar:pair N times, with two variables of the file (x86_64)
 *	operands compat N	getpid N times as a 32-bit call, named compat; exits 77 if the
 *				kernel has none
 * Named unread, with paths in pages that were never touched:
 *	operands exec		executes /bin/true
 *	operands thread		executes it, from a thread that is not the first one
 *	operands failing	fails to execute /nowhere, then executes /bin/true by its usual path
 *	operands rename N	renames /tmp/unread-a to /tmp/unread-b, and fails, N times
 *	operands invalid N	opens a path at an address of no memory N times
 *	operands fifo		opens /tmp/unread-fifo, which waits for a writer
 */
#define _GNU_SOURCE 1
#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "usdt.h"

enum { NO_COMPAT = 77, GETPID_32 = 20 };

/* ---- arguments on the stack ---- */

long operands_many(int a, int b, int c, int d, int e, int f, int g, int h, int i, char j, long k,
		   short l);

__attribute__((noinline)) long operands_many(int a, int b, int c, int d, int e, int f, int g, int h,
					     int i, char j, long k, short l)
{
	__asm__ volatile("" : : : "memory");
	return a + b + c + d + e + f + g + h + i + j + k + l;
}

static int many(int times)
{
	long sum = 0;

	for (int i = 0; i < times; i++)
		sum += operands_many(101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112);
	return sum != times * 1278L;
}

/* The kernel's ip_make_skb has ten arguments; the last is what sendto was told. */
static int udp(int times)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct ifreq loopback = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char bytes[17] = { 0 };

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &loopback))
		err(1, "lo");
	for (int i = 0; i < times; i++)
		if (sendto(fd, bytes, sizeof(bytes), MSG_DONTWAIT, (const struct sockaddr *)&to,
			   sizeof(to)) != (ssize_t)sizeof(bytes))
			err(1, "sendto");
	return 0;
}

/* ---- variables of the file ---- */

int operands_pair[2];

static int usdt(int times)
{
#ifdef __x86_64__
	for (int i = 0; i < times; i++) {
		operands_pair[0] = i + 1;
		operands_pair[1] = -7;
		__asm__ volatile(USDT_NOTE("iosonar", "pair", "0",
					   "-4@operands_pair(%%rip) -4@operands_pair+4(%%rip) "
					   "-4@4+operands_pair(%%rip) 4@operands_none(%%rip)") "" ::
					 : "memory");
	}
	return 0;
#else
	(void)times;
	return 1;
#endif
}

/* ---- 32-bit calls ---- */

#ifdef __x86_64__
static void compat_calls(int times)
{
	for (int i = 0; i < times; i++) {
		long ret = GETPID_32;

		__asm__ volatile("int $0x80" : "+a"(ret) : : "memory");
		if (ret != getpid())
			_exit(NO_COMPAT);
	}
	_exit(0);
}
#else
/* A program of a few instructions: this machine's compiler makes none of 32 bits. */
static void compat_calls(int times)
{
	struct {
		Elf32_Ehdr head;
		Elf32_Phdr load;
		uint32_t code[8];
	} file = {
		.head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
			  .e_type = ET_EXEC,
			  .e_machine = EM_ARM,
			  .e_version = EV_CURRENT,
			  .e_entry = 0x10000 + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
			  .e_phoff = sizeof(Elf32_Ehdr),
			  .e_flags = EF_ARM_EABI_VER5,
			  .e_ehsize = sizeof(Elf32_Ehdr),
			  .e_phentsize = sizeof(Elf32_Phdr),
			  .e_phnum = 1 },
		.load = { .p_type = PT_LOAD,
			  .p_vaddr = 0x10000,
			  .p_paddr = 0x10000,
			  .p_filesz = sizeof(file),
			  .p_memsz = sizeof(file),
			  .p_flags = PF_R | PF_X,
			  .p_align = 0x10000 },
		.code = {
			0xe3a04000 | (uint32_t)(times & 0xff), /* mov r4, #times */
			0xe3a07000 | GETPID_32,		       /* mov r7, #20 */
			0xef000000,			       /* svc 0 */
			0xe2544001,			       /* subs r4, r4, #1 */
			0x1afffffb,			       /* bne -3 */
			0xe3a00000,			       /* mov r0, #0 */
			0xe3a07001,			       /* mov r7, #1: exit */
			0xef000000,			       /* svc 0 */
		},
	};
	int fd = open("/tmp/compat", O_CREAT | O_TRUNC | O_WRONLY, 0755);

	if (fd < 0 || write(fd, &file, sizeof(file)) != (ssize_t)sizeof(file))
		err(1, "/tmp/compat");
	close(fd);
	execl("/tmp/compat", "compat", NULL);
	_exit(NO_COMPAT);
}
#endif

static int compat(int times)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_NAME, "compat");
		compat_calls(times);
	}
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : NO_COMPAT;
}

/* ---- texts in pages that were never touched ---- */

/* A copy in the page cache that no page table knows. */
static const char *unread(const char *text)
{
	const size_t bytes = strlen(text) + 1;
	int fd = memfd_create("unread", MFD_CLOEXEC);
	const char *at = MAP_FAILED;

	if (fd >= 0 && write(fd, text, bytes) == (ssize_t)bytes)
		at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		err(1, "a page with %s", text);
	close(fd);
	return at;
}

static void *exec_unread(void *path)
{
	char *const argv[] = { "true", "unread", NULL }, *const envp[] = { NULL };

	prctl(PR_SET_NAME, "unread");
	execve(path, argv, envp);
	return NULL;
}

static int exec_thread(void *path)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exec_unread, path))
		return 1;
	pthread_join(thread, NULL);
	return 1;
}

static int rename_unread(int times)
{
	int failed = 0;

	prctl(PR_SET_NAME, "unread");
	for (int i = 0; i < times; i++)
		failed +=
			rename(unread("/tmp/unread-a"), unread("/tmp/unread-b")) && errno == ENOENT;
	return failed != times;
}

static int open_invalid(int times)
{
	int failed = 0;

	prctl(PR_SET_NAME, "unread");
	for (int i = 0; i < times; i++)
		failed += syscall(SYS_openat, AT_FDCWD, 17, O_RDONLY) < 0 && errno == EFAULT;
	return failed != times;
}

static int open_fifo(void)
{
	const char *path = unread("/tmp/unread-fifo");

	prctl(PR_SET_NAME, "unread");
	return open(path, O_RDONLY) < 0;
}

static int unread_calls(const char *what, int times)
{
	if (!strcmp(what, "rename"))
		return rename_unread(times);
	if (!strcmp(what, "invalid"))
		return open_invalid(times);
	if (!strcmp(what, "fifo"))
		return open_fifo();
	if (!strcmp(what, "thread"))
		return exec_thread((void *)unread("/bin/true"));
	if (!strcmp(what, "failing"))
		exec_unread((void *)unread("/nowhere"));
	if (!strcmp(what, "exec") || !strcmp(what, "failing"))
		exec_unread(!strcmp(what, "exec") ? (void *)unread("/bin/true") : "/bin/true");
	return 2;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int times = argc > 2 ? atoi(argv[2]) : 1;

	if (!strcmp(what, "many"))
		return many(times);
	if (!strcmp(what, "udp"))
		return udp(times);
	if (!strcmp(what, "usdt"))
		return usdt(times);
	if (!strcmp(what, "compat"))
		return compat(times);
	return unread_calls(what, times);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * passthru.c: sends NVMe commands past the block layer, one for each line of standard input:
 *	admin|io DEVICE OPCODE NSID BYTES [DATA [CDW10 [CDW11 ...]]]
 * numbers as C writes them; DATA is the first dword of the buffer, the rest is 0. nvme-cli can do
 *the same, but takes a third of a second per command in a guest without KVM. Prints each status.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MOST_BYTES = 8192 };

static unsigned int next_number(void)
{
	const char *word = strtok(NULL, " \t\n");

	return word ? (unsigned int)strtoul(word, NULL, 0) : 0;
}

static int passthru_send(const char *kind, const char *device)
{
	static unsigned int buffer[MOST_BYTES / 4];
	struct nvme_passthru_cmd cmd = { .opcode = (unsigned char)next_number(),
					 .nsid = next_number() };
	unsigned long request = strcmp(kind, "io") ? NVME_IOCTL_ADMIN_CMD : NVME_IOCTL_IO_CMD;
	int fd = open(device, O_RDWR | O_CLOEXEC), status;

	memset(buffer, 0, sizeof(buffer));
	cmd.data_len = next_number();
	buffer[0] = next_number();
	cmd.cdw10 = next_number();
	cmd.cdw11 = next_number();
	cmd.cdw12 = next_number();
	cmd.cdw13 = next_number();
	cmd.cdw14 = next_number();
	cmd.cdw15 = next_number();
	cmd.addr = cmd.data_len ? (unsigned long)buffer : 0;
	if (fd < 0 || cmd.data_len > MOST_BYTES)
		return -1;
	status = ioctl(fd, request, &cmd);
	if (status < 0)
		printf("%s 0x%02x: %s\n", kind, cmd.opcode, strerror(errno));
	else
		printf("%s 0x%02x: status 0x%x\n", kind, cmd.opcode, (unsigned int)status);
	close(fd);
	return 0;
}

int main(void)
{
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		const char *kind = strtok(line, " \t\n"), *device = strtok(NULL, " \t\n");

		if (!kind || !device)
			continue;
		if (passthru_send(kind, device)) {
			fprintf(stderr, "passthru: cannot send to %s\n", device);
			return 1;
		}
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor.c: machines we do not have, judged: kernels by BTF that is made here, privileges by a tree
 * of plain files, refusals by invented errors. Every bit of the made BTF is turned over once, and
 * it is cut at every length: no file may do more than be refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/btf.h>

#include "cmd/cmd.h"
#include "collect/doctor.h"
#include "base/landlock.h"
#include "tap.h"

static char folder[] = "/tmp/iosonar-doctor.XXXXXX";

/* Refusals are said on stderr: not here. */
static void hush(bool quiet)
{
	static int was = -1;

	if (was < 0)
		was = dup(STDERR_FILENO);
	if (quiet)
		freopen("/dev/null", "w", stderr);
	else
		dup2(was, STDERR_FILENO);
}

static int drop_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status, (void)type, (void)ftw;
	return remove(path);
}

/* ---- kernels ---- */

enum { CAPS_ALL = -1 };
static const uint64_t cap_bpf = 1ULL << 39, cap_perfmon = 1ULL << 38;

/* What the BTF of a kernel looks like to us. */
struct shape {
	bool queue_argument, rq_error, rq_disk, ring, cast, nvme;
	const char *without; /* a field of struct request that is not there */
};

static const char *const request_fields[] = { "q",	  "mq_hctx", "cmd_flags", "__data_len",
					      "__sector", "bio",     "state",	  "start_time_ns" };

static void make_event(struct btf *btf, const char *name, int nr_arguments, int pointer)
{
	int proto = btf__add_func_proto(btf, 0);
	char typedef_name[64];

	for (int i = 0; i <= nr_arguments; i++)
		btf__add_func_param(btf, i ? "rq" : "__data", pointer);
	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);
	btf__add_typedef(btf, typedef_name, btf__add_ptr(btf, proto));
}

static void make_struct(struct btf *btf, const char *name, const char *const *fields, size_t nr,
			int type)
{
	btf__add_struct(btf, name, (__u32)nr * 8);
	for (size_t i = 0; i < nr; i++)
		btf__add_field(btf, fields[i], type, (__u32)i * 64, 0);
}

/* As the kernel has it: __sector stands in an anonymous struct behind a typedef. */
static void make_request(struct btf *btf, const struct shape *shape, int word)
{
	int inner = btf__add_struct(btf, NULL, 8), inner_typedef;

	if (!shape->without || strcmp(shape->without, "__sector"))
		btf__add_field(btf, "__sector", word, 0, 0);
	inner_typedef = btf__add_typedef(btf, "inner", inner);
	btf__add_struct(btf, "request", 128);
	for (size_t i = 0; i < sizeof(request_fields) / sizeof(request_fields[0]); i++)
		if (strcmp(request_fields[i], "__sector") &&
		    (!shape->without || strcmp(shape->without, request_fields[i])))
			btf__add_field(btf, request_fields[i], word, (__u32)i * 64, 0);
	btf__add_field(btf, NULL, inner_typedef, 64 * 9, 0);
	if (shape->rq_disk)
		btf__add_field(btf, "rq_disk", word, 64 * 10, 0);
}

static void make_nvme(struct btf *btf, int word, int pointer)
{
	static const char *const request[] = { "status", "ctrl" };
	static const char *const ctrl[] = { "instance", "admin_q" };

	make_struct(btf, "nvme_request", request, 2, word);
	make_struct(btf, "nvme_ctrl", ctrl, 2, word);
	make_event(btf, "nvme_setup_cmd", 2, pointer);
}

static struct btf *make_btf(const struct shape *shape)
{
	static const char *const queue[] = { "queuedata", "limits", "disk" };
	static const char *const limits[] = { "logical_block_size" };
	static const char *const hctx[] = { "queue_num" };
	static const char *const disk[] = { "disk_name", "diskseq" };
	struct btf *btf = btf__new_empty();
	int word = btf__add_int(btf, "long", 8, 0), pointer = btf__add_ptr(btf, 0);

	make_request(btf, shape, word);
	make_struct(btf, "request_queue", queue, shape->rq_disk ? 2 : 3, word);
	make_struct(btf, "queue_limits", limits, 1, word);
	make_struct(btf, "blk_mq_hw_ctx", hctx, 1, word);
	make_struct(btf, "gendisk", disk, shape->rq_disk ? 1 : 2, word);
	make_event(btf, "block_rq_issue", shape->queue_argument ? 2 : 1, pointer);
	make_event(btf, "block_rq_complete", 3, pointer);
	make_event(btf, "block_rq_requeue", 1, pointer);
	if (shape->rq_error)
		make_event(btf, "block_rq_error", 3, pointer);
	btf__add_enum(btf, "bpf_map_type", 4);
	btf__add_enum_value(btf, shape->ring ? "BPF_MAP_TYPE_RINGBUF" : "BPF_MAP_TYPE_HASH", 1);
	btf__add_enum(btf, "req_op", 4);
	btf__add_enum_value(btf, "REQ_OP_READ", 0);
	btf__add_enum_value(btf, "REQ_OP_ZONE_APPEND", 7);
	btf__add_struct(btf, "timespec64", 16);
	btf__add_field(btf, "tv_sec", word, 0, 0);
	if (shape->cast)
		btf__add_func(btf, "bpf_rdonly_cast", BTF_FUNC_GLOBAL, btf__add_func_proto(btf, 0));
	if (shape->nvme)
		make_nvme(btf, word, pointer);
	return btf;
}

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static const char *put_bytes(const char *name, const void *bytes, size_t len)
{
	const char *path = path_of(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd))
		printf("Bail out! %s: %s\n", path, strerror(errno)), exit(1);
	return path;
}

static int read_shape(struct kernel *kernel, const struct shape *shape)
{
	struct btf *btf = make_btf(shape);
	__u32 len;
	const void *raw = btf__raw_data(btf, &len);
	int err = kernel__read_file(kernel, put_bytes("btf", raw, len));

	btf__free(btf);
	return err;
}

static const struct shape new_shape = { .rq_error = true, .ring = true, .cast = true };
static const struct shape old_shape = { .queue_argument = true, .rq_disk = true, .ring = true };

static void test_kernel(void)
{
	struct shape shape = new_shape;
	struct kernel kernel;

	ok(!read_shape(&kernel, &new_shape), "a new kernel's BTF is read");
	ok(!kernel.missing, "and nothing is missing");
	ok(!kernel.queue_argument && kernel.has_rq_error && kernel.has_diskseq && kernel.has_ring &&
		   kernel.rdonly_cast_id && kernel.cast_type_id,
	   "its shape is a new one");
	is_str(kernel.op_names[7], "zone-append", "operations are named");
	ok(!kernel.nvme_loaded, "nvme_core is not in there");
	kernel__free(&kernel);
	read_shape(&kernel, &old_shape);
	ok(!kernel.missing && kernel.queue_argument && !kernel.has_rq_error &&
		   !kernel.has_diskseq && !kernel.rdonly_cast_id,
	   "an old kernel's shape is an old one");
	kernel__free(&kernel);
	shape.without = "__sector";
	read_shape(&kernel, &shape);
	is_str(kernel.missing, "request.__sector", "a missing field is named");
	kernel__free(&kernel);
	shape = new_shape;
	shape.nvme = true;
	read_shape(&kernel, &shape);
	ok(kernel.nvme == KERNEL_NVME_BUILT_IN && kernel.nvme_events && kernel.nvme_btf,
	   "a built-in NVMe driver is seen");
	is_u64(kernel.nvme_status_at, 128, "its status lies behind the request");
	kernel__free(&kernel);
}

/* What a file with these bytes ends with; whatever they are, it ends. In memory: there are many. */
static int read_bytes(const void *bytes, size_t len)
{
	int fd = memfd_create("broken", MFD_CLOEXEC), err;
	struct kernel kernel;
	char path[64];

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		printf("Bail out! no file in memory: %s\n", strerror(errno)), exit(1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = kernel__read_file(&kernel, path);
	kernel__free(&kernel);
	close(fd);
	return err;
}

static void test_broken_files(void)
{
	struct shape shape = new_shape;
	struct btf *btf;
	const void *raw;
	unsigned char *bytes;
	unsigned int strange = 0, cut_taken = 0;
	__u32 len;
	int err;

	shape.nvme = true;
	btf = make_btf(&shape);
	raw = btf__raw_data(btf, &len);
	bytes = malloc(len);
	memcpy(bytes, raw, len);
	btf__free(btf);
	hush(true);
	for (size_t bit = 0; bit < 8 * (size_t)len; bit++) {
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		err = read_bytes(bytes, len);
		strange += err && err != -EINVAL;
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	for (size_t cut = 0; cut < len; cut++)
		cut_taken += read_bytes(bytes, cut) != -EINVAL;
	hush(false);
	is_u64(strange, 0, "every bit turned over: read or refused");
	is_u64(cut_taken, 0, "cut at every length: refused");
	free(bytes);
}

static void test_wrong_files(void)
{
	struct kernel kernel;
	char text[256];

	hush(true);
	ok(kernel__read_file(&kernel, path_of("absent")) == -EINVAL, "no file: wrong usage");
	memset(text, 'x', sizeof(text));
	ok(read_bytes(text, sizeof(text)) == -EINVAL, "text: wrong usage");
	ok(read_bytes("", 0) == -EINVAL, "an empty file: wrong usage");
	ok(kernel__read_file(&kernel, folder) == -EINVAL, "a folder: wrong usage");
	hush(false);
}

/* ---- privileges ---- */

static void put(const char *path, const char *text)
{
	char parent[256], *slash;

	snprintf(parent, sizeof(parent), "%s/%s", folder, path);
	for (slash = parent + strlen(folder); (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		mkdir(parent, 0777);
		*slash = '/';
	}
	put_bytes(path, text, strlen(text));
}

static void test_privileges(void)
{
	struct rights p;

	rights__read(&p, path_of("empty"));
	ok(!p.lockdown[0] && !p.user_namespace && p.unprivileged_bpf_disabled == RIGHTS_UNKNOWN &&
		   !p.has_sysfs && !p.has_kallsyms,
	   "a tree without files: nothing is known of them");
	ok(p.uid == geteuid() && p.seccomp >= 0 && p.landlock == landlock__version(),
	   "the kernel answers the rest");
	put("tree/proc/self/uid_map", "         0     100000      65536\n");
	put("tree/proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
	put("tree/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	put("tree/sys/block/vda/size", "1\n");
	put("tree/sys/kernel/tracing/events/block/block_rq_issue/id", "1234\n");
	put("tree/proc/kallsyms", "0000000000000000 A percpu\nffff800080010000 t vfs_read\n");
	rights__read(&p, path_of("tree"));
	ok(p.user_namespace && p.unprivileged_bpf_disabled == 2 && p.has_sysfs && p.has_tracefs,
	   "user namespace, sysctl, sysfs, tracefs");
	is_str(p.lockdown, "integrity", "lockdown");
	ok(p.has_kallsyms, "addresses of functions");
	put("tree/proc/kallsyms", "0000000000000000 A percpu\n0000000000000000 t vfs_read\n");
	put("tree/proc/self/uid_map", "         0          0 4294967295\n");
	put("tree/sys/kernel/security/lockdown", "none [a mode whose name is longer than any]\n");
	put("tree/proc/sys/kernel/unprivileged_bpf_disabled", "yes\n");
	rights__read(&p, path_of("tree"));
	ok(!p.user_namespace, "the host's own user namespace is none");
	is_str(p.lockdown, "", "a mode that makes no sense is unknown");
	ok(!p.has_kallsyms, "addresses that are zeros are none");
	ok(p.unprivileged_bpf_disabled == RIGHTS_UNKNOWN, "and so is a word for a number");
	p.caps = cap_bpf | cap_perfmon;
	ok(rights__has_bpf(&p) && rights__has_perfmon(&p) && !rights__has_sys_admin(&p),
	   "the two capabilities that it takes");
	p.caps = 1ULL << 21;
	ok(rights__has_bpf(&p) && rights__has_perfmon(&p),
	   "CAP_SYS_ADMIN stands for the other two");
}

/* ---- obstacles ---- */

static const struct rights root = { .caps = (uint64_t)CAPS_ALL,
				    .memlock_bytes = UINT64_MAX,
				    .nr_files = 1024,
				    .memory_bytes = UINT64_MAX,
				    .has_sysfs = true,
				    .has_tracefs = true,
				    .has_kallsyms = true };

static struct rights changed(uint64_t caps, uint64_t memlock, int seccomp, bool namespaced)
{
	struct rights p = root;

	p.caps = caps;
	p.memlock_bytes = memlock;
	p.seccomp = seccomp;
	p.user_namespace = namespaced;
	return p;
}

static void test_obstacle(const char *name, enum obstacle_kind want, struct start start,
			  struct rights p, int array, int read_kernel)
{
	int tried[NR_TRIALS] = {
		[TRIAL_ARRAY] = array, [TRIAL_UNLOCKED] = -EPERM, [TRIAL_READ_KERNEL] = read_kernel
	};
	struct obstacle o;

	obstacle__judge(&o, &start, &p, tried);
	if (!ok(o.kind == want, "%s", name))
		printf("# %s\n", o.line);
	if (!ok(want == OBSTACLE_NONE ? !o.line[0] : o.line[0] && strlen(o.line) <= 80,
		"%s: a line that fits", name))
		printf("# %zu: %s\n", strlen(o.line), o.line);
}

/* Since 5.11 the limit of locked memory is none of BPF's, however small it is. */
static void test_uncounted_memory(void)
{
	const struct start refused = { START_PROGRAMS, -EPERM, .memory_bytes = 5 << 20 };
	const struct rights p = changed(cap_bpf | cap_perfmon, 4096, 0, false);
	const int tried[NR_TRIALS] = { 0 };
	struct obstacle o;

	obstacle__judge(&o, &refused, &p, tried);
	ok(o.kind == OBSTACLE_SECURITY_MODULE, "locked memory that does not count is not blamed");
}

static void test_obstacles(void)
{
	const struct start done = { START_DONE };
	const struct start refused = { START_TABLES, -EPERM, .memory_bytes = 5 << 20 };
	const struct start programs = { START_PROGRAMS, -EINVAL };
	const uint64_t all = (uint64_t)CAPS_ALL, both = cap_bpf | cap_perfmon;
	struct rights blind = root;

	blind.has_sysfs = false;
	test_obstacle("none", OBSTACLE_NONE, done, root, 0, 0);
	test_obstacle("no BTF", OBSTACLE_BTF, (struct start){ START_BTF, -EOPNOTSUPP }, root, 0, 0);
	test_obstacle("no sysfs", OBSTACLE_SYSFS, (struct start){ START_BTF, -EOPNOTSUPP }, blind,
		      0, 0);
	test_obstacle("an unknown shape", OBSTACLE_SHAPE,
		      (struct start){ START_SHAPE, -EOPNOTSUPP, "request.__sector" }, root, 0, 0);
	test_obstacle("no devices", OBSTACLE_DEVICES, (struct start){ START_DEVICES, -EOPNOTSUPP },
		      root, 0, 0);
	test_obstacle("no bpf()", OBSTACLE_NO_BPF, (struct start){ START_TABLES, -ENOSYS }, root,
		      -ENOSYS, -ENOSYS);
	test_obstacle("no capability", OBSTACLE_CAPABILITY, refused, changed(0, 0, 2, true), -EPERM,
		      -EPERM);
	test_obstacle("CAP_BPF alone", OBSTACLE_CAPABILITY, refused,
		      changed(cap_bpf, UINT64_MAX, 0, false), 0, -EPERM);
	test_obstacle("CAP_PERFMON alone", OBSTACLE_CAPABILITY, refused,
		      changed(cap_perfmon, UINT64_MAX, 0, false), -EPERM, -EPERM);
	test_obstacle("root of a user namespace", OBSTACLE_USER_NAMESPACE, refused,
		      changed(all, UINT64_MAX, 2, true), -EPERM, -EPERM);
	test_obstacle("a user probe", OBSTACLE_SYS_ADMIN,
		      (struct start){ START_ATTACH, -EACCES, "a:f" },
		      changed(both, UINT64_MAX, 0, false), 0, 0);
	test_obstacle("a user probe that root may not", OBSTACLE_SECURITY_MODULE,
		      (struct start){ START_ATTACH, -EACCES, "a:f" }, root, 0, 0);
	test_obstacle("little locked memory", OBSTACLE_MEMLOCK, refused,
		      changed(both, 1 << 20, 2, false), 0, 0);
	test_obstacle("next to no locked memory", OBSTACLE_MEMLOCK, refused,
		      changed(both, 4096, 0, false), -EPERM, 0);
	test_obstacle("enough locked memory", OBSTACLE_SECURITY_MODULE, refused,
		      changed(both, 64 << 20, 0, false), 0, 0);
	test_obstacle("a seccomp filter", OBSTACLE_SECCOMP, refused,
		      changed(both, 1 << 20, 2, false), -EPERM, -EPERM);
	test_obstacle("a security module", OBSTACLE_SECURITY_MODULE, refused, root, -EPERM, -EPERM);
	test_obstacle("lockdown", OBSTACLE_LOCKDOWN, programs, root, 0, -EINVAL);
	test_obstacle("lockdown that says EPERM", OBSTACLE_LOCKDOWN,
		      (struct start){ START_PROGRAMS, -EPERM }, root, 0, -EPERM);
	test_obstacle("a verifier that refuses", OBSTACLE_PROGRAMS, programs, root, 0, 0);
	test_obstacle("no memory", OBSTACLE_TABLES, (struct start){ START_TABLES, -ENOMEM }, root,
		      0, 0);
	test_obstacle("no event", OBSTACLE_ATTACH,
		      (struct start){ START_ATTACH, -ENOENT, "nvme_complete_rq" }, root, 0, 0);
}

/* What this process may have too little of is not the kernel's fault, whatever the kernel says. */
static void test_limits(void)
{
	const struct start refused = { START_TABLES, -EPERM, .memory_bytes = 5 << 20 };
	struct rights few = root, small = root;

	few.nr_files = 16;
	small.memory_bytes = 100 << 20;
	for (enum start_step step = START_BTF; step < START_DONE; step++)
		test_obstacle("too many open files", OBSTACLE_FILES,
			      (struct start){ step, -EMFILE, "x" }, few, 0, 0);
	test_obstacle("too many on the machine", OBSTACLE_FILES,
		      (struct start){ START_BTF, -ENFILE }, root, 0, 0);
	test_obstacle("few files, and libbpf's trials failed", OBSTACLE_FILES,
		      (struct start){ START_PROGRAMS, -EINVAL }, few, 0, 0);
	test_obstacle("few files, and no device was found", OBSTACLE_FILES,
		      (struct start){ START_DEVICES, -EOPNOTSUPP }, few, 0, 0);
	small.memory_bytes = 32 << 20;
	test_obstacle("little memory, and libbpf's trials failed", OBSTACLE_MEMORY,
		      (struct start){ START_PROGRAMS, -ESRCH }, small, 0, 0);
	test_obstacle("few files, and no BTF", OBSTACLE_BTF,
		      (struct start){ START_BTF, -EOPNOTSUPP }, few, 0, 0);
	few.caps = 0;
	test_obstacle("few files, and no capability", OBSTACLE_CAPABILITY, refused, few, 0, -EPERM);
	test_obstacle("no memory for BTF", OBSTACLE_MEMORY, (struct start){ START_BTF, -ENOMEM },
		      root, 0, 0);
	for (enum start_step step = START_BTF; step < START_DONE; step++)
		test_obstacle("little memory", OBSTACLE_MEMORY,
			      (struct start){ step, -ENOMEM, "x" }, small, 0, 0);
}

static void test_limit_codes(void)
{
	const struct start start = { START_PROGRAMS, -EINVAL };
	const int tried[NR_TRIALS] = { 0 };
	struct rights few = root;
	struct obstacle o;

	few.nr_files = 16;
	obstacle__judge(&o, &start, &few, tried);
	is_u64((uint64_t)exit_code__of(o.err), EXIT_FAILED, "few files are a failure");
	ok(strstr(o.line, "16 open files") && strstr(o.line, "ulimit -n"),
	   "the line has the limit and the way on");
	few.memory_bytes = 100 << 20;
	obstacle__judge(&o, &(struct start){ START_BTF, -ENOMEM }, &few, tried);
	is_u64((uint64_t)exit_code__of(o.err), EXIT_FAILED, "little memory is a failure");
	ok(strstr(o.line, "102400 KiB") && strstr(o.line, "ulimit -v"),
	   "the line has the limit and the way on");
}

static void test_exit_codes(void)
{
	const int tried[NR_TRIALS] = { 0 };
	const struct start shortage = { START_TABLES, -ENOMEM }, old = { START_TABLES, -EINVAL };
	struct obstacle o;

	obstacle__judge(&o, &shortage, &root, tried);
	is_u64((uint64_t)exit_code__of(o.err), EXIT_FAILED, "out of memory is a failure");
	obstacle__judge(&o, &old, &root, tried);
	is_u64((uint64_t)exit_code__of(o.err), EXIT_CANNOT, "a map it does not know: it cannot");
}

/* ---- the judgement ---- */

static const struct doctor_command judged_commands[] = {
	{ "latency", NEED_IO },
	{ "trace", NEED_IO | NEED_RINGS },
	{ "layers", NEED_IO | NEED_RINGS | NEED_STAGES },
	{ "slow", NEED_IO | NEED_FILES | NEED_STACKS },
	{ "errors", NEED_IO | NEED_CONTROLLERS },
	{ "cache", NEED_PROGRAMS | NEED_ACCESSES },
	{ "count", NEED_PROGRAMS | NEED_TRACEPOINTS | NEED_ANY_FUNCTION },
	{ "class", NEED_PROGRAMS | NEED_FUNCTIONS },
	{ "waits", NEED_PROGRAMS | NEED_CALL_WAITS },
	{ "calls", NEED_PROGRAMS | NEED_CALLS | NEED_ANY_FUNCTION },
	{ "events", NEED_TRACEPOINTS },
	{ "report", 0 },
	{ NULL },
};
static struct device machine_devices[] = {
	{ .name = "nvme0", .kind = DEVICE_NVME_CTRL, .nr_queues = 9, .depth = 1023 },
	{ .name = "nvme0n1",
	  .kind = DEVICE_NVME_NS,
	  .size_bytes = 1 << 30,
	  .model = "\033[2Jevil" },
	{ .name = "dm-0", .kind = DEVICE_BIO, .size_bytes = 1 << 30 },
	{ .name = "loop0", .kind = DEVICE_REQUEST },
	{ .name = "loop1", .kind = DEVICE_REQUEST },
	{ .name = "vda", .kind = DEVICE_REQUEST, .nr_queues = 1, .depth = 256, .size_bytes = 512 },
};

/* Root of a machine with NVMe as a module that has BTF; a test changes what it is about. */
static struct doctor_facts machine(void)
{
	return (struct doctor_facts){
		.has_btf = true,
		.kernel = { .nvme = KERNEL_NVME_MODULE,
			    .nvme_loaded = true,
			    .nvme_btf = true,
			    .nvme_events = true,
			    .has_rq_error = true,
			    .has_ring = true },
		.rights = root,
		.rehearsal = { .start = { START_DONE, .memory_bytes = 3 << 20 }, .direct = true },
		.devices = { machine_devices,
			     sizeof(machine_devices) / sizeof(machine_devices[0]) },
	};
}

static struct doctor_report report;

static void judge(const struct doctor_facts *facts)
{
	doctor_report__free(&report);
	if (doctor__judge(&report, facts, judged_commands))
		printf("Bail out! out of memory\n"), exit(1);
}

static const struct finding *find(const char *section, const char *item, const char *hook)
{
	static const struct finding none = { .state = "absent", .why = "absent" };

	for (size_t i = 0; i < report.nr; i++)
		if (!strcmp(report.findings[i].section, section) &&
		    !strcmp(report.findings[i].item, item) &&
		    (!hook || (report.findings[i].hook && !strcmp(report.findings[i].hook, hook))))
			return &report.findings[i];
	return &none;
}

/* The states of tp_btf and raw_tp for an event, "ok spare". */
static void is_hooks(const char *event, const char *want, const char *what)
{
	char got[64];

	snprintf(got, sizeof(got), "%s %s", find("hook", event, "tp_btf")->state,
		 find("hook", event, "raw_tp")->state);
	is_str(got, want, what);
}

static void test_root(void)
{
	struct doctor_facts facts = machine();

	judge(&facts);
	ok(report.obstacle.kind == OBSTACLE_NONE, "root: latency can run");
	is_hooks("nvme_setup_cmd", "ok spare", "typed pointers for NVMe");
	is_hooks("block_rq_issue", "ok spare", "and for other disks");
	is_str(find("hook", "block_rq_error", "raw_tp")->state, doctor_ok, "errors have an event");
	is_u64(find("run", "memory", NULL)->bytes, 3 << 20, "the memory of a run");
	is_str(find("run", "nvme_core", NULL)->state, doctor_info, "the module is held");
	is_u64(find("device", "nvme0", NULL)->queues, 9, "a controller's queues");
	is_u64(find("device", "nvme0", NULL)->depth, 1023, "and depth");
	is_str(find("device", "nvme0n1", NULL)->state, doctor_ok, "a namespace is measured");
	is_str(find("device", "dm-0", NULL)->state, doctor_info, "a bio-based device is not");
	is_str(find("device", "loop0", NULL)->state, "absent", "two empty drives are");
	is_str(find("device", "loop1", NULL)->why, "and 1 more have no medium: nothing to measure",
	       "one finding");
	is_str(find("command", "trace", NULL)->state, doctor_ok, "trace has its ring buffers");
	is_str(find("privilege", "Landlock", NULL)->state, doctor_info, "no Landlock is told");
	facts.rights.landlock = 1;
	judge(&facts);
	is_str(find("privilege", "Landlock", NULL)->state, doctor_ok, "and that there is one");
	is_str(find("command", "layers", NULL)->why,
	       "block_bio_queue to block_rq_complete, and the events between",
	       "layers begins where an I/O is submitted");
	facts.kernel.nvme = KERNEL_NVME_BUILT_IN;
	judge(&facts);
	is_str(find("run", "nvme_core", NULL)->state, "absent", "built in, nothing is held");
}

static void test_two_capabilities(void)
{
	struct doctor_facts facts = machine();

	facts.rights.caps = cap_bpf | cap_perfmon;
	facts.rehearsal.direct = false;
	facts.rehearsal.typed_err = -EPERM;
	judge(&facts);
	ok(report.obstacle.kind == OBSTACLE_NONE, "two capabilities: latency can run");
	is_hooks("nvme_setup_cmd", "no ok", "with plain pointers for NVMe");
	is_str(find("hook", "nvme_setup_cmd", "tp_btf")->why,
	       "the BTF of a module requires CAP_SYS_ADMIN", "for this reason");
	is_str(find("hook", "nvme_setup_cmd", "tp_btf")->remedy, "run it as root", "with a remedy");
	is_hooks("block_rq_issue", "spare ok", "other disks follow");
}

static void is_command(const char *name, const char *state, const char *why)
{
	char what[64];

	snprintf(what, sizeof(what), "%s: %s", name, state);
	is_str(find("command", name, NULL)->state, state, what);
	is_str(find("command", name, NULL)->why, why, "and why");
}

/* Each command is told apart: what it needs is here, a part of it, or nothing. */
static void test_losses(void)
{
	struct doctor_facts facts = machine();

	judge(&facts);
	is_command("slow", doctor_ok,
		   "nvme_setup_cmd to nvme_complete_rq; other disks: block_rq_issue to "
		   "block_rq_complete");
	is_command("cache", doctor_ok, "pages and accesses, from kernel functions");
	is_command("count", doctor_ok, "any event");
	is_command("class", doctor_ok, "kernel functions");
	is_command("waits", doctor_ok, "kernel functions");
	is_command("events", doctor_ok, "lists what can be probed");
	is_command("report", doctor_ok, "needs nothing from the kernel");
	facts.rights.caps = cap_bpf | cap_perfmon;
	facts.rights.has_kallsyms = facts.rights.has_tracefs = false;
	facts.rehearsal.typed_err = -EPERM;
	facts.tried[TRIAL_KPROBE] = -ENOENT;
	judge(&facts);
	is_command("slow", doctor_partly,
		   "without names of files of direct I/O, shown as [direct] (requires CAP_SYSLOG), "
		   "names of kernel functions (requires CAP_SYSLOG), names in processes of other "
		   "users (requires CAP_SYS_PTRACE)");
	is_command("errors", doctor_partly,
		   "without time-outs and states of controllers (requires kprobes)");
	is_command("cache", doctor_ok, "pages and accesses, from kernel functions");
	is_command("count", doctor_partly, "without tracepoints (tracefs is not readable)");
	facts.tried[TRIAL_FENTRY] = -EPERM;
	judge(&facts);
	is_command("cache", doctor_partly, "without accesses (requires fentry or kprobes)");
	is_command(
		"count", doctor_partly,
		"without tracepoints (tracefs is not readable), kernel functions (requires fentry "
		"or kprobes)");
	is_command("class", doctor_no, "functions cannot be probed here: no fentry and no kprobes");
	is_command("calls", doctor_partly, "without kernel functions (requires fentry or kprobes)");
	is_command("waits", doctor_partly,
		   "without page faults, msync and libaio (requires fentry or kprobes)");
	facts.tried[TRIAL_UPROBE] = -EACCES;
	judge(&facts);
	is_command("calls", doctor_no,
		   "functions cannot be probed here: no fentry, no kprobes, no uprobes");
	facts.tried[TRIAL_FENTRY] = 0;
	judge(&facts);
	is_command("calls", doctor_partly,
		   "without functions of processes (requires CAP_SYS_ADMIN)");
	facts.tried[TRIAL_RAW_TP] = -EPERM;
	judge(&facts);
	is_command("count", doctor_no,
		   "a security module forbids BPF despite the capabilities: see dmesg for which");
}

static void test_old_kernel(void)
{
	struct doctor_facts facts = machine();

	facts.kernel.nvme_btf = facts.kernel.nvme_events = facts.kernel.has_rq_error = false;
	facts.kernel.nvme_guessed = facts.kernel.queue_argument = true;
	facts.rehearsal.direct = false;
	facts.tried[TRIAL_FENTRY] = -524;
	judge(&facts);
	is_hooks("nvme_complete_rq", "no ok", "a module without BTF: plain pointers");
	is_hooks("block_rq_complete", "no ok", "an event with its queue first: plain pointers");
	is_str(find("hook", "block_rq_error", NULL)->state, "absent", "no event for errors");
	is_str(find("hook", "kernel functions", "fentry")->why,
	       "not available: not supported; not used for I/O", "errno 524 has a name");
}

static void test_nobody(void)
{
	struct doctor_facts facts = machine();

	facts.rights.caps = 0;
	facts.rehearsal = (struct rehearsal){ .start = { START_TABLES, -EPERM } };
	for (int i = 0; i < NR_TRIALS; i++)
		facts.tried[i] = -EPERM;
	judge(&facts);
	ok(report.obstacle.kind == OBSTACLE_CAPABILITY, "nobody: a capability is missing");
	is_str(find("command", "latency", NULL)->why, report.obstacle.line,
	       "every command says it");
	is_str(find("command", "trace", NULL)->why, report.obstacle.line, "in the same words");
	is_str(find("command", "count", NULL)->why, report.obstacle.line, "for any event, too");
	is_str(find("command", "report", NULL)->state, doctor_ok, "but captures are read");
	is_hooks("nvme_setup_cmd", "no no", "no hook works");
	is_str(find("privilege", "CAP_BPF", NULL)->state, doctor_no, "CAP_BPF is missing");
	is_str(find("privilege", "lockdown", NULL)->state, doctor_unknown,
	       "lockdown was not tried");
	facts.rights.memlock_bytes = 8 << 20;
	judge(&facts);
	is_str(find("privilege", "memlock", NULL)->state, doctor_unknown, "nor was memlock");
}

static void test_locked_down(void)
{
	struct doctor_facts facts = machine();

	facts.rehearsal = (struct rehearsal){ .start = { START_PROGRAMS, -EINVAL } };
	facts.tried[TRIAL_READ_KERNEL] = -EINVAL;
	strcpy(facts.rights.lockdown, "confidentiality");
	judge(&facts);
	ok(report.obstacle.kind == OBSTACLE_LOCKDOWN, "lockdown is the obstacle");
	is_hooks("block_rq_issue", "no no", "and no hook works");
	is_str(find("privilege", "lockdown", NULL)->state, doctor_no, "lockdown is to blame");
}

static void test_no_ring(void)
{
	struct doctor_facts facts = machine();

	facts.tried[TRIAL_RING] = -EINVAL;
	judge(&facts);
	is_str(find("command", "latency", NULL)->state, doctor_ok, "no ring buffers: latency can");
	is_str(find("command", "trace", NULL)->state, doctor_no, "trace cannot");
}

static void test_little_memory(void)
{
	struct doctor_facts facts = machine();

	facts.rights.caps = cap_bpf | cap_perfmon;
	facts.rights.memlock_bytes = 1 << 20;
	facts.tried[TRIAL_UNLOCKED] = -EPERM;
	facts.rehearsal.start.step = START_TABLES;
	facts.rehearsal.start.err = -EPERM;
	judge(&facts);
	is_str(report.obstacle.line,
	       "locked memory limit 1024 KiB, required 3072 KiB: run ulimit -l unlimited",
	       "locked memory: how much, and how to get more");
	is_str(find("privilege", "memlock", NULL)->state, doctor_no, "memlock is to blame");
	is_hooks("nvme_setup_cmd", "no ok", "the hooks are those it would use");
}

static void test_no_btf(void)
{
	struct doctor_facts facts = machine();

	facts.has_btf = false;
	memset(&facts.kernel, 0, sizeof(facts.kernel));
	facts.rehearsal = (struct rehearsal){ .start = { START_BTF, -EOPNOTSUPP } };
	judge(&facts);
	ok(report.obstacle.kind == OBSTACLE_BTF, "no BTF is the obstacle");
	is_str(find("kernel", "BTF of the kernel", NULL)->state, doctor_no, "and it is said where");
	is_str(find("hook", "block_rq_issue", NULL)->state, "absent", "nothing is known of hooks");
}

static void test_file(void)
{
	struct doctor_facts facts = { .btf_path = "vmlinux", .has_btf = true };

	for (int i = 0; i < NR_TRIALS; i++)
		facts.tried[i] = TRIAL_NOT_DONE;
	read_shape(&facts.kernel, &new_shape);
	judge(&facts);
	ok(report.obstacle.kind == OBSTACLE_NONE, "a new kernel's BTF: latency could run");
	is_hooks("block_rq_issue", "ok spare", "with typed pointers");
	is_str(find("hook", "nvme_setup_cmd", NULL)->state, doctor_unknown, "NVMe is not known");
	is_str(find("privilege", "CAP_BPF", NULL)->state, "absent", "privileges are not judged");
	is_str(find("command", "count", NULL)->state, doctor_unknown, "nor is any event");
	kernel__free(&facts.kernel);
	read_shape(&facts.kernel, &old_shape);
	judge(&facts);
	is_hooks("block_rq_issue", "no ok", "an old one's: with plain pointers");
	kernel__free(&facts.kernel);
	read_shape(&facts.kernel, &(struct shape){ .rq_error = true, .without = "start_time_ns" });
	judge(&facts);
	ok(report.obstacle.kind == OBSTACLE_SHAPE, "a kernel without a field: it could not");
	ok(strstr(report.obstacle.line, "request.start_time_ns"), "and the field is named");
	is_str(find("command", "trace", NULL)->state, doctor_no, "nor could the others");
	kernel__free(&facts.kernel);
}

static void test_waits(void)
{
	struct doctor_facts facts = machine();

	for (int i = 0; i < NR_QUEUE_FUNCTIONS; i++)
		facts.queue_functions[i] = 1;
	judge(&facts);
	is_str(find("wait", "frozen", NULL)->why, "function __bio_queue_enter",
	       "a wait and its function");
	is_str(find("wait", "tag", NULL)->why, "function prepare_to_wait_exclusive", "and another");
	is_str(find("wait", "zone", NULL)->state, doctor_info, "one that has no name");
	is_str(find("wait", "zone", NULL)->why,
	       "no name, in Q2G: every write calls the function that holds it back", "and why");
	facts.has_tag_event = facts.has_zone_event = true;
	facts.queue_functions[QUEUE_HELD] = facts.queue_functions[QUEUE_FROZEN] = 0;
	facts.queue_functions[QUEUE_HAS_IOLATENCY] = 0;
	judge(&facts);
	is_str(find("wait", "tag", NULL)->why, "event block_rq_tag_wait", "an event is better");
	is_str(find("wait", "zone", NULL)->why,
	       "no name, in Q2G: event disk_zone_wplug_add_bio does not say which I/O is held back",
	       "an event that does not help");
	is_str(find("wait", "io.max", NULL)->why, "function __blk_throtl_bio",
	       "the other function");
	is_str(find("wait", "frozen", NULL)->state, doctor_info, "a function that is not there");
	ok(strstr(find("wait", "frozen", NULL)->why, "in Q2G"), "and where the time is then");
	ok(strstr(find("wait", "iolatency", NULL)->why, "CONFIG_BLK_CGROUP_IOLATENCY"),
	   "a limit that is not built");
	facts.tried[TRIAL_KPROBE] = -ENOENT;
	judge(&facts);
	is_str(find("wait", "wbt", NULL)->state, doctor_no, "no kprobes");
	ok(strstr(find("wait", "io.max", NULL)->why, "before Q"), "a wait before Q is not in Q2G");
	is_str(find("wait", "tag", NULL)->state, doctor_ok, "the event requires none");
	facts.queue_err = -EACCES;
	judge(&facts);
	is_str(find("wait", "wbt", NULL)->state, doctor_unknown, "functions that are hidden");
}

int main(void)
{
	if (!mkdtemp(folder))
		printf("Bail out! %s: %s\n", folder, strerror(errno)), exit(1);
	io__hush_libbpf();
	test_kernel();
	test_broken_files();
	test_wrong_files();
	test_privileges();
	test_obstacles();
	test_uncounted_memory();
	test_limits();
	test_limit_codes();
	test_exit_codes();
	test_root();
	test_two_capabilities();
	test_losses();
	test_old_kernel();
	test_nobody();
	test_locked_down();
	test_no_ring();
	test_little_memory();
	test_no_btf();
	test_waits();
	test_file();
	doctor_report__free(&report);
	nftw(folder, drop_one, 16, FTW_DEPTH | FTW_PHYS);
	return done_testing();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_calls.c: does this kernel's verifier take the programs of a trace of calls, and do these
 * count the records of each object? A function of our own, take(n, object): its entry, its return
 * as fexit has it, and as a kretprobe, where the arguments are gone. Members are read from the
 * kernel's banner, whose text is known.
 */
#include "probe_machine.h"

/* ---- the function ---- */

enum { ENTRY, EXIT, NR_PLACES };
enum { SLOT_N, SLOT_OBJECT, SLOT_RET, NR_ARGUMENTS = 2 };
#ifdef __x86_64__
enum { REGS_RET = 10 }; /* rax */
#else
enum { REGS_RET = 0 }; /* x0 */
#endif

static char entry_name[] = "fn:take", exit_name[] = "ret:take";
static struct btf *btf;
static struct probe_field fields[3];
static struct probe probes[NR_PLACES];

static struct probe_field argument(const char *name, uint32_t at, struct type type)
{
	return (struct probe_field){
		.name = name, .type = type, .place = PLACE_ARG, .at = at, .reg = at, .slot = at
	};
}

/* int take(long n, struct thing *object); struct thing { long first; int second; } */
static void make_function(void)
{
	const struct type n = { .kind = TYPE_INT, .size = 8 };
	const struct type number = { .kind = TYPE_INT, .size = 4, .is_signed = true };
	int u64, i32, thing, pointer, proto, func;

	btf = btf__new_empty();
	u64 = btf__add_int(btf, "long", 8, 0);
	i32 = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	thing = btf__add_struct(btf, "thing", 16);
	btf__add_field(btf, "first", u64, 0, 0);
	btf__add_field(btf, "second", i32, 64, 0);
	pointer = btf__add_ptr(btf, thing);
	proto = btf__add_func_proto(btf, i32);
	btf__add_func_param(btf, "n", u64);
	btf__add_func_param(btf, "object", pointer);
	func = btf__add_func(btf, "take", BTF_FUNC_STATIC, proto);
	fields[0] = argument("n", SLOT_N, n);
	fields[1] = argument(
		"object", SLOT_OBJECT,
		(struct type){
			.kind = TYPE_POINTER, .size = 8, .btf = btf, .id = (uint32_t)thing });
	fields[2] = (struct probe_field){ .name = "ret", .type = number, .place = PLACE_RET };
	probes[ENTRY] = (struct probe){ .kind = PROBE_FN, .name = entry_name, .nr_fields = 2 };
	probes[EXIT] = (struct probe){ .kind = PROBE_RET, .name = exit_name, .nr_fields = 3 };
	for (int i = 0; i < NR_PLACES; i++) {
		probes[i].func = "take";
		probes[i].fields = fields;
		probes[i].btf = btf;
		probes[i].btf_id = (uint32_t)func;
	}
}

/* ---- a machine for it ---- */

struct bench {
	struct plan plan;
	struct machine machine;
	int fds[NR_PLACES];
};

static bool exit_is_birth; /* of the next one that is opened */

/* An entry knows nothing of what will be returned. */
static bool bench_open(struct bench *b, const char *follows, const char *shown,
		       enum program_ctx exit_ctx)
{
	const bool is_ret = follows && !strcmp(follows, "ret");
	const struct plan_call calls[NR_PLACES] = {
		{ .probe = &probes[ENTRY],
		  .follows = is_ret ? NULL : follows,
		  .shown = is_ret ? NULL : shown },
		{ .probe = &probes[EXIT],
		  .follows = follows,
		  .shown = shown,
		  .is_birth = exit_is_birth },
	};
	const struct line nobody = { 0 };

	b->fds[ENTRY] = b->fds[EXIT] = -1;
	if (!ok(!plan__make_calls(&b->plan, &nobody, calls, NR_PLACES), "planned"))
		return false;
	if (!machine_open(&b->machine, &b->plan, 0))
		return ok(false, "maps are made");
	for (int i = 0; i < NR_PLACES; i++) {
		struct program_wants wants = { .probe = (size_t)i,
					       .ctx = i == EXIT ? exit_ctx : CTX_TRACING };

		b->fds[i] = machine_load(&b->machine, wants);
		if (!ok(b->fds[i] >= 0, "loaded: %s", probes[i].name))
			return false;
	}
	return true;
}

static void bench_close(struct bench *b)
{
	for (int i = 0; i < NR_PLACES; i++)
		if (b->fds[i] >= 0)
			close(b->fds[i]);
	machine_close(&b->machine);
	plan__free(&b->plan);
}

static bool bench_run(struct bench *b, int place, uint64_t n, uint64_t object)
{
	uint64_t words[MACHINE_WORDS] = { n, object };

	words[SLOT_RET] = (uint64_t)-7;
	return machine_run(&b->machine, b->fds[place], words);
}

/* As the plan lays it out. */
static uint64_t bench_value(const struct bench *b, int place, size_t i)
{
	const struct plan_part *part = &b->plan.probes[place].shown[i].part;
	uint64_t value = 0;

	memcpy(&value, b->machine.values + part->at, part->shape.size < 8 ? part->shape.size : 8);
	return value;
}

static uint64_t bench_counter(const struct bench *b, uint32_t place, enum probe_counter counter)
{
	return machine_cell(&b->machine, place).counters[counter];
}

static uint64_t bench_followed(const struct bench *b, uint64_t whom)
{
	uint64_t count = 0;

	return bpf_map_lookup_elem(b->machine.maps.followed, &whom, &count) ? 0 : count;
}

static void bench_balances(const struct bench *b)
{
	ok(machine_balances(&b->machine), "every hit is accounted for");
}

/* ---- what is known in the kernel ---- */

/* "Linux version ..."; 0: it cannot be told. */
static uint64_t banner_address(void)
{
	FILE *in = fopen("/proc/kallsyms", "r");
	char line[256], name[128];
	uint64_t address, found = 0;

	while (in && !found && fgets(line, sizeof(line), in))
		if (sscanf(line, "%" SCNx64 " %*c %127s", &address, name) == 2 &&
		    !strcmp(name, "linux_banner"))
			found = address;
	if (in)
		fclose(in);
	return found;
}

/* ---- tests ---- */

static void test_counts(void)
{
	const uint64_t a = 0xffff000000001000, c = 0xffff000000002000;
	struct bench b;

	if (!bench_open(&b, "arg1", NULL, CTX_TRACING))
		return;
	bench_run(&b, ENTRY, 17, a);
	is_u64(b.machine.record.nth, 1, "the first record of an object");
	is_u64(b.machine.record.probe, ENTRY, "is of its entry");
	is_u64(bench_value(&b, ENTRY, 0), 17, "with its arguments");
	is_u64(bench_value(&b, ENTRY, 1), a, "both of them");
	bench_run(&b, ENTRY, 17, c);
	is_u64(b.machine.record.nth, 1, "another object begins at 1");
	bench_run(&b, EXIT, 17, a);
	is_u64(b.machine.record.nth, 2, "a return counts, too");
	is_u64(b.machine.record.probe, EXIT, "is told apart");
	is_u64(bench_value(&b, EXIT, 0), (uint64_t)-7, "and has what was returned");
	bench_run(&b, ENTRY, 17, 0);
	is_u64(b.machine.record.nth, 0, "nobody is not counted");
	ok(bench_followed(&b, a) == 2 && bench_followed(&b, c) == 1 && !bench_followed(&b, 0),
	   "as many as records by object");
	bench_balances(&b);
	bench_close(&b);
}

static void test_members(void)
{
	const uint64_t banner = banner_address();
	struct bench b;
	uint64_t text;

	if (!banner) {
		ok(true, "members # SKIP addresses are hidden");
		return;
	}
	if (!bench_open(&b, "arg1", "arg1, arg1->first, arg1->second", CTX_TRACING))
		return;
	memcpy(&text, "Linux ve", 8);
	bench_run(&b, ENTRY, 1, banner);
	is_u64(bench_value(&b, ENTRY, 2), banner, "the object itself");
	is_u64(bench_value(&b, ENTRY, 3), text, "its first member");
	memcpy(&text, "rsio\0\0\0", 8);
	is_u64(bench_value(&b, ENTRY, 4), text, "its second");
	bench_run(&b, EXIT, 1, banner);
	ok(bench_value(&b, EXIT, 1) == banner && bench_value(&b, EXIT, 3) == text,
	   "at the return, too");
	bench_run(&b, ENTRY, 1, 0xffff000000001000);
	is_u64(bench_value(&b, ENTRY, 3), 0, "what is not there gives 0");
	ok(bench_counter(&b, ENTRY, PROBE_FAULTS) == 2, "and is counted for each member");
	bench_balances(&b);
	bench_close(&b);
}

/* A kretprobe has the registers of the return. */
static void test_gone(void)
{
	uint64_t words[MACHINE_WORDS];
	struct bench b;

	if (!bench_open(&b, "arg1", "arg1, arg1->first, arg1->second", CTX_REGS))
		return;
	memset(words, 0x55, sizeof(words));
	words[REGS_RET] = 23;
	machine_run(&b.machine, b.fds[EXIT], words);
	is_u64(bench_counter(&b, EXIT, PROBE_SENT), 1, "kretprobe: a record");
	is_u64(bench_value(&b, EXIT, 0), 23, "with what was returned");
	ok(!bench_value(&b, EXIT, 1) && !bench_value(&b, EXIT, 2) && !bench_value(&b, EXIT, 3),
	   "of the arguments, which are gone, nothing");
	is_u64(b.machine.record.nth, 0, "and whose it is nobody says");
	is_u64(bench_followed(&b, 0x5555555555555555), 0, "nor is rubbish followed");
	is_u64(bench_counter(&b, EXIT, PROBE_FAULTS), 0, "or read");
	bench_balances(&b);
	bench_close(&b);
}

/* But what it returns it knows: a birth. */
static void test_returned(void)
{
	const struct probe_field number = fields[2];
	uint64_t words[MACHINE_WORDS] = { 0 }, text;
	struct bench b;

	words[REGS_RET] = banner_address();
	if (!words[REGS_RET]) {
		ok(true, "what is returned # SKIP addresses are hidden");
		return;
	}
	memcpy(&text, "Linux ve", 8);
	fields[2].type = fields[1].type;
	if (bench_open(&b, "ret", "ret, ret->first", CTX_REGS)) {
		machine_run(&b.machine, b.fds[EXIT], words);
		is_u64(b.machine.record.nth, 1, "what is returned is followed from then on");
		is_u64(bench_value(&b, EXIT, 2), text, "with its members");
		is_u64(bench_followed(&b, words[REGS_RET]), 1, "by its address");
		bench_close(&b);
	}
	fields[2] = number;
}

/* Who follows no object follows the task. */
static void test_task(void)
{
	struct bench b;

	if (!bench_open(&b, NULL, NULL, CTX_REGS))
		return;
	bench_run(&b, ENTRY, 1, 2);
	bench_run(&b, ENTRY, 1, 2);
	is_u64(b.machine.record.nth, 2, "a task's records are counted");
	bench_run(&b, EXIT, 1, 2);
	is_u64(b.machine.record.nth, 3, "at a kretprobe, too");
	is_u64(bench_followed(&b, (uint64_t)gettid()), 3, "by its number");
	bench_close(&b);
}

static void test_full_table(void)
{
	struct bench b;
	uint64_t i;

	if (!bench_open(&b, "arg1", NULL, CTX_TRACING))
		return;
	for (i = 1; i <= MACHINE_FOLLOWED + 5; i++)
		bench_run(&b, ENTRY, 1, i);
	is_u64(bench_counter(&b, ENTRY, PROBE_SENT), MACHINE_FOLLOWED, "as many as have room");
	is_u64(bench_counter(&b, ENTRY, PROBE_LOST_KEY), 5, "objects without room are lost");
	is_u64(b.machine.nr_records, MACHINE_FOLLOWED, "and are no records");
	bench_run(&b, ENTRY, 1, 1);
	is_u64(b.machine.record.nth, 2, "who has room is still counted");
	bench_balances(&b);
	bench_close(&b);
}

/* Nobody empties the ring. */
static void test_full_ring(void)
{
	const uint64_t words[MACHINE_WORDS] = { 1, 99 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = words, .ctx_size_in = sizeof(words));
	uint64_t sent, lost;
	struct bench b;

	if (!bench_open(&b, "arg1", NULL, CTX_TRACING))
		return;
	for (int i = 0; i < 5000; i++)
		bpf_prog_test_run_opts(b.fds[ENTRY], &opts);
	sent = bench_counter(&b, ENTRY, PROBE_SENT);
	lost = bench_counter(&b, ENTRY, PROBE_LOST_RING);
	ok(sent && lost && sent + lost == 5000, "a ring that ran full: sent and lost are all");
	is_u64(bench_followed(&b, 99), 5000, "what is lost is counted with its object");
	ring_buffer__consume(b.machine.reader);
	is_u64(b.machine.nr_records, sent, "what is sent arrives");
	is_u64(b.machine.record.nth, sent, "without a gap until then");
	bench_run(&b, ENTRY, 1, 99);
	is_u64(b.machine.record.nth, 5001, "the next one shows the gap");
	bench_balances(&b);
	bench_close(&b);
}

static void bench_set_gate(const struct bench *b, uint64_t closed)
{
	const uint32_t first = 0;

	bpf_map_update_elem(b->machine.maps.gate, &first, &closed, BPF_ANY);
}

/* Objects are dropped whole: who is known goes on, who comes now does not, until he is born. */
static void test_gate(void)
{
	const uint64_t known = 0xffff000000001000, late = 0xffff000000002000;
	struct bench b;

	exit_is_birth = true;
	if (!bench_open(&b, "arg1", NULL, CTX_TRACING))
		return;
	bench_run(&b, ENTRY, 1, known);
	bench_set_gate(&b, 1);
	bench_run(&b, ENTRY, 1, known);
	is_u64(b.machine.record.nth, 2, "the gate is closed: a known object goes on");
	bench_run(&b, ENTRY, 1, late);
	is_u64(bench_counter(&b, ENTRY, PROBE_DROPPED), 1, "a new one is dropped");
	bench_set_gate(&b, 0);
	bench_run(&b, ENTRY, 1, late);
	is_u64(bench_counter(&b, ENTRY, PROBE_DROPPED), 2, "and stays so when it opens");
	bench_run(&b, EXIT, 1, late);
	is_u64(bench_counter(&b, EXIT, PROBE_SENT), 1, "until it is born again");
	bench_run(&b, ENTRY, 1, late);
	is_u64(b.machine.record.nth, 2, "and is followed from there");
	bench_set_gate(&b, 1);
	bench_run(&b, EXIT, 1, late);
	is_u64(bench_counter(&b, EXIT, PROBE_DROPPED), 1, "a birth while it is closed is dropped");
	bench_balances(&b);
	bench_close(&b);
	exit_is_birth = false;
}

int main(void)
{
	if (!machine_may_load()) {
		printf("1..0 # SKIP may not load BPF programs: needs root, or CAP_BPF and "
		       "CAP_PERFMON\n");
		return 0;
	}
	machine_pin(0);
	make_function();
	test_counts();
	test_members();
	test_gone();
	test_returned();
	test_task();
	test_full_table();
	test_full_ring();
	test_gate();
	btf__free(btf);
	return done_testing();
}

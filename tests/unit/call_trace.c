/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_trace.c: does a trace of calls come back out of a capture as it went in, with prototypes and
 * the layouts of its structs? On a machine of plain files whose BTF is made up; nothing is
 * attached, so records are our own.
 */
#define _GNU_SOURCE
#include "calls/trace.h"
#include "probe_tree.h"
#include "calls/capture.h"

static const char kallsyms[] = "ffff800080010000 T submit_bio\n"
			       "ffff800080010100 T bio_endio\n";

static void put_tree(void)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int pointer = btf__add_ptr(btf, number + 2), returns, takes;

	btf__add_struct(btf, "bio", 16);
	btf__add_field(btf, "bi_next", pointer, 0, 0);
	btf__add_field(btf, "bi_opf", number, 64, 0);
	returns = btf__add_func_proto(btf, number);
	btf__add_func_param(btf, "bio", pointer);
	btf__add_func(btf, "submit_bio", BTF_FUNC_GLOBAL, returns);
	takes = btf__add_func_proto(btf, 0);
	btf__add_func_param(btf, "bio", pointer);
	btf__add_func(btf, "bio_endio", BTF_FUNC_GLOBAL, takes);
	tree_put_btf("/sys/kernel/btf/vmlinux", btf);
	btf__free(btf);
	tree_put("/proc/kallsyms", kallsyms);
	tree_put("/sys/kernel/tracing/available_events", "block:block_rq_issue\n");
	tree_put("/sys/kernel/tracing/available_filter_functions", "submit_bio\nbio_endio\n");
}

/* ---- writing ---- */

/* ret and the object, then its member. */
struct values {
	uint64_t first, object, opf;
};

static int put(struct call_trace_writer *w, uint32_t function, bool is_return, uint64_t ns)
{
	const struct call_trace_function *f = &w->trace->functions[function];
	const uint64_t number = is_return ? f->exit : f->entry;
	const size_t nr = w->trace->request.plan.probes[number].nr_shown;
	const struct values all = { is_return ? 7 : 0xffff1000, 0xffff1000, ns };
	const struct probe_record record = {
		.ns = ns,
		.probe = (uint32_t)number,
		.cpu = 1,
		.pid = 5,
		.tid = 6,
		.comm = "dd",
		.nth = ns,
	};

	return call_trace_writer__put(w, &record, nr == 3 ? (const void *)&all : &all.object);
}

static void write_all(struct call_trace *t, const char *path, bool addresses)
{
	const struct file_options options = { .write = path };
	const struct recorder_run run = { .options = &options, .start_ns = 1 };
	const struct run_counts counts = { .counters = { 4, 0, 0, 4 } };
	struct recorder *recorder;
	struct call_trace_writer w;

	ok(!recorder__new(&run, &recorder), "a capture is begun");
	ok(!call_trace_writer__start(&w, t, recorder, addresses), "it says which functions");
	ok(!put(&w, 1, false, 1) && !put(&w, 0, false, 2) && !put(&w, 0, true, 3) &&
		   !put(&w, 1, true, 4),
	   "and has four records");
	ok(!call_trace_writer__finish(&w, &counts) && !recorder__finish(recorder, 5, NULL),
	   "and an end");
	call_trace_writer__free(&w);
	recorder__free(recorder);
}

static void test_live(const char *path, bool addresses)
{
	const struct option_list no_fields = { 0 };
	const struct class_wants wants = { .name = "bio" };
	struct call_trace t = { .name = "bio" };
	struct class class = { 0 };
	struct call_trace_class of = { .class = &class, .all = true, .fields = &no_fields };
	char buf[128];

	t.request.finder = finder__new_at(tree);
	ok(!class__find(&class, t.request.finder, &wants), "functions are found");
	ok(!call_trace__of_class(&t, &of), "and planned");
	is_u64(t.nr, 2, "two of them");
	ok(!t.has_layouts && !call_trace__lay_structs(&t) && t.has_layouts, "structs are laid out");
	is_u64(t.layouts.nr, 1, "one");
	ok(!call_trace__lay_structs(&t) && t.layouts.nr == 1, "once");
	is_str(call_trace__prototype(&t, 1, buf, sizeof(buf)), "int submit_bio(struct bio *bio)",
	       "a prototype");
	for (size_t i = 0; i < t.nr; i++)
		t.functions[i].returns = true;
	write_all(&t, path, addresses);
	call_trace__free(&t);
	class__free(&class);
}

/* ---- reading ---- */

static struct call_trace back;
static size_t trees, lives;
static uint64_t seen_object;

static int on_tree(void *arg, const struct call *root)
{
	(void)arg;
	trees++;
	is_str(call_trace__probe(&back, root->function)->func, "submit_bio", "the call around");
	ok(root->first && !root->first->next && root->first->number == 1 && !root->number,
	   "has one inside, numbers are those of entries");
	is_u64(root->end_ns - root->start_ns, 3, "and took so long");
	return 0;
}

static int on_life(void *arg, const struct life *life)
{
	(void)arg;
	lives++;
	seen_object = life->object;
	is_u64(life->nr, 4, "the object has four steps");
	return 0;
}

static int on_known(void *arg)
{
	(void)arg;
	return call_trace__start(&back, NULL);
}

static void test_capture(const char *path)
{
	struct call_trace_reader r = { .trace = &back, .on_known = on_known, .to_ns = UINT64_MAX };
	struct capture_reader *reader;
	struct capture_part part;
	int err;

	trees = lives = 0;
	back = (struct call_trace){ 0 };
	back.on_tree = on_tree;
	back.on_life = on_life;
	ok(!capture_reader__open(path, &reader), "it is opened");
	while ((err = capture_reader__next_part(reader, &part)) > 0)
		ok(!call_trace_reader__take(&r, &part), "a part is taken");
	ok(!err && !call_trace_reader__check(&r) && !call_trace__finish(&back), "up to its end");
	is_u64(trees, 1, "one call was in no other");
	is_u64(lives, 1, "one object");
	ok(back.has_layouts && back.layouts.nr == 1, "structs came with it");
	is_str(back.layouts.nr ? back.layouts.layouts[0].members[1].declared : NULL, "int bi_opf",
	       "with their members");
	is_str(call_trace__prototype(&back, 0, NULL, 0), "void bio_endio(struct bio *bio)",
	       "and the prototypes");
	ok(!call_trace__module(&back, 0), "no module is none");
	call_trace_reader__free(&r);
	call_trace__free(&back);
	capture_reader__free(reader);
}

int main(void)
{
	char path[PATH_MAX];

	if (!mkdtemp(tree))
		return printf("Bail out! %s\n", strerror(errno)), 1;
	put_tree();
	snprintf(path, sizeof(path), "%s/x.cap", tree);
	test_live(path, true);
	test_capture(path);
	is_u64(seen_object, 0xffff1000, "addresses are kept where they are wanted");
	unlink(path);
	test_live(path, false);
	test_capture(path);
	ok(seen_object && seen_object != 0xffff1000, "else the object has another number");
	unlink(path);
	tree_remove("");
	return done_testing();
}

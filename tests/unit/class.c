/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * class.c: which functions take a struct, in which argument, and which can be attached? On a
 * machine of plain files whose BTF and symbols are made up; what presets say is looked at for
 * itself, and whether values at a return mean what they should.
 */
#define _GNU_SOURCE
#include "expr/expr.h"
#include "probe/class/class.h"
#include "probe/find/inside.h"
#include "probe/lang/value.h"
#include "probe_tree.h"

/* ---- the machine ---- */

static const char kallsyms[] = "ffff800080000000 T _sinittext\n"
			       "ffff800080000010 t bio_boot\n"
			       "ffff800080000100 T _einittext\n"
			       "ffff800080010000 T bio_endio\n"
			       "ffff800080010100 T second\n"
			       "ffff800080010200 T last\n"
			       "ffff800080010300 t constant\n"
			       "ffff800080010400 t defined\n"
			       "ffff800080010500 t bio_alloc_bioset\n"
			       "ffff800080010600 t split\n"
			       "ffff800080010700 t quiet\n"
			       "ffff800080010800 t sized.isra.0\n"
			       "ffff800080010900 t twin\n"
			       "ffff800080010a00 t twin\n"
			       "ffff800080010b00 t by_address\n"
			       "ffff800080010c00 t by_callback\n"
			       "ffff800080010d00 t trap\n"
			       "ffff800080010e00 t bio_put\n"
			       "ffff800080010f00 t odd_ret\n"
			       "ffff800080011000 t void_ret\n"
			       "ffff800080011100 t by_value\n"
			       "ffff800079000000 t second\t[nvme]\n"
			       "ffff800079000100 t nvme_take\t[nvme]\n"
			       "ffff800079000200 t nvme_other\t[nvme]\n";

static const char traceable[] = "bio_endio\nsecond\nlast\nconstant\ndefined\nbio_alloc_bioset\n"
				"split\nsized.isra.0\ntwin\nby_address\nby_callback\nbio_put\n"
				"odd_ret\nvoid_ret\nby_value\nnvme_take [nvme]\n"
				"nvme_other [nvme]\n";

static const char blacklist[] = "0xffff800080010d00-0xffff800080010d40\ttrap\n";

static struct {
	int number, bio, bio_pointer, const_pointer, pointer_const, alias, pointer_pointer,
		callback;
	int page, pair;
} id;

static void add_types(struct btf *btf)
{
	int u64, disk, disk_pointer, constant, bio_t;

	id.number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	u64 = btf__add_int(btf, "long unsigned int", 8, 0);
	disk = btf__add_struct(btf, "gendisk", 8);
	btf__add_field(btf, "major", id.number, 0, 0);
	disk_pointer = btf__add_ptr(btf, disk);
	id.bio = btf__add_struct(btf, "bio", 24);
	btf__add_field(btf, "bi_disk", disk_pointer, 0, 0);
	btf__add_field(btf, "bi_size", id.number, 64, 0);
	id.pair = btf__add_struct(btf, "pair", 16);
	btf__add_field(btf, "left", u64, 0, 0);
	btf__add_field(btf, "right", u64, 64, 0);
	id.bio_pointer = btf__add_ptr(btf, id.bio);
	constant = btf__add_const(btf, id.bio);
	id.const_pointer = btf__add_ptr(btf, constant);
	id.pointer_const = btf__add_const(btf, btf__add_ptr(btf, btf__add_volatile(btf, id.bio)));
	bio_t = btf__add_typedef(btf, "bio_t", id.bio);
	id.alias = btf__add_typedef(btf, "bio_p", btf__add_ptr(btf, bio_t));
	id.pointer_pointer = btf__add_ptr(btf, id.bio_pointer);
	id.page = btf__add_ptr(btf, btf__add_fwd(btf, "page", BTF_FWD_STRUCT));
	constant = btf__add_func_proto(btf, id.bio_pointer);
	btf__add_func_param(btf, "bio", id.bio_pointer);
	id.callback = btf__add_ptr(btf, constant);
	btf__add_struct(btf, "lonely", 4);
	btf__add_union(btf, "either", 4);
}

/* A function with these parameters, named a, b, c..., or all "ret"; 0 ends them. */
static void add_named(struct btf *btf, const char *name, int returns, const int *params,
		      const char *called)
{
	int proto = btf__add_func_proto(btf, returns);
	char param[] = "a";

	for (; *params; params++, param[0]++)
		btf__add_func_param(btf, called ? called : param, *params);
	btf__add_func(btf, name, BTF_FUNC_STATIC, proto);
}

static void add(struct btf *btf, const char *name, int returns, const int *params)
{
	add_named(btf, name, returns, params, NULL);
}

static void put_btf(void)
{
	struct btf *btf = btf__new_empty(), *module;

	add_types(btf);
	add(btf, "bio_endio", 0, (int[]){ id.bio_pointer, 0 });
	add(btf, "second", 0, (int[]){ id.number, id.bio_pointer, 0 });
	add(btf, "last", id.number, (int[]){ id.number, id.page, id.number, id.bio_pointer, 0 });
	add(btf, "constant", 0, (int[]){ id.const_pointer, id.bio_pointer, 0 });
	add(btf, "defined", 0, (int[]){ id.number, id.alias, 0 });
	add(btf, "bio_alloc_bioset", id.bio_pointer, (int[]){ id.number, 0 });
	add(btf, "split", id.bio_pointer, (int[]){ id.pointer_const, 0 });
	add(btf, "quiet", 0, (int[]){ id.bio_pointer, 0 });
	add(btf, "sized", 0, (int[]){ id.bio_pointer, 0 });
	add(btf, "inlined", 0, (int[]){ id.bio_pointer, 0 });
	add(btf, "trap", 0, (int[]){ id.bio_pointer, 0 });
	add(btf, "bio_boot", 0, (int[]){ id.bio_pointer, 0 });
	add(btf, "twin", 0, (int[]){ id.bio_pointer, 0 });
	add(btf, "twin", 0, (int[]){ id.number, id.bio_pointer, 0 });
	add(btf, "by_address", 0, (int[]){ id.pointer_pointer, 0 });
	add(btf, "by_callback", 0, (int[]){ id.callback, 0 });
	add(btf, "by_value", 0, (int[]){ id.pair, id.bio_pointer, 0 });
	add(btf, "bio_put", 0, (int[]){ id.bio_pointer, 0 });
	add_named(btf, "odd_ret", id.number, (int[]){ id.bio_pointer, 0 }, "ret");
	add_named(btf, "void_ret", 0, (int[]){ id.bio_pointer, 0 }, "ret");
	tree_put_btf("/sys/kernel/btf/vmlinux", btf);
	module = btf__new_empty_split(btf);
	add(module, "second", 0, (int[]){ id.bio_pointer, 0 });
	add(module, "nvme_take", 0, (int[]){ id.number, id.bio_pointer, 0 });
	add(module, "nvme_start", 0, (int[]){ id.bio_pointer, 0 });
	add(module, "nvme_other", 0, (int[]){ id.number, 0 });
	tree_put_btf("/sys/kernel/btf/nvme", module);
	btf__free(module);
	btf__free(btf);
}

static void put_tree(void)
{
	put_btf();
	tree_put("/proc/kallsyms", kallsyms);
	tree_put("/sys/kernel/tracing/available_events", "block:block_rq_issue\n");
	tree_put("/sys/kernel/tracing/available_filter_functions", traceable);
	tree_put("/sys/kernel/debug/kprobes/blacklist", blacklist);
}

/* ---- asking ---- */

static void is_number(long got, long want, const char *what)
{
	if (!ok(got == want, "%s", what))
		printf("# got %ld, want %ld\n", got, want);
}

static struct class class;
static struct finder *finder;

/* Fills class and said. */
static int ask(const struct class_wants *wants)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO), err;
	size_t len;

	class__free(&class);
	dup2(fileno(file), STDERR_FILENO);
	err = class__find(&class, finder, wants);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	len = fread(said, 1, sizeof(said) - 1, file);
	said[len] = 0;
	fclose(file);
	return err;
}

/* The nth of this name. */
static const struct class_function *function(const char *name, size_t nth)
{
	for (size_t i = 0; i < class.nr; i++)
		if (!strcmp(class.functions[i].name, name) && !nth--)
			return &class.functions[i];
	return NULL;
}

/* The same of one that should be there. */
static const struct class_function *the(const char *name, size_t nth)
{
	static const struct class_function absent = { .name = "absent", .argument = -2 };
	const struct class_function *f = function(name, nth);

	return f ? f : &absent;
}

static int argument(const char *name)
{
	return the(name, 0)->argument;
}

static const char *why(const char *name)
{
	const struct class_function *f = function(name, 0);

	return !f ? "absent" : f->why ? f->why : "yes";
}

static void refuses(const struct class_wants *wants, int want, const char *words)
{
	char line[sizeof(said) + 16];
	int err = ask(wants);

	snprintf(line, sizeof(line), "iosonar: %s\n", words);
	if (!ok(err == want && !strcmp(said, line), "%s", words))
		printf("# err %d, said: %s", err, said);
}

/* ---- which functions ---- */

static void test_arguments(void)
{
	is_number(ask(&(struct class_wants){ .name = "bio" }), 0, "bio is found");
	is_number(argument("bio_endio"), 0, "the first argument");
	is_number(argument("second"), 1, "the second");
	is_number(argument("last"), 3, "the last");
	is_number(argument("constant"), 0, "through const");
	is_number(argument("defined"), 1, "through typedefs of struct and pointer");
	is_number(argument("by_value"), 1, "behind a struct by value");
	is_number(argument("by_address"), -2, "a pointer to a pointer is none");
	is_number(argument("by_callback"), -2,
		  "what a callback takes and returns is not the function's");
	is_number(argument("bio_alloc_bioset"), -1, "returned only: no argument");
	ok(the("bio_alloc_bioset", 0)->returns, "and it returns one");
	ok(!argument("split") && the("split", 0)->returns, "taken through volatile, and returned");
	is_number(argument("nvme_take"), 1, "of a module");
	is_str(the("nvme_take", 0)->module, "nvme", "which is named");
	is_number((long)class.nr_arguments, 20, "so many take it");
	is_number((long)class.nr_only_return, 1, "so many only return it");
	is_number((long)class.nr_attachable, 12, "so many can be attached");
	is_str(the("last", 0)->prototype, "int last(int a, struct page *b, int c, struct bio *d)",
	       "a prototype");
	for (size_t i = 1; i < class.nr; i++)
		if (strcmp(class.functions[i - 1].name, class.functions[i].name) > 0)
			ok(false, "%s is out of order", class.functions[i].name);
}

static void test_why_not(void)
{
	is_str(why("bio_endio"), "yes", "what ftrace lists can be attached");
	is_str(why("quiet"), "not traceable (notrace)", "what it does not list cannot");
	is_str(why("sized"), "changed by the compiler; use fn:sized.isra.0",
	       "another name is told");
	is_str(why("inlined"), "inlined everywhere", "one without a symbol");
	is_str(why("nvme_start"), "inlined everywhere, or removed after loading (__init)",
	       "of a module it may be gone");
	is_str(why("bio_boot"), "removed after boot (__init)", "one of the boot");
	is_str(why("trap"), "on the kernel's kprobe blacklist", "one on the blacklist");
	is_str(why("twin"), "one of several functions with this name and different arguments",
	       "a twin");
	ok(function("twin", 1) && the("twin", 1)->why, "nor can the other one");
	ok(function("second", 1) && !the("second", 0)->module &&
		   the("second", 0)->address == 0xffff800080010100,
	   "one of vmlinux has its own address");
	is_str(the("second", 1)->why, "not traceable (notrace)",
	       "one of the same name in a module is judged by itself");
	ok(!class__is_narrow(&class), "BTF has enough of the functions");
}

/* ---- what is wanted ---- */

static void test_choice(void)
{
	const char *const only[] = { "s*" }, *const not [] = { "split", "bio_put" };
	const char *const with[] = { "last", "nvme_o*" };
	const char *const births[] = { "second" };

	is_number(ask(&(struct class_wants){ .name = "struct bio",
					     .only = only,
					     .nr_only = 1,
					     .not = not,
					     .nr_not = 2 }),
		  0, "struct bio is bio");
	ok(function("sized", 0) && !function("last", 0), "only what matches");
	ok(!function("split", 0), "without what is not wanted");
	ok(function("bio_alloc_bioset", 0) && the("bio_alloc_bioset", 0)->is_birth,
	   "births are always in");
	ok(function("bio_put", 0) && the("bio_put", 0)->is_death, "and deaths");
	is_number(ask(&(struct class_wants){
			  .name = "bio", .only = only, .nr_only = 1, .with = with, .nr_with = 2 }),
		  0, "with others");
	ok(function("last", 0) && the("last", 0)->is_without, "one that is left out comes without");
	ok(function("nvme_other", 0) && the("nvme_other", 0)->is_without, "and one that has none");
	is_str(the("nvme_other", 0)->prototype, "void nvme_other(int a)", "with its prototype");
	is_number((long)class.nr_arguments, 5, "they do not count");
	is_number(ask(&(struct class_wants){ .name = "bio", .module = "nvme" }), 0, "one module");
	ok(function("nvme_take", 0) && !function("last", 0), "has its own functions");
	ok(function("bio_alloc_bioset", 0), "and births of others");
	is_number((long)class.nr_arguments, 3, "which do not count");
	is_number(ask(&(struct class_wants){ .name = "bio", .births = births, .nr_births = 1 }), 0,
		  "a birth of one's own");
	ok(the("second", 0)->is_birth && !the("bio_alloc_bioset", 0)->is_birth,
	   "stands for the preset's");
}

static void test_refusals(void)
{
	const char *const none[] = { "q_*" }, *const near[] = { "secnd" };

	refuses(&(struct class_wants){ .name = "boi" }, -EINVAL,
		"unknown struct 'boi'; did you mean bio?");
	refuses(&(struct class_wants){ .name = "xyzzy" }, -EINVAL,
		"unknown struct 'xyzzy': this kernel and its modules do not have it");
	refuses(&(struct class_wants){ .name = "either" }, -EINVAL,
		"unknown struct 'either': this kernel and its modules do not have it");
	refuses(&(struct class_wants){ .name = "lonely" }, -EINVAL,
		"no function of this kernel takes or returns a pointer to struct lonely");
	refuses(&(struct class_wants){ .name = "page", .module = "nvmee" }, -EINVAL,
		"no module 'nvmee' with BTF; did you mean nvme?");
	refuses(&(struct class_wants){ .name = "bio", .only = none, .nr_only = 1 }, -EINVAL,
		"--only q_* matches none of the 21 functions of struct bio");
	refuses(&(struct class_wants){ .name = "bio", .with = none, .nr_with = 1 }, -EINVAL,
		"--with q_* matches no kernel function");
	refuses(&(struct class_wants){ .name = "bio", .births = near, .nr_births = 1 }, -EINVAL,
		"--birth 'secnd' matches no function that takes or returns struct bio; did "
		"you mean second?");
}

/* ---- probes ---- */

/* What the text means at this probe: of an argument its number, -1 what is returned, -2 nothing. */
static long means(const struct probe *probe, const char *text)
{
	const struct value_scope scope = { .probe = probe };
	struct expr_error error = { 0 };
	struct expr *tree_of_text = expr__parse_tree(text, &error);
	struct value *v = tree_of_text ? value__make(tree_of_text, &scope, &error) : NULL;
	long meaning = !v		    ? -2
		       : v->op == VALUE_ARG ? (long)v->number
		       : v->op == VALUE_RET ? -1
					    : -3;

	snprintf(said, sizeof(said), "%s", v ? "" : error.message);
	value__free(v);
	expr__free(tree_of_text);
	return meaning;
}

static const struct probe *probe_of(const char *name, enum probe_kind kind)
{
	forget();
	if (class__add_probe(the(name, 0), kind, &found) || found.nr != 1)
		printf("Bail out! no probe of %s\n", name), exit(1);
	return &found.probes[0];
}

static void test_probes(void)
{
	const struct probe *p;

	ask(&(struct class_wants){ .name = "bio" });
	p = probe_of("last", PROBE_FN);
	is_str(p->name, "fn:last", "an entry");
	is_str(found_fields(), "a:int b:struct page * c:int d:struct bio *", "has its arguments");
	ok(p->address == 0xffff800080010200 && p->btf_id && !p->module, "and its place");
	p = probe_of("last", PROBE_RET);
	is_str(p->name, "ret:last", "a return");
	is_str(found_fields(), "ret:int a:int b:struct page * c:int d:struct bio *",
	       "has its result, and its arguments");
	is_number(means(p, "ret"), -1, "ret is what is returned");
	is_number(means(p, "d"), 3, "an argument is there by name");
	is_number(means(p, "arg3"), 3, "and by number");
	is_number(means(p, "arg4"), -2, "a fifth is not");
	is_str(said, "this event has 4 arguments: arg0 to arg3", "which is said");
	p = probe_of("by_value", PROBE_RET);
	ok(p->fields[1].at == 1 && p->fields[1].slot == 2 && p->fields[1].reg == 2,
	   "what lies behind a struct by value is in another register");
	p = probe_of("odd_ret", PROBE_RET);
	is_number(means(p, "ret"), -1, "ret is what is returned, whatever an argument is called");
	is_number(means(p, "arg0"), 0, "that goes by its number");
	p = probe_of("void_ret", PROBE_RET);
	is_number(means(p, "ret"), -2, "of a void function there is no ret");
	is_str(said, "ret is not available: the function returns nothing", "which is said");
	p = probe_of("nvme_take", PROBE_FN);
	is_str(p->module, "nvme", "one of a module");
	find(finder, "ret:last");
	is_str(found_fields(), "ret:int", "ret: of any event has no arguments");
	is_number(means(&found.probes[0], "arg0"), -2, "nor by number");
	is_str(said, "this event has no arguments", "which is said");
	forget();
}

/* ---- presets and members ---- */

static bool has_name(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

static bool is_in(const char *const *some, const char *const *all)
{
	for (; *some; some++)
		if (!has_name(all, *some))
			return false;
	return true;
}

static bool has_twice(const char *const *names)
{
	for (; *names; names++)
		if (has_name(names + 1, *names))
			return true;
	return false;
}

static void test_presets(void)
{
	for (size_t i = 0; class_presets[i]; i++) {
		const struct class_preset *p = class_presets[i];

		ok(class_preset__find(p->name) == p, "%s is found", p->name);
		ok(!p->spine[CLASS_MAX_SPINE] && !p->births[CLASS_MAX_ENDS] &&
			   !p->deaths[CLASS_MAX_ENDS] && !p->fields[CLASS_MAX_FIELDS],
		   "%s: its lists end", p->name);
		ok(is_in(p->births, p->spine) && is_in(p->deaths, p->spine),
		   "%s: births and deaths are of the spine", p->name);
		ok(!has_twice(p->spine) && !has_twice(p->births) && !has_twice(p->deaths) &&
			   !has_twice(p->fields),
		   "%s: nothing is named twice", p->name);
		ok(p->births[0] && p->deaths[0] && p->fields[0], "%s: none is empty", p->name);
	}
	ok(!class_preset__find("xyzzy"), "others have none");
}

static void test_members(void)
{
	const struct class_preset behind = { .name = "x", .object = "bio", .behind = "pair" };
	const struct class_preset absent = { .name = "x", .object = "bio", .behind = "xyzzy" };
	uint32_t offset;
	struct type of;
	char text[64];

	ask(&(struct class_wants){ .name = "bio" });
	ok(class__members(&class, finder, &of, &offset) && !offset, "members are the struct's own");
	ok(class__pick_field(&of, "bi_size", text, sizeof(text)), "a member is there");
	is_str(text, "bi_size", "by its name");
	ok(class__pick_field(&of, "bi_bdev->bd_disk->major|bi_disk->major|bi_size", text,
			     sizeof(text)),
	   "one of several is there");
	is_str(text, "bi_disk->major", "the first");
	ok(!class__pick_field(&of, "bi_disk->minor|bi_dev", text, sizeof(text)), "or none");
	ok(!class__pick_field(&of, "bi_size->x", text, sizeof(text)), "a number has no members");
	ok(!class__pick_field(&of, "bi_disk.major", text, sizeof(text)), "nor has a pointer");
	class.preset = &behind;
	ok(class__members(&class, finder, &of, &offset) && offset == 24, "they may lie behind it");
	ok(class__pick_field(&of, "right", text, sizeof(text)), "in another struct");
	class.preset = &absent;
	ok(!class__members(&class, finder, &of, &offset), "which need not be there");
}

/* ---- names ---- */

static char named[256];

static int note_name(void *arg, const char *name)
{
	(void)arg;
	snprintf(named + strlen(named), sizeof(named) - strlen(named), "%s ", name);
	return 0;
}

static const char *names_with(const char *prefix)
{
	named[0] = 0;
	class__names(finder, prefix, note_name, NULL);
	return named;
}

static void test_names(void)
{
	is_str(names_with("bi"), "bio ", "a preset is named once");
	is_str(names_with("lon"), "lonely ", "a struct by its beginning");
	is_str(names_with("eith"), "", "a union is none");
}

/* ---- what is hidden ---- */

static void anew(void)
{
	class__free(&class);
	finder__free(finder);
	finder = finder__new_at(tree);
}

static void test_hidden(void)
{
	tree_remove("/sys/kernel/tracing");
	anew();
	is_number(ask(&(struct class_wants){ .name = "bio" }), 0, "without ftrace's list");
	is_str(why("quiet"), "yes", "one that has a symbol counts as one that can");
	ok(finder__doubt(finder), "and that is said");
	tree_put("/sys/kernel/tracing/available_events", "block:block_rq_issue\n");
	tree_put("/sys/kernel/tracing/available_filter_functions",
		 "a1\na2\na3\na4\na5\na6\na7\na8\na9\nb1\nb2\nb3\nb4\nb5\nb6\nb7\nb8\nb9\n"
		 "c1\nc2\nc3\nc4\nc5\nc6\nc7\nc8\nc9\n");
	anew();
	ask(&(struct class_wants){ .name = "bio" });
	ok(class__is_narrow(&class), "a BTF without static functions is noticed");
	tree_remove("/proc/kallsyms");
	anew();
	is_number(ask(&(struct class_wants){ .name = "bio" }), 0, "without kallsyms");
	is_str(why("bio_endio"), "unknown: /proc/kallsyms cannot be read", "nothing is known");
	is_number((long)class.nr_attachable, 0, "and nothing can be attached");
	tree_remove("/sys/kernel/btf");
	anew();
	refuses(&(struct class_wants){ .name = "bio" }, -EOPNOTSUPP,
		"this kernel has no BTF (CONFIG_DEBUG_INFO_BTF): the functions that take struct "
		"bio are unknown");
}

int main(void)
{
	if (!mkdtemp(tree))
		return printf("Bail out! %s\n", strerror(errno)), 1;
	put_tree();
	finder = finder__new_at(tree);
	test_arguments();
	test_why_not();
	test_choice();
	test_refusals();
	test_probes();
	test_presets();
	test_members();
	test_names();
	test_hidden();
	class__free(&class);
	finder__free(finder);
	tree_remove("");
	return done_testing();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor.c: what can this kernel and these privileges show, through which hook, and why not the
 * rest? Loads what a run would load and attaches empty programs for a moment; measures nothing. It
 * cannot see what a security module would refuse later, nor modules that are not loaded yet.
 */
#define _GNU_SOURCE /* open_memstream */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/help.h"
#include "collect/doctor.h"
#include "decode/column.h"
#include "view/listing.h"

enum {
	DOCTOR_STATE = 7,     /* width of the state column */
	DOCTOR_WHY = 37,      /* column where the reasons begin */
	DOCTOR_COMMANDS = 64, /* at most */
};

struct doctor {
	/* options */
	const char *btf;
	/* state */
	struct doctor_facts facts;
	struct doctor_report report;
	struct listing to;
};

static const struct option_def doctor_options[] = {
	{ .name = "btf",
	  .kind = OPTION_STRING,
	  .offset = offsetof(struct doctor, btf),
	  .arg = "FILE",
	  .help = "check another kernel by its BTF: a copy of /sys/kernel/btf/vmlinux, or a "
		  "vmlinux",
	  .completes = "file" },
	{ 0 },
};

static const struct option_group doctor_group = { "What is checked", doctor_options };

#define FIELD(name) offsetof(struct finding, name)

static struct cell doctor_item(const void *row)
{
	return (struct cell){ .kind = CELL_TEXT, .text = ((const struct finding *)row)->item };
}

static struct cell doctor_why(const void *row)
{
	return (struct cell){ .kind = CELL_TEXT, .text = ((const struct finding *)row)->why };
}

static const struct column doctor_columns[] = {
	{ "section", "section", CELL_TEXT, 9,
	  "command, hook, kernel, wait, privilege, device or run", .at = FIELD(section) },
	{ "item", "item", CELL_TEXT, 18, "name of what was checked", .get = doctor_item },
	{ "hook", "hook", CELL_TEXT, 6,
	  "how the event is attached: tp_btf, raw_tp, tp, kprobe, fentry", .at = FIELD(hook) },
	{ "state", "state", CELL_TEXT, 7,
	  "ok, partly (works with losses), no, spare (works but is not used), unknown or info",
	  .at = FIELD(state) },
	{ "why", "why", CELL_TEXT, 20, "reason for the state", .get = doctor_why },
	{ "remedy", "remedy", CELL_TEXT, 10, "what to do about it", .at = FIELD(remedy) },
	{ "queues", "queues", CELL_COUNT, 6,
	  "number of hardware queues of a device; for a controller including the admin queue",
	  .at = FIELD(queues) },
	{ "depth", "depth", CELL_COUNT, 5, "requests per queue", .at = FIELD(depth) },
	{ "bytes", "bytes", CELL_BYTES, 6, "size of a device, a limit, or memory that a run uses",
	  .at = FIELD(bytes) },
	{ 0 },
};

/* The verdict is on the command that the others build on. */
struct verdict {
	const char *command, *state, *cause, *why, *kernel, *btf;
};

#define VERDICT(name) offsetof(struct verdict, name)
static const struct column verdict_columns[] = {
	{ "command", "command", CELL_TEXT, 0, "command that was checked, e.g. latency",
	  .at = VERDICT(command) },
	{ "state", "state", CELL_TEXT, 0, "ok: the command can run; no: it cannot",
	  .at = VERDICT(state) },
	{ "cause", "cause", CELL_TEXT, 0, "one word for the reason; null: it can run",
	  .at = VERDICT(cause) },
	{ "why", "why", CELL_TEXT, 0, "message that every command prints then; null: it can run",
	  .at = VERDICT(why) },
	{ "kernel", "kernel", CELL_TEXT, 0, "release of the kernel", .at = VERDICT(kernel) },
	{ "btf", "btf", CELL_TEXT, 0, "file given with --btf", .at = VERDICT(btf) },
	{ 0 },
};

static const struct object doctor_findings = { "doctor", { doctor_columns } };
static const struct object doctor_verdicts = { "verdict", { verdict_columns } };

static int doctor_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_doctor = {
	.name = "doctor",
	.group = "self",
	.brief = "what works on this kernel with these privileges, and why not more",
	.synopsis = "[options]",
	.groups = CMD_GROUPS(OUTPUT_IN(OUTPUT_TABLES)),
	.own = &doctor_group,
	.view_size = sizeof(struct doctor),
	.objects = CMD_OBJECTS(&doctor_findings, &doctor_verdicts),
	.run = doctor_run,
};

/* ---- text ---- */

static const char *doctor_title(const char *section)
{
	static const char *const titles[][2] = {
		{ "command", "Commands" },
		{ "hook", "Hooks" },
		{ "kernel", "Kernel" },
		{ "privilege", "Privileges" },
		{ "device", "Devices" },
		{ "run", "A run" },
		{ "wait", "Waits before the device" },
	};

	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (!strcmp(section, titles[i][0]))
			return titles[i][1];
	return section;
}

static const char *doctor_color(const struct finding *f)
{
	if (f->state == doctor_ok)
		return "\033[32m";
	if (f->state == doctor_partly)
		return "\033[33m";
	return f->state == doctor_no ? "\033[31m" : "\033[2m";
}

/* The entry as help would print it, wrapped; owned by the caller. */
static char *doctor_entry(const struct finding *f)
{
	char *words = NULL, *entry = NULL, left[64];
	size_t size;
	FILE *out = open_memstream(&words, &size);

	if (out) { /* "hook: why; remedy" */
		if (f->hook)
			fprintf(out, "%s: ", f->hook);
		text__put_terminal(out, f->why); /* it contains a device's name and model */
		if (f->remedy)
			fprintf(out, "; %s", f->remedy);
		fclose(out);
	}
	out = words ? open_memstream(&entry, &size) : NULL;
	if (out) {
		snprintf(left, sizeof(left), "  %-*s %s", DOCTOR_STATE, f->state, f->item);
		option__print_entry(out, left, DOCTOR_WHY, words);
		fclose(out);
	}
	free(words);
	return entry;
}

/*
 *   ok      nvme_setup_cmd            tp_btf: typed pointers, read directly
 */
static int doctor_show_finding(const struct doctor *d, const struct finding *f)
{
	char *entry = doctor_entry(f);

	if (!entry)
		return -ENOMEM;
	if (d->to.style.color)
		fprintf(d->to.out, "  %s%s\033[0m%s", doctor_color(f), f->state,
			entry + 2 + strlen(f->state));
	else
		fputs(entry, d->to.out);
	free(entry);
	return 0;
}

static int doctor_show_text(const struct doctor *d, const struct verdict *v)
{
	const char *section = "";
	int err = 0;

	if (v->why)
		fprintf(d->to.out, "latency cannot run: %s\n", v->why);
	else if (v->btf)
		fputs("latency can run on a kernel with this BTF\n", d->to.out);
	else
		fprintf(d->to.out, "latency can run here, on Linux %s\n", v->kernel);
	for (size_t i = 0; i < d->report.nr && !err; i++) {
		const struct finding *f = &d->report.findings[i];

		if (strcmp(section, f->section))
			fprintf(d->to.out, "\n%s\n", doctor_title(f->section));
		section = f->section;
		err = doctor_show_finding(d, f);
	}
	return err;
}

/* ---- JSON and CSV ---- */

/* Rows with the same columns. CSV has one kind of row: the commands' states give the verdict. */
static int doctor_show_rows(const struct doctor *d, const struct verdict *v)
{
	struct table *findings = table__of(d->to.out, d->to.format, &doctor_findings, NULL, NULL);

	if (!findings)
		return -ENOMEM;
	for (size_t i = 0; i < d->report.nr; i++)
		table__row(findings, &d->report.findings[i]);
	table__free(findings);
	return d->to.format == TABLE_JSON
		       ? object__put(&doctor_verdicts, d->to.out, d->to.format, v)
		       : 0;
}

/* ---- the run ---- */

static struct verdict doctor_verdict(const struct doctor *d)
{
	const struct obstacle *o = &d->report.obstacle;
	bool runs = o->kind == OBSTACLE_NONE;

	return (struct verdict){
		.command = "latency",
		.state = runs ? doctor_ok : doctor_no,
		.cause = runs ? NULL : obstacle__word(o->kind),
		.why = runs ? NULL : o->line,
		.kernel = d->btf ? NULL : d->facts.kernel.release,
		.btf = d->btf,
	};
}

static int doctor_look(struct doctor *d, const struct cmd *const *commands)
{
	struct doctor_command known[DOCTOR_COMMANDS + 1] = { 0 };
	char parts[HELP_PARTS];
	int err = doctor_facts__read(&d->facts, d->btf);

	d->facts.parts = help__parts(parts);
	for (size_t i = 0; i < DOCTOR_COMMANDS && commands[i]; i++)
		known[i] = (struct doctor_command){ commands[i]->name, commands[i]->needs };
	if (!err && doctor__judge(&d->report, &d->facts, known))
		err = log_no_memory();
	return err;
}

static int doctor_print(struct doctor *d, const struct options *options)
{
	struct verdict verdict = doctor_verdict(d);
	int err = listing__open(&d->to, &options->output, NULL);

	if (err)
		return err;
	err = d->to.format == TABLE_TEXT ? doctor_show_text(d, &verdict)
					 : doctor_show_rows(d, &verdict);
	if (err)
		log_err(err, "out of memory");
	return output__finish(&d->to.output, err);
}

/* Text begins with the verdict; with --out or another format it goes to stderr as in any
 * command. */
static int doctor_end(const struct doctor *d, const struct options *options)
{
	const struct obstacle *o = &d->report.obstacle;

	if (o->kind == OBSTACLE_NONE)
		return EXIT_DONE;
	if (options->output.path || d->to.format != TABLE_TEXT)
		log_warn("%s", o->line);
	return exit_code__of(o->err);
}

static int doctor_run(void *state, const struct options *options, char **argv)
{
	struct doctor *d = state;
	int err;

	if (argv[0])
		return log_err(-EINVAL, "doctor takes no COMMAND (got '%s')", argv[0]);
	err = doctor_look(d, options->commands);
	err = err ?: doctor_print(d, options);
	err = err ?: doctor_end(d, options);
	doctor_report__free(&d->report);
	doctor_facts__free(&d->facts);
	return err;
}

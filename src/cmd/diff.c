/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * diff.c: what differs between two runs, and is it more than chance? Compares two captures or two
 * outputs of `latency -o json`: percentiles, rate, sizes, errors and steps per device and
 * operation, each with an interval, so that noise is called noise. It cannot see why.
 */
#include <errno.h>
#include <string.h>
#include "base/log.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "decode/row.h"
#include "diff/page.h"
#include "view/records.h"

struct diff_cmd {
	/* options */
	struct option_list files, pairs;
	const char *only_if, *fail_if;
	struct option_number from_ns, to_ns;
	int unsure; /* enum diff_unsure */
	bool all, graph, allow_loss;
	/* state */
	struct condition *only, *fails;
	struct diff diff;
	struct call_pair *called; /* of calls, instead */
	struct diff_file paths[2];
	bool lost;
};

enum diff_unsure { DIFF_UNSURE_PASS, DIFF_UNSURE_FAIL };

/* In the order of enum diff_unsure. */
static const char *const unsure_choices[] = { "pass", "fail", NULL };

static const struct option_def diff_options[] = {
	{ "FILE", 0, OPTION_OPERANDS, offsetof(struct diff_cmd, files), "A B",
	  "two captures, or two files saved from latency -o json", .completes = "file" },
	{ "read", 'r', OPTION_FILES, offsetof(struct diff_cmd, files), "FILE", "the same as A or B",
	  .completes = "file" },
	{ "pair", 0, OPTION_LIST, offsetof(struct diff_cmd, pairs), "DEV=DEV,...",
	  "compare only these devices: the first one of A with the second one of B" },
	{ "if", 0, OPTION_STRING, offsetof(struct diff_cmd, only_if), "EXPR",
	  "only commands for which this is true, as in trace, e.g. 'bytes >= 64Ki'" },
	{ "from", 0, OPTION_DURATION, offsetof(struct diff_cmd, from_ns), "DURATION",
	  "start this long after the beginning of both captures" },
	{ "to", 0, OPTION_DURATION, offsetof(struct diff_cmd, to_ns), "DURATION",
	  "stop this long after the beginning of both captures", .min = 1 },
	{ "all", 0, OPTION_FLAG, offsetof(struct diff_cmd, all), NULL,
	  "in text: also show counts, and shares of sizes and steps that are noise" },
	{ "graph", 0, OPTION_FLAG, offsetof(struct diff_cmd, graph), NULL,
	  "for calls: also compare by the functions around them" },
	{ "fail-if", 0, OPTION_STRING, offsetof(struct diff_cmd, fail_if), "EXPR",
	  "exit with 5 if this is true for a shift that is not noise, e.g. 'p99 > +10% && op == "
	  "read'" },
	{ "unsure", 0, OPTION_CHOICE, offsetof(struct diff_cmd, unsure), "WHAT",
	  "result if the runs are too short to decide --fail-if (fail exits with 6)",
	  .choices = unsure_choices },
	{ "allow-loss", 0, OPTION_FLAG, offsetof(struct diff_cmd, allow_loss), NULL,
	  "exit with 0 instead of 3 when events or parts of a file were lost" },
	{ 0 },
};

static const struct option_group diff_own_group = { "What is compared", diff_options };

static int diff_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_diff = {
	.name = "diff",
	.group = "captures",
	.brief = "what changed between two runs, and what is noise",
	.synopsis = "[options] A B",
	.groups = CMD_GROUPS(&filter_group, OUTPUT_IN(OUTPUT_TABLES | OUTPUT_BIT(OUTPUT_HTML))),
	.own = &diff_own_group,
	.view_size = sizeof(struct diff_cmd),
	.objects = CMD_OBJECTS(&diff_object, &diff_function_object, &diff_path_object),
	.run = diff_run,
};

static int diff_check_files(const struct diff_cmd *c, char **argv)
{
	size_t nr = c->files.nr;

	for (; *argv; argv++)
		nr++;
	if (nr == 2)
		return 0;
	return log_err(-EINVAL, "diff takes two files (%zu %s given), e.g. iosonar diff A B", nr,
		       nr == 1 ? "is" : "are");
}

static int diff_parse(struct diff_cmd *c)
{
	int err;

	if (c->from_ns.given && c->to_ns.given && c->to_ns.value <= c->from_ns.value)
		return log_err(-EINVAL, "--to must be later than --from");
	if (c->unsure == DIFF_UNSURE_FAIL && !c->fail_if)
		return log_err(-EINVAL, "--unsure fail requires --fail-if");
	err = records__parse_condition("--if", c->only_if, &c->only);
	return err ?: diff_view__parse(c->fail_if, &c->fails);
}

static int diff_put(struct diff_cmd *c, const struct output_options *o, FILE *out)
{
	const struct diff_show show = { out, (enum table_format)o->format, c->all };

	if (o->format == OUTPUT_HTML)
		return c->called ? diff_page__put_calls(out, c->called, c->paths)
				 : diff_page__put(out, &c->diff);
	return c->called ? call_view__show(c->called, &show) : diff_view__show(&c->diff, &show);
}

static int diff_verdict(const struct diff_cmd *c)
{
	if (diff_view__came_true(&c->diff, c->fail_if, c->fails))
		return EXIT_CAME_TRUE;
	if (diff_view__is_unsure(&c->diff, c->fail_if, c->fails) && c->unsure == DIFF_UNSURE_FAIL)
		return EXIT_FOUND;
	return c->lost && !c->allow_loss ? EXIT_LOST : EXIT_DONE;
}

/* Options that do not apply to calls, which have no device and no command. */
static int diff_check_calls(const struct diff_cmd *c, const struct options *o)
{
	const struct filter_options *f = &o->filter;
	bool filters = f->devices.nr || f->ops.nr || f->pid.given || f->comm || f->cgroup ||
		       f->nsid.given || f->qid.given || f->ctrl_id.given || f->min_ns.given ||
		       f->failed;
	const char *option = c->only_if	   ? "--if"
			     : c->fail_if  ? "--fail-if"
			     : c->pairs.nr ? "--pair"
			     : filters	   ? "a filter"
					   : NULL;

	if (!option)
		return 0;
	return log_err(-EINVAL, "%s applies to commands; these captures contain calls", option);
}

static int diff_read_commands(struct diff_cmd *c, const struct diff_file *files,
			      const struct options *options)
{
	const struct diff_wants wants = { options, c->only };
	int err;

	if (c->graph)
		return log_err(-EINVAL, "--graph requires captures of calls; %s contains no calls",
			       files[0].path);
	err = diff__make(&c->diff, files, &c->pairs, &wants);
	c->lost = c->diff.sides[0].lost || c->diff.sides[1].lost;
	return err;
}

/* Both are looked at before either is read: a mistake costs no time. */
static int diff_look(struct diff_file files[2])
{
	int err = diff_kind__of(files[0].path, &files[0].kind);
	bool is_calls;

	err = err ?: diff_kind__of(files[1].path, &files[1].kind);
	if (err)
		return err;
	is_calls = files[0].kind == DIFF_CALLS;
	if (is_calls == (files[1].kind == DIFF_CALLS))
		return 0;
	return log_err(-EINVAL, "%s contains calls, %s does not; they cannot be compared",
		       files[!is_calls].path, files[is_calls].path);
}

static int diff_files(struct diff_cmd *c, const struct options *options, char **argv)
{
	const size_t nr = c->files.nr;
	const char *paths[] = { nr ? c->files.words[0] : argv[0],
				nr > 1 ? c->files.words[1] : argv[1 - nr] };
	const struct option_list inputs = { paths, 2 };
	struct diff_file *files = c->paths;
	const struct call_pair_wants calls = { files, options, c->graph };
	struct output output;
	int err;

	files[0].path = paths[0];
	files[1].path = paths[1];
	err = diff_look(files);
	err = err ?: output__open(&output, options->output.path, &inputs);
	if (err)
		return err;
	if (files[0].kind == DIFF_CALLS) {
		err = diff_check_calls(c, options);
		err = err ?: call_pair__read(&calls, &c->called, &c->lost);
	} else {
		err = diff_read_commands(c, files, options);
	}
	err = err ?: diff_put(c, &options->output, output.file);
	err = output__finish(&output, err);
	return err ?: diff_verdict(c);
}

static int diff_run(void *state, const struct options *options, char **argv)
{
	struct options both = *options;
	struct diff_cmd *c = state;
	int err = diff_check_files(c, argv);

	both.file.from_ns = c->from_ns;
	both.file.to_ns = c->to_ns;
	err = err ?: diff_parse(c);
	err = err ?: diff_files(c, &both, argv);
	diff__free(&c->diff);
	call_pair__free(c->called);
	condition__free(c->only);
	condition__free(c->fails);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/dropin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/nearest.h"
#include "cmd/cmd.h"

static const struct dropin *const dropins[] = { &dropin_nvme_trace, &dropin_nvme_latency, NULL };

/* abseil's own flags, which control its log; there is no such log here. All take a value. */
static const char *const log_flags[] = {
	"stderrthreshold", "minloglevel",      "v",	   "vmodule", "log_prefix",
	"logtostderr",	   "log_backtrace_at", "flagfile", NULL,
};

const struct dropin *dropin__find(const char *argv0)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL;
	const char *name = slash ? slash + 1 : argv0 ? argv0 : "";

	for (size_t i = 0; dropins[i]; i++)
		if (!strcmp(dropins[i]->name, name))
			return dropins[i];
	return NULL;
}

/* ---- flags ---- */

struct word {
	const char *name, *value; /* value NULL: no '=' given */
	size_t name_len;
};

static bool word_split(const char *arg, struct word *w)
{
	const char *equals;

	if (arg[0] != '-' || !arg[1])
		return false;
	w->name = arg + (arg[1] == '-' ? 2 : 1);
	equals = strchr(w->name, '=');
	w->value = equals ? equals + 1 : NULL;
	w->name_len = equals ? (size_t)(equals - w->name) : strlen(w->name);
	return w->name_len > 0;
}

static bool word_is(const struct word *w, const char *name)
{
	return strlen(name) == w->name_len && !strncmp(name, w->name, w->name_len);
}

static bool word_is_log_flag(const struct word *w)
{
	for (size_t i = 0; log_flags[i]; i++)
		if (word_is(w, log_flags[i]))
			return true;
	return false;
}

static int flag_set_bool(const struct dropin_flag *flag, const char *value, bool *out)
{
	static const char *const yes[] = { "true", "t", "yes", "y", "1", NULL };
	static const char *const no[] = { "false", "f", "no", "n", "0", NULL };

	for (size_t i = 0; yes[i]; i++) {
		if (!strcasecmp(value, yes[i]) || !strcasecmp(value, no[i])) {
			*out = !strcasecmp(value, yes[i]);
			return 0;
		}
	}
	return log_err(-EINVAL, "--%s=%s: expected true or false", flag->name, value);
}

static int flag_set_number(const struct dropin_flag *flag, const char *value, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(value, &end, 10);
	if (errno || end == value || *end || *out < -1 || *out > 1000000000)
		return log_err(-EINVAL, "--%s=%s: expected a whole number from -1 to 1000000000",
			       flag->name, value);
	return 0;
}

/* Returns how many arguments it used, or a negative errno. */
static int flag_take(const struct dropin *d, void *state, const struct word *w, const char *next)
{
	for (const struct dropin_flag *f = d->flags; f->name; f++) {
		void *at = (char *)state + f->at;
		int err;

		if (f->boolean && w->name_len > 2 && !strncmp(w->name, "no", 2) && !w->value &&
		    !strcmp(w->name + 2, f->name)) {
			*(bool *)at = false;
			return 1;
		}
		if (!word_is(w, f->name))
			continue;
		if (f->boolean) {
			err = flag_set_bool(f, w->value ? w->value : "true", at);
			return err ?: 1;
		}
		if (!w->value && !next)
			return log_err(-EINVAL, "--%s requires a number", f->name);
		err = flag_set_number(f, w->value ? w->value : next, at);
		return err ?: w->value ? 1 : 2;
	}
	return 0;
}

static int flag_unknown(const struct dropin *d, const char *arg)
{
	const char *names[16], *near;
	size_t nr = 0;

	while (nr < 16 && d->flags[nr].name) {
		names[nr] = d->flags[nr].name;
		nr++;
	}
	near = nearest__word(arg + strspn(arg, "-"), names, nr);
	return log_err(-EINVAL, "unknown flag '%s'%s%s%s", arg, near ? "; did you mean --" : "",
		       near ? near : "; --help lists the flags", near ? "?" : "");
}

/* 0, a negative errno, or EXIT_DONE + 1 when there is nothing more to do. */
static int dropin_parse(const struct dropin *d, void *state, int argc, char **argv)
{
	struct word w;

	for (int i = 1, took; i < argc; i += took) {
		if (!word_split(argv[i], &w))
			return log_err(-EINVAL, "unexpected argument '%s'", argv[i]);
		if (word_is(&w, "help") || word_is(&w, "h"))
			return 1;
		took = flag_take(d, state, &w, argv[i + 1]);
		if (took < 0)
			return took;
		if (took)
			continue;
		if (!word_is_log_flag(&w))
			return flag_unknown(d, argv[i]);
		took = w.value || !argv[i + 1] ? 1 : 2;
		log_note("--%.*s controls abseil logging; it is ignored here", (int)w.name_len,
			 w.name);
	}
	return 0;
}

int dropin__main(const struct dropin *d, int argc, char **argv)
{
	void *state = calloc(1, d->state_size);
	int err;

	if (!state)
		return log_no_memory();
	for (const struct dropin_flag *f = d->flags; f->name; f++)
		if (!f->boolean)
			*(long *)((char *)state + f->at) = -1;
	err = dropin_parse(d, state, argc, argv);
	if (err == 1) {
		printf("Usage: %s [flags]\n\n%s\n\n", d->name, d->brief);
		for (const struct dropin_flag *f = d->flags; f->name; f++)
			printf("  --%s%-*s %s\n", f->name, 18 - (int)strlen(f->name),
			       f->boolean ? "" : "=N", f->help);
		err = 0;
	} else if (!err) {
		err = d->run(state);
	}
	free(state);
	return err;
}

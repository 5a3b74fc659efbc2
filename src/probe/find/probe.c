/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/find/probe.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

const char *probe_kind__word(enum probe_kind kind)
{
	static const char *const words[NR_PROBE_KINDS] = {
		[PROBE_TRACEPOINT] = "tracepoint",
		[PROBE_RAW] = "raw",
		[PROBE_FN] = "fn",
		[PROBE_RET] = "ret",
		[PROBE_USER] = "user",
		[PROBE_USERRET] = "userret",
		[PROBE_USDT] = "usdt",
		[PROBE_PROFILE] = "profile",
		[PROBE_INTERVAL] = "interval",
		[PROBE_SOFT] = "soft",
		[PROBE_HW] = "hw",
	};

	return words[kind];
}

static void probe_field_free(const struct probe_field *field)
{
	free((char *)field->name);
	free((char *)field->declared);
}

void probe__free(struct probe *probe)
{
	for (size_t i = 0; i < probe->nr_fields; i++)
		probe_field_free(&probe->fields[i]);
	free(probe->fields);
	free(probe->name);
	free(probe->path);
	memset(probe, 0, sizeof(*probe));
}

const struct probe_field *probe__field(const struct probe *probe, const char *name)
{
	for (size_t i = 0; i < probe->nr_fields; i++)
		if (!strcmp(probe->fields[i].name, name))
			return &probe->fields[i];
	return NULL;
}

/* ---- as text ---- */

enum { PROBE_TYPE_TEXT = 256 };

char *probe_field__print(const struct probe_field *field, char *buf, size_t size)
{
	char type[PROBE_TYPE_TEXT];

	if (field->declared)
		return type__declare(field->declared, field->name, buf, size);
	return type__declare(type__print(&field->type, type, sizeof(type)), field->name, buf, size);
}

/* A function's own; a raw tracepoint's arguments are its fields. */
static const struct btf_type *probe_proto(const struct probe *probe)
{
	const struct btf_type *t = probe->btf ? btf__type_by_id(probe->btf, probe->btf_id) : NULL;

	if (!t || !btf_is_func(t))
		return NULL;
	t = btf__type_by_id(probe->btf, t->type);
	return t && btf_is_func_proto(t) ? t : NULL;
}

static size_t probe_put(char *buf, size_t size, size_t len, const char *text)
{
	if (len < size)
		len += (size_t)snprintf(buf + len, size - len, "%s", text);
	return len;
}

static size_t probe_put_params(const struct btf *btf, const struct btf_type *proto, char *buf,
			       size_t size, size_t len)
{
	char type_text[PROBE_TYPE_TEXT], param[2 * PROBE_TYPE_TEXT];

	for (uint32_t i = 0; i < btf_vlen(proto); i++) {
		const struct btf_param *p = &btf_params(proto)[i];
		const char *name = btf__name_by_offset(btf, p->name_off);
		struct type type = type__of(btf, p->type);

		len = probe_put(buf, size, len, i ? ", " : "");
		if (!p->type)
			return probe_put(buf, size, len, "...");
		type__print(&type, type_text, sizeof(type_text));
		type__declare(type_text, name ? name : "", param, sizeof(param));
		len = probe_put(buf, size, len, param);
	}
	return probe_put(buf, size, len, btf_vlen(proto) ? "" : "void");
}

static size_t probe_put_fields(const struct probe *probe, char *buf, size_t size, size_t len)
{
	char field[2 * PROBE_TYPE_TEXT];

	for (size_t i = 0; i < probe->nr_fields; i++) {
		len = probe_put(buf, size, len, i ? ", " : "");
		len = probe_put(buf, size, len,
				probe_field__print(&probe->fields[i], field, sizeof(field)));
	}
	return probe_put(buf, size, len, probe->nr_fields ? "" : "void");
}

char *probe__prototype(const struct probe *probe, char *buf, size_t size)
{
	const struct btf_type *proto = probe_proto(probe);
	char returns[PROBE_TYPE_TEXT] = "void";
	char head[2 * PROBE_TYPE_TEXT + 2];
	size_t len;

	if (!proto && !(probe->kind == PROBE_RAW && probe->btf))
		return NULL;
	if (proto && proto->type) {
		struct type type = type__of(probe->btf, proto->type);

		type__print(&type, returns, sizeof(returns));
	}
	type__declare(returns, probe->func, head, sizeof(head));
	len = probe_put(buf, size, probe_put(buf, size, 0, head), "(");
	if (proto)
		len = probe_put_params(probe->btf, proto, buf, size, len);
	else
		len = probe_put_fields(probe, buf, size, len);
	probe_put(buf, size, len, ")");
	return buf;
}

/* ---- lists ---- */

int probe__add_field(struct probe *probe, const struct probe_field *field)
{
	if (!field->name || GROW_BY_ONE(probe->fields, probe->nr_fields)) {
		probe_field_free(field);
		return -ENOMEM;
	}
	probe->fields[probe->nr_fields++] = *field;
	return 0;
}

int probe_list__add(struct probe_list *list, struct probe *probe)
{
	if (!probe->name || GROW_BY_ONE(list->probes, list->nr)) {
		probe__free(probe);
		return -ENOMEM;
	}
	list->probes[list->nr++] = *probe;
	return 0;
}

int probe_list__add_made(struct probe_list *list, struct probe *probe, int err)
{
	if (!err)
		return probe_list__add(list, probe);
	probe__free(probe);
	return err;
}

void probe_list__free(struct probe_list *list)
{
	while (list->nr)
		probe__free(&list->probes[--list->nr]);
	free(list->probes);
	list->probes = NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* asprintf */
#include "calls/struct_layout.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

enum { LAYOUT_TEXT = 256, LAYOUT_DEPTH_MOST = 8 };

/* ---- from BTF ---- */

/* Strips typedefs and qualifiers; NULL: not a struct with members. */
static const struct btf_type *layout_composite(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = type__plain(btf, id);

	return t && btf_is_composite(t) ? t : NULL;
}

static int layout_add_member(struct struct_layout *layout, const struct struct_member *member)
{
	if (!member->declared)
		return -ENOMEM;
	if (GROW_BY_ONE(layout->members, layout->nr)) {
		free(member->declared);
		return -ENOMEM;
	}
	layout->members[layout->nr++] = *member;
	return 0;
}

static char *layout_declare(const struct btf *btf, uint32_t id, const char *name, uint32_t bits)
{
	struct type type = type__of(btf, id);
	char text[LAYOUT_TEXT], whole[4 * LAYOUT_TEXT];

	type.id = type.kind == TYPE_POINTER ? type.id : id;
	type__print(&type, text, sizeof(text));
	if (bits)
		snprintf(whole, sizeof(whole), "%s %s:%u", text, name, bits);
	else
		type__declare(text, name, whole, sizeof(whole));
	return strdup(whole);
}

static uint64_t layout_bits(const struct btf *btf, const struct btf_type *in, uint16_t nr)
{
	const uint32_t bits = btf_member_bitfield_size(in, nr);
	const int64_t bytes = btf__resolve_size(btf, btf_members(in)[nr].type);

	return bits ? bits : bytes > 0 ? 8 * (uint64_t)bytes : 0;
}

static int layout_walk(struct struct_layout *layout, const struct btf *btf,
		       const struct btf_type *in, uint64_t base_bit, uint32_t depth)
{
	int err = 0;

	for (uint16_t i = 0; !err && i < btf_vlen(in); i++) {
		const struct btf_member *m = &btf_members(in)[i];
		const struct btf_type *inside = m->name_off ? NULL : layout_composite(btf, m->type);
		const char *name = btf__name_by_offset(btf, m->name_off);
		struct struct_member member = {
			.depth = depth,
			.bit = base_bit + btf_member_bit_offset(in, i),
			.bits = layout_bits(btf, in, i),
		};

		if (layout->nr >= STRUCT_MEMBERS_MOST || depth > LAYOUT_DEPTH_MOST) {
			layout->is_cut = true;
			return 0;
		}
		if (inside) /* its members follow */
			member.declared = strdup(btf_is_union(inside) ? "union {" : "struct {");
		else
			member.declared = layout_declare(btf, m->type, name ? name : "",
							 btf_member_bitfield_size(in, i));
		err = layout_add_member(layout, &member);
		if (inside && !err)
			err = layout_walk(layout, btf, inside, member.bit, depth + 1);
	}
	return err;
}

/* ---- the list ---- */

static bool layouts_have(const struct struct_layouts *layouts, const char *name)
{
	for (size_t i = 0; i < layouts->nr; i++)
		if (!strcmp(layouts->layouts[i].name, name))
			return true;
	return false;
}

static int layouts_add(struct struct_layouts *layouts, const struct btf *btf,
		       const struct btf_type *t, const char *name)
{
	struct struct_layout *layout = &layouts->layouts[layouts->nr];

	*layout = (struct struct_layout){ .name = strdup(name), .bytes = t->size };
	if (!layout->name)
		return -ENOMEM;
	layouts->nr++;
	return layout_walk(layout, btf, t, 0, 0);
}

/* The id in btf of the struct that the type is or points to; 0: none. */
static uint32_t layouts_target(const struct type *type)
{
	struct type target = type->kind == TYPE_POINTER ? type__target(type) : *type;

	return target.kind == TYPE_STRUCT && target.btf ? target.id : 0;
}

int struct_layouts__add(struct struct_layouts *layouts, const struct type *type)
{
	const uint32_t id = layouts_target(type);
	const struct btf_type *t = id ? layout_composite(type->btf, id) : NULL;
	char name[LAYOUT_TEXT];
	const char *tag = t ? btf__name_by_offset(type->btf, t->name_off) : NULL;

	if (!tag || !*tag || !btf_vlen(t) || layouts->nr == STRUCT_LAYOUTS_MOST)
		return 0;
	snprintf(name, sizeof(name), "%s %s", btf_is_union(t) ? "union" : "struct", tag);
	return layouts_have(layouts, name) ? 0 : layouts_add(layouts, type->btf, t, name);
}

static int layouts_add_members(struct struct_layouts *layouts, const struct btf *btf,
			       const struct btf_type *in, int depth)
{
	int err = 0;

	for (uint16_t i = 0; !err && depth < LAYOUT_DEPTH_MOST && i < btf_vlen(in); i++) {
		const struct type type = type__of(btf, btf_members(in)[i].type);
		const struct btf_type *t =
			type.kind == TYPE_STRUCT ? layout_composite(btf, type.id) : NULL;

		if (t && t->name_off)
			err = struct_layouts__add(layouts, &type);
		else if (t)
			err = layouts_add_members(layouts, btf, t, depth + 1);
	}
	return err;
}

int struct_layouts__add_inside(struct struct_layouts *layouts, const struct type *type)
{
	const uint32_t id = layouts_target(type);
	const struct btf_type *t = id ? layout_composite(type->btf, id) : NULL;
	int err = struct_layouts__add(layouts, type);

	return err || !t ? err : layouts_add_members(layouts, type->btf, t, 0);
}

void struct_layouts__free(struct struct_layouts *layouts)
{
	for (size_t i = 0; i < layouts->nr; i++) {
		struct struct_layout *layout = &layouts->layouts[i];

		for (size_t m = 0; m < layout->nr; m++)
			free(layout->members[m].declared);
		free(layout->members);
		free(layout->name);
	}
	memset(layouts, 0, sizeof(*layouts));
}

/* ---- of a capture ---- */

void struct_layouts__put(const struct struct_layouts *layouts, struct byte_out *out)
{
	byte_out__varint(out, layouts->nr);
	for (size_t i = 0; i < layouts->nr; i++) {
		const struct struct_layout *layout = &layouts->layouts[i];

		byte_out__text(out, layout->name);
		byte_out__varint(out, layout->bytes);
		byte_out__varint(out, 2 * layout->nr + layout->is_cut);
		for (size_t m = 0; m < layout->nr; m++) {
			byte_out__text(out, layout->members[m].declared);
			byte_out__varint(out, layout->members[m].depth);
			byte_out__varint(out, layout->members[m].bit);
			byte_out__varint(out, layout->members[m].bits);
		}
	}
}

static int member_get(struct struct_layout *layout, struct byte_in *in)
{
	struct struct_member member = { .declared = byte_in__text_new(in) };
	const uint64_t depth = byte_in__varint(in);

	member.depth = (uint32_t)depth;
	member.bit = byte_in__varint(in);
	member.bits = byte_in__varint(in);
	if (!in->bad && depth <= LAYOUT_DEPTH_MOST)
		return layout_add_member(layout, &member);
	free(member.declared);
	return -EBADMSG;
}

static int layout_get(struct struct_layouts *layouts, struct byte_in *in)
{
	struct struct_layout *layout = &layouts->layouts[layouts->nr];
	uint64_t nr;
	int err = 0;

	*layout = (struct struct_layout){ .name = byte_in__text_new(in) };
	if (!layout->name)
		return in->bad ? -EBADMSG : -ENOMEM;
	layouts->nr++;
	layout->bytes = byte_in__varint(in);
	nr = byte_in__varint(in);
	layout->is_cut = nr % 2;
	if (in->bad || nr / 2 > STRUCT_MEMBERS_MOST)
		return -EBADMSG;
	for (uint64_t i = 0; !err && i < nr / 2; i++)
		err = member_get(layout, in);
	return err;
}

int struct_layouts__get(struct struct_layouts *layouts, struct byte_in *in)
{
	const uint64_t nr = byte_in__varint(in);
	int err = in->bad || nr > STRUCT_LAYOUTS_MOST ? -EBADMSG : 0;

	for (uint64_t i = 0; !err && i < nr; i++)
		err = layout_get(layouts, in);
	return err;
}

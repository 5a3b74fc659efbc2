/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * static.c: what Debian 13's libelf.a lacks; linked into the static program only. elfutils 0.192
 * left its inner library out of the archive (sourceware.org, bug 32293): two functions that set up
 * and clear a tree. Only elf_getdata_rawchunk puts something into that tree, and nothing here calls
 * it: if something did, the link would fail for want of eu_tsearch. Until then there is nothing to
 * do, for the tree lies in zeroed memory. Weak: those of a whole libelf.a come first.
 */

void eu_search_tree_init(void *tree);
void eu_search_tree_fini(void *tree, void (*free_node)(void *));

__attribute__((weak)) void eu_search_tree_init(void *tree)
{
	(void)tree;
}

__attribute__((weak)) void eu_search_tree_fini(void *tree, void (*free_node)(void *))
{
	(void)tree;
	(void)free_node;
}

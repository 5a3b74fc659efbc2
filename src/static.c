/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * static.c: what does Debian 13's libelf.a lack? Linked into the static program only. elfutils
 * 0.192 left its inner library out of the archive (sourceware.org, bug 32293): two functions that
 * set up and clear a tree. Only elf_getdata_rawchunk adds to that tree, and nothing here calls it:
 * otherwise the link would fail because eu_tsearch is missing. So there is nothing to do: the tree
 * is in zeroed memory. Weak: the functions of a complete libelf.a take precedence.
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

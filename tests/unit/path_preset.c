/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path_preset.c: does a preset find the functions that a kernel has, and say so if there is none?
 * On machines made of plain files.
 */
#define _GNU_SOURCE
#include "probe/class/path_preset.h"
#include "probe_tree.h"

static const char kallsyms[] = "ffff800080010000 T submit_bio\n"
			       "ffff800080010100 t filemap_get_pages.isra.0\n"
			       "ffff800080010200 T vfs_read\n"
			       "ffff800080010300 t filemap_read.cold\n"
			       "ffff800080010400 T vfs_readahead\n"
			       "ffff800080010500 t read_pages.part.0\n"
			       "ffff800080010600 t read_pages\n"
			       "ffff800080010700 t io_schedule\n"
			       "ffff800080010800 t mpage_readahead.constprop.0\n"
			       "ffff800080010900 t nvme_irq\t[nvme]\n";

static const char traceable[] =
	"submit_bio\nfilemap_get_pages.isra.0\nvfs_read\nvfs_readahead\nread_pages.part.0\n"
	"read_pages\nmpage_readahead.constprop.0\nnvme_irq [nvme]\n";

/* Names with blanks between them, or the error. What is said is not of interest. */
static const char *names_of(const char *word)
{
	static char text[1024];
	struct finder *finder = finder__new_at(tree);
	char **names = NULL;
	size_t nr = 0, len = 0;
	int err = path_preset__find(finder, word, &names, &nr);

	text[0] = 0;
	if (err)
		snprintf(text, sizeof(text), "%s", strerrorname_np(-err));
	for (size_t i = 0; !err && i < nr; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
					names[i]);
		free(names[i]);
	}
	if (!err)
		free(names);
	finder__free(finder);
	return text;
}

int main(void)
{
	if (!mkdtemp(tree))
		return 1;
	tree_put("/sys/kernel/tracing/available_events", "");
	tree_put("/sys/kernel/tracing/available_filter_functions", traceable);
	tree_put("/proc/kallsyms", kallsyms);
	is_str(names_of("read"), "vfs_read read_pages submit_bio",
	       "those that are here and can be attached as they are, the upper ones first");
	is_str(names_of("nvme-complete"), "nvme_irq", "of a module, too");
	is_str(names_of("write"), "submit_bio", "the end of a way may be all there is");
	tree_put("/proc/kallsyms", "ffff800080010200 T vfs_read\n");
	is_str(names_of("nvme-submit"), "EOPNOTSUPP", "none: it cannot be done here");
	for (int i = 0; path_preset__words[i]; i++)
		ok(*names_of(path_preset__words[i]), "%s is known", path_preset__words[i]);
	tree_remove("");
	return done_testing();
}

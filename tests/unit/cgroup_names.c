/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cgroup_names.c: which unit, container and pod does a path name? Paths are those that systemd and
 * the container runtimes make, and those that a container or a user could make to be taken for
 * another.
 */
#include "decode/cgroup_names.h"
#include "serve/pods.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tap.h"

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2  "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID  "8d2b6e0c-1111-2222-3333-444455556666"
#define UID_ "8d2b6e0c_1111_2222_3333_444455556666"

static const struct {
	const char *path, *unit, *container, *pod;
} paths[] = {
	{ "/", "", "", "" },
	{ "cgroup-1234", "", "", "" },
	{ "/system.slice/nginx.service", "nginx.service", "", "" },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", "", "" },
	{ "/system.slice/var-lib.mount", "var-lib.mount", "", "" },
	{ "/system.slice", "system.slice", "", "" },
	{ "/init.scope", "init.scope", "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service",
	  "user@1000.service", "", "" },
	{ "/system.slice/_cpu.service/inner.service", "cpu.service", "", "" },
	{ "/system.slice/.service", "system.slice", "", "" },
	/* systemd's and cgroupfs's shapes */
	{ "/system.slice/docker-" ID ".scope", "docker-" ID ".scope", ID, "" },
	{ "/docker/" ID, "", ID, "" },
	{ "/docker/" ID "/init.scope", "init.scope", ID, "" },
	{ "/machine.slice/libpod-" ID ".scope/container", "libpod-" ID ".scope", ID, "" },
	{ "/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope", "", "" },
	{ "/libpod_parent/libpod-" ID, "", ID, "" },
	{ "/user.slice/user-1.slice/user@1.service/user.slice/libpod-" ID ".scope",
	  "user@1.service", ID, "" },
	{ "/default/" ID, "", ID, "" },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	  ".slice/cri-containerd-" ID ".scope",
	  "cri-containerd-" ID ".scope", ID, UID },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope", "crio-" ID ".scope", ID,
	  UID },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID ".scope",
	  "crio-conmon-" ID ".scope", "", "" },
	{ "/kubepods/besteffort/pod" UID "/" ID, "", ID, UID },
	{ "/kubepods/pod0123456789abcdef0123456789abcdef/" ID, "", ID,
	  "0123456789abcdef0123456789abcdef" },
	{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_
	  ".slice:cri-containerd:" ID,
	  "containerd.service", ID, "" },
	{ "/kubepods/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID, "", ID, UID },
	{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
	  ".slice/cri-containerd-" ID ".scope",
	  "cri-containerd-" ID ".scope", ID, UID },
	/* the outermost container counts; what is in it may have any name */
	{ "/docker/" ID "/kubepods/pod" UID "/" ID2, "", ID, "" },
	{ "/docker/" ID "/docker/" ID2, "", ID, "" },
	/* a user's cgroups are in no pod */
	{ "/user.slice/user-1.slice/user@1.service/kubepods/pod" UID "/" ID, "user@1.service", ID,
	  "" },
	/* ids that are none */
	{ "/docker/" ID "0", "", "", "" },
	{ "/docker/x" ID, "", "", "" },
	{ "/docker/0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef", "", "", "" },
	{ "/docker/0123456789abcdef", "", "", "" },
	{ "/kubepods/pod" UID, "", "", "" },
	{ "/kubepods/pod1234/" ID, "", ID, "" },
	{ "//docker//" ID "/", "", ID, "" },
};

static void test_paths(void)
{
	struct cgroup_names n;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		cgroup_names__find(&n, paths[i].path);
		is_str(n.unit, paths[i].unit, paths[i].path);
		is_str(n.container, paths[i].container, "its container");
		is_str(n.pod, paths[i].pod, "its pod");
	}
}

static void test_long(void)
{
	static char path[8192];
	struct cgroup_names n;

	memset(path, 'a', sizeof(path) - 1);
	memcpy(path, "/", 1);
	memcpy(path + 6000, ".service", 8);
	memset(path + 6008, 0, 1);
	cgroup_names__find(&n, path);
	is_u64(strlen(n.unit), sizeof(n.unit) - 1, "a name that is too long is cut");
}

/* ---- links ---- */

static void test_links(void)
{
	static const char *const bad[] = {
		"",
		".log",
		"web_shop_nginx-" ID,
		"web_shop_nginx-" ID ".txt",
		"web_shop_nginx" ID ".log",
		"web_shop_" ID ".log",
		"web_shop_-" ID ".log",
		"web_nginx-" ID ".log",
		"_shop_nginx-" ID ".log",
		"web__nginx-" ID ".log",
		"web_shop_a_b-" ID ".log",
		"web\"_shop_nginx-" ID ".log",
		"web_sh\nop_nginx-" ID ".log",
		"web_shop_NGINX-" ID ".log",
		"web_shop_nginx-0" ID ".log",
		"web_shop_nginx:" ID ".log",
		"web_shop_nginx-" ID ".scope.log",
		"web_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_nginx-" ID
		".log",
	};
	struct pod_link link;

	ok(pod_link__parse(&link, "web-0.a_shop_conmon-" ID ".log"), "a link");
	is_str(link.pod, "web-0.a", "its pod");
	is_str(link.namespace, "shop", "its namespace");
	is_str(link.container, "conmon", "its container");
	is_str(link.id, ID, "its id");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!pod_link__parse(&link, bad[i]), "bad name %zu is no link", i);
}

static void make_link(const char *directory, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (symlink("/nowhere", path))
		ok(false, "no link %s", path);
}

static void remove_link(const char *directory, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	unlink(path);
}

/* Links that lead nowhere: only their names count. One that appears later is found then. */
static void test_directory(void)
{
	char directory[] = "/tmp/iosonar-pods.XXXXXX";
	struct pods pods = { .directory = directory };
	const struct pod_link *link;

	if (!mkdtemp(directory)) {
		ok(false, "no directory");
		return;
	}
	make_link(directory, "web_shop_nginx-" ID ".log");
	make_link(directory, "nonsense");
	link = pods__find(&pods, ID);
	is_str(link ? link->pod : "", "web", "the pod of a container");
	ok(!pods__find(&pods, ID2), "another one is unknown");
	make_link(directory, "db_shop_sql-" ID2 ".log");
	ok(!pods__find(&pods, ID2), "the directory is read once in a reading");
	pods__begin(&pods);
	link = pods__find(&pods, ID2);
	is_str(link ? link->container : "", "sql", "the next one finds it");
	remove_link(directory, "web_shop_nginx-" ID ".log");
	remove_link(directory, "db_shop_sql-" ID2 ".log");
	remove_link(directory, "nonsense");
	rmdir(directory);
	pods__begin(&pods);
	ok(pods__find(&pods, ID) && !pods__find(&pods, "x"), "without a directory: what was known");
	pods__free(&pods);
}

int main(void)
{
	test_paths();
	test_long();
	test_links();
	test_directory();
	return done_testing();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_host.c: is a request answered only if its Host is a name of this machine, and does each
 * head get the answer it should, whatever is in it?
 */
#include "serve/answer.h"
#include "tap.h"

static const char *const names[] = { "Store1.example.org", "[2001:db8::1]" };
static const struct host_list loopback = { NULL, 0, false };
static const struct host_list named = { names, 2, false };
static const struct host_list any = { NULL, 0, true };

static void test_hosts(void)
{
	static const char *const good[] = {
		"localhost", "LocalHost:9936", "127.0.0.1",	      "127.0.0.1:9936",
		"127.1.2.3", "[::1]",	       "[0:0:0:0:0:0:0:1]:1", "localhost:65535",
	};
	static const char *const bad[] = {
		"",
		"evil.example.org",
		"localhost.evil.example.org",
		"evil.example.org:9936",
		"127.0.0.1.evil.example.org",
		"localhost:",
		"localhost:80:80",
		"localhost:123456",
		"localhost:9936x",
		"localhost:-1",
		" localhost",
		"localhost ",
		"localhost\t",
		"localhost@evil",
		"evil@localhost",
		"localhost/",
		"localhost.",
		"localhost,evil",
		"http://localhost",
		"128.0.0.1",
		"0.0.0.0",
		"127.1",
		"0x7f000001",
		"2130706433",
		"[::]",
		"[::2]",
		"::1",
		"[::1",
		"[]",
		"[::1]x",
		"[::ffff:127.0.0.1]",
		"[::1%lo]",
		"Store1.example.org",
		":9936",
		"\xff\xfe",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(host_list__allows(&loopback, good[i]), "allowed: %s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!host_list__allows(&loopback, bad[i]), "refused: case %zu", i);
	ok(!host_list__allows(&loopback, NULL), "none at all is refused");
}

static void test_names(void)
{
	char longest[300];

	ok(host_list__allows(&named, "store1.EXAMPLE.org"), "a name of --allow-host, in any case");
	ok(host_list__allows(&named, "store1.example.org:9936"), "with a port");
	ok(host_list__allows(&named, "[2001:DB8::1]:80"), "an address");
	ok(host_list__allows(&named, "localhost"), "localhost still is");
	ok(!host_list__allows(&named, "store2.example.org"), "another name is not");
	ok(!host_list__allows(&named, "store1.example.or"), "nor a part of one");
	ok(host_list__allows(&any, NULL) && host_list__allows(&any, "evil"),
	   "a unix socket asks nobody");
	memset(longest, 'a', sizeof(longest));
	longest[299] = 0;
	ok(!host_list__allows(&named, longest), "a name longer than DNS has");
	ok(host__is_name("a-b.c_d") && host__is_name("10.0.0.1") && host__is_name("[fe80::1]"),
	   "what --allow-host takes");
	ok(!host__is_name("") && !host__is_name("a:80") && !host__is_name("a b") &&
		   !host__is_name("*") && !host__is_name("http://a") && !host__is_name(longest),
	   "and what not");
}

static unsigned int status_of(const char *method, const char *path, const char *version,
			      const char *host)
{
	const struct answer_head head = { method, path, version, host, 1, false, NULL };

	return answer__of(&head, &loopback).status;
}

static void test_answers(void)
{
	static const char *const nowhere[] = {
		"/metrics/",
		"//metrics",
		"/Metrics",
		"/metrics%00",
		"/%6detrics",
		"/../metrics",
		"/./metrics",
		"/metrics/../healthz",
		"metrics",
		"*",
		"",
		"http://localhost/metrics",
		"/etc/passwd",
		"/metrics;x",
		"/\xff",
		"/metrics\\",
		"/healthz/../",
		"/..%2f",
		"/index.html",
		"/favicon.ico",
		"/api",
		"/api/",
		"/api/Events",
		"/api/events/",
		"/api/../metrics",
	};
	struct answer_head head = { "GET", "/metrics", "HTTP/1.1", "localhost", 1, false, NULL };

	ok(answer__of(&head, &loopback).page == ANSWER_METRICS, "the metrics");
	is_u64(status_of("HEAD", "/metrics", "HTTP/1.0", "localhost"), 200, "HEAD, HTTP/1.0");
	is_str(answer__of(&(struct answer_head){ "GET", "/healthz", "HTTP/1.1", "[::1]", 1, false,
						 NULL },
			  &loopback)
		       .text,
	       "ok\n", "healthz");
	is_u64(status_of("GET", "/", "HTTP/1.1", "localhost"), 200, "the page");
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
		is_u64(status_of("GET", nowhere[i], "HTTP/1.1", "localhost"), 404, nowhere[i]);
	is_u64(status_of("POST", "/metrics", "HTTP/1.1", "localhost"), 405, "POST");
	is_u64(status_of("get", "/metrics", "HTTP/1.1", "localhost"), 405, "methods have a case");
	is_u64(status_of("GET", "/metrics", "HTTP/1.1", "evil"), 403, "another Host");
	is_u64(status_of("POST", "/x", "HTTP/1.1", "evil"), 403, "learns nothing else");
	is_u64(status_of("GET", "/metrics", "HTTP/0.9", "localhost"), 400, "HTTP/0.9");
	is_u64(status_of("GET", "/metrics", "HTTP/2.0", "localhost"), 400, "HTTP/2.0");
	is_u64(status_of("GET", "/metrics", NULL, "localhost"), 400, "no version");
	head.nr_hosts = 2;
	is_u64(answer__of(&head, &loopback).status, 400, "two Hosts");
	head.nr_hosts = 1;
	head.has_body = true;
	is_u64(answer__of(&head, &loopback).status, 400, "a body");
}

static unsigned int status_for(const char *path, const char *site)
{
	const struct answer_head head = { "GET", path, "HTTP/1.1", "localhost", 1, false, site };

	return answer__of(&head, &loopback).status;
}

static void test_sites(void)
{
	static const char *const paths[] = { "/metrics",     "/healthz",     "/api/events",
					     "/api/latency", "/api/devices", "/api/ledger" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		ok(status_for(paths[i], "same-origin") == 200, "%s: for our page", paths[i]);
		ok(status_for(paths[i], "none") == 200, "%s: typed by a user", paths[i]);
		ok(status_for(paths[i], "cross-site") == 403, "%s: another site", paths[i]);
		ok(status_for(paths[i], "same-site") == 403, "%s: a port beside", paths[i]);
		ok(status_for(paths[i], "") == 403, "%s: nothing that is known", paths[i]);
	}
	is_u64(status_for("/", "cross-site"), 200, "a link to the page");
}

int main(void)
{
	test_hosts();
	test_names();
	test_answers();
	test_sites();
	return done_testing();
}

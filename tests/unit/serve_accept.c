/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_accept.c: does each Accept get the text format that it names or prefers, and every other
 * one the older format? Beside it: what --listen takes.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "serve/accept.h"
#include "serve/listen.h"
#include "tap.h"

#define OPEN "application/openmetrics-text"

static void test_formats(void)
{
	static const char *const open[] = {
		OPEN,
		OPEN ";version=1.0.0",
		OPEN "; version=1.0.0; charset=utf-8",
		/* Prometheus 2.42, 2.55 and 3.5 */
		OPEN ";version=1.0.0," OPEN
		     ";version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		OPEN ";version=1.0.0;q=0.5," OPEN
		     ";version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding="
		 "delimited;q=0.7," OPEN ";version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3"),
		"text/plain;q=0.9 , Application/OpenMetrics-Text ; version=1.0.0",
		"text/plain," OPEN,
	};
	static const char *const plain[] = {
		"",
		"*/*",
		"text/plain",
		"text/html,application/xhtml+xml,*/*;q=0.8",
		OPEN ";version=0.0.1",
		OPEN ";version=2.0.0",
		OPEN ";q=0",
		OPEN ";q=0.000",
		OPEN ";q=1.5",
		OPEN ";q=x",
		OPEN ";q=",
		OPEN ";q=0.1234",
		OPEN ";version=1.0.0;q=0.5,text/plain;q=0.6",
		OPEN "x",
		"x" OPEN,
		",,,;;;,q=1",
		";" OPEN,
	};

	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		ok(accept__format(open[i]) == OPENMETRICS_1_0, "OpenMetrics: %s", open[i]);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		ok(accept__format(plain[i]) == OPENMETRICS_TEXT_0_0_4, "plain text: '%s'",
		   plain[i]);
	ok(accept__format(NULL) == OPENMETRICS_TEXT_0_0_4, "no Accept: plain text");
	is_str(accept__content_type(OPENMETRICS_TEXT_0_0_4),
	       "text/plain; version=0.0.4; charset=utf-8", "the type of plain text");
	is_str(accept__content_type(OPENMETRICS_1_0), OPEN "; version=1.0.0; charset=utf-8",
	       "and of OpenMetrics");
}

static void test_encodings(void)
{
	static const char *const zips[] = { "gzip", "GZip;q=0.001", "deflate, gzip, br",
					    "identity;q=0.5 , gzip ; q=1.0", "br;q=1,gzip" };
	static const char *const plain[] = {
		"",	      "identity", "gzip;q=0", "*",	   "gzip;q=0.000", "deflate",
		"xgzip, gzi", "gzip;q=x", "gzip;q=",  "x;gzip,,;", "gzip;q=0,gzip"
	};

	for (size_t i = 0; i < sizeof(zips) / sizeof(zips[0]); i++)
		ok(accept__zips(zips[i]), "gzip: %s", zips[i]);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		ok(!accept__zips(plain[i]), "plain: '%s'", plain[i]);
	ok(!accept__zips(NULL), "no Accept-Encoding: plain");
}

static void test_addresses(void)
{
	static const struct {
		const char *text, *shown;
		bool local;
	} good[] = {
		{ "127.0.0.1:9936", "http://127.0.0.1:9936", true },
		{ "localhost:0", "http://127.0.0.1:0", true },
		{ "127.9.9.9:65535", "http://127.9.9.9:65535", true },
		{ "0.0.0.0:80", "http://0.0.0.0:80", false },
		{ "10.0.0.1:80", "http://10.0.0.1:80", false },
		{ "[::1]:9936", "http://[::1]:9936", true },
		{ "[::]:9936", "http://[::]:9936", false },
		{ "[2001:db8::1]:9936", "http://[2001:db8::1]:9936", false },
		{ "unix:/run/x", "unix:/run/x", true },
	};
	static const char *const bad[] = {
		"",
		":",
		":9936",
		"9936",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:65536",
		"127.0.0.1:-1",
		"127.0.0.1:9936x",
		"127.0.0.1: 1",
		"::1:9936",
		"[::1]",
		"[::1:9936",
		"[]:9936",
		"store1:9936",
		"256.0.0.1:1",
		"http://127.0.0.1:9936",
		"unix:",
		"127.0.0.1:000001",
	};
	struct listen_address address;
	char text[160], path[200] = "unix:";

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ok(!listen_address__parse(&address, good[i].text), "taken: %s", good[i].text);
		is_str(listen_address__text(&address, text, sizeof(text)), good[i].shown, "as");
		ok(listen_address__is_local(&address) == good[i].local, "local or not");
	}
	fclose(stderr);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(listen_address__parse(&address, bad[i]) == -EINVAL, "refused: '%s'", bad[i]);
	memset(path + 5, 'x', 120);
	ok(listen_address__parse(&address, path) == -EINVAL, "a path that is too long");
}

/* The socket of an earlier run is replaced; one that is in use is not. */
static void test_unix(void)
{
	char text[] = "unix:/tmp/iosonar-serve-unit.XXXXXX";
	struct listen_address address, other;
	int fd, second;

	ok(mkstemp(text + 5) >= 0, "a name");
	unlink(text + 5);
	listen_address__parse(&address, text);
	other = address;
	fd = listen__open(&address);
	ok(fd >= 0 && listen_address__is_unix(&address), "a unix socket listens");
	ok(listen__open(&other) == -EADDRINUSE, "its path is taken");
	close(fd);
	listen_address__parse(&other, text);
	second = listen__open(&other);
	ok(second >= 0, "after its end it is replaced");
	close(second);
	unlink(text + 5);
	ok(listen__inherit(&address) == -ENOENT, "systemd passed nothing");
}

int main(void)
{
	test_formats();
	test_encodings();
	test_addresses();
	test_unix();
	return done_testing();
}

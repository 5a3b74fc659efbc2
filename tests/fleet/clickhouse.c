/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clickhouse.c: `clickhouse --path=DIR`: ClickHouse as the library libchdb. It reads statements
 * from standard input, each ended by a NUL, and answers each with '+' and its rows as CSV, or with
 * '-' and the error, ended by a NUL. engines.t builds it, for x86_64.
 */
#include <stdio.h>
#include <stdlib.h>

/* From chdb.h, which the npm package lacks. */
typedef struct chdb_connection_ *chdb_connection;
typedef struct chdb_result_ chdb_result;
chdb_connection *chdb_connect(int argc, char **argv);
void chdb_close_conn(chdb_connection *connection);
chdb_result *chdb_query(chdb_connection connection, const char *query, const char *format);
char *chdb_result_buffer(chdb_result *result);
size_t chdb_result_length(chdb_result *result);
const char *chdb_result_error(chdb_result *result);
void chdb_destroy_query_result(chdb_result *result);

static void answer(chdb_connection connection, const char *statement)
{
	chdb_result *result = chdb_query(connection, statement, "CSV");
	const char *error = chdb_result_error(result);

	if (error)
		printf("-%s", error);
	else {
		putchar('+');
		fwrite(chdb_result_buffer(result), 1, chdb_result_length(result), stdout);
	}
	putchar(0);
	fflush(stdout);
	chdb_destroy_query_result(result);
}

int main(int argc, char **argv)
{
	chdb_connection *connection = chdb_connect(argc, argv);
	char *statement = NULL;
	size_t size = 0;

	if (!connection)
		return 1;
	while (getdelim(&statement, &size, 0, stdin) > 0)
		answer(*connection, statement);
	free(statement);
	chdb_close_conn(connection);
	return 0;
}

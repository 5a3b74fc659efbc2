// SPDX-License-Identifier: BSD-2-Clause
// duckdb.js: DuckDB, in memory. It reads statements from standard input, each ended by a NUL, and answers each with '+' and its
// rows as CSV, or with '-' and the error, ended by a NUL. NODE_PATH has @duckdb/node-api.
const { DuckDBInstance } = require('@duckdb/node-api');

const quoted = (value) => (typeof value === 'string' ? `"${value.replaceAll('"', '""')}"` : (value ?? ''));

async function answer(db, statement) {
	try {
		const rows = (await db.runAndReadAll(statement)).getRows();
		return '+' + rows.map((row) => row.map(quoted).join(',') + '\n').join('');
	} catch (error) {
		return '-' + error.message;
	}
}

(async () => {
	const db = await (await DuckDBInstance.create(':memory:')).connect();
	let rest = '';
	process.stdin.setEncoding('utf8');
	for await (const piece of process.stdin) {
		const statements = (rest + piece).split('\0');
		rest = statements.pop();
		for (const statement of statements)
			process.stdout.write((await answer(db, statement)) + '\0');
	}
})();

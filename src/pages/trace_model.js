// SPDX-License-Identifier: BSD-2-Clause
//
// trace_model.js: what is known of a trace, as src/trace_model.c wrote it: columns of numbers, a row for each call. Who is
// inside whom, what changed of which object, which rows a filter lets through, sums by function, ways of objects. Draws
// nothing; everything is one pass over typed arrays, so that 200,000 calls are filtered between two keystrokes.
'use strict';

const trace = (() => {
	const raw = JSON.parse(document.getElementById('trace').textContent);
	const {functions, members, layouts, tasks: rawTasks} = raw;
	const strings = raw.strings.map(page.plain);
	for (const f of functions) {
		f.name = page.plain(f.name);
		f.prototype = f.prototype && page.plain(f.prototype);
		f.arguments = f.arguments.map(page.plain);
	}
	const nr = raw.calls.start.length;
	const nrMembers = members.length;

	// ---- columns ----

	const ints = name => Int32Array.from(raw.calls[name]);
	const start = Float64Array.from(raw.calls.start);
	for (let i = 1; i < nr; i++)
		start[i] += start[i - 1];
	const duration = Float64Array.from(raw.calls.duration);
	const fn = ints('function'), cpu = ints('cpu'), task = ints('task'), depth = ints('depth');
	const object = ints('object'), ret = ints('ret'), entered = ints('entered'), left = ints('left');
	const enteredLife = ints('entered_life'), leftLife = ints('left_life');
	const args = Int32Array.from(raw.calls.args);
	const snapshots = Int32Array.from(raw.snapshots);
	const argsAt = new Int32Array(nr + 1);
	for (let i = 0; i < nr; i++)
		argsAt[i + 1] = argsAt[i] + functions[fn[i]].arguments.length;
	raw.calls = raw.snapshots = raw.strings = null;

	const tasks = [];
	for (let i = 0; i < rawTasks.length; i += 3)
		tasks.push({pid: rawTasks[i], tid: rawTasks[i + 1], comm: strings[rawTasks[i + 2]]});
	for (const t of tasks)
		t.label = `${t.comm} [${t.pid}]`;

	const lives = [];
	for (let i = 0; i < raw.lives.length; i += 3) {
		const flags = raw.lives[i + 2];
		lives.push({number: raw.lives[i], address: strings[raw.lives[i + 1]], born: !!(flags & 1), dead: !!(flags & 2),
			whole: !!(flags & 4), wanted: !!(flags & 8), steps: 0});
	}

	// How often each number is there.
	function tally(column, size) {
		const counts = new Int32Array(size);
		for (let i = 0; i < nr; i++)
			counts[column[i]]++;
		return counts;
	}

	const cpus = [...new Set(cpu)].sort((a, b) => a - b);

	// ---- who is inside whom ----

	const parent = new Int32Array(nr).fill(-1); // -1: in none
	const children = new Int32Array(nr);
	const self = Float64Array.from(duration); // -1: not known
	(() => {
		const open = [];
		for (let i = 0; i < nr; i++) {
			const level = Math.min(depth[i], open.length);
			open.length = level;
			if (level) {
				parent[i] = open[level - 1];
				children[parent[i]]++;
				if (duration[i] >= 0 && duration[parent[i]] >= 0)
					self[parent[i]] = Math.max(0, self[parent[i]] - duration[i]);
			}
			open.push(i);
		}
	})();

	let endNs = 0;
	for (let i = 0; i < nr; i++)
		endNs = Math.max(endNs, start[i] + Math.max(0, duration[i]));
	const startNs = nr ? start[0] : 0; // trees are in order of time

	// ---- types, as the prototype has them ----

	// "struct bio *bio, void (*fn)(int)": at commas that are in no bracket.
	function splitParameters(text) {
		const parts = [];
		let open = 0, from = 0;
		for (let i = 0; i < text.length; i++) {
			open += (text[i] === '(') - (text[i] === ')');
			if (text[i] === ',' && !open) {
				parts.push(text.slice(from, i).trim());
				from = i + 1;
			}
		}
		return [...parts, text.slice(from).trim()];
	}

	function parseParameter(text) {
		const pointer = text.match(/^(.*\(\*)(\w+)(\).*)$/);
		if (pointer)
			return {name: pointer[2], type: pointer[1] + pointer[3]};
		const plain = text.match(/^(.*?)(\w+)(\[\d*\])?$/);
		return plain ? {name: plain[2], type: plain[1].trim() + (plain[3] ?? '')} : {name: '', type: text};
	}

	for (const f of functions) {
		const at = f.prototype ? f.prototype.indexOf(`${f.name}(`) : -1;
		const known = at < 0 ? [] : splitParameters(f.prototype.slice(at + f.name.length + 1).replace(/\)$/, '')).map(parseParameter);
		f.types = f.arguments.map(name => known.find(p => p.name === name)?.type ?? '');
		f.returnType = at < 0 ? '' : f.prototype.slice(0, at).trim();
	}

	// ---- what changed: records of the same object, in order of time ----

	const before = new Int32Array(nr).fill(-1); // the snapshot before its entry
	const changed = new Int32Array(nr); // bits: members that differ, up to its entry or by it
	const lifeStart = new Int32Array(lives.length + 1); // of each life in steps
	let steps = new Int32Array(0); // 2 * row + 1 at its return, by life, by time

	const stepTime = step => start[step >> 1] + (step & 1 ? duration[step >> 1] : 0);

	function countSteps(each) {
		for (let i = 0; i < nr; i++) {
			if (enteredLife[i] >= 0)
				each(enteredLife[i], 2 * i);
			if (leftLife[i] >= 0 && duration[i] >= 0)
				each(leftLife[i], 2 * i + 1);
		}
	}

	function sortSteps() {
		countSteps(life => lifeStart[life + 1]++);
		for (let i = 0; i < lives.length; i++)
			lifeStart[i + 1] += lifeStart[i];
		const at = lifeStart.slice();
		steps = new Int32Array(lifeStart[lives.length]);
		countSteps((life, step) => {
			steps[at[life]++] = step;
		});
		for (let i = 0; i < lives.length; i++) {
			lives[i].steps = lifeStart[i + 1] - lifeStart[i];
			steps.subarray(lifeStart[i], lifeStart[i + 1]).sort((a, b) => stepTime(a) - stepTime(b) || a - b);
		}
	}

	function difference(a, b) {
		let bits = 0;
		if (a < 0 || b < 0 || a === b)
			return 0;
		for (let m = 0; m < nrMembers; m++)
			if (snapshots[a * nrMembers + m] !== snapshots[b * nrMembers + m])
				bits |= 1 << m;
		return bits;
	}

	function findChanges() {
		for (let life = 0; life < lives.length; life++) {
			let known = -1;
			for (let s = lifeStart[life]; s < lifeStart[life + 1]; s++) {
				const row = steps[s] >> 1, now = steps[s] & 1 ? left[row] : entered[row];
				if (!(steps[s] & 1))
					before[row] = known;
				if (now >= 0)
					known = now;
			}
		}
		for (let i = 0; i < nr; i++)
			changed[i] = difference(before[i], entered[i]) | difference(entered[i], returned(i));
	}

	// What it was when the call returned; -1: not known.
	function returned(row) {
		return leftLife[row] >= 0 ? left[row] : -1;
	}

	sortSteps();
	findChanges();

	const hasData = row => entered[row] >= 0 || returned(row) >= 0;
	const lifeOf = row => enteredLife[row] >= 0 ? enteredLife[row] : leftLife[row];
	const stepsOf = life => steps.subarray(lifeStart[life], lifeStart[life + 1]);
	const value = (snapshot, member) => strings[snapshots[snapshot * nrMembers + member]];

	// Each member: before the call, at its entry, at its return; null: not known.
	function membersOf(row) {
		const at = snapshot => m => snapshot < 0 ? null : value(snapshot, m);
		const was = at(before[row]), now = at(entered[row]), then = at(returned(row));
		return members.map((member, m) => ({...member, before: was(m), entered: now(m), left: then(m)}));
	}

	// "bi_size 0 → 4096": what is told of a row in a line.
	function changesOf(row) {
		const list = [];
		for (let m = 0; m < nrMembers; m++) {
			if (!(changed[row] & 1 << m))
				continue;
			const then = returned(row), from = difference(entered[row], then) & 1 << m ? entered[row] : before[row];
			list.push({name: members[m].name, from: value(from, m), to: value(from === entered[row] ? then : entered[row], m)});
		}
		return list;
	}

	// ---- texts ----

	const argument = (row, i) => strings[args[argsAt[row] + i]];
	const argumentsText = row => functions[fn[row]].arguments.map((name, i) => `${name}=${argument(row, i)}`).join(' ');
	const retText = row => ret[row] < 0 ? null : strings[ret[row]];
	const objectText = row => object[row] < 0 ? null : strings[object[row]];

	let texts = null; // of all rows, made when somebody searches

	function rowText(row) {
		const returns = ret[row] < 0 ? '' : ` = ${strings[ret[row]]}`;
		const changes = changed[row] ? changesOf(row).map(c => `${c.name} ${c.from} ${c.to}`).join(' ') : '';
		return `${tasks[task[row]].label} ${functions[fn[row]].name}(${argumentsText(row)})${returns} ${objectText(row) ?? ''} ${changes}`
			.toLowerCase();
	}

	// ---- filters ----

	// {search, cpus: Set or null, task, function, object, member, min, max, from, to, data}: what is null asks for nothing.
	function filter(wants, keep = new Uint8Array(nr).fill(1)) {
		const drop = test => {
			for (let i = 0; i < nr; i++)
				if (keep[i] && !test(i))
					keep[i] = 0;
		};
		if (wants.cpus)
			drop(i => wants.cpus.has(cpu[i]));
		if (wants.task !== null) {
			const is = tasks.map(t => t.label === wants.task);
			drop(i => is[task[i]]);
		}
		if (wants.function !== null) {
			const is = functions.map(f => f.name === wants.function);
			drop(i => is[fn[i]]);
		}
		if (wants.object !== null) {
			const life = lives.findIndex(l => l.number === wants.object);
			drop(i => life >= 0 && (enteredLife[i] === life || leftLife[i] === life));
		}
		if (wants.member !== null) {
			const bit = members.findIndex(m => m.path === wants.member);
			drop(i => bit >= 0 && changed[i] & 1 << bit);
		}
		if (wants.min !== null)
			drop(i => duration[i] >= wants.min);
		if (wants.max !== null)
			drop(i => duration[i] >= 0 && duration[i] <= wants.max);
		if (wants.data)
			drop(hasData);
		if (wants.from !== null)
			drop(i => start[i] >= wants.from);
		if (wants.to !== null)
			drop(i => start[i] < wants.to);
		if (wants.search) {
			const word = wants.search.toLowerCase();
			texts ??= Array.from({length: nr}, (_, i) => rowText(i));
			drop(i => texts[i].includes(word));
		}
		return keep;
	}

	// Rows by the time they were entered; trees are in that order, but what is inside them is not.
	let timeOrder = null;

	function byTime() {
		timeOrder ??= Int32Array.from({length: nr}, (_, i) => i).sort((a, b) => start[a] - start[b] || a - b);
		return timeOrder;
	}

	// Rows that are kept and inside nothing that is folded.
	function visible(keep, folded, inOrderOfTime) {
		const hidden = new Uint8Array(nr);
		const list = new Int32Array(nr);
		let count = 0;
		for (let i = 0; i < nr; i++)
			hidden[i] = parent[i] >= 0 && (hidden[parent[i]] || folded[parent[i]]) ? 1 : 0;
		const order = inOrderOfTime ? byTime() : null;
		for (let n = 0; n < nr; n++) {
			const i = order ? order[n] : n;
			if (keep[i] && !hidden[i])
				list[count++] = i;
		}
		return list.subarray(0, count);
	}

	// ---- sums ----

	// The value that this percentage of the values does not exceed.
	const percentile = (sorted, percent) => sorted.length ? sorted[Math.max(0, Math.ceil(sorted.length * percent / 100) - 1)] : null;

	function summary(times) {
		const sorted = Float64Array.from(times).sort();
		return {
			total_ns: sorted.length ? sorted.reduce((sum, ns) => sum + ns, 0) : null,
			avg_ns: sorted.length ? sorted.reduce((sum, ns) => sum + ns, 0) / sorted.length : null,
			p50_ns: percentile(sorted, 50), p99_ns: percentile(sorted, 99), max_ns: sorted.length ? sorted[sorted.length - 1] : null,
		};
	}

	function statistics(keep) {
		const sums = functions.map(f => ({name: f.name, module: f.module, count: 0, self_ns: null, times: []}));
		for (let i = 0; i < nr; i++) {
			if (!keep[i])
				continue;
			const sum = sums[fn[i]];
			sum.count++;
			if (duration[i] < 0)
				continue;
			sum.times.push(duration[i]);
			sum.self_ns += self[i];
		}
		return sums.filter(sum => sum.count).map(({times, ...sum}) => ({...sum, ...summary(times)}));
	}

	// ---- ways: from one function to the next ----

	function addEdge(edges, from, to, ns) {
		const key = from * functions.length + to;
		if (!edges.has(key))
			edges.set(key, {from, to, count: 0, times: []});
		const edge = edges.get(key);
		edge.count++;
		if (ns >= 0)
			edge.times.push(ns);
	}

	// Of objects that some row is about: who had it in hand, and who next, as `class` counts it.
	function objectEdges(keep, edges) {
		const asked = new Uint8Array(lives.length);
		for (let i = 0; i < nr; i++)
			if (keep[i])
				for (const life of [enteredLife[i], leftLife[i]])
					if (life >= 0)
						asked[life] = 1;
		for (let life = 0; life < lives.length; life++) {
			let last = -1;
			if (!asked[life] || !lives[life].whole || !lives[life].wanted)
				continue;
			for (const step of stepsOf(life)) {
				if (step & 1 && functions[fn[step >> 1]].birth !== 2)
					continue;
				if (last >= 0)
					addEdge(edges, fn[last >> 1], fn[step >> 1], stepTime(step) - stepTime(last));
				last = step;
			}
		}
	}

	// Without objects: who called whom.
	function callEdges(keep, edges) {
		for (let i = 0; i < nr; i++)
			if (keep[i] && parent[i] >= 0)
				addEdge(edges, fn[parent[i]], fn[i], duration[i]);
	}

	function ways(keep) {
		const edges = new Map();
		if (lives.length)
			objectEdges(keep, edges);
		else
			callEdges(keep, edges);
		return [...edges.values()].map(({times, ...edge}) => ({...edge, ...summary(times),
			from_name: functions[edge.from].name, to_name: functions[edge.to].name}))
			.sort((a, b) => (b.total_ns ?? 0) - (a.total_ns ?? 0));
	}

	return {
		tally, cpus,
		about: {...raw, object: raw.object && page.plain(raw.object)}, functions, members, layouts, tasks, lives, nr, start, duration, self, fn, cpu, task, depth, parent, children,
		enteredLife, leftLife, changed, startNs, endNs, hasData, lifeOf, stepsOf, membersOf, changesOf, argument, argumentsText,
		retText, objectText, filter, visible, statistics, ways,
	};
})();

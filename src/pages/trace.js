// SPDX-License-Identifier: BSD-2-Clause
//
// trace.js: a page of traced calls: rows that fold, filters, what each call did to its object, code. Only rows that are on
// the screen are elements, so that 200,000 scroll like 20. What is chosen is in the address. trace_model.js knows the calls.
'use strict';

(() => {
	const {element} = page;
	const ROW = 24, OVERSCAN = 12, PRINTED = 1000, STATE_MOST = 6000, OPTIONS_MOST = 500, LISTED_MOST = 5000;
	const nr = trace.nr;
	const selected = new Uint8Array(nr), folded = new Uint8Array(nr);
	let shown = new Int32Array(0); // rows, as they are on the screen
	let keepUntimed = new Uint8Array(0), keep = new Uint8Array(0);
	let current = -1;

	// ---- what is wanted, and the address ----

	const wants = {search: '', cpus: null, task: null, function: null, object: null, member: null, min: null, max: null,
		from: null, to: null, data: false, selected: false, order: 'tree', types: true, view: 'calls', lanes: 'cpu'};

	// "10us", "1.5 ms"; null: nothing, NaN: nonsense.
	function parseDuration(text) {
		const match = text.trim().match(/^(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)?$/);
		if (!text.trim())
			return null;
		return match ? Number(match[1]) * {ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9}[match[2] ?? 'ns'] : NaN;
	}

	// "3-7,12": rows.
	function putRows(flags) {
		const parts = [];
		for (let i = 0; i < nr; i++) {
			if (!flags[i])
				continue;
			let end = i;
			while (end + 1 < nr && flags[end + 1])
				end++;
			parts.push(end > i ? `${i}-${end}` : `${i}`);
			i = end;
		}
		const text = parts.join(',');
		return text.length > STATE_MOST ? '' : text;
	}

	function takeRows(text, flags) {
		flags.fill(0);
		for (const part of (text ?? '').split(',')) {
			const [from, to] = part.split('-').map(Number);
			for (let i = from; part && i <= Math.min(to ?? from, nr - 1); i++)
				flags[i] = 1;
		}
	}

	const number = text => text !== null && /^\d+$/.test(text) ? Number(text) : null;

	function takeState() {
		const get = page.state.get;
		Object.assign(wants, {
			search: get('q') ?? '', task: get('task'), function: get('fn'), member: get('member'), object: number(get('object')),
			cpus: get('cpu') === null ? null : new Set(get('cpu').split(',').filter(text => text !== '').map(Number)),
			min: number(get('min')), max: number(get('max')), from: number(get('from')), to: number(get('to')),
			data: get('only') === 'data', selected: get('only') === 'selected', order: get('order') === 'time' ? 'time' : 'tree',
			types: get('types') !== 'no', view: views.some(v => v.id === get('view')) ? get('view') : 'calls',
			lanes: get('lanes') === 'object' ? 'object' : 'cpu',
		});
		takeRows(get('sel'), selected);
		takeRows(get('fold'), folded);
		current = Math.min(number(get('row')) ?? -1, nr - 1);
	}

	function putState() {
		const state = {
			q: wants.search, task: wants.task, fn: wants.function, member: wants.member, object: wants.object,
			cpu: wants.cpus && [...wants.cpus].sort((a, b) => a - b).join(','), min: wants.min, max: wants.max, from: wants.from, to: wants.to,
			only: wants.data ? 'data' : wants.selected ? 'selected' : null, order: wants.order === 'time' ? 'time' : null,
			types: wants.types ? null : 'no', view: wants.view === 'calls' ? null : wants.view, lanes: wants.lanes === 'cpu' ? null : wants.lanes,
			sel: putRows(selected), fold: putRows(folded), row: current < 0 ? null : current,
		};
		const all = page.state.all();
		for (const [name, value] of Object.entries(state))
			if (value === null || value === '')
				all.delete(name);
			else
				all.set(name, value);
		if (wants.cpus && !wants.cpus.size) // none at all is something else than all of them
			all.set('cpu', ',');
		// At once: browsers refuse who changes the address too often.
		if (location.hash.slice(1) !== String(all))
			history.replaceState(null, '', `#${all}`);
	}

	// ---- words ----

	const seconds = ns => (ns / 1e9).toFixed(9);
	const durationOf = row => trace.duration[row] < 0 ? '–' : page.format.duration(trace.duration[row]);
	const functionOf = row => trace.functions[trace.fn[row]];

	// What was searched for is marked.
	function marked(text) {
		const word = wants.search.toLowerCase(), at = word ? text.toLowerCase().indexOf(word) : -1;
		if (at < 0)
			return [text];
		return [text.slice(0, at), element('mark', {text: text.slice(at, at + word.length)}), text.slice(at + word.length)];
	}

	function argumentNodes(row, withTypes) {
		const f = functionOf(row);
		return f.arguments.flatMap((name, i) => [
			i ? ', ' : '',
			withTypes && f.types[i] ? element('span', {class: 'type', text: f.types[i].endsWith('*') ? f.types[i] : `${f.types[i]} `}) : null,
			element('span', {class: 'name'}, marked(name)), '=', element('span', {class: 'value'}, marked(trace.argument(row, i))),
		]);
	}

	function callNodes(row, withTypes) {
		const ret = trace.retText(row);
		return [
			element('span', {class: `fn series-${trace.fn[row] % 8}`}, marked(functionOf(row).name)),
			'(', ...argumentNodes(row, withTypes), ')',
			...(ret === null ? [] : [' = ', element('span', {class: 'value'}, marked(ret))]),
		];
	}

	// "A → A|B" is "+B": of flags those that came and went.
	function changeWords({from, to}) {
		const was = from.split('|'), is = to.split('|');
		if (was.length === 1 && is.length === 1)
			return [element('s', {text: from}), ' → ', element('b', {text: to})];
		return [...is.filter(word => !was.includes(word)).map(word => element('b', {text: `+${word} `})),
			...was.filter(word => !is.includes(word)).map(word => element('s', {text: `−${word} `}))];
	}

	function changeChips(row) {
		const changes = trace.changed[row] ? trace.changesOf(row) : [];
		return element('span', {class: 'chips'}, changes.map(c => element('span', {class: 'chip'}, `${c.name} `, changeWords(c))));
	}

	// ---- rows ----

	const body = element('div', {class: 'rows', role: 'presentation'});
	const grid = element('div', {
		id: 'calls', class: 'grid', role: 'treegrid', tabindex: '0', 'aria-label': 'Calls', 'aria-multiselectable': 'true',
		scroll() {
			top = grid.scrollTop;
			drawMore();
		},
	}, body);

	function twisty(row) {
		if (!trace.children[row])
			return element('span', {class: 'twisty'});
		return element('span', {class: 'twisty can', 'data-fold': row, text: folded[row] ? '▸' : '▾', title: folded[row] ? 'Unfold' : 'Fold'});
	}

	function rowNode(place) {
		const row = shown[place], delta = place ? trace.start[row] - trace.start[shown[place - 1]] : 0;
		const life = trace.lifeOf(row);
		const node = element('div', {
			id: `row-${row}`, role: 'row', 'data-row': row, 'aria-rowindex': place + 2, 'aria-level': trace.depth[row] + 1,
			'aria-selected': selected[row] ? 'true' : 'false', 'aria-expanded': trace.children[row] ? String(!folded[row]) : null,
			class: ['row', selected[row] ? 'selected' : '', row === current ? 'current' : '', trace.hasData(row) ? 'data' : '',
				trace.changed[row] ? 'changed' : ''].filter(Boolean).join(' '),
		},
		element('span', {role: 'gridcell', class: 'time', text: seconds(trace.start[row])}),
		element('span', {role: 'gridcell', class: 'cpu', text: trace.cpu[row]}),
		element('span', {role: 'gridcell', class: 'task'}, marked(trace.tasks[trace.task[row]].label)),
		element('span', {role: 'gridcell', class: 'delta', text: place ? (delta < 0 ? '−' : '+') + page.format.duration(Math.abs(delta)) : ''}),
		element('span', {role: 'gridcell', class: 'duration', text: durationOf(row)}),
		element('span', {role: 'gridcell', class: 'object', text: life < 0 ? '' : trace.lives[life].number}),
		element('span', {role: 'gridcell', class: 'call'}, twisty(row), element('span', {class: 'text'}, callNodes(row, wants.types)),
			changeChips(row)));
		node.style.top = `${place * ROW}px`;
		node.querySelector('.call').style.paddingLeft = `${Math.min(trace.depth[row], 40) * 14}px`;
		return node;
	}

	// Asking the browser costs a layout of everything: it tells when they change.
	let top = 0, height = 0;

	new ResizeObserver(() => {
		height = grid.clientHeight;
		if (height)
			drawRows();
	}).observe(grid);

	const drawn = new Map(); // by place

	// Who scrolls keeps the rows that stay.
	function drawMore() {
		const first = Math.max(0, Math.floor(top / ROW) - OVERSCAN);
		const last = Math.min(shown.length, Math.ceil((top + (height || innerHeight)) / ROW) + OVERSCAN);
		const more = [];
		for (const [place, node] of drawn)
			if (place < first || place >= last) {
				node.remove();
				drawn.delete(place);
			}
		for (let place = first; place < last; place++)
			if (!drawn.has(place)) {
				drawn.set(place, rowNode(place));
				more.push(drawn.get(place));
			}
		body.append(...more);
	}

	function drawRows() {
		drawn.clear();
		body.replaceChildren();
		body.style.height = `${shown.length * ROW}px`;
		drawMore();
		grid.setAttribute('aria-rowcount', shown.length + 1);
		if (current >= 0 && document.getElementById(`row-${current}`))
			grid.setAttribute('aria-activedescendant', `row-${current}`);
		else
			grid.removeAttribute('aria-activedescendant');
	}

	// ---- who is selected, folded, current ----

	function scrollTo(place) {
		if (place * ROW < top)
			top = place * ROW;
		else if ((place + 1) * ROW > top + height)
			top = Math.max(0, (place + 1) * ROW - height);
		else
			return;
		body.style.height = `${shown.length * ROW}px`;
		grid.scrollTop = top;
	}

	function makeCurrent(row, scrolls = true) {
		current = row;
		if (scrolls && shown.indexOf(row) >= 0)
			scrollTo(shown.indexOf(row));
		drawRows();
		showPanel();
		putState();
	}

	// It may be folded away; what a filter hides stays hidden.
	function reveal(row) {
		for (let p = trace.parent[row]; p >= 0; p = trace.parent[p])
			folded[p] = 0;
		refresh();
		makeCurrent(row);
	}

	function toggle(row) {
		selected[row] ^= 1;
		selectionChanged();
	}

	function selectionChanged() {
		if (wants.selected)
			refresh();
		drawRows();
		showStatus();
		putState();
	}

	function selectBetween() {
		let first = -1, last = -1;
		shown.forEach((row, place) => {
			if (selected[row]) {
				first = first < 0 ? place : first;
				last = place;
			}
		});
		for (let place = first; first >= 0 && place <= last; place++)
			selected[shown[place]] = 1;
		selectionChanged();
	}

	function fold(row, is) {
		if (trace.children[row] && folded[row] !== is) {
			folded[row] = is;
			refresh();
		}
	}

	function foldAll(is) {
		for (let i = 0; i < nr; i++)
			folded[i] = is && trace.children[i] ? 1 : 0;
		refresh();
	}

	function rowOf(event) {
		const node = event.target.closest?.('.row');
		return node ? Number(node.dataset.row) : -1;
	}

	grid.addEventListener('click', event => {
		const row = rowOf(event);
		if (row < 0)
			return;
		if (event.target.dataset.fold !== undefined) {
			fold(row, folded[row] ^ 1);
			return;
		}
		if (event.shiftKey && current >= 0) {
			const [a, b] = [shown.indexOf(current), shown.indexOf(row)].sort((x, y) => x - y);
			for (let place = Math.max(0, a); place <= b; place++)
				selected[shown[place]] = 1;
			selectionChanged();
		} else {
			toggle(row);
		}
		makeCurrent(row, false);
	});

	const moves = {
		ArrowDown: place => place + 1, ArrowUp: place => place - 1, Home: () => 0, End: () => shown.length - 1,
		PageDown: place => place + Math.floor(height / ROW) - 1, PageUp: place => place - Math.floor(height / ROW) + 1,
	};

	function step(event, place) {
		const row = shown[Math.max(0, Math.min(shown.length - 1, moves[event.key](place)))];
		if (event.shiftKey)
			selected[row] = selected[current] = 1;
		makeCurrent(row);
		if (event.shiftKey)
			selectionChanged();
	}

	grid.addEventListener('keydown', event => {
		const place = shown.indexOf(current);
		if (!shown.length || event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (moves[event.key])
			step(event, place);
		else if (event.key === 'ArrowLeft' && place >= 0)
			folded[current] || !trace.children[current] ? trace.parent[current] >= 0 && reveal(trace.parent[current]) : fold(current, 1);
		else if (event.key === 'ArrowRight' && place >= 0)
			fold(current, 0);
		else if (event.key === ' ' && place >= 0)
			toggle(current);
		else if (event.key === 'Enter' && place >= 0)
			panel.querySelector('summary, button')?.focus();
		else
			return;
		event.preventDefault();
	});

	// ---- what a call did to its object ----

	function change(from, to) {
		return from === null || from === to ? [to ?? '–']
			: [element('s', {text: from}), ' → ', element('b', {text: to})];
	}

	// previous -> now, for the same object.
	function membersTable(row) {
		const list = trace.membersOf(row), hasReturn = list.some(m => m.left !== null);
		return element('table', {class: 'members'},
			element('thead', null, element('tr', null, ['member', 'previous → at entry', hasReturn ? 'at entry → at return' : null]
				.filter(Boolean).map(text => element('th', {text, scope: 'col'})))),
			element('tbody', null, list.map(m => element('tr', {class: [m.before, m.entered, m.left].filter(v => v !== null)
				.some((v, _, all) => v !== all[0]) ? 'changed' : null},
			element('th', {scope: 'row', text: m.name, title: m.path}),
			element('td', null, m.entered === null ? ['–'] : change(m.before, m.entered)),
			hasReturn ? element('td', null, m.left === null ? ['–'] : change(m.entered, m.left)) : null))));
	}

	function objectLine(row) {
		const life = trace.lifeOf(row);
		if (life < 0)
			return trace.objectText(row);
		const l = trace.lives[life];
		return `${trace.about.object} ${l.number} at ${l.address}${l.born ? '' : ', birth not seen'}${l.dead ? '' : ', death not seen'}`
			+ (l.whole ? '' : ', some records lost');
	}

	// ---- hover ----

	const tip = element('div', {id: 'tip', role: 'tooltip', hidden: true});

	function showTip(event) {
		const row = rowOf(event);
		tip.hidden = row < 0 || !trace.hasData(row);
		if (tip.hidden)
			return;
		if (tip.dataset.row !== String(row)) {
			tip.dataset.row = row;
			tip.replaceChildren(element('strong', {text: functionOf(row).name}), element('div', {class: 'quiet', text: objectLine(row)}), membersTable(row));
		}
		const right = event.clientX + 18 + tip.offsetWidth > innerWidth, low = event.clientY + 14 + tip.offsetHeight > innerHeight;
		tip.style.left = `${Math.max(4, right ? event.clientX - tip.offsetWidth - 12 : event.clientX + 18)}px`;
		tip.style.top = `${Math.max(4, low ? event.clientY - tip.offsetHeight - 12 : event.clientY + 14)}px`;
	}

	grid.addEventListener('pointermove', showTip);
	grid.addEventListener('pointerleave', () => {
		tip.hidden = true;
	});
	grid.addEventListener('scroll', () => {
		tip.hidden = true;
	});

	// ---- the panel ----

	const panel = element('aside', {id: 'panel', 'aria-label': 'Current call'});

	function neighbour(row, direction) {
		const rows = [...new Set([...trace.stepsOf(trace.lifeOf(row))].map(s => s >> 1))];
		return rows[rows.indexOf(row) + direction] ?? -1;
	}

	function objectButtons(row) {
		const life = trace.lifeOf(row);
		if (life < 0)
			return null;
		const go = (text, direction) => element('button', {type: 'button', text, disabled: neighbour(row, direction) < 0,
			click: () => reveal(neighbour(row, direction))});
		return element('p', {class: 'buttons'}, go('‹ Previous call', -1), go('Next call ›', 1), element('button', {
			type: 'button', text: `Only ${trace.about.object} ${trace.lives[life].number}`, click: () => set({object: trace.lives[life].number}),
		}));
	}

	function fact(name, ...value) {
		return [element('dt', {text: name}), element('dd', null, value)];
	}

	function callFacts(row) {
		const f = functionOf(row), ret = trace.retText(row);
		return element('dl', null, [
			fact('entered', `${seconds(trace.start[row])} s on CPU ${trace.cpu[row]}`),
			fact('took', trace.duration[row] < 0 ? 'return not seen' : `${durationOf(row)}, self ${page.format.duration(trace.self[row])}`),
			fact('task', `${trace.tasks[trace.task[row]].label}, thread ${trace.tasks[trace.task[row]].tid}`),
			...f.arguments.map((name, i) => fact(name, element('span', {class: 'type', text: f.types[i] ? `${f.types[i]} ` : ''}),
				element('span', {class: 'value', text: trace.argument(row, i)}))),
			ret === null ? [] : fact('returned', element('span', {class: 'type', text: f.returnType ? `${f.returnType} ` : ''}),
				element('span', {class: 'value', text: ret})),
		].flat());
	}

	// ---- code ----

	const bits = n => n % 8 ? `${Math.floor(n / 8)}:${n % 8}` : String(n / 8);

	function layoutNode(layout, isOpen) {
		const used = new Set(trace.members.map(m => m.path.split(/\.|->/)[0].replace(/\[.*/, '')));
		const text = layout.members.map(([declared, depth, bit, size]) => {
			const indent = '    '.repeat(depth + 1), end = declared.endsWith('{') ? '' : ';';
			const name = declared.match(/(\w+)(?:\[\d*\])*(?::\d+)?$/)?.[1] ?? declared.match(/\(\*(\w+)\)/)?.[1];
			return element('span', {class: used.has(name) && layout.name === `struct ${trace.about.object}` ? 'line used' : 'line'},
				`${indent}${page.plain(declared)}${end}`, element('span', {class: 'offset', text: `${bits(bit)} · ${bits(size)}`}));
		});
		return element('details', {class: 'layout', open: isOpen}, element('summary', null, element('code', {text: layout.name}),
			` ${layout.bytes} bytes`), element('pre', null, element('span', {class: 'line', text: `${layout.name} {`}), text,
			layout.cut ? element('span', {class: 'line quiet', text: '    …'}) : null, element('span', {class: 'line', text: '};'})));
	}

	function layoutsOf(f) {
		if (!trace.layouts)
			return [element('p', {class: 'quiet', id: 'no-layout', text: 'This capture has no struct layouts. An older version of iosonar recorded it.'})];
		const names = [...f.types, f.returnType].map(type => type.match(/\b(?:struct|union) \w+/)?.[0]);
		const own = trace.layouts[0]?.name === `struct ${trace.about.object}` ? [trace.layouts[0].name] : [];
		const found = trace.layouts.filter(l => names.includes(l.name));
		return found.length ? found.map(l => layoutNode(l, own.includes(l.name) || found.length === 1))
			: [element('p', {class: 'quiet', text: 'No argument of this function has a known struct layout.'})];
	}

	function sourceNode(f) {
		const {file, line, text, cut} = f.source;
		const lines = (text ?? '').split('\n');
		return [
			element('h3', {text: 'Source'}), element('p', {class: 'quiet mono', text: `${file}:${line}`}),
			text === null ? element('p', {class: 'quiet', text: 'These lines are omitted: the page has reached its limit for source code.'})
				: element('pre', {class: 'source'}, lines.map((content, i) => element('span', {class: 'line', 'data-line': line + i,
					text: content.split('\t').map(page.plain).join('\t')})),
					cut ? element('span', {class: 'line quiet', text: '…'}) : null),
		];
	}

	function codeNodes(f) {
		return [
			element('h3', {text: 'Code'}),
			f.prototype ? element('pre', {class: 'prototype', text: f.prototype}) : element('p', {class: 'quiet', text: 'The prototype is not known.'}),
			f.module ? element('p', {class: 'quiet', text: `in ${f.module}`}) : null,
			...(f.source ? sourceNode(f) : []),
			element('h3', {text: 'Structs'}), ...layoutsOf(f),
		];
	}

	function showPanel() {
		if (current < 0) {
			panel.replaceChildren(element('p', {class: 'empty', text: 'Click a row or use the arrow keys to see a call, how it changed its object, and its code.'}));
			return;
		}
		const f = functionOf(current), object = objectLine(current);
		panel.replaceChildren(...[
			element('h2', {class: `series-${trace.fn[current] % 8}`, text: f.name}), callFacts(current),
			object ? element('h3', {text: object}) : null, trace.hasData(current) ? membersTable(current) : null, objectButtons(current),
			...codeNodes(f),
		].filter(Boolean));
	}

	// ---- other views ----

	function functionsView() {
		const rows = trace.statistics(keep), total = rows.reduce((sum, row) => sum + (row.self_ns ?? 0), 0);
		for (const row of rows)
			row.share = total && row.self_ns !== null ? 100 * row.self_ns / total : null;
		const name = row => element('button', {type: 'button', class: 'link', text: row.name, click: () => set({function: row.name, view: 'calls'})});
		return [page.table({
			id: 'functions', caption: 'Shown calls by function', rows, sort: {key: 'total_ns', down: true}, columns: [
				{key: 'name', label: 'function', kind: 'text', show: name}, {key: 'count', label: 'calls', kind: 'count'},
				{key: 'total_ns', label: 'total', kind: 'duration', help: 'from entry to return'},
				{key: 'self_ns', label: 'self', kind: 'duration', help: 'total without the traced calls inside it'},
				{key: 'share', label: 'self share', kind: 'percent', help: 'of the self time of all shown calls'},
				{key: 'avg_ns', label: 'avg', kind: 'duration'}, {key: 'p50_ns', label: 'p50', kind: 'duration'},
				{key: 'p99_ns', label: 'p99', kind: 'duration'}, {key: 'max_ns', label: 'max', kind: 'duration'},
				{key: 'module', label: 'module', kind: 'text'},
			],
		})];
	}

	function objectsView() {
		const found = new Map();
		for (let i = 0; i < nr; i++)
			if (keep[i] && trace.lifeOf(i) >= 0)
				found.set(trace.lifeOf(i), (found.get(trace.lifeOf(i)) ?? 0) + 1);
		const rows = [...found].map(([life, calls]) => {
			const l = trace.lives[life], rowsOf = [...trace.stepsOf(life)].map(s => s >> 1), first = rowsOf[0];
			const end = rowsOf.reduce((most, row) => Math.max(most, trace.start[row] + Math.max(0, trace.duration[row])), 0);
			return {number: l.number, address: l.address, calls, task: trace.tasks[trace.task[first]].label, start: trace.start[first] / 1e9,
				total_ns: end - trace.start[first], born: l.born ? 'yes' : 'no', dead: l.dead ? 'yes' : 'no', whole: l.whole ? 'yes' : 'no'};
		});
		if (!rows.length)
			return [element('p', {class: 'empty', text: 'None of the shown calls refers to a traced object.'})];
		const name = row => element('button', {type: 'button', class: 'link', text: `${trace.about.object} ${row.number}`,
			click: () => set({object: row.number, view: 'calls'})});
		return [page.table({
			id: 'objects', caption: 'Objects of the shown calls', rows: rows.slice(0, LISTED_MOST), sort: {key: 'number', down: false}, columns: [
				{key: 'number', label: 'object', kind: 'number', show: name}, {key: 'address', label: 'address', kind: 'text'},
				{key: 'start', label: 'start', kind: 'time'}, {key: 'total_ns', label: 'duration', kind: 'duration'},
				{key: 'calls', label: 'calls', kind: 'count'}, {key: 'task', label: 'first task', kind: 'text'},
				{key: 'born', label: 'birth seen', kind: 'text'}, {key: 'dead', label: 'death seen', kind: 'text'}, {key: 'whole', label: 'complete', kind: 'text'},
			],
		})];
	}

	const views = [
		{id: 'calls', label: 'Calls'},
		{id: 'functions', label: 'Functions', make: functionsView},
		{id: 'transitions', label: trace.lives.length ? 'Transitions' : 'Call graph',
			make: () => ways.show(keep, (other.clientWidth || innerWidth) - 20, name => set({function: name, view: 'calls'}))},
		...(trace.lives.length ? [{id: 'objects', label: 'Objects', make: objectsView}] : []),
	];
	const other = element('section', {class: 'other', id: 'other'});
	const tabs = element('div', {role: 'tablist', class: 'tabs no-print', 'aria-label': 'Views'}, views.map(view => element('button', {
		type: 'button', role: 'tab', id: `tab-${view.id}`, text: view.label, click: () => set({view: view.id}),
	})));
	tabs.addEventListener('keydown', event => {
		const move = {ArrowLeft: -1, ArrowRight: 1}[event.key];
		if (!move)
			return;
		const at = views.findIndex(view => view.id === wants.view);
		set({view: views[(at + move + views.length) % views.length].id});
		document.getElementById(`tab-${wants.view}`).focus();
		event.preventDefault();
	});

	function showView() {
		const view = views.find(v => v.id === wants.view);
		for (const v of views) {
			const tab = document.getElementById(`tab-${v.id}`);
			tab.setAttribute('aria-selected', String(v === view));
			tab.tabIndex = v === view ? 0 : -1;
		}
		main.classList.toggle('shows-calls', !view.make);
		other.replaceChildren(...(view.make ? view.make() : []));
		if (!view.make)
			drawRows();
	}

	// ---- filters ----

	const controls = {};

	function labelled(text, node) {
		return element('label', null, element('span', {text}), node);
	}

	function choice(name, all, options) {
		controls[name] = element('select', {id: `filter-${name}`, change: event => set({[name]: event.target.value === '' ? null
			: name === 'object' ? Number(event.target.value) : event.target.value})},
		element('option', {value: '', text: all}), options.map(([value, text]) => element('option', {value, text})));
		return controls[name];
	}

	function entry(name, placeholder, width) {
		controls[name] = element('input', {id: `filter-${name}`, placeholder, size: width, autocomplete: 'off', spellcheck: 'false', change(event) {
			const ns = parseDuration(event.target.value);
			event.target.setAttribute('aria-invalid', String(Number.isNaN(ns)));
			if (!Number.isNaN(ns))
				set({[name]: ns === null ? null : Math.round(ns)});
		}});
		return controls[name];
	}

	function press(id, text, on) {
		controls[id] = element('button', {type: 'button', id, text, click: on});
		return controls[id];
	}

	// Those that are there, by name: several may bear one.
	function counted(names, column) {
		const counts = new Map();
		trace.tally(column, names.length).forEach((count, i) => count && counts.set(names[i], (counts.get(names[i]) ?? 0) + count));
		return [...counts].sort((a, b) => a[0].localeCompare(b[0], 'en')).map(([key, count]) => [key, `${key} (${count.toLocaleString('en-US')})`]);
	}

	function cpuBoxes() {
		const {cpus} = trace;
		controls.cpus = cpus.map(cpu => element('input', {type: 'checkbox', 'data-cpu': cpu, change() {
			const checked = controls.cpus.filter(box => box.checked).map(box => Number(box.dataset.cpu));
			set({cpus: checked.length === cpus.length ? null : new Set(checked)});
		}}));
		return element('fieldset', {class: 'cpus'}, element('legend', {text: 'CPU'}),
			cpus.map((cpu, i) => element('label', null, controls.cpus[i], String(cpu))));
	}

	let typing = 0;

	function makeSearch() {
		controls.search = element('input', {
			type: 'search', id: 'search', placeholder: 'Search calls and values (/)', autocomplete: 'off', spellcheck: 'false', input(event) {
				clearTimeout(typing);
				typing = setTimeout(() => set({search: event.target.value}), nr > 20000 ? 200 : 60);
			},
		});
		return controls.search;
	}

	// A list that nobody would read through is a field.
	function objectFilter() {
		const lives = trace.lives.filter(l => l.steps).sort((a, b) => a.number - b.number);
		if (lives.length <= OPTIONS_MOST)
			return choice('object', 'all', lives.map(l => [l.number, `${trace.about.object} ${l.number}  ${l.address}`]));
		controls.object = element('input', {id: 'filter-object', placeholder: 'number', size: 7, inputmode: 'numeric', autocomplete: 'off',
			change: event => set({object: number(event.target.value.trim())})});
		return controls.object;
	}

	function makeFilters() {
		return element('form', {class: 'filters no-print', 'aria-label': 'Filters', submit: event => event.preventDefault()},
			makeSearch(),
			labelled('function', choice('function', 'all', counted(trace.functions.map(f => f.name), trace.fn))),
			labelled('task', choice('task', 'all', counted(trace.tasks.map(t => t.label), trace.task))),
			trace.lives.length ? labelled('object', objectFilter()) : null,
			trace.members.length ? labelled('changed', choice('member', 'all calls', trace.members.map(m => [m.path, m.name]))) : null,
			labelled('took at least', entry('min', '10us', 6)), labelled('at most', entry('max', '1ms', 6)),
			cpuBoxes(), press('reset', 'Reset filters', reset));
	}

	function makeTools() {
		return element('div', {class: 'tools no-print', role: 'toolbar', 'aria-label': 'Rows'},
			tabs,
			element('span', {class: 'group'}, 'Show only ',
				trace.lives.length ? press('only-data', 'With data', () => set({data: !wants.data, selected: false})) : null,
				press('only-selected', 'Selected', () => set({selected: !wants.selected, data: false}))),
			element('span', {class: 'group'}, press('select-between', 'Select between', selectBetween), press('clear-selection', 'Clear selection', () => {
				selected.fill(0);
				selectionChanged();
			})),
			element('span', {class: 'group'}, press('fold-all', 'Fold all', () => foldAll(1)), press('unfold-all', 'Unfold all', () => foldAll(0))),
			element('span', {class: 'group'}, press('by-time', 'Sort by time', () => set({order: wants.order === 'time' ? 'tree' : 'time'})),
				press('types', 'Types', () => set({types: !wants.types}))),
			status);
	}

	function makeTimeTools() {
		return element('div', {class: 'time-tools no-print'},
			element('span', {class: 'group', role: 'group', 'aria-label': 'Lanes'}, press('lanes-cpu', 'By CPU', () => set({lanes: 'cpu'})),
				trace.lives.length ? press('lanes-object', 'By object', () => set({lanes: 'object'})) : null),
			labelled('from', entry('from', '0ns', 10)), labelled('to', entry('to', 'end', 10)),
			press('zoom', 'Zoom', () => line.zoom()), press('all-time', 'Show all', () => set({from: null, to: null})), line.hint);
	}

	function reset() {
		set({search: '', cpus: null, task: null, function: null, object: null, member: null, min: null, max: null, from: null, to: null,
			data: false, selected: false});
	}

	const exact = ns => ns === null ? '' : ns % 1e6 === 0 ? `${ns / 1e6}ms` : ns % 1e3 === 0 ? `${ns / 1e3}us` : `${ns}ns`;

	function showControls() {
		if (document.activeElement !== controls.search)
			controls.search.value = wants.search;
		for (const name of ['function', 'task', 'object', 'member'])
			if (controls[name])
				controls[name].value = wants[name] ?? '';
		for (const name of ['min', 'max', 'from', 'to']) {
			controls[name].value = exact(wants[name]);
			controls[name].removeAttribute('aria-invalid');
		}
		for (const box of controls.cpus)
			box.checked = !wants.cpus || wants.cpus.has(Number(box.dataset.cpu));
		const pressed = {'only-data': wants.data, 'only-selected': wants.selected, 'by-time': wants.order === 'time', types: wants.types,
			'lanes-cpu': wants.lanes === 'cpu', 'lanes-object': wants.lanes === 'object'};
		for (const [id, is] of Object.entries(pressed))
			controls[id]?.setAttribute('aria-pressed', String(is));
	}

	const status = element('output', {id: 'status', 'aria-live': 'polite'});

	function showStatus() {
		const count = flags => flags.reduce((sum, flag) => sum + flag, 0), chosen = count(selected), closed = count(folded);
		status.textContent = `${shown.length.toLocaleString('en-US')} of ${nr.toLocaleString('en-US')} calls`
			+ (chosen ? ` · ${chosen.toLocaleString('en-US')} selected` : '') + (closed ? ` · ${closed.toLocaleString('en-US')} folded` : '');
	}

	// ---- all together ----

	function refresh() {
		keepUntimed = trace.filter({...wants, from: null, to: null});
		keep = trace.filter({...wants, search: '', cpus: null, task: null, function: null, object: null, member: null, min: null, max: null,
			data: false}, keepUntimed.slice());
		if (wants.selected)
			for (let i = 0; i < nr; i++)
				keep[i] &= selected[i];
		shown = trace.visible(keep, folded, wants.order === 'time');
		showStatus();
		showView();
		line.draw(keepUntimed, wants.from === null && wants.to === null ? null : [wants.from ?? trace.startNs, wants.to ?? trace.endNs]);
		putState();
	}

	function set(changes) {
		const lanes = wants.lanes, onlyView = Object.keys(changes).every(name => name === 'view');
		Object.assign(wants, changes);
		if (onlyView) {
			showView();
			putState();
			return;
		}
		if (wants.lanes !== lanes)
			line.showBy(wants.lanes);
		showControls();
		refresh();
		if (shown.indexOf(current) >= 0)
			scrollTo(shown.indexOf(current));
		drawRows();
	}

	const line = timeline.make({
		onRange: (from, to) => set({from, to}),
		onPick: reveal,
		onLanes() {},
	});

	function aboutLine() {
		const a = trace.about, lost = a.lost ? `, ${a.lost.toLocaleString('en-US')} lost` : ', nothing lost';
		const parts = [
			`${nr.toLocaleString('en-US')} calls of ${trace.tally(trace.fn, trace.functions.length).filter(count => count).length} functions`,
			trace.lives.length ? `${trace.lives.length.toLocaleString('en-US')} objects` : null,
			`${page.format.duration(trace.endNs - trace.startNs)}`,
			a.hits === undefined ? 'the end of the capture is missing' : `${a.hits.toLocaleString('en-US')} records${lost}`,
			a.left_out ? `${a.left_out.toLocaleString('en-US')} calls omitted from this page` : null,
			a.kernel ? `Linux ${a.kernel} ${a.machine ?? ''}` : null,
			a.wall_ms ? new Date(a.wall_ms).toISOString().replace('T', ' ').slice(0, 19) + ' UTC' : null,
		];
		return parts.filter(Boolean).join(' · ');
	}

	const heads = ['time s', 'CPU', 'task', 'delta', 'took', '#', 'call'];
	const head = element('div', {class: 'row head', role: 'row', 'aria-hidden': 'true'},
		heads.map((text, i) => element('span', {class: ['time', 'cpu', 'task', 'delta', 'duration', 'object', 'call'][i], text})));
	const main = element('main', null, element('div', {class: 'table'}, head, grid), panel, other);

	function build() {
		document.body.classList.add('trace');
		document.body.append(
			element('header', null, element('h1', {text: page.plain(`${trace.about.command} ${trace.about.object ?? ''}`.trim())}),
				element('p', {class: 'quiet', id: 'about', title: trace.about.made_by, text: aboutLine()}), page.themeButton()),
			makeFilters(), element('section', {'aria-label': 'Timeline', class: 'time'}, line.node, makeTimeTools()), makeTools(), main, tip);
		if (!trace.lives.length)
			document.body.classList.add('no-objects');
	}

	function start() {
		takeState();
		if (current < 0 && nr)
			current = Math.max(0, trace.changed.findIndex(bits => bits));
		line.showBy(wants.lanes);
		showControls();
		refresh();
		height = grid.clientHeight;
		showPanel();
		if (shown.indexOf(current) >= 0)
			scrollTo(shown.indexOf(current));
		drawRows();
	}

	// Who is told a link, or goes back, gets what it says.
	addEventListener('hashchange', start);
	addEventListener('resize', () => showView());
	addEventListener('keydown', event => {
		if (event.key !== '/' || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName))
			return;
		controls.search.focus();
		event.preventDefault();
	});

	// ---- paper: rows that are there, not those on the screen ----

	const isFilter = name => !['sel', 'fold', 'row', 'types', 'view', 'lanes', 'theme'].includes(name) && !name.startsWith('sort.');

	function filterWords() {
		const chosen = [...page.state.all()].filter(([name]) => isFilter(name)).map(([name, value]) => page.plain(`${name} ${value}`));
		return status.textContent + (chosen.length ? `: ${chosen.join(', ')}` : '');
	}

	let printed = null;
	addEventListener('beforeprint', () => {
		if (wants.view !== 'calls')
			return;
		const list = [...shown.subarray(0, PRINTED)];
		printed = element('section', {class: 'printed'},
			element('p', {text: filterWords()}),
			shown.length > PRINTED ? element('p', {text: `The first ${PRINTED} of ${shown.length} calls.`}) : null,
			element('table', null, element('thead', null, element('tr', null, heads.filter(h => h !== 'delta').map(text => element('th', {text})))),
				element('tbody', null, list.map(row => {
					const call = element('td', {class: 'call'}, callNodes(row, false), changeChips(row)), life = trace.lifeOf(row);
					call.style.paddingLeft = `${Math.min(trace.depth[row], 40) * .6 + .4}em`;
					return element('tr', null, [seconds(trace.start[row]), trace.cpu[row], trace.tasks[trace.task[row]].label, durationOf(row),
						life < 0 ? '' : trace.lives[life].number].map(text => element('td', {text})), call);
				}))));
		document.body.append(printed);
	});
	addEventListener('afterprint', () => {
		printed?.remove();
		printed = null;
	});

	build();
	start();
	document.documentElement.dataset.ready = Math.round(performance.now());
})();

// SPDX-License-Identifier: BSD-2-Clause
//
// page.js: what every page does: reads its data, makes elements of it, formats numbers as the terminal shows them, sorts
// tables, remembers what was chosen in the address. Text from a capture is hostile: it becomes textContent, never markup.
'use strict';

const page = (() => {
	// ---- data: blocks of JSON lines, as `-o json` prints them ----

	function parse(text) {
		return text.split('\n').filter(line => line !== '').map(line => JSON.parse(line));
	}

	function lines(id) {
		const block = document.getElementById(id);
		return block ? parse(block.textContent) : [];
	}

	// ---- elements ----

	// Attributes: `text` is content, a function is a listener, true and false are there or not, null is left out.
	function dress(node, attributes, children) {
		for (const [name, value] of Object.entries(attributes ?? {})) {
			if (value === null || value === undefined || value === false)
				continue;
			if (name === 'text')
				node.textContent = value;
			else if (typeof value === 'function')
				node.addEventListener(name, value);
			else
				node.setAttribute(name, value === true ? '' : value);
		}
		node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
		return node;
	}

	// Strings among the children become text nodes.
	function element(tag, attributes, ...children) {
		return dress(document.createElement(tag), attributes, children);
	}

	function svg(tag, attributes, ...children) {
		return dress(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
	}

	// ---- numbers, as src/render/number.c writes them ----

	function threeDigits(value) {
		return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
	}

	function duration(ns) {
		if (Math.abs(ns) < 999.5)
			return `${Math.round(ns)}ns`;
		for (const [unit, name] of [[1e3, 'us'], [1e6, 'ms']])
			if (Math.abs(ns) < unit * 999.5)
				return threeDigits(ns / unit) + name;
		return `${threeDigits(ns / 1e9)}s`;
	}

	function bytes(count) {
		if (count < 1024)
			return String(count);
		let unit = 0;
		for (count /= 1024; count >= 1023.95 && unit < 5; count /= 1024)
			unit++;
		return `${count.toFixed(1)}${'KMGTPE'[unit]}i`;
	}

	function rate(perSecond) {
		if (perSecond < 999.5)
			return perSecond.toFixed(perSecond < 99.95 ? 1 : 0);
		let unit = 0;
		for (perSecond /= 1000; perSecond >= 999.5 && unit < 3; perSecond /= 1000)
			unit++;
		return threeDigits(perSecond) + 'kMGT'[unit];
	}

	// Control characters, and those that turn or hide others, as their numbers.
	function plain(text) {
		return String(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, one => `\\u{${one.codePointAt(0).toString(16)}}`);
	}

	const format = {
		text: plain,
		word: plain, // that is short, and never broken
		path: plain, // broken at slashes
		count: value => value.toLocaleString('en-US'),
		number: value => String(value), // of something: a sector, a pid
		duration, bytes, rate,
		mbps: value => value.toFixed(1),
		percent: value => `${value.toFixed(1)}%`,
		seconds: value => value.toFixed(3),
		time: value => value.toFixed(9), // seconds
		moment: value => value.toFixed(6),
	};

	// What a cell shows; what is not there is a dash.
	function words(kind, value) {
		return value === null || value === undefined ? '–' : format[kind](value);
	}

	// ---- state: what was chosen is in the address, so it can be handed on ----

	const state = {
		all: () => new URLSearchParams(location.hash.slice(1)),
		get: name => state.all().get(name),
		set(name, value) {
			const all = state.all();
			if (value === null || value === '')
				all.delete(name);
			else
				all.set(name, value);
			history.replaceState(null, '', `#${all}`);
		},
	};

	// ---- theme ----

	const themes = ['auto', 'light', 'dark'];

	function showTheme(button) {
		const theme = themes.includes(state.get('theme')) ? state.get('theme') : 'auto';
		if (theme === 'auto')
			delete document.documentElement.dataset.theme;
		else
			document.documentElement.dataset.theme = theme;
		button.textContent = `Theme: ${theme}`;
		document.dispatchEvent(new CustomEvent('themechange'));
	}

	// Who draws on a canvas listens to 'themechange' on the document, and asks page.color again.
	function themeButton() {
		const button = element('button', {
			type: 'button', class: 'theme no-print', click() {
				const next = themes[(themes.indexOf(state.get('theme') ?? 'auto') + 1) % themes.length];
				state.set('theme', next === 'auto' ? null : next);
				showTheme(button);
			},
		});
		showTheme(button);
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => showTheme(button));
		return button;
	}

	// "--ink" as a canvas takes it.
	function color(name) {
		const probe = element('span');
		probe.style.color = `var(${name})`;
		document.body.append(probe);
		const value = getComputedStyle(probe).color;
		probe.remove();
		return value;
	}

	// ---- tables ----

	// Nothing comes last, whichever way it is sorted.
	function compare(a, b, sign) {
		if (a === b)
			return 0;
		if (a === null || a === undefined)
			return 1;
		if (b === null || b === undefined)
			return -1;
		return sign * (typeof a === 'number' ? a - b : String(a).localeCompare(String(b), 'en'));
	}

	const isText = column => ['text', 'word', 'path'].includes(column.kind);
	const classOf = column => isText(column) ? column.kind : 'number';

	// A line may end behind a slash.
	function breakable(path) {
		return path.split('/').flatMap((part, i) => i ? ['/', element('wbr'), part] : [part]);
	}

	function cellOf(column, row) {
		const text = column.show ? null : words(column.kind, row[column.key]);
		return element('td', {class: classOf(column)}, column.show ? column.show(row) : column.kind === 'path' ? breakable(text) : text);
	}

	// What a row has to say beyond its cells lies below it, behind a button in its first cell.
	function rowsOf(row, columns, detail) {
		const line = element('tr', null, columns.map(column => cellOf(column, row))), more = detail?.(row);
		if (!more)
			return [line];
		const below = element('tr', {class: 'detail', hidden: true}, element('td', {colspan: columns.length}, more));
		const button = element('button', {type: 'button', class: 'more', 'aria-expanded': 'false', 'aria-label': 'details', text: '\u25b8', click() {
			below.hidden = !below.hidden;
			button.setAttribute('aria-expanded', String(!below.hidden));
		}});
		line.cells[0].prepend(button);
		return [line, below];
	}

	// "sort.ID=-p99_ns": descending.
	function chosenSort(id, columns) {
		const chosen = state.get(`sort.${id}`) ?? '';
		const key = chosen.replace(/^-/, '');
		return columns.some(column => column.key === key) ? {key, down: chosen.startsWith('-')} : null;
	}

	function headOf(column, onSort) {
		return element('th', {scope: 'col', class: classOf(column), title: column.help},
			element('button', {type: 'button', text: column.label, click: onSort}));
	}

	// {id, caption, columns: [{key, label, kind, help, show}], rows, detail}. kind is one of page.format; show makes a node
	// instead, detail what lies below a row.
	// A click or Enter on a heading sorts: numbers from the largest, text from A, then the other way, then as they came.
	// update(rows) of the node shows other rows, in the same order.
	function table({id, caption, columns, rows, detail, sort: start}) {
		let sort = chosenSort(id, columns) ?? start ?? null;
		const body = element('tbody');
		const heads = columns.map(column => headOf(column, () => choose(column)));

		function show() {
			const sorted = sort ? [...rows].sort((a, b) => compare(a[sort.key], b[sort.key], sort.down ? -1 : 1)) : rows;
			body.replaceChildren(...sorted.flatMap(row => rowsOf(row, columns, detail)));
			heads.forEach((head, i) => head.setAttribute('aria-sort',
				sort?.key !== columns[i].key ? 'none' : sort.down ? 'descending' : 'ascending'));
		}

		function choose(column) {
			const first = !isText(column);
			if (sort?.key !== column.key)
				sort = {key: column.key, down: first};
			else
				sort = sort.down === first ? {key: column.key, down: !first} : null;
			state.set(`sort.${id}`, sort && (sort.down ? '-' : '') + sort.key);
			show();
		}

		show();
		const node = element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption},
			element('table', {id}, caption ? element('caption', {text: caption}) : null,
				element('thead', null, element('tr', null, heads)), body));
		node.update = next => {
			rows = next;
			show();
		};
		return node;
	}

	// The numbers behind a chart, made when somebody asks for them.
	const closed = new Map();

	function numbers(label, what) {
		const node = element('details', {toggle: () => node.open && fill(node)}, element('summary', {text: label}));
		closed.set(node, what);
		return node;
	}

	function fill(node) {
		if (closed.has(node))
			node.append(table(closed.get(node)));
		closed.delete(node);
	}

	// On paper nothing can be opened; long tables nobody reads there.
	const printed = 40;

	addEventListener('beforeprint', () => {
		for (const node of document.querySelectorAll('details:not([open])')) {
			if ((closed.get(node)?.rows.length ?? 0) > printed)
				continue;
			fill(node);
			node.open = true;
			node.dataset.closed = '';
		}
	});
	addEventListener('afterprint', () => {
		for (const node of document.querySelectorAll('details[data-closed]')) {
			node.open = false;
			delete node.dataset.closed;
		}
	});

	return {parse, lines, element, svg, format, plain, words, state, themeButton, color, table, numbers};
})();

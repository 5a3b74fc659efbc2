// SPDX-License-Identifier: BSD-2-Clause
//
// diff.js: the page of `diff`: what shifted first, then a panel for each device and operation with both distributions as
// cumulative curves and every number with its interval; of calls, the functions side by side. Rows are those of `-o json`.
'use strict';

(() => {
	const {element, svg, words, format} = page;
	const data = page.lines('diff');
	const of = type => data.filter(row => row.type === type);
	const runs = of('run');
	const shifts = of('shift').map(row => ({...row, interval: row.shift}));

	// ---- words ----

	const kinds = {ns: 'duration', bytes: 'bytes', per_s: 'rate', percent: 'percent', commands: 'count'};
	const found = row => ['slower', 'faster', 'more', 'less'].includes(row.verdict);
	const title = row => `${row.dev ?? row.dev_b}${row.dev && row.dev_b && row.dev !== row.dev_b ? ` (B: ${row.dev_b})` : ''} ${row.op}`;

	function shiftWords(value, unit) {
		if (value === null)
			return '–';
		const number = Math.abs(value) < 0.05 ? '0.0' : Math.abs(value).toFixed(Math.abs(value) < 1000 ? 1 : 0);
		return `${Math.abs(value) < 0.05 ? '' : value < 0 ? '−' : '+'}${number}${unit === 'points' ? 'pt' : '%'}`;
	}

	function verdictNode(row) {
		const mood = row.what === 'errors' && found(row) ? `${row.verdict}-errors` : found(row) ? row.verdict : 'plain';
		return element('span', {class: `verdict ${mood}`, text: row.verdict ?? '–'});
	}

	// ---- an interval: zero in the middle, as wide as the widest that is shown ----

	const spanWidth = 190;

	function spanNode(row, widest) {
		const x = value => (spanWidth / 2) * (1 + Math.max(-1, Math.min(1, value / widest)));
		const label = `${shiftWords(row.low, row.shift_unit)} to ${shiftWords(row.high, row.shift_unit)}`;
		const node = svg('svg', {class: `span ${found(row) ? row.verdict : 'plain'}`, viewBox: `0 0 ${spanWidth} 16`, role: 'img', 'aria-label': label},
			svg('title', {text: label}), svg('line', {class: 'zero', x1: x(0), x2: x(0), y1: 1, y2: 15}));
		if (row.low !== null)
			node.append(svg('line', {class: 'reach', x1: x(row.low), x2: Math.max(x(row.high), x(row.low) + 1), y1: 8, y2: 8}));
		if (row.shift !== null)
			node.append(Math.abs(row.shift) <= widest ? svg('circle', {class: 'is', cx: x(row.shift), cy: 8, r: 4})
				: svg('path', {class: 'is', d: row.shift < 0 ? 'M8 3v10L0 8z' : `M${spanWidth - 8} 3v10l8 -5z`})); // it is further out
		return node;
	}

	// One that reaches from nothing to infinity must not make points of all others.
	function widestOf(rows) {
		const ends = rows.flatMap(row => [row.shift, row.low, row.high]).filter(value => value !== null).map(Math.abs).sort((a, b) => a - b);
		return Math.min(Math.max(1, ends[Math.floor(ends.length * 0.9)] ?? 1) * 1.05, 100);
	}

	function shiftColumns(rows, ...first) {
		const widest = widestOf(rows);
		const value = key => ({key, label: key.toUpperCase(), kind: 'rate', show: row => words(kinds[row.unit] ?? 'number', row[key])});
		const part = (key, label, help) => ({key, label, help, kind: 'percent', show: row => shiftWords(row[key], row.shift_unit)});
		return [...first, {key: 'what', label: 'what', kind: 'text'}, value('a'), value('b'),
			part('shift', 'shift', 'B minus A, in percent of A; for percentages, the difference in points'),
			part('low', 'from', '95 % confidence interval, adjusted for all comparisons on this page'), part('high', 'to'),
			{key: 'verdict', label: 'verdict', kind: 'text', show: verdictNode},
			{key: 'interval', label: `−${Math.round(widest)} … 0 … +${Math.round(widest)}`, kind: 'text', show: row => spanNode(row, widest)}];
	}

	// ---- curves ----

	const size = {width: 900, height: 330, left: 62, right: 14, top: 12, bottom: 34};
	const inner = {width: size.width - size.left - size.right, height: size.height - size.top - size.bottom};
	const isNines = () => page.state.get('scale') === 'nines';
	const nines = percent => -Math.log10(Math.max(1 - percent / 100, 1e-5));

	// Percent to pixels: even, or each nine as tall as the one before it.
	function verticalOf(rows) {
		const top = isNines() ? Math.max(1, nines(rows.at(-2)?.percent ?? 99)) : 100;
		return percent => size.top + inner.height * (1 - Math.min(1, (isNines() ? nines(percent) : percent) / top));
	}

	function horizontalOf(rows) {
		const values = rows.flatMap(row => [row.a_ns, row.b_ns]).filter(ns => ns > 0);
		const low = Math.min(...values) / 1.05, high = Math.max(...values) * 1.05;
		const scale = inner.width / Math.log(high / low);
		return {low, high, at: ns => size.left + scale * Math.log(Math.max(ns, low) / low)};
	}

	function latencyTicks({low, high}) {
		const ticks = [];
		for (let unit = 10 ** Math.floor(Math.log10(low)); unit <= high; unit *= 10)
			for (const part of high / low > 300 ? [1] : high / low > 12 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9])
				if (unit * part >= low && unit * part <= high)
					ticks.push(unit * part);
		return ticks;
	}

	function axes(x, y) {
		const percents = isNines() ? [0, 90, 99, 99.9, 99.99, 99.999] : [0, 25, 50, 75, 90, 100];
		const lines = percents.filter(percent => y(percent) > size.top - 1 && (percent === 0 || y(percent) < y(0))).flatMap((percent, i, all) =>
			i && Math.abs(y(percent) - y(all[i - 1])) < 10 ? [] : [
				svg('line', {class: percent ? 'grid' : 'base', x1: size.left, x2: size.width - size.right, y1: y(percent), y2: y(percent)}),
				svg('text', {x: size.left - 8, y: y(percent) + 4, 'text-anchor': 'end', text: `${percent}%`})]);
		let labelled = -Infinity;
		const marks = latencyTicks(x).flatMap(ns => {
			const fits = x.at(ns) > labelled + 52;
			labelled = fits ? x.at(ns) : labelled;
			return [svg('line', {class: 'grid', x1: x.at(ns), x2: x.at(ns), y1: size.top, y2: size.height - size.bottom}),
				fits ? svg('text', {x: x.at(ns), y: size.height - size.bottom + 18, 'text-anchor': 'middle', text: format.duration(ns)}) : null];
		});
		return [...lines, ...marks];
	}

	const path = (rows, key, x, y) => rows.map((row, i) => `${i ? 'L' : 'M'}${x.at(row[key]).toFixed(1)} ${y(row.percent).toFixed(1)}`).join('');

	// A percentile at hand: by mouse, or by the arrow keys.
	function cursorOf(rows, x, y, readout) {
		const between = svg('line', {class: 'between'}), dots = ['a', 'b'].map(run => svg('circle', {class: `dot ${run}`, r: 4}));
		const group = svg('g', {visibility: 'hidden'}, between, dots);
		let at = rows.findIndex(row => row.percent === 50);

		function show(next) {
			at = Math.max(0, Math.min(rows.length - 1, next));
			const row = rows[at], level = y(row.percent);
			for (const [name, value] of Object.entries({x1: x.at(row.a_ns), x2: x.at(row.b_ns), y1: level, y2: level}))
				between.setAttribute(name, value);
			dots.forEach((dot, i) => {
				dot.setAttribute('cx', x.at(i ? row.b_ns : row.a_ns));
				dot.setAttribute('cy', level);
			});
			group.setAttribute('visibility', 'visible');
			const shift = row.a_ns > 0 ? shiftWords(100 * (row.b_ns / row.a_ns - 1), 'percent') : '–';
			readout.textContent = `${row.percent} % took at most ${format.duration(row.a_ns)} in A, ${format.duration(row.b_ns)} in B: ${shift}`;
		}

		const nearest = level => rows.reduce((best, row, i) => Math.abs(y(row.percent) - level) < Math.abs(y(rows[best].percent) - level) ? i : best, 0);
		const steps = {ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -rows.length, End: rows.length};
		return {group, show, move: level => show(nearest(level)), key: name => name in steps && (show(at + steps[name]), true), start: () => show(at)};
	}

	function chart(name, rows, readout) {
		const x = horizontalOf(rows), y = verticalOf(rows);
		const cursor = cursorOf(rows, x, y, readout);
		const label = `${name}: cumulative distribution of the latency in A and in B`;
		const node = svg('svg', {
			class: 'chart', viewBox: `0 0 ${size.width} ${size.height}`, role: 'img', tabindex: '0', 'aria-label': `${label}; arrow keys step through the percentiles`,
			focus: () => cursor.start(),
			keydown(event) {
				if (cursor.key(event.key))
					event.preventDefault();
			},
			pointermove(event) {
				const box = node.getBoundingClientRect();
				cursor.move((event.clientY - box.top) * size.height / box.height);
			},
		}, axes(x, y), svg('path', {class: 'a', d: path(rows, 'a_ns', x, y)}), svg('path', {class: 'b', d: path(rows, 'b_ns', x, y)}), cursor.group);
		return node;
	}

	// ---- a panel ----

	const redraws = [];

	function figure(name, id, rows) {
		const readout = element('p', {class: 'readout', role: 'status', text: ''});
		const holder = element('div');
		const draw = () => holder.replaceChildren(chart(name, rows, readout));
		redraws.push(draw);
		draw();
		return element('figure', null, holder, readout, page.numbers('Curves as a table', {
			id: `curve-${id}`, caption: `${name}: latency by percentile`, rows,
			columns: [{key: 'percent', label: 'percent', kind: 'number'}, {key: 'a_ns', label: 'A', kind: 'duration'}, {key: 'b_ns', label: 'B', kind: 'duration'}],
		}));
	}

	function panel(rows, id) {
		const name = title(rows[0]), curve = of('curve').filter(row => row.op === rows[0].op && row.dev === rows[0].dev && row.dev_b === rows[0].dev_b);
		const count = rows.find(row => row.what === 'count');
		const matched = {serial: 'matched by serial number', name: 'matched by name', left: 'matched as the only remaining disks', asked: 'paired with --pair'}[rows[0].matched];
		return element('section', {id: `panel-${id}`}, element('h2', {text: name}),
			element('p', {class: 'quiet', text: [`${format.count(count.a)} commands in A, ${format.count(count.b)} in B`, matched].filter(Boolean).join('; ')}),
			curve.length ? figure(name, id, curve) : element('p', {class: 'empty', text: `Nothing to compare: ${count.verdict ?? 'no commands'}.`}),
			rows.length > 1 ? page.table({id: `shifts-${id}`, caption: `${name}: values with confidence intervals`, rows: rows.filter(row => row.what !== 'count'),
				columns: shiftColumns(rows)}) : null);
	}

	// ---- what shifted ----

	function summary() {
		const news = shifts.filter(found), judged = shifts.filter(row => row.low !== null).length;
		const text = news.length ? `${news.length} of ${judged} values shifted by more than chance explains.`
			: `Nothing shifted: all ${judged} comparable values are within noise.`;
		return element('section', {id: 'summary'}, element('h2', {text: 'What shifted'}), element('p', {text}),
			news.length ? page.table({id: 'found', caption: 'Shifts beyond noise', rows: news.map(row => ({...row, name: title(row)})),
				columns: shiftColumns(news, {key: 'name', label: 'device, operation', kind: 'text'})}) : null);
	}

	function scaleButton() {
		const button = element('button', {type: 'button', class: 'no-print', 'aria-pressed': String(isNines()), text: 'Expand tail', title: 'Logarithmic scale: 90 %, 99 % and 99.9 % are equally far apart',
			click() {
				page.state.set('scale', isNines() ? null : 'nines');
				button.setAttribute('aria-pressed', String(isNines()));
				redraws.forEach(draw => draw());
			}});
		return button;
	}

	// ---- calls ----

	function callsPanel(rows, isGraph) {
		const pairs = [['count', 'count', ''], ['total', 'duration', '_ns'], ['self', 'duration', '_ns'], ['mean', 'duration', '_ns']];
		const columns = pairs.flatMap(([name, kind, unit]) => ['a', 'b'].map(run =>
			({key: `${name}_${run}${unit}`, label: `${name} ${run.toUpperCase()}`, kind})));
		const shift = isGraph ? [] : [{key: 'shift', label: 'shift', kind: 'percent', show: row => shiftWords(row.shift, 'percent')}];
		const name = {key: isGraph ? 'functions' : 'function', label: 'function', kind: 'text', show: row =>
			element('span', {class: 'call', text: '  '.repeat(Math.min(row.depth ?? 0, 40)) + row.function})};
		const only = run => rows.filter(row => row.verdict === `only ${run}`).length;
		return element('section', {id: 'calls'}, element('h2', {text: isGraph ? 'Call graph' : 'Functions'}),
			element('p', {text: `${rows.length} ${isGraph ? 'call paths' : 'functions'}: ${only('A')} only in A, ${only('B')} only in B.`}),
			page.table({id: 'functions', caption: 'Calls and times in A and B', rows,
				columns: [name, ...columns, ...shift, {key: 'verdict', label: 'verdict', kind: 'text', show: verdictNode}]}));
	}

	// ---- the page ----

	function runsNode() {
		return element('dl', {class: 'runs'}, runs.flatMap(run => [
			element('dt', null, run.run, svg('svg', {class: 'swatch', viewBox: '0 0 30 10', 'aria-hidden': 'true'},
				svg('line', {class: run.run.toLowerCase(), x1: 0, x2: 30, y1: 5, y2: 5}))),
			element('dd', null, element('code', {text: run.capture}), run.commands === null ? null :
				element('span', {class: 'quiet', text: ` ${format.count(run.commands)} commands in ${words('seconds', run.seconds)} s`}))]));
	}

	function groups() {
		const all = new Map();
		for (const row of shifts) {
			const key = JSON.stringify([row.dev, row.dev_b, row.op]);
			all.set(key, [...all.get(key) ?? [], row]);
		}
		return [...all.values()];
	}

	const functions = of('function'), paths = of('path');
	const isCalls = functions.length + paths.length > 0;
	document.body.append(
		element('header', null, element('div', {class: 'title'}, element('h1', {text: 'Comparison of two runs'}),
			element('div', {class: 'bar'}, isCalls ? null : scaleButton(), page.themeButton())), runsNode()),
		element('main', null, isCalls ? callsPanel(functions.length ? functions : paths, !functions.length) : [summary(), ...groups().map(panel)]),
		element('footer', {text: 'Confidence intervals come from a block bootstrap with 1,000 resamples of each run. See iosonar-diff(8) for the criterion for noise.'}));
})();

// SPDX-License-Identifier: BSD-2-Clause
//
// blame.js: the page of `blame`: for each disk a matrix, victims down, culprits across, darker is worse. A cell shows, when it
// is chosen, the commands behind it: by operation and size, and the slowest of both. Rows are those of `-o json`.
'use strict';

(() => {
	const {element, format, words} = page;
	const data = page.lines('blame');
	const kinds = page.lines('kinds');
	const head = data.find(row => row.type === 'head');
	const rows = data.filter(row => row.type === 'blame');
	const commands = data.filter(row => row.type === 'command');
	const itself = 'device itself';
	const most = 40; // victims and culprits in a matrix; the table below has all

	// ---- who is who ----

	const parts = ['comm', 'pid', 'cgroup', 'unit', 'container', 'path', 'qid'];
	const by = new Set(head.by.split(','));

	// Rows by operation and size belong to those without: operations that have rows of their own do in both.
	function belongs(kind, row, side) {
		const same = name => kind[`${side}_${name}`] === row[`${side}_${name}`];
		if (side === 'culprit' && (kind.culprit === itself || row.culprit === itself))
			return kind.culprit === row.culprit;
		return parts.every(same) && (row[`${side}_op`] === null || same('op')) && (row[`${side}_size_bytes`] === null || same('size_bytes'));
	}

	// ---- what a cell is made of ----

	const kindColumns = [
		{key: 'victim', label: 'victim', kind: 'text'}, {key: 'culprit', label: 'culprit', kind: 'text'},
		{key: 'count', label: 'commands', kind: 'count', help: 'of the victim'},
		{key: 'mean_ns', label: 'mean', kind: 'duration', help: 'latency of these'},
		{key: 'sum_ns', label: 'waited', kind: 'duration', help: 'because of the culprit, in sum'},
		{key: 'each_ns', label: 'each', kind: 'duration'}, {key: 'share_percent', label: 'share', kind: 'percent', help: 'part of their latency'},
	];
	const commandColumns = [
		{key: 'time_s', label: 'time', kind: 'moment', help: 'of the submission, since the start'},
		{key: 'lat_ns', label: 'latency', kind: 'duration', help: 'from submission to end'},
		{key: 'wait_ns', label: 'before issue', kind: 'duration'}, {key: 'op', label: 'op', kind: 'word'},
		{key: 'bytes', label: 'bytes', kind: 'bytes'}, {key: 'sector', label: 'sector', kind: 'number'},
		{key: 'pid', label: 'pid', kind: 'number'}, {key: 'comm', label: 'task', kind: 'text'},
	];

	function slowest(id, dev, party) {
		const found = commands.filter(row => row.dev === dev && row.party === party).sort((a, b) => b.lat_ns - a.lat_ns).slice(0, 10);
		return found.length ? page.table({id, caption: `The slowest commands of ${format.text(party)}`, columns: commandColumns, rows: found})
			: null;
	}

	function pairNode(id, row) {
		const made = kinds.filter(kind => kind.dev === row.dev && kind.sum_ns > 0 && belongs(kind, row, 'victim') && belongs(kind, row, 'culprit'));
		const waits = row.culprit === itself ? `${format.text(row.victim)}: the device itself` : `${format.text(row.victim)} waits for ${format.text(row.culprit)}`;
		return element('div', {class: 'pair', id, 'aria-live': 'polite'},
			element('h3', {text: waits}),
			element('p', {text: `${words('duration', row.sum_ns)} in sum, ${words('duration', row.each_ns)} for each of ${words('count', row.count)} commands, `
				+ `${words('percent', row.share_percent)} of their latency.`}),
			page.table({id: `${id}-kinds`, caption: 'By operation and size', columns: kindColumns, rows: made, sort: {key: 'sum_ns', down: true}}),
			slowest(`${id}-victim`, row.dev, row.victim),
			row.culprit === row.victim || row.culprit === itself ? null : slowest(`${id}-culprit`, row.dev, row.culprit));
	}

	// ---- a matrix ----

	const heat = percent => Math.min(7, Math.floor(percent / 12.5));

	// By what they cost all victims; the device itself is last.
	function culpritsOf(own) {
		const sums = new Map();
		for (const row of own)
			sums.set(row.culprit, (sums.get(row.culprit) ?? 0) + (row.culprit === row.victim ? 0 : row.sum_ns));
		const names = [...sums.keys()].filter(name => name !== itself).sort((a, b) => sums.get(b) - sums.get(a));
		return [...names.slice(0, most), itself];
	}

	// Arrows move between cells.
	function move(event, cells, at, width) {
		const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -width, ArrowDown: width}[event.key];
		if (!step)
			return;
		event.preventDefault();
		for (let next = at + step; next >= 0 && next < cells.length; next += step)
			if (cells[next])
				return cells[next].focus();
	}

	function matrixNode(nr, dev, own) {
		const victims = [...new Set(own.map(row => row.victim))];
		const culprits = culpritsOf(own), shown = victims.slice(0, most), cells = [];
		const place = element('div');
		const lines = shown.map(victim => element('tr', null, element('th', {scope: 'row', text: format.text(victim), title: format.text(victim)}),
			culprits.map(culprit => element('td', null, cellNode(own.find(row => row.victim === victim && row.culprit === culprit))))));

		function choose(button, row) {
			cells.forEach(cell => cell?.setAttribute('aria-pressed', String(cell === button)));
			place.replaceChildren(pairNode(`pair-${nr}`, row));
			page.state.set('cell', `${nr}.${cells.indexOf(button)}`);
		}

		function cellNode(row) {
			const at = cells.length;
			if (!row || !row.sum_ns) {
				cells.push(null);
				return null;
			}
			const button = element('button', {
				type: 'button', class: `heat-${heat(row.share_percent)}`, 'aria-pressed': 'false', text: words('percent', row.share_percent),
				title: `${format.text(row.victim)} because of ${format.text(row.culprit)}: ${words('duration', row.sum_ns)}`,
				click: () => choose(button, row), keydown: event => move(event, cells, at, culprits.length),
			});
			cells.push(button);
			return button;
		}

		const left = victims.length - shown.length + new Set(own.map(row => row.culprit)).size - culprits.length;
		const node = element('section', {id: `disk-${nr}`}, element('h2', {text: format.text(dev)}),
			element('div', {class: 'matrix', tabindex: '0', role: 'region', 'aria-label': `victims and culprits of ${format.text(dev)}`},
				element('table', {id: `matrix-${nr}`}, element('caption', {text: 'Victims down, culprits across: part of the latency of a victim'}),
					element('thead', null, element('tr', null, element('th', {scope: 'col', text: 'victim'}),
						culprits.map(name => element('th', {scope: 'col', text: format.text(name), title: format.text(name)})))),
					element('tbody', null, lines))),
			left > 0 ? element('p', {class: 'quiet', text: `${left} more victims and culprits are in the table.`}) : null,
			place, page.numbers('All numbers', {id: `all-${nr}`, caption: `Victims and culprits of ${format.text(dev)}`, columns: kindColumns, rows: own}));
		const [disk, cell] = (page.state.get('cell') ?? '').split('.');
		if (disk === String(nr))
			cells[cell]?.click();
		return node;
	}

	// ---- the page ----

	const disks = [...new Set(rows.map(row => row.dev))];
	document.body.append(
		element('header', null,
			element('div', {class: 'title'}, element('h1', {text: 'Who made whom wait'}), page.themeButton()),
			element('p', {id: 'summary', text: `${words('count', head.commands)} commands in ${words('seconds', head.seconds)} s`
				+ `${head.source === null ? '' : ` of ${format.text(head.source)}`}, told apart by ${[...by].join(', ')}. Choose a cell to see the commands behind it.`})),
		element('main', null, disks.length ? disks.map((dev, nr) => matrixNode(nr, dev, rows.filter(row => row.dev === dev)))
			: element('p', {class: 'empty', text: 'No command was seen.'})),
		element('footer', {text: 'A cell is what a victim waited because of a culprit, as a part of its latency; see iosonar-blame(8) for the model.'}));
})();

// SPDX-License-Identifier: BSD-2-Clause
//
// report.js: the page of `report`: a panel for each question, the chart first, its numbers as a table below. Everything was
// added up before; here it is only placed. Rows are grouped by their type, as `report -o json` prints them.
'use strict';

(() => {
	const {element, svg, words, format} = page;
	const data = Map.groupBy(page.lines('report'), row => row.type);
	const of = type => data.get(type) ?? [];
	const whole = of('report')[0] ?? {};
	const ledger = of('ledger')[0] ?? null;
	const named = row => page.plain(`${row.dev} ${row.op}`);
	const groups = rows => [...Map.groupBy(rows, named)];

	// ---- what columns are called ----

	const labels = {
		rank: ['#', 'number'], time_s: ['time', 'moment'], whole_ns: ['whole', 'duration'], lat_ns: ['latency', 'duration'], dev: ['device', 'word'], op: ['op', 'word'],
		sector: ['sector', 'number'], lba: ['LBA', 'number'], bytes: ['size', 'bytes'], depth: ['depth', 'number'], attempts: ['attempts', 'number'],
		pid: ['pid', 'number'], comm: ['process', 'word'], host: ['host', 'word'], file: ['file', 'path'], status: ['status', 'text'], what: ['what', 'word'], cgroup: ['cgroup', 'path'],
		count: ['count', 'count'], iops: ['IO/s', 'rate'], mb_per_s: ['MB/s', 'mbps'], size_bytes: ['size', 'bytes'], failed: ['failed', 'count'],
		p50_ns: ['p50', 'duration'], p90_ns: ['p90', 'duration'], p99_ns: ['p99', 'duration'], p99_9_ns: ['p99.9', 'duration'],
		p99_99_ns: ['p99.99', 'duration'], max_ns: ['max', 'duration'], mean_ns: ['mean', 'duration'], sum_ns: ['total time', 'duration'],
		share_percent: ['share', 'percent'], tail_percent: ['share of slowest 1 %', 'percent'], step: ['step', 'word'], call: ['call', 'word'], part: ['part', 'word'], model: ['model', 'text'],
		serial: ['serial', 'word'], firmware: ['firmware', 'word'], block_bytes: ['block size', 'number'], queues: ['queues', 'number'],
		begin_s: ['from', 'seconds'], end_s: ['to', 'seconds'], from_ns: ['at least', 'duration'], to_ns: ['less than', 'duration'],
		percentile: ['percentile', 'number'], from_sector: ['from sector', 'number'], to_sector: ['to sector', 'number'],
		read_percent: ['read', 'percent'], write_percent: ['write', 'percent'], rest_percent: ['other', 'percent'], seq_percent: ['sequential', 'percent'],
		streams: ['streams', 'number'], aligned_percent: ['4Ki aligned', 'percent'], depth_mean: ['mean depth', 'rate'], depth_max: ['max depth', 'number'],
		gap_p50_ns: ['median gap', 'duration'], from_depth: ['from', 'number'], to_depth: ['to', 'number'], qid: ['queue', 'number'], cid: ['cid', 'number'],
	};

	function columns(...keys) {
		return keys.map(key => typeof key === 'string' ? {key, label: labels[key][0], kind: labels[key][1]} : key);
	}

	// Without those that say nothing: empty, or the same plain word in every row.
	function useful(rows, all, plain = {}) {
		return all.filter(column => rows.some(row => (row[column.key] ?? null) !== null && row[column.key] !== plain[column.key]));
	}

	const renamed = (key, label) => ({...columns(key)[0], label});

	// ---- small parts of cells ----

	function bar(percent) {
		const node = element('span', {class: 'bar'});
		node.style.width = `${Math.max(0, Math.min(100, percent))}%`;
		return node;
	}

	const share = {...columns('share_percent')[0], show: row =>
		element('span', {class: 'share'}, element('span', null, bar(row.share_percent)), words('percent', row.share_percent))};

	// Steps have the same colour everywhere, and stand in the order of the way.
	const letters = 'HQGFISADKNVEWC', waits = ['frozen', 'iocost', 'iolatency', 'wbt', 'tag'];
	const place = name => 16 * letters.indexOf(name[0]) + letters.indexOf(name[2]);
	const stepOrder = name => waits.includes(name) ? place('Q2G') + (1 + waits.indexOf(name)) / 8 : place(name); // parts of Q2G
	const stepNames = [...new Set([...of('layers').filter(row => row.what !== 'total').map(row => row.step),
		...of('slow').flatMap(row => stepsOf(row).map(step => step.name))])].sort((a, b) => stepOrder(a) - stepOrder(b));
	const stepWords = new Map(of('layers').filter(row => row.what !== 'total').map(row => [row.step, row.what]));
	const stepColor = name => /^D2[CK]$/.test(name) ? 0 : 1 + stepNames.indexOf(name) % 7; // the device is always the first

	// {"Q2G": 1200, "G2S": 800}
	function stepsOf(row) {
		return Object.entries(row.steps ?? {}).map(([name, ns]) => ({name, ns}));
	}

	function stepText({name, ns}) {
		return `${name} ${format.duration(ns)}`;
	}

	// ---- summary ----

	function tile(label, value, bad) {
		return element('div', null, element('dt', {text: label}), element('dd', {text: value, class: bad ? 'bad' : null}));
	}

	function tiles() {
		return element('dl', {class: 'tiles'},
			tile('I/Os', words('count', whole.count)), tile('duration', words('duration', whole.seconds * 1e9)),
			tile('IO/s', words('rate', whole.iops)), tile('MB/s', words('mbps', whole.mb_per_s)),
			tile('median', words('duration', whole.p50_ns)), tile('p99', words('duration', whole.p99_ns)),
			tile('max', words('duration', whole.max_ns)), tile('failed', words('count', whole.failed), whole.failed > 0));
	}

	// As the terminal has it: issued = completed + in flight + never sent + lost.
	function ledgerText() {
		if (!ledger)
			return element('p', {class: 'bad', text: 'The capture has no ledger, because its end is missing.'});
		const lost = Object.entries(ledger).filter(([key, value]) => /^(lost_|unaccounted)/.test(key) && value !== 0 && value !== null);
		const terms = [['in flight', ledger.in_flight], ['never sent', ledger.never_sent]].filter(([, value]) => value > 0)
			.map(([name, value]) => ` + ${name} ${format.count(value)}`).join('');
		const text = `Ledger: issued ${words('count', ledger.issued)} = completed ${words('count', ledger.completed)}${terms}; `;
		return element('p', null, text, lost.length
			? element('strong', {class: 'bad', text: `INCOMPLETE: ${lost.map(([key, value]) => `${key.replaceAll('_', ' ')} ${value}`).join(', ')}`})
			: element('strong', {class: 'good', text: 'nothing lost'}));
	}

	function chosen() {
		if (!ledger || ledger.completed === whole.count)
			return null;
		return element('p', {class: 'quiet', text: `This page shows ${words('count', whole.count)} commands. The ledger covers the whole recording.`});
	}

	function summary() {
		return [tiles(), ledgerText(), chosen(), of('latency').length ? page.table({
			id: 'latency', caption: 'Latency by device and operation', rows: of('latency'),
			columns: columns('dev', 'op', 'count', 'iops', 'mb_per_s', 'size_bytes', 'p50_ns', 'p90_ns', 'p99_ns', 'p99_9_ns', 'p99_99_ns', 'max_ns', 'mean_ns'),
		}) : empty('No commands match the selection.'), of('device').length ? page.table({
			id: 'devices', caption: 'Devices', rows: of('device'),
			columns: useful(of('device'), columns('dev', 'model', 'serial', 'firmware', 'size_bytes', 'block_bytes', 'queues', renamed('depth', 'queue depth'))),
		}) : null];
	}

	function empty(text) {
		return element('p', {class: 'empty', text});
	}

	// ---- latency over time ----

	const moments = of('moment');
	const span = moments.length ? [moments[0].begin_s, moments.at(-1).end_s] : [0, 1];

	function cellWords(cell) {
		const end = cell.to_ns ? `– ${format.duration(cell.to_ns)}` : 'or more';
		return `${format.seconds(cell.begin_s)} – ${format.seconds(cell.end_s)} s, ${format.duration(cell.from_ns)} ${end}: ${format.count(cell.count)} I/O${cell.count === 1 ? '' : 's'}`;
	}

	// Beside a cell: the next that is not empty, in the same column, or in the next column the one most like it.
	function cellBeside(cells) {
		return (at, key) => {
			if (at === null || key === 'Home')
				return 0;
			if (key === 'End')
				return cells.length - 1;
			const cell = cells[at], up = key === 'ArrowUp' || key === 'ArrowDown', sign = key === 'ArrowUp' || key === 'ArrowRight' ? 1 : -1;
			if (up) {
				const next = at + sign;
				return cells[next]?.begin_s === cell.begin_s ? next : at;
			}
			const begins = cells.map(other => other.begin_s).filter(begin => sign * (begin - cell.begin_s) > 0);
			if (!begins.length)
				return at;
			const begin = sign > 0 ? Math.min(...begins) : Math.max(...begins);
			const there = cells.map((other, i) => i).filter(i => cells[i].begin_s === begin);
			return there[chart.nearest(there.map(i => Math.log(cells[i].from_ns + 1)), Math.log(cell.from_ns + 1))];
		};
	}

	function heatMap(cells, title) {
		const height = 340, node = chart.frame(height, `Heat map of ${title}: time from left to right, latency from bottom to top`), box = chart.area(height);
		const tops = cells.map(cell => cell.to_ns || cell.from_ns * 1.25);
		const x = chart.linear(span, [box.left, box.right]);
		const y = chart.log([Math.min(...cells.map(cell => cell.from_ns)), Math.max(...tops)], [box.bottom, box.top]);
		const most = Math.max(...cells.map(cell => cell.count)), ticks = x.ticks(8);
		const readout = chart.readout('Point at a cell, or use the arrow keys.');
		const places = cells.map((cell, i) => ({x: x(cell.begin_s), y: y(tops[i]), width: x(cell.end_s) - x(cell.begin_s), height: y(cell.from_ns) - y(tops[i])}));
		const mark = svg('rect', {class: 'mark', visibility: 'hidden'});
		const put = (rect, at) => Object.entries(at).forEach(([name, value]) => rect.setAttribute(name, value.toFixed(2)));
		node.append(chart.axisY(box, y, y.ticks(), chart.short('duration')), svg('g', {class: 'cells', 'shape-rendering': 'crispEdges'}, cells.map((cell, i) => {
			const rect = svg('rect', {class: `heat-${chart.shade(cell.count, most)}`});
			put(rect, {...places[i], width: places[i].width + .3, height: places[i].height + .3}); // no gaps by rounding
			return rect;
		})), chart.axisX(box, x, ticks, chart.seconds(ticks)), mark);
		chart.cursor(node, {
			find: at => {
				const i = places.findIndex(cell => at.x >= cell.x && at.x < cell.x + cell.width && at.y >= cell.y && at.y < cell.y + cell.height);
				return i < 0 ? null : i;
			},
			move: cellBeside(cells),
			show: i => {
				readout.textContent = cellWords(cells[i]);
				put(mark, places[i]);
				mark.setAttribute('visibility', 'visible');
			},
		});
		return [node, readout, chart.shadeLegend(most, 'I/Os per cell')];
	}

	function choice(label, names, name, show) {
		const select = element('select', {change: () => show(select.value)}, names.map(value => element('option', {value, text: value, selected: value === name})));
		return element('label', {class: 'choice no-print'}, label, select);
	}

	// One for all, and one for each device and operation that has its own cells.
	function heat() {
		const all = 'all devices and operations', maps = new Map([[all, of('heat').filter(cell => cell.dev === null)],
			...groups(of('heat').filter(cell => cell.dev !== null))]);
		const place = element('div', {id: 'heat'});
		const show = name => {
			page.state.set('heat', name === all ? null : name);
			place.replaceChildren(...heatMap(maps.get(name), name), page.numbers('Cells as a table', {
				id: 'heat-table', caption: `Heat map cells: ${name}`, rows: maps.get(name), columns: columns('begin_s', 'end_s', 'from_ns', 'to_ns', 'count'),
			}));
		};
		const first = maps.has(page.state.get('heat')) ? page.state.get('heat') : all;
		show(first);
		return [maps.size > 1 ? choice('Show', [...maps.keys()], first, show) : null, place];
	}

	// A rate over time, as a step for each column.
	function rateChart(key, label, color) {
		const height = 120, node = chart.frame(height, `${label} over time`), box = chart.area(height);
		const x = chart.linear(span, [box.left, box.right]), ticks = x.ticks(8);
		const y = chart.linear([0, Math.max(...moments.map(row => row[key] ?? 0)) || 1], [box.bottom, box.top + 4]);
		const path = moments.filter(row => row[key] !== null).map(row => `H${x(row.begin_s).toFixed(1)}V${y(row[key]).toFixed(1)}H${x(row.end_s).toFixed(1)}`).join('');
		const mark = chart.line(box.left, box.top, box.left, box.bottom, 'mark');
		mark.setAttribute('visibility', 'hidden');
		node.append(chart.axisY(box, y, y.ticks(3), chart.short('rate')),
			svg('path', {class: `under fill-${color}`, d: `M${box.left} ${box.bottom}${path}V${box.bottom}Z`}),
			svg('path', {class: `curve plain line-${color}`, d: `M${box.left} ${y(moments[0][key] ?? 0).toFixed(1)}${path}`}),
			chart.axisX(box, x, ticks, chart.seconds(ticks)), mark, chart.text(box.left + 6, box.top + 12, label, {class: 'strong'}));
		return {node, show: i => {
			const at = (x(moments[i].begin_s) + x(moments[i].end_s)) / 2;
			mark.setAttribute('x1', at);
			mark.setAttribute('x2', at);
			mark.setAttribute('visibility', 'visible');
		}, find: at => chart.nearest(moments.map(row => (x(row.begin_s) + x(row.end_s)) / 2), at.x)};
	}

	function rates() {
		const charts = [rateChart('iops', 'IO/s', 0), rateChart('mb_per_s', 'MB/s', 2)];
		const readout = chart.readout('Point at a chart, or use the arrow keys.');
		const show = i => {
			const row = moments[i];
			charts.forEach(one => one.show(i));
			readout.textContent = `${format.seconds(row.begin_s)} – ${format.seconds(row.end_s)} s: ${format.count(row.count)} I/Os, ${words('rate', row.iops)} IO/s, ` +
				`${words('mbps', row.mb_per_s)} MB/s, max ${words('duration', row.max_ns)}`;
		};
		charts.forEach(one => chart.cursor(one.node, {find: one.find, move: chart.along(moments.length), show}));
		return [charts.map(one => one.node), readout, page.numbers('Rates as a table', {
			id: 'moments', caption: 'Rates over time', rows: moments, columns: columns('begin_s', 'end_s', 'count', 'iops', 'mb_per_s', 'max_ns'),
		})];
	}

	function overTime() {
		if (!moments.length)
			return [empty('No commands to show.')];
		return [chart.figure(null, 'A stronger colour means more I/Os with this latency in this interval.', heat()),
			chart.figure('Rate over time', null, rates())];
	}

	// ---- percentiles ----

	// By nines: 90 %, 99 % and 99.9 % are as far apart.
	const nines = percentile => -Math.log10(1 - percentile / 100);

	// A curve ends where one command is the rest: beyond it nothing was measured.
	function curveOf([name, rows]) {
		const total = of('latency').find(row => named(row) === name)?.count ?? 1, end = Math.log10(total);
		const inside = rows.filter(row => row.percentile < 100 && nines(row.percentile) < end);
		return {name, total, rows, points: [...inside.map(row => ({at: nines(row.percentile), ns: row.lat_ns})),
			...rows.filter(row => row.percentile === 100).map(row => ({at: end, ns: row.lat_ns}))]};
	}

	function curves(all) {
		const height = 360, node = chart.frame(height, 'Latency by percentile, a curve for each device and operation'), box = chart.area(height);
		const points = all.flatMap(curve => curve.points);
		const x = chart.linear([0, Math.max(1, ...points.map(point => point.at))], [box.left, box.right]);
		const y = chart.log([Math.min(...points.map(point => point.ns)), Math.max(...points.map(point => point.ns))], [box.bottom - 6, box.top + 6]);
		const ticks = [0, 50, 90, 99, 99.9, 99.99].filter(tick => x(nines(tick)) <= box.right);
		const readout = chart.readout('Point at the chart, or use the arrow keys.');
		const mark = chart.line(box.left, box.top, box.left, box.bottom, 'mark');
		mark.setAttribute('visibility', 'hidden');
		const percentiles = all[0].rows.map(row => row.percentile).filter(percentile => percentile < 100 && x(nines(percentile)) <= box.right);
		node.append(chart.axisY(box, y, y.ticks(), chart.short('duration')), chart.axisX(box, x, ticks.map(nines), at => `${+(100 - 100 * 10 ** -at).toFixed(2)} %`),
			...all.map((curve, i) => svg('path', {class: `curve line-${i}`, d: `M${curve.points.map(point => `${x(point.at).toFixed(1)} ${y(point.ns).toFixed(1)}`).join('L')}`})),
			...all.map((curve, i) => svg('circle', {cx: x(curve.points.at(-1).at), cy: y(curve.points.at(-1).ns), r: 3.5, class: `fill-${i}`})), mark);
		chart.cursor(node, {
			find: at => chart.nearest(percentiles.map(percentile => x(nines(percentile))), at.x),
			move: chart.along(percentiles.length),
			show: i => {
				mark.setAttribute('x1', x(nines(percentiles[i])));
				mark.setAttribute('x2', x(nines(percentiles[i])));
				mark.setAttribute('visibility', 'visible');
				readout.textContent = `${percentiles[i]} % took less than: ${all.map(curve => `${curve.name} ${format.duration(curve.rows[i].lat_ns)}`).join(' · ')}`;
			},
		});
		return [node, readout, element('p', {class: 'legend'}, all.map((curve, i) => element('span', null,
			svg('svg', {viewBox: '0 0 34 14', class: 'swatch wide'}, svg('path', {class: `curve line-${i}`, d: 'M0 7H34', fill: 'none', 'stroke-width': 2.5})),
			`${curve.name} (${format.count(curve.total)})`)))];
	}

	function percentiles() {
		const all = groups(of('percentile')).map(curveOf).sort((a, b) => b.total - a.total), drawn = all.slice(0, 8);
		if (!all.length)
			return [empty('No commands to show.')];
		return [chart.figure(null, all.length > drawn.length ? `The chart shows ${drawn.length} of ${all.length} curves, those with the most I/Os. The table shows all.` : null, curves(drawn)),
			page.numbers('Percentiles as a table', {id: 'percentile-table', caption: 'Percentiles', rows: of('percentile'), columns: columns('dev', 'op', 'percentile', 'lat_ns')})];
	}

	// ---- stages ----

	function budgetBar(box, y, rows, key) {
		let at = box.left;
		return svg('g', null, rows.map(row => {
			const wide = (box.right - box.left) * (row[key] ?? 0) / 100, start = at;
			at += wide;
			return svg('g', null, svg('rect', {x: start.toFixed(1), y, width: Math.max(wide, 0).toFixed(1), height: 20, class: `fill-${stepColor(row.step)}`},
				svg('title', {text: `${row.step}, ${row.what}: ${words('percent', row[key])}`})),
				wide > 70 ? chart.text(start + 6, y + 14, `${row.step} ${words('percent', row[key])}`, {class: 'inside'}) : null);
		}));
	}

	function budget([name, rows]) {
		const steps = rows.filter(row => row.what !== 'total'), total = rows.find(row => row.what === 'total');
		const node = chart.frame(54, `Where the time of ${name} went`), box = chart.area(54);
		node.append(chart.text(box.left - 8, 15, 'all', {'text-anchor': 'end'}), budgetBar(box, 0, steps, 'share_percent'),
			chart.text(box.left - 8, 43, 'slowest 1 %', {'text-anchor': 'end'}), budgetBar(box, 28, steps, 'tail_percent'));
		return chart.figure(name, total ? `${format.count(total.count)} I/Os, median ${format.duration(total.p50_ns)}, p99 ${format.duration(total.p99_ns)}` : null, node);
	}

	function stages() {
		const rows = of('layers');
		if (!whole.staged)
			return [empty('This capture has no stages. To record them, use iosonar record --stages.')];
		const shown = groups(rows).slice(0, 12);
		return [shown.map(budget), element('p', {class: 'legend'}, stepNames.filter(name => stepWords.has(name)).map(name => element('span', null, chart.swatch(`fill-${stepColor(name)}`),
			`${name} ${stepWords.get(name)}`))), page.numbers('Steps as a table', {
			id: 'layers', caption: 'Steps', rows, columns: columns('dev', 'op', 'step', 'what', 'count', 'p50_ns', 'p99_ns', 'p99_9_ns', 'max_ns', 'sum_ns', 'share_percent', 'tail_percent'),
		})];
	}

	// ---- waits ----

	function systemCalls() {
		return [page.table({id: 'waits', caption: 'Parts of calls', rows: of('waits'),
			columns: columns('call', 'part', 'what', 'count', 'p50_ns', 'p99_ns', 'max_ns', 'sum_ns').concat(share, columns('tail_percent'))})];
	}

	// ---- load ----

	const sizeName = row => row.size_bytes === null ? 'other' : format.bytes(row.size_bytes);

	// Reads to the left, writes to the right.
	function sizeChart([dev, rows]) {
		const sizes = [...Map.groupBy(rows.toSorted((a, b) => (a.size_bytes ?? Infinity) - (b.size_bytes ?? Infinity)), sizeName)], height = 22 * sizes.length + 28;
		const node = chart.frame(height, `Sizes of reads and writes of ${dev}`), middle = chart.width / 2;
		const reach = chart.linear([0, Math.max(...rows.map(row => row.share_percent))], [0, middle - 190]);
		node.append(chart.text(middle - 50, 14, 'reads', {'text-anchor': 'end', class: 'strong'}), chart.text(middle + 50, 14, 'writes', {class: 'strong'}));
		sizes.forEach(([name, same], i) => {
			const y = 24 + 22 * i;
			node.append(chart.text(middle, y + 13, name, {'text-anchor': 'middle', class: 'strong'}));
			for (const row of same) {
				const reads = row.op === 'read', wide = reach(row.share_percent), label = `${format.percent(row.share_percent)} · ${format.count(row.count)}`;
				node.append(svg('rect', {x: reads ? middle - 44 - wide : middle + 44, y, width: Math.max(wide, 1), height: 17, rx: 2, class: reads ? 'fill-0' : 'fill-1'}),
					chart.text(reads ? middle - 50 - wide : middle + 50 + wide, y + 13, label, {'text-anchor': reads ? 'end' : 'start'}));
			}
		});
		return chart.figure(`I/O sizes on ${page.plain(dev)}`, null, node);
	}

	// Strips as long as the device, one for each operation.
	function placeChart([dev, rows]) {
		const ops = [...Map.groupBy(rows, row => row.op)], height = 34 * ops.length + 34;
		const node = chart.frame(height, `Start sectors of reads and writes on ${dev}`), box = chart.area(height);
		const disk = of('device').find(device => device.dev === dev), end = Math.max(...rows.map(row => row.to_sector), (disk?.size_bytes ?? 0) / 512);
		const x = chart.linear([0, end], [box.left, box.right]), most = Math.max(...rows.map(row => row.count)), readout = chart.readout('Point at a cell, or use the arrow keys.');
		const places = [];
		ops.forEach(([op, cells], i) => {
			const y = 4 + 34 * i;
			node.append(chart.text(box.left - 8, y + 18, op, {'text-anchor': 'end', class: 'strong'}),
				svg('rect', {x: box.left, y, width: box.right - box.left, height: 26, class: 'empty-cell'}));
			for (const cell of cells) {
				const at = {x: x(cell.from_sector), y, width: Math.max(1, x(cell.to_sector) - x(cell.from_sector))};
				places.push({...at, cell});
				node.append(svg('rect', {x: at.x.toFixed(1), y, width: at.width.toFixed(1), height: 26, class: `heat-${chart.shade(cell.count, most)}`}));
			}
		});
		const mark = svg('rect', {class: 'mark', visibility: 'hidden', height: 26});
		node.append(chart.axisX({...box, bottom: height - 28}, x, chart.powers(end * 512, 8).map(tick => tick / 512), tick => chart.short('bytes')(tick * 512)), mark);
		chart.cursor(node, {
			find: at => {
				const i = places.findIndex(place => at.x >= place.x && at.x < place.x + place.width && at.y >= place.y && at.y < place.y + 26);
				return i < 0 ? null : i;
			},
			move: chart.along(places.length),
			show: i => {
				const {cell, ...at} = places[i];
				Object.entries(at).forEach(([name, value]) => mark.setAttribute(name, value));
				mark.setAttribute('visibility', 'visible');
				readout.textContent = `${cell.op}s from sector ${format.count(cell.from_sector)} to ${format.count(cell.to_sector)}: ${format.count(cell.count)} (${format.percent(cell.share_percent)})`;
			},
		});
		return chart.figure(`Positions on ${page.plain(dev)}`, null, node, readout, chart.shadeLegend(most, 'I/Os per cell'));
	}

	const depthName = row => row.to_depth === row.from_depth + 1 ? String(row.from_depth) : row.to_depth ? `${row.from_depth}–${row.to_depth - 1}` : `${row.from_depth}+`;

	function depthChart([dev, rows]) {
		const height = 150, node = chart.frame(height, `Commands in flight on ${dev}`), box = chart.area(height), each = Math.min((box.right - box.left) / rows.length, 60);
		const y = chart.linear([0, Math.max(...rows.map(row => row.share_percent))], [box.bottom, box.top + 4]), every = Math.ceil(48 / each);
		node.append(chart.axisY(box, y, y.ticks(3), chart.short('percent')), chart.line(box.left, box.bottom, box.right, box.bottom, 'base'));
		rows.forEach((row, i) => {
			const x = box.left + each * i;
			node.append(...[svg('rect', {x: (x + each * .1).toFixed(1), y: y(row.share_percent).toFixed(1), width: (each * .8).toFixed(1), height: (box.bottom - y(row.share_percent)).toFixed(1), class: 'fill-2'},
				svg('title', {text: `${depthName(row)} in flight: ${format.percent(row.share_percent)}, ${format.count(row.count)}`})),
			i % every ? '' : chart.text(x + each / 2, box.bottom + 16, depthName(row), {'text-anchor': 'middle'})]);
		});
		return chart.figure(`Queue depth on ${page.plain(dev)}`, 'Commands in flight at each submission, including the submitted command.', node);
	}

	function load() {
		if (!of('pattern').length)
			return [empty('No commands to show.')];
		const byDevice = type => [...Map.groupBy(of(type), row => row.dev)].slice(0, 8);
		return [page.table({id: 'pattern', caption: 'Workload by device', rows: of('pattern'),
			columns: columns('dev', 'count', 'read_percent', 'write_percent', 'rest_percent', 'size_bytes', 'seq_percent', 'streams', 'aligned_percent', 'depth_mean', 'depth_max', 'gap_p50_ns')}),
		byDevice('pattern_size').map(sizeChart), of('pattern_size').length ? page.numbers('Sizes as a table', {id: 'sizes', caption: 'I/O sizes', rows: of('pattern_size'),
			columns: columns('dev', 'op', 'size_bytes', 'count', 'share_percent')}) : null,
		byDevice('pattern_depth').map(depthChart), of('pattern_depth').length ? page.numbers('Depths as a table', {id: 'depths', caption: 'Queue depths', rows: of('pattern_depth'),
			columns: columns('dev', renamed('from_depth', 'at least'), renamed('to_depth', 'less than'), 'count', 'share_percent')}) : null,
		byDevice('pattern_heat').map(placeChart), of('pattern_heat').length ? page.numbers('Positions as a table', {id: 'places', caption: 'Positions', rows: of('pattern_heat'),
			columns: columns('dev', 'op', 'from_sector', 'to_sector', 'count', 'share_percent')}) : null];
	}

	// ---- who ----

	function more(shown, all, what) {
		return all > shown ? `The ${shown} of ${format.count(all)} ${what} with the most I/O time` : `All ${format.count(all)} ${what}`;
	}

	function who() {
		const host = type => useful(of(type), columns('host')); // of several machines
		const sums = ['count', renamed('bytes', 'bytes'), 'failed', 'mean_ns', 'max_ns', 'sum_ns', share];
		return [of('process').length ? page.table({id: 'processes', caption: more(of('process').length, whole.processes, 'processes'), rows: of('process'), columns: [...host('process'), ...columns('comm', 'pid', ...sums)]})
			: empty('No process submitted I/O.'),
		of('file').length ? page.table({id: 'files', caption: more(of('file').length, whole.files, 'files'), rows: of('file'), columns: [...host('file'), ...columns('file', ...sums)]})
			: empty('This capture has no file names. To record them, use iosonar record --stages.')];
	}

	// ---- slowest ----

	function way(row) {
		const steps = stepsOf(row), total = steps.reduce((sum, step) => sum + step.ns, 0);
		if (!total)
			return '–';
		return element('span', {class: 'way', role: 'img', 'aria-label': steps.map(stepText).join(', '), title: steps.map(stepText).join('\n')}, steps.map(step => {
			const part = element('i', {class: `step-${stepColor(step.name)}`});
			part.style.width = `${100 * step.ns / total}%`;
			return part;
		}));
	}

	function frames(label, stack) {
		return stack ? element('div', null, element('p', {class: 'quiet', text: label}), element('ol', {class: 'frames'}, stack.map(frame => element('li', {text: page.plain(frame)})))) : null;
	}

	function below(row) {
		const line = (label, text) => text ? element('p', {class: 'mono', text: page.plain(`${label}${text}`)}) : null;
		const parts = [line('', stepsOf(row).map(stepText).join('   ')), line('cgroup: ', row.cgroup),
			row.kernel_stack || row.user_stack ? element('div', {class: 'stacks'}, frames('kernel stack at submission', row.kernel_stack), frames('user stack at submission', row.user_stack)) : null].filter(part => part);
		return parts.length ? element('div', null, parts) : null;
	}

	function slowest() {
		if (!of('slow').length)
			return [empty('No commands to show.')];
		const all = columns('rank', 'whole_ns', 'lat_ns', 'time_s', 'dev', 'op', 'sector', 'bytes', 'depth', 'attempts', 'comm', 'pid', 'file', 'status',
			{key: 'steps', label: 'steps', kind: 'word', show: way});
		return [page.table({id: 'slow', caption: `The ${of('slow').length} slowest of ${words('count', whole.count)}`, rows: of('slow'),
			columns: useful(of('slow'), all, {attempts: 1, status: 'ok'}), detail: below})];
	}

	// ---- errors ----

	function errors() {
		if (!of('errors_sum').length)
			return [element('p', {class: 'empty good', text: `No errors in ${words('count', whole.count)} commands.`})];
		const all = of('errors_sum').reduce((sum, row) => sum + row.count, 0);
		return [page.table({id: 'errors-sum', caption: 'Errors by device, type and status', rows: of('errors_sum'), columns: columns('dev', 'what', 'status', 'count', renamed('max_ns', 'max latency'))}),
			page.table({id: 'errors', caption: all > of('errors').length ? `The first ${of('errors').length} of ${format.count(all)} errors` : 'All errors', rows: of('errors'),
				columns: columns('time_s', 'dev', 'what', 'op', 'sector', 'bytes', 'attempts', 'lat_ns', 'comm', 'pid', 'status')})];
	}

	// ---- why ----

	function finding(row) {
		const of = row.whose ? page.plain(` of the time of ${row.whose}`) : '';
		return element('article', {class: 'finding'}, element('h3', {text: page.plain(`${row.nr}. ${row.dev}: ${row.what}`)}),
			element('p', {text: `${words('percent', row.share_percent)}${of}, ${words('percent', row.tail_percent)} of the slowest 1 %; sure: ${row.sure}`}),
			element('ul', null, row.evidence.map(text => element('li', {text: page.plain(text)}))), element('p', null, element('code', {text: page.plain(row.more)})));
	}

	function why() {
		const found = of('why').filter(row => row.nr !== null), none = of('why').find(row => row.nr === null);
		if (found.length)
			return found.map(finding);
		if (!none)
			return [empty(of('why').length || !whole.count ? 'No commands to show.' : 'Causes are looked for among all commands, and this report shows a part of them.')];
		return [element('p', {class: 'empty good', text: page.plain(`${none.dev}: ${none.what}.`)}), element('ul', null, none.evidence.map(text => element('li', {text: page.plain(text)})))];
	}

	// ---- the page ----

	const sections = [
		['why', 'Why it is slow', 'Causes that explain much of the time, the most costly first.', why],
		['summary', 'Summary', null, summary],
		['time', 'Latency over time', null, overTime],
		['percentiles', 'Percentiles', 'The scale is logarithmic to show the tail: 90 %, 99 % and 99.9 % are equally far apart.', percentiles],
		['stages', 'Where the time goes', 'The share of each step in the time from submission to completion, for all I/Os and for the slowest 1 %.', stages],
		['waits', 'What calls waited for', 'The parts of each system call in which a thread waited, for all calls and for the slowest 1 %.', systemCalls],
		['load', 'Workload', 'Read/write mix, I/O sizes, access order, queue depth and positions on the device.', load],
		['who', 'Processes and files', 'Sorted by the total time of their I/Os.', who],
		['slowest', 'Slowest I/Os', 'Sorted by the time from submission to completion. Steps and stacks are shown if the capture contains them.', slowest],
		['errors', 'Errors', null, errors],
	].filter(([id]) => id !== 'waits' || of('waits').length);

	function section([id, title, note, make]) {
		return element('section', {id: `section-${id}`, 'aria-labelledby': `title-${id}`}, element('h2', {id: `title-${id}`, text: title}),
			note ? element('p', {text: note}) : null, make());
	}

	function go(id) {
		page.state.set('at', id);
		document.getElementById(`section-${id}`)?.scrollIntoView();
	}

	function link([id, title]) {
		return element('li', null, element('a', {href: `#at=${id}`, text: title, click: event => {
			event.preventDefault();
			go(id);
		}}));
	}

	function facts() {
		const begun = whole.wall_s ? new Date(whole.wall_s * 1000).toISOString().replace(/\.\d+Z/, 'Z') : null;
		const from = whole.from_s > 0 ? `starting at ${format.seconds(whole.from_s)} s` : null;
		return [element('p', {class: 'facts', text: [begun, from, whole.kernel && page.plain(`Linux ${whole.kernel}`), page.plain(whole.machine ?? ''),
			whole.captures > 1 && `${whole.captures} captures`].filter(fact => fact).join(' · ')}),
		whole.command ? element('p', {class: 'facts'}, 'recorded with ', element('code', {text: page.plain(whole.command)})) : null];
	}

	document.body.append(
		element('header', null, element('div', {class: 'title'}, element('h1', null, element('small', {text: 'iosonar report'}), page.plain(whole.capture ?? '')), page.themeButton()), facts()),
		element('nav', {'aria-label': 'Sections'}, element('ul', null, sections.map(link))),
		element('main', null, sections.map(section)),
		element('footer', {text: 'Created by iosonar report. This page contains all of its data and loads nothing from the network.'}));
	if (page.state.get('at'))
		go(page.state.get('at'));
})();

// SPDX-License-Identifier: BSD-2-Clause
//
// live_charts.js: the charts of the live page: a heat map and curves over time that grow to the right. Each is a node that stays,
// with a function that draws seconds into it: focus and cursor survive. A second is {begin_s, end_s, row, cells}.
'use strict';

const liveCharts = (() => {
	const {element, svg, format} = page;
	const least_s = 60; // the time that a chart begins with

	// ---- time: the server's seconds, as the clock of this browser ----

	let offset = 0; // from the server's time to that of the browser

	function clock(time_s) {
		return new Date((offset + time_s) * 1000).toLocaleTimeString('en-GB');
	}

	function setClock(time_s) {
		offset = Date.now() / 1000 - time_s;
	}

	// The last seconds, or at the start the first ones of a minute to come.
	function span(seconds) {
		const begin = seconds[0]?.begin_s ?? 0, end = seconds.at(-1)?.end_s ?? 0;
		return [begin, Math.max(end, begin + least_s)];
	}

	function axis(box, x, [begin, end]) {
		const step = [10, 30, 60, 120].find(each => (end - begin) / each <= 8) ?? 300, ticks = [];
		for (let tick = Math.ceil((offset + begin) / step) * step - offset; tick <= end; tick += step)
			ticks.push(tick);
		return chart.axisX(box, x, ticks, clock);
	}

	// ---- cells: four per octave; the lowest one has all below 1024 ns ----

	function cellTop(from_ns) {
		return from_ns < 1024 ? 1024 : from_ns + 2 ** Math.floor(Math.log2(from_ns)) / 4;
	}

	function cellsOf(seconds) {
		return seconds.flatMap(second => [...second.cells].map(([from_ns, count]) =>
			({second, begin_s: second.begin_s, end_s: second.end_s, from_ns, to_ns: cellTop(from_ns), count})));
	}

	function cellWords(cell) {
		return `${clock(cell.begin_s)} – ${clock(cell.end_s)}, ${cell.from_ns ? `${format.duration(cell.from_ns)} – ` : 'below '}${format.duration(cell.to_ns)}: ` +
			`${format.count(cell.count)} I/O${cell.count === 1 ? '' : 's'}`;
	}

	// The next cell in this direction: in the same second, or in the next one the cell most like it.
	function beside(cells, at, key) {
		if (!at)
			return key === 'Home' ? cells[0] : cells.at(-1);
		if (key === 'Home' || key === 'End')
			return cells.at(key === 'Home' ? 0 : -1);
		const sign = key === 'ArrowUp' || key === 'ArrowRight' ? 1 : -1;
		if (key === 'ArrowUp' || key === 'ArrowDown') {
			const column = cells.filter(cell => cell.begin_s === at.begin_s && sign * (cell.from_ns - at.from_ns) > 0);
			return column.at(sign > 0 ? 0 : -1);
		}
		const later = cells.filter(cell => sign * (cell.begin_s - at.begin_s) > 0);
		const begin = later.at(sign > 0 ? 0 : -1)?.begin_s, column = later.filter(cell => cell.begin_s === begin);
		return column[chart.nearest(column.map(cell => Math.log(cell.from_ns + 1)), Math.log(at.from_ns + 1))];
	}

	const put = (rect, at) => Object.entries(at).forEach(([name, value]) => rect.setAttribute(name, value.toFixed(2)));

	// ---- the heat map ----

	// open(cell): what a click or Enter on a cell does.
	function heatMap(open) {
		const height = 340, node = chart.frame(height, 'Heat map: time from left to right, latency from bottom to top'), box = chart.area(height);
		const readout = chart.readout('Point at a cell, or use the arrow keys.'), legend = element('div');
		const mark = svg('rect', {class: 'mark', visibility: 'hidden'}), drawn = svg('g');
		let cells = [], at = null, place = null;

		node.append(drawn, mark);

		function show(cell) {
			at = cell;
			readout.textContent = cellWords(cell);
			put(mark, place(cell));
			mark.setAttribute('visibility', 'visible');
		}

		function update(seconds) {
			const range = span(seconds);
			cells = cellsOf(seconds);
			const x = chart.linear(range, [box.left, box.right]), most = Math.max(1, ...cells.map(cell => cell.count));
			const y = chart.log([Math.min(4096, ...cells.map(cell => Math.max(cell.from_ns, 512))), Math.max(1e6, ...cells.map(cell => cell.to_ns))], [box.bottom, box.top]);
			place = cell => ({x: x(cell.begin_s), y: y(cell.to_ns), width: x(cell.end_s) - x(cell.begin_s), height: y(Math.max(cell.from_ns, 512)) - y(cell.to_ns)});
			drawn.replaceChildren(chart.axisY(box, y, y.ticks(), chart.short('duration')), svg('g', {class: 'cells', 'shape-rendering': 'crispEdges'}, cells.map(cell => {
				const rect = svg('rect', {class: `heat-${chart.shade(cell.count, most)}`}), there = place(cell);
				put(rect, {...there, width: there.width + .3, height: there.height + .3}); // no gaps by rounding
				return rect;
			})), axis(box, x, range));
			legend.replaceChildren(cells.length ? chart.shadeLegend(most, 'I/Os per second and cell') : '');
			at = at && cells.find(cell => cell.begin_s === at.begin_s && cell.from_ns === at.from_ns);
			if (at)
				put(mark, place(at));
			else
				mark.setAttribute('visibility', 'hidden');
		}

		chart.cursor(node, {
			find: point => cells.find(cell => {
				const there = place(cell);
				return point.x >= there.x && point.x < there.x + there.width && point.y >= there.y && point.y < there.y + there.height;
			}),
			move: (_, key) => cells.length ? beside(cells, at, key) : null,
			show,
		});
		node.addEventListener('click', () => at && open(at));
		node.addEventListener('keydown', event => event.key === 'Enter' && at && open(at));
		update([]);
		return {parts: [node, readout, legend], update};
	}

	// ---- curves ----

	// One curve per key of the rows; a second without I/O has a gap. words(second): what the cursor says.
	function curves({keys, label, height, kind, scale, words}) {
		const node = chart.frame(height, `${label} over time`), box = chart.area(height), readout = chart.readout('Point at the chart, or use the arrow keys.');
		const drawn = svg('g'), mark = chart.line(box.left, box.top, box.left, box.bottom, 'mark');
		let seconds = [], at = null, x = null;

		mark.setAttribute('visibility', 'hidden');
		node.append(drawn, mark);
		const middle = second => (second.begin_s + second.end_s) / 2;

		function moveMark() {
			at = at && seconds.find(second => second.number === at.number);
			mark.setAttribute('visibility', at ? 'visible' : 'hidden');
			for (const end of at ? ['x1', 'x2'] : [])
				mark.setAttribute(end, x(middle(at)).toFixed(1));
		}

		function path(key, y) {
			let pen = 'M';
			return seconds.map(second => {
				const value = second.row?.count ? second.row[key] : scale === 'linear' ? 0 : null, step = pen;
				pen = value === null ? 'M' : 'L';
				return value === null ? '' : `${step}${x(second.begin_s).toFixed(1)} ${y(value).toFixed(1)}H${x(second.end_s).toFixed(1)}`;
			}).join('');
		}

		function update(next) {
			const range = span(next), values = next.flatMap(second => second.row?.count ? keys.map(({key}) => second.row[key]) : []);
			seconds = next;
			x = chart.linear(range, [box.left, box.right]);
			const y = scale === 'linear' ? chart.linear([0, Math.max(...values, 0) || 1], [box.bottom, box.top + 4])
				: chart.log([Math.min(...values, 1e5), Math.max(...values, 1e6)], [box.bottom - 4, box.top + 4]);
			drawn.replaceChildren(chart.axisY(box, y, y.ticks(3), chart.short(kind)),
				...keys.map(({key, color}) => svg('path', {class: `curve line-${color}`, d: path(key, y) || 'M0 0'})), axis(box, x, range));
			moveMark();
		}

		chart.cursor(node, {
			find: point => seconds[chart.nearest(seconds.map(second => x(middle(second))), point.x)],
			move: (_, key) => seconds.length ? seconds[chart.along(seconds.length)(at ? seconds.indexOf(at) : null, key)] : null,
			show: second => {
				at = second;
				readout.textContent = `${clock(second.end_s)}: ${words(second)}`;
				moveMark();
			},
		});
		update([]);
		const legend = keys.length > 1 ? element('p', {class: 'legend'}, keys.map(({name, color}) => element('span', null,
			svg('svg', {viewBox: '0 0 34 14', class: 'swatch wide'}, svg('path', {class: `curve line-${color}`, d: 'M0 7H34'})), name))) : null;
		return {parts: [node, readout, legend], update};
	}

	return {heatMap, curves, cellWords, clock, setClock};
})();

// SPDX-License-Identifier: BSD-2-Clause
//
// trace_timeline.js: when was which CPU, or which object, in which call? A lane for each on a canvas, nested calls below the
// ones they are in; what is dragged over, or chosen by keys, is the range of time that rows are shown of. Calls that share a
// pixel are drawn once.
'use strict';

const timeline = (() => {
	// Asking for a colour makes the browser look at the whole page: once for each theme.
	let known = null;

	function palette() {
		known ??= {
			...Object.fromEntries(['quiet', 'line', 'panel', 'accent'].map(name => [name, page.color(`--${name}`)])),
			series: Array.from({length: COLORS}, (_, i) => page.color(`--series-${i}`)),
		};
		return known;
	}

	const LEVELS = 8, BAR = 5, GAP = 7, AXIS = 22, PAD = 12, LANES_MOST = 200, COLORS = 8;

	// {onRange(from, to), onPick(row)}. draw(keep, range): those rows that pass all filters but that of time.
	function make({onRange, onPick, onLanes}) {
		let by = 'cpu', keep = null, range = null, view = [trace.startNs, Math.max(trace.endNs, trace.startNs + 1)];
		let lanes = [], laneOf = null, width = 0, gutter = 0, drag = null;

		const canvas = page.element('canvas', {
			id: 'timeline', tabindex: '0', role: 'application',
			'aria-label': 'Timeline. Drag to select a time range. Arrow keys move the range, with Shift they resize it. Plus and minus '
				+ 'halve and double it. z zooms to it. Escape clears it.',
		});
		const hint = page.element('output', {class: 'quiet mono hint'});
		const scroll = page.element('div', {class: 'timeline'}, canvas);

		// ---- lanes ----

		// The lanes that have rows, in order, at most LANES_MOST.
		function lanesOf(idOf, rank, name, what) {
			const seen = new Set();
			for (let i = 0; i < trace.nr; i++)
				if (keep[i])
					seen.add(idOf(i));
			const ids = [...seen].filter(id => id !== null).sort((a, b) => rank(a) - rank(b));
			const at = new Map(ids.slice(0, LANES_MOST).map((id, i) => [id, i]));
			hint.textContent = ids.length > LANES_MOST ? `the first ${LANES_MOST} of ${ids.length} ${what}` : '';
			return {names: ids.slice(0, LANES_MOST).map(name), laneOf: row => at.get(idOf(row))};
		}

		const lifeOf = row => trace.lifeOf(row) < 0 ? null : trace.lifeOf(row);
		const cpuLanes = () => lanesOf(row => trace.cpu[row], cpu => cpu, cpu => `CPU ${cpu}`, 'CPUs');
		const objectLanes = () => lanesOf(lifeOf, life => trace.lives[life].number,
			life => `${trace.about.object} ${trace.lives[life].number}`, 'objects');

		function layOut() {
			const chosen = by === 'cpu' ? cpuLanes() : objectLanes();
			const levels = new Int32Array(chosen.names.length).fill(1);
			let top = AXIS;
			laneOf = new Int32Array(trace.nr).fill(-1);
			for (let i = 0; i < trace.nr; i++) {
				const lane = keep[i] ? chosen.laneOf(i) : undefined;
				if (lane === undefined)
					continue;
				laneOf[i] = lane;
				levels[lane] = Math.max(levels[lane], Math.min(trace.depth[i] + 1, LEVELS));
			}
			lanes = chosen.names.map((name, i) => {
				const lane = {name, top, height: levels[i] * BAR + GAP};
				top += lane.height;
				return lane;
			});
			return top + 2;
		}

		// ---- drawing ----

		const x = ns => gutter + (ns - view[0]) / (view[1] - view[0]) * (width - gutter - PAD);
		const ns = px => view[0] + (px - gutter) / (width - gutter - PAD) * (view[1] - view[0]);
		const level = row => Math.min(trace.depth[row], LEVELS - 1);

		function drawBars(context) {
			const last = new Int32Array(lanes.length * LEVELS).fill(-1);
			const colors = palette().series;
			for (let i = 0; i < trace.nr; i++) {
				if (laneOf[i] < 0)
					continue;
				const from = Math.max(gutter, x(trace.start[i]));
				const to = Math.min(width, Math.max(from + 1, x(trace.start[i] + Math.max(0, trace.duration[i]))));
				const place = laneOf[i] * LEVELS + level(i);
				if (to <= gutter || from >= width || Math.ceil(to) <= last[place])
					continue;
				last[place] = Math.ceil(to);
				context.fillStyle = colors[trace.fn[i] % COLORS];
				context.fillRect(from, lanes[laneOf[i]].top + level(i) * BAR, to - from, BAR - 1);
			}
		}

		function drawAxis(context, height) {
			const span = view[1] - view[0];
			const step = [1, 2, 5].map(n => n * 10 ** Math.floor(Math.log10(span / 5))).reverse().find(n => span / n >= 4) ?? span / 4;
			context.fillStyle = palette().quiet;
			context.strokeStyle = palette().line;
			context.textAlign = 'center';
			for (let at = Math.ceil(view[0] / step) * step; at <= view[1]; at += step) {
				const px = Math.round(x(at)) + .5;
				context.beginPath();
				context.moveTo(px, AXIS - 5);
				context.lineTo(px, height);
				context.stroke();
				context.fillText(page.format.duration(at), Math.min(Math.max(px, gutter + 20), width - 24), 11);
			}
		}

		function drawLanes(context) {
			context.textAlign = 'left';
			for (const lane of lanes) {
				context.fillStyle = palette().line;
				context.fillRect(0, lane.top - 3, width, 1);
				context.fillStyle = palette().quiet;
				context.fillText(lane.name, 6, lane.top + Math.min(lane.height / 2, 14) + 1);
			}
		}

		function drawRange(context, height) {
			if (!range)
				return;
			const from = Math.max(gutter, x(range[0])), to = Math.min(width, x(range[1]));
			context.globalAlpha = .72;
			context.fillStyle = palette().panel;
			context.fillRect(gutter, AXIS - 4, from - gutter, height);
			context.fillRect(to, AXIS - 4, width - to, height);
			context.globalAlpha = 1;
			context.fillStyle = palette().accent;
			context.fillRect(from - 1, AXIS - 6, 2, height);
			context.fillRect(to - 1, AXIS - 6, 2, height);
			context.fillRect(from, AXIS - 6, to - from, 2);
		}

		function paint() {
			const height = layOut(), ratio = devicePixelRatio || 1;
			width ||= scroll.clientWidth;
			if (!width)
				return;
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
			canvas.style.height = `${height}px`;
			const context = canvas.getContext('2d');
			context.scale(ratio, ratio);
			context.font = `11px ${getComputedStyle(canvas).fontFamily}`;
			gutter = Math.ceil(Math.max(40, ...lanes.map(lane => context.measureText(lane.name).width + 14)));
			drawAxis(context, height);
			drawLanes(context);
			drawBars(context);
			drawRange(context, height);
		}

		// ---- the range ----

		function choose(from, to) {
			const least = (view[1] - view[0]) / Math.max(1, width - gutter);
			from = Math.max(trace.startNs, Math.min(from, to - least));
			to = Math.min(trace.endNs + 1, Math.max(to, from + least));
			onRange(Math.round(from), Math.round(to));
		}

		function rowAt(px, py) {
			const lane = lanes.findIndex(l => py >= l.top && py < l.top + l.height);
			const at = lane < 0 ? -1 : Math.floor((py - lanes[lane].top) / BAR), near = ns(px + 2) - ns(px);
			for (let i = trace.nr - 1; i >= 0 && at >= 0; i--)
				if (laneOf[i] === lane && level(i) === at && trace.start[i] - near <= ns(px) &&
					trace.start[i] + Math.max(0, trace.duration[i]) + near >= ns(px))
					return i;
			return -1;
		}

		canvas.addEventListener('pointerdown', event => {
			if (event.button || event.offsetX < gutter)
				return;
			canvas.setPointerCapture(event.pointerId);
			drag = {from: event.offsetX, moved: false};
		});
		canvas.addEventListener('pointermove', event => {
			if (!drag) {
				const row = event.offsetX < gutter ? -1 : rowAt(event.offsetX, event.offsetY);
				hint.textContent = row < 0 ? '' : `${trace.functions[trace.fn[row]].name}  ${trace.duration[row] < 0 ? 'return not seen'
					: page.format.duration(trace.duration[row])}  ${trace.tasks[trace.task[row]].label}`;
				return;
			}
			drag.moved ||= Math.abs(event.offsetX - drag.from) > 3;
			if (!drag.moved)
				return;
			const to = Math.min(width, Math.max(gutter, event.offsetX));
			range = [ns(Math.min(drag.from, to)), ns(Math.max(drag.from, to))];
			paint();
		});
		canvas.addEventListener('pointerup', event => {
			const was = drag;
			drag = null;
			if (was?.moved)
				choose(...range);
			else if (was && rowAt(event.offsetX, event.offsetY) >= 0)
				onPick(rowAt(event.offsetX, event.offsetY));
		});
		canvas.addEventListener('pointercancel', () => {
			drag = null;
		});
		canvas.addEventListener('dblclick', () => onRange(null, null));

		const keys = {
			ArrowLeft: (from, to, step) => [from - step, to - step],
			ArrowRight: (from, to, step) => [from + step, to + step],
			'+': (from, to) => [from + (to - from) / 4, to - (to - from) / 4],
			'-': (from, to) => [from - (to - from) / 2, to + (to - from) / 2],
		};
		canvas.addEventListener('keydown', event => {
			const step = (view[1] - view[0]) / 20, key = event.key === '=' ? '+' : event.key;
			if (key === 'Escape') {
				onRange(null, null);
			} else if (key === 'z') {
				zoom();
			} else if (keys[key]) {
				if (!range)
					choose(view[0], view[0] + 4 * step);
				else if (event.shiftKey && key.startsWith('Arrow'))
					choose(range[0], range[1] + (key === 'ArrowRight' ? step : -step));
				else
					choose(...keys[key](...range, step));
			} else {
				return;
			}
			event.preventDefault();
		});

		// ---- outside ----

		function zoom() {
			view = range && (view[0] !== range[0] || view[1] !== range[1]) ? [...range] : [trace.startNs, Math.max(trace.endNs, trace.startNs + 1)];
			paint();
		}

		function showBy(name) {
			by = name === 'object' && trace.lives.length ? 'object' : 'cpu';
			hint.textContent = '';
			onLanes(by);
			if (keep)
				paint();
		}

		new ResizeObserver(() => {
			if (width === scroll.clientWidth || !keep)
				return;
			width = scroll.clientWidth;
			paint();
		}).observe(scroll);
		function repaint() {
			known = null;
			if (keep)
				paint();
		}

		// Paper is white, whatever the screen is.
		const root = document.documentElement;
		addEventListener('beforeprint', () => {
			root.dataset.screen = root.dataset.theme ?? '';
			root.dataset.theme = 'light';
			repaint();
		});
		addEventListener('afterprint', () => {
			if (root.dataset.screen)
				root.dataset.theme = root.dataset.screen;
			else
				delete root.dataset.theme;
			delete root.dataset.screen;
			repaint();
		});
		document.addEventListener('themechange', repaint);
		return {
			node: scroll, hint, zoom, showBy,
			draw(rows, chosen) {
				keep = rows;
				range = chosen;
				paint();
			},
			// Where a moment is on the canvas, for who points at it.
			place: moment => x(moment),
		};
	}

	return {make};
})();

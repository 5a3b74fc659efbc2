// SPDX-License-Identifier: BSD-2-Clause
//
// trace_ways.js: how do objects go from function to function? A drawing in layers: who comes first is on the left, an arrow
// is as wide as often it was gone, and bears the time that half of them stayed below. What goes back is drawn as a bow
// underneath. The largest are drawn; a table has all.
'use strict';

const ways = (() => {
	const EDGES_MOST = 60, LAYER = 276, NODE = 34, NODE_WIDTH = 196, MARGIN = 44;

	// ---- layers: the longest way to it, without what goes back ----

	function outOf(edges) {
		const out = new Map();
		for (const edge of edges) {
			for (const node of [edge.from, edge.to])
				if (!out.has(node))
					out.set(node, []);
			out.get(edge.from).push(edge);
		}
		return out;
	}

	// Edges into what is still being looked at go back.
	function findBack(out, roots) {
		const state = new Map(), back = new Set(), order = [];
		const visit = node => {
			const work = [[node, 0]];
			state.set(node, 1);
			while (work.length) {
				const top = work[work.length - 1], edges = out.get(top[0]);
				if (top[1] === edges.length) {
					state.set(top[0], 2);
					order.push(top[0]);
					work.pop();
					continue;
				}
				const edge = edges[top[1]++];
				if (state.get(edge.to) === 1)
					back.add(edge);
				else if (!state.has(edge.to)) {
					state.set(edge.to, 1);
					work.push([edge.to, 0]);
				}
			}
		};
		for (const node of roots)
			if (!state.has(node))
				visit(node);
		return {back, order: order.reverse()};
	}

	function place(edges) {
		const out = outOf(edges);
		const entered = new Map([...out.keys()].map(node => [node, 0]));
		for (const edge of edges)
			if (edge.from !== edge.to)
				entered.set(edge.to, entered.get(edge.to) + edge.count);
		for (const list of out.values())
			list.sort((a, b) => b.count - a.count);
		const roots = [...out.keys()].sort((a, b) => entered.get(a) - entered.get(b) || a - b);
		const {back, order} = findBack(out, roots);
		const layer = new Map(order.map(node => [node, 0]));
		for (const node of order)
			for (const edge of out.get(node))
				if (!back.has(edge))
					layer.set(edge.to, Math.max(layer.get(edge.to), layer.get(node) + 1));
		return {layer, back, out};
	}

	// Beside who leads to it: the mean of their places, a few times.
	function arrange(edges, {layer, back}) {
		const layers = [];
		for (const [node, at] of layer)
			(layers[at] ??= []).push(node);
		const row = new Map();
		const number = () => layers.forEach(list => list.forEach((node, i) => row.set(node, i)));
		number();
		for (let round = 0; round < 4; round++) {
			for (const list of layers) {
				const mean = node => {
					const near = edges.filter(e => !back.has(e) && (e.to === node || e.from === node))
						.map(e => row.get(e.to === node ? e.from : e.to));
					return near.length ? near.reduce((a, b) => a + b, 0) / near.length : row.get(node);
				};
				const at = new Map(list.map(node => [node, mean(node)]));
				list.sort((a, b) => at.get(a) - at.get(b) || a - b);
			}
			number();
		}
		return {layers, row};
	}

	// ---- drawing ----

	const cut = name => name.length > 26 ? `${name.slice(0, 25)}…` : name;

	// Layers wrap like words: what does not fit beside goes on below.
	function coordinates({layers}, width) {
		const across = Math.max(2, Math.floor((width - 2 * MARGIN + LAYER - NODE_WIDTH) / LAYER)), at = new Map();
		let top = MARGIN, height = 0;
		for (let first = 0; first < layers.length; first += across) {
			const strip = layers.slice(first, first + across), tallest = Math.max(...strip.map(l => l.length));
			strip.forEach((list, column) => list.forEach((node, i) => at.set(node, {
				x: MARGIN + column * LAYER, y: top + 4 + (i + (tallest - list.length) / 2) * (NODE + 34),
			})));
			height = top + tallest * (NODE + 34);
			top = height + 26;
		}
		return {at, width: MARGIN * 2 + Math.min(across, layers.length) * LAYER - (LAYER - NODE_WIDTH), height: height + 10};
	}

	function curve(from, to) {
		const sx = from.x + NODE_WIDTH, sy = from.y + NODE / 2, ex = to.x - 3, ey = to.y + NODE / 2;
		if (ex > sx)
			return {d: `M${sx},${sy} C${sx + 36},${sy} ${ex - 36},${ey} ${ex},${ey}`, x: (sx + ex) / 2, y: (sy + ey) / 2};
		const low = Math.max(sy, ey) + 30;
		if (from.y < to.y) // to the next strip
			return {d: `M${sx},${sy} C${sx + 40},${sy} ${sx + 40},${to.y - 22} ${sx - 20},${to.y - 22} L${ex + 20},${to.y - 22} `
				+ `C${ex - 24},${to.y - 22} ${ex - 24},${ey} ${ex},${ey}`, x: (sx + ex) / 2, y: to.y - 22};
		return {d: `M${sx},${sy} C${sx + 44},${sy} ${sx + 44},${low} ${sx - 10},${low} L${ex + 10},${low} `
			+ `C${ex - 40},${low} ${ex - 40},${ey} ${ex},${ey}`, x: (sx + ex) / 2, y: low};
	}

	function drawEdge(edge, at, most) {
		const {d, x, y} = curve(at.get(edge.from), at.get(edge.to));
		const label = `${edge.count.toLocaleString('en-US')} × ${edge.p50_ns === null ? '–' : page.format.duration(edge.p50_ns)}`;
		return page.svg('g', {class: 'edge'},
			page.svg('title', {text: `${edge.from_name} → ${edge.to_name}: ${edge.count} times, p50 ${page.words('duration', edge.p50_ns)}, `
				+ `p99 ${page.words('duration', edge.p99_ns)}, max ${page.words('duration', edge.max_ns)}`}),
			page.svg('path', {d, 'stroke-width': (1.2 + 2.8 * edge.count / most).toFixed(1), 'marker-end': 'url(#arrow)'}),
			page.svg('text', {x: x.toFixed(1), y: (y - 5).toFixed(1), text: label}));
	}

	function drawNode(node, {x, y}, onFunction) {
		const name = trace.functions[node].name;
		const choose = () => onFunction(name);
		return page.svg('g', {
			class: `node series-${node % 8}`, tabindex: '0', role: 'button', 'aria-label': `Show calls of ${name}`, click: choose,
			keydown(event) {
				if (event.key === 'Enter')
					choose();
			},
		}, page.svg('title', {text: name}), page.svg('rect', {x, y, width: NODE_WIDTH, height: NODE, rx: 6}),
		page.svg('text', {x: x + NODE_WIDTH / 2, y: y + NODE / 2 + 4, text: cut(name)}));
	}

	function draw(edges, width, onFunction) {
		const drawn = edges.slice(0, EDGES_MOST), placed = place(drawn), arranged = arrange(drawn, placed);
		const {at, width: wide, height} = coordinates(arranged, width);
		const most = Math.max(1, ...drawn.map(edge => edge.count));
		return page.svg('svg', {
			id: 'ways', viewBox: `0 0 ${wide} ${height}`, width: wide, height, role: 'img',
			'aria-label': 'Functions and the transitions between them; the table below has the same data',
		}, page.svg('defs', null, page.svg('marker', {id: 'arrow', viewBox: '0 0 8 8', refX: 6, refY: 4, markerWidth: 12,
			markerHeight: 12, markerUnits: 'userSpaceOnUse', orient: 'auto'}, page.svg('path', {d: 'M0,0 L8,4 L0,8 z'}))),
		drawn.map(edge => drawEdge(edge, at, most)), [...at].map(([node, where]) => drawNode(node, where, onFunction)));
	}

	// ---- all of it ----

	const columns = objects => [
		{key: 'from_name', label: 'from', kind: 'text', help: objects ? 'function entered' : 'caller'},
		{key: 'to_name', label: 'to', kind: 'text', help: objects ? 'function entered next with the same object' : 'callee'},
		{key: 'count', label: 'count', kind: 'count', help: objects ? 'number of transitions' : 'number of calls'},
		{key: 'p50_ns', label: 'p50', kind: 'duration', help: objects ? 'time between the two entries' : 'duration of the callee'},
		{key: 'p99_ns', label: 'p99', kind: 'duration'},
		{key: 'max_ns', label: 'max', kind: 'duration'},
		{key: 'total_ns', label: 'total', kind: 'duration'},
		{key: 'share', label: 'share', kind: 'percent', help: 'share of the total of all rows'},
	];

	function show(keep, width, onFunction) {
		const objects = trace.lives.length > 0, edges = trace.ways(keep);
		const total = edges.reduce((sum, edge) => sum + (edge.total_ns ?? 0), 0);
		for (const edge of edges)
			edge.share = total && edge.total_ns !== null ? 100 * edge.total_ns / total : null;
		if (!edges.length)
			return [page.element('p', {class: 'empty', text: objects ? 'No complete object moves from one function to another in the shown calls.'
				: 'None of the shown calls is nested in another.'})];
		return [
			page.element('p', {class: 'quiet', text: (objects ? 'Transitions of the objects of the shown calls, from birth to death. '
				+ 'Each arrow has its count and median time.' : 'Callers and callees. Each arrow has its count and median duration.')
				+ (edges.length > EDGES_MOST ? ` The drawing shows ${EDGES_MOST} of ${edges.length}, those with the most time.` : '')}),
			page.element('div', {class: 'scroll drawing'}, draw(edges, width, onFunction)),
			page.table({id: 'transitions', caption: objects ? 'Transitions between functions' : 'Callers and callees', columns: columns(objects), rows: edges}),
		];
	}

	return {show};
})();

// SPDX-License-Identifier: BSD-2-Clause
//
// chart.js: what charts are made of: scales, axes, and a cursor that mouse and arrow keys move. All are SVG with classes for
// colours, so that light, dark and paper need nothing drawn anew. What the cursor is on is said in words below the chart.
'use strict';

const chart = (() => {
	const {element, svg} = page;
	const width = 1080;
	const margin = {left: 88, right: 14, top: 10, bottom: 30};

	// ---- scales: a number to a place; ticks are numbers worth a label ----

	function linear([from, to], [start, end]) {
		const scale = value => start + (end - start) * (to > from ? (value - from) / (to - from) : 0);
		scale.ticks = count => steps(from, to, count);
		return scale;
	}

	// 1, 2 or 5 times a power of ten apart.
	function steps(from, to, count) {
		const rough = (to - from) / count || 1, power = 10 ** Math.floor(Math.log10(rough));
		const step = power * [1, 2, 5, 10].find(times => times * power >= rough);
		const ticks = [];
		for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i++)
			ticks.push(i * step);
		return ticks;
	}

	function log([from, to], [start, end]) {
		const low = Math.log10(Math.max(from, 1)), high = Math.log10(Math.max(to, 1));
		const scale = value => start + (end - start) * (high > low ? (Math.log10(Math.max(value, 1)) - low) / (high - low) : 0.5);
		scale.ticks = () => decades(Math.max(from, 1), to);
		return scale;
	}

	// Powers of ten, and where these are few, 2 and 5 times them.
	function decades(from, to) {
		const few = Math.log10(to / from) < 2.5, ticks = [];
		for (let power = 10 ** Math.floor(Math.log10(from)); power <= to; power *= 10)
			for (const times of few ? [1, 2, 5] : [1])
				if (power * times >= from * 0.999 && power * times <= to * 1.001)
					ticks.push(power * times);
		return ticks;
	}

	// ---- frame ----

	function frame(height, label) {
		return svg('svg', {viewBox: `0 0 ${width} ${height}`, class: 'chart', role: 'img', 'aria-label': label, tabindex: '0'});
	}

	function area(height) {
		return {left: margin.left, right: width - margin.right, top: margin.top, bottom: height - margin.bottom};
	}

	function text(x, y, words, attributes) {
		return svg('text', {x: x.toFixed(1), y: y.toFixed(1), text: words, ...attributes});
	}

	function line(x1, y1, x2, y2, kind) {
		return svg('line', {x1: x1.toFixed(1), y1: y1.toFixed(1), x2: x2.toFixed(1), y2: y2.toFixed(1), class: kind});
	}

	// A label at the right edge is moved to the left until all of it is seen. A character is at most two thirds as wide as its font.
	function axisX(box, scale, ticks, words) {
		const drawn = document.querySelector('.chart'), font = drawn && parseFloat(getComputedStyle(drawn).getPropertyValue('--label')) || 12;
		return svg('g', {class: 'axis'}, line(box.left, box.bottom, box.right, box.bottom, 'base'), ticks.map(tick => svg('g', null,
			line(scale(tick), box.bottom, scale(tick), box.bottom + 4, 'base'),
			text(Math.min(scale(tick), width - font / 3 * words(tick).length), box.bottom + 18, words(tick), {'text-anchor': 'middle'}))));
	}

	function axisY(box, scale, ticks, words) {
		return svg('g', {class: 'axis'}, ticks.map(tick => svg('g', null,
			line(box.left, scale(tick), box.right, scale(tick), 'grid'),
			text(box.left - 8, scale(tick) + 4, words(tick), {'text-anchor': 'end'}))));
	}

	// "10.0us" is "10us" on an axis.
	function short(kind) {
		return value => page.format[kind](value).replace(/\.0+(?=\D|$)/, '');
	}

	// Bytes: a power of two apart.
	function powers(to, count) {
		const step = 2 ** Math.ceil(Math.log2(to / count));
		return [...Array(Math.floor(to / step) + 1).keys()].map(i => i * step);
	}

	// Seconds, with as many digits as tell ticks apart.
	function seconds(ticks) {
		const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
		const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
		return tick => `${tick.toFixed(Math.min(digits, 6))} s`;
	}

	// ---- figures ----

	function readout(hint) {
		return element('p', {class: 'readout quiet', 'aria-live': 'polite', text: hint});
	}

	function figure(title, note, ...parts) {
		return element('figure', null, title || note ? element('figcaption', null, title ? element('h3', {text: title}) : null,
			note ? element('p', {class: 'quiet', text: note}) : null) : null, parts);
	}

	// Where a pointer is, in the chart's own units.
	function place(node, event) {
		const box = node.getBoundingClientRect();
		return {x: (event.clientX - box.left) * node.viewBox.baseVal.width / box.width,
			y: (event.clientY - box.top) * node.viewBox.baseVal.height / box.height};
	}

	// find({x, y}) says what is there, move(at, key) what lies beside it; show(at) says and marks it.
	function cursor(node, {find, move, show}) {
		let at = null;
		const go = next => {
			if (next !== null && next !== undefined)
				show(at = next);
		};
		node.addEventListener('pointermove', event => go(find(place(node, event))));
		node.addEventListener('keydown', event => {
			if (!['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key))
				return;
			event.preventDefault();
			go(move(at, event.key));
		});
	}

	// One of a row of things, by arrow keys.
	function along(count) {
		return (at, key) => {
			if (at === null)
				return key === 'End' ? count - 1 : 0;
			const next = {ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, Home: 0, End: count - 1}[key];
			return Math.min(Math.max(next, 0), count - 1);
		};
	}

	function nearest(list, value) {
		let best = 0;
		list.forEach((item, i) => {
			if (Math.abs(item - value) < Math.abs(list[best] - value))
				best = i;
		});
		return best;
	}

	// ---- counts as shades: each of eight is as many times more than the one before ----

	const shades = 8;

	function shade(count, most) {
		return most <= 1 ? shades - 1 : Math.min(shades - 1, Math.floor(shades * Math.log(count) / Math.log(most + 1)));
	}

	function shadeLegend(most, unit) {
		const least = i => Math.ceil((most + 1) ** (i / shades) - 1e-9);
		const used = [...Array(shades).keys()].filter(i => [...Array(shades).keys()].every(j => j <= i || least(j) !== least(i)));
		return element('p', {class: 'legend', 'aria-hidden': 'true'}, (most <= 1 ? [shades - 1] : used).map(i =>
			element('span', null, swatch(`heat-${i}`), most <= 1 ? '1' : `${page.format.count(least(i))}+`)), element('span', {class: 'quiet', text: unit}));
	}

	function swatch(kind) {
		return svg('svg', {viewBox: '0 0 14 14', class: 'swatch'}, svg('rect', {width: 14, height: 14, rx: 2, class: kind}));
	}

	return {width, linear, log, frame, area, text, line, axisX, axisY, short, powers, seconds, readout, figure, cursor, along, nearest,
		shade, shadeLegend, swatch};
})();

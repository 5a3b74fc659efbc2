// SPDX-License-Identifier: BSD-2-Clause
//
// live.js: the page of `serve`: what each second brought, for five minutes. Events come from the server that the page came from; if
// it goes away the page says so and waits for it. Names of devices and commands are hostile: they become text, never markup.
'use strict';

(() => {
	const {element, words, format} = page;
	const about = page.lines('about')[0] ?? {};
	const most = 300; // seconds, as the server keeps them

	// ---- what came ----

	let seconds = []; // {number, begin_s, end_s, whole, devices, ops}
	let ledger = null, run = null, paused = false;
	let models = new Map(); // by device
	let chosen = page.state.get('dev');

	function second(rows) {
		const of = type => rows.filter(row => row.type === type), whole = of('interval')[0];
		return {number: whole.number, begin_s: whole.time_s - whole.interval_s, end_s: whole.time_s, whole,
			devices: new Map(of('device').map(row => [row.dev, row])), ops: of('latency'), failed: of('failed'), who: of('who'), ledger: of('ledger')[0] ?? null};
	}

	function take(rows) {
		const next = second(rows);
		if (run !== null && next.whole.run !== run) {
			seconds = [];
			notice.textContent = `The server was restarted: counts begin again at ${new Date().toLocaleTimeString('en-GB')}.`;
			askDevices();
		}
		run = next.whole.run;
		ledger = next.ledger;
		seconds = [...seconds.filter(old => old.number < next.number), next].slice(-most);
		liveCharts.setClock(next.end_s);
	}

	// Of the chosen device, or of all.
	const rowOf = one => one.devices.get(chosen) ?? null;
	const cellsOf = one => Object.entries(rowOf(one)?.cells ?? {}).map(([from, count]) => [Number(from), count]).sort((a, b) => a[0] - b[0]);
	const drawnSeconds = () => seconds.map(one => ({...one, row: rowOf(one), cells: cellsOf(one)}));
	const isChosen = row => chosen === null || row.dev === chosen;

	// ---- tiles ----

	function tile(label, value, bad) {
		return element('div', null, element('dt', {text: label}), element('dd', {text: value, class: bad ? 'bad' : null}));
	}

	function showTiles() {
		const last = seconds.at(-1), row = last && rowOf(last), idle = !row?.count;
		tiles.replaceChildren(tile('IO/s', words('rate', idle ? 0 : row.iops)), tile('MB/s', words('mbps', idle ? 0 : row.mb_per_s)),
			tile('median', words('duration', idle ? null : row.p50_ns)), tile('p99', words('duration', idle ? null : row.p99_ns)),
			tile('max', words('duration', idle ? null : row.max_ns)), tile('in flight, all', words('count', last?.whole.in_flight)),
			tile('oldest', words('duration', last?.whole.in_flight ? last.whole.oldest_ns : null)),
			tile('failed, all', words('count', ledger?.failed), ledger?.failed > 0), tile('lost', words('count', last?.whole.lost), last?.whole.lost > 0));
	}

	// ---- the ledger ----

	const losses = {
		lost_no_slot: 'no slot: the table of commands in flight was full', lost_completion: 'completion never seen', lost_start: 'completed without a start',
		lost_clock: 'clock went backwards', lost_device: 'unknown device', lost_skipped: 'program skipped by the kernel',
		lost_row: 'counted in the row other: the table of rows was full', lost_ring: 'ring full: records dropped',
	};

	function showLedger() {
		if (!ledger)
			return;
		const lost = Object.keys(losses).filter(key => ledger[key] > 0);
		ledgerText.replaceChildren(`Ledger: issued ${words('count', ledger.issued)} = completed ${words('count', ledger.completed)} + in flight ${words('count', ledger.in_flight)}` +
			`${ledger.never_sent ? ` + never sent ${words('count', ledger.never_sent)}` : ''}; `, lost.length
			? element('strong', {class: 'bad', text: `LOST: ${lost.map(key => `${format.count(ledger[key])}: ${losses[key]}`).join('; ')}`})
			: element('strong', {class: 'good', text: 'nothing lost'}), estimated(seconds.at(-1)?.devices.get(null)));
	}

	// With --budget, not every command is timed.
	function estimated(all) {
		return all?.untimed > 0 ? `; latencies are estimated: of ${words('count', all.count)} commands of the last second ${words('count', all.count - all.untimed)} were timed` : '';
	}

	// ---- tables ----

	const labels = {
		dev: ['device', 'word'], op: ['op', 'word'], model: ['model', 'text'], count: ['count', 'count'], iops: ['IO/s', 'rate'], mb_per_s: ['MB/s', 'mbps'],
		size_bytes: ['size', 'bytes'], p50_ns: ['p50', 'duration'], p90_ns: ['p90', 'duration'], p99_ns: ['p99', 'duration'], p99_9_ns: ['p99.9', 'duration'],
		max_ns: ['max', 'duration'], mean_ns: ['mean', 'duration'], status: ['status', 'text'], time_s: ['time', 'time'], lat_ns: ['latency', 'duration'],
		command: ['command', 'text'], attempts: ['attempts', 'number'], pid: ['pid', 'number'], comm: ['process', 'word'],
	};
	const columns = (...keys) => keys.map(key => ({key, label: labels[key][0], kind: labels[key][1]}));
	const measured = ['iops', 'mb_per_s', 'size_bytes', 'p50_ns', 'p90_ns', 'p99_ns', 'p99_9_ns', 'max_ns'];
	const devices = page.table({id: 'devices', caption: 'Devices, in the last second', rows: [], columns: columns('dev', 'model', ...measured)});
	const failed = page.table({id: 'failed', caption: 'Failed commands, since the start', rows: [], columns: columns('dev', 'op', 'status', 'count')});
	const ops = page.table({id: 'ops', caption: 'Operations, in the last second', rows: [], columns: columns('dev', 'op', 'count', ...measured)});

	const who = page.table({id: 'who', caption: 'Processes, in the last second, on all devices', rows: [], columns: columns('comm', 'count', 'iops', 'mb_per_s', 'mean_ns', 'max_ns')});
	const whoNote = element('p', {class: 'empty', id: 'who-note', text: 'The server keeps no single commands. Start it as iosonar serve --keep 10m to see processes here.'});

	function showTables() {
		who.update(seconds.at(-1)?.who.map(row => ({...row, comm: row.comm ?? 'all others'})) ?? []);
		who.hidden = !(whoNote.hidden = Boolean(seconds.at(-1)?.whole.keep_s));
		const last = seconds.at(-1), names = new Set([...models.keys(), ...last?.devices.keys() ?? []].filter(name => name !== null));
		devices.update([...names].map(dev => ({model: models.get(dev), ...last?.devices.get(dev), dev})).filter(isChosen));
		ops.update((last?.ops ?? []).filter(isChosen));
	}

	function showErrors() {
		const recent = seconds.filter(one => one.whole.failed || one.whole.retries).slice(-10).reverse();
		const kinds = (seconds.at(-1)?.failed ?? []).filter(isChosen);
		failed.hidden = !kinds.length;
		failed.update(kinds);
		errors.replaceChildren(element('p', {class: ledger?.failed ? 'bad' : 'good',
			text: `Since the start: ${words('count', ledger?.failed)} commands failed, ${words('count', ledger?.retries)} retries.`}),
		element('ul', null, recent.map(one => element('li', {text: `${liveCharts.clock(one.end_s)}: ${format.count(one.whole.failed)} failed, ${format.count(one.whole.retries)} retries`}))));
	}

	// ---- which device ----

	const everything = 'all devices';
	const select = element('select', {id: 'filter', change: () => choose(select.value === '' ? null : select.value)});

	// Only if there are others than before: an open list would close.
	function showChoice() {
		const names = [...new Set([...models.keys(), ...seconds.flatMap(one => [...one.devices.keys()]), chosen])].filter(name => name !== null).sort();
		if (select.dataset.names === JSON.stringify(names))
			return;
		select.dataset.names = JSON.stringify(names);
		select.replaceChildren(element('option', {value: '', text: everything}), ...names.map(name => element('option', {value: name, text: page.plain(name)})));
		select.value = chosen ?? '';
	}

	function choose(name) {
		chosen = name;
		page.state.set('dev', name);
		show();
	}

	async function askDevices() {
		try {
			const answer = await fetch('api/devices');
			models = new Map(page.parse(await answer.text()).map(row => [row.dev, row.model]));
			schedule();
		} catch { /* the events say that the server is away */ }
	}

	// ---- the commands of a cell, from the flight recorder ----

	const commands = element('section', {id: 'commands', 'aria-labelledby': 'title-commands', tabindex: '-1', hidden: true});

	function showCommands(title, ...parts) {
		commands.replaceChildren(element('h2', {id: 'title-commands', text: 'Commands of a cell'}), element('p', {text: title}), ...parts,
			element('p', null, element('button', {type: 'button', text: 'Close', click() {
				commands.hidden = true;
				heat.parts[0].focus();
			}})));
		commands.hidden = false;
		commands.focus();
	}

	function commandRows(title, rows) {
		const found = rows.find(row => row.type === 'commands');
		if (!found.matched)
			return showCommands(title, element('p', {class: 'empty', text: 'The flight recorder does not have them any more.'}));
		return showCommands(title, page.table({id: 'commands-table', caption: `${found.all ? '' : 'At least '}${format.count(found.matched)} commands` +
			`${found.shown < found.matched ? `, the first ${found.shown} are shown` : ''}`, rows: rows.filter(row => row.type === 'trace'),
		columns: columns('time_s', 'dev', 'op', 'command', 'lat_ns', 'status', 'attempts', 'comm', 'pid')}));
	}

	async function openCell(cell) {
		const title = liveCharts.cellWords(cell), whole = cell.second.whole;
		if (!whole.keep_s)
			return showCommands(title, element('p', {class: 'empty', text: 'The server keeps no single commands. Start it as iosonar serve --keep 10m to see them here.'}));
		const query = new URLSearchParams({from: `${whole.begin_ns}ns`, to: `${whole.end_ns}ns`, min: `${cell.from_ns}ns`, max: `${cell.to_ns}ns`});
		if (chosen !== null)
			query.set('dev', chosen);
		try {
			const answer = await fetch(`api/commands?${query}`), text = await answer.text();
			return answer.ok ? commandRows(title, page.parse(text)) : showCommands(title, element('p', {class: 'bad', text: page.plain(text.trim())}));
		} catch {
			return showCommands(title, element('p', {class: 'bad', text: 'The server does not answer.'}));
		}
	}

	// ---- charts ----

	const secondWords = ({row}) => row?.count ? `${words('rate', row.iops)} IO/s, ${words('mbps', row.mb_per_s)} MB/s, median ${words('duration', row.p50_ns)}, ` +
		`p99 ${words('duration', row.p99_ns)}, max ${words('duration', row.max_ns)}` : 'no I/O';
	const heat = liveCharts.heatMap(openCell);
	const percentiles = liveCharts.curves({label: 'Percentiles', height: 220, kind: 'duration', scale: 'log', words: secondWords,
		keys: [{key: 'p50_ns', name: 'median', color: 0}, {key: 'p99_ns', name: 'p99', color: 1}, {key: 'max_ns', name: 'max', color: 3}]});
	const rate = liveCharts.curves({label: 'IO/s', height: 130, kind: 'rate', scale: 'linear', words: secondWords, keys: [{key: 'iops', name: 'IO/s', color: 0}]});

	// ---- the page ----

	const status = element('p', {id: 'status', role: 'status', text: 'Connecting …'}), notice = element('p', {id: 'notice', role: 'status'});
	const tiles = element('dl', {class: 'tiles', id: 'tiles'}), ledgerText = element('p', {id: 'ledger'}), errors = element('div', {id: 'errors'});
	const pause = element('button', {type: 'button', id: 'pause', 'aria-pressed': 'false', text: 'Pause', click() {
		paused = !paused;
		pause.setAttribute('aria-pressed', String(paused));
		pause.textContent = paused ? 'Continue' : 'Pause';
		schedule();
	}});

	function show() {
		const drawn = drawnSeconds();
		showChoice();
		showTiles();
		showLedger();
		showTables();
		showErrors();
		for (const one of [heat, percentiles, rate])
			one.update(drawn);
	}

	// Many events that come at once are drawn once; a page that nobody sees draws nothing.
	let scheduled = false;

	function schedule() {
		if (scheduled || paused)
			return;
		scheduled = true;
		requestAnimationFrame(() => {
			scheduled = false;
			if (!paused)
				show();
		});
	}

	function section(id, title, note, ...parts) {
		return element('section', {id: `section-${id}`, 'aria-labelledby': `title-${id}`}, element('h2', {id: `title-${id}`, text: title}), note ? element('p', {text: note}) : null, parts);
	}

	document.body.append(
		element('header', null, element('div', {class: 'title'}, element('h1', null, element('small', {text: 'iosonar live'}), page.plain(about.host ?? '')), page.themeButton()),
			element('p', {class: 'facts', text: page.plain(`Linux ${about.kernel} · iosonar ${about.version}`)}), status, notice,
			element('div', {class: 'controls'}, element('label', {class: 'choice'}, 'Show', select), pause)),
		element('main', null,
			section('now', 'Now', null, tiles, ledgerText),
			section('time', 'Latency over time', 'A stronger colour means more I/Os with this latency in this second. A click or Enter on a cell shows its commands.', chart.figure(null, null, heat.parts),
				chart.figure('Percentiles of each second', null, percentiles.parts), chart.figure('IO/s', null, rate.parts)),
			commands,
			section('devices', 'Devices', null, devices, ops),
			section('who', 'Who', null, whoNote, who),
			section('errors', 'Errors', null, errors, failed)),
		element('footer', null, 'The same as data: ', ['/metrics', '/api/latency', '/api/devices', '/api/ledger'].flatMap((path, i) => [i ? ', ' : '', element('a', {href: path.slice(1), text: path})]), '.'));

	// ---- the stream ----

	// A browser tries again by itself unless it was refused.
	let away = false;

	function connect() {
		const stream = new EventSource('api/events');
		stream.addEventListener('open', () => {
			status.textContent = 'Connected: updated every second.';
			status.className = 'good';
			if (away)
				askDevices();
			away = false;
		});
		stream.addEventListener('error', () => {
			if (!away)
				status.textContent = `No answer from the server since ${new Date().toLocaleTimeString('en-GB')}. The page tries again.`;
			status.className = 'bad';
			away = true;
			if (stream.readyState === EventSource.CLOSED)
				setTimeout(connect, 2000);
		});
		stream.addEventListener('message', event => {
			take(page.parse(event.data));
			schedule();
		});
	}

	show();
	askDevices();
	connect();
})();

// In a wide window (page.css) the runs, the log or the change of what is looked at on the left is on the right.
"use strict";
(() => {
	const tabs = document.getElementById("views");
	if (!tabs) return;
	const wide = matchMedia("(min-width: 1100px)");
	const buttons = [...tabs.querySelectorAll("button")];
	const view = (name) => document.getElementById("view-" + name);
	// wanted is what was chosen to be shown, at the id of what is looked at, of the agent of the log.
	let wanted = "runs", at = null, of = null, events = null;

	const look = () => at && document.getElementById(at) || document.querySelector("#cards > .card:not(.closed), #runs > .run");
	const agentOf = (e) => e?.dataset.agent || e?.querySelector("a[href^='/agents/']")?.pathname.replace("/agents/", "");
	const runOf = (e) => e?.matches(".run") ? e.dataset.id : e?.dataset.run;
	const changeOf = (e) => e?.querySelector(":scope > pre.evidence");
	const makes = (e) => runOf(e) && "made" in view("change").dataset; // what a run has changed can be shown

	function show(name) {
		wanted = name;
		refresh();
	}

	// refresh has the right show what is wanted of what is looked at, where that has it, and in a narrow window the runs.
	function refresh() {
		const e = look();
		tabs.hidden = !e;
		for (const b of buttons) {
			b.disabled = b.dataset.view === "log" && !agentOf(e) || b.dataset.view === "change" && !changeOf(e) && !makes(e);
		}
		const shown = wide.matches && buttons.some((b) => !b.disabled && b.dataset.view === wanted) ? wanted : "runs";
		for (const b of buttons) {
			const is = b.dataset.view === shown;
			b.setAttribute("aria-selected", is);
			b.tabIndex = is ? 0 : -1;
			view(b.dataset.view).hidden = !is;
		}
		const run = document.getElementById("run-" + runOf(e));
		for (const r of document.querySelectorAll("#runs > .run")) r.classList.toggle("looked-at", r === run);
		if (shown === "change") change(e, [e.id, e.dataset.v, run?.dataset.v].join(" "));
		const agent = shown === "log" && !document.hidden ? agentOf(e) : null;
		if (agent !== of) log(agent);
	}

	function titled(text, href) {
		const heading = document.createElement("h2");
		if (!href) heading.textContent = text;
		else heading.append(Object.assign(document.createElement("a"), {href, textContent: text}));
		return heading;
	}

	// change shows what the question asks to change, where it does, and below it what its run has changed by now.
	let changeAt = null;
	async function change(e, at) {
		if (at === changeAt) return;
		const same = changeAt?.startsWith(e.id + " ");
		changeAt = at;
		const asked = changeOf(e), parts = asked ? [titled("What it asks to change"), asked.cloneNode(true)] : [];
		if (!same) view("change").replaceChildren(...parts);
		if (makes(e)) {
			const of = "/runs/" + runOf(e) + "/change";
			try {
				const reply = await fetch(of, {headers: {"X-Fragment": "1"}});
				if (!reply.ok) throw new Error(reply.statusText);
				const made = new DOMParser().parseFromString(await reply.text(), "text/html").querySelector(".made");
				parts.push(titled("What the run has changed", of), document.importNode(made, true));
			} catch {
				if (changeAt === at) changeAt = null; // the next look tries again
				return;
			}
		}
		if (changeAt === at) view("change").replaceChildren(...parts);
	}

	async function log(agent) {
		events?.close();
		[of, events] = [agent, null];
		if (!agent) return;
		let page;
		try {
			const reply = await fetch("/agents/" + agent);
			if (!reply.ok) throw new Error(reply.statusText);
			page = new DOMParser().parseFromString(await reply.text(), "text/html");
		} catch {
			if (of === agent) of = null; // the next look tries again
			return;
		}
		if (of !== agent) return; // another was chosen meanwhile
		const heading = titled(page.querySelector("h1").textContent, "/agents/" + agent);
		const text = document.importNode(page.getElementById("log"), true);
		view("log").replaceChildren(heading, text);
		text.scrollTop = text.scrollHeight;
		if (!page.body.dataset.log) return;
		events = new EventSource(page.body.dataset.log);
		events.addEventListener("said", (e) => window.say(text, JSON.parse(e.data)));
	}

	const choose = (e) => {
		const entry = e.target.closest("#cards > .card, #runs > .run");
		if (!entry || entry.id === at) return;
		at = entry.id;
		refresh();
	};
	for (const list of [document.getElementById("cards"), document.getElementById("runs")]) {
		list.addEventListener("focusin", choose);
		list.addEventListener("click", choose);
		new MutationObserver(refresh).observe(list, {childList: true});
	}
	tabs.addEventListener("click", (e) => { if (e.target.dataset.view) show(e.target.dataset.view); });
	tabs.addEventListener("keydown", (e) => {
		const by = {ArrowRight: 1, ArrowLeft: -1}[e.key];
		const able = buttons.filter((b) => !b.disabled);
		if (!by) return;
		const next = able[(able.indexOf(document.activeElement) + by + able.length) % able.length];
		next.focus();
		show(next.dataset.view);
	});
	wide.addEventListener("change", refresh);
	document.addEventListener("visibilitychange", refresh); // a hidden page follows no log
	refresh();
})();

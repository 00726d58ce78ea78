// Keys as on the board. They are for whoever is in no field, and can be turned off where they are listed.
"use strict";
(() => {
	const help = document.getElementById("keys");
	const button = document.getElementById("keys-button");
	if (!help || !button) return;
	const on = document.getElementById("keys-on");
	try {
		on.checked = localStorage.getItem("keys") !== "off";
	} catch { /* the browser keeps nothing */ }
	on.addEventListener("change", () => {
		try {
			localStorage.setItem("keys", on.checked ? "on" : "off");
		} catch { /* it holds for this page */ }
	});
	button.hidden = false;
	button.addEventListener("click", () => help.showModal());

	const entries = () => [...document.querySelectorAll("#cards > .card:not([inert]), #runs > .run")]
		.filter((e) => e.checkVisibility());
	const here = () => document.activeElement.closest(".card, .run");
	let passed = []; // questions that were left by a key
	function to(e) {
		if (!e) return;
		e.focus({preventScroll: true});
		e.scrollIntoView({block: "nearest"});
	}
	function move(by) {
		const all = entries();
		const at = all.indexOf(here());
		const next = at < 0 && by < 0 ? all.length - 1 : at < 0 ? 0 : at + by;
		to(all[Math.min(Math.max(next, 0), all.length - 1)]);
	}
	function next() {
		const open = entries().filter((e) => e.matches(".card:not(.closed)"));
		const from = here();
		if (from) passed.push(from.id);
		to(open.find((e) => e !== from && !passed.includes(e.id)) || open.find((e) => e !== from));
	}
	function back() {
		let e = null;
		while (!e && passed.length) e = document.getElementById(passed.pop());
		to(e);
	}
	// into goes into what is focused: the first thing of a form, or the page of a run.
	function into(e) {
		if (e.matches(".run")) e.querySelector("h3 a").click();
		else e.querySelector("form.answer :is(input:not([type=hidden]), textarea, button)")?.focus();
	}
	// option chooses the option of a number. A button is only focused: Enter presses it.
	function option(n) {
		const o = here()?.querySelectorAll("form.answer [name=option]")[n - 1];
		o?.focus();
		if (o?.matches("input")) o.click();
	}
	const link = (selector) => document.querySelector(selector)?.click();
	function run() {
		const e = here();
		if (!e) return document.querySelectorAll("#runs > .run").length === 1 ? document.querySelector("#runs > .run") : document;
		return e.matches(".run") ? e : document.getElementById("run-" + e.dataset.run);
	}
	// folder has the path of the folder copied, and says it: it is on the machine that serves the page.
	async function folder() {
		const path = (here()?.querySelector(".folder .path") || run()?.querySelector(".folder .path"))?.title;
		if (!path) return;
		let copied = "";
		try {
			await navigator.clipboard.writeText(path);
			copied = " is in the clipboard";
		} catch { /* it may be forbidden */ }
		document.dispatchEvent(new CustomEvent("told", {detail: path + copied}));
	}
	const keys = {
		j: () => move(1), k: () => move(-1), g: () => to(entries()[0]), G: () => to(entries().at(-1)),
		a: next, "<": back,
		s: () => run()?.querySelector("form[action$='/stop'] button")?.click(),
		r: () => run()?.querySelector("form[action$='/resume'] button")?.click(),
		R: () => run()?.querySelector("form[action$='/retry'] button")?.click(),
		p: () => run()?.querySelector("form[action$='/prune'] button")?.click(),
		d: () => {
			const tab = document.getElementById("tab-change");
			(tab?.checkVisibility() && !tab.disabled ? tab : run()?.querySelector("a[href$='/change']"))?.click();
		},
		t: () => {
			const tabs = [...document.querySelectorAll("#views button:enabled")];
			tabs[(tabs.findIndex((b) => b.ariaSelected === "true") + 1) % tabs.length]?.click();
		},
		w: () => (document.getElementById("message") || {focus: () => run()?.querySelector("a[href^='/agents/']")?.click()}).focus(),
		n: () => link("nav a[href='/start']"),
		e: () => link("nav a[href='/runs']"),
		"/": () => document.getElementById("find") ? document.getElementById("find").focus() : link("nav a[href='/runs']"),
		o: folder,
		c: () => here() && navigator.clipboard?.writeText(here().dataset.id).catch(() => {}), // it may be forbidden
		"?": () => help.showModal(),
	};
	document.addEventListener("keydown", (e) => {
		if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || help.open) return;
		const field = e.target.matches("textarea, select, input:not([type=radio], [type=checkbox])");
		if (e.key === "Escape" && here()) {
			here().focus();
			return;
		}
		if (field || !on.checked) return;
		if (e.key === "Enter" && here() === document.activeElement && here()) into(here());
		else if (/^[1-9]$/.test(e.key)) option(Number(e.key));
		else if (Object.hasOwn(keys, e.key)) keys[e.key]();
		else return;
		e.preventDefault();
	});
})();

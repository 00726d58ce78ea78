// Makes the page live. Everything here is done by the page without it, too, only not by itself.
"use strict";
(() => {
	const main = document.querySelector("main");
	const grace = 700; // ms that a card takes no press after it has appeared under somebody's finger

	const element = (html) => {
		const t = document.createElement("template");
		t.innerHTML = html.trim();
		return settle(t.content.firstElementChild);
	};
	// Times are by the clock, and how long ago by the script, which has that go on. The clock's stays as the title.
	const ago = new Intl.RelativeTimeFormat("en", {numeric: "auto", style: "short"});
	function since(time) {
		const minutes = Math.floor((Date.now() - Date.parse(time.dateTime)) / 60000);
		if (minutes < 1) return "just now";
		if (minutes < 60) return ago.format(-minutes, "minute");
		if (minutes < 48 * 60) return ago.format(-Math.floor(minutes / 60), "hour");
		return time.title; // by the clock it is clearer
	}
	function tick(within) {
		for (const time of within.querySelectorAll("time.ago")) {
			time.title ||= time.textContent;
			const text = since(time);
			if (time.textContent !== text) time.textContent = text; // else whoever has selected it keeps that
		}
	}
	setInterval(() => tick(document), 15000);
	document.addEventListener("visibilitychange", () => tick(document)); // a hidden page's clock may stand

	const told = document.getElementById("told");
	let fades;
	function tell(text, wrong = false) {
		told.textContent = text;
		told.classList.toggle("wrong", wrong);
		clearTimeout(fades);
		fades = setTimeout(() => { told.textContent = ""; }, wrong ? 30000 : 6000);
	}

	document.addEventListener("told", (e) => tell(e.detail));

	// Whoever comes back to the first page is told what has happened meanwhile. That they look is said when they see the
	// page, and when they do something there.
	const away = document.getElementById("away");
	let lookedAt = 0;
	async function look() {
		if (!away || document.hidden || Date.now() - lookedAt < 10000) return;
		lookedAt = Date.now();
		try {
			const reply = await fetch("/look", {method: "POST", headers: {"X-Fragment": "1"}});
			const text = reply.ok && await reply.text();
			if (!text) return;
			away.textContent = text[0].toUpperCase() + text.slice(1);
			away.hidden = false;
		} catch { /* the server has gone; the events say so */ }
	}
	for (const does of ["visibilitychange", "pointerdown", "keydown"]) document.addEventListener(does, look, {passive: true});
	look();

	// badge puts a count on the icon of the page where it is installed, and none for 0.
	const badge = (n) => { navigator.setAppBadge?.(n)?.catch(() => {}); }; // it may be forbidden

	function showCount(n) {
		badge(n);
		document.title = (n ? `(${n}) ` : "") + document.title.replace(/^\(\d+\) /, "");
		const icon = document.getElementById("icon");
		const next = icon.cloneNode();
		next.href = `/icon.svg?n=${n}`;
		icon.replaceWith(next); // browsers look at a new one only
		const count = document.getElementById("count");
		if (!count) return;
		count.textContent = n || "No";
		document.getElementById("noun").textContent = n === 1 ? "question" : "questions";
	}

	// What is typed or chosen and not sent is kept for this tab: over a reload, another page, and what is typed over an
	// answer from elsewhere. A secret is not.
	const sending = new Set(); // what something is on its way about
	const about = (form) => form.matches(".unsent") ? "/questions/" + form.closest(".card").dataset.id
		: new URL(form.getAttribute("action"), location).pathname;
	function drafts(of) {
		try {
			return Object.keys(sessionStorage).filter((key) => key.startsWith("draft " + (of && of + " "))).sort();
		} catch {
			return []; // the browser keeps nothing
		}
	}
	function keyOf(field) {
		const card = field.closest(".card");
		if (!field.form?.matches(".answer, .act") || card?.matches("[data-secret]")) return null;
		return "draft " + about(field.form) + (field.form.elements.change ? " change " : " ") + field.name;
	}
	const chosen = (field) => field.matches("[type=radio], [type=checkbox]");
	const isChoice = (key) => / (option|all_like)$/.test(key);
	// chosenOf gives the values of what is chosen in a form, of those with the name of a field.
	const chosenOf = (field) => new FormData(field.form).getAll(field.name).join(" ");
	function keep(field) {
		const key = keyOf(field);
		if (!key) return;
		const value = chosen(field) ? chosenOf(field) : field.value.trim() && field.value;
		try {
			if (value) sessionStorage.setItem(key, value);
			else sessionStorage.removeItem(key);
		} catch { /* it is full, or off: it stays in the page */ }
	}
	// Images of an answer are in the field of its form, so that a form without this script sends the same. What is pasted
	// into the form and dropped onto its card comes there too, and what is in it is kept as long as this page is there.
	const attached = new Map(); // by what keyOf calls the field
	const imagesOf = (form) => form?.querySelector("input[name=image]");
	const placeOf = (field) => about(field.form) + (field.form.elements.change ? " change" : "");
	function attach(field, files) {
		const all = new DataTransfer();
		let sum = 0;
		for (const file of files) {
			const why = !field.accept.split(",").includes(file.type) ? "it is no PNG, JPEG, GIF or WebP"
				: file.size > field.dataset.bytes ? `it has ${megabytes(file.size)}, and ${megabytes(field.dataset.bytes)} are the most`
				: all.items.length >= field.dataset.many ? `an answer has ${field.dataset.many} images at most`
				: (sum += file.size) > field.dataset.sum ? `an answer has ${megabytes(field.dataset.sum)} of images at most` : "";
			if (why) tell(`The image ${file.name} was not attached: ${why}.`, true);
			else all.items.add(file);
		}
		field.files = all.files;
		attached.set(placeOf(field), [...all.files]);
		showAttached(field);
	}
	const megabytes = (bytes) => bytes < 1e5 ? (bytes / 1e3).toFixed(1) + " kB"
		: (bytes / 1e6).toFixed(2).replace(/\.?0+$/, "") + " MB";
	function showAttached(field) {
		field.parentElement.querySelector("ul")?.remove();
		if (!field.files.length) return;
		const list = document.createElement("ul");
		list.setAttribute("aria-label", "Attached images");
		for (const file of field.files) {
			const [item, canvas, name, remove] = ["li", "canvas", "span", "button"].map((of) => document.createElement(of));
			canvas.setAttribute("aria-hidden", "true");
			canvas.width = canvas.height = 0;
			createImageBitmap(file, {resizeHeight: 96}).then((image) => { // no address of it, which the policy would not load
				[canvas.width, canvas.height] = [image.width, image.height];
				canvas.getContext("2d").drawImage(image, 0, 0);
				image.close();
			}, () => { name.append(" (it cannot be shown here)"); });
			name.textContent = `${file.name}, ${megabytes(file.size)}`;
			Object.assign(remove, {type: "button", className: "quiet", textContent: "Remove"});
			remove.setAttribute("aria-label", "Remove " + file.name);
			remove.addEventListener("click", () => {
				attach(field, [...field.files].filter((other) => other !== file));
				field.focus();
			});
			item.append(canvas, name, remove);
			list.append(item);
		}
		field.after(list);
	}
	const drop = (of) => { for (const key of drafts(of)) sessionStorage.removeItem(key); };

	// settle makes what comes onto the page as it is to be there: its times, and what was typed is back in its fields. What
	// can be no answer any more it offers as a message.
	function settle(e) {
		tick(e);
		for (const field of e.querySelectorAll("form:not(.unsent) :is(textarea, [type=radio], [type=checkbox])")) {
			const key = keyOf(field);
			const kept = key && drafts(key.split(" ")[1]).includes(key) && sessionStorage.getItem(key);
			if (kept && chosen(field)) field.checked = kept.split(" ").includes(field.value);
			if (!kept || chosen(field) || field.value !== field.defaultValue) continue;
			field.value = kept;
			field.closest("details")?.setAttribute("open", "");
		}
		for (const field of e.querySelectorAll("input[name=image]")) {
			const files = attached.get(placeOf(field));
			if (files?.length) attach(field, files);
		}
		for (const card of [e, ...e.querySelectorAll(".card")]) {
			if (card.matches(".card.closed")) offer(card);
			if (card.matches("[data-before]")) sight.observe(card);
		}
		return e;
	}

	function offer(card) {
		const of = "/questions/" + card.dataset.id;
		const changes = card.querySelector("form.answer");
		const answer = card.querySelector(".reply")?.textContent || "";
		for (const key of drafts(of)) { // its reply may not have come: somebody went to another page at once
			const over = isChoice(key) && !key.startsWith("draft " + of + " change ");
			if (over || answer.endsWith(sessionStorage.getItem(key).trim())) sessionStorage.removeItem(key);
		}
		const keys = drafts(of).filter((key) => !isChoice(key) && (!changes || !key.startsWith("draft " + of + " change ")));
		if (sending.has(of) || !keys.length) return;
		const text = keys.map((key) => sessionStorage.getItem(key)).join("\n");
		const form = card.querySelector("form.unsent");
		if (!form) {
			const p = document.createElement("p");
			p.className = "outcome";
			p.textContent = "Not sent: " + text;
			card.append(p);
			drop(of);
			return;
		}
		for (const key of keys) sessionStorage.removeItem(key);
		form.elements.text.value = text;
		form.hidden = false;
		keep(form.elements.text);
	}

	// offerMissed shows the questions of drafts that were answered while this page was not there.
	async function offerMissed() {
		const cards = document.querySelector("#cards.queue"); // of the first page
		const of = new Set(drafts("").filter((key) => !isChoice(key)).map((key) => key.split(" ")[1]));
		for (const path of of) {
			const id = path.replace("/questions/", "");
			if (!cards || id === path || document.getElementById("question-" + id)) continue;
			try {
				const reply = await fetch(path);
				const page = new DOMParser().parseFromString(await reply.text(), "text/html");
				const card = page.getElementById("question-" + id);
				if (card?.matches(".closed") && !document.getElementById(card.id)) {
					cards.append(settle(document.importNode(card, true)));
				}
				if (reply.status === 404) drop(path);
			} catch { /* the server has gone; the next load looks again */ }
		}
	}

	// replace puts what is new in the place of what is there, unless it is the same: a draft stays.
	function replace(old, now) {
		if (old.dataset.v === now.dataset.v) return;
		const had = old.contains(document.activeElement) && alike(document.activeElement);
		if (old.matches(".unfolded")) {
			now.classList.add("unfolded");
			now.querySelector(":scope > .line")?.setAttribute("aria-expanded", "true");
		}
		old.replaceWith(now);
		if (had) ([...now.querySelectorAll("*")].find((e) => alike(e) === had) || now).focus({preventScroll: true});
	}

	// On a phone one question is open, and each other is a line (page.css): what has the focus is the one.
	const queue = document.querySelector("#cards.queue");
	document.documentElement.classList.add("folds");
	function unfold(card) {
		for (const c of queue.querySelectorAll(":scope > .card")) {
			c.classList.toggle("unfolded", c === card);
			c.querySelector(":scope > .line")?.setAttribute("aria-expanded", c === card);
		}
	}
	function unfoldOne() {
		const was = queue?.querySelector(":scope > .card.unfolded");
		if (!queue || was?.matches(":not(.closed)")) return;
		unfold((was && nextOpen(was)) || queue.querySelector(":scope > .card:not(.closed)"));
	}
	queue?.addEventListener("focusin", (e) => {
		const card = e.target.closest(".card:not(.closed, .unfolded)");
		if (card && !e.target.matches(".line")) unfold(card);
	});
	queue?.addEventListener("click", (e) => {
		const card = e.target.closest(".line")?.closest(".card");
		if (!card) return;
		unfold(card);
		card.focus({preventScroll: true});
		card.scrollIntoView({block: "nearest"});
	});

	// alike is the same for an element and for the one that takes its place.
	const alike = (e) => [e.localName, e.id, e.href, e.form?.action, e.name, e.getAttribute("value")].join(" ");

	// move takes no press where cards move: it would land on another than it was meant for.
	let moving;
	function move() {
		const cards = document.getElementById("cards");
		cards.classList.add("moving");
		clearTimeout(moving);
		moving = setTimeout(() => { cards.classList.remove("moving"); }, grace);
	}

	function appear(card) {
		card.inert = true;
		setTimeout(() => { card.inert = false; }, grace);
		return card;
	}

	const kept = 5; // cards of closed questions, and ended runs, that stay where they were
	function forget(list, over) {
		const past = [...list.querySelectorAll(over)]
			.filter((e) => !e.contains(document.activeElement) && !e.querySelector(".unsent:not([hidden])"));
		for (const e of past.slice(0, -kept)) e.remove();
	}

	function question(c) {
		const cards = document.getElementById("cards");
		const old = document.getElementById("question-" + c.id);
		showCount(c.count);
		if (old) {
			if (!c.open && !old.classList.contains("closed")) {
				tell("Closed: " + c.text);
				move();
			}
			replace(old, element(c.html));
			forget(cards, ".card.closed");
			if (c.count && !cards.querySelector(".card:not(.closed)") && document.querySelector("[rel=next]")) location.reload();
		} else if (c.open) {
			tell("Asked: " + c.text);
			const next = document.getElementById("question-" + c.next);
			if (next) move();
			if (next || !document.querySelector("[rel=next]")) cards.insertBefore(appear(element(c.html)), next);
		}
		unfoldOne();
	}

	function run(r) {
		const runs = document.getElementById("runs");
		const old = document.getElementById("run-" + r.id);
		if (old) replace(old, element(r.html));
		else if (!r.ended) runs.append(element(r.html));
		forget(runs, ".run.ended");
	}

	function agent(a) {
		replace(document.getElementById("agent-" + a.id), element(a.html));
	}

	function problems(p) {
		document.getElementById("problems").replaceChildren(...p.problems.map((text) => {
			const e = document.createElement("p");
			e.className = "error";
			e.textContent = text;
			return e;
		}));
	}

	function state(s) {
		if (told.matches(".wrong")) tell(""); // the server is back
		showCount(s.count);
		problems(s);
		for (const [list, place, name] of [[s.cards, "cards", "question-"], [s.runs, "runs", "run-"]]) {
			if (!list) continue;
			const into = document.getElementById(place);
			const ids = new Set(list.map((p) => name + p.id));
			for (const e of [...into.children]) {
				if (!ids.has(e.id) && !e.matches(".closed, .ended")) e.remove();
			}
			let next = null;
			for (const p of list.toReversed()) {
				const old = document.getElementById(name + p.id);
				if (old) replace(old, element(p.html));
				else into.insertBefore(element(p.html), next);
				next = document.getElementById(name + p.id);
			}
		}
		for (const a of s.agents || []) agent(a);
		unfoldOne();
		offerMissed();
	}

	// follow listens while the page is looked at. The browser comes back by itself with the last event's id. It has six
	// connections for all pages of a server: of those that are hidden one listens, so that its title tells the count.
	function follow(address, events) {
		let source, release, waiting;
		const begin = () => {
			source = new EventSource(address);
			for (const [name, take] of Object.entries(events)) {
				source.addEventListener(name, (e) => take(JSON.parse(e.data)));
			}
			source.addEventListener("error", (e) => {
				if (e.target === source && source.readyState === EventSource.CLOSED) setTimeout(() => source && begin(), 2000);
			});
		};
		const end = () => { source?.close(); source = null; };
		document.addEventListener("visibilitychange", () => {
			if (!document.hidden) {
				waiting?.abort();
				release?.();
				if (!source) begin();
				return;
			}
			end();
			waiting = new AbortController();
			navigator.locks?.request("hidden", {signal: waiting.signal}, () => new Promise((free) => {
				release = free;
				begin();
			})).catch(() => {}); // it is seen again before it was its turn
		});
		begin();
	}

	// report is fetched anew when its run has changed, once at a time. What is unfolded, and in focus, stays.
	const report = document.getElementById("report");
	let fetching, changed;
	async function fetchReport(c) {
		if ("count" in c) showCount(c.count);
		if ("problems" in c) problems(c);
		changed = true;
		if (fetching) return;
		fetching = true;
		while (changed) {
			changed = false;
			try {
				const reply = await fetch(location.pathname, {headers: {"X-Fragment": "1"}});
				if (reply.ok) showReport(element(await reply.text()));
			} catch { /* the server has gone; the events begin with the whole when it is back */ }
		}
		fetching = false;
	}

	function showReport(now) {
		const of = (e) => "#" + CSS.escape(e.closest("[id]").id) + (e.closest("details") ? " " + e.localName : "");
		for (const e of report.querySelectorAll("details[open]")) {
			now.querySelector(of(e))?.setAttribute("open", "");
		}
		const had = report.contains(document.activeElement) && of(document.activeElement);
		report.replaceChildren(now);
		if (had) report.querySelector(had)?.focus({preventScroll: true});
	}

	// say adds texts to a log, here and beside (beside.js). Its end stays in view where it was.
	window.say = (log, texts) => {
		const end = log.scrollHeight - log.scrollTop - log.clientHeight < 50;
		for (const none of log.querySelectorAll(".none")) none.remove();
		for (const text of texts) {
			const p = document.createElement("p");
			p.textContent = text;
			log.append(p);
		}
		if (end) log.scrollTop = log.scrollHeight;
	};

	const count = (c) => showCount(c.count);
	if (document.body.dataset.live) badge(Number(new URL(document.getElementById("icon").href).searchParams.get("n")));
	if (report) follow(document.body.dataset.live, {state: fetchReport, question: fetchReport, run: fetchReport, problems, count});
	else if (document.body.dataset.live) follow(document.body.dataset.live, {state, question, run, agent, problems, count});
	if (document.body.dataset.log) {
		const log = document.getElementById("log");
		log.scrollTop = log.scrollHeight;
		follow(document.body.dataset.log, {said: (texts) => window.say(log, texts)});
	}

	// What is sent leaves the page where it is, so that drafts beside it stay.
	async function send(form, submitter, take) {
		const data = new FormData(form, submitter);
		if (!imagesOf(form)?.files.length) data.delete("image");
		const body = data.has("image") ? data : new URLSearchParams(data);
		if (form.dataset.sure) body.set("sure", "yes");
		const card = form.closest(".card") || form;
		card.inert = true;
		const of = about(form);
		sending.add(of);
		try {
			const reply = await fetch(form.action, {method: "POST", body, headers: {"X-Fragment": "1"}});
			const text = await reply.text();
			if (!text) throw new Error(reply.statusText);
			sending.delete(of);
			if (reply.ok) drop(of);
			if (reply.ok) for (const place of [of, of + " change"]) attached.delete(place);
			take(text, reply);
		} catch (problem) {
			tell("That was not sent (" + problem.message + "); it is still here: try again.", true);
		}
		sending.delete(of);
		card.inert = false;
	}

	// What was answered before to what is like a question is shown in its card once that is in sight: last of all, so that
	// nothing moves below a finger.
	const sight = new IntersectionObserver((seen) => {
		for (const {isIntersecting, target} of seen) if (isIntersecting) remind(target);
	});
	async function remind(card) {
		sight.unobserve(card);
		const reply = await fetch(`/questions/${card.dataset.id}/before`).catch(() => null);
		if (!reply?.ok) return; // it can be answered without
		const before = new DOMParser().parseFromString(await reply.text(), "text/html").querySelector(".before");
		if (before?.childElementCount) card.append(document.importNode(before, true));
	}

	// nextOpen is the open question below a card; null: there is none.
	function nextOpen(card) {
		do card = card.nextElementSibling; while (card && !card.matches(".card:not(.closed)"));
		return card;
	}

	function answered(card, text, reply) {
		if (!reply.headers.get("Content-Type").startsWith("text/html")) {
			tell(text, true);
			return;
		}
		const now = element(text);
		(document.getElementById(card.id) || card).replaceWith(now);
		move();
		if (now.querySelector("[role=alert]")) {
			(now.querySelector(":is([aria-invalid], textarea, input:not([type=hidden])):not(details:not([open]) *)") || now).focus();
			return;
		}
		(nextOpen(now) || document.querySelector("#cards > .card:not(.closed)") || now).focus();
		tell([...now.querySelectorAll(".outcome, .reply")].map((e) => e.textContent).join(" "));
	}

	main.addEventListener("submit", (e) => {
		const form = e.target;
		if (form.matches("form.answer")) {
			e.preventDefault();
			send(form, e.submitter, (text, reply) => answered(form.closest(".card"), text, reply));
		} else if (form.matches("form.act")) {
			e.preventDefault();
			if (form.dataset.sure && !confirm(form.dataset.sure)) return;
			send(form, e.submitter, (text, reply) => {
				tell(text, !reply.ok);
				if (!reply.ok) return;
				form.reset();
				if (form.matches(".unsent")) form.hidden = true;
				if (form.matches("[action$='/prune']")) form.closest(".run").remove();
			});
		}
	});
	main.addEventListener("change", (e) => {
		if (e.target.matches("input[name=image]")) attach(e.target, [...attached.get(placeOf(e.target)) || [], ...e.target.files]);
	});
	main.addEventListener("paste", (e) => takeFiles(e, imagesOf(e.target.closest("form.answer")), e.clipboardData));
	const under = (e) => imagesOf(e.target.closest(".card")?.querySelector("form.answer"));
	main.addEventListener("dragover", (e) => { if (under(e) && e.dataTransfer.types.includes("Files")) e.preventDefault(); });
	main.addEventListener("drop", (e) => takeFiles(e, under(e), e.dataTransfer));
	function takeFiles(e, field, from) {
		if (!field || !from.files.length) return;
		e.preventDefault();
		attach(field, [...field.files, ...from.files]);
	}
	main.addEventListener("input", (e) => { if (e.target.matches("textarea") || chosen(e.target)) keep(e.target); });
	main.addEventListener("click", (e) => {
		const form = e.target.matches("button[type=button]") && e.target.closest("form.unsent");
		if (!form) return;
		drop(about(form));
		form.hidden = true;
	});
	settle(main);
	unfoldOne();
	offerMissed();
})();

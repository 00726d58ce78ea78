// Makes the page live. Everything here is done by the page without it, too, only not by itself.
"use strict";
(() => {
	const main = document.querySelector("main");
	const grace = 700; // ms that a card takes no press after it has appeared under somebody's finger

	const element = (html) => {
		const t = document.createElement("template");
		t.innerHTML = html.trim();
		return t.content.firstElementChild;
	};
	const tell = (text) => { document.getElementById("told").textContent = text; };

	function showCount(n) {
		document.title = (n ? `(${n}) ` : "") + "claude-supervise";
		const count = document.getElementById("count");
		if (!count) return;
		count.textContent = n || "No";
		document.getElementById("noun").textContent = n === 1 ? "question" : "questions";
		const icon = document.getElementById("icon");
		const next = icon.cloneNode();
		next.href = `/icon.svg?n=${n}`;
		icon.replaceWith(next); // browsers look at a new one only
	}

	// replace puts what is new in the place of what is there, unless it is the same: a draft stays.
	function replace(old, now) {
		if (old.dataset.v === now.dataset.v) return;
		const had = old.contains(document.activeElement);
		old.replaceWith(now);
		if (had && now.tabIndex === -1) now.focus();
	}

	function appear(card) {
		card.inert = true;
		setTimeout(() => { card.inert = false; }, grace);
		return card;
	}

	function question(c) {
		const cards = document.getElementById("cards");
		const old = document.getElementById("question-" + c.id);
		const now = element(c.html);
		showCount(c.count);
		if (old) {
			if (!c.open && !old.classList.contains("closed")) tell("Closed: " + c.text);
			replace(old, now);
		} else if (c.open) {
			tell("Asked: " + c.text);
			cards.insertBefore(appear(now), document.getElementById("question-" + c.next));
		}
	}

	function run(r) {
		const old = document.getElementById("run-" + r.id);
		if (old) replace(old, element(r.html));
		else if (!r.ended) document.getElementById("runs").append(element(r.html));
	}

	function state(s) {
		showCount(s.count);
		for (const [list, name] of [[s.cards || [], "question-"], [s.runs || [], "run-"]]) {
			const into = document.getElementById(name === "run-" ? "runs" : "cards");
			const ids = new Set(list.map((p) => name + p.id));
			for (const e of [...into.children]) {
				if (!ids.has(e.id) && !e.classList.contains("closed")) e.remove();
			}
			for (const p of list) {
				const old = document.getElementById(name + p.id);
				if (old) replace(old, element(p.html));
				else into.append(element(p.html));
			}
		}
	}

	// follow listens for as long as the page is looked at. The browser comes back by itself with the last event's id.
	function follow(address, events) {
		const begin = () => {
			const source = new EventSource(address);
			for (const [name, take] of Object.entries(events)) {
				source.addEventListener(name, (e) => take(JSON.parse(e.data)));
			}
			source.addEventListener("error", () => {
				if (source.readyState === EventSource.CLOSED) setTimeout(begin, 2000);
			});
			return source;
		};
		begin();
	}

	if (document.body.dataset.live) follow(document.body.dataset.live, {state, question, run});
	if (document.body.dataset.log) {
		const log = document.getElementById("log");
		log.scrollTop = log.scrollHeight;
		follow(document.body.dataset.log, {
			said: (texts) => {
				const end = log.scrollHeight - log.scrollTop - log.clientHeight < 50;
				for (const none of log.querySelectorAll(".none")) none.remove();
				for (const text of texts) {
					const p = document.createElement("p");
					p.textContent = text;
					log.append(p);
				}
				if (end) log.scrollTop = log.scrollHeight;
			},
		});
	}

	// An answer is sent without leaving the page, so that drafts beside it stay.
	main.addEventListener("submit", async (e) => {
		const form = e.target;
		if (!form.matches("form.answer")) return;
		e.preventDefault();
		const card = form.closest(".card");
		const body = new URLSearchParams(new FormData(form, e.submitter));
		card.inert = true;
		try {
			const reply = await fetch(form.action, {method: "POST", body, headers: {"X-Fragment": "1"}});
			const html = await reply.text();
			if (!html.includes("data-v=")) throw new Error(reply.statusText);
			const now = element(html);
			const here = document.getElementById(card.id) || card;
			here.replaceWith(now);
			const error = now.querySelector("[role=alert]");
			if (error) {
				(now.querySelector("textarea, input") || now).focus();
				return;
			}
			const next = [...document.querySelectorAll("#cards > .card:not(.closed)")][0];
			(next || now).focus();
			tell(now.querySelector(".outcome")?.textContent || "");
		} catch (problem) {
			card.inert = false;
			tell("That was not sent (" + problem.message + "); it is still here: try again.");
		}
	});
})();

// Package client leaves things for a run, whoever supervises it: answers, stops, messages, revoked rules, and what
// prune removes. What is left stands in the inbox and is kept, even where nobody supervises the run.
//
//	Client ──▶ inbox (the first answer wins) ──wake-up──▶ engine
//
// It does not wait for what becomes of it: package view shows that.
package client

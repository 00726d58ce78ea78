// Package findings merges what the agents of a run have shared: NAME.jsonl, to which each of them appends.
//
//	NAME.jsonl ──▶ NAME.merged.json, and NAME.broken for the lines that are no JSON
//
// What the agents wrote stays as it is, so that it can be merged again at any time.
package findings

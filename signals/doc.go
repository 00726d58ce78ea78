// Package signals turns what an agent prints into signals, and signals back into text.
//
// An agent that runs headless tells its supervisor in plain text that it needs a person: a block
//
//	[CLARIFICATION_NEEDED]
//	agent_id: a-7Qm2xK9fWb4T
//	questions:
//	  - question_id: Q1
//	    text: Which database?
//	[/CLARIFICATION_NEEDED]
//
// or the same as one JSON object, or one of the forms of older documents:
//
//	AWAITING_USER_INPUT {"questions": [{"question": "Which database?"}]}
//
//	PAUSED_FOR_INPUT: /tmp/state.json
//	Question: Which database?
//	A) Postgres
//	B) SQLite
//
//	QUESTION_ESCALATED:workflow_1_q1
//
//	WORKFLOW_COMPLETE
//
//	TaskUpdate({metadata: {needs_input: true, question: "Which database?"}})
//
// Use a [Scanner] for each conversation: feed it the text as it arrives, split
// anywhere, and tell it where messages, tool calls and turns end; it returns each [Signal] at the moment it counts.
// [Scan] reads a whole text at once.
//
// Where the supervisor serves its [Tools] inside the agent, a call of one says the same: [Served] reads it.
//
// The hard part is to tell a signal from talk about signals. The rules, in the order in which they decide:
//
//   - The marker stands alone on its line. Quotes, lists, tables, comments and diffs are prose.
//   - In a fence it counts only if the fence names no language, or one of text and data.
//   - With this agent's id it counts at once. With another id, or a placeholder, it is flagged [Signal.Foreign].
//   - With no id, which the older forms hardly ever have, it counts only at the end of the last message of a turn.
//   - An escalation counts only if its question file exists, which the caller tells ([Config.Escalated]).
//   - In the result of a Bash command it counts if the command itself surely prints it.
//
// What an agent prints is not to be trusted: memory is bounded whatever comes, time is linear in the input, and text
// taken from a signal carries no control characters. An id that is no plain file name is a problem, never a path.
//
// The package is pure: no files, clocks or goroutines. It does not decide what to do about a signal, does not know
// whether a question is still open (compare [Signal.Fingerprint]), and does not read the CLI's stream.
package signals

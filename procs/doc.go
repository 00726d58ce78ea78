// Package procs runs one child process: the claude CLI, headless, or a program that speaks like it.
//
// It knows the command line, the environment, the pseudo-terminal, the stream protocol in both directions, how to end
// a child and all that it left behind, and what the differences between releases are. It decides nothing: what a child
// says is handed over as typed messages, and what it is told is somebody else's choice. It keeps nothing either; for
// what must last, use checkpoints.
//
// Use Start for a launch, Process.End to end it (always, also after Exit: it sweeps), and Sweep for a launch of an
// earlier supervisor that may still be alive.
//
// # The protocol
//
// It is no published standard but what Claude Code speaks with its own SDKs, read off releases 2.1.7 to 2.1.329. The
// rules that the code in this package must keep:
//
//   - stdin is a pipe, stdout a raw pty that is the child's controlling terminal, stderr a pipe of its own.
//   - Each line is one JSON object. A line on stdin that is not JSON ends the child, so nothing is ever written but
//     what json.Marshal returned and a newline, by one writer at a time.
//   - Unknown types and fields are ignored; a control request that is not understood is answered with an error, since
//     the child waits for an answer.
//   - system/init begins every turn, asked for or not; result ends it. Turns may begin without input.
//   - A process that resumes a conversation whose background task died with the process before begins with a turn of
//     its own that asks nobody: init, then a result with num_turns 0, an empty text and the origin task-notification.
//   - Exit code 0 does not mean that the work is done, and a result of subtype success may be a failure (is_error).
//   - A message with a uuid gets receipts (command_lifecycle): queued, started, then completed, or cancelled if its
//     turn failed. Either way it is then part of the conversation. completed comes after the result, or before it for
//     a message taken into a running turn. A uuid that the conversation already has gets completed at once, and no
//     turn. Older releases only echo messages; their receipts are made from that (receipts.go).
//   - A message taken into a running turn is in the transcript not as a user line but as an attachment with its
//     source_uuid, and the CLI does not know it again: sent again after --resume it runs a second time. So HeardIn has
//     to be asked before anything is sent again.
//   - The CLI writes its transcript up to 100 ms late; after SIGKILL that part is missing.
//   - SIGTERM ends it within 50 ms, with exit code 143 and the transcript complete up to the open call.
package procs

// Package claude is the procs.Agent that is the claude CLI, headless, or a program that speaks like it: its command
// line, its stream protocol in both directions, its hooks, the tools that it is served, its transcripts, and what the
// differences between releases are.
//
// # The protocol
//
// It is no published standard but what Claude Code speaks with its own SDKs, read off releases 2.1.7 to 2.1.332. The
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
//     So does one in which several such tasks end at once: the turn for all of them comes after
//     (procs.Result.AsksNobody).
//   - The tools that we serve are called over the same two streams (mcp.go). Who asks or calls, the lines before it
//     tell (subagents.go). What a release can that another cannot, release.go says.
//   - Each request that the child makes is answered once, and not after it was withdrawn. How many wait is bounded.
//   - A child that prints may not read: the goroutine that reads it never waits for what is written to it.
//   - Exit code 0 does not mean that the work is done, and a result of subtype success may be a failure (is_error).
//   - A message with a uuid gets receipts (command_lifecycle): queued, started, then completed, or cancelled if its
//     turn failed. Either way it is then part of the conversation. completed comes after the result, or before it for
//     a message taken into a running turn. A uuid that the conversation already has gets completed at once, and no
//     turn. Older releases only echo messages; their receipts are made from that (receipts.go).
//   - A message taken into a running turn is in the transcript not as a user line but as an attachment with its
//     source_uuid, and the CLI does not know it again: sent again after --resume it runs a second time. So ReceivedIn
//     has to be asked before anything is sent again.
//   - --max-budget-usd is of the process, and looked at after each request: calls of the last are not made. --max-turns
//     is of each turn, in requests. Neither can be changed while the process runs.
//   - rate_limit_event tells of an account with a subscription, also that it comes near its limit; with status rejected
//     it is reached. An API key's 429 has no end.
//   - The CLI writes its transcript up to 100 ms late; after SIGKILL that part is missing.
//   - SIGTERM ends it within 50 ms, with exit code 143 and the transcript complete up to the open call. Nothing follows
//     that call there, neither a result nor an interrupted turn: the same on 2.1.200 and 2.1.330, of a question as of a
//     permission.
package claude

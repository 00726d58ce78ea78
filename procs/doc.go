// Package procs runs one child process: the claude CLI, headless, or a program that speaks like it, or any command in
// its place (Spec.Command).
//
// It knows the command line, the environment, the pseudo-terminal, the stream protocol in both directions, how to end
// a child and all that it left behind, and what the differences between releases are. It decides nothing: what a child
// says is handed over as typed messages, and what it is told is somebody else's choice. It keeps nothing either; for
// what must last, use checkpoints.
//
// Use Start for a launch, Process.End to end it (always, also after Exit: it sweeps), and Sweep for a launch of an
// earlier supervisor that may still be alive.
//
// # What an agent leaves behind
//
// Processes of a launch are known by what they inherit, none of which is needed for another: a parent among them, the
// marker in the environment, the launch's session while its leader is there, and on Linux a tag that outlasts a cleared
// environment, a change of name, double forks and new sessions (tag_linux.go). What ends too fast to be found in the
// process table is found by the tag. Out of reach is only what somebody else starts for an agent (systemd, cron, a
// container's daemon), what has become another user's, and what sheds all of these on purpose.
//
// Cgroups are not used. Where they may be made (by root, or in a session under user@.service; not over ssh, nor in most
// containers) they would add only what sheds the tag on purpose, and leave a folder with each supervisor that is
// killed.
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
//     So does one in which several such tasks end at once: the turn for all of them comes after (Result.AsksNobody).
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
//
// # A command in claude's place
//
// It has the same pty, session, environment, marker and stop ladder. What differs:
//
//   - It is told its prompt, in an argument or on stdin, and nothing after that. Nothing is asked of it.
//   - What it prints has no protocol (Raw), unless its first line is one of `claude -p --output-format stream-json`:
//     then each line is decoded, so that what a tool gave is known from what the agent says. That goes by the first
//     line alone; output that changes its mind does not.
//   - Its process is its one turn: there is no Init, one Result when it has ended, then Exit. Exit code 0 says nothing
//     about its work, any other is a failure (Exited).
//   - Its whole group gets the SIGTERM: a shell would run its trap only when the program it waits for has ended.
//   - When it ends, the kernel sends SIGHUP to its group, and with that to what it left in the background, unless that
//     is deaf to it (nohup) or in a session of its own.
//   - `claude -p` in text mode (2.1.329) prints the last message of the turn alone, when it ends, then ESC [?25h; a
//     failed request too, with exit code 1. What it could not begin with is on stderr. A prompt that begins with a dash
//     it takes for flags, unless -- comes before.
package procs

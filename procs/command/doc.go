// Package command is the procs.Agent that is any command, run in claude's place. It has the same pty, session,
// environment, marker and stop ladder. What differs:
//
//   - It is told its prompt, in an argument or on stdin, and nothing after that. Nothing is asked of it.
//   - What it prints has no protocol (procs.Raw), unless its first line is one of
//     `claude -p --output-format stream-json`: then each line is decoded, so that what a tool gave is known from what
//     the agent says. That goes by the first line alone; output that changes its mind does not.
//   - Its process is its one turn: there is no Init, one Result when it has ended, then Exit. Exit code 0 says nothing
//     about its work, any other is a failure (procs.Exited).
//   - Its whole group gets the SIGTERM: a shell would run its trap only when the program it waits for has ended.
//   - When it ends, the kernel sends SIGHUP to its group, and with that to what it left in the background, unless that
//     is deaf to it (nohup) or in a session of its own.
//   - `claude -p` in text mode (2.1.329) prints the last message of the turn alone, when it ends, then ESC [?25h; a
//     failed request too, with exit code 1. What it could not begin with is on stderr. A prompt that begins with a dash
//     it takes for flags, unless -- comes before.
package command

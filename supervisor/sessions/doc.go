// Package sessions brings the questions of outside sessions into the inbox: those of an ordinary claude, in a terminal
// or an editor, that nobody supervises. It is off until a person calls `init --sessions`, which has claude call
// `claude-supervise hook` for each permission that it asks for and each AskUserQuestion (the event PermissionRequest).
//
// # The life of an ask
//
// An Ask is one call of the hook: one to four questions, and the process that waits for their answers. It is a file of
// its own (Folder), not a run: it has no supervisor, launch or report. The hook alone writes it, holds a lock beside it
// while it waits, and takes answers by a socket; so the first answer wins in one place, the hook's memory.
//
//	open ──▶ answered   here: saved, then printed as the hook's decision; the dialog on the screen closes
//	     ──▶ on screen  the transcript has the call's result, or claude has called the hook off (Esc, No)
//	     ──▶ withdrawn  the hook has left: its time is over, --sessions off; the screen decides
//	     ──▶ ended      claude is gone, and the call has no result: it can be answered in a supervised run
//
// What a hook could not write, for it was killed, readers conclude (Conclude): no lock is held, and the transcript and
// the process of claude say which of the last three it is. Claude itself shows its dialog meanwhile, and takes the
// first answer; where both come at once its transcript says whose counted, which readers conclude, too.
//
// # What fails, and how
//
//	before the file is there   the hook exits 0 and says nothing: the screen decides, as if there were no hook. So do
//	                           garbage, more input than MaxInput, a full or read-only disk, a disk that does not answer
//	the hook is killed         the screen decides; readers see that nobody waits
//	claude is killed           its hook is told by the kernel (pidfd), writes ended, and leaves
//	both are killed            readers conclude ended
//	the answer is saved, and claude is gone before it is printed    ended: nothing was answered
//
// # Who may answer
//
// Only a process that no claude has started. The hook looks at who is at the other end of the socket, by the kernel's
// word (SO_PEERCRED), not at who says so: what descends from a claude carries a limit that the hook has set there, at
// the start of each session, which fork, exec, setsid, env -i and a second fork hand down and only root takes off
// (procs.Other.Tag); and the processes above it and their environments are looked at (procs.BelowClaude). The page,
// which answers for whoever has its token, looks so at who has the other end of the connection (From). An agent that
// writes the file changes nothing: the hook does not read it again.
//
// What nothing tells: a process that a program of the person's starts for an agent (tmux send-keys, systemd-run, ssh to
// this machine, a proxy before the page), and an agent that is root. Such an agent could as well type into the dialog
// itself.
package sessions

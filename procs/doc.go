// Package procs runs one child process of an Agent: the claude CLI, headless, or a program that speaks like it (package
// claude), or any command in its place (package command).
//
// It knows the environment, the pseudo-terminal, the log, how to end a child and all that it left behind; its Agent
// knows the command line, and what is printed and said. It decides nothing: what a child says is handed over as typed
// messages, and what it is told is somebody else's choice. It keeps nothing either; for what must last, use
// checkpoints.
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
package procs

// Package host is the engine's interfaces on the real machine: processes, files, git, transcripts, the file drop, the
// lock and the wake-up socket of a run. It decides nothing and keeps no state of a run.
//
//	engine ──▶ Processes, Files, Machine, Executors
//	               │ Machine.Supervisor wires them
//	               ▼
//	host ──▶ procs · checkpoints · permission · filedrop · worktree · git · findings
//
// What only one effect needs stands in the file of that effect.
package host

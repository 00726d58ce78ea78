// Package engine supervises a run: it takes what happens to the core, saves what the core decides, and does what it
// plans. It decides nothing itself, and does no I/O itself: all of that goes through the interfaces in interfaces.go.
//
//	processes, inbox, file drop, clocks, results of effects
//	        │ one at a time
//	        ▼
//	      loop ──▶ supervisor.Step ──▶ save ──▶ tell ──▶ supervisor.Plan ──▶ start, cut short
//	                                    │                                     │
//	                                    ▼                                     ▼
//	                                  Store              Processes, FileDrop, Files, Machine, Executors
//
// The loop's goroutine (engine.go) alone changes the state. Effects (effects.go) are given the state of the moment,
// which never changes, run beside the loop, and come back as events; queue.go says which are started and cut short,
// giveup.go bounds them. Package host has the interfaces on the real machine.
package engine

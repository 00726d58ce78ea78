package procs

import "sync"

// launched holds the pids that a Process waits for. It is locked across an exec, so that a child which ends at once
// cannot be taken for an orphan.
var launched = struct {
	sync.Mutex
	pids map[int]*Process
}{pids: map[int]*Process{}}

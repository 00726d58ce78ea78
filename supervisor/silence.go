package supervisor

import "time"

// A process that does nothing but wait still uses some processor time: claude 2.1.329 was seen to use 0.1 to 0.5 % of
// one processor. That time is counted in steps of 10 ms.
const (
	IdleShare = 0.01
	IdleLeast = 50 * time.Millisecond
)

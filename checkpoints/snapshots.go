package checkpoints

import "time"

// Snapshots is how far a run is with the snapshots of it.
type Snapshots struct {
	Number  int              `json:"number"`            // of the last that was tried
	Quiet   int              `json:"quiet"`             // how often one was due
	Covered int              `json:"covered"`           // up to which of these one was tried
	At      *time.Time       `json:"at,omitempty"`      // of which moment the last is that is whole
	Problem string           `json:"problem,omitempty"` // why the last that was tried is not
	Wanted  []WantedSnapshot `json:"wanted,omitempty"`  // that a person has asked for

	Failures int        `json:"failures,omitempty"` // one after the other, of those that were due
	TriedAt  *time.Time `json:"tried_at,omitempty"` // when the last of them failed

	TooLarge bool `json:"too_large,omitempty"` // Problem is that the work is larger than a snapshot may be
}

// A WantedSnapshot is one that a person has asked for beside those that are taken by themselves.
type WantedSnapshot struct {
	Seq    int64    `json:"seq"`              // of the note that asks for it
	Agents []string `json:"agents,omitempty"` // whose present turns it waits for
}

// TakenOver says that somebody goes on with a run from a snapshot of it, so that it must not go on here.
type TakenOver struct {
	Epoch int       `json:"epoch"`
	By    string    `json:"by"` // for people: the machine, and who
	At    time.Time `json:"at"`
	In    string    `json:"in"` // where that was written

	// whoever started the supervisor had a lease on the run, as the worker of a fleet has: it hands in what was answered
	Leased bool `json:"leased,omitempty"`
}

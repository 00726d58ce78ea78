// Package runlog is the log of a run as it is read from elsewhere: from the worker that has the run, as long as one
// has it, and from what a worker keeps when it leaves the run.
//
// Whoever reads it goes from worker to worker. A run that is lost goes on from a snapshot, and its log with it: what
// the lost worker had added after that snapshot is in no later log, and was read all the same. So a log has marks. A
// worker that goes on with a run puts one at the end of the log of each agent (internal/worker): from there on stands
// what its epoch has done. Numbers of entries and these marks tell a reader where a later log goes on ([Place]).
//
// A worker is asked by queries (Ask, Reply) of a workflow on the queue that only this worker reads. The workflow does
// nothing and ends at once; queries are in no history. A worker answers when there is something to tell, and after
// [Within] otherwise.
package runlog

import (
	"encoding/json"
	"maps"
	"time"

	"claude-supervise/supervisor/view"
)

// Names that a server keeps.
const (
	Workflow = "claude-supervise.log" // of a run and an epoch; on the queue of one worker
	Query    = "log"                  // Ask to Reply
)

// Within is how long a worker may wait for something to tell, before it says that there is nothing.
const Within = time.Second

// MaxReply bounds what a reply holds of a log, in bytes. A payload of the server holds 2 MB.
const MaxReply = 256 << 10

// An Entry is one thing that the log of a run says, or a mark in the log of one agent.
type Entry struct {
	view.Remark
	Epoch int `json:"epoch,omitempty"` // of a mark: what follows of this agent, this epoch has done
}

// A Place is how far a reader has got in the log of a run. The zero value is the beginning.
type Place struct {
	Agents map[string]Read `json:"agents"` // in each agent's own log

	answers map[string]string // those that were read, by their questions
}

// A Read is how much was read of one agent's own log: how many entries, and the epoch of the last mark before there.
type Read struct {
	Epoch  int `json:"epoch,omitempty"`
	Number int `json:"number,omitempty"`
}

// Clone returns a place that does not change with this one.
func (p Place) Clone() Place {
	return Place{Agents: maps.Clone(p.Agents), answers: maps.Clone(p.answers)}
}

// reaches notes that a reader has got to an entry of an agent's own log, or to a mark in it.
func (p *Place) reaches(agent string, r Read) {
	if p.Agents == nil {
		p.Agents = map[string]Read{}
	}
	p.Agents[agent] = r
}

// answered notes an answer, and reports whether it was not read before: it may have been given twice, the second time
// to another worker.
func (p *Place) answered(e Entry) bool {
	said := string(e.Type) + " " + *e.By + " " + e.Text
	if p.answers[*e.Question] == said {
		return false
	}
	if p.answers == nil {
		p.answers = map[string]string{}
	}
	p.answers[*e.Question] = said
	return true
}

// A Reading reads a log from its beginning on, and leaves out what was read before.
type Reading struct {
	place *Place
	at    map[string]int // by agent: the number of the last entry
}

// Reading begins to read a log. The place goes on with it.
func (p *Place) Reading() *Reading { return &Reading{place: p, at: map[string]int{}} }

// Takes reports whether an entry, the next one of the log, is of use: it was not read before; or it is a mark, of which
// that is reported for the first time.
func (r *Reading) Takes(e Entry) bool {
	read, at := r.place.Agents[e.Agent], r.at[e.Agent]
	switch {
	case e.Epoch > 0:
		if e.Epoch <= read.Epoch {
			return false
		}
		// What was read beyond this was lost with its worker.
		r.place.reaches(e.Agent, Read{Epoch: e.Epoch, Number: min(read.Number, at)})
		return true
	case e.Question != nil:
		return r.place.answered(e)
	}
	at++
	r.at[e.Agent] = at
	if at <= read.Number {
		return false
	}
	r.place.reaches(e.Agent, Read{Epoch: read.Epoch, Number: at})
	return true
}

// Received notes an entry that a worker has sent, and reports whether it is one for people that was not read before.
func (p *Place) Received(e Entry, n Read) bool {
	if e.Question != nil {
		return p.answered(e)
	}
	p.reaches(e.Agent, n)
	return e.Epoch == 0
}

// An Ask asks a worker for more of a log.
type Ask struct {
	Open  *Open `json:"open,omitempty"` // where to begin, with the first; nil: go on
	After int64 `json:"after"`          // the number of the last entry that was received whole
	Skip  int   `json:"skip,omitempty"` // bytes of the next one that were received
	// Caught says that this was received: nothing is to be told but what is added.
	Caught bool `json:"caught,omitempty"`
}

// An Open says from where on a log is wanted.
type Open struct {
	Place Place `json:"place"`
	Tail  int   `json:"tail"` // only so many of the last that are there now, and what is added; -1: all
}

// A Reply is what a worker gives.
type Reply struct {
	First   int64      `json:"first"` // the number of the first of Entries, or of the entry that Part is of
	Entries []Numbered `json:"entries,omitempty"`

	Part     []byte `json:"part,omitempty"`  // of an entry that is larger than a reply: its JSON, from Ask.Skip on
	Whole    bool   `json:"whole,omitempty"` // Part ends it
	PartRead Read   `json:"part_read"`

	Caught  bool            `json:"caught,omitempty"`  // with this, all was given that there was when the log was opened
	Left    map[string]Read `json:"left,omitempty"`    // where Open.Tail has begun, in the logs that it has left out
	Over    bool            `json:"over,omitempty"`    // the worker has left the run, and with this all was given
	Gone    bool            `json:"gone,omitempty"`    // it does not have the run in this epoch
	Unknown bool            `json:"unknown,omitempty"` // it knows nothing of this reader (any more): open the log again
}

// A Numbered is an entry, and how far it leads in its agent's log.
type Numbered struct {
	Entry json.RawMessage `json:"entry"`
	Read  Read            `json:"read"`
}

// Leaves notes where the tail of a log has begun.
func (p *Place) Leaves(left map[string]Read) {
	for agent, read := range left {
		if read.Number > p.Agents[agent].Number || read.Epoch > p.Agents[agent].Epoch {
			p.reaches(agent, read)
		}
	}
}

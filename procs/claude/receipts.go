package claude

import (
	"slices"

	"claude-supervise/procs"
)

// A receipts makes the echoes of releases without receipts (2.1.7, 2.1.100, 2.1.200) into receipts, and those that a
// release with them (2.1.329) leaves out.
//
// With --replay-user-messages every release echoes a message when it is taken into the conversation, which happens in
// a turn. A message that the conversation already has is echoed too, at once and without a turn: 2.1.329 then says
// completed if the conversation was resumed, and nothing within one process; the older ones never say more.
type receipts struct {
	told   bool     // the release has them
	open   []string // it has said queued or started of these, and not how they ended
	inTurn bool     // between an init and its result
	echoed []string // in this turn, by a release without
	given  []string // completed by us, so that the CLI's own receipt is one too many

	// A message that a hook refuses is not echoed. Of one that begins a turn that is told between started and completed,
	// of one in a running turn right after completed.
	shown     []string       // echoed
	unshown   string         // the last that has started without an echo
	completed *procs.Receipt // of that one, in a running turn: the next line says if a hook has refused it
	refused   string         // that one, by a hook
}

// maxEchoes bounds what is remembered of a child that echoes without end.
const maxEchoes = 1000

func (r *receipts) begin() { r.inTurn = true }

// echo is a replayed message.
func (r *receipts) echo(uuid string) []procs.Message {
	r.shown = appendBounded(r.shown, uuid)
	if r.unshown == uuid {
		r.unshown = ""
	}
	switch {
	case slices.Contains(r.open, uuid):
		return nil
	case r.told || !r.inTurn:
		r.given = appendBounded(r.given, uuid)
		return one(procs.Receipt{UUID: uuid, State: "completed"})
	}
	r.echoed = appendBounded(r.echoed, uuid)
	return one(procs.Receipt{UUID: uuid, State: "started"})
}

// lifecycle is a receipt of the CLI's own.
func (r *receipts) lifecycle(uuid, state string) []procs.Message {
	r.told = true
	ended := state != "queued" && state != "started"
	if i := slices.Index(r.given, uuid); ended && i >= 0 {
		r.given = slices.Delete(r.given, i, i+1)
		return nil
	}
	switch i := slices.Index(r.open, uuid); {
	case ended && i >= 0:
		r.open = slices.Delete(r.open, i, i+1)
	case !ended && i < 0:
		r.open = appendBounded(r.open, uuid)
	}
	receipt := procs.Receipt{UUID: uuid, State: state}
	switch {
	case state == "started" && !slices.Contains(r.shown, uuid):
		r.unshown = uuid
	case ended && r.refused == uuid:
		r.refused = ""
		return nil
	case ended && r.unshown == uuid && r.inTurn:
		r.unshown, r.completed = "", &receipt
		return nil
	}
	return one(receipt)
}

// next is a line that says nothing of a hook's refusal.
func (r *receipts) next() []procs.Message {
	if r.completed == nil {
		return nil
	}
	receipt := *r.completed
	r.completed = nil
	return one(receipt)
}

// refuse takes note that a hook has refused a message. It gives the uuid of one in a running turn, "" otherwise.
func (r *receipts) refuse() (uuid string) {
	if r.completed != nil {
		uuid, r.completed = r.completed.UUID, nil
		return uuid
	}
	r.refused, r.unshown = r.unshown, ""
	return ""
}

// end is the result of a turn.
func (r *receipts) end(result procs.Result) (out []procs.Message) {
	state := "completed"
	if turnFailure(result).Kind != "" {
		state = "cancelled"
	}
	for _, uuid := range r.echoed {
		out = append(out, procs.Receipt{UUID: uuid, State: state})
	}
	r.inTurn, r.echoed = false, nil
	return out
}

func appendBounded(all []string, one string) []string {
	if len(all) == maxEchoes {
		all = all[1:]
	}
	return append(all, one)
}

package procs

import "slices"

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
}

// maxEchoes bounds what is remembered of a child that echoes without end.
const maxEchoes = 1000

func (r *receipts) begin() { r.inTurn = true }

// echo is a replayed message.
func (r *receipts) echo(uuid string) []Message {
	switch {
	case slices.Contains(r.open, uuid):
		return nil
	case r.told || !r.inTurn:
		r.given = appendBounded(r.given, uuid)
		return one(Receipt{UUID: uuid, State: "completed"})
	}
	r.echoed = appendBounded(r.echoed, uuid)
	return one(Receipt{UUID: uuid, State: "started"})
}

// lifecycle is a receipt of the CLI's own.
func (r *receipts) lifecycle(uuid, state string) []Message {
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
	return one(Receipt{UUID: uuid, State: state})
}

// end is the result of a turn.
func (r *receipts) end(result Result) (out []Message) {
	state := "completed"
	if turnFailure(result).Kind != "" {
		state = "cancelled"
	}
	for _, uuid := range r.echoed {
		out = append(out, Receipt{UUID: uuid, State: state})
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

package claude

import (
	"encoding/json"

	"claude-supervise/procs"
)

// callPlaces are where the newest calls are: the line of the conversation that holds each, and the folder in which it
// is made. The request to permit a call says neither.
type callPlaces struct {
	of    map[string]*callPlace // by the call's id
	order []string
}

// A callPlace is where a call is.
type callPlace struct {
	line string // its uuid
	cwd  string // as the hook before the call says it

	call *procs.Ask // the call itself, until its result; nil: not kept
}

// maxCallPlaces bounds the calls that are remembered. A request follows its hook at once, but many calls may be made
// together.
const maxCallPlaces = 500

// at returns the place of a call, to be filled.
func (p *callPlaces) at(call string) *callPlace {
	if known := p.of[call]; known != nil {
		return known
	}
	if p.of == nil {
		p.of = map[string]*callPlace{}
	}
	if len(p.order) == maxCallPlaces {
		delete(p.of, p.order[0])
		p.order = p.order[1:]
	}
	p.order, p.of[call] = append(p.order, call), &callPlace{}
	return p.of[call]
}

// get returns the place of a call; the zero place if nothing has told it.
func (p *callPlaces) get(call string) callPlace {
	if known := p.of[call]; known != nil {
		return *known
	}
	return callPlace{}
}

// note remembers what the hook before a call says.
func (p *callPlaces) note(hook json.RawMessage) {
	var in struct {
		ToolUse string `json:"tool_use_id"`
		Cwd     string `json:"cwd"`
	}
	_ = json.Unmarshal(hook, &in) // what cannot be read says nothing
	if in.ToolUse != "" && in.Cwd != "" {
		p.at(in.ToolUse).cwd = in.Cwd
	}
}

// forget returns a call that was kept, and keeps it no more; nil if it is not.
func (p *callPlaces) forget(call string) (kept *procs.Ask) {
	if known := p.of[call]; known != nil {
		kept, known.call = known.call, nil
	}
	return kept
}

package claude

import "encoding/json"

// callPlaces are where the newest calls are made: the hook before a call says so, and the request to permit it does
// not.
type callPlaces struct {
	of    map[string]string // by the call's id
	order []string
}

// maxCallPlaces bounds the calls that are remembered. A request follows its hook at once, but many calls may be made
// together.
const maxCallPlaces = 500

// note remembers what the hook before a call says.
func (p *callPlaces) note(hook json.RawMessage) {
	var in struct {
		ToolUse string `json:"tool_use_id"`
		Cwd     string `json:"cwd"`
	}
	_ = json.Unmarshal(hook, &in) // what cannot be read says nothing
	if in.ToolUse == "" || in.Cwd == "" {
		return
	}
	if p.of == nil {
		p.of = map[string]string{}
	}
	if _, known := p.of[in.ToolUse]; !known {
		p.order = append(p.order, in.ToolUse)
	}
	p.of[in.ToolUse] = in.Cwd
	if len(p.order) > maxCallPlaces {
		delete(p.of, p.order[0])
		p.order = p.order[1:]
	}
}

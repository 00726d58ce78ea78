package signals

import (
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// asObject opens the alternative form of the protocols document (002): an object with signal_type, agent_id, timestamp
// and payload, on one line or printed over several.
func asObject(line string, inside bool) collector {
	typed := strings.Contains(line, "signal_type")
	if inside && !typed {
		return nil
	}
	o := &openObject{typed: typed}
	balanced := o.feed(line)
	if balanced >= 0 || typed && o.quote != 0 && line[len(line)-1] == '}' {
		// One line holds it all. In the second case a quote is amiss, which is left to the reader.
		if !typed || balanced >= 0 && balanced < len(line) {
			return nil
		}
		o.complete = true
		return o
	}
	if !beginsObject(line) {
		return nil
	}
	return o
}

// beginsObject reports whether a trimmed line can be the first of an object printed over several.
func beginsObject(line string) bool {
	if line[0] != '{' {
		return false
	}
	rest := strings.TrimSpace(line[1:])
	return rest == "" || memberLine(rest)
}

type openObject struct {
	depth    int
	quote    byte // of the string that is open, or 0
	typed    bool // signal_type was seen, or need not be
	script   bool // a literal of JavaScript: strings have three sorts of quotes, members may lack a value
	complete bool
	size     int // bytes seen while it was not
}

// maxUntyped is how much of an object is looked at for a signal_type, in bytes.
const maxUntyped = 64 << 10

func (o *openObject) whole() bool      { return o.complete }
func (o *openObject) spans() bool      { return false }
func (o *openObject) fenced() bool     { return false }
func (o *openObject) clone() collector { c := *o; return &c }

func (o *openObject) printed(trimmed string) bool { return strings.Contains(trimmed, "signal_type") }

func (o *openObject) add(_, trimmed string, at turning) verdict {
	if at != keeps {
		return over
	}
	if trimmed == "" {
		return more
	}
	if o.quote != 0 && (namedMember().MatchString(trimmed) || strings.Trim(trimmed, "]}, ") == "") {
		o.quote = 0 // a string that was left open, not one of several lines
	}
	if o.quote == 0 && !memberLine(trimmed) && !(o.script && scriptLine().MatchString(trimmed)) {
		return over
	}
	o.typed = o.typed || strings.Contains(trimmed, "signal_type")
	if o.size += len(trimmed); !o.typed && o.size > maxUntyped {
		return over
	}
	switch end := o.feed(trimmed); {
	case end < 0:
		return more
	case end == len(trimmed):
		return last
	}
	return over
}

// feed passes a line and returns where in it the object ends, or -1.
func (o *openObject) feed(line string) int {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case o.quote != 0:
			switch c {
			case '\\':
				i++
			case o.quote:
				o.quote = 0
			}
		case c == '"', o.script && (c == '\'' || c == '`'):
			o.quote = c
		case c == '{' || c == '[':
			o.depth++
		case c == '}' || c == ']':
			if o.depth--; o.depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// A line of a literal that has no colon: a spread, a name by itself, the end of a call.
var scriptLine = lazily(`^(?:\.\.\.[\w.]+|[\w.$]+|[)}\]]+);?,?$`)

var namedMember = lazily(`^"[A-Za-z_]+"\s*:`)

// memberLine reports whether a trimmed line can be one of a printed object: a bracket, a value, or a name and a colon.
func memberLine(line string) bool {
	switch line[0] {
	case '{', '}', '[', ']', '\'', '"', ',', '/', '#':
		return true
	}
	if strings.HasPrefix(line, "“") || strings.HasPrefix(line, "„") {
		return true
	}
	word := strings.TrimLeft(line, "-+.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	if word != "" && word[0] == ':' {
		return true
	}
	switch strings.TrimRight(line[:len(line)-len(word)]+strings.TrimSpace(word), ",]}") {
	case "true", "false", "null":
		return true
	}
	return line[0] == '-' || line[0] >= '0' && line[0] <= '9'
}

func (o *openObject) read(c collected) (Signal, []Problem, bool) {
	if !o.typed {
		return Signal{}, nil, false
	}
	text := c.head + "\n" + strings.Join(c.lines, "\n")
	members, jsonErr := objectMembers(text)
	typed := func(m member) bool { return snake(m.name) == "signal_type" }
	if members == nil || jsonErr != nil && !slices.ContainsFunc(members, typed) {
		name := salvageType().FindStringSubmatch(text)
		if name == nil || formNamed(name[1]) == nil {
			return Signal{}, nil, false
		}
		return salvage(c, JSON, text,
			newProblem(c.line, "bad_json", "this %s can be read neither as JSON nor as YAML: %v", strings.ToUpper(name[1]),
				jsonErr)), nil, true
	}
	name, _ := takeMember(&members, "signal_type")
	f := formNamed(strings.Trim(name.text(), "[]"))
	if f == nil {
		if name.text() == "" {
			return Signal{}, nil, false
		}
		return Signal{},
			[]Problem{{Line: c.line, Code: "unknown_signal",
				Message: bounded(name.text(), 80) + " is not a signal_type that is known here"}}, false
	}
	sig := Signal{Kind: f.kind, Dialect: JSON, Line: c.line, EndLine: c.end()}
	if jsonErr != nil {
		sig.problem(c.line, "bad_json", "the object is not valid JSON and was read as YAML: %v", jsonErr)
	}
	members = openPayload(members)
	if f.kind == Clarification {
		for i := range members {
			if snake(members[i].name) == "payload" {
				members[i].name = "questions"
			}
		}
	}
	for i := range members {
		members[i].line = c.line
		members[i].name = f.canonical(members[i].name)
	}
	sig.fill(f, members, text)
	sig.markCut(c)
	return sig, nil, !sig.isEmpty()
}

// openPayload puts the members of a payload in its place. One that was encoded twice is a text that holds an object.
func openPayload(members []member) []member {
	payload, ok := takeMember(&members, "payload")
	if !ok {
		return members
	}
	n := payload.node
	if n.Kind == yaml.ScalarNode && strings.HasPrefix(n.Value, "{") {
		if inner, err := loadJSON(n.Value); err == nil {
			n = inner
		}
	}
	switch {
	case n.Kind == yaml.MappingNode:
		return append(mapMembers(n), members...) // what stands beside the payload is the envelope: it wins
	case payload.text() == "":
		return members
	}
	return append(members, payload)
}

func takeMember(members *[]member, name string) (member, bool) {
	for i, m := range *members {
		if snake(m.name) == name {
			*members = append((*members)[:i:i], (*members)[i+1:]...)
			return m, true
		}
	}
	return member{}, false
}

var (
	salvageType = lazily(`signal_type["']?\s*:\s*["']?([A-Za-z_]+)`)
	salvageID   = lazily(`agent_id["']?\s*:\s*["']?([^"'\s,}]{1,200})`)
)

// salvage makes a question of a signal that cannot be read, so that a person sees what the agent wanted.
func salvage(c collected, d Dialect, text string, why Problem) Signal {
	sig := Signal{
		Kind: Clarification, Dialect: d, Line: c.line, EndLine: c.end(),
		Questions: []Question{{ID: "Q1", Text: unreadable(text)}}, Problems: []Problem{why},
	}
	if id := salvageID().FindStringSubmatch(text); id != nil {
		sig.AgentID = cleanID(id[1])
	}
	sig.markCut(c)
	return sig
}

package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Hook is the Stop hook in Claude Code's settings.json that has `claude-supervise lint --hook` look at the last message
// of each turn. The text is changed only where the hook stands: order, white space and members unknown to us stay.
var Hook = Part{Put: putHook, Take: takeHook}

// hookCommand is the command that the hook runs.
const hookCommand = "claude-supervise lint --hook"

// A hookGroup is one element of hooks.Stop.
type hookGroup struct {
	Hooks []hookEntry `json:"hooks"`
}

type hookEntry struct {
	Type    string `json:"type"`
	Command string `json:"command"`
}

var errNoObject = errors.New(
	"it is no JSON object of the form that Claude Code's settings have: mend it, or add the hook by hand")

func putHook(text string) (string, Standing, error) {
	if strings.TrimSpace(text) == "" {
		return fresh(map[string]any{"hooks": map[string]any{"Stop": []hookGroup{ours()}}}), Absent, nil
	}
	stop, err := stopHooks(text)
	if err != nil {
		return "", Absent, err
	}
	for _, g := range stop {
		if mine, _ := isOurs(g.text(text)); mine {
			return text, Current, nil
		}
	}
	root, err := children(text, 0, '{')
	if err != nil {
		return "", Absent, err
	}
	hooks, ok := root.member("hooks")
	if !ok {
		return root.insert(text, "hooks", map[string]any{"Stop": []hookGroup{ours()}}), Absent, nil
	}
	events, err := children(text, hooks.from, '{')
	if err != nil {
		return "", Absent, err
	}
	list, ok := events.member("Stop")
	if !ok {
		return events.insert(text, "Stop", []hookGroup{ours()}), Absent, nil
	}
	groups, err := children(text, list.from, '[')
	if err != nil {
		return "", Absent, err
	}
	return groups.insert(text, "", ours()), Absent, nil
}

func takeHook(text string) (string, Standing, error) {
	if !strings.Contains(text, hookCommand) {
		return text, Absent, nil // whatever else it is
	}
	whole, _, err := putHook("")
	if err != nil || unix(text) == whole {
		return "", Current, err
	}
	standing := Absent
	for {
		stop, err := stopHooks(text)
		if err != nil {
			return "", Absent, err
		}
		at := slices.IndexFunc(stop, func(g child) bool { mine, _ := isOurs(g.text(text)); return mine })
		if at < 0 {
			return text, standing, nil
		}
		standing = Current
		if text, err = withoutGroup(text, at); err != nil {
			return "", Absent, err
		}
	}
}

// withoutGroup takes our command out of the group at this place of hooks.Stop, and with it all that then is empty.
func withoutGroup(text string, at int) (string, error) {
	root, err := children(text, 0, '{')
	if err != nil {
		return "", err
	}
	hooks, _ := root.member("hooks")
	events, err := children(text, hooks.from, '{')
	if err != nil {
		return "", err
	}
	list, _ := events.member("Stop")
	groups, err := children(text, list.from, '[')
	if err != nil {
		return "", err
	}
	if _, alone := isOurs(groups.all[at].text(text)); !alone {
		return withoutEntry(text, groups.all[at])
	}
	switch {
	case len(groups.all) > 1:
		return groups.remove(text, at), nil
	case len(events.all) > 1:
		return events.remove(text, events.index("Stop")), nil
	}
	return root.remove(text, root.index("hooks")), nil
}

// withoutEntry takes our command out of a group that holds others too.
func withoutEntry(text string, group child) (string, error) {
	members, err := children(text, group.from, '{')
	if err != nil {
		return "", err
	}
	hooks, _ := members.member("hooks")
	entries, err := children(text, hooks.from, '[')
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(entries.all, func(c child) bool {
		var e hookEntry
		return json.Unmarshal([]byte(c.text(text)), &e) == nil && e.Command == hookCommand
	})
	return entries.remove(text, at), nil
}

func ours() hookGroup {
	return hookGroup{Hooks: []hookEntry{{Type: "command", Command: hookCommand}}}
}

// isOurs reports whether a group of hooks runs our command, and whether that is all it does.
func isOurs(group string) (mine, alone bool) {
	var g hookGroup
	if json.Unmarshal([]byte(group), &g) != nil {
		return false, false // of a form that we do not know
	}
	mine = slices.ContainsFunc(g.Hooks, func(e hookEntry) bool { return e.Command == hookCommand })
	return mine, mine && len(g.Hooks) == 1
}

// stopHooks gives the elements of hooks.Stop, none where there is no such list.
func stopHooks(text string) ([]child, error) {
	if !json.Valid([]byte(text)) {
		return nil, errNoObject
	}
	at := 0
	for _, name := range []string{"hooks", "Stop"} {
		object, err := children(text, at, '{')
		if err != nil {
			return nil, err
		}
		m, ok := object.member(name)
		if !ok {
			return nil, nil
		}
		at = m.from
	}
	list, err := children(text, at, '[')
	return list.all, err
}

// A container is an object or a list in a JSON text, by the places of its parts.
type container struct {
	open, close int // of its brackets
	all         []child
}

// A child is a member or an element: the place of its value, and of its name before it.
type child struct {
	name     string
	start    int // of the name, or of the value where there is none
	from, to int // of the value
}

func (c child) text(text string) string { return text[c.from:c.to] }

// children finds the parts of the object or list whose bracket is the first character at or after at.
func children(text string, at int, bracket json.Delim) (container, error) {
	d := json.NewDecoder(strings.NewReader(text[at:]))
	token, err := d.Token()
	if err != nil || token != bracket {
		return container{}, errNoObject
	}
	c := container{open: at + int(d.InputOffset()) - 1}
	for d.More() {
		before := at + int(d.InputOffset())
		var part child
		if bracket == '{' {
			key, err := d.Token()
			name, isName := key.(string)
			if err != nil || !isName {
				return container{}, errNoObject
			}
			part.name = name
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return container{}, errNoObject
		}
		part.to = at + int(d.InputOffset())
		part.from = part.to - len(value)
		part.start = part.to - len(strings.TrimLeft(text[before:part.to], ", \t\r\n"))
		c.all = append(c.all, part)
	}
	if _, err := d.Token(); err != nil {
		return container{}, errNoObject
	}
	c.close = at + int(d.InputOffset()) - 1
	return c, nil
}

// index gives the place of the member of this name, -1 where there is none; of several it is the last, as for those who
// read the file.
func (c container) index(name string) int {
	for i := len(c.all) - 1; i >= 0; i-- {
		if c.all[i].name == name {
			return i
		}
	}
	return -1
}

func (c container) member(name string) (child, bool) {
	i := c.index(name)
	if i < 0 {
		return child{}, false
	}
	return c.all[i], true
}

// insert puts a value at the end, under a name in an object, as the parts before it are laid out.
func (c container) insert(text, name string, value any) string {
	outer := indentOf(text, c.open)
	inner := outer + unit(text)
	var b strings.Builder
	if name != "" {
		fmt.Fprintf(&b, "%q: ", name)
	}
	b.WriteString(layOut(value, inner, unit(text)))
	if len(c.all) == 0 {
		return text[:c.open+1] + "\n" + inner + b.String() + "\n" + outer + text[c.close:]
	}
	last := c.all[len(c.all)-1]
	return text[:last.to] + ",\n" + inner + b.String() + text[last.to:]
}

// remove takes a part out, with the comma that then is too many.
func (c container) remove(text string, i int) string {
	switch {
	case len(c.all) == 1:
		return text[:c.open+1] + text[c.close:]
	case i == 0:
		return text[:c.all[0].start] + text[c.all[1].start:]
	}
	return text[:c.all[i-1].to] + text[c.all[i].to:]
}

// indentOf is the white space with which the line of a place begins.
func indentOf(text string, at int) string {
	line := text[strings.LastIndexByte(text[:at], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// unit is the indentation of one level: that of the first line that has one.
func unit(text string) string {
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, " \t"); rest != line && strings.TrimSpace(line) != "" {
			return line[:len(line)-len(rest)]
		}
	}
	return "  "
}

// layOut writes a value of ours, whose first line is already indented.
func layOut(value any, prefix, unit string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, unit)
	if err := e.Encode(value); err != nil {
		panic(fmt.Sprintf("skill: %T cannot be written: %v", value, err))
	}
	return strings.TrimRight(b.String(), "\n")
}

func fresh(value any) string { return layOut(value, "", "  ") + "\n" }

package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Hook is the Stop hook in Claude Code's settings.json that has `claude-supervise lint --hook` look at the last message
// of each turn. The text is changed only where the hook stands: order, white space and members unknown to us stay.
var Hook = hookPart(hook{event: "Stop", command: "claude-supervise lint --hook"})

// Sessions are the hooks that bring the questions of sessions into the inbox. PreToolUse would keep claude from showing
// its dialog, and PostToolUse cost a process for each call. A release that does not know Elicitation leaves all of the
// settings out for it (measured on 2.1.7): there it is not put.
func Sessions(elicits bool) Part {
	all := []hook{
		{event: "SessionStart", command: sessionCommand},
		{event: "PermissionRequest", command: sessionCommand, timeout: sessionTimeout},
		{event: "Elicitation", command: sessionCommand, timeout: sessionTimeout},
	}
	part := hookPart(all...)
	if !elicits {
		part.Put = func(text string) (string, Standing, error) {
			without, taken, err := takeHooks(all[2:], text)
			if err != nil {
				return "", Absent, err
			}
			next, standing, err := putHooks(all[:2], without)
			if taken == Current { // a later release was here when it was put
				standing = Absent
			}
			return next, standing, err
		}
	}
	return part
}

const (
	sessionCommand = "claude-supervise hook"
	sessionTimeout = 86400 // seconds; claude's own would be ten minutes
)

// A hook is one command that claude calls.
type hook struct {
	event, command string
	timeout        int // seconds; 0: claude's own
}

// A hookGroup is one element of the list of an event.
type hookGroup struct {
	Hooks []hookEntry `json:"hooks"`
}

type hookEntry struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`
}

var errNoObject = errors.New(
	"it is not a JSON object of the form that Claude Code's settings have: fix it, or add the hook by hand")

// hookPart is the part of settings that hooks are.
func hookPart(all ...hook) Part {
	return Part{
		Put:  func(text string) (string, Standing, error) { return putHooks(all, text) },
		Take: func(text string) (string, Standing, error) { return takeHooks(all, text) },
	}
}

// putHooks adds the hooks that are missing.
func putHooks(all []hook, text string) (string, Standing, error) {
	if strings.TrimSpace(text) == "" {
		return hooksAlone(all), Absent, nil
	}
	standing := Current
	for _, h := range all {
		next, s, err := h.put(text)
		if err != nil {
			return "", Absent, err
		}
		if text = next; s != Current {
			standing = s
		}
	}
	return text, standing, nil
}

// hooksAlone is a file that has nothing but hooks of ours.
func hooksAlone(all []hook) string {
	events := map[string]any{}
	for _, h := range all {
		events[h.event] = []hookGroup{h.ours()}
	}
	return layOut(map[string]any{"hooks": events}, "", "  ") + "\n"
}

func (h hook) put(text string) (string, Standing, error) {
	f, err := readSettings(text, h)
	switch {
	case err != nil:
		return "", Absent, err
	case slices.ContainsFunc(f.groups(), func(g hujson.Value) bool { mine, _ := h.isIn(g); return mine }):
		return text, Current, nil
	case f.hooks == nil:
		f.addMember(f.root, "hooks", map[string]any{h.event: []hookGroup{h.ours()}})
	case f.event == nil:
		f.addMember(f.hooks, h.event, []hookGroup{h.ours()})
	default:
		f.addGroup(h.ours())
	}
	return string(f.root.Pack()), Absent, nil
}

// takeHooks removes the hooks, and with them all that then is empty.
func takeHooks(all []hook, text string) (string, Standing, error) {
	standing, here := Absent, false
	for _, h := range all {
		here = here || strings.Contains(text, h.command)
	}
	if !here {
		return text, Absent, nil // whatever else it is
	}
	if unix(text) == hooksAlone(all) {
		return "", Current, nil
	}
	for _, h := range all {
		next, s, err := h.take(text)
		if err != nil {
			return "", Absent, err
		}
		if text = next; s == Current {
			standing = Current
		}
	}
	return text, standing, nil
}

func (h hook) take(text string) (string, Standing, error) {
	f, err := readSettings(text, h)
	if err != nil {
		return "", Absent, err
	}
	standing := Absent
	for {
		at := slices.IndexFunc(f.groups(), func(g hujson.Value) bool { mine, _ := h.isIn(g); return mine })
		if at < 0 {
			return string(f.root.Pack()), standing, nil
		}
		standing = Current
		f.takeFrom(at)
		if err := f.find(); err != nil {
			return "", Absent, err
		}
	}
}

func (h hook) ours() hookGroup {
	return hookGroup{Hooks: []hookEntry{{Type: "command", Command: h.command, Timeout: h.timeout}}}
}

// isIn reports whether a group of hooks runs our command, and whether that is all it does.
func (h hook) isIn(group hujson.Value) (mine, alone bool) {
	var g hookGroup
	if json.Unmarshal(group.Pack(), &g) != nil {
		return false, false // of a form that we do not know
	}
	mine = slices.ContainsFunc(g.Hooks, func(e hookEntry) bool { return e.Command == h.command })
	return mine, mine && len(g.Hooks) == 1
}

// A settingsFile is a settings.json, and where in it a hook of ours belongs.
type settingsFile struct {
	of                 hook
	text               string
	root, hooks, event *hujson.Value // hooks and event, the list of the hook's, are nil where the file has none
}

func readSettings(text string, of hook) (*settingsFile, error) {
	if !json.Valid([]byte(text)) { // with comments it is not JSON, which Claude Code refuses
		return nil, errNoObject
	}
	root, err := hujson.Parse([]byte(text))
	if err != nil {
		return nil, errNoObject
	}
	f := &settingsFile{of: of, text: text, root: &root}
	return f, f.find()
}

// find looks for the place of our hook.
func (f *settingsFile) find() (err error) {
	f.event = nil
	if f.hooks, err = member(f.root, "hooks"); err != nil || f.hooks == nil {
		return err
	}
	if f.event, err = member(f.hooks, f.of.event); err != nil || f.event == nil {
		return err
	}
	if _, isList := f.event.Value.(*hujson.Array); !isList {
		return errNoObject
	}
	return nil
}

// groups are the elements of the event's list.
func (f *settingsFile) groups() []hujson.Value {
	if f.event == nil {
		return nil
	}
	return f.event.Value.(*hujson.Array).Elements
}

// index is the place of the member of this name, -1 where there is none. Of several the last counts, as it does for
// those who read the file.
func index(object *hujson.Object, name string) int {
	for i, m := range slices.Backward(object.Members) {
		if m.Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

// member is the value of the member of this name, nil where there is none.
func member(v *hujson.Value, name string) (*hujson.Value, error) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, errNoObject
	}
	i := index(object, name)
	if i < 0 {
		return nil, nil
	}
	return &object.Members[i].Value, nil
}

// addMember puts a member at the end of an object, on a line of its own.
func (f *settingsFile) addMember(to *hujson.Value, name string, value any) {
	object := to.Value.(*hujson.Object)
	before, added, after := f.laidOut(to, value)
	added.BeforeExtra = hujson.Extra(" ")
	if len(object.Members) == 0 {
		object.AfterExtra = after
	}
	object.Members = append(object.Members, hujson.ObjectMember{
		Name: hujson.Value{BeforeExtra: before, Value: hujson.String(name)}, Value: added,
	})
}

// addGroup puts a group at the end of the event's list, on a line of its own.
func (f *settingsFile) addGroup(group hookGroup) {
	list := f.event.Value.(*hujson.Array)
	before, added, after := f.laidOut(f.event, group)
	added.BeforeExtra = before
	if len(list.Elements) == 0 {
		list.AfterExtra = after
	}
	list.Elements = append(list.Elements, added)
}

// laidOut is a value as a part of what contains it, with the white space before it and, where nothing else is in there,
// after it.
func (f *settingsFile) laidOut(in *hujson.Value, value any) (before hujson.Extra, v hujson.Value, after hujson.Extra) {
	outer := indentOf(f.text, in.StartOffset)
	inner := outer + unit(f.text)
	v, err := hujson.Parse([]byte(layOut(value, inner, unit(f.text))))
	if err != nil {
		panic(fmt.Sprintf("skill: %T is laid out as no JSON: %v", value, err))
	}
	return hujson.Extra("\n" + inner), v, hujson.Extra("\n" + outer)
}

// takeFrom takes our command out of a group of the event's list, and with it all that then is empty.
func (f *settingsFile) takeFrom(at int) {
	event := f.event.Value.(*hujson.Array)
	root, hooks := f.root.Value.(*hujson.Object), f.hooks.Value.(*hujson.Object)
	_, alone := f.of.isIn(event.Elements[at])
	switch {
	case !alone:
		entries, _ := member(&event.Elements[at], "hooks")
		list := entries.Value.(*hujson.Array)
		removeElement(list, slices.IndexFunc(list.Elements, func(v hujson.Value) bool {
			var e hookEntry
			return json.Unmarshal(v.Pack(), &e) == nil && e.Command == f.of.command
		}))
	case len(event.Elements) > 1:
		removeElement(event, at)
	case len(hooks.Members) > 1:
		removeMember(hooks, index(hooks, f.of.event))
	default:
		removeMember(root, index(root, "hooks"))
	}
}

func removeElement(list *hujson.Array, i int) {
	if i == 0 && len(list.Elements) > 1 {
		list.Elements[1].BeforeExtra = list.Elements[0].BeforeExtra
	}
	list.Elements = slices.Delete(list.Elements, i, i+1)
	if n := len(list.Elements); n > 0 {
		list.Elements[n-1].AfterExtra = nil // else a comma follows it
	} else {
		list.AfterExtra = nil
	}
}

func removeMember(object *hujson.Object, i int) {
	if i == 0 && len(object.Members) > 1 {
		object.Members[1].Name.BeforeExtra = object.Members[0].Name.BeforeExtra
	}
	object.Members = slices.Delete(object.Members, i, i+1)
	if n := len(object.Members); n > 0 {
		object.Members[n-1].Value.AfterExtra = nil
	} else {
		object.AfterExtra = nil
	}
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

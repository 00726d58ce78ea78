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
	"it is not a JSON object of the form that Claude Code's settings have: fix it, or add the hook by hand")

func putHook(text string) (string, Standing, error) {
	if strings.TrimSpace(text) == "" {
		return layOut(map[string]any{"hooks": map[string]any{"Stop": []hookGroup{ours()}}}, "", "  ") + "\n", Absent, nil
	}
	f, err := readSettings(text)
	switch {
	case err != nil:
		return "", Absent, err
	case slices.ContainsFunc(f.groups(), func(g hujson.Value) bool { mine, _ := isOurs(g); return mine }):
		return text, Current, nil
	case f.hooks == nil:
		f.addMember(f.root, "hooks", map[string]any{"Stop": []hookGroup{ours()}})
	case f.stop == nil:
		f.addMember(f.hooks, "Stop", []hookGroup{ours()})
	default:
		f.addGroup(ours())
	}
	return string(f.root.Pack()), Absent, nil
}

func takeHook(text string) (string, Standing, error) {
	if !strings.Contains(text, hookCommand) {
		return text, Absent, nil // whatever else it is
	}
	whole, _, err := putHook("")
	if err != nil || unix(text) == whole {
		return "", Current, err
	}
	f, err := readSettings(text)
	if err != nil {
		return "", Absent, err
	}
	standing := Absent
	for {
		at := slices.IndexFunc(f.groups(), func(g hujson.Value) bool { mine, _ := isOurs(g); return mine })
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

func ours() hookGroup {
	return hookGroup{Hooks: []hookEntry{{Type: "command", Command: hookCommand}}}
}

// isOurs reports whether a group of hooks runs our command, and whether that is all it does.
func isOurs(group hujson.Value) (mine, alone bool) {
	var g hookGroup
	if json.Unmarshal(group.Pack(), &g) != nil {
		return false, false // of a form that we do not know
	}
	mine = slices.ContainsFunc(g.Hooks, func(e hookEntry) bool { return e.Command == hookCommand })
	return mine, mine && len(g.Hooks) == 1
}

// A settingsFile is a settings.json, and where in it our hook belongs.
type settingsFile struct {
	text              string
	root, hooks, stop *hujson.Value // hooks and stop are nil where the file has none
}

func readSettings(text string) (*settingsFile, error) {
	if !json.Valid([]byte(text)) { // with comments it is not JSON, which Claude Code refuses
		return nil, errNoObject
	}
	root, err := hujson.Parse([]byte(text))
	if err != nil {
		return nil, errNoObject
	}
	f := &settingsFile{text: text, root: &root}
	return f, f.find()
}

// find looks for the place of our hook.
func (f *settingsFile) find() (err error) {
	f.stop = nil
	if f.hooks, err = member(f.root, "hooks"); err != nil || f.hooks == nil {
		return err
	}
	if f.stop, err = member(f.hooks, "Stop"); err != nil || f.stop == nil {
		return err
	}
	if _, isList := f.stop.Value.(*hujson.Array); !isList {
		return errNoObject
	}
	return nil
}

// groups are the elements of hooks.Stop.
func (f *settingsFile) groups() []hujson.Value {
	if f.stop == nil {
		return nil
	}
	return f.stop.Value.(*hujson.Array).Elements
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

// addGroup puts a group at the end of hooks.Stop, on a line of its own.
func (f *settingsFile) addGroup(group hookGroup) {
	list := f.stop.Value.(*hujson.Array)
	before, added, after := f.laidOut(f.stop, group)
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

// takeFrom takes our command out of a group of hooks.Stop, and with it all that then is empty.
func (f *settingsFile) takeFrom(at int) {
	stop := f.stop.Value.(*hujson.Array)
	root, hooks := f.root.Value.(*hujson.Object), f.hooks.Value.(*hujson.Object)
	_, alone := isOurs(stop.Elements[at])
	switch {
	case !alone:
		entries, _ := member(&stop.Elements[at], "hooks")
		list := entries.Value.(*hujson.Array)
		removeElement(list, slices.IndexFunc(list.Elements, func(v hujson.Value) bool {
			var e hookEntry
			return json.Unmarshal(v.Pack(), &e) == nil && e.Command == hookCommand
		}))
	case len(stop.Elements) > 1:
		removeElement(stop, at)
	case len(hooks.Members) > 1:
		removeMember(hooks, index(hooks, "Stop"))
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

package request

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claude-supervise/cmd/internal/taskfile"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/view"
)

// What --check takes: what is done about a task that lacks something.
const (
	CheckOff     = "off"
	CheckWarn    = "warn"
	CheckAsk     = "ask"
	CheckRequire = "require"
)

// A part is what one agent is told, or each of a pool.
type part struct {
	name   string // "": the task itself
	prompt string
	brief  *task.Brief
	shared string // the context that stands in the task file for all of them
}

// told returns what the agents of the task are told. Of a pool that is the template.
func (o Request) told(file taskfile.File) []part {
	var parts []part
	if o.Prompt != "" {
		parts = append(parts, part{prompt: o.Prompt, brief: &o.Brief})
	}
	add := func(c *taskfile.Child, name string) {
		parts = append(parts, part{name: name, prompt: c.Prompt, brief: &c.Brief, shared: file.Brief.Context})
	}
	var below func(children []taskfile.Child)
	below = func(children []taskfile.Child) {
		for i := range children {
			c := &children[i]
			name := c.Name
			if name == "" {
				name = taskfile.Title(c.Prompt)
			}
			add(c, name)
			below(c.Children)
		}
	}
	below(file.Children)
	if file.Template != nil {
		add(file.Template, "child")
	}
	return parts
}

// A lack is what a part of the task does not say.
type lack struct {
	of   string // the part
	gaps []task.Gap
}

func (p part) gaps() []task.Gap {
	b := *p.brief
	b.Context += p.shared
	return task.CheckTask(p.prompt, b)
}

// gaps returns what the task lacks that its agents need. A demo's own task is its author's, and one in the background
// was checked when it was started.
func (o Request) gaps(check string) []lack {
	if check == CheckOff || !o.own || InBackground() {
		return nil
	}
	var lacks []lack
	for _, p := range o.parts {
		if gaps := p.gaps(); len(gaps) > 0 {
			lacks = append(lacks, lack{of: p.name, gaps: gaps})
		}
	}
	return lacks
}

// Check does what --check says about a task that lacks something still, and gives what it lacks. An error starts
// nothing.
func (o *Request) Check(f Flags) ([]lack, error) {
	gaps := o.gaps(f.check)
	switch {
	case len(gaps) == 0 || f.check == CheckWarn:
		return gaps, nil
	case f.check == CheckAsk && terminal.Attended():
		if terminal.Confirmed("The task lacks:\n" + listed(gaps) + "\nStart it anyway?") {
			return gaps, nil
		}
		return nil, usage("nothing was started")
	case f.check == CheckAsk:
		return nil, usage("nothing was started: --check ask has no terminal to ask on.\nThe task lacks:\n%s", listed(gaps))
	}
	return nil, usage("nothing was started: --check require needs in the task:\n%s", listed(gaps))
}

// complete puts into the task, and into those of its children, what was typed for them: before, for a supervisor in
// the background, or now, on the terminal, where --check asks for what is lacking.
func (o *Request) complete(f Flags) (err error) {
	if o.Collected, err = collectedBefore(); err != nil {
		return err
	}
	if f.check == CheckAsk && terminal.Attended() && len(o.gaps(f.check)) > 0 {
		o.Collected = make([]task.Brief, len(o.parts))
		for i, p := range o.parts {
			if o.Collected[i], err = collect(p); err != nil {
				return err
			}
		}
	}
	for i, b := range o.Collected {
		if i < len(o.parts) {
			o.parts[i].add(b)
		}
	}
	if len(o.parts) > 0 && o.parts[0].name == "" {
		o.Brief = *o.parts[0].brief
	}
	return nil
}

// collect asks on the terminal for what a part of the task lacks.
func collect(p part) (b task.Brief, err error) {
	what := "The task"
	if p.name != "" {
		what += " of " + terminal.CleanLine(p.name, 50)
	}
	heading := what + " lacks something.\nWhat you type goes into it; Enter leaves it out.\n"
	ask := func(part, advice string) (string, error) {
		reply, err := terminal.AskLine(os.Stdin, os.Stderr, heading+part+": "+advice+"\n", "> ")
		heading = ""
		if errors.Is(err, io.EOF) {
			err = usage("nothing was started")
		}
		return terminal.CleanLine(reply, 0), err
	}
	for _, g := range p.gaps() {
		reply, err := ask(string(g.Part), g.Advice)
		if err != nil {
			return b, err
		}
		switch {
		case reply == "":
		case g.Part == task.PartContext:
			b.Context = reply
		case g.Part == task.PartSuccessCriteria:
			b.SuccessCriteria = parts(reply, ";")
		default:
			b.Goals = append(b.Goals, reply)
		}
		if g.Part != task.PartSuccessCriteria {
			continue
		}
		if reply, err = ask("deliverables", "the files that it is to make, with commas between them"); err != nil {
			return b, err
		}
		b.Deliverables = parts(reply, ",")
	}
	return b, nil
}

func parts(text, between string) []string {
	return slices.DeleteFunc(strings.Split(text, between), func(s string) bool { return strings.TrimSpace(s) == "" })
}

// add puts what was collected into the part.
func (p part) add(b task.Brief) {
	p.brief.Context = strings.TrimSpace(p.brief.Context + "\n" + b.Context)
	p.brief.Goals = slices.Concat(p.brief.Goals, b.Goals)
	p.brief.SuccessCriteria = slices.Concat(p.brief.SuccessCriteria, b.SuccessCriteria)
	p.brief.Deliverables = slices.Concat(p.brief.Deliverables, b.Deliverables)
}

// Remind says in a line what the task lacks, where that is all that --check wants: to a person, and once.
func Remind(gaps []lack, f Flags) error {
	if len(gaps) == 0 || f.check != CheckWarn || f.Quiet || f.AsJSON || !terminal.IsTerminal(os.Stderr) {
		return nil
	}
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	if err := os.MkdirAll(r.Dirs.State, 0o700); err == nil {
		given, err := os.OpenFile(filepath.Join(r.Dirs.State, "task-hint"), os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err == nil { // a hint too many does no harm
			_ = given.Close()
		}
	}
	return terminal.Print(func(p *terminal.Printer) error { p.Progress(reminder(gaps)); return nil })
}

// reminder is that one line.
func reminder(lacks []lack) string {
	var parts, names []string
	for _, l := range lacks {
		names = append(names, l.of)
		for _, g := range l.gaps {
			if g.Part == task.PartActionability && len(lacks) == 1 && l.of == "" {
				return "The task does not say what to work on (--check off hides this)."
			}
			if !slices.Contains(parts, string(g.Part)) {
				parts = append(parts, string(g.Part))
			}
		}
	}
	if last := len(parts) - 1; last > 0 {
		parts = []string{strings.Join(parts[:last], ", "), parts[last]}
	}
	return fmt.Sprintf("%s no %s (--check off hides this).", givers(names), strings.Join(parts, " or "))
}

// givers names the parts of the task that do not give what they should.
func givers(names []string) string {
	switch {
	case len(names) > 1:
		return fmt.Sprintf("%d of the tasks give", len(names))
	case names[0] == "":
		return "The task gives"
	}
	return "The task of " + names[0] + " gives"
}

// maxListed is of how many tasks it is said what they lack.
const maxListed = 10

func listed(lacks []lack) string {
	var lines []string
	for i, l := range lacks {
		if i == maxListed {
			lines = append(lines, fmt.Sprintf("  and so on, in %d tasks", len(lacks)))
			break
		}
		of := ""
		if l.of != "" {
			of = l.of + ": "
		}
		for _, g := range l.gaps {
			lines = append(lines, fmt.Sprintf("  %s%s: %s", of, g.Part, g.Advice))
		}
	}
	return strings.Join(lines, "\n")
}

package request

import (
	"slices"
	"strings"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/rules"
)

// What --allow takes beside rules: all rules that the task file wants, what the files in the run's folder permit and
// run, and messages to and from other sessions of the person.
const (
	allowTask     = "task"
	allowProject  = "project"
	allowSessions = "sessions"
)

// allowed reads --allow. The rules of the task file are not in it.
func allowed(given []string, to *conf.Given) error {
	for _, text := range given {
		switch text {
		case allowTask:
		case allowProject:
			to.AllowProject = true
		case allowSessions:
			to.AllowSessions = true
		default:
			rule, err := rules.Parse(text)
			if err != nil {
				return usage("--allow %w", err)
			}
			if !slices.Contains(to.Allow, rule.String()) {
				to.Allow = append(to.Allow, rule.String())
			}
		}
	}
	return nil
}

// grant takes the rules that a task file wants, if the person has said so, and gives those that are not in force: a
// file may come with a repository that nobody has read.
func (o *Request) grant(wanted []string, all bool) (wishes []string) {
	for _, rule := range wanted {
		switch {
		case slices.Contains(o.Config.Allow, rule), slices.Contains(wishes, rule):
		case all:
			o.Config.Allow = append(o.Config.Allow, rule)
			o.granted = append(o.granted, rule)
		default:
			wishes = append(wishes, rule)
		}
	}
	return wishes
}

// Trust says in a line what the run lets happen unasked beyond the person's settings, and what of that the task file
// wanted. A demo grants its own scripted agent what it needs.
func (o Request) Trust() error {
	all := o.Config.Trusted()
	if len(all) == 0 || o.Config.Demo != "" {
		return nil
	}
	line := "Permitted beyond your settings: " + strings.Join(all, ", ")
	if len(o.granted) > 0 {
		line += " (by --allow task: " + strings.Join(o.granted, ", ") + ")"
	}
	return terminal.Print(func(p *terminal.Printer) error {
		p.Progress(line + ".")
		return nil
	})
}

// RequestedRules says in a line which rules of the task file are not in force.
func (o Request) RequestedRules() error {
	if len(o.requestedLimits) == 0 {
		return nil
	}
	return terminal.Print(func(p *terminal.Printer) error {
		p.Notice("Not permitted, though the task file asks for it: " + strings.Join(o.requestedLimits, ", ") +
			" (--allow task permits it).")
		return nil
	})
}

package main

import (
	"context"
	"strings"
	"time"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/news"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/view"
)

// tell shows a notice to the person, or to the program that reads --json.
func (s *session) tell(n notice.Notification) {
	s.follow(n)
	s.printer.Names(n.Agent, n.Who)
	if n.Type == notice.ParkedNow {
		s.notices.Parked(n)
	}
	if n.Type == notice.RunStarted {
		underWay()
		s.notices.Begin(n.Run)
		s.prompter.Messages(terminal.Addressee{Run: n.Run}, func(ctx context.Context, text string) {
			sayAbove(ctx, s.printer, s.Client, n.Run, text, "", terminal.Who("run"))
		})
	}
	if s.asJSON {
		s.print(news.Event(n))
		if !n.Trouble {
			return
		}
	}
	if n.Type == notice.QuestionDone {
		terminal.Drafts{Folder: s.Dirs.RunDir}.Drop(n.Run, n.Question.ID)
	}
	if n.Type == notice.QuestionDone && s.prompted[n.Question.ID] {
		// The prompt tells of it, unless it was answered there.
		s.prompter.Gone(n.Question.ID, asking.Gone(view.View(n.Question)))
		return
	}
	switch text := news.Words(n); {
	case text == "":
	case n.Trouble:
		s.printer.Notice("! " + text)
	case n.Type == notice.ParkedNow: // beside its question, which is open
		s.printer.Above(text)
	default:
		s.printer.Progress(text)
	}
}

// A working is what the status line sums up: what each agent has spent, and what they do now.
type working struct {
	line  terminal.Status
	spent map[string]spending // by agent
}

type spending struct {
	tokens  int64
	costUSD float64
}

// keysMeanwhile says what can be typed while agents work.
const keysMeanwhile = "type to write · Ctrl-C leaves"

// follow keeps the status line at what the agents do now.
func (s *session) follow(n notice.Notification) {
	line := &s.working.line
	several := n.Who != ""
	say := func(text string) {
		line.Text = strings.TrimSpace(text)
		if several && line.Text != "" {
			line.Text = n.Who + ": " + line.Text
		}
	}
	switch n.Type {
	case notice.AgentStarted, notice.ResumedNow:
		say("starting")
		if !several || line.Since.IsZero() {
			line.Since = n.Time
		}
	case notice.Progress:
		say(calls.Readable(n.Text))
	case notice.TextSaid:
		say("thinking")
	case notice.ParkedNow:
		if !several {
			line.Text, line.Since = "", time.Time{}
		}
	case notice.RunDone:
		line.Text, line.Since = "", time.Time{}
	}
	if a := n.State; a != nil {
		before, now := s.working.spent[a.ID], spending{a.InputTokens + a.OutputTokens, a.CostUSD}
		s.working.spent[a.ID] = now
		line.Tokens += now.tokens - before.tokens
		line.CostUSD += now.costUSD - before.costUSD
	}
	shown := *line
	switch {
	case shown.Text == "":
		shown.Tokens, shown.CostUSD = 0, 0
	case s.asks:
		shown.Keys = keysMeanwhile
	}
	s.printer.Status(shown)
}

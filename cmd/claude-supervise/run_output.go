package main

import (
	"context"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/news"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/view"
)

// tell shows a notice to the person, or to the program that reads --json.
func (s *session) tell(n notice.Notification) {
	s.printer.Status(s.working.Line(n, s.asks))
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

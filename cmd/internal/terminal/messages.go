package terminal

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// While no question is asked, what is typed is a message to the agents. On an able terminal the first key opens a line
// for it below what goes on, and a question that comes meanwhile leaves the line as it is until it is answered;
// elsewhere the line is the kernel's own. Nothing that was typed is left for the person's shell.

// Messages has what is typed while no question is asked handed to say, text by text and none of them empty; nil: nobody
// takes it. It does not block. say may block for as long as saving takes, and shows what became of the text.
func (p *Prompter) Messages(say func(ctx context.Context, text string)) {
	p.change(func() { p.say = say })
}

const messageHint = "message to the agent · Enter sends it · Alt-Enter: new line"

const asideHint = "message to the agent · Enter sends it · Esc: back to the question"

// writes reports whether keys are read as a message, one by one.
func (a *promptState) writes() bool {
	return a.say != nil && a.current == nil && !a.paused && !a.deaf && a.styles != nil
}

// drawDraft shows what has been typed of a message; nothing while that is nothing, unless a question stands aside.
func (a *promptState) drawDraft(anew bool) {
	if a.draft == nil {
		a.draft = newTyping()
	}
	hint := messageHint
	if a.aside {
		hint = asideHint
	} else if a.draft.area.Length() == 0 {
		a.out.drawBelow(nil, anew)
		return
	}
	columns, height := a.out.size()
	rows := a.draft.rows(min(columns, 80)-1, max(height/2, 1))
	if height > 2 {
		rows = append([]string{a.out.faint(CleanLine(hint, columns-1))}, rows...)
	}
	a.out.drawBelow(rows, anew)
}

// write takes keys of a message.
func (a *promptState) write(ctx context.Context, msgs []tea.Msg) {
	for _, msg := range msgs {
		if key, is := msg.(tea.KeyPressMsg); is && key.String() == "esc" {
			a.goBackFromAside()
			continue
		}
		switch text, end := a.draft.take(msg); end {
		case sent:
			a.goBackFromAside()
			a.out.drawBelow(nil, false)
			a.message(ctx, text)
		case left:
			if a.left != nil {
				a.left()
			}
		case refused:
			a.out.Notice(tooMuch)
		}
	}
}

func (a *promptState) goBackFromAside() {
	if a.aside {
		a.aside = false
		a.out.drawBelow(nil, false)
	}
}

// message hands over a message.
func (a *promptState) message(ctx context.Context, text string) {
	if text = strings.TrimSpace(text); text != "" && a.say != nil {
		a.say(ctx, text)
	}
}

// dropDraft says that what was typed of a message was not sent.
func (a *promptState) dropDraft() {
	if a.draft == nil {
		return
	}
	a.out.drawBelow(nil, false)
	if text := strings.TrimSpace(a.draft.area.Value()); text != "" {
		a.out.Notice("Not sent: " + CleanLine(text, 200))
	}
	a.draft = nil
}

package terminal

import (
	"cmp"
	"context"
	"strings"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// While no question is asked, what is typed is a message to the agents. On an able terminal the first key opens a line
// for it below what goes on, and a question that comes meanwhile leaves the line as it is until it is answered;
// elsewhere the line is the kernel's own. Nothing that was typed is left for the person's shell.

// Messages has what is typed while no question is asked handed to say, text by text and none of them empty; nil: nobody
// takes it. It does not block. say may block for as long as saving takes, and shows what became of the text. What is
// typed and not sent is kept for whom it is for; see Keeps.
func (p *Prompter) Messages(to Addressee, say func(ctx context.Context, text string)) {
	p.change(func() { p.to, p.say = to, say })
}

// Hint has the line for messages shown though nothing is typed, where questions are forms, and text above it: how the
// run stands and what can be typed. Without it there is no line until something is typed. It does not block.
func (p *Prompter) Hint(text string) {
	p.change(func() { p.hint = CleanLine(text, 0) })
}

const messageHint = "message to the agent · Enter sends it · Alt-Enter new line"

const asideHint = "message to the agent · Enter sends it · Esc back to the question"

// writes reports whether keys are read as a message, one by one.
func (a *promptState) writes() bool {
	return a.say != nil && a.current == nil && !a.paused && !a.deaf && a.styles != nil
}

// drawDraft shows what has been typed of a message. While that is nothing, it shows the hint, if there is one.
func (a *promptState) drawDraft(anew bool) {
	if a.draft == nil {
		a.draft = newTyping()
		a.message = a.drafts.Message(a.to)
		a.draft.area.SetValue(a.message)
	}
	hint := cmp.Or(a.hint, messageHint)
	switch {
	case a.aside:
		hint = asideHint
	case a.draft.area.Length() == 0 && a.hint == "":
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
			a.sendMessage(ctx, text)
		case left:
			if a.left != nil {
				a.left()
			}
		case refused:
			a.out.Notice(tooMuch)
		}
	}
	if typed := a.draft.area.Value(); typed != a.message {
		a.message = typed
		a.drafts.KeepMessage(a.to, typed)
	}
}

func (a *promptState) goBackFromAside() {
	if a.aside {
		a.aside = false
		a.out.drawBelow(nil, false)
	}
}

// toSay begins a message, which it is no part of, where lines are answers.
const toSay = "/say "

// toSendDraft answers with what was typed before, where lines are answers.
const toSendDraft = "/draft"

// sayLines hands over lines that were typed as a message, or what was typed of one before.
func (a *promptState) sayLines(ctx context.Context, text string) {
	if strings.TrimSpace(text) != toSendDraft {
		a.sendMessage(ctx, text)
		return
	}
	if text = a.drafts.Message(a.to); text == "" {
		a.out.Notice("Nothing that was typed before is kept.")
		return
	}
	a.sendMessage(ctx, text)
	a.drafts.KeepMessage(a.to, "")
}

// recall tells, in lines and once, what was typed of a message before and not sent.
func (a *promptState) recall() {
	if a.say == nil || a.current != nil || a.recalled {
		return
	}
	a.recalled = true
	if text := CleanLine(a.drafts.Message(a.to), 200); text != "" {
		a.out.Notice(typedBefore(text))
	}
}

func typedBefore(text string) string {
	return "You typed this before, and did not send it: " + text + " (" + toSendDraft + " sends it)"
}

// sendMessage hands over a message.
func (a *promptState) sendMessage(ctx context.Context, text string) {
	if text = strings.TrimSpace(strings.TrimPrefix(text, toSay)); text != "" && a.say != nil {
		a.say(ctx, text)
	}
}

// dropDraft says that what was typed of a message was not sent.
func (a *promptState) dropDraft() {
	a.dropLine("")
	if a.draft == nil {
		return
	}
	a.out.drawBelow(nil, false)
	a.tellNotSent(asDraft(a.draft.area.Value()))
	a.draft = nil
}

// dropLine says that what the terminal has of a line, which would have been a message, was not sent, and keeps it.
func (a *promptState) dropLine(hint string) {
	if a.styles != nil || a.say == nil || a.paused || a.deaf {
		return
	}
	if drafts := asDraft(a.halfLine()); len(drafts) > 0 {
		a.drafts.KeepMessage(a.to, whole(drafts))
		a.out.Notice(strings.TrimSpace(a.notSent(drafts)) + hint)
	}
}

const tooMuch = "That was longer than this terminal can take, and nothing was sent. Put it into a file and name the " +
	"file."

// typing is the line that is being typed: bubbles' text area, in which Enter sends.
type typing struct{ area textarea.Model }

func newTyping() *typing {
	a := textarea.New()
	a.Prompt, a.ShowLineNumbers, a.DynamicHeight, a.MinHeight = "> ", false, true, 1
	a.CharLimit, a.MaxContentHeight = maxText, maxText
	a.EndOfBufferCharacter = ' '
	plain := textarea.StyleState{}
	a.SetStyles(textarea.Styles{Focused: plain, Blurred: plain, Cursor: textarea.CursorStyle{Color: lipgloss.NoColor{}}})
	keys := a.KeyMap
	keys.InsertNewline.SetKeys("alt+enter", "ctrl+j")
	keys.Paste.SetEnabled(false) // both would start a program that reads the clipboard
	keys.CopySelection.SetEnabled(false)
	a.KeyMap = keys
	a.Focus()
	return &typing{a}
}

// What a key makes of a line.
const (
	goesOn = iota
	sent
	refused
	left
)

// take returns the line once it is sent, or says what else became of it.
func (t *typing) take(msg tea.Msg) (text string, end int) {
	switch msg := msg.(type) {
	case tooLong:
		return "", refused
	case tea.KeyPressMsg:
		switch msg.String() {
		case "enter":
			text = t.area.Value()
			t.area.Reset()
			return text, sent
		case "ctrl+d":
			if t.area.Length() == 0 {
				return "", left
			}
		}
	}
	t.area, _ = t.area.Update(msg) // its commands only make the cursor blink
	return "", goesOn
}

func (t *typing) rows(columns, most int) []string {
	t.area.MaxHeight = most
	t.area.SetWidth(columns)
	return strings.Split(strings.TrimRight(t.area.View(), "\n"), "\n")
}

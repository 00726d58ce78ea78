package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor/text"
)

// names are what begins the lines of several who speak side by side, each with a colour of its own.
type names struct {
	colours map[string]ansi.Style // by who it is
	of      map[string]string     // who it is, by each name that it has had
}

// nameColours tell speakers from each other: not red, which warns.
var nameColours = []ansi.BasicColor{ansi.Cyan, ansi.Magenta, ansi.Green, ansi.Blue, ansi.Yellow}

// Names says that who has this id is called so in front of what they say. On a terminal with colours the name is then
// shown in theirs, where a text begins with it, behind a time or a mark of trouble.
func (p *Printer) Names(id, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.colours || name == "" || p.names.of[name] == id {
		return
	}
	if p.names.of == nil {
		p.names = names{colours: map[string]ansi.Style{}, of: map[string]string{}}
	}
	if _, known := p.names.colours[id]; !known {
		p.names.colours[id] = ansi.NewStyle().ForegroundColor(nameColours[len(p.names.colours)%len(nameColours)])
	}
	p.names.of[name] = id
}

// beforeName is what may stand before a name.
var beforeName = text.Lazily(`^(\s*! )?((\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d (-- )?(! )?)?`)

// named shows in its colour the name that a text begins with.
func (p *Printer) named(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.names.of) == 0 {
		return text
	}
	before := beforeName().FindString(text)
	rest := text[len(before):]
	for at := strings.Index(rest, ": "); at >= 0; {
		if id, is := p.names.of[rest[:at]]; is {
			return before + p.names.colours[id].Styled(rest[:at]) + rest[at:]
		}
		next := strings.Index(rest[at+1:], ": ") // a name may have a colon
		if next < 0 || at > maxColumns {
			break
		}
		at += 1 + next
	}
	return text
}

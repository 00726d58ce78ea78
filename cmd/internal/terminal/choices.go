package terminal

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor/questions"
)

// What the cursor can be on that is no option.
const (
	ownWords = -1 // the row for them
	noOption = -2 // nothing is selected yet
)

// choices are the options of a question as a list that arrow keys move in, and that typing filters. Several can be
// marked where the question is multi-select. It is huh's list: of its keys only those of keyMap reach it, and what it
// wants to be done later (a blinking cursor, which would wake a program that waits for days) is not done.
type choices struct {
	q       Question
	keys    []string          // what selects each option, as Keys gives them
	labels  []questions.Label // what is typed is looked for in them, at every key
	none    bool              // nothing is selected
	own     bool              // the last row is for own words
	field   list
	picked  []int  // of a multi-select, what is marked
	filter  string // what was typed to filter
	keyed   string // the keys that options were selected or marked by, while nothing else came: words may begin so
	height  int    // rows of all options
	width   int
	brief   bool // they stand without descriptions
	counted bool // the last row that is seen says how many are not
	wide    struct {
		width, rows int
		filter      string
	} // rows of all options with descriptions, as last reckoned
	filtered bool // the list is in its filtering state
	listing  bool // it is listed anew for what was typed
}

// list is what huh's two lists have in common.
type list interface {
	huh.Field
	Hovered() (int, bool)
}

var (
	press  = func(code rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: code} }
	bind   = func(keys ...string) key.Binding { return key.NewBinding(key.WithKeys(keys...)) }
	filter = bind("/")
)

// keyMap leaves to the lists what choices has no meaning of its own for.
func keyMap() *huh.KeyMap {
	return &huh.KeyMap{
		Select: huh.SelectKeyMap{Up: bind("up"), Down: bind("down"), GotoTop: bind("home"), GotoBottom: bind("end"),
			HalfPageUp: bind("pgup"), HalfPageDown: bind("pgdown"), Filter: filter, SetFilter: bind("tab"),
			ClearFilter: bind("esc")},
		MultiSelect: huh.MultiSelectKeyMap{Up: bind("up"), Down: bind("down"), GotoTop: bind("home"), GotoBottom: bind("end"),
			HalfPageUp: bind("pgup"), HalfPageDown: bind("pgdown"), Filter: filter, SetFilter: bind("tab"),
			ClearFilter: bind("esc"),
			Toggle:      bind("space")},
	}
}

func newChoices(q Question, own bool, before string, s *styles) *choices {
	c := &choices{q: q, keys: q.Keys(), labels: q.Labels(), own: own, width: -1}
	if q.MultiSelect {
		c.field = huh.NewMultiSelect[int]().Value(&c.picked)
	} else {
		at := 0
		if chosen := c.named(before); len(chosen) > 0 {
			at = chosen[0]
		} else if i := slices.IndexFunc(q.Options, func(o Option) bool { return !questions.Blank(o) }); i > 0 {
			at = i
		}
		c.field = huh.NewSelect[int]().Value(&at)
	}
	c.none = c.q.Guarded() && len(c.named(before)) == 0
	c.field.WithTheme(s.theme(func() bool { return c.none }))
	c.field.WithKeyMap(keyMap())
	c.field.Focus() // which takes all marks away
	if q.MultiSelect {
		c.picked = c.named(before)
	}
	return c
}

// named returns the options that an answer was put together from.
func (c *choices) named(answer string) []int {
	if answer == "" {
		return nil
	}
	picked, _ := c.q.Named(answer) // what cannot be told apart any more is not marked
	return picked
}

// lay fits the list to a width, with or without descriptions, and tells how many rows it has without a limit.
func (c *choices) lay(width int, brief bool) int {
	if width == c.width && brief == c.brief {
		return c.rows()
	}
	c.width, c.brief, c.height = width, brief, 0
	var options []huh.Option[int]
	for _, i := range c.listed() {
		text := c.text(i)
		c.height += 1 + strings.Count(text, "\n")
		options = append(options, huh.NewOption(text, i).Selected(slices.Contains(c.picked, i)))
	}
	if c.own {
		c.height++
		options = append(options, huh.NewOption(c.ownRow(), ownWords))
	}
	switch field := c.field.(type) {
	case *huh.Select[int]:
		field.Options(options...)
	case *huh.MultiSelect[int]:
		field.Options(options...)
	}
	c.field.WithWidth(width)
	if c.filter != "" { // the list has forgotten it
		typed := c.filter
		c.clear()
		c.typed(typed)
	}
	return c.rows()
}

// described is how many rows the list has at a width, with descriptions.
func (c *choices) described(width int) int {
	if c.wide.width != width || c.wide.filter != c.filter {
		as := choices{q: c.q, keys: c.keys, labels: c.labels, picked: c.picked, filter: c.filter, width: width}
		c.wide.width, c.wide.filter, c.wide.rows = width, c.filter, 0
		if c.own {
			c.wide.rows++
		}
		for _, i := range as.listed() {
			c.wide.rows += 1 + strings.Count(as.text(i), "\n")
		}
	}
	return c.wide.rows
}

// text is an option as it stands in the list.
func (c *choices) text(at int) string {
	o := c.q.Options[at]
	if c.brief {
		o.Description = ""
	}
	return optionText(o, c.keys[at], c.width-c.gutter()-1)
}

func (c *choices) ownRow() string { return CleanLine("In your own words …", c.width-c.gutter()) }

// gutter is how many cells stand before an option: the cursor, and the box of what can be marked.
func (c *choices) gutter() int {
	if c.q.MultiSelect {
		return 6
	}
	return 2
}

// many reports whether there are more options than are listed at once.
func (c *choices) many() bool { return len(c.q.Options) > maxShown }

// listed returns the options that are in the list. Of many these are the first that hold what was typed, with those
// that are marked, and the one that is meant: so each can be found.
func (c *choices) listed() (places []int) {
	var meant []int
	if c.many() && c.filter != "" {
		meant = c.q.ReadingsIn(c.labels, c.filter)
	}
	typed, matching := strings.ToLower(c.filter), 0
	for i, o := range c.q.Options {
		holds := strings.Contains(strings.ToLower(o.Label+"\n"+o.Description), typed) && matching < maxShown
		switch {
		case questions.Blank(o):
		case !c.many() || slices.Contains(c.picked, i) || len(meant) == 1 && meant[0] == i:
			places = append(places, i)
		case holds:
			matching++
			places = append(places, i)
		}
	}
	return places
}

// relist lists anew, of many, what holds what was typed.
func (c *choices) relist() {
	if !c.many() || c.listing || c.width < 0 {
		return
	}
	width := c.width
	c.width, c.listing = -1, true
	c.lay(width, c.brief)
	c.listing = false
}

func (c *choices) rows() int {
	if c.filter != "" {
		return c.height + 1
	}
	return c.height
}

// maxAbout is how many rows of an option's description stand in the list, so that its label is never scrolled away. The
// rest is seen where the cursor is on it.
const maxAbout = 4

// optionText is an option in the list: its key and label, and its description below.
func optionText(o Option, key string, width int) string {
	mark := "- "
	if key != "" {
		mark = key + ") "
	}
	indent := strings.Repeat(" ", len(mark))
	text := hang(mark, CleanLine(o.Label, 400), width)
	if about := CleanLine(o.Description, 800); about != "" {
		rows := strings.Split(wrap(about, indent, width), "\n")
		if len(rows) > maxAbout {
			rows = append(rows[:maxAbout-1], indent+"…")
		}
		text += "\n" + strings.Join(rows, "\n")
	}
	return text
}

// view returns at most height rows of the list, those around the one that the cursor is on. Where that is not all, the
// last says how many options are not seen.
func (c *choices) view(height int) []string {
	c.counted = false
	if c.rows() <= height || height < 3 {
		return c.around(height)
	}
	all, seen := c.firsts(c.around(c.rows())), []int(nil)
	rows := c.around(height - 1)
	if seen = c.firsts(rows); len(seen) == 0 || len(seen) == len(all) {
		return c.around(height)
	}
	c.counted = true
	above := slices.Index(all, seen[0])
	return append(rows, fmt.Sprintf("  … %d above · %d below", above, len(all)-above-len(seen)))
}

func (c *choices) around(height int) []string {
	// The title is where huh shows what is typed.
	title := ""
	if c.filter != "" {
		title = " "
	}
	switch field := c.field.(type) {
	case *huh.Select[int]:
		field.Title(title)
	case *huh.MultiSelect[int]:
		field.Title(title)
	}
	c.field.WithHeight(min(height, c.rows()))
	c.field.View()                    // tells the list what it is to scroll in,
	c.field.Update(tea.KeyPressMsg{}) // and a key that is none makes it scroll to its cursor
	rows := strings.Split(c.field.View(), "\n")
	if c.filter != "" {
		rows[0] = ansi.Truncate(strings.Replace(rows[0], "/", "filter: ", 1), c.width, "") // it is filled up
	}
	for i, row := range rows {
		rows[i] = trimRight(row)
	}
	for len(rows) > 1 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows[:min(len(rows), height)]
}

// trimRight removes the blanks that fill a row up, but for one that is the cursor.
func trimRight(row string) string {
	row = strings.TrimRight(row, " ")
	if strings.Contains(row, cursorStyle) {
		return row
	}
	plain := strings.TrimRight(ansi.Strip(row), " ")
	if ansi.StringWidth(plain) == ansi.StringWidth(row) {
		return row
	}
	return ansi.Truncate(row, ansi.StringWidth(plain), "")
}

// cursorStyle is how the fields mark the cell that the next key goes to.
const cursorStyle = "\x1b[7m"

// move passes a key on that moves the cursor. In a list without rows huh would lose it. Where nothing is selected the
// cursor stands unseen on the first row, and Down only shows it.
func (c *choices) move(msg tea.KeyPressMsg) {
	c.keyed = ""
	at, ok := c.hovered()
	c.none = c.none && !ok
	if ok && (at != noOption || msg.Code != tea.KeyDown) {
		c.field.Update(msg)
	}
}

// hovered is the option under the cursor, ownWords or noOption; false if none matches what was typed.
func (c *choices) hovered() (int, bool) {
	at, ok := c.field.Hovered()
	if ok && c.none {
		return noOption, true
	}
	return at, ok
}

// mark marks the option under the cursor, or takes the mark away.
func (c *choices) mark() {
	if at, ok := c.hovered(); !ok || at < 0 {
		return
	}
	if c.filtered { // huh marks nothing while one types
		c.field.Update(press(tea.KeyTab))
		c.filtered = false
	}
	c.field.Update(press(tea.KeySpace))
}

// markAt marks an option by its place, or takes the mark away.
func (c *choices) markAt(at int) {
	if c.goTo(at) {
		c.mark()
	}
}

// letter takes what a key has typed. An option's key selects or marks that; it is the beginning of what is typed on
// behind it ("2FA please"), and then it has chosen nothing.
func (c *choices) letter(text string) {
	at, is := c.atOnce(text)
	if !is {
		c.typed(text)
		return
	}
	keyed := c.keyed + text
	if c.q.MultiSelect {
		c.markAt(at)
	} else {
		c.goTo(at)
	}
	c.keyed = keyed
}

// unkey takes back what the last key of an option has marked, and gives that key; "" if there is none.
func (c *choices) unkey() (text string) {
	if c.keyed == "" {
		return ""
	}
	rest, text := c.keyed[:len(c.keyed)-1], c.keyed[len(c.keyed)-1:]
	if c.q.MultiSelect {
		c.markAt(slices.Index(c.keys, text))
	}
	c.keyed = rest
	return text
}

// maxFilter bounds what filters the list, in bytes: more is no start of a label, but own words.
const maxFilter = 400

// typed filters the list by what is typed on.
func (c *choices) typed(text string) {
	for c.keyed != "" {
		text = c.unkey() + text
	}
	if len(c.filter)+len(text) > maxFilter {
		return
	}
	if !c.filtered {
		c.field.Update(tea.KeyPressMsg{Code: '/', Text: "/"})
		c.filtered = true
	}
	for _, r := range text {
		c.field.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	c.filter += text
	if !c.listing {
		c.relist()
		c.moveTo()
	}
}

// backspace takes back the last of what was typed.
func (c *choices) backspace() {
	runes := []rune(c.filter)
	switch len(runes) {
	case 0:
		c.unkey()
		return
	case 1:
		c.clear()
		return
	}
	typed := string(runes[:len(runes)-1])
	c.clear()
	c.typed(typed)
}

// clear shows all options again.
func (c *choices) clear() {
	c.keyed = ""
	if c.filter == "" {
		return
	}
	if c.filtered {
		c.field.Update(press(tea.KeyTab))
	}
	c.field.Update(press(tea.KeyEscape))
	c.filter, c.filtered = "", false
	c.relist()
	c.none = c.q.Guarded()
}

// moveTo puts the cursor on the option that the typed text means, if that is one. Of a decision it is else on none.
func (c *choices) moveTo() {
	c.none = c.q.Guarded()
	if meant := c.q.ReadingsIn(c.labels, c.filter); len(meant) == 1 {
		c.goTo(meant[0])
	}
}

// goTo puts the cursor on an option and reports whether it is in the list.
func (c *choices) goTo(at int) bool {
	for _, way := range []rune{tea.KeyDown, tea.KeyUp} { // one of the lists goes round, the other stops at its ends
		for range len(c.q.Options) + 1 {
			if now, ok := c.hovered(); !ok || now == at {
				return ok
			}
			c.move(press(way))
		}
	}
	return false
}

// atOnce returns the option that a key selects: no other option's key begins with it.
func (c *choices) atOnce(text string) (int, bool) {
	if c.filter != "" || text == "" {
		return 0, false
	}
	at := slices.Index(c.keys, text)
	if at < 0 || slices.ContainsFunc(c.keys, func(k string) bool {
		return len(k) > len(text) && strings.HasPrefix(k, text)
	}) {
		return 0, false
	}
	return at, at < maxShown
}

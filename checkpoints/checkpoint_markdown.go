package checkpoints

import (
	"errors"
	"fmt"
	"strings"

	"claude-supervise/checkpoints/files"
)

// maxSections bounds a Markdown checkpoint; more are no work of an agent.
const maxSections = 1000

// The headings of the document, in its order.
const (
	progressHeading = "Progress Summary"
	filesHeading    = "Files Analyzed"
	nextHeading     = "Next Step"
	decisionHeading = "Pending Decision"
	contextHeading  = "Context for Continuation"
)

// parseMarkdown reads a checkpoint whose sections are headings of the second level outside of fences. The first section
// of the document's name that has a text in its form is the field; all others are kept. A fence that is left open is
// closed.
func parseMarkdown(text string) (*Checkpoint, error) {
	if strings.ContainsRune(text, 0) {
		return nil, errors.New("it is not text")
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	c := &Checkpoint{Form: FormMarkdown}
	before, sections, err := splitSections(text)
	if err != nil {
		return nil, err
	}
	c.takeHead(before)
	for _, s := range sections {
		if !c.takeSection(s) {
			c.Sections = append(c.Sections, s)
		}
	}
	known := c.known()
	if !strings.Contains(strings.ToLower(c.Title), "checkpoint") && known < 2 {
		return nil, errors.New("it is neither a JSON object nor Markdown with the headings of a checkpoint")
	}
	if known == 0 && len(c.Sections) == 0 && c.Preamble == "" {
		return nil, errors.New("it has nothing but its title, as if half written")
	}
	return c, nil
}

// known counts the headings and lines of the document that have a text.
func (c *Checkpoint) known() int {
	n := 0
	for _, text := range []string{c.Timestamp, c.Task, c.Agent, c.Progress, c.NextAction, c.Decision, c.Context} {
		if text != "" {
			n++
		}
	}
	if len(c.FileList) > 0 {
		n++
	}
	return n
}

// splitSections returns what stands before the first section, and the sections.
func splitSections(text string) (before string, sections []Section, err error) {
	var title string
	var open fence
	from, at, n := 0, 0, 0 // where the section and the line begin; how many sections have begun
	end := func(to int) {
		body := text[from:to]
		if open != "" {
			body += "\n" + string(open)
		}
		if n == 0 {
			before = trimBlank(body)
		} else {
			sections = append(sections, Section{title, trimBlank(body)})
		}
	}
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(line, "## "); ok && open == "" {
			end(at)
			title, from = strings.TrimSpace(heading), at+len(line)
			if n++; n > maxSections {
				return "", nil, fmt.Errorf("it has more than %d sections", maxSections)
			}
		} else {
			open = open.after(line)
		}
		at += len(line)
	}
	end(len(text))
	return before, sections, nil
}

// takeHead reads what stands before the first section: the title, the lines of the document, and others.
func (c *Checkpoint) takeHead(text string) {
	first, rest, _ := strings.Cut(text, "\n")
	if title, ok := strings.CutPrefix(first, "# "); ok && strings.TrimSpace(title) != "" {
		c.Title, text = strings.TrimSpace(title), rest
	}
	var others strings.Builder
	var open fence
	for line := range strings.Lines(text) {
		was := open
		open = open.after(line)
		if was != "" || open != "" || !c.takeLine(line) {
			others.WriteString(line)
		}
	}
	c.Preamble = trimBlank(others.String())
}

// takeLine reads a line such as **Task:** Mutation testing.
func (c *Checkpoint) takeLine(line string) bool {
	name, ok := strings.CutPrefix(strings.TrimSpace(line), "**")
	if !ok {
		return false
	}
	name, value, ok := strings.Cut(name, "**")
	if !ok {
		return false
	}
	value, after := strings.CutPrefix(value, ":") // **Task**: is as good
	name, inside := strings.CutSuffix(name, ":")
	value = strings.TrimSpace(value)
	if after == inside || value == "" {
		return false
	}
	for known, field := range map[string]*string{"timestamp": &c.Timestamp, "task": &c.Task, "agent": &c.Agent} {
		if strings.EqualFold(strings.TrimSpace(name), known) && *field == "" {
			*field = value
			return true
		}
	}
	return false
}

// takeSection reads a section of the document.
func (c *Checkpoint) takeSection(s Section) bool {
	if strings.EqualFold(s.Title, filesHeading) && len(c.FileList) == 0 {
		c.FileList = listItems(s.Text)
		return len(c.FileList) > 0
	}
	for known, field := range map[string]*string{
		progressHeading: &c.Progress, nextHeading: &c.NextAction, decisionHeading: &c.Decision, contextHeading: &c.Context,
	} {
		if strings.EqualFold(s.Title, known) && *field == "" && s.Text != "" {
			*field = s.Text
			return true
		}
	}
	return false
}

// listItems returns the items of a text that is a list and nothing else; nil of any other, and of one without end.
func listItems(text string) []string {
	if strings.Count(text, "\n") >= files.MaxMembers {
		return nil
	}
	var items []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		item, dash := strings.CutPrefix(line, "- ")
		if !dash {
			var star bool
			if item, star = strings.CutPrefix(line, "* "); !star {
				return nil
			}
		}
		items = append(items, strings.TrimSpace(item))
	}
	return items
}

// trimBlank takes the blank lines off both ends of a text; the first line that is left keeps its indentation.
func trimBlank(text string) string {
	for {
		line, rest, more := strings.Cut(text, "\n")
		if !more || strings.TrimSpace(line) != "" {
			break
		}
		text = rest
	}
	for {
		start := strings.LastIndexByte(text, '\n') + 1
		if strings.TrimSpace(text[start:]) != "" {
			return text
		}
		text = text[:max(0, start-1)]
		if start == 0 {
			return ""
		}
	}
}

// A fence is the run of backticks or tildes that opened a code block; "" outside of one. CommonMark, "Fenced code
// blocks".
type fence string

// after returns the fence that is open after a line.
func (f fence) after(line string) fence {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 {
		return f
	}
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(text, mark)
		run := text[:len(text)-len(rest)]
		switch {
		case len(run) < 3:
		case f == "":
			if mark == "~" || !strings.Contains(rest, "`") {
				return fence(run)
			}
		case strings.HasPrefix(run, string(f)) && strings.TrimSpace(rest) == "":
			return ""
		}
	}
	return f
}

func (c *Checkpoint) encodeMarkdown() []byte {
	var b strings.Builder
	part := func(text string) {
		if text == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(text + "\n")
	}
	section := func(title, text string) {
		if text != "" {
			part("## " + title)
			part(text)
		}
	}
	if c.Title != "" {
		part("# " + c.Title)
	}
	var lines []string
	for _, l := range [][2]string{{"Timestamp", c.Timestamp}, {"Task", c.Task}, {"Agent", c.Agent}} {
		if l[1] != "" {
			lines = append(lines, "**"+l[0]+":** "+l[1])
		}
	}
	part(strings.Join(lines, "\n"))
	part(c.Preamble)
	section(progressHeading, c.Progress)
	if len(c.FileList) > 0 {
		section(filesHeading, "- "+strings.Join(c.FileList, "\n- "))
	}
	section(nextHeading, c.NextAction)
	section(decisionHeading, c.Decision)
	section(contextHeading, c.Context)
	for _, s := range c.Sections {
		part("## " + s.Title)
		part(s.Text)
	}
	return []byte(b.String())
}

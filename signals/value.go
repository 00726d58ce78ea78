package signals

import (
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// value reads the value that begins with rest on the current line, below a name (or a dash, for an item) in this
// column, and takes all of its lines. It returns YAML on one line; nothing if there is no value or if it is a list
// or map in the lines that follow. A short value has no second line.
func (r *repairer) value(rest string, column int, short, item bool) string {
	rest = strings.TrimSpace(rest)
	switch {
	case rest == "":
		return r.below(column, short, item)
	case isComment(rest) && r.structured(column):
		r.at++
		return ""
	case isHeader(rest):
		return r.literal(rest, column)
	case rest[0] == '"' || rest[0] == '\'':
		return r.quoted(rest, column, short, item)
	case rest[0] == '[' || rest[0] == '{':
		return r.flow(rest, column, short, item)
	}
	return r.plain(rest, column, short, item)
}

// structured reports whether a list or a map stands below a name in this column.
func (r *repairer) structured(column int) bool {
	for _, line := range r.lines[r.at+1:] {
		at, text := indented(line)
		if text == "" || isComment(text) {
			continue
		}
		_, _, dash := r.dash(text)
		_, _, key := r.key(at, text)
		return dash && at >= column || key && at > column
	}
	return false
}

// below reads a value that begins on a line of its own.
func (r *repairer) below(column int, short, item bool) string {
	next := r.at + 1
	for next < len(r.lines) {
		_, text := indented(r.lines[next])
		if text != "" && !isComment(text) && !isFence(text) {
			break
		}
		next++
	}
	if next == len(r.lines) || short {
		r.at++
		return ""
	}
	at, text := indented(r.lines[next])
	_, _, dash := r.dash(text)
	_, _, key := r.key(at, text)
	if dash || key || at <= column && (next > r.at+1 || item) {
		r.at++
		return ""
	}
	r.at = next
	return r.value(text, column, short, item)
}

// plain reads a value without quotes. All that is deeper belongs to it, and lines that can be nothing else.
func (r *repairer) plain(text string, column int, short, item bool) string {
	r.at++
	if short || r.at == len(r.lines) {
		return scalar(text)
	}
	var b strings.Builder
	b.WriteString(text)
	listed := isListed(text)
	for r.at < len(r.lines) {
		next := r.at
		for next < len(r.lines) && strings.TrimSpace(r.lines[next]) == "" {
			next++
		}
		if next == len(r.lines) {
			break
		}
		at, text := indented(r.lines[next])
		if !r.continues(at, text, column, next > r.at, item) {
			break
		}
		wasListed := listed
		listed = isListed(text)
		switch {
		case next > r.at:
			b.WriteString("\n\n")
		case listed || wasListed:
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(text)
		r.at = next + 1
	}
	return scalar(b.String())
}

// continues reports whether a line goes on with a plain value below a name in this column.
func (r *repairer) continues(at int, text string, column int, afterBlank, item bool) bool {
	name, _, key := r.key(at, text)
	_, _, dash := r.dash(text)
	_, bulleted := r.bulletedField(at, text)
	switch {
	case key && (r.known(name) || item && at > column && r.inOptions()) || bulleted:
		return false
	case at > column:
		return true
	case key || isComment(text) || isFence(text):
		return false
	case dash:
		return at == column && !item && !r.inQuestions
	case text == "---" || text == "...":
		return false
	}
	return !item && (r.closed || !afterBlank)
}

// isListed reports whether a line of text is meant to stand by itself.
func isListed(text string) bool {
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "✓ ", "✗ ", "✅ ", "❌ ", "[", "|"} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	rest := strings.TrimLeft(text, "0123456789")
	return rest != text && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))
}

// isHeader reports whether a value announces a block of text: | or >, with its indicators.
func isHeader(s string) bool {
	if s[0] != '|' && s[0] != '>' {
		return false
	}
	rest := strings.TrimLeft(s[1:], "+-0123456789")
	return len(s)-len(rest) <= 3 && (rest == "" || isComment(strings.TrimSpace(rest)) && rest[0] == ' ')
}

// literal reads a block of text. Its indentation is that of its leftmost line; a block that is not indented at all
// ends at the next field that the document names.
func (r *repairer) literal(header string, column int) string {
	r.at++
	start, end := r.at, r.at
	loose := false // the text is not deeper than its name
	least := -1
	for i := start; i < len(r.lines); i++ {
		at, text := indented(r.lines[i])
		if text == "" {
			continue
		}
		if at <= column {
			if r.endsLiteral(i, at, text, end == start || loose) {
				break
			}
			loose = loose || end == start
		}
		if least < 0 || at < least {
			least = at
		}
		end = i + 1
	}
	text := make([]string, 0, end-start)
	for _, line := range r.lines[start:end] {
		text = append(text, dedent(line, least))
	}
	r.at = end
	if header[0] == '>' {
		return strconv.Quote(fold(text))
	}
	return strconv.Quote(strings.Join(text, "\n"))
}

// endsLiteral reports whether a line that is not deeper than the name above a block of text comes after the block.
func (r *repairer) endsLiteral(i, at int, text string, loose bool) bool {
	name, _, key := r.key(at, text)
	_, _, dash := r.dash(text)
	switch {
	case key && (r.known(name) || strings.Contains(name, "_")), dash && r.inQuestions:
		return true
	case !r.closed && i > 0 && strings.TrimSpace(r.lines[i-1]) == "":
		return true
	}
	return (key || dash) && !loose
}

// dedent takes the indentation of n columns off a line.
func dedent(line string, n int) string {
	column := 0
	for i, c := range line {
		if column >= n {
			return strings.Repeat(" ", column-n) + strings.TrimRight(line[i:], " \t")
		}
		if c == '\t' {
			column += 4 - column%4
		} else {
			column++
		}
	}
	return ""
}

// fold joins the lines of a paragraph, as > asks for. Deeper lines stay as they are.
func fold(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			prev := lines[i-1]
			if line == "" || prev == "" || line[0] == ' ' || prev[0] == ' ' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// quoted reads a value that begins with a quote. If the quotes do not hold the whole value they are text.
func (r *repairer) quoted(rest string, column int, short, item bool) string {
	quote := rest[0]
	text, at := rest[1:], r.at
	var b strings.Builder
	b.WriteByte(quote)
	for {
		if end := closingQuote(text, quote); end >= 0 {
			tail := strings.TrimSpace(text[end+1:])
			b.WriteString(text[:end+1])
			if tail != "" && !isComment(tail) {
				return r.plain(rest, column, short, item)
			}
			break
		}
		b.WriteString(text)
		at++
		if at == len(r.lines) || short || b.Len() > maxFlow {
			return r.plain(rest[1:], column, short, item)
		}
		in, line := indented(r.lines[at])
		name, _, key := r.key(in, line)
		_, _, dash := r.dash(line)
		if key && (in <= column || r.known(name)) || dash && in <= column {
			return r.plain(rest[1:], column, short, item)
		}
		text = line
		b.WriteString("\n ")
	}
	r.at = at
	n, err := loadYAML(b.String(), 1)
	if err != nil || n.Kind != yaml.ScalarNode {
		// Not an escape that YAML knows, as in "C:\dir": the text between the quotes is meant.
		plain := b.String()[1 : b.Len()-1]
		r.at++
		return strconv.Quote(strings.Join(strings.Fields(plain), " "))
	}
	r.at++
	return strconv.Quote(n.Value)
}

// closingQuote finds the end of a quoted text, whose opening quote is not passed; -1 if it is not there.
func closingQuote(s string, quote byte) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case s[i] == quote && quote == '\'' && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i
		}
	}
	return -1
}

// flow reads a list or map in brackets or braces. What the library cannot read as such is text, and so is a single
// text in brackets: [what was finished].
func (r *repairer) flow(rest string, column int, short, item bool) string {
	var b strings.Builder
	var depth int
	var quote byte
	at, text := r.at, rest
	for {
		b.WriteString(text)
		for i := 0; i < len(text); i++ {
			switch c := text[i]; {
			case quote == '"' && c == '\\':
				i++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"', c == '\'' && (i == 0 || strings.IndexByte(" [{,:", text[i-1]) >= 0):
				quote = c
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				depth--
			}
		}
		if depth <= 0 {
			break
		}
		at++
		if at == len(r.lines) || short || b.Len() > maxFlow {
			return r.plain(rest, column, short, item)
		}
		in, line := indented(r.lines[at])
		if in <= column && line != "" {
			name, _, key := r.key(in, line)
			_, _, dash := r.dash(line)
			if dash || key && (r.known(name) || line[0] != '"') {
				return r.plain(rest, column, short, item)
			}
		}
		text = line
		b.WriteByte(' ')
	}
	whole := strings.TrimSuffix(b.String(), ",")
	n := flowNode(whole)
	if n == nil || strings.Contains(whole, " #") || isPlaceholder(n) {
		return r.plain(rest, column, short, item)
	}
	r.at = at + 1
	return whole
}

// flowNode reads a list or map as it can stand behind a name; nil if the text is none.
func flowNode(text string) *yaml.Node {
	root, err := loadYAML("name: "+text, maxFlowDepth)
	if err != nil || root.Kind != yaml.MappingNode || len(root.Content) != 2 {
		return nil
	}
	if n := root.Content[1]; n.Kind == yaml.SequenceNode || n.Kind == yaml.MappingNode {
		return n
	}
	return nil
}

// isPlaceholder reports whether brackets or braces hold one plain text that names no file, or one name without a
// value. An alias is none of YAML's either: agents write *.go and **bold**.
func isPlaceholder(n *yaml.Node) bool {
	if n.Kind == yaml.MappingNode {
		return len(n.Content) == 2 && n.Content[1].Tag == "!!null"
	}
	if len(n.Content) != 1 {
		return slices.ContainsFunc(n.Content, func(e *yaml.Node) bool { return e.Kind == yaml.AliasNode })
	}
	only := n.Content[0]
	return only.Kind == yaml.AliasNode || only.Kind == yaml.ScalarNode && only.Style == 0 &&
		(strings.Contains(only.Value, " ") || !strings.ContainsAny(only.Value, "./0123456789"))
}

package signals

import "strings"

// This file answers one question about a shell command: which lines does it print itself? Only echo, printf and cat
// with a here-document do, and only where their output goes nowhere else: not into a pipe, a file, a variable or an
// interpreter. What cannot be understood prints nothing.

// printedBy returns the lines that the command prints itself, as far as they can be read off it.
func printedBy(command string) []string {
	p := &shell{src: command, ended: -1}
	p.parse()
	var lines []string
	size := 0
	for _, c := range p.commands {
		if c.hidden || size > MaxBlock {
			continue
		}
		text := c.prints()
		size += len(text)
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, cleanLine(line))
		}
	}
	return lines
}

// A simple command: its words without their quotes, and what is fed to it.
type simple struct {
	words  []string
	input  string // of here-documents and here-strings
	hidden bool   // its output goes elsewhere
}

// A shell reads as much of the POSIX shell's language (XCU 2) as is needed to tell where output goes.
type shell struct {
	src      string
	at       int
	commands []*simple // in the order in which they begin
	current  *simple   // nil between two commands
	groups   []group   // compound commands that are open
	ended    int       // number of the first command of the compound that just ended, else -1
	waiting  []hereDoc // whose text comes after this line
	muted    bool      // exec sends all later output elsewhere
}

type group struct {
	first int // number of its first command
	paren bool
}

type hereDoc struct {
	of        *simple
	delimiter string
	tabs      bool // <<- takes the tabs off
}

func (p *shell) parse() {
	for p.at < len(p.src) {
		switch c := p.src[p.at]; c {
		case ' ', '\t', '\r':
			p.at++
		case '\\':
			if strings.HasPrefix(p.src[p.at:], "\\\n") {
				p.at += 2
			} else {
				p.word()
			}
		case '\n':
			p.at++
			p.end()
			p.readHereDocs()
		case '#':
			p.at += len(line(p.src[p.at:]))
		case ';':
			p.at++
			p.end()
		case '|':
			p.at++
			if !p.skip('|') {
				p.skip('&')
				p.hide()
			}
			p.end()
		case '&':
			p.at++
			if p.skip('>') {
				p.skip('>')
				p.target("")
			} else {
				p.skip('&')
				p.end()
			}
		case '(':
			p.at++
			if p.current == nil {
				p.groups = append(p.groups, group{len(p.commands), true})
			}
		case ')':
			p.at++
			p.end()
			p.close(true)
		case '<':
			p.input()
		case '>':
			p.output("")
		default:
			p.word()
		}
	}
	p.end()
}

// skip takes the next byte if it is c.
func (p *shell) skip(c byte) bool {
	if p.at < len(p.src) && p.src[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *shell) end() {
	if c := p.current; c != nil && len(c.words) == 1 && c.words[0] == "exec" && c.hidden {
		p.muted = true
	}
	p.current, p.ended = nil, -1
}

// close ends the innermost compound command; a redirection or a pipe that follows is for all of it.
func (p *shell) close(paren bool) {
	if n := len(p.groups); n > 0 && p.groups[n-1].paren == paren {
		p.ended = p.groups[n-1].first
		p.groups = p.groups[:n-1]
	}
}

// hide notes that the output of the command at hand goes elsewhere.
func (p *shell) hide() {
	switch {
	case p.ended >= 0:
		for _, c := range p.commands[p.ended:] {
			c.hidden = true
		}
	case p.current != nil:
		p.current.hidden = true
	}
}

func (p *shell) command() *simple {
	if p.current == nil {
		p.current = &simple{hidden: p.muted}
		p.commands = append(p.commands, p.current)
	}
	return p.current
}

// word takes a word: of a command, or one that the shell reserves where a command begins.
func (p *shell) word() {
	if p.ended >= 0 {
		p.end()
	}
	start := p.at
	w := p.readWord()
	if p.at == start {
		p.at++ // a byte that begins nothing
		return
	}
	bare := p.src[start:p.at] == w
	if bare && p.at < len(p.src) && p.src[p.at] == '>' && strings.Trim(w, "0123456789") == "" {
		p.output(w)
		return
	}
	if bare && p.current == nil {
		switch w {
		case "then", "else", "elif", "do", "!", "time":
			return
		case "{", "if", "while", "until", "for", "case", "select":
			p.groups = append(p.groups, group{len(p.commands), false})
			return
		case "}", "fi", "done", "esac":
			p.close(false)
			return
		}
	}
	c := p.command()
	c.words = append(c.words, w)
}

// input takes a redirection of the input.
func (p *shell) input() {
	switch rest := p.src[p.at:]; {
	case strings.HasPrefix(rest, "<<<"):
		p.at += 3
		c := p.command()
		c.input += p.argument() + "\n"
	case strings.HasPrefix(rest, "<<"):
		p.at += 2
		tabs := p.skip('-')
		c := p.command()
		p.waiting = append(p.waiting, hereDoc{c, p.argument(), tabs})
	case strings.HasPrefix(rest, "<("):
		p.at++
		p.skipParens()
	default:
		p.at++
		p.skip('&')
		p.argument()
	}
}

// output takes a redirection of the output whose file descriptor was given, or not.
func (p *shell) output(fd string) {
	p.at++
	if p.skip('(') {
		p.at--
		p.skipParens()
		p.hide()
		return
	}
	if !p.skip('>') {
		p.skip('|')
	}
	if p.skip('&') {
		if to := p.argument(); to == "1" || to == "2" {
			return // what goes to the error output is in the result too
		}
		p.hide()
		return
	}
	p.target(fd)
}

// target takes the name of the file to which output goes.
func (p *shell) target(fd string) {
	switch to := p.argument(); {
	case fd != "" && fd != "1", to == "/dev/stdout", to == "/dev/stderr":
	default:
		if p.ended < 0 {
			p.command()
		}
		p.hide()
	}
}

func (p *shell) argument() string {
	for p.skip(' ') || p.skip('\t') {
	}
	return p.readWord()
}

func line(s string) string {
	l, _, _ := strings.Cut(s, "\n")
	return l
}

func (p *shell) readHereDocs() {
	for _, doc := range p.waiting {
		var b strings.Builder
		for p.at < len(p.src) {
			l := line(p.src[p.at:])
			p.at = min(p.at+len(l)+1, len(p.src))
			if doc.tabs {
				l = strings.TrimLeft(l, "\t")
			}
			if l == doc.delimiter {
				break
			}
			b.WriteString(l + "\n")
		}
		doc.of.input += b.String()
	}
	p.waiting = nil
}

// prints is what the command writes to its output, as far as its words tell.
func (c *simple) prints() string {
	words := c.words
	for len(words) > 0 && (words[0] == "command" || words[0] == "builtin" || isAssignment(words[0])) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	args := words[1:]
	switch words[0] {
	case "echo":
		for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
			args = args[1:]
		}
		return escapes.Replace(strings.Join(args, " "))
	case "printf":
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		if len(args) > 0 && args[0] != "-v" {
			return formatted(args[0], args[1:])
		}
	case "cat":
		if len(args) == 0 || len(args) == 1 && args[0] == "-" {
			return c.input
		}
	}
	return ""
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// escapes are the sequences of echo -e and printf that matter here: new lines, and what colours a text.
var escapes = strings.NewReplacer(
	`\n`, "\n", `\t`, "\t", `\033`, "\x1b", `\0033`, "\x1b", `\x1b`, "\x1b", `\x1B`, "\x1b", `\e`, "\x1b", `\E`, "\x1b",
)

// formatted does what printf does with %s and %b; the format is used again as long as there are arguments, within
// bounds.
func formatted(format string, args []string) string {
	format = escapes.Replace(format)
	var b strings.Builder
	for {
		before := len(args)
		for i := 0; i < len(format); i++ {
			if format[i] != '%' || i+1 == len(format) {
				b.WriteByte(format[i])
				continue
			}
			i++
			switch {
			case format[i] == '%':
				b.WriteByte('%')
			case len(args) > 0:
				b.WriteString(escapes.Replace(args[0]))
				args = args[1:]
			}
		}
		if len(args) == 0 || len(args) == before || b.Len() > MaxBlock {
			return b.String()
		}
	}
}

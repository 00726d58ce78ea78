package signals

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// This file answers one question about a shell command: which lines does it surely print itself? Only echo, printf and
// cat with a here-document do, and only where their output goes nowhere else: not into a pipe, a file, a variable or an
// interpreter. What they print counts if nothing else prints what cannot be read off it, or only where the echo runs,
// too: else a line may have come from a file that is shown, and the echo may never have run.
//
// What runs together is a branch: the commands of a list, up to one that may leave the shell. What is conditional is a
// branch of its own in that, and so is what comes after a command that may leave. After && it is the same branch if the
// whole command has succeeded and ends there; and a command that has succeeded has not left by exit 1.
//
// Two things are taken on trust: that a variable beside other text holds no line of its own, and that programs begin
// what they complain about with their name.

// maxCommand bounds a command that is read, in bytes, and maxNested how deep: the parser takes up to 4 KiB of stack for
// a step, and time that grows with the square of the depth.
const (
	maxCommand = 64 << 10
	maxNested  = 300
)

// tooDeep reports whether a command may go deeper than maxNested. It counts what begins and ends something wherever
// that stands.
func tooDeep(command string) bool {
	depth, opens := 0, false
	for i := range len(command) {
		switch command[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
		opens = opens || depth > maxNested
	}
	depth = 0
	for word := range strings.FieldsSeq(command) {
		switch strings.Trim(word, ";") {
		case "if", "while", "until", "for", "case", "select":
			depth++
		case "fi", "done", "esac":
			depth = max(depth-1, 0)
		}
		opens = opens || depth > maxNested
	}
	return opens
}

// printedBy returns the lines that the command prints itself, as far as they can be read off it. failed says that it
// has ended with an error.
func printedBy(command string, failed bool) []string {
	if len(command) > maxCommand || tooDeep(command) || strings.ContainsAny(command, holeBegins+holeEnds) {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	s := shell{src: command, failed: failed, functions: map[string]*syntax.Stmt{}}
	s.list(file.Stmts, place{branch: new(branch), succeeds: !failed})
	var lines []string
	size := 0
	around := s.aroundUnknown()
	for _, p := range s.prints {
		if size > MaxBlock || around != nil && !around[p.branch] {
			continue
		}
		size += len(p.text)
		for line := range strings.SplitSeq(withoutHoles(p.text), "\n") {
			lines = append(lines, cleanLine(line))
		}
	}
	return lines
}

// aroundUnknown returns the branches that all lie in which something prints what cannot be read off it; nil if nothing
// does.
func (s *shell) aroundUnknown() map[*branch]bool {
	var common *branch
	for _, p := range s.prints {
		switch b := p.branch; {
		case !p.unknown:
		case common == nil:
			common = b
		default:
			for common != b {
				if common.depth >= b.depth {
					common = common.in
				} else {
					b = b.in
				}
			}
		}
	}
	if common == nil {
		return nil
	}
	around := map[*branch]bool{}
	for b := common; b != nil; b = b.in {
		around[b] = true
	}
	return around
}

// A branch is commands that run together, or not.
type branch struct {
	in    *branch // nil: the command itself
	depth int
}

func (b *branch) root() *branch {
	for b.in != nil {
		b = b.in
	}
	return b
}

// A print is what one command prints where the person of the call sees it.
type print struct {
	text    string // with holes
	branch  *branch
	unknown bool // it prints more than can be read off it
}

// A place is where a command stands.
type place struct {
	branch   *branch
	succeeds bool // the whole command has ended as this has, which was well
	hidden   bool // its output goes elsewhere
	piped    bool // its input is the output of another one
	input    string
	fed      bool // by a here-document or -string: input
}

// maybe is a place that may not be reached.
func (p place) maybe() place {
	p.branch = &branch{p.branch, p.branch.depth + 1}
	return p.inner()
}

// inner is a place whose end is not that of the whole.
func (p place) inner() place { p.succeeds = false; return p }

type shell struct {
	src       string
	failed    bool
	functions map[string]*syntax.Stmt
	calling   []string // functions that are being read
	muted     bool     // exec sends all later output elsewhere
	strict    bool     // set may have made any command that fails leave, and one has
	prints    []print
}

// maxPrints bounds what is remembered of a command that prints without end, and maxNesting how deep functions call each
// other.
const (
	maxPrints  = 2000
	maxNesting = 8
)

func (s *shell) add(p print) {
	if len(s.prints) < maxPrints {
		s.prints = append(s.prints, p)
	} else {
		s.prints[maxPrints-1] = print{branch: s.prints[0].branch.root(), unknown: true}
	}
}

// list reads commands that run one after the other, and reports whether the shell stays for what follows.
func (s *shell) list(stmts []*syntax.Stmt, at place) (stays bool) {
	stays = true
	for i, stmt := range stmts {
		here := at
		here.succeeds = at.succeeds && i == len(stmts)-1
		if !s.stmt(stmt, here) || s.strict {
			stays = false
			succeeds := at.succeeds
			at = at.maybe()
			at.succeeds = succeeds
		}
	}
	return stays
}

func (s *shell) stmt(stmt *syntax.Stmt, at place) (stays bool) {
	at = s.redirected(stmt.Redirs, at)
	at.hidden = at.hidden || s.muted
	if stmt.Background || stmt.Coprocess || stmt.Disown {
		at = at.maybe()
	}
	if stmt.Negated {
		at = at.inner()
	}
	switch c := stmt.Cmd.(type) {
	case nil, *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		return true
	case *syntax.CallExpr:
		return s.call(c, at)
	case *syntax.BinaryCmd:
		return s.binary(c, at)
	case *syntax.Block:
		return s.list(c.Stmts, at)
	case *syntax.Subshell:
		muted := s.muted
		s.list(c.Stmts, at)
		s.muted = muted
		return true
	case *syntax.IfClause:
		stays = true
		for ; c != nil; c = c.Else {
			stays = s.list(c.Cond, at.inner()) && stays
			stays = s.list(c.Then, at.maybe()) && stays
			at = at.maybe()
		}
		return stays
	case *syntax.WhileClause:
		stays = s.list(c.Cond, at.inner())
		return s.list(c.Do, at.maybe()) && stays
	case *syntax.ForClause:
		return s.list(c.Do, at.maybe())
	case *syntax.CaseClause:
		stays = true
		for _, item := range c.Items {
			stays = s.list(item.Stmts, at.maybe()) && stays
		}
		return stays
	case *syntax.FuncDecl:
		if c.Name == nil { // "()0" is one of these to the parser, and an error of the shell
			break
		}
		s.functions[c.Name.Value] = c.Body
		return true
	case *syntax.DeclClause:
		if !at.hidden && (len(c.Args) == 0 ||
			slices.ContainsFunc(c.Args, func(a *syntax.Assign) bool { return a.Naked && a.Name == nil })) {
			s.add(print{branch: at.branch, unknown: true}) // it lists variables
		}
		return true
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return true
		}
		return s.stmt(c.Stmt, at)
	}
	if !at.hidden {
		s.add(print{branch: at.branch, unknown: true})
	}
	return false
}

func (s *shell) binary(c *syntax.BinaryCmd, at place) (stays bool) {
	x, y := at, at
	switch c.Op {
	case syntax.AndStmt:
		if !at.succeeds {
			y = at.maybe()
		}
	case syntax.OrStmt:
		x, y = at.inner(), at.maybe()
	default: // a pipe, whose commands are shells of their own
		x = at.inner()
		x.hidden = true
		y.piped, y.fed = true, false
		muted := s.muted
		s.stmt(c.X, x)
		s.muted = muted
		s.stmt(c.Y, y)
		s.muted = muted
		return true
	}
	stays = s.stmt(c.X, x)
	return s.stmt(c.Y, y) && stays
}

// redirected is the place of a command behind its redirections.
func (s *shell) redirected(redirs []*syntax.Redirect, at place) place {
	seen := map[string]bool{"1": !at.hidden, "2": true} // whether what is written there is in the result
	for _, r := range redirs {
		to, fd := "", "1"
		if r.Word != nil {
			to = withoutHoles(s.text(r.Word))
		}
		if r.N != nil {
			fd = r.N.Value
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			at.fed, at.piped, at.input = true, false, s.hereDoc(r)
		case syntax.WordHdoc:
			at.fed, at.piped, at.input = true, false, s.text(r.Word)+"\n"
		case syntax.RdrIn, syntax.DplIn:
			at.fed, at.piped = false, true
		case syntax.RdrAll, syntax.AppAll:
			seen["1"], seen["2"] = false, false
		case syntax.DplOut:
			seen[fd] = seen[to]
		default:
			seen[fd] = to == "/dev/stdout" && seen["1"] || to == "/dev/stderr" && seen["2"]
		}
	}
	at.hidden = !seen["1"]
	return at
}

// hereDoc is the text of a here-document.
func (s *shell) hereDoc(r *syntax.Redirect) string {
	if r.Hdoc == nil {
		return ""
	}
	quoted := slices.ContainsFunc(r.Word.Parts, func(p syntax.WordPart) bool { _, lit := p.(*syntax.Lit); return !lit }) ||
		strings.Contains(r.Word.Lit(), `\`)
	var text string
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		switch {
		case ok && quoted:
			text += lit.Value
		case ok:
			text += unescaped(lit.Value, "\\$`")
		default:
			text += s.part(part)
		}
	}
	if r.Op == syntax.DashHdoc {
		text = strings.TrimLeft(strings.ReplaceAll(text, "\n\t", "\n"), "\t")
	}
	return text
}

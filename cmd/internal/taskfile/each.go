package taskfile

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// An Each says what the tasks of a pool are about, one each: the files of a pattern, or the lines of a file. One of the
// two is "".
type Each struct {
	Files string // a pattern below the run's folder, in which ** stands for any number of folders
	Lines string // a file below the run's folder; - is stdin
}

// each reads what a pool is about.
func (r *reader) each(name string, n *yaml.Node) *Each {
	var e Each
	before := len(r.Problems)
	readKeys(r, name, n, []key[Each]{
		{"files", func(r *reader, name string, v *yaml.Node, e *Each) { e.Files = r.Line(name, v) }},
		{"lines", func(r *reader, name string, v *yaml.Node, e *Each) { e.Lines = r.Line(name, v) }},
	}, &e)
	if len(r.Problems) == before && (e.Files == "") == (e.Lines == "") {
		r.Problem(n, "each takes one of files: PATTERN and lines: FILE; a command is given by the person, with --each")
	}
	return &e
}

// whole looks whether what the keys say goes together.
func (r *reader) whole(doc *yaml.Node, f File) {
	if len(r.Problems) == 0 && len(f.Children) > 0 && (f.Each != nil || f.Template != nil) {
		r.Problem(doc, "it states both children and a pool (each, child): give one of the two")
	}
}

// What stands in the texts of a pool's tasks for what each is about.
const (
	itemHere  = "{item}"
	indexHere = "{index}" // its place, from 1
)

// Names reports whether any text of the task says what it is about.
func (t Task) Names() bool {
	texts := slices.Concat([]string{t.Prompt, t.Brief.Context}, t.Brief.Goals, t.Brief.SuccessCriteria,
		t.Brief.Deliverables)
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, itemHere) })
}

// about returns the task of a pool that is about an item, the one at a place from 1. Where a text has to be one line
// the item stands in it as Title writes it. An item is put in as it is: what it holds stands for nothing else.
func (t Task) about(item string, place int) Task {
	index := strconv.Itoa(place)
	whole := strings.NewReplacer(itemHere, item, indexHere, index)
	line := strings.NewReplacer(itemHere, inLine(item), indexHere, index)
	if t.Name = line.Replace(t.Name); t.Name == "" {
		t.Name = Title(item)
	}
	t.Prompt, t.Brief.Context = whole.Replace(t.Prompt), whole.Replace(t.Brief.Context)
	t.Brief.Goals = replaced(whole, t.Brief.Goals)
	t.Brief.SuccessCriteria = replaced(whole, t.Brief.SuccessCriteria)
	t.Brief.Deliverables = replaced(line, t.Brief.Deliverables)
	return t
}

func replaced(with *strings.Replacer, texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, with.Replace(text))
	}
	return all
}

// maxTitle bounds a title, in characters.
const maxTitle = 60

// Title names an item for people, in one line that no terminal obeys. Of a long one it gives both ends.
func Title(item string) string {
	line := []rune(inLine(item))
	if len(line) > maxTitle {
		line = slices.Concat(line[:maxTitle/2], []rune("…"), line[len(line)-maxTitle/2+1:])
	}
	return string(line)
}

// inLine writes an item in one line, with spaces in the place of what is not printed.
func inLine(item string) string {
	return strings.Join(strings.FieldsFunc(item, func(r rune) bool {
		return r == utf8.RuneError || !unicode.IsPrint(r) || unicode.IsSpace(r)
	}), " ")
}

package task

import (
	"slices"
	"strings"
	"unicode"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/text"
)

// A Deliverable is an entry of a list of deliverables that is looked for on disk.
type Deliverable struct {
	Path string // what it names
	Or   string // of an entry with spaces the other reading: a file of this name will do as well; else ""
}

// Deliverables returns what is looked for of a list of deliverables. An entry without spaces is a path. One with spaces
// is a path, or a path with words beside it, where it begins with what plainly is a file name, and prose where it does
// not. What says that there is nothing, or is an address, is no path.
func Deliverables(list []string) []Deliverable {
	var all []Deliverable
	for _, entry := range list {
		for _, entry := range enumerated(strings.TrimSpace(entry)) {
			d := Deliverable{Path: unmarked(entry)}
			if strings.ContainsFunc(d.Path, unicode.IsSpace) {
				first, _, _ := strings.Cut(entry, " ")
				first = unmarked(first)
				if !plainPath(first) {
					continue
				}
				if d.Or = first; !spacedPath(d.Path) {
					d = Deliverable{Path: first, Or: d.Path}
				}
			}
			if d.Path != "" && !isKind(d.Path) && !strings.Contains(d.Path, "//") && !nothing().MatchString(d.Path) {
				all = append(all, d)
			}
		}
	}
	return all
}

// enumerated takes an entry apart that is nothing but paths and commas.
func enumerated(entry string) []string {
	parts := strings.Split(strings.TrimSuffix(entry, ","), ",")
	for i, part := range parts {
		if parts[i] = strings.TrimSpace(part); parts[i] == "" || strings.ContainsFunc(parts[i], unicode.IsSpace) {
			return []string{entry}
		}
	}
	return parts
}

// unmarked takes off a path what is written around it: quotes, bold, a link, the number of a line, the end of a
// sentence. A single word that announces what stands below it is none.
func unmarked(path string) string {
	if m := link().FindStringSubmatch(path); m != nil {
		path = m[1]
	}
	const quotes = "`'\""
	path, announces := strings.CutSuffix(strings.TrimRight(path, ".,;"), ":")
	if path = strings.Trim(path, quotes); len(path) > 4 && strings.HasPrefix(path, "**") && strings.HasSuffix(path, "**") {
		path = strings.Trim(path[2:len(path)-2], quotes)
	}
	if announces && !plainPath(path) {
		return ""
	}
	return lineNumber().ReplaceAllString(path, "")
}

// plainPath reports whether a word can hardly be anything but the path of a file.
func plainPath(word string) bool {
	return fileName().MatchString(word) && !strings.Contains(word, "//") && !isKind(word) &&
		(strings.Contains(word, "/") || suffix().MatchString(word))
}

// isKind tells ".ts", which names a kind of files, from the name of one.
func isKind(word string) bool {
	return strings.HasPrefix(word, ".") && strings.Count(word, ".") == 1 && word != ".env" && fileKind().MatchString(word)
}

// maxSpacedWords is how many words the name of a file has that is taken for one.
const maxSpacedWords = 5

// spacedPath reports whether what begins with a path is more likely one path as a whole (docs/final report.pdf) than
// that path with words beside it: the end of a file name is that of its last word.
func spacedPath(entry string) bool {
	words := strings.Fields(entry)
	for i, word := range words {
		if !fileName().MatchString(word) || suffix().MatchString(word) != (i == len(words)-1) {
			return false
		}
	}
	return len(words) <= maxSpacedWords && !strings.HasSuffix(words[0], "/")
}

var (
	link     = text.Lazily(`^\[[^\]]*\]\(([^)\s]+)\)`)
	nothing  = text.Lazily(`^(?i:none|nothing|n/?a|-+|—)$`)
	fileName = text.Lazily(`^[~.\w@+%*/-]+$`)
	suffix   = text.Lazily(`\.[A-Za-z][A-Za-z0-9]{0,9}$|^[A-Z][a-z]+file$`) // Makefile
)

// PathsOf returns what is looked for of a list of deliverables, for who shows it.
func PathsOf(named []Deliverable) []string {
	var paths []string
	for _, d := range named {
		paths = append(paths, d.Path)
	}
	return paths
}

// MaxNamedPaths bounds how many files of a text are looked for.
const MaxNamedPaths = 100

// NamedPaths returns the files and folders that a text plainly names: each may stand anywhere in a line.
func NamedPaths(text string) []string {
	var paths []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return unicode.IsSpace(r) || r == ',' || r == ';'
	}) {
		word = strings.TrimLeft(strings.TrimRight(word, ".:)]>`'\""), "([<`'\"")
		word = lineNumber().ReplaceAllString(strings.Trim(word, "*"), "")
		if plainPath(word) && !isFraction(word) && !slices.Contains(paths, word) && len(paths) < MaxNamedPaths {
			paths = append(paths, word)
		}
	}
	return paths
}

var (
	fraction   = text.Lazily(`^\d+(/\d+)+$`)
	lineNumber = text.Lazily(`(:\d+)+$`)
)

// isFraction tells "47/120" from a path.
func isFraction(word string) bool { return fraction().MatchString(word) }

// ContextFiles returns the files and folders that the context of a task names. Somebody is told which of them are not
// there, so what may just as well be a word (and/or, Node.js, example.com) does not count.
func ContextFiles(text string) []string {
	return slices.DeleteFunc(NamedPaths(text), func(path string) bool {
		first, _, deeper := strings.Cut(path, "/")
		if deeper && strings.Contains(strings.TrimLeft(first, "."), ".") { // a host
			return true
		}
		return !strings.HasSuffix(path, "/") && !fileKind().MatchString(path) || !deeper && framework().MatchString(path)
	})
}

var (
	fileKind = text.Lazily(
		`\.(?i:md|txt|rst|adoc|pdf|jsonl?|ya?ml|toml|xml|html?|css|scss|csv|tsv|log|sql|db|proto|graphql|ini|cfg|conf|` +
			`env|lock|mod|sum|go|py|rb|rs|java|kt|swift|c|cc|cpp|h|hpp|cs|php|pl|lua|sh|bash|` +
			`js|jsx|mjs|cjs|ts|tsx|vue|svelte|ipynb|tf|patch|diff|png|jpe?g|svg)$`)
	framework = text.Lazily(`^[A-Z][a-z]+\.js$`)
)

// PartAt returns a report of a subagent by its number, nil if it is not kept (any more).
func PartAt(a *checkpoints.Agent, n int) *checkpoints.PartReport {
	for i := range a.Parts {
		if a.Parts[i].N == n {
			return &a.Parts[i]
		}
	}
	return nil
}

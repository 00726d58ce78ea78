package supervisor

import (
	"slices"
	"strings"
	"unicode"
)

// files gives the files that a report's deliverables name. Only what plainly is a file name counts, at the beginning of
// an entry: prose and addresses are not looked for.
func files(deliverables []string) []string {
	var named []string
	for _, entry := range deliverables {
		path, _, _ := strings.Cut(strings.TrimSpace(entry), " ")
		path = strings.TrimSuffix(strings.Trim(path, "`'\"*,;"), ":")
		if fileName().MatchString(path) && !strings.Contains(path, "//") &&
			(strings.Contains(path, "/") || suffix().MatchString(path)) {
			named = append(named, path)
		}
	}
	return named
}

var (
	fileName = lazily(`^[~.\w@+%*/-]+$`)
	suffix   = lazily(`\.[A-Za-z][A-Za-z0-9]{0,9}$`)
)

// maxNamedPaths bounds how many files of a text are looked for.
const maxNamedPaths = 100

// namedPaths gives the files and folders that a text plainly names: each may stand anywhere in a line.
func namedPaths(text string) []string {
	var paths []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return unicode.IsSpace(r) || r == ',' || r == ';'
	}) {
		word = strings.TrimLeft(strings.TrimRight(word, ".:)]>`'\""), "([<`'\"")
		if named := files([]string{lineNumber().ReplaceAllString(word, "")}); len(named) == 1 && !isFraction(named[0]) &&
			!slices.Contains(paths, named[0]) && len(paths) < maxNamedPaths {
			paths = append(paths, named[0])
		}
	}
	return paths
}

var (
	fraction   = lazily(`^\d+(/\d+)+$`)
	lineNumber = lazily(`(:\d+)+$`)
)

// isFraction tells "47/120" from a path.
func isFraction(word string) bool { return fraction().MatchString(word) }

// ContextFiles gives the files and folders that the context of a task names. Somebody is told which of them are not
// there, so what may just as well be a word (and/or, Node.js, example.com) does not count.
func ContextFiles(text string) []string {
	return slices.DeleteFunc(namedPaths(text), func(path string) bool {
		first, _, deeper := strings.Cut(path, "/")
		if deeper && strings.Contains(strings.TrimLeft(first, "."), ".") { // a host
			return true
		}
		return !strings.HasSuffix(path, "/") && !fileKind().MatchString(path) || !deeper && framework().MatchString(path)
	})
}

var (
	fileKind = lazily(
		`\.(?i:md|txt|rst|adoc|pdf|jsonl?|ya?ml|toml|xml|html?|css|scss|csv|tsv|log|sql|db|proto|graphql|ini|cfg|conf|` +
			`env|lock|mod|sum|go|py|rb|rs|java|kt|swift|c|cc|cpp|h|hpp|cs|php|pl|lua|sh|bash|` +
			`js|jsx|mjs|cjs|ts|tsx|vue|svelte|ipynb|tf|patch|diff|png|jpe?g|svg)$`)
	framework = lazily(`^[A-Z][a-z]+\.js$`)
)

// Checked says which deliverables of the report are missing.
type Checked struct {
	Agent   string
	Missing []string
}

var _ = kind[Checked]("checked")

func (e Checked) apply(d *transition) error {
	a := d.agent(e.Agent)
	if a.Report == nil {
		return unwelcome("%s has no report", e.Agent)
	}
	report := *a.Report
	report.Checked, report.Missing = true, e.Missing
	a.Report = &report
	return nil
}

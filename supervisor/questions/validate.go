package questions

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"claude-supervise/supervisor/text"
)

var integer = text.Lazily(`^[+-]?[0-9]+$`)

// fits holds the person's own words against the question's rule. A rule that is unknown, or a pattern that is no RE2,
// forbids nothing: else the question could never be answered.
func (q Terms) fits(said string, at Place) error {
	pattern, isPattern := strings.CutPrefix(q.Validate, "regex:")
	switch {
	case isPattern:
		re, err := regexp.Compile(strings.TrimSpace(pattern))
		if err == nil && !re.MatchString(said) {
			return refuse(Invalid, "%s does not match: type %s", Show(said), q.Rule())
		}
	case q.Validate == "choice" && len(q.Options) > 0:
		return refuse(NotOffered, "%s is not one of the options: %s", Show(said), q.possible())
	case q.Validate == "integer" && !integer().MatchString(said):
		return refuse(Invalid, "%s is not a whole number: type %s", Show(said), q.Rule())
	case q.Validate == "yes_no" && said != "yes" && said != "no":
		return refuse(Invalid, "%s is neither yes nor no: type %s", Show(said), q.Rule())
	case q.Validate == "path":
		return checkPath(said, at)
	}
	if s, ok := q.schema(); ok && !s.fits(said) {
		return refuse(Invalid, "%s is not what is asked for: type %s", Show(said), q.Rule())
	}
	return nil
}

// Rule says in words what the question's validate asks for; empty if nothing.
func (q Terms) Rule() string {
	pattern, isPattern := strings.CutPrefix(q.Validate, "regex:")
	switch {
	case isPattern:
		if _, err := regexp.Compile(strings.TrimSpace(pattern)); err != nil {
			return ""
		}
		return "text that matches " + text.CleanLine(pattern, 60)
	case q.Validate == "integer":
		return "a whole number"
	case q.Validate == "yes_no":
		return "yes or no"
	case q.Validate == "path":
		return "a path that exists"
	}
	if s, ok := q.schema(); ok {
		return s.words()
	}
	return ""
}

func yesNo(said string) string {
	switch strings.ToLower(said) {
	case "y", "yes":
		return "yes"
	case "n", "no":
		return "no"
	}
	return said
}

func checkPath(path string, at Place) error {
	dir := cmp.Or(at.Dir, ".")
	whole := path
	if !filepath.IsAbs(path) {
		whole = filepath.Join(dir, path)
	}
	err := at.Stat(whole)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return refuse(Invalid, "there is no %s: type a path that exists (relative to %s)", Show(path), text.CleanLine(dir, 0))
	}
	if cause, is := errors.AsType[*fs.PathError](err); is {
		err = cause.Err
	}
	return refuse(Invalid, "%s cannot be read (%v): type a path that exists", Show(path), err)
}

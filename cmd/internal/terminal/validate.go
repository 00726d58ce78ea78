package terminal

import (
	"claude-supervise/supervisor/text"

	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var integer = text.Lazily(`^[+-]?[0-9]+$`)

// check holds the person's own words against the question's rule. A rule that is unknown, or a pattern that is no RE2,
// forbids nothing: else the question could never be answered.
func (q Question) check(text, dir string) error {
	pattern, isPattern := strings.CutPrefix(q.Validate, "regex:")
	switch {
	case isPattern:
		re, err := regexp.Compile(strings.TrimSpace(pattern))
		if err == nil && !re.MatchString(text) {
			return refuse(Invalid, "%s does not match: type %s", show(text), q.rule())
		}
	case q.Validate == "choice" && len(q.Options) > 0:
		return refuse(NotOffered, "%s is not one of the options: %s", show(text), q.possible())
	case q.Validate == "integer" && !integer().MatchString(text):
		return refuse(Invalid, "%s is not a whole number: type %s", show(text), q.rule())
	case q.Validate == "yes_no" && text != "yes" && text != "no":
		return refuse(Invalid, "%s is neither yes nor no: type %s", show(text), q.rule())
	case q.Validate == "path":
		return checkPath(text, dir)
	}
	if s, ok := q.schema(); ok && !s.fits(text) {
		return refuse(Invalid, "%s is not what is asked for: type %s", show(text), q.rule())
	}
	return nil
}

// rule says in words what the question's validate asks for; empty if nothing.
func (q Question) rule() string {
	pattern, isPattern := strings.CutPrefix(q.Validate, "regex:")
	switch {
	case isPattern:
		if _, err := regexp.Compile(strings.TrimSpace(pattern)); err != nil {
			return ""
		}
		return "text that matches " + CleanLine(pattern, 60)
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

func yesNo(text string) string {
	switch strings.ToLower(text) {
	case "y", "yes":
		return "yes"
	case "n", "no":
		return "no"
	}
	return text
}

func checkPath(path, dir string) error {
	if dir == "" {
		dir = "."
	}
	whole := path
	if !filepath.IsAbs(path) {
		whole = filepath.Join(dir, path)
	}
	_, err := os.Stat(whole)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return refuse(Invalid, "there is no %s: type a path that exists (relative to %s)", show(path), CleanLine(dir, 0))
	}
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return refuse(Invalid, "%s cannot be read (%v): type a path that exists", show(path), err)
}

package examples

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Parse reads one scenario. A key that it does not know, an empty turn, a reply that is two things at once, and a
// placeholder that nothing fills are errors: a scenario that says less than its author thinks proves nothing.
func Parse(data []byte) (Scenario, error) {
	return parse(data, func() ([]byte, error) { return nil, fs.ErrNotExist })
}

// parse is Parse for a scenario that may have its prompt in a task file.
func parse(data []byte, task func() ([]byte, error)) (Scenario, error) {
	var s Scenario
	if err := yaml.Load(data, &s, yaml.WithKnownFields()); err != nil {
		return Scenario{}, plain(err)
	}
	if s.Prompt == "" {
		if err := s.take(task()); err != nil {
			return Scenario{}, err
		}
	}
	if err := s.check(); err != nil {
		return Scenario{}, err
	}
	return s, nil
}

// goWords are those that the reader of YAML puts into its errors for who writes Go.
var (
	goWords = Lazily(`\byaml: (?:construct errors: )?|\bgo-yaml load error in \w+ `)
	goType  = Lazily(` (?:into|in type) (?:\[\]|\*|map\[\w+\])*(?:examples\.)?(\w+)`)
)

// plain says what is wrong with a file without the names of Go's types.
func plain(err error) error {
	return errors.New(goType().ReplaceAllString(goWords().ReplaceAllString(err.Error(), ""), " in ${1}"))
}

// take gives the scenario its task file, if there is one. What else than the prompt stands in it is for `run -f` to
// judge.
func (s *Scenario) take(task []byte, err error) error {
	var head struct {
		Prompt string `yaml:"prompt"`
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read its task: %w", err)
	}
	if err := yaml.Load(task, &head); err != nil {
		return fmt.Errorf("its %s: %w", taskFile, plain(err))
	}
	s.Prompt, s.Task = head.Prompt, task
	return nil
}

// statuses are those that a run can come to, in the words of `ps --json`.
var statuses = []string{
	"parked", "limited", "over_budget", "interrupted", "succeeded", "partial", "failed", "unreported", "stopped",
}

func (s Scenario) check() error {
	switch {
	case s.Name == "":
		return errors.New("it has no name")
	case s.About == "":
		return errors.New("it has no about")
	case s.Prompt == "":
		return errors.New("it has no prompt")
	case len(s.Turns) == 0:
		return errors.New("it has no turns")
	case !slices.Contains(statuses, s.Expect.Status):
		return fmt.Errorf("it expects the status %q, which no run ends with", s.Expect.Status)
	}
	for i, a := range s.Answers {
		if a.Question == "" || a.Answer == "" {
			return fmt.Errorf("answer %d lacks its question or its answer", i+1)
		}
	}
	if err := checkTurns(s.Turns); err != nil {
		return err
	}
	for i, c := range s.Children {
		if c.Task == "" || len(c.Turns) == 0 {
			return fmt.Errorf("child %d lacks its task or its turns", i+1)
		}
		for _, before := range s.Children[:i] {
			if strings.HasPrefix(c.Task, before.Task) {
				return fmt.Errorf("no agent is child %d: its task begins with that of another before it", i+1)
			}
		}
		if err := checkTurns(c.Turns); err != nil {
			return fmt.Errorf("child %d: %w", i+1, err)
		}
	}
	return nil
}

func checkTurns(turns []Turn) error {
	for i, t := range turns {
		if t.When == "" || len(t.Replies) == 0 {
			return fmt.Errorf("turn %d lacks its when or its replies", i+1)
		}
		if t.Launched < 0 || t.Ended < 0 || t.Before < 0 {
			return fmt.Errorf("turn %d wants less than nothing to have happened", i+1)
		}
		if slices.ContainsFunc(turns[:i], func(o Turn) bool {
			return o.When == t.When && o.Launched == t.Launched && o.Ended == t.Ended && o.Before == t.Before
		}) {
			return fmt.Errorf("turn %d never comes: one before it begins with the same", i+1)
		}
		for j, r := range t.Replies {
			if err := r.check(); err != nil {
				return fmt.Errorf("turn %d, reply %d: %w", i+1, j+1, err)
			}
		}
	}
	return nil
}

var placeholder = Lazily(`\{\{(.*?)\}\}`)

func (r Reply) check() error {
	kinds := 0
	for _, is := range []bool{r.Text != "" || len(r.Tools) > 0, r.APIError != nil, r.Crash != 0, r.Hang} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		return errors.New("it must be one of: text with or without tools, api_error, crash, hang")
	}
	if r.APIError != nil && (r.APIError.Status < 400 || r.APIError.Status > 599) {
		return fmt.Errorf("%d is no status of a failure", r.APIError.Status)
	}
	if e := r.APIError; e != nil && (e.Lasts < 0 || (e.Lasts > 0) != strings.Contains(e.Message, resetPlaceholder)) {
		return errors.New("a failure that lasts says until when: " + resetPlaceholder)
	}
	if u := r.Billed(); min(u.Input, u.Output, u.CacheRead, u.CacheWrite) < 0 {
		return errors.New("it is billed for less than nothing")
	}
	if r.Crash < 0 || r.Crash > 255 {
		return fmt.Errorf("%d is no exit status", r.Crash)
	}
	for _, t := range r.Tools {
		if t.Name == "" {
			return errors.New("a tool has no name")
		}
	}
	var unknown error
	r.each(func(text string) string {
		for _, m := range placeholder().FindAllStringSubmatch(text, -1) {
			if name := m[1]; !filledName().MatchString(name) {
				unknown = fmt.Errorf("nothing fills the placeholder {{%s}}", name)
			}
		}
		return text
	})
	return unknown
}

// each returns a copy of the reply with every text in it put through change.
func (r Reply) each(change func(string) string) Reply {
	r.Text = change(r.Text)
	r.Tools = slices.Clone(r.Tools)
	for i, t := range r.Tools {
		if t.Input != nil {
			r.Tools[i].Input = eachValue(t.Input, change).(map[string]any)
		}
	}
	return r
}

func eachValue(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = eachValue(e, change)
		}
		return c
	case map[string]any:
		c := make(map[string]any, len(v))
		for k, e := range v {
			c[k] = eachValue(e, change)
		}
		return c
	}
	return v
}

package examples

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v4"
)

// Parse reads one scenario. A key that it does not know, an empty turn, a reply that is two things at once, and a
// placeholder that nothing fills are errors: a scenario that says less than its author thinks proves nothing.
func Parse(data []byte) (Scenario, error) {
	var s Scenario
	if err := yaml.Load(data, &s, yaml.WithKnownFields()); err != nil {
		return Scenario{}, err
	}
	if err := s.check(); err != nil {
		return Scenario{}, err
	}
	return s, nil
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
	for i, t := range s.Turns {
		if t.When == "" || len(t.Replies) == 0 {
			return fmt.Errorf("turn %d lacks its when or its replies", i+1)
		}
		for j, r := range t.Replies {
			if err := r.check(); err != nil {
				return fmt.Errorf("turn %d, reply %d: %w", i+1, j+1, err)
			}
		}
	}
	return nil
}

var placeholder = regexp.MustCompile(`\{\{(.*?)\}\}`)

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
		for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
			if name := m[1]; name != "agent" && name != "cwd" && !answerName.MatchString(name) {
				unknown = fmt.Errorf("nothing fills the placeholder {{%s}}", name)
			}
		}
		return text
	})
	return unknown
}

// each gives a copy of the reply with every text in it put through change.
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

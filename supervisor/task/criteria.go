package task

import (
	"strings"
	"unicode"

	"claude-supervise/checkpoints"
)

// A Criterion is a success criterion of a task beside what the agent's report says of it.
type Criterion struct {
	Criterion string `json:"criterion"`
	Achieved  string `json:"achieved"` // the lines of metrics_achieved that speak of it; "" if none does
}

// achieved sets each criterion beside the lines of a report's metrics that speak of it, and gives the lines that speak
// of none. A line belongs to the criterion of whose words it holds the most, if that is half of them or more; one that
// is indented deeper than the line before goes with that. It compares words and believes the agent: it proves nothing.
func achieved(criteria []string, metrics string) (beside []Criterion, rest string) {
	beside = make([]Criterion, len(criteria))
	wanted := make([]map[string]bool, len(criteria))
	for i, c := range criteria {
		beside[i].Criterion = c
		wanted[i] = distinctive(c)
	}
	into, depth := &rest, 0
	for line := range strings.Lines(metrics) {
		text := strings.TrimSpace(line)
		if text == "" {
			continue
		}
		if indent := indentation(line); into == &rest || indent <= depth {
			into, depth = &rest, indent
			if best := speaksOf(distinctive(text), wanted); best >= 0 {
				into = &beside[best].Achieved
			}
		}
		if *into != "" {
			*into += "\n"
		}
		*into += text
	}
	return beside, rest
}

// MatchCriteria sets an agent's success criteria beside the metrics of its report, as achieved does; without criteria
// all metrics are what is left.
func MatchCriteria(a *checkpoints.Agent) (beside []Criterion, rest string) {
	metrics := ""
	if a.Report != nil {
		metrics = a.Report.Metrics
	}
	if len(a.SuccessCriteria) == 0 {
		return nil, metrics
	}
	return achieved(a.SuccessCriteria, metrics)
}

// speaksOf returns the criterion of whose words said holds the greatest part, -1 if there is none of which it holds
// half.
func speaksOf(said map[string]bool, wanted []map[string]bool) int {
	best, most := -1, 0.0
	for i, words := range wanted {
		shared := 0
		for w := range words {
			if said[w] {
				shared++
			}
		}
		if part := float64(shared) / float64(max(len(words), 1)); part >= 0.5 && part > most {
			best, most = i, part
		}
	}
	return best
}

func indentation(line string) int {
	return len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace))
}

// distinctive returns the words of a text that tell it from others, in small letters.
func distinctive(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}) {
		if !pointers[w] {
			set[w] = true
		}
	}
	return set
}

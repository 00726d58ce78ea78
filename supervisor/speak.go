package supervisor

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// outbox is what is to be said to an agent whose turn has ended.
var outbox = concern{name: "outbox", live: func(d *transition, of subject) bool {
	if len(of.Outbox) == 0 && !of.GoOn {
		return false
	}
	return d.speak(of, "reads what was said to it")
}}

// speak says to an agent whose turn has ended what waits for it, unless a budget is used up: then its process is ended,
// and the next is told. It always has a say.
func (d *transition) speak(of subject, status string) bool {
	if !d.enforceBudget(of) {
		d.flush(of.Agent, of.launch)
		d.setStatus(of.Agent, checkpoints.Running, status)
	}
	return true
}

// toldAll reports whether an agent without a process has had a turn, and need be told nothing more before it can be
// done.
func (d *transition) toldAll(of subject) bool {
	return of.launch != nil && of.launch.Turns > 0 && !of.GoOn && len(of.Outbox) == 0 &&
		len(d.FindDeliveries(of.ID, (*checkpoints.Delivery).Unsent)) == 0
}

// flush turns all that waits for an agent into one prompt for the launch, in the order it happened.
func (d *transition) flush(a *Agent, l *Launch) {
	a.Outbox = slices.DeleteFunc(slices.Clone(a.Outbox), d.ShownWithAnswer)
	p := delivering{results: d.resultsOf(a, l)}
	var keys, texts []string
	var bySubagents [][]*Question
	var later []checkpoints.OutboxItem
	ends := prompts.EndsTold(0)
	for _, s := range a.Outbox {
		if p.results != nil && d.aside(s) {
			later = append(later, s)
			continue
		}
		keys = append(keys, s.Key)
		if s.From != "" {
			p.messages = append(p.messages, s)
		}
		if s.Group == "" {
			said := s.Text
			if strings.HasPrefix(s.Key, checkpoints.EndKeys) {
				said = ends.Add(said, s.From)
			}
			texts = append(texts, said)
			continue
		}
		group := d.Group(s.Group)
		if group[0].State == checkpoints.QuestionDelivered { // it had this, and is told so
			p.messages = append(p.messages, s)
		} else {
			p.groups = append(p.groups, s.Group)
		}
		d.toldInterrupted(group)
		if questions.WorksOn(group[0]) {
			texts = append(texts, d.asideText(group, l))
			continue
		}
		if sub := group[0].From; sub != nil && group[0].Tool == nil {
			texts = append(texts, d.answerForSubagent(group, sub, l))
			continue
		}
		if fromSubagent(group) != nil {
			bySubagents = append(bySubagents, group)
			continue
		}
		texts = append(texts, d.answerText(group)+d.elsewhere(group[0]))
	}
	for _, b := range prompts.BranchesOf(bySubagents) { // one text for each, however often those in it had asked
		texts = append(texts, b.Answered(d.revives(a.ID, l), d.forSubagent))
	}
	switch {
	case !l.Resume && l.Turns == 0:
		keys = append([]string{fmt.Sprintf("prompt %d", l.N)}, keys...)
		texts = append([]string{d.opening(a)}, texts...)
	case len(texts) == 0:
		keys, texts = []string{fmt.Sprintf("go-on %d.%d", l.N, l.Turns)}, []string{d.goOn(a)}
	}
	p.key, p.text = strings.Join(keys, "+"), strings.Join(texts, "\n\n")
	a.Outbox, a.GoOn = later, false
	d.begin(a, l, p)
}

package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/prompts"
)

// tellMissing puts the deliverables that are not there into the outbox, once. A command has no conversation in which it
// could be told: started again, it would do all of its work again.
func (d *transition) tellMissing(a *Agent) bool {
	if !d.Abilities().Resumes || a.Report == nil || len(a.Report.Missing) == 0 || a.ToldMissing ||
		a.Report.Status == "failed" {
		return false
	}
	a.ToldMissing = true
	enqueue(a, checkpoints.OutboxItem{Key: fmt.Sprintf("missing %d", a.Launches),
		Text: prompts.DeliverablesMissing(a.ID, a.Report.Missing), At: d.at})
	return true
}

// tellUnreported puts what asks for a report among what is to be said to an agent whose last turn was let end without
// one for something that has come to nothing since, such as a question that was withdrawn, or the end of a child that
// its client told.
func (d *transition) tellUnreported(a *Agent, l *Launch) bool {
	if !l.ReportWaived || !d.canRequestReport(a) {
		return false
	}
	a.ReportRequested = true
	wantReport(a, l, "You ended your turn without a report.", d.at)
	return true
}

// canRequestReport reports whether an agent has neither reported nor been asked to, and could be: one that continues no
// conversation would begin its work again.
func (d *transition) canRequestReport(a *Agent) bool {
	return a.Report == nil && !a.ReportRequested && d.Abilities().Resumes
}

// wantReport puts what asks for a report among what is to be said to an agent.
func wantReport(a *Agent, l *Launch, why string, at time.Time) {
	enqueue(a, checkpoints.OutboxItem{Key: fmt.Sprintf("report %d.%d", l.N, l.Turns), At: at,
		Text: prompts.ReportWanted(a.ID, why)})
}

// enqueue puts something among what waits to be said to an agent; false if it is there already, or another with the
// same answers.
func enqueue(a *Agent, s checkpoints.OutboxItem) bool {
	if slices.ContainsFunc(a.Outbox, func(o checkpoints.OutboxItem) bool {
		return o.Key == s.Key || s.Group != "" && o.Group == s.Group
	}) {
		return false
	}
	a.Outbox = append(slices.Clip(a.Outbox), s)
	return true
}

// dequeue takes the answers of a group from what waits to be said to an agent.
func dequeue(a *Agent, group string) {
	a.Outbox = slices.DeleteFunc(slices.Clone(a.Outbox), func(s checkpoints.OutboxItem) bool { return s.Group == group })
}

// flush turns all that waits for an agent into one prompt for the launch, in the order it happened.
func (d *transition) flush(a *Agent, l *Launch) {
	p := delivering{}
	var keys, texts []string
	var bySubagents [][]*Question
	ends := prompts.EndsTold(0)
	for _, s := range a.Outbox {
		keys = append(keys, s.Key)
		if s.From != "" {
			p.messages = append(p.messages, s)
		}
		if s.Group == "" {
			said := s.Text
			if strings.HasPrefix(s.Key, childKeys) {
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
		if sub := group[0].From; sub != nil && group[0].Tool == nil {
			texts = append(texts, d.answerForSubagent(group, sub, l))
			continue
		}
		if fromSubagent(group) != nil {
			bySubagents = append(bySubagents, group)
			continue
		}
		texts = append(texts, d.answerText(group))
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
	a.Outbox, a.GoOn = nil, false
	d.begin(a, l, p)
}

package supervisor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/prompts"
)

// This file answers questions in place: a call that asked gets its answer as its own result, though the process that
// made it is gone. The next launch continues the conversation at the call (Launch.At), as if it had never been parked.
// Whether the conversation can be continued there only its transcript tells, which is read when the process is started:
// where it cannot, and where the CLI or a hook refuses it, the same delivery is made by a prompt that restates the
// questions with their answers.

// resultsOf returns the answers that wait for an agent as the results of their calls; nil if one of them is none, or
// if there is more to say.
func (d *transition) resultsOf(a *Agent, l *Launch) (results []checkpoints.CallResult) {
	if !d.answersInPlace(a.ID, l) {
		return nil
	}
	for _, o := range a.Outbox {
		if d.aside(o) {
			continue // it is said into the turn that the results begin
		}
		if o.Group == "" {
			return nil
		}
		group := d.Group(o.Group)
		if !ask.InCall(group[0]) || group[0].State == checkpoints.QuestionDelivered {
			return nil
		}
		results = append(results, d.resultOf(group))
	}
	return results
}

// answersInPlace reports whether a launch can be told of results.
func (s State) answersInPlace(agent string, l *Launch) bool {
	return l.Resume && l.Phase == checkpoints.LaunchIntended && s.hasPlaces(agent)
}

// hasPlaces reports whether a process of an agent has said that it is of a release that answers in place.
func (s State) hasPlaces(agent string) bool {
	for _, l := range slices.Backward(s.Launches.Get(agent)) {
		if l.Version != "" {
			return claude.ReleaseOf(l.Version).AnswersInPlace
		}
	}
	return false
}

// parksFree reports whether the answers to questions of one agent are told in place where it is parked, and nothing
// runs in the background that would be ended: all that a park costs is another start.
func (s State) parksFree(open []*Question) bool {
	agent := open[0].Agent
	l := s.Live(agent)
	return l != nil && len(l.Background) == 0 && s.hasPlaces(agent) &&
		!slices.ContainsFunc(open, func(q *Question) bool { return !ask.InCall(q) })
}

// resultOf returns the result of a call as a process that waited in it would have had it.
func (s State) resultOf(group []*Question) checkpoints.CallResult {
	call, r := group[0].Tool, ask.Reply{}
	if err := json.Unmarshal(s.replyTo(group), &r); err != nil {
		panic(fmt.Sprintf("supervisor: the reply to %s cannot be read: %v", group[0].ID, err))
	}
	result := checkpoints.CallResult{ToolUse: call.ToolUse, Text: r.Message, Served: call.Served,
		IsError: r.Behavior == Deny}
	if !call.Served && !result.IsError {
		result.Text = claude.AnsweredText(r.UpdatedInput)
	}
	result.Text += s.elsewhere(group[0])
	if result.Images = s.ImagesOf(group); !call.Served {
		result.Text = prompts.WithImages(result.Text, result.Images)
	}
	return result
}

// begunAt takes note of where a launch has begun: without a place nothing is told as a result.
func (d *transition) begunAt(l *Launch, at, notAt string) {
	if l.At = at; at == "" && d.restate(l, notAt) {
		l.NotAt = notAt
	}
}

// notAt takes note that the place of a launch was refused.
func (d *transition) notAt(l *Launch, why string) bool {
	if l.At == "" || !d.restate(l, why) {
		return false
	}
	l.NotAt = why
	return true
}

// restate has what a launch was to be told as results said by a prompt, and reports whether there was any.
func (d *transition) restate(l *Launch, why string) (any bool) {
	for _, v := range d.FindDeliveries(l.Agent, func(v *Delivery) bool {
		return v.Launch == l.N && len(v.Results) > 0 && v.Undelivered()
	}) {
		d.delivery(v.UUID).Results, any = nil, true
		d.remark(v, restated+": "+why)
	}
	return any
}

// How an answer was told whose process had ended, as its question says it.
const (
	toldInPlace = "told as the result of its call"
	restated    = "restated by a prompt"
)

// remark has the questions of a delivery say how they were told.
func (d *transition) remark(v *Delivery, how string) {
	for _, q := range d.Groups(v.Groups) {
		q = d.question(q.ID)
		for _, other := range []string{toldInPlace, restated} {
			if before, _, told := strings.Cut(q.Remark, other); told {
				q.Remark = strings.TrimSuffix(before, "; ")
			}
		}
		q.Remark = joinRemarks(q.Remark, how)
	}
}

// Restated tells in a line why an answer is not told in place.
func Restated(why string) string { return "its answer is " + restated + ": " + why }

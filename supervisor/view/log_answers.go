package view

import (
	"context"
	"iter"
	"slices"
	"time"

	"claude-supervise/checkpoints"
)

// answers are what the agents of a log were answered, so far as it was told.
type answers struct {
	log  RunLog
	told map[string]time.Time // by question: when the answer was given that was told
}

// look returns the answers that were given since the last look, in the order of time. A changed one is one more. What a
// rule has answered nobody has said: it is left out.
func (a *answers) look(ctx context.Context) (iter.Seq2[LogLine, error], error) {
	asked, err := a.log.reader.Store.Questions(ctx, checkpoints.QuestionFilter{Run: a.log.Run, Agent: a.log.Agent})
	if err != nil {
		return nil, err
	}
	var lines []LogLine
	for i := range asked {
		q := &asked[i]
		if q.AnsweredAt == nil || q.ByRule || q.AnsweredAt.Before(a.log.answers) || a.told[q.ID].Equal(*q.AnsweredAt) {
			continue
		}
		a.told[q.ID] = *q.AnsweredAt
		line := LogLine{Run: q.Run, Agent: q.Agent, Time: *q.AnsweredAt, Answer: q}
		if a.log.Agent == "" {
			line.Who = q.Who
		}
		lines = append(lines, line)
	}
	slices.SortStableFunc(lines, func(l, m LogLine) int { return l.Time.Compare(m.Time) })
	return func(yield func(LogLine, error) bool) {
		for _, line := range lines {
			if !yield(line, nil) {
				return
			}
		}
	}, nil
}

func answerRemark(l LogLine) Remark {
	q := l.Answer
	r := Remark{Time: l.Time, Run: l.Run, Agent: l.Agent, Who: l.Who, Type: RemarkAnswered, Text: q.Answer,
		Question: &q.ID, By: &q.AnsweredBy}
	switch {
	case q.Skipped:
		r.Type = RemarkSkipped
	case q.Declined:
		r.Type = RemarkDeclined
	}
	return r
}

package checkpoints

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Runs reads the runs that have not ended, or all of them, oldest first. What has ended costs nothing where it is not
// asked for.
func (s *Store) Runs(ctx context.Context, all bool) ([]Run, error) {
	query := `SELECT doc FROM runs WHERE ended = 0 ORDER BY started, id`
	if all {
		query = `SELECT doc FROM runs ORDER BY started, id`
	}
	return records[Run](ctx, s, "list the runs in", query)
}

// RunsSince reads the runs that have not ended, and those that have since a moment, in no particular order.
func (s *Store) RunsSince(ctx context.Context, since time.Time) ([]Run, error) {
	runs, err := records[Run](ctx, s, "list the runs in",
		`SELECT doc FROM runs WHERE ended = 0 OR ended = 1 AND doc ->> 'ended_at' >= ?`,
		since.UTC().Format("2006-01-02T15:04:05")) // the start of each later time, however much of its second is written
	return slices.DeleteFunc(runs, func(r Run) bool { return r.EndedAt != nil && !r.EndedAt.After(since) }), err
}

// Run reads one run; *UnknownError if there is none of this id.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	var run Run
	err := s.readKnown(ctx, "read run "+id+" from", id, func(ctx context.Context) error {
		var doc []byte
		if err := s.row(ctx, `SELECT doc FROM runs WHERE id = ?`, []any{id}, &doc); err != nil {
			return err
		}
		return s.decode(doc, &run)
	})
	return run, err
}

// RunOf returns the id of the run that an agent belongs to; *UnknownError if there is none of this id.
func (s *Store) RunOf(ctx context.Context, agent string) (run string, err error) {
	err = s.readKnown(ctx, "look up agent "+agent+" in", agent, func(ctx context.Context) error {
		return s.row(ctx, `SELECT run FROM agents WHERE id = ?`, []any{agent}, &run)
	})
	return run, err
}

// Agents reads the agents of these runs, in no particular order.
func (s *Store) Agents(ctx context.Context, runs ...string) ([]Agent, error) {
	return ofRuns[Agent](ctx, s, `SELECT doc FROM agents WHERE run IN (SELECT value FROM json_each(?))`, runs)
}

// LiveLaunches reads the launches of these runs that have not ended, in no particular order.
func (s *Store) LiveLaunches(ctx context.Context, runs ...string) ([]Launch, error) {
	return ofRuns[Launch](ctx, s, `SELECT doc FROM launches WHERE live = 1 AND run IN (SELECT value FROM json_each(?))`,
		runs)
}

func ofRuns[Record any](ctx context.Context, s *Store, query string, runs []string) ([]Record, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(runs)
	if err != nil {
		return nil, fmt.Errorf("encode ids of runs: %w", err)
	}
	return records[Record](ctx, s, "read runs from", query, string(list))
}

// A QuestionFilter says which questions are meant; the zero value means all.
type QuestionFilter struct {
	ID, Run, Agent string // empty: any
	Undelivered    bool   // only those that are open, or answered and not delivered yet

	// May leaves out records by the JSON that they are kept as, before that costs anything; nil: none. One with an answer
	// that is not taken yet is read in any case.
	May func(doc []byte) bool
}

// Questions reads questions in the order they were asked, as a person should see them: one whose answer lies in the
// inbox, not taken yet, is shown as answered, with who and when.
func (s *Store) Questions(ctx context.Context, f QuestionFilter) ([]Question, error) {
	where := []string{"true"}
	var args []any
	if f.Undelivered {
		where = append(where, `state IN ('open', 'answered')`) // as the index says it
	}
	for _, key := range []struct{ is, value string }{
		{`id = ?`, f.ID},
		{`run = ?`, f.Run},
		{`run = (SELECT run FROM agents WHERE id = ?)`, f.Agent}, // an agent has no index of its own, its run has
		{`doc ->> 'agent' = ?`, f.Agent},
	} {
		if key.value != "" {
			where, args = append(where, key.is), append(args, key.value)
		}
	}
	query := `SELECT doc, CASE WHEN state IN ('open', 'answered') THEN (
			SELECT n.doc FROM inbox n WHERE n.question = q.id AND n.question <> ''
			AND n.seq > coalesce((SELECT taken FROM runs WHERE id = q.run), 0) ORDER BY n.seq DESC LIMIT 1) END
		FROM questions q WHERE ` + strings.Join(where, " AND ")
	var questions []*Question
	err := s.read(ctx, "list the questions in", func(ctx context.Context) error {
		return s.rows(ctx, query, args, func(found *sql.Rows) error {
			var doc, note sql.RawBytes
			if err := found.Scan(&doc, &note); err != nil {
				return err
			}
			if f.May != nil && note == nil && !f.May(doc) {
				return nil
			}
			q, err := s.asSeen(ctx, doc, note)
			questions = append(questions, q)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(questions, asAsked)
	seen := make([]Question, len(questions))
	for i, q := range questions {
		seen[i] = *q
	}
	return seen, nil
}

// asSeen lays an answer that waits in the inbox over the record of its question.
func (s *Store) asSeen(ctx context.Context, doc, note []byte) (*Question, error) {
	record, err := recall[Question](ctx, s, doc)
	if err != nil || note == nil {
		return record, err
	}
	n, err := recall[InboxEntry](ctx, s, note)
	if err != nil {
		return nil, err
	}
	q := new(*record) // a memory's own stays as it is
	q.State, q.Answer, q.Skipped, q.Declined, q.AnsweredBy, q.AnsweredAt = QuestionAnswered, n.Value,
		n.Skip, n.Decline, n.By, &n.At
	return q, nil
}

// PastRuns reads runs that have ended, the latest first: at most most of them, after the first skip.
func (s *Store) PastRuns(ctx context.Context, skip, most int) ([]Run, error) {
	return records[Run](ctx, s, "list the runs in",
		`SELECT doc FROM runs WHERE ended = 1 ORDER BY started DESC, id LIMIT ? OFFSET ?`, most, skip)
}

package checkpoints

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// AnsweredSince returns the ids of questions that got their first answer by the inbox, in that order, from behind a
// place on: at most most of them, and the place behind the last. What a rule or a preset has answered is not among
// them, nor what is forgotten.
func (s *Store) AnsweredSince(ctx context.Context, place int64, most int) (ids []string, behind int64, err error) {
	behind = place
	err = s.read(ctx, "list the answers in", func(ctx context.Context) error {
		return s.rows(ctx, `SELECT seq, question FROM inbox WHERE seq > ? AND kind = 'answer' ORDER BY seq LIMIT ?`,
			[]any{place, most}, func(found *sql.Rows) error {
				var id string
				err := found.Scan(&behind, &id)
				ids = append(ids, id)
				return err
			})
	})
	return ids, behind, err
}

// LastNote returns the place of the last note that the inbox has, 0 if it has none.
func (s *Store) LastNote(ctx context.Context) (place int64, err error) {
	err = s.read(ctx, "read the inbox of", func(ctx context.Context) error {
		return s.row(ctx, `SELECT coalesce(max(seq), 0) FROM inbox`, nil, &place)
	})
	return place, err
}

// Named reads the questions of these ids that there are, in no particular order, each as its run has it: an answer that
// waits in the inbox is not there yet.
func (s *Store) Named(ctx context.Context, ids ...string) ([]Question, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("encode ids of questions: %w", err)
	}
	return records[Question](ctx, s, "read questions from",
		`SELECT doc FROM questions WHERE id IN (SELECT value FROM json_each(?))`, string(list))
}

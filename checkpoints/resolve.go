package checkpoints

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// What an id can name, as Resolve says it.
const (
	KindRun      = "run"
	KindAgent    = "agent"
	KindQuestion = "question"
)

// candidatesMax is how many ids an *AmbiguousError lists.
const candidatesMax = 10

var idKinds = []struct{ kind, prefix, query string }{
	{KindRun, RunPrefix, `SELECT id FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`},
	{KindAgent, AgentPrefix, `SELECT id FROM agents WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`},
	{KindQuestion, QuestionPrefix, `SELECT id FROM questions WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`},
}

// Resolve finds the run, agent or question that a person means: by the id, by its start, or by either without the prefix
// ("r-", "a-", "q-"). A whole id wins over the start of another. *UnknownError if there is none, *AmbiguousError if there
// are several.
func (s *Store) Resolve(ctx context.Context, typed string) (kind, id string, err error) {
	type match struct{ kind, id string }
	var starts, wholes []match
	err = s.read(ctx, "look up an id in", func(ctx context.Context) error {
		for _, k := range idKinds {
			start := typed
			if !prefixed(typed) {
				start = k.prefix + typed
			} else if !strings.HasPrefix(typed, k.prefix) {
				continue
			}
			// Ids are ASCII, so what begins with start lies before start and the byte after 'z' and '~'.
			args := []any{start, start + "\x7f", candidatesMax + 1}
			err := s.rows(ctx, k.query, args, func(found *sql.Rows) error {
				m := match{kind: k.kind}
				if err := found.Scan(&m.id); err != nil {
					return err
				}
				starts = append(starts, m)
				if m.id == start {
					wholes = append(wholes, m)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", "", err
	}
	if len(wholes) == 1 {
		return wholes[0].kind, wholes[0].id, nil
	}
	switch {
	case typed == "" || len(starts) == 0:
		return "", "", &UnknownError{ID: typed}
	case len(starts) == 1:
		return starts[0].kind, starts[0].id, nil
	}
	e := &AmbiguousError{Prefix: typed, More: len(starts) > candidatesMax}
	for _, m := range starts {
		e.Candidates = append(e.Candidates, m.id)
	}
	slices.Sort(e.Candidates)
	e.Candidates = e.Candidates[:min(len(e.Candidates), candidatesMax)]
	return "", "", e
}

func prefixed(typed string) bool {
	return slices.ContainsFunc(idKinds, func(k struct{ kind, prefix, query string }) bool {
		return strings.HasPrefix(typed, k.prefix)
	})
}

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

// Resolve finds the run, agent or question that a person means: by the id, by its start, or by either without the
// prefix ("r-", "a-", "q-"), or a run by its name. A whole id wins over a name, and that over the start of an id; of
// runs with one name the one that has not ended wins. *UnknownError if there is none, *AmbiguousError if there are
// several.
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
	if typed == "" {
		return "", "", &UnknownError{ID: typed}
	}
	if !prefixed(typed) || len(starts) == 0 {
		if named, err := s.named(ctx, typed); err != nil {
			return "", "", err
		} else if len(named) == 1 {
			return KindRun, named[0], nil
		} else if len(named) > 1 {
			e := ambiguous(typed, named)
			e.Name = true
			return "", "", e
		}
	}
	switch len(starts) {
	case 0:
		return "", "", &UnknownError{ID: typed}
	case 1:
		return starts[0].kind, starts[0].id, nil
	}
	var ids []string
	for _, m := range starts {
		ids = append(ids, m.id)
	}
	return "", "", ambiguous(typed, ids)
}

// named returns the runs of a name that have not ended, or, where all have, those that have: more than candidatesMax at
// most.
func (s *Store) named(ctx context.Context, name string) (runs []string, err error) {
	err = s.read(ctx, "look up a name in", func(ctx context.Context) error {
		const query = `SELECT id, ended FROM runs WHERE json_extract(doc, '$.name') = ? ORDER BY ended, started DESC LIMIT ?`
		onlyLive := false
		return s.rows(ctx, query, []any{name, candidatesMax + 1}, func(found *sql.Rows) error {
			var id string
			var ended bool
			if err := found.Scan(&id, &ended); err != nil {
				return err
			}
			onlyLive = onlyLive || !ended
			if !ended || !onlyLive {
				runs = append(runs, id)
			}
			return nil
		})
	})
	return runs, err
}

func ambiguous(typed string, ids []string) *AmbiguousError {
	slices.Sort(ids)
	return &AmbiguousError{Prefix: typed, Candidates: ids[:min(len(ids), candidatesMax)], More: len(ids) > candidatesMax}
}

func prefixed(typed string) bool {
	return slices.ContainsFunc(idKinds, func(k struct{ kind, prefix, query string }) bool {
		return strings.HasPrefix(typed, k.prefix)
	})
}

package precedents

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/url"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// An index finds questions by their words. It is a file of its own that repeats what the database has, and can be gone
// at any time: it is made anew.
type index struct{ db *sql.DB }

// indexed is how what an index holds is made; another release's is made anew.
const indexed = 3

// batch is how many questions are read into the index at once.
const batch = 500

func openIndex(ctx context.Context, path string) (index, error) {
	source := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{
		"_busy_timeout": {"100"}, "_synchronous": {"OFF"}, "_journal_mode": {"WAL"}, "_txlock": {"immediate"}}.Encode()}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return index{}, err
	}
	db.SetMaxOpenConns(1)
	x := index{db}
	return x, x.make(ctx)
}

func (x index) make(ctx context.Context) error {
	var made int
	if err := x.db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&made); err != nil || made == indexed {
		return err
	}
	_, err := x.db.ExecContext(ctx, fmt.Sprintf(`BEGIN IMMEDIATE; DROP TABLE IF EXISTS read; DROP TABLE IF EXISTS asked;
		CREATE TABLE read (place INTEGER NOT NULL); INSERT INTO read VALUES (0);
		DROP TABLE IF EXISTS words; CREATE VIRTUAL TABLE asked USING fts5(question UNINDEXED, words);
		CREATE VIRTUAL TABLE words USING fts5vocab(asked, row);
		PRAGMA user_version = %d; COMMIT`, indexed))
	return err
}

// catchUp reads what was answered since it was last read.
func (x index) catchUp(ctx context.Context, store *checkpoints.Store) error {
	last, err := store.LastNote(ctx)
	if err != nil {
		return err
	}
	for {
		var place int64
		if err := x.db.QueryRowContext(ctx, `SELECT place FROM read`).Scan(&place); err != nil {
			return err
		}
		switch {
		case place == last:
			return nil
		case place > last: // of another database
			_, err := x.db.ExecContext(ctx, `DELETE FROM asked; UPDATE read SET place = 0`)
			if err != nil {
				return err
			}
			continue
		}
		ids, behind, err := store.AnsweredSince(ctx, place, batch)
		if err != nil {
			return err
		}
		if len(ids) < batch {
			behind = max(behind, last)
		}
		asked, err := store.Named(ctx, ids...)
		if err != nil {
			return err
		}
		folders := map[string]string{} // of their runs
		for i := range asked {
			id := asked[i].Run
			if _, known := folders[id]; !known {
				run, err := store.Run(ctx, id)
				if err != nil {
					return err
				}
				folders[id] = run.Cwd
			}
		}
		if err := x.add(ctx, place, behind, asked, folders); err != nil {
			return err
		}
	}
}

// add reads questions into the index, unless another process has meanwhile.
func (x index) add(ctx context.Context, from, to int64, asked []checkpoints.Question,
	folders map[string]string) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing, once it is committed
	moved, err := tx.ExecContext(ctx, `UPDATE read SET place = ? WHERE place = ?`, to, from)
	if err != nil {
		return err
	}
	if n, err := moved.RowsAffected(); err != nil || n == 0 {
		return err
	}
	for i := range asked {
		if q := &asked[i]; remembered(q) {
			if _, err := tx.ExecContext(ctx, `INSERT INTO asked VALUES (?, ?)`, q.ID,
				key(q)+" "+keyIn(q, folders[q.Run])+" "+said(q)); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

// said are the words that a question is found by.
func said(q *checkpoints.Question) string { return strings.Join(readingOf(q).words, " ") }

// candidates returns the ids of the questions that may be like q: the last of the very same in the folder, the last of
// the very same, the likest; of each at most most.
func (x index) candidates(ctx context.Context, q *checkpoints.Question, cwd string, most int) (ids []string,
	err error) {
	const last, likest = `SELECT question FROM asked WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?`,
		`SELECT question FROM asked WHERE words MATCH ? ORDER BY rank LIMIT ?`
	for _, same := range []string{keyIn(q, cwd), key(q)} {
		found, err := x.column(ctx, last, same, most)
		if err != nil {
			return nil, err
		}
		ids = append(ids, found...)
	}
	if questions.KindOf(q.Kind).Lets {
		return ids, nil
	}
	rare, err := x.rarest(ctx, readingOf(q).words)
	if err != nil || len(rare) == 0 {
		return ids, err
	}
	near, err := x.column(ctx, likest, `"`+strings.Join(rare, `" OR "`)+`"`, most)
	return append(ids, near...), err
}

// keyIn is the key of a question in a folder.
func keyIn(q *checkpoints.Question, cwd string) string {
	sum := fnv.New128a()
	_, _ = fmt.Fprintf(sum, "%s %s", key(q), cwd) // it returns no error
	return fmt.Sprintf("in%x", sum.Sum(nil))
}

// mostRead bounds how many questions are ranked.
const mostRead = 1000

// rarest returns those of the words that the fewest questions have, so many that not too many questions have them.
func (x index) rarest(ctx context.Context, words []string) ([]string, error) {
	list, err := json.Marshal(words)
	if err != nil {
		return nil, err
	}
	return x.column(ctx, `SELECT term FROM (SELECT term, sum(doc) OVER (ORDER BY doc, term) AS questions FROM words
		WHERE term IN (SELECT value FROM json_each(?))) WHERE questions <= ?`, string(list), mostRead)
}

// column returns the texts that a query finds.
func (x index) column(ctx context.Context, query string, args ...any) (found []string, err error) {
	rows, err := x.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, text)
	}
	return found, rows.Err()
}

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	_ "modernc.org/sqlite" // to fill the database by the thousand
)

// commandTimes is how often a command is run.
const commandTimes = 60

func (b *bench) version(ctx context.Context) error {
	homes, err := b.homes("version")
	if err != nil {
		return err
	}
	return b.inTurns(ctx, "version", homes, []string{"version"}, []string{"version"})
}

// ps lists 50 runs that go on, alone and among 10,000 that have ended.
func (b *bench) ps(ctx context.Context) error {
	homes, err := b.homes("ps")
	if err != nil {
		return err
	}
	floor := []string{"ps", homes[0].Dirs.Database()}
	fill := func(parked, ended int) error {
		for _, h := range homes {
			if err := h.fill(ctx, parked, ended); err != nil {
				return err
			}
		}
		return nil
	}
	if err := fill(50, 0); err != nil {
		return err
	}
	if err := b.inTurns(ctx, "ps, 50 runs", homes, []string{"ps"}, floor); err != nil {
		return err
	}
	if err := fill(0, 10_000); err != nil {
		return err
	}
	return b.inTurns(ctx, "ps, 50 runs and 10,000 past", homes, []string{"ps"}, floor)
}

// inTurns runs a command of each program and its counterpart of the floor in turns; then beside the floor that has only
// two of the libraries, to tell what the others cost; then beside the program itself when it only prints, to tell what
// the command does and what its start is.
func (b *bench) inTurns(ctx context.Context, name string, homes []home, args, floorArgs []string) error {
	run := func(h home, path string, args []string) error {
		if out, err := h.command(ctx, path, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", path, err, out)
		}
		return nil
	}
	do := func(h home) error { return run(h, h.program.path, args) }
	if err := b.compare(figure{name: name, unit: "ms", target: 1.2, bound: timesFloor}, homes, commandTimes, do,
		func(h home) error { return run(h, h.floor, floorArgs) }); err != nil {
		return err
	}
	if err := b.compare(figure{name: "  over cobra and SQLite alone", unit: "ms"}, homes, commandTimes, do,
		func(h home) error { return run(h, h.least, floorArgs) }); err != nil {
		return err
	}
	return b.compare(figure{name: "  over the program only printing", unit: "ms"}, homes, commandTimes, do,
		func(h home) error { return run(h, h.idle, nil) })
}

// fill copies a run that has ended into so many that are parked, and so many that have ended.
func (h home) fill(ctx context.Context, parked, ended int) (err error) {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: h.Dirs.Database(), RawQuery: "mode=rw"}).String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	h.Env = append(h.Env, envAgent+"=0")
	run := h.command(ctx, h.program.path, "run", "--quiet", "--claude", h.self, task)
	if out, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	var id, agent string
	if err := db.QueryRowContext(ctx, `SELECT r.id, a.id FROM runs r JOIN agents a ON a.run = r.id LIMIT 1`).Scan(&id,
		&agent); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after the commit it does nothing
	for i := range parked + ended {
		copied := copyOf{run: fmt.Sprintf("r-%d%07d", min(1, ended), i), agent: fmt.Sprintf("a-%d%011d", min(1, ended), i),
			ended: i >= parked}
		if err := copied.insert(ctx, tx, id, agent); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// copyOf is a run in the likeness of another.
type copyOf struct {
	run, agent string
	ended      bool
}

func (c copyOf) insert(ctx context.Context, tx *sql.Tx, run, agent string) error {
	const doc = `replace(replace(doc, ?1, ?2), ?3, ?4)`
	status := doc
	if !c.ended {
		status = `json_remove(json_set(` + doc + `, '$.status', 'parked', '$.left', 'parked'), '$.ended_at', '$.exit_code')`
	}
	for _, query := range []string{
		`INSERT INTO runs (id, started, ended, taken, doc) SELECT ?2, started + 1, ?5, 0, ` + status +
			` FROM runs WHERE id = ?1`,
		`INSERT INTO agents (run, id, doc) SELECT ?2, ?4, ` + strings.ReplaceAll(status, `, '$.left', 'parked'`, "") +
			` FROM agents WHERE run = ?1 AND ?5 = ?5`,
		`INSERT INTO launches (run, agent, n, live, doc) SELECT ?2, ?4, n, live, ` +
			doc + ` FROM launches WHERE run = ?1 AND ?5 = ?5`,
		`INSERT INTO events (run, seq, doc) SELECT ?2, seq, ` + doc + ` FROM events WHERE run = ?1 AND ?4 = ?4 AND ?5 = ?5`,
	} {
		if _, err := tx.ExecContext(ctx, query, run, c.run, agent, c.agent, c.ended); err != nil {
			return err
		}
	}
	return nil
}

package checkpoints

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"claude-supervise/checkpoints/files"
)

// The kinds of note that only Answer and ChangeAnswer write. All others are free for Leave.
const (
	EntryAnswer = "answer"
	EntryChange = "change"
)

// EntryMessage is the kind of note that an agent is to read.
const EntryMessage = "message"

// EntryNestedSeen is the kind of note by which the client of a run inside an agent says what it has told that agent. Of
// a run that was refused it is the receipt of the refusal.
const EntryNestedSeen = "nested_seen"

// Leave puts a note into the inbox of a run, and gives it back with its Seq. It does not ring the wake-up socket.
// *UnknownError if there is no such run, ErrEnded if it has ended, *PackedError if it goes on elsewhere. Answers are
// not left: they have to win first.
func (s *Store) Leave(ctx context.Context, n InboxEntry) (InboxEntry, error) {
	if n.Kind == "" || n.Kind == EntryAnswer || n.Kind == EntryChange {
		return InboxEntry{}, fmt.Errorf("leave a note for run %s: kind %q is not for Leave", n.Run, n.Kind)
	}
	err := s.write(ctx, "leave a note for run "+n.Run+" in", func(ctx context.Context) error {
		if err := s.refusePacked(ctx, n.Run); err != nil {
			return err
		}
		if err := s.refuseEnded(ctx, n.Run); err != nil {
			return err
		}
		if n.Kind == EntryMessage {
			if err := s.refuseDeaf(ctx, n.Agent); err != nil {
				return err
			}
		}
		return s.insert(ctx, &n)
	})
	if err != nil {
		return InboxEntry{}, err
	}
	return n, nil
}

func (s *Store) refusePacked(ctx context.Context, run string) error {
	var file sql.NullString
	switch err := s.row(ctx, `SELECT doc ->> 'packed' FROM runs WHERE id = ?`, []any{run}, &file); {
	case errors.Is(err, sql.ErrNoRows):
		return &UnknownError{ID: run}
	case err != nil:
		return err
	case file.String != "":
		return &PackedError{Run: run, File: file.String}
	}
	return nil
}

// refuseDeaf refuses what nobody would read: an agent whose end is saved, in a run that goes on, and one that is
// nothing but its children. "" is the run's root.
func (s *Store) refuseDeaf(ctx context.Context, agent string) error {
	var ended sql.NullString
	var group sql.NullBool
	err := s.row(ctx, `SELECT doc ->> 'ended_at', doc ->> 'group' FROM agents WHERE id = ?`, []any{agent}, &ended, &group)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil // whoever takes it finds whose it is
	case err != nil:
		return err
	case ended.String != "":
		return fmt.Errorf("agent %s: %w", agent, ErrEnded)
	case group.Bool:
		return fmt.Errorf("agent %s: %w", agent, errGroup)
	}
	return nil
}

// refuseEnded refuses a run whose end is saved.
func (s *Store) refuseEnded(ctx context.Context, run string) error {
	var ended bool
	if err := s.row(ctx, `SELECT ended FROM runs WHERE id = ?`, []any{run}, &ended); err != nil {
		return err
	}
	if ended {
		return fmt.Errorf("run %s: %w", run, ErrEnded)
	}
	return nil
}

// Answer leaves the answer to an open question for its run: of n the Question, Value, Skip, Decline, By and At. Skip
// goes on without an answer, Decline refuses one for the reason in Value. The first answer wins, whatever process it
// comes from: all others get a *TakenError. Else ErrNoQuestion, ErrWithdrawn or *PackedError. The answer is safe when
// this returns; it is on its way once the run's supervisor has taken it.
func (s *Store) Answer(ctx context.Context, n InboxEntry) (InboxEntry, error) {
	return s.answer(ctx, EntryAnswer, n)
}

// ChangeAnswer replaces the answer of a question until its delivery begins (ErrDelivering); of n it takes what Answer
// takes. ErrUnanswered if there is none to change; else ErrNoQuestion, ErrWithdrawn or *PackedError.
func (s *Store) ChangeAnswer(ctx context.Context, n InboxEntry) (InboxEntry, error) {
	return s.answer(ctx, EntryChange, n)
}

func (s *Store) answer(ctx context.Context, kind string, n InboxEntry) (InboxEntry, error) {
	err := s.write(ctx, "answer question "+n.Question+" in", func(ctx context.Context) error {
		q, given, err := s.answerOf(ctx, n.Question)
		if err == nil {
			err = s.refusePacked(ctx, q.Run)
		}
		if err != nil {
			return err
		}
		switch {
		case q.State == QuestionWithdrawn:
			return fmt.Errorf("question %s: %w", q.ID, ErrWithdrawn)
		case kind == EntryAnswer && given != nil:
			return given
		case kind == EntryChange && given == nil:
			return fmt.Errorf("question %s: %w", q.ID, ErrUnanswered)
		case kind == EntryChange && q.Closed():
			return fmt.Errorf("question %s: %w", q.ID, ErrDelivering)
		}
		if kind == EntryChange {
			if err := s.refuseSeen(ctx, q); err != nil {
				return err
			}
		}
		n.Kind, n.Run, n.Agent = kind, q.Run, q.Agent
		return s.insert(ctx, &n)
	})
	if err != nil {
		return InboxEntry{}, err
	}
	return n, nil
}

// refuseSeen refuses to change an answer that an agent has read where it started a run, though the supervisor has not
// taken the note of that yet.
func (s *Store) refuseSeen(ctx context.Context, q Question) error {
	if q.Nested == nil {
		return nil
	}
	unread, err := s.unread(ctx, q.Run, 0)
	if slices.ContainsFunc(unread, func(n InboxEntry) bool { return n.Kind == EntryNestedSeen && n.Agent == q.Child }) {
		return fmt.Errorf("question %s: %w", q.ID, ErrDelivering)
	}
	return err
}

// answerOf finds a question and the answer that it has by now: the newest in the inbox, else the one in its record.
func (s *Store) answerOf(ctx context.Context, question string) (Question, *TakenError, error) {
	var q Question
	var doc, note []byte
	const query = `SELECT doc, (SELECT n.doc FROM inbox n
			WHERE n.question = q.id AND n.question <> '' ORDER BY n.seq DESC LIMIT 1)
		FROM questions q WHERE q.id = ?`
	err := s.row(ctx, query, []any{question}, &doc, &note)
	if errors.Is(err, sql.ErrNoRows) {
		return q, nil, fmt.Errorf("question %s: %w", files.Shorten(question), ErrNoQuestion)
	}
	if err != nil {
		return q, nil, err
	}
	if err := s.decode(doc, &q); err != nil {
		return q, nil, err
	}
	if note != nil && q.AnsweredBy != ByHook {
		var n InboxEntry
		if err := s.decode(note, &n); err != nil {
			return q, nil, err
		}
		return q, &TakenError{Question: q.ID, By: n.By, At: n.At, Answer: n.Value, Skipped: n.Skip, Declined: n.Decline}, nil
	}
	if q.State != QuestionAnswered && q.State != QuestionDelivered {
		return q, nil, nil
	}
	given := &TakenError{Question: q.ID, By: q.AnsweredBy, Answer: q.Answer, Skipped: q.Skipped, Declined: q.Declined}
	if q.AnsweredAt != nil {
		given.At = *q.AnsweredAt
	}
	return q, given, nil
}

func (s *Store) insert(ctx context.Context, n *InboxEntry) error {
	n.Seq = 0 // the row's own; documents do not repeat it
	doc, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("encode a note: %w", err)
	}
	result, err := s.execResult(ctx, `INSERT INTO inbox (run, kind, question, doc) VALUES (?, ?, ?, ?)`,
		n.Run, n.Kind, n.Question, string(doc))
	if err != nil {
		return err
	}
	n.Seq, err = result.LastInsertId()
	return err
}

// Inbox reads the notes of a run that have not been taken and have a Seq over after, oldest first.
func (s *Store) Inbox(ctx context.Context, run string, after int64) ([]InboxEntry, error) {
	var notes []InboxEntry
	err := s.read(ctx, "read the inbox of run "+run+" in", func(ctx context.Context) (err error) {
		notes, err = s.unread(ctx, run, after)
		return err
	})
	return notes, err
}

// unread is Inbox within a read or write that is under way.
func (s *Store) unread(ctx context.Context, run string, after int64) ([]InboxEntry, error) {
	const query = `SELECT seq, doc FROM inbox
		WHERE run = ? AND seq > max(?, coalesce((SELECT taken FROM runs WHERE id = ?), 0)) ORDER BY seq`
	return s.notes(ctx, query, run, after, run)
}

// AnswersLeft reads the answer that each question of a run has in its inbox: the newest, whether it was taken or not.
// Notes of a run that was unpacked are those that came since.
func (s *Store) AnswersLeft(ctx context.Context, run string) ([]InboxEntry, error) {
	var notes []InboxEntry
	err := s.read(ctx, "read the answers left for run "+run+" in", func(ctx context.Context) (err error) {
		const query = `SELECT seq, doc FROM inbox n WHERE run = ? AND question <> '' AND kind IN ('answer', 'change')
			AND seq = (SELECT max(seq) FROM inbox WHERE question = n.question) ORDER BY seq`
		notes, err = s.notes(ctx, query, run)
		return err
	})
	return notes, err
}

// notes reads the notes of a query that selects their Seq and document.
func (s *Store) notes(ctx context.Context, query string, args ...any) ([]InboxEntry, error) {
	var notes []InboxEntry
	err := s.rows(ctx, query, args, func(found *sql.Rows) error {
		var seq int64
		var doc sql.RawBytes
		if err := found.Scan(&seq, &doc); err != nil {
			return err
		}
		var n InboxEntry
		if err := s.decode(doc, &n); err != nil {
			return err
		}
		n.Seq = seq
		notes = append(notes, n)
		return nil
	})
	return notes, err
}

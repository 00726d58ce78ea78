package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/pack"
	"claude-supervise/supervisor/text"
)

// A worker that is cut off from the server prints the open questions of its runs, once their leases are out. What is
// answered on its machine is kept in the state of the run, and not delivered while there is no lease. A worker that has
// lost the run, or was started again, hands these answers to the run's workflow before it removes that state:
//
//	DIR/answers/RUN.EPOCH.json    answers that were given on this machine, and that the workflow may not have
//
// There they are as anybody's: the first answer counts, and it is printed whose was later. An answer leaves the file
// when the workflow has taken or refused it.

// handInAgain is how often it is tried to hand answers in.
const handInAgain = 5 * time.Second

// A keptAnswer is one that was given on this machine.
type keptAnswer struct {
	flow.Answer
	Unsaved bool `json:"unsaved,omitempty"` // its question was asked after the last snapshot in the blob store
	Later   bool `json:"later,omitempty"`   // it was given after that, by this machine's clock
}

// showsApart prints what the run asks while the lease is out, until ctx ends.
func (h *held) showsApart(ctx context.Context, lease time.Duration) {
	tick := time.NewTicker(beatEvery(lease))
	defer tick.Stop()
	for shown := map[string]bool{}; ; {
		select {
		case <-tick.C:
			if now, err := leaseTime(); err == nil && h.isApart(now) {
				h.apart(ctx, shown)
			}
		case <-ctx.Done():
			return
		}
	}
}

// isApart reports whether the lease was out at a time.
func (h *held) isApart(now time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until > 0 && now >= h.until
}

// apart prints the open questions that were not shown.
func (h *held) apart(ctx context.Context, shown map[string]bool) {
	c, err := h.opened()
	if err != nil || c == nil {
		return
	}
	open, err := c.Reader().Questions(ctx)
	if err != nil {
		h.Log.Warn("the open questions cannot be read", "run", h.Task.Run, "error", err)
		return
	}
	for _, q := range open {
		if q.Run != h.Task.Run || shown[q.ID] {
			continue
		}
		shown[q.ID] = true
		h.Log.Warn("the server cannot be reached, and a run asks. An answer that is given here is kept, and counts once "+
			"the server is back, if it is the first", "run", h.Task.Run, "question", q.ID,
			"text", text.Line(q.Question, text.MaxLine), "answer", fmt.Sprintf("XDG_STATE_HOME=%s claude-supervise "+
				"answer %s VALUE", pack.ShellLine([]string{h.stateHome()}), q.ID))
	}
}

// keepsAnswers writes down the answers that were given on this machine. Those that came by the workflow may be among
// them after a restart: it knows its own. An error says that they are not kept, and the folder of the run must stay.
func (h *held) keepsAnswers(ctx context.Context) error {
	c, err := h.opened()
	if err != nil || c == nil {
		return nil // nobody can answer in such a state, and nobody will ever read it
	}
	notes, err := c.Store.AnswersLeft(ctx, h.Task.Run)
	if err != nil {
		h.Log.Warn("it cannot be read what was answered here", "run", h.Task.Run, "error", err)
		return nil
	}
	h.mu.Lock()
	safe, given := h.safe, slices.Clone(h.given)
	h.mu.Unlock()
	for _, a := range h.Answers {
		given = append(given, a.Question)
	}
	var answers []keptAnswer
	for _, n := range notes {
		if slices.Contains(given, n.Question) {
			continue
		}
		answers = append(answers, keptAnswer{
			Answer: flow.Answer{Question: n.Question, Text: n.Value, Skip: n.Skip, Decline: n.Decline, AllLike: n.AllLike,
				By: n.By, At: n.At},
			Unsaved: !slices.Contains(safe.Questions, n.Question), Later: n.At.After(safe.At)})
	}
	if len(answers) == 0 {
		return nil
	}
	return keep(h.answersFile(), answers)
}

func (w *Worker) answersDir() string { return filepath.Join(w.Dir, "answers") }

func (h *held) answersFile() string {
	return filepath.Join(h.answersDir(), filepath.Base(h.dir)+".json")
}

// finds notes, of a run that an earlier process of this worker has left, which of its snapshots is in the blob store.
func (h *held) finds(ctx context.Context) {
	all, err := h.Store.snapshots(ctx, h.Task.Run)
	if err != nil {
		h.Log.Warn("it is not known which snapshots there are of a run", "run", h.Task.Run, "error", err)
	}
	for _, name := range slices.Backward(all[h.Epoch]) {
		if h.isSafe(h.Epoch, filepath.Join(h.snapshotsOf(), name)) == nil {
			return
		}
	}
	if from, err := pack.Newest(filepath.Join(h.dir, "from", h.Task.Run)); err == nil {
		_ = h.isSafe(h.Epoch-1, from) // else it is said of fewer answers that they do not count any more
	}
}

// keep writes answers into a file, so that they are on the disk when it returns.
func keep(file string, answers []keptAnswer) error {
	content, err := json.Marshal(answers)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return client.ReplaceFile(file, content, 0o600)
}

// handsInAnswers hands in what is kept, until ctx ends.
func (w *Worker) handsInAnswers(ctx context.Context) {
	tick := time.NewTicker(handInAgain)
	defer tick.Stop()
	said := map[string]string{} // of each file, why it was not handed in
	for {
		w.handsInKept(ctx, said)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (w *Worker) handsInKept(ctx context.Context, said map[string]string) {
	entries, err := os.ReadDir(w.answersDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Log.Warn("the answers that were given here cannot be read", "error", err)
	}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), ".json")
		run, _, _ := strings.Cut(name, ".")
		if !is || !flow.IsRun(run) {
			continue
		}
		file := filepath.Join(w.answersDir(), e.Name())
		err := w.handsInFile(ctx, run, file)
		switch {
		case err == nil || ctx.Err() != nil:
			delete(said, file)
		case said[file] != err.Error():
			said[file] = err.Error()
			w.Log.Warn("answers that were given here are not handed in yet, and are tried again", "run", run, "file", file,
				"error", err)
		}
	}
}

func (w *Worker) handsInFile(ctx context.Context, run, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var answers []keptAnswer
	if err := json.Unmarshal(content, &answers); err != nil {
		return err
	}
	for len(answers) > 0 {
		if err := w.handsIn(ctx, run, answers[0]); err != nil {
			return err
		}
		if answers = answers[1:]; len(answers) > 0 {
			if err := keep(file, answers); err != nil {
				return err
			}
		}
	}
	return os.Remove(file)
}

// handsIn hands an answer in, and says what has become of it. An error says that this is not known.
func (w *Worker) handsIn(ctx context.Context, run string, a keptAnswer) error {
	own := a.By
	a.By += ", on worker " + w.Name
	log := w.Log.With("run", run, "question", a.Question, "answer", text.Line(a.Text, text.MaxLine), "by", own)
	first, why, err := w.gives(ctx, run, a.Answer)
	switch {
	case err != nil:
		return err
	case first == nil && why == "":
		log.Info("an answer that was given here counts")
	case first != nil && first.Text == a.Text && first.By == own: // it came from there
	case first != nil && first.Text == a.Text && first.By == a.By:
		log.Info("an answer that was given here counts")
	case first != nil:
		log.Warn("an answer that was given here does not count: another was given before", "first", text.Line(first.Text,
			text.MaxLine), "first_by", first.By)
	case a.Unsaved || a.Later:
		log.Warn("an answer that was given here does not count", "why", why)
	}
	return nil
}

// gives returns the workflow of a run an answer. Where it does not take it, first is the answer that the question has,
// or why says what is wrong.
func (w *Worker) gives(ctx context.Context, run string, a flow.Answer) (first *flow.Answer, why string, err error) {
	l, err := w.Fleet.Run(ctx, run)
	var none *fleet.NoRunError
	if errors.As(err, &none) {
		return nil, err.Error(), nil
	}
	if err != nil {
		return nil, "", err
	}
	for _, answered := range l.Answered {
		if answered.Question == a.Question {
			return &answered, "", nil
		}
	}
	_, err = w.Fleet.Answer(ctx, run, a)
	var no *fleet.RefusedError
	if !errors.As(err, &no) {
		return nil, "", err
	}
	if no.Kind == flow.ErrNoQuestion && l.ExitCode == nil && l.Worker == "" && !l.Parked() {
		return nil, "", fmt.Errorf("no worker has said yet what the run asks: %w", err)
	}
	return no.First, no.Words, nil
}

package filedrop

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
)

// A Syncer keeps one run's questions in the folders of question and answer files as they are in the database, and
// leaves answers that are dropped there in the inbox, like any other client. What it does can be done again after a
// crash: the database alone decides.
type Syncer struct {
	Drop   *checkpoints.FileDrop
	Client client.Client
	// Checkpoint gives the absolute path of the checkpoint that the question goes on from: the agent's own, else ours,
	// which it writes if there is none; "" where it cannot.
	Checkpoint func(ctx context.Context, q *supervisor.Question) string
	Log        zerolog.Logger
	Events     chan checkpoints.FileDropEvent
	News       chan<- supervisor.FileEvent // for the engine

	Mu      sync.Mutex
	latest  []*supervisor.Question // all of the run, as they were saved last
	Seen    map[string]string      // answers that lie in the files of scripts, by id: theirs to take
	Changed chan struct{}          // latest was replaced

	Done map[string]bool   // questions whose files are as they will stay
	Up   map[string]bool   // questions whose file is up
	Told map[string]string // the trouble that was told of a question's files last

	Useless map[string]bool // answer files that are none, by id; guarded by mu, as is
	Left    bool            // nothing is heard of the folders any more

	Again *time.Timer // to put up what was removed
}

// FolderSettles is how long a folder that was removed is left alone: at once, whoever removes it would stumble.
const FolderSettles = time.Second

// Set takes the run's questions as they were saved. It does not block.
func (k *Syncer) Set(all []*supervisor.Question) {
	if k == nil {
		return
	}
	k.Mu.Lock()
	k.latest = all
	k.Mu.Unlock()
	select {
	case k.Changed <- struct{}{}:
	default:
	}
}

func (k *Syncer) questions() []*supervisor.Question {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	return k.latest
}

// Knows reports whether an id is that of a question file of an agent's, in the questions that were saved last.
func (k *Syncer) Knows(id string) bool {
	return k != nil && slices.ContainsFunc(k.questions(),
		func(q *supervisor.Question) bool { return q.File != nil && q.File.ID == id })
}

// See takes note of an answer in the file of a script; "" of none.
func (k *Syncer) See(id, answer string) {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	if answer == "" {
		delete(k.Seen, id)
		return
	}
	k.Seen[id] = answer
	k.Log.Info().Str("question", id).Msg("an answer lies in the file of its script")
}

// Saw gives the answer that was seen in the file of a script last.
func (k *Syncer) Saw(id string) (answer string, seen bool) {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	answer, seen = k.Seen[id]
	return answer, seen
}

func (k *Syncer) gone(ctx context.Context, id string) {
	answer, _ := k.Saw(id)
	k.send(ctx, supervisor.FileEvent{ID: id, Gone: true, Answer: answer})
}

// Keep keeps the folders until its context ends.
func (k *Syncer) Keep(ctx context.Context) {
	for {
		select {
		case <-k.Changed:
			k.reconcile(ctx)
		case <-k.Again.C:
			k.reconcile(ctx)
		case event := <-k.Events:
			k.read(ctx, event)
		case <-ctx.Done():
			k.Again.Stop()
			k.reconcile(ctx)
			return
		}
	}
}

// Awaited gives the ids under which an answer to open questions may lie.
func (k *Syncer) Awaited(open []*supervisor.Question) []string {
	k.Mu.Lock()
	defer k.Mu.Unlock()
	if k.Left {
		return nil
	}
	var ids []string
	for _, q := range open {
		id := q.ID
		if q.File != nil {
			id = q.File.ID
		}
		if (q.File != nil || supervisor.Posted(q)) && !k.Useless[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// reconcile makes the files what the questions are, and takes an answer that a script has left.
func (k *Syncer) reconcile(ctx context.Context) {
	groups := map[string]bool{}
	k.audit(ctx)
	all := k.questions() // of one moment: a question and its group go together
	for _, q := range all {
		switch {
		case k.Done[q.ID]:
		case supervisor.Posted(q):
			k.show(ctx, q)
		case q.File != nil && !groups[q.Group]:
			groups[q.Group] = true
			k.takeLeft(ctx, q)
			k.settle(ctx, groupIn(all, q))
		}
	}
}

// audit has the decisions that leave no file in the audit log. Of one whose answer may still be changed the line comes
// once it cannot.
func (k *Syncer) audit(ctx context.Context) {
	var all []checkpoints.Decision
	for _, q := range k.questions() {
		if !k.Done[q.ID] && decided(q) && (q.Delivering || q.State != checkpoints.QuestionAnswered) {
			all = append(all, checkpoints.Decision{ID: q.ID, Answered: answeredOf(q, supervisor.AnswerOf(q))})
		}
	}
	if len(all) == 0 {
		return
	}
	err := k.Drop.Audit(all)
	for _, one := range all {
		k.Done[one.ID] = err == nil
	}
	k.trouble(ctx, all[0].ID, err)
}

// show makes the file of one question of ours what the question is.
func (k *Syncer) show(ctx context.Context, q *supervisor.Question) {
	var err error
	switch q.State {
	case checkpoints.QuestionOpen:
		if k.Up[q.ID] {
			return
		}
		f := fileOf(q)
		f.Checkpoint = k.Checkpoint(ctx, q)
		if err = k.Drop.Post(f); err == nil {
			_, err = k.Drop.Question(q.ID)
		}
		k.Up[q.ID] = err == nil
		if errors.Is(err, fs.ErrNotExist) { // its folder was removed in this very moment
			err = nil
			k.Again.Reset(FolderSettles)
		}
	case checkpoints.QuestionWithdrawn:
		err = k.Drop.Withdraw(q.ID)
		k.Done[q.ID] = err == nil && q.Remark == "" // else it may turn out to be answered
	default:
		err = k.Drop.Close(q.ID, answeredOf(q, supervisor.AnswerOf(q)))
		k.Done[q.ID] = err == nil
	}
	k.trouble(ctx, q.ID, err)
}

// TakeLying takes the answers that were put there while nobody supervised the run, before it is decided what that waits
// for. Their files are cleared away, and those that cannot be taken rejected, once the folders are watched.
func (k *Syncer) TakeLying(ctx context.Context, all []*supervisor.Question) {
	for _, q := range all {
		id := q.ID
		switch {
		case q.State != checkpoints.QuestionOpen:
			continue
		case supervisor.Posted(q):
		case q.File != nil && !q.File.Polls && len(groupIn(all, q)) == 1:
			id = q.File.ID
		default:
			continue
		}
		answer, err := k.Drop.ReadAnswer(id)
		if err != nil {
			continue
		}
		if value, err := k.judge(ctx, q, answer); err == nil {
			_ = k.Client.Answer(ctx, q.ID, client.Answer{Text: value, By: supervisor.ByFile}) // else it is tried again
		}
	}
}

// takeLeft takes the answer to an open question that lay there before its script gave up without having seen it.
func (k *Syncer) takeLeft(ctx context.Context, q *supervisor.Question) {
	id := q.File.ID
	answer, lies := k.Saw(id)
	if !lies || q.File.Polls || q.State != checkpoints.QuestionOpen || ctx.Err() != nil {
		return
	}
	k.See(id, "")
	if k.Drop.Answered(id) {
		k.read(ctx, checkpoints.FileDropEvent{Kind: checkpoints.FileDropAnswer, ID: id, Answer: answer})
	}
}

// settle clears away the file of an agent's own script once its questions are answered and no script waits for it.
func (k *Syncer) settle(ctx context.Context, group []*supervisor.Question) {
	first := group[0]
	for _, q := range group {
		if q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered &&
			(q.File.Polls || q.File.Drop != "") {
			return
		}
	}
	if first.State == checkpoints.QuestionWithdrawn {
		var err error
		if first.File.Ran { // else whoever put it there takes it away
			err = k.Drop.Discard(first.File.ID)
		}
		k.Done[first.ID] = err == nil
		k.trouble(ctx, first.File.ID, err)
		return
	}
	err := k.Drop.Close(first.File.ID, answeredOf(first, supervisor.AnswersInOne(group)))
	if err == nil && !first.File.Polls {
		err = k.Drop.Consume(first.File.ID)
	}
	for _, q := range group {
		k.Done[q.ID] = err == nil
	}
	k.trouble(ctx, first.File.ID, err)
}

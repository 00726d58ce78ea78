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
	"claude-supervise/supervisor/prompts"
)

// A Syncer keeps one run's questions in the folders of question and answer files as they are in the database, and
// leaves answers that are dropped there in the inbox, like any other client. What it does can be done again after a
// crash: the database alone decides.
type Syncer struct {
	*checkpoints.FileDrop
	client client.Client
	// checkpoint gives the absolute path of the checkpoint that the question goes on from: the agent's own, else ours,
	// which it writes if there is none; "" where it cannot.
	checkpoint func(ctx context.Context, q *supervisor.Question) string
	log        zerolog.Logger
	events     chan checkpoints.FileDropEvent
	news       chan<- supervisor.FileEvent // for the engine
	changed    chan struct{}               // latest was replaced
	again      *time.Timer                 // to put up what was removed

	done map[string]bool   // questions whose files are as they will stay
	up   map[string]bool   // questions whose file is up
	told map[string]string // the trouble that was told of a question's files last

	mu      sync.Mutex             // guards what follows
	latest  []*supervisor.Question // all of the run, as they were saved last
	seen    map[string]string      // answers that lie in the files of scripts, by id: theirs to take
	useless map[string]bool        // answer files that are none, by id
	left    bool                   // nothing is heard of the folders any more
}

// folderSettles is how long a folder that was removed is left alone: at once, whoever removes it would stumble.
const folderSettles = time.Second

// Open opens the folders of question files in a folder of Claude's own, for one run. What happens there goes to news.
func Open(folder string, c client.Client, log zerolog.Logger, news chan<- supervisor.FileEvent,
	checkpoint func(ctx context.Context, q *supervisor.Question) string) (*Syncer, error) {
	drop, err := checkpoints.OpenFileDrop(folder)
	if err != nil {
		return nil, err
	}
	return &Syncer{
		FileDrop: drop, client: c, log: log, news: news, checkpoint: checkpoint,
		events: make(chan checkpoints.FileDropEvent), changed: make(chan struct{}, 1), again: time.NewTimer(folderSettles),
		done: map[string]bool{}, up: map[string]bool{}, told: map[string]string{}, seen: map[string]string{},
		useless: map[string]bool{},
	}, nil
}

// Set takes the run's questions as they were saved. It does not block.
func (k *Syncer) Set(all []*supervisor.Question) {
	k.mu.Lock()
	k.latest = all
	k.mu.Unlock()
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

func (k *Syncer) questions() []*supervisor.Question {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.latest
}

// Knows reports whether an id is that of a question file of an agent's, in the questions that were saved last.
func (k *Syncer) Knows(id string) bool {
	return slices.ContainsFunc(k.questions(),
		func(q *supervisor.Question) bool { return q.File != nil && q.File.ID == id })
}

// See takes note of an answer in the file of a script; "" of none.
func (k *Syncer) See(id, answer string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if answer == "" {
		delete(k.seen, id)
		return
	}
	k.seen[id] = answer
	k.log.Info().Str("question", id).Msg("an answer lies in the file of its script")
}

// Saw gives the answer that was seen in the file of a script last.
func (k *Syncer) Saw(id string) (answer string, seen bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	answer, seen = k.seen[id]
	return answer, seen
}

func (k *Syncer) gone(ctx context.Context, id string) {
	answer, _ := k.Saw(id)
	k.send(ctx, supervisor.FileEvent{ID: id, Gone: true, Answer: answer})
}

// Keep keeps the folders until its context ends, and then looks at them for the last time.
func (k *Syncer) Keep(ctx context.Context) {
	var watching sync.WaitGroup
	watching.Go(func() { k.watch(ctx) })
	defer watching.Wait()
	for {
		select {
		case <-k.changed:
			k.reconcile(ctx)
		case <-k.again.C:
			k.reconcile(ctx)
		case event := <-k.events:
			k.read(ctx, event)
		case <-ctx.Done():
			k.again.Stop()
			k.reconcile(ctx)
			return
		}
	}
}

// watch passes on what is seen in the folders, until ctx ends.
func (k *Syncer) watch(ctx context.Context) {
	if err := checkpoints.MakePrivate(checkpoints.Workflows); err != nil {
		k.tell(ctx, err.Error()+"; have scripts keep their checkpoints in another folder")
	}
	err := k.Watch(ctx, func(event checkpoints.FileDropEvent) {
		select {
		case k.events <- event:
		case <-ctx.Done():
		}
	})
	k.mu.Lock()
	k.left = true
	k.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		k.tell(ctx, "question files are no longer watched: "+err.Error())
	}
}

// Awaited gives the ids under which an answer to open questions may lie.
func (k *Syncer) Awaited(open []*supervisor.Question) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left {
		return nil
	}
	var ids []string
	for _, q := range open {
		id := q.ID
		if q.File != nil {
			id = q.File.ID
		}
		if (q.File != nil || supervisor.Posted(q)) && !k.useless[id] {
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
		case k.done[q.ID]:
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
		if !k.done[q.ID] && decided(q) && (q.Delivering || q.State != checkpoints.QuestionAnswered) {
			all = append(all, checkpoints.Decision{ID: q.ID, Answered: answeredOf(q, prompts.Answer(q))})
		}
	}
	if len(all) == 0 {
		return
	}
	err := k.Audit(all)
	for _, one := range all {
		k.done[one.ID] = err == nil
	}
	k.trouble(ctx, all[0].ID, err)
}

// show makes the file of one question of ours what the question is.
func (k *Syncer) show(ctx context.Context, q *supervisor.Question) {
	var err error
	switch q.State {
	case checkpoints.QuestionOpen:
		if k.up[q.ID] {
			return
		}
		f := fileOf(q)
		f.Checkpoint = k.checkpoint(ctx, q)
		if err = k.Post(f); err == nil {
			_, err = k.Question(q.ID)
		}
		k.up[q.ID] = err == nil
		if errors.Is(err, fs.ErrNotExist) { // its folder was removed in this very moment
			err = nil
			k.again.Reset(folderSettles)
		}
	case checkpoints.QuestionWithdrawn:
		err = k.Withdraw(q.ID)
		k.done[q.ID] = err == nil && q.Remark == "" // else it may turn out to be answered
	default:
		err = k.Close(q.ID, answeredOf(q, prompts.Answer(q)))
		k.done[q.ID] = err == nil
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
		answer, err := k.ReadAnswer(id)
		if err != nil {
			continue
		}
		if value, err := k.judge(ctx, q, answer); err == nil {
			_ = k.client.Answer(ctx, q.ID, client.Answer{Text: value, By: supervisor.ByFile}) // else it is tried again
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
	if k.Answered(id) {
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
			err = k.Discard(first.File.ID)
		}
		k.done[first.ID] = err == nil
		k.trouble(ctx, first.File.ID, err)
		return
	}
	err := k.Close(first.File.ID, answeredOf(first, supervisor.AnswersInOne(group)))
	if err == nil && !first.File.Polls {
		err = k.Consume(first.File.ID)
	}
	for _, q := range group {
		k.done[q.ID] = err == nil
	}
	k.trouble(ctx, first.File.ID, err)
}

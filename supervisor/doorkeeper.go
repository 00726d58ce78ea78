package supervisor

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"claude-supervise/checkpoints"
)

// A doorkeeper keeps one run's questions in the folders of question and answer files as they are in the database, and leaves
// answers that are dropped there in the inbox, like any other client. What it does can be done again after a crash: the
// database alone decides.
type doorkeeper struct {
	door   *checkpoints.Door
	client Client
	choose func(q *Question, typed string) (string, error)
	log    zerolog.Logger
	events chan checkpoints.DoorEvent
	news   chan fileNews // for the engine

	mu      sync.Mutex
	latest  []*Question       // all of the run, as they were saved last
	seen    map[string]string // answers that lie in the files of scripts, by id: theirs to take
	changed chan struct{}     // latest was replaced

	done map[string]bool   // questions whose files are as they will stay
	up   map[string]bool   // questions whose file is up
	told map[string]string // the trouble that was told of a question's files last

	useless map[string]bool // answer files that are none, by id; guarded by mu, as is
	left    bool            // nothing is heard of the folders any more

	again *time.Timer // to put up what was removed
}

// folderSettles is how long a folder that was removed is left alone: at once, whoever removes it would stumble.
const folderSettles = time.Second

// fileNews is what the engine hears of its doorkeeper: what it has seen of a file that is not ours, or what who watches the run
// should be told.
type fileNews struct {
	id     string
	gone   bool   // taken away by the script that put it there
	answer string // what was seen in its answer file
	told   string
}

// keepDoor opens the door and keeps it until stop is called, which waits for the last look. Where the folders cannot be used
// the run goes on without them.
func (e *engine) keepDoor(ctx context.Context) (stop func()) {
	if e.Claude == "" {
		return func() {}
	}
	door, err := checkpoints.OpenDoor(e.Claude)
	if err != nil {
		e.Tell(Notice{Time: now(), Run: e.run, Type: Progress, Trouble: true, Text: err.Error() + "; questions are answered in the other ways"})
		return func() {}
	}
	k := &doorkeeper{
		door: door, client: Client{Dirs: e.Dirs, Store: e.Store, At: e.At}, choose: e.Choose, log: e.log,
		events: make(chan checkpoints.DoorEvent), news: e.news, changed: make(chan struct{}, 1),
		seen: map[string]string{}, done: map[string]bool{}, up: map[string]bool{}, told: map[string]string{},
		useless: map[string]bool{}, again: time.NewTimer(folderSettles),
	}
	e.door, e.keeper = door, k
	k.takeLying(ctx, e.state.questions(func(*Question) bool { return true }))
	ctx, cancel := context.WithCancel(ctx)
	var actors sync.WaitGroup
	actors.Go(func() {
		err := door.Watch(ctx, func(event checkpoints.DoorEvent) {
			select {
			case k.events <- event:
			case <-ctx.Done():
			}
		})
		k.mu.Lock()
		k.left = true
		k.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			k.tell(ctx, "question files are not watched any more: "+err.Error())
		}
	})
	actors.Go(func() { k.keep(ctx) })
	return func() {
		cancel()
		actors.Wait()
	}
}

// set takes the run's questions as they were saved. It does not block.
func (k *doorkeeper) set(all []*Question) {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.latest = all
	k.mu.Unlock()
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

func (k *doorkeeper) questions() []*Question {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.latest
}

// knows tells whether an id is that of a question file of an agent's, in the questions that were saved last.
func (k *doorkeeper) knows(id string) bool {
	return k != nil && slices.ContainsFunc(k.questions(), func(q *Question) bool { return q.File != nil && q.File.ID == id })
}

// see takes note of an answer in the file of a script; "" of none.
func (k *doorkeeper) see(id, answer string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen[id] = answer; answer == "" {
		delete(k.seen, id)
	}
}

// saw gives the answer that was seen in the file of a script last.
func (k *doorkeeper) saw(id string) (answer string, seen bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	answer, seen = k.seen[id]
	return answer, seen
}

func (k *doorkeeper) gone(ctx context.Context, id string) {
	answer, _ := k.saw(id)
	k.send(ctx, fileNews{id: id, gone: true, answer: answer})
}

func (k *doorkeeper) keep(ctx context.Context) {
	for {
		select {
		case <-k.changed:
			k.reconcile(ctx)
		case <-k.again.C:
			k.reconcile(ctx)
		case event := <-k.events:
			k.hear(ctx, event)
		case <-ctx.Done():
			k.again.Stop()
			k.reconcile(ctx)
			return
		}
	}
}

// posted tells whether a question lies in the folder under its own id: those that anybody may answer, and that have no file
// of their agent's.
func posted(q *Question) bool {
	return q.File == nil && (q.Kind == checkpoints.AskClarification || q.Kind == checkpoints.AskBlocker)
}

// expects tells whether the answer to an open question lies in its file and has yet to be taken. That it was, or cannot be, the
// engine hears.
func (k *doorkeeper) expects(open []*Question) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.left && slices.ContainsFunc(open, func(q *Question) bool {
		id := q.ID
		if q.File != nil {
			id = q.File.ID
		}
		return (q.File != nil || posted(q)) && !k.useless[id] && k.door.Answered(id)
	})
}

// reconcile makes the files what the questions are, and takes an answer that a script has left.
func (k *doorkeeper) reconcile(ctx context.Context) {
	groups := map[string]bool{}
	for _, q := range k.questions() {
		switch {
		case k.done[q.ID]:
		case posted(q):
			k.show(ctx, q)
		case q.File != nil && !groups[q.Group]:
			groups[q.Group] = true
			k.takeLeft(ctx, q)
			k.settle(ctx, q)
		}
	}
}

// show makes the file of one question of ours what the question is.
func (k *doorkeeper) show(ctx context.Context, q *Question) {
	var err error
	switch q.State {
	case checkpoints.QuestionOpen:
		if k.up[q.ID] {
			return
		}
		if err = k.door.Post(fileOf(q)); err == nil {
			_, err = k.door.Question(q.ID)
		}
		k.up[q.ID] = err == nil
		if errors.Is(err, fs.ErrNotExist) { // its folder was removed in this very moment
			err = nil
			k.again.Reset(folderSettles)
		}
	case checkpoints.QuestionWithdrawn:
		err = k.door.Withdraw(q.ID)
		k.done[q.ID] = err == nil
	default:
		err = k.door.Close(q.ID, answeredOf(q, answerOf(q)))
		k.done[q.ID] = err == nil
	}
	k.trouble(ctx, q.ID, err)
}

// takeLying takes the answers that were put there while nobody supervised the run, before it is decided what that waits for.
// Their files are cleared away, and those that cannot be taken rejected, once the folders are watched.
func (k *doorkeeper) takeLying(ctx context.Context, all []*Question) {
	for _, q := range all {
		id := q.ID
		switch {
		case q.State != checkpoints.QuestionOpen:
			continue
		case posted(q):
		case q.File != nil && !q.File.Polls && len(groupIn(all, q)) == 1:
			id = q.File.ID
		default:
			continue
		}
		answer, err := k.door.ReadAnswer(id)
		if err != nil {
			continue
		}
		if value, err := k.choose(q, answer); err == nil {
			_ = k.client.Answer(ctx, q.ID, Answer{Text: value, By: byFile}) // else it is tried again
		}
	}
}

// takeLeft takes the answer to an open question that lay there before its script gave up without having seen it.
func (k *doorkeeper) takeLeft(ctx context.Context, q *Question) {
	id := q.File.ID
	answer, lies := k.saw(id)
	if !lies || q.File.Polls || q.State != checkpoints.QuestionOpen || ctx.Err() != nil {
		return
	}
	k.see(id, "")
	if k.door.Answered(id) {
		k.hear(ctx, checkpoints.DoorEvent{Kind: checkpoints.DoorAnswer, ID: id, Answer: answer})
	}
}

// settle clears away the file of an agent's own script once its questions are answered and no script waits for it.
func (k *doorkeeper) settle(ctx context.Context, first *Question) {
	group := k.group(first)
	for _, q := range group {
		if q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered && (q.File.Polls || q.File.Drop != "") {
			return
		}
	}
	if first.State == checkpoints.QuestionWithdrawn {
		k.done[first.ID] = true // whoever put it there takes it away
		return
	}
	err := k.door.Close(first.File.ID, answeredOf(first, answersInOne(group)))
	if err == nil && !first.File.Polls {
		err = k.door.Consume(first.File.ID)
	}
	for _, q := range group {
		k.done[q.ID] = err == nil
	}
	k.trouble(ctx, first.File.ID, err)
}

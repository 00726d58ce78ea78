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
	"claude-supervise/checkpoints/files"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// A Config is the run whose questions stand in files, and whom to tell of what is seen there.
type Config struct {
	Folder string // Claude's own, ~/.claude: the folders of question files are in it
	Run    string
	Dirs   checkpoints.Dirs
	// Questions reads questions of any run.
	Questions func(context.Context, checkpoints.QuestionFilter) ([]supervisor.Question, error)
	Inbox     Inbox
	// Checkpoint returns the absolute path of the checkpoint that a question goes on from: the agent's own, else ours,
	// which it writes if there is none; "" where it cannot.
	Checkpoint func(ctx context.Context, q *supervisor.Question) string
	News       chan<- supervisor.FileEvent // what happens to files that are not ours
	Log        zerolog.Logger
}

// An Inbox takes the answers of files.
type Inbox interface {
	// Answer leaves an answer to a question, as one that came by file. The first stands: a *checkpoints.TakenError says
	// whose.
	Answer(ctx context.Context, question, text string) error

	// PlaceOf is where the paths in an answer begin.
	PlaceOf(ctx context.Context, q *supervisor.Question) (questions.Place, error)
}

// A FileDrop keeps one run's questions in the folders of question and answer files as they are in the database, and
// leaves answers that are put there in the inbox, like any other client. What it does can be done again after a crash:
// the database alone decides.
type FileDrop struct {
	*Folders
	config  Config
	events  chan Event
	changed chan struct{} // latest was replaced
	again   *time.Timer   // to put up what was removed

	done map[string]bool   // questions whose files are as they will stay
	up   map[string]bool   // questions whose file is up
	told map[string]string // the trouble that was told of a question's files last

	mu      sync.Mutex             // guards what follows
	latest  []*supervisor.Question // all of the run, as they were saved last
	seen    map[string]string      // answers that lie in the files of scripts, by id: theirs to take
	useless map[string]bool        // answer files that are none, by id
	left    bool                   // nothing is heard of the folders any more
}

// New opens the folders for one run.
func New(c Config) (*FileDrop, error) {
	folders, err := OpenFolders(c.Folder)
	if err != nil {
		return nil, err
	}
	return &FileDrop{
		Folders: folders, config: c,
		events: make(chan Event), changed: make(chan struct{}, 1), again: time.NewTimer(folderSettles),
		done: map[string]bool{}, up: map[string]bool{}, told: map[string]string{}, seen: map[string]string{},
		useless: map[string]bool{},
	}, nil
}

// Put writes an answer where a script looks for it. One that somebody else has put there yields: the database goes
// before it.
func (k *FileDrop) Put(id, answer string) error {
	err := k.Answer(id, answer)
	if errors.Is(err, fs.ErrExist) {
		if _, err = k.Unanswer(id); err == nil {
			err = k.Answer(id, answer)
		}
	}
	if err == nil {
		k.see(id, prompts.InLine(answer)) // perhaps in the place of another
	}
	return err
}

// Set takes the run's questions as they were saved. It does not block.
func (k *FileDrop) Set(all []*supervisor.Question) {
	k.mu.Lock()
	k.latest = all
	k.mu.Unlock()
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

func (k *FileDrop) questions() []*supervisor.Question {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.latest
}

// Knows reports whether an id is that of a question file of an agent's, in the questions that were saved last.
func (k *FileDrop) Knows(id string) bool {
	return slices.ContainsFunc(k.questions(),
		func(q *supervisor.Question) bool { return q.File != nil && q.File.ID == id })
}

// see takes note of an answer in the file of a script; "" of none.
func (k *FileDrop) see(id, answer string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if answer == "" {
		delete(k.seen, id)
		return
	}
	k.seen[id] = answer
	k.config.Log.Info().Str("question", id).Msg("an answer lies in the file of its script")
}

// Saw returns the answer that was seen in the file of a script last.
func (k *FileDrop) Saw(id string) (answer string, seen bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	answer, seen = k.seen[id]
	return answer, seen
}

func (k *FileDrop) gone(ctx context.Context, id string) {
	answer, _ := k.Saw(id)
	k.send(ctx, supervisor.FileEvent{ID: id, Gone: true, Answer: answer})
}

// Run keeps the folders until its context ends, and then looks at them for the last time.
func (k *FileDrop) Run(ctx context.Context) {
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
func (k *FileDrop) watch(ctx context.Context) {
	if err := files.MakePrivate(Workflows); err != nil {
		k.tell(ctx, err.Error()+"; have scripts keep their checkpoints in another folder")
	}
	err := k.Watch(ctx, func(event Event) {
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

// Awaited returns the ids under which an answer to open questions may lie.
func (k *FileDrop) Awaited(open []*supervisor.Question) []string {
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
		if (q.File != nil || questions.Posted(q)) && !k.useless[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// reconcile makes the files what the questions are, and takes an answer that a script has left.
func (k *FileDrop) reconcile(ctx context.Context) {
	groups := map[string]bool{}
	k.audit(ctx)
	all := k.questions() // of one moment: a question and its group go together
	for _, q := range all {
		switch {
		case k.done[q.ID]:
		case questions.Posted(q):
			k.show(ctx, q)
		case q.File != nil && !groups[q.Group]:
			groups[q.Group] = true
			k.takeLeft(ctx, q)
			k.clearAway(ctx, groupIn(all, q))
		}
	}
}

// audit has the decisions that leave no file in the audit log. Of one whose answer may still be changed the line comes
// once it cannot.
func (k *FileDrop) audit(ctx context.Context) {
	var all []Decision
	for _, q := range k.questions() {
		if !k.done[q.ID] && decided(q) && (q.Delivering || q.State != checkpoints.QuestionAnswered) {
			all = append(all, Decision{ID: q.ID, Answered: answeredOf(q, prompts.Answer(q))})
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
func (k *FileDrop) show(ctx context.Context, q *supervisor.Question) {
	var err error
	switch q.State {
	case checkpoints.QuestionOpen:
		if k.up[q.ID] {
			return
		}
		f := fileOf(q)
		f.Checkpoint = k.config.Checkpoint(ctx, q)
		if q.Image != nil {
			f.Image = k.config.Dirs.RunFile(q.Run, q.Image.File(q.Agent))
		}
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
func (k *FileDrop) TakeLying(ctx context.Context, all []*supervisor.Question) {
	for _, q := range all {
		id := q.ID
		switch {
		case q.State != checkpoints.QuestionOpen:
			continue
		case questions.Posted(q):
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
			_ = k.config.Inbox.Answer(ctx, q.ID, value) // else it is tried again
		}
	}
}

// takeLeft takes the answer to an open question that lay there before its script gave up without having seen it.
func (k *FileDrop) takeLeft(ctx context.Context, q *supervisor.Question) {
	id := q.File.ID
	answer, lies := k.Saw(id)
	if !lies || q.File.Polls || q.State != checkpoints.QuestionOpen || ctx.Err() != nil {
		return
	}
	k.see(id, "")
	if k.Answered(id) {
		k.read(ctx, Event{Kind: AnswerFound, ID: id, Answer: answer})
	}
}

// clearAway removes the file of an agent's own script once its questions are answered and no script waits for it.
func (k *FileDrop) clearAway(ctx context.Context, group []*supervisor.Question) {
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
	err := k.Close(first.File.ID, answeredOf(first, prompts.AnswersInOne(group)))
	if err == nil && !first.File.Polls {
		err = k.Consume(first.File.ID)
	}
	for _, q := range group {
		k.done[q.ID] = err == nil
	}
	k.trouble(ctx, first.File.ID, err)
}

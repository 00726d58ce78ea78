package precedents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/internal/storetest"
	"claude-supervise/supervisor/questions"
)

const auth = "Auth | Which auth method should I use? | JWT | Sessions"

// A past is what a person has answered on this machine.
type past struct {
	t     testing.TB
	saver *storetest.Saver
	index string
	now   time.Time
	seq   map[string]int64

	permitted int
}

func newPast(t *testing.T) *past {
	t.Helper()
	s := storetest.NewSaver(t, storetest.TestDirs(t), "r-aaaaaaaa")
	s.Run.Cwd = "/here"
	return &past{t, s, filepath.Join(t.TempDir(), "index"), checkpoints.Now(), map[string]int64{}, 0}
}

// answered saves questions of a run as they were answered, after change.
func (p *past) answered(run *checkpoints.Run, asked []*checkpoints.Question, change func(*checkpoints.Question)) {
	p.t.Helper()
	for i, q := range asked {
		at := p.now.Add(time.Duration(i) * time.Second)
		q.Run, q.Agent, q.State, q.AskedAt = run.ID, run.Root, checkpoints.QuestionOpen, at
	}
	p.commit(run, asked)
	for _, q := range asked {
		at := q.AskedAt
		note := checkpoints.InboxEntry{Question: q.ID, Value: q.Answer, By: "ann", At: at}
		if _, err := p.saver.Store.Answer(p.t.Context(), note); err != nil {
			p.t.Fatal(err)
		}
		q.State, q.AnsweredAt, q.AnsweredBy = checkpoints.QuestionDelivered, &at, "ann"
		if change != nil {
			change(q)
		}
	}
	p.commit(run, asked)
	p.now = p.now.Add(time.Hour)
}

func (p *past) commit(run *checkpoints.Run, asked []*checkpoints.Question) {
	p.t.Helper()
	p.seq[run.ID]++
	err := p.saver.Store.Commit(p.t.Context(), checkpoints.Change{Run: run, Questions: asked,
		Event: checkpoints.Event{Run: run.ID, Seq: p.seq[run.ID], At: p.now, Type: "test", Doc: []byte(`{}`)}})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *past) answers(id, written, answer string) *checkpoints.Question {
	q := asks(questions.AskClarification, written)
	q.ID, q.Answer = id, answer
	return q
}

func (p *past) found(written, cwd string) (answers []string) {
	p.t.Helper()
	q := asks(questions.AskClarification, written)
	q.ID = "q-new"
	found, err := Find(p.t.Context(), p.saver.Store, p.index, q, cwd)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, f := range found {
		answers = append(answers, f.Answer)
	}
	return answers
}

func (p *past) mustFind(written, cwd string, want ...string) {
	p.t.Helper()
	if got := p.found(written, cwd); !slices.Equal(got, want) {
		p.t.Errorf("for %q there is %q, and not %q", written, got, want)
	}
}

func TestThePastIsFoundWithWhatIsNearestFirst(t *testing.T) {
	p := newPast(t)
	p.mustFind(auth, "/here")
	p.answered(&p.saver.Run, []*checkpoints.Question{p.answers("q-1", auth, "Sessions")}, nil)
	p.answered(&p.saver.Run, []*checkpoints.Question{
		p.answers("q-2", "Auth | Which authentication? Choose an auth method. | JWT | Sessions", "JWT")}, nil)
	p.mustFind(auth, "/here", "Sessions", "JWT")
	elsewhere := &checkpoints.Run{ID: "r-bbbbbbbb", Root: "a-bbbbbbbb", Cwd: "/there", StartedAt: p.now}
	p.answered(elsewhere, []*checkpoints.Question{p.answers("q-3", auth, "None, it is behind a proxy")}, nil)
	p.mustFind(auth, "/here", "Sessions", "JWT", "None, it is behind a proxy")
	p.mustFind(auth, "/there", "None, it is behind a proxy", "Sessions", "JWT")
	p.mustFind("Auth | Which auth method should I use? | mTLS | Sessions", "/here", "Sessions", "None, it is behind a proxy")
}

// Of very many answers to the very same question the last are found, and those of the folder before.
func TestAmongVeryManyOfTheSameTheLastAreFound(t *testing.T) {
	p := newPast(t)
	said := 0
	say := func(run *checkpoints.Run, times int, answer string) {
		var asked []*checkpoints.Question
		for range times {
			asked = append(asked, p.answers(fmt.Sprintf("q-%d", said), auth, answer))
			said++
		}
		p.answered(run, asked, nil)
	}
	elsewhere := &checkpoints.Run{ID: "r-bbbbbbbb", Root: "a-bbbbbbbb", Cwd: "/there", StartedAt: p.now}
	say(&p.saver.Run, 2*looked, "JWT")
	say(&p.saver.Run, 1, "Sessions")
	p.mustFind(auth, "/here", "Sessions", "JWT")
	say(elsewhere, 2*looked, "None")
	p.mustFind(auth, "/here", "Sessions", "JWT", "None")
	p.mustFind(auth, "/there", "None", "JWT")
	found, err := Find(t.Context(), p.saver.Store, p.index, asks(questions.AskClarification, auth), "/there")
	if err != nil || !strings.Contains(found[0].Said(), ", 40 times or more (r-bbbbbbbb)") {
		t.Errorf("there is %+v (%v)", found, err)
	}
}

// Ten agents that ask the same at once are each answered for itself: none has a precedent before a person has answered
// one of them, and then all others have that.
func TestTheSameQuestionOfTenAgentsHasTheFirstAnswerAsPrecedent(t *testing.T) {
	p := newPast(t)
	var asked []*checkpoints.Question
	for i := range 10 {
		asked = append(asked, p.answers(fmt.Sprintf("q-%d", i), auth, ""))
	}
	open := func(q *checkpoints.Question) { q.State, q.AnsweredAt = checkpoints.QuestionOpen, nil }
	p.answered(&p.saver.Run, asked, open)
	for n, q := range asked {
		found, err := Find(t.Context(), p.saver.Store, p.index, q, "/here")
		if err != nil || len(found) != min(n, 1) || n > 0 && (found[0].Answer != "JWT" || found[0].Times != n) {
			t.Errorf("the question of agent %d has %+v (%v)", n, found, err)
		}
		at := p.now
		q.Answer, q.State, q.AnsweredAt, q.AnsweredBy = "JWT", checkpoints.QuestionDelivered, &at, "ann"
		p.commit(&p.saver.Run, []*checkpoints.Question{q})
	}
}

// What nobody has said here is nobody's word.
func TestWhatIsNoPersonsWordIsNotFound(t *testing.T) {
	for how, change := range map[string]func(*checkpoints.Question){
		"a rule":               func(q *checkpoints.Question) { q.ByRule = true },
		"a hook":               func(q *checkpoints.Question) { q.AnsweredBy = checkpoints.ByHook },
		"a file":               func(q *checkpoints.Question) { q.AnsweredBy = supervisor.ByFile },
		"taken back":           func(q *checkpoints.Question) { q.Revoked = "ann" },
		"skipped":              func(q *checkpoints.Question) { q.Skipped = true },
		"declined":             func(q *checkpoints.Question) { q.Declined = true },
		"withdrawn":            func(q *checkpoints.Question) { q.State = checkpoints.QuestionWithdrawn },
		"as another like it":   func(q *checkpoints.Question) { q.Like = "q-0" },
		"a secret of a server": func(q *checkpoints.Question) { q.Kind = questions.AskElicitation },
	} {
		t.Run(how, func(t *testing.T) {
			p := newPast(t)
			p.answered(&p.saver.Run, []*checkpoints.Question{p.answers("q-1", auth, "JWT")}, change)
			p.mustFind(auth, "/here")
		})
	}
	t.Run("brought in a file", func(t *testing.T) {
		p := newPast(t)
		p.saver.Run.FromPack = "theirs.pack"
		p.answered(&p.saver.Run, []*checkpoints.Question{p.answers("q-1", auth, "JWT")}, nil)
		p.mustFind(auth, "/here")
		since := p.now
		p.saver.Run.KeyedSince = &since
		p.answered(&p.saver.Run, []*checkpoints.Question{p.answers("q-2", auth, "Sessions")}, nil)
		p.mustFind(auth, "/here", "Sessions")
	})
}

func TestAnIndexThatIsOfNoUseIsMadeAnew(t *testing.T) {
	p := newPast(t)
	p.answered(&p.saver.Run, []*checkpoints.Question{p.answers("q-1", auth, "JWT")}, nil)
	p.mustFind(auth, "/here", "JWT")
	for how, spoil := range map[string]func() error{
		"gone": func() error { return checkpoints.RemoveDatabase(p.index) },
		"damaged": func() error {
			return os.WriteFile(p.index, []byte("no database at all, but long enough to be one"), 0o600)
		},
		"emptied":  func() error { return os.Truncate(p.index, 0) },
		"a folder": func() error { return os.Mkdir(p.index, 0o700) },
	} {
		if err := checkpoints.RemoveDatabase(p.index); err != nil {
			t.Fatal(err)
		}
		if err := spoil(); err != nil && how != "emptied" {
			t.Fatal(err)
		}
		t.Log(how)
		p.mustFind(auth, "/here", "JWT")
	}
	if err := p.saver.Store.Close(); err != nil {
		t.Fatal(err)
	}
	other := newPast(t) // whose inbox has fewer notes
	other.index = p.index
	other.mustFind(auth, "/here")
}

func BenchmarkFindAmongTenThousand(b *testing.B) {
	s := storetest.NewSaver(b, storetest.TestDirs(b), "r-aaaaaaaa")
	p := &past{b, s, filepath.Join(b.TempDir(), "index"), checkpoints.Now(), map[string]int64{}, 0}
	subjects := []string{"auth", "database", "cache", "queue", "logging", "deploy", "licence", "colour", "column", "index"}
	for batch := range 100 {
		var asked []*checkpoints.Question
		for i := range 100 {
			n := batch*100 + i
			written := fmt.Sprintf("%s | Which %s method should service w%c%c of module m%c use? | one | two", subjects[n%10],
				subjects[n/10%10], 'a'+n/100%26, 'a'+n%26, 'a'+n/1000%26)
			asked = append(asked, p.answers(fmt.Sprintf("q-%d", n), written, "one"))
		}
		p.answered(&s.Run, asked, nil)
	}
	q := asks(questions.AskClarification, "auth | Which auth method should the service of this module use? | one | two")
	find := func() {
		if _, err := Find(b.Context(), s.Store, p.index, q, "/here"); err != nil {
			b.Fatal(err)
		}
	}
	find()
	for b.Loop() {
		find()
	}
}

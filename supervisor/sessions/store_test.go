package sessions

import (
	"fmt"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
)

// What waits is kept, however much has been asked; what is closed for a week, or of five hundred, so that a session that
// asks all day leaves room for others.
func TestWhatIsClosedLeavesRoomForWhatIsAsked(t *testing.T) {
	d := checkpoints.Dirs{State: t.TempDir(), Runtime: t.TempDir()}
	if err := files.MakePrivate(Folder(d)); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	asks := transcript(t, callOne) // and has no answer
	kept := func(name string, s State, age time.Duration) string {
		id := checkpoints.QuestionPrefix + name
		a := &Ask{Schema: schema, ID: id, State: s, Settled: s != Open && s != Ended, Transcript: asks, Call: "t1",
			Questions: []*checkpoints.Question{
				{ID: id, State: checkpoints.QuestionOpen, AskedAt: now.Add(-age)}}}
		if err := a.save(d); err != nil {
			t.Fatal(err)
		}
		return id
	}
	for i := range maxClosed + 100 {
		kept(fmt.Sprintf("c%05d", i), Answered, time.Duration(i)*time.Second)
	}
	kept("week", OnScreen, keepFor+time.Second)
	ended, forgotten := kept("ended", Ended, 4*keepFor), kept("forgotten", Ended, 6*keepFor)
	open := kept("open", Open, 6*keepFor)
	lock := flock.New(pathOf(d, open, ".lock"))
	if got, err := lock.TryLock(); err != nil || !got {
		t.Fatal(got, err)
	}
	defer lock.Close()
	tidy(d, now)
	left := map[string]bool{}
	names, err := ids(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range names {
		left[id] = true
	}
	if len(left) != maxClosed+2 || !left[ended] || !left[open] || left[forgotten] ||
		!left[checkpoints.QuestionPrefix+"c00499"] || left[checkpoints.QuestionPrefix+"c00500"] {
		t.Errorf("%d are left: ended %v, open %v, forgotten %v", len(left), left[ended], left[open], left[forgotten])
	}
}

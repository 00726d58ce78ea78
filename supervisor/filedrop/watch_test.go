package filedrop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// A watchedDrop is a Watch under way. It is ended and waited for at the end of the test.
type watchedDrop struct {
	t      testing.TB
	events chan Event
	end    func()
}

func watchFileDrop(t testing.TB, d *Folders) *watchedDrop {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watchedDrop{t: t, events: make(chan Event, 2*dropMost)}
	ended := make(chan error, 1)
	go func() { ended <- d.Watch(ctx, func(e Event) { w.events <- e }) }()
	w.end = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		ended <- nil
	}
	t.Cleanup(w.end)
	return w
}

// next waits for the next event.
func (w *watchedDrop) next() Event { return <-w.events }

// told returns what was told so far.
func (w *watchedDrop) told() (events []Event) {
	w.t.Helper()
	for {
		select {
		case e := <-w.events:
			events = append(events, e)
		default:
			return events
		}
	}
}

func (w *watchedDrop) wants(want ...Event) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.told()); diff != "" {
		w.t.Error(diff)
	}
}

func (w *watchedDrop) wantsNext(want Event) {
	w.t.Helper()
	if got := w.next(); got != want {
		w.t.Errorf("told %+v, want %+v", got, want)
	}
}

// deaf is a kernel that has no watch left: the file drops of tests in simulated time look every second.
func deaf() (*fsnotify.Watcher, error) { return nil, unix.EMFILE }

// inSimulatedTime runs a test on a file drop that polls, whose first problem, that it does, has been told.
func inSimulatedTime(t *testing.T, test func(t *testing.T, d *Folders, w *watchedDrop)) {
	claude := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := openFileDrop(t, claude)
		d.kernel = deaf
		w := watchFileDrop(t, d)
		if e := w.next(); e.Kind != Problem || !strings.Contains(e.Problem, "every second") ||
			!strings.Contains(e.Problem, "max_user_instances") {
			t.Errorf("without the kernel: %+v", e)
		}
		synctest.Wait()
		test(t, d, w)
	})
}

// pass lets simulated time pass, and what happens in it happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

const tick = time.Millisecond

func TestWithoutTheKernelTheFileDropLooksEverySecond(t *testing.T) {
	inSimulatedTime(t, func(t *testing.T, d *Folders, w *watchedDrop) {
		put(t, d, "answers/w_q1.txt", "oauth\n")
		pass(pollInterval - tick)
		w.wants()
		pass(tick)
		w.wants(Event{Kind: AnswerFound, ID: "w_q1", Answer: "oauth"})
		pass(time.Hour)
		w.wants()
	})
}

// Who has just come does not ask the kernel yet, and who is about to leave has it end its watches before. What comes
// meanwhile, and after he has stayed all the same, is told.
func TestALooseWatchAsksTheKernelNothingAndMissesNothing(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	made := make(chan *fsnotify.Watcher, 2)
	d.kernel = func() (*fsnotify.Watcher, error) {
		kernel, err := fsnotify.NewWatcher()
		made <- kernel
		return kernel, err
	}
	d.Loosen(true)
	w := watchFileDrop(t, d)
	put(t, d, "answers/w_q0.txt", "none\n")
	w.wantsNext(Event{Kind: AnswerFound, ID: "w_q0", Answer: "none"})
	if len(made) > 0 {
		t.Error("the kernel is asked")
	}
	d.Loosen(false)
	first := <-made
	d.Loosen(true)
	for first.WatchList() != nil { // it is closed
		runtime.Gosched()
	}
	put(t, d, "answers/w_q1.txt", "oauth\n")
	w.wantsNext(Event{Kind: AnswerFound, ID: "w_q1", Answer: "oauth"})
	d.Loosen(false)
	<-made
	put(t, d, "answers/w_q2.txt", "jwt\n")
	w.wantsNext(Event{Kind: AnswerFound, ID: "w_q2", Answer: "jwt"})
}

func TestALineWithoutAnEndIsAnAnswerOnceItHasNotChangedForASecond(t *testing.T) {
	inSimulatedTime(t, func(t *testing.T, d *Folders, w *watchedDrop) {
		for _, part := range []string{"o", "oa", "oau", "oaut", "oauth"} {
			put(t, d, "answers/w_q1.txt", part)
			pass(pollInterval)
			w.wants()
		}
		pass(lineSettles)
		w.wants(Event{Kind: AnswerFound, ID: "w_q1", Answer: "oauth"})
		put(t, d, "answers/w_q1.txt", "oauth\nas the others do\n"+strings.Repeat("and more\n", fileDropMax/8))
		pass(time.Minute)
		w.wants()
		put(t, d, "answers/w_q1.txt", "jwt\n")
		pass(pollInterval)
		w.wants(Event{Kind: AnswerFound, ID: "w_q1", Answer: "jwt"})
	})
}

func TestAFileThatIsNoAnswerIsLeftAloneAndReportedOnce(t *testing.T) {
	inSimulatedTime(t, func(t *testing.T, d *Folders, w *watchedDrop) {
		put(t, d, "answers/bytes.txt", "\x81\n")
		put(t, d, "answers/empty.txt", "")
		put(t, d, "answers/no id\x1b.txt", "oauth\n")
		names := append([]string{"bytes", "empty", "no id\x1b"}, hostile(t, d, answersFolder, ".txt", "secret\n")...)
		pass(pollInterval + fileSettles - tick)
		w.wants()
		pass(tick)
		problems := map[string]string{}
		for _, e := range w.told() {
			if e.Kind != Problem || strings.ContainsRune(e.Problem, '\x1b') {
				t.Errorf("%+v", e)
			}
			problems[e.ID] = e.Problem
		}
		for id, want := range map[string]string{
			"bytes": "answers/bytes.txt is left alone: it is not UTF-8 text",
			"empty": "answers/empty.txt is left alone: its first line is empty",
			"":      `answers/"no id\x1b.txt" is left alone: ` + ErrBadID.Error(),
			"link":  "answers/link.txt is left alone: not a file of ours: a symbolic link",
			"large": "answers/large.txt is left alone: too large: more than 1 MiB",
		} {
			if problems[id] != want {
				t.Errorf("%s: %s", id, problems[id])
			}
		}
		if len(problems) != len(names) {
			t.Errorf("%d problems of %d files", len(problems), len(names))
		}
		pass(time.Hour)
		w.wants()
		put(t, d, "answers/empty.txt", "oauth\n")
		pass(pollInterval)
		w.wants(Event{Kind: AnswerFound, ID: "empty", Answer: "oauth"})
	})
}

func TestAQuestionIsToldOnceItIsWhole(t *testing.T) {
	inSimulatedTime(t, func(t *testing.T, d *Folders, w *watchedDrop) {
		const file = pendingFolder + "/w_q1.json"
		put(t, d, file, `{"question": "Wh`)
		pass(pollInterval + time.Second)
		w.wants()
		put(t, d, file, `{"question": "Which?"}`)
		pass(pollInterval)
		w.wants(Event{Kind: QuestionFound, ID: "w_q1"})
		put(t, d, file, `{"question": "Which one?"}`)
		pass(pollInterval)
		w.wants(Event{Kind: QuestionFound, ID: "w_q1"})
		put(t, d, file, ``)
		pass(pollInterval + fileSettles)
		w.wants(Event{Kind: Problem,
			ID: "w_q1", Problem: file + " is left alone: no question file: it is empty"})
		noError(t, os.Remove(d.at(file)))
		pass(pollInterval)
		w.wants(Event{Kind: QuestionGone, ID: "w_q1"})
	})
}

func TestWhatTheFileDropItselfDoesIsNotTold(t *testing.T) {
	inSimulatedTime(t, func(t *testing.T, d *Folders, w *watchedDrop) {
		closed := postedQuestion
		closed.ID = "q-closed"
		put(t, d, "answers/consumed.txt", "a\n")
		put(t, d, "answers/rejected.txt", "b\n")
		if err := errors.Join(d.Post(postedQuestion), d.Post(closed),
			d.Answer("given", "c"), d.Answer("taken", "d")); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		w.wants(Event{Kind: AnswerFound, ID: "consumed", Answer: "a"},
			Event{Kind: AnswerFound, ID: "rejected", Answer: "b"})
		taken, err := d.Unanswer("taken")
		if err := errors.Join(err, d.Withdraw(postedQuestion.ID), d.Close(closed.ID, givenAnswer),
			d.Consume("consumed"), d.Reject("rejected", "no")); err != nil || !taken {
			t.Fatal(taken, err)
		}
		pass(time.Minute)
		w.wants()
		noError(t, os.Remove(d.at("answers/given.txt")))
		pass(pollInterval)
		w.wants(Event{Kind: AnswerGone, ID: "given", Answer: "c"})
		put(t, d, "answers/rejected.txt", "b\n") // the same again is another one
		pass(pollInterval)
		w.wants(Event{Kind: AnswerFound, ID: "rejected", Answer: "b"})
	})
}

func TestAFolderThatSomebodyFillsIsWatchedInPart(t *testing.T) {
	inSimulatedTime(t, func(t *testing.T, d *Folders, w *watchedDrop) {
		for i := range dropMost + 100 {
			put(t, d, fmt.Sprintf("answers/w%04d.txt", i), "a\n")
		}
		pass(time.Minute)
		events := w.told()
		if len(events) != dropMost+1 || events[dropMost].Problem != "answers: "+errCrowded.Error() {
			t.Errorf("%d events, the last %+v", len(events), events[len(events)-1])
		}
		for i := range 200 {
			noError(t, os.Remove(d.at(fmt.Sprintf("answers/w%04d.txt", i))))
		}
		pass(time.Minute)
		if events := w.told(); len(events) != 200+100 {
			t.Errorf("%d events once there is room", len(events))
		}
	})
}

func TestAFolderThatVanishesIsMadeAgainAfterASecond(t *testing.T) {
	inSimulatedTime(t, func(t *testing.T, d *Folders, w *watchedDrop) {
		put(t, d, "answers/w_q1.txt", "a\n")
		pass(pollInterval)
		w.told()
		noError(t, os.RemoveAll(d.claude))
		pass(pollInterval)
		w.wants(Event{Kind: AnswerGone, ID: "w_q1",
			Answer: "a", Problem: "the folder answers was removed with it"})
		if _, err := os.Stat(d.claude); err == nil {
			t.Error("made again at once, in the way of who removes it")
		}
		pass(folderSettles)
		put(t, d, "answers/w_q1.txt", "a\n")
		pass(pollInterval)
		w.wants(Event{Kind: AnswerFound, ID: "w_q1", Answer: "a"})
	})
}

func TestAFolderThatCannotBeMadeAgainIsAProblemUntilItCan(t *testing.T) {
	inSimulatedTime(t, func(t *testing.T, d *Folders, w *watchedDrop) {
		noError(t, errors.Join(os.RemoveAll(d.at("answers")), os.Symlink(os.TempDir(), d.at("answers"))))
		pass(time.Minute)
		w.wants(Event{Kind: Problem,
			Problem: "the folder answers cannot be used: " + d.at("answers") + " is not a folder of ours"})
		put(t, d, pendingFolder+"/w_q1.json", `{"question": "Which?"}`)
		pass(pollInterval)
		w.wants(Event{Kind: QuestionFound, ID: "w_q1"})
		noError(t, os.Remove(d.at("answers")))
		pass(2 * folderSettles)
		put(t, d, "answers/w_q1.txt", "a\n")
		pass(pollInterval)
		w.wants(Event{Kind: AnswerFound, ID: "w_q1", Answer: "a"})
	})
}

func TestAClockThatJumpsChangesNothing(t *testing.T) {
	inSimulatedTime(t, func(t *testing.T, d *Folders, w *watchedDrop) {
		long := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, at := range []time.Time{long, long.AddDate(200, 0, 0)} { // file times are of the clock that jumps
			put(t, d, "answers/w_q1.txt", "oaut")
			noError(t, os.Chtimes(d.at("answers/w_q1.txt"), at, at))
			pass(pollInterval)
			w.wants()
			pass(lineSettles)
			w.wants(Event{Kind: AnswerFound, ID: "w_q1", Answer: "oaut"})
			noError(t, d.Consume("w_q1"))
		}
	})
}

func TestOnlyOneWatchesAFileDrop(t *testing.T) {
	inSimulatedTime(t, func(t *testing.T, d *Folders, w *watchedDrop) {
		if err := d.Watch(t.Context(), nil); !errors.Is(err, errWatched) {
			t.Errorf("a second one: %v", err)
		}
		w.end()
		put(t, d, "answers/w_q1.txt", "a\n")
		again := watchFileDrop(t, d)
		synctest.Wait()
		if events := again.told(); len(events) != 2 || events[1].Answer != "a" {
			t.Errorf("the next one is told %v", events)
		}
	})
}

// From here on the kernel tells.

func TestWhatLiesThereIsToldFirstAndThenWhatHappens(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	person := openFileDrop(t, d.claude)
	put(t, d, pendingFolder+"/w_q1.json", `{"question": "Which?"}`)
	put(t, d, "answers/w_q0.txt", "yes\n")
	w := watchFileDrop(t, d)
	w.wantsNext(Event{Kind: QuestionFound, ID: "w_q1"})
	w.wantsNext(Event{Kind: AnswerFound, ID: "w_q0", Answer: "yes"})
	noError(t, person.Answer("w_q1", "oauth"))
	w.wantsNext(Event{Kind: AnswerFound, ID: "w_q1", Answer: "oauth"})
	// as many bytes, in the same file, and perhaps in the same instant of its clock
	put(t, d, "answers/w_q1.txt", "jwt__\n")
	w.wantsNext(Event{Kind: AnswerFound, ID: "w_q1", Answer: "jwt__"})
	noError(t, person.Consume("w_q1"))
	w.wantsNext(Event{Kind: AnswerGone, ID: "w_q1", Answer: "jwt__"})
	noError(t, os.Remove(d.at(pendingFolder+"/w_q1.json")))
	w.wantsNext(Event{Kind: QuestionGone, ID: "w_q1"})
}

func TestALineWithoutAnEndIsToldThoughTheKernelTellsNothingMore(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	w := watchFileDrop(t, d)
	put(t, d, "answers/w_q1.txt", "oauth")
	w.wantsNext(Event{Kind: AnswerFound, ID: "w_q1", Answer: "oauth"})
}

func TestFoldersThatVanishWhileTheKernelWatchesAreWatchedAgain(t *testing.T) {
	d := openFileDrop(t, filepath.Join(t.TempDir(), ".claude"))
	person := openFileDrop(t, d.claude)
	w := watchFileDrop(t, d)
	for _, vanish := range []func() error{
		func() error { return os.RemoveAll(d.at("answers")) },
		func() error { return os.RemoveAll(d.claude) },
		func() error { return os.Rename(d.claude, d.claude+".moved") },
		func() error { return os.Rename(d.at("answers"), d.at("answers.moved")) },
		func() error { return errors.Join(os.RemoveAll(d.at("answers")), os.Mkdir(d.at("answers"), 0o700)) },
	} {
		if err := person.Answer("w_q1", "a"); err != nil { // it makes the folders, too
			t.Fatal(err)
		}
		w.wantsNext(Event{Kind: AnswerFound, ID: "w_q1", Answer: "a"})
		open, err := os.Open(d.at("answers/w_q1.txt")) // keeps the folder, once it is removed, from being gone
		noError(t, err)
		noError(t, errors.Join(vanish(), open.Close()))
		if e := w.next(); e.Kind != AnswerGone || e.ID != "w_q1" {
			t.Errorf("told %+v", e)
		}
	}
}

func TestAFolderThatVanishesWhileTheKernelWatchesIsMadeAgain(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	above, err := fsnotify.NewWatcher()
	noError(t, err)
	defer func() { _ = above.Close() }()
	noError(t, above.Add(d.claude))
	put(t, d, "answers/w_q1.txt", "a\n")
	w := watchFileDrop(t, d)
	w.next()
	noError(t, os.RemoveAll(d.at("answers")))
	for e := range above.Events {
		if e.Name == d.at("answers") && e.Has(fsnotify.Create) {
			return
		}
	}
}

func TestWhatTheKernelCouldNotTellIsSeenAllTheSame(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	var kernel *fsnotify.Watcher
	d.kernel = func() (_ *fsnotify.Watcher, err error) {
		kernel, err = fsnotify.NewWatcher()
		return kernel, err
	}
	put(t, d, "answers/w_q1.txt", "oauth\n")
	w := watchFileDrop(t, d)
	w.next()
	info, err := os.Stat(d.at("answers/w_q1.txt"))
	noError(t, err)
	for i, mishap := range []error{fsnotify.ErrEventOverflow, errors.New("the watch has broken")} {
		answer := fmt.Sprintf("jwt %d", i)
		noError(t, kernel.Remove(d.at(answersFolder)))
		put(t, d, "answers/w_q1.txt", answer+"\n")
		if err := os.Chtimes(d.at("answers/w_q1.txt"), info.ModTime(), info.ModTime()); err != nil { // it looks as before
			t.Fatal(err)
		}
		kernel.Errors <- mishap
		w.wantsNext(Event{Kind: AnswerFound, ID: "w_q1", Answer: answer})
		if i == 0 {
			noError(t, kernel.Add(d.at(answersFolder)))
		}
	}
	put(t, d, "answers/w_q2.txt", "after all\n")
	w.wantsNext(Event{Kind: AnswerFound, ID: "w_q2", Answer: "after all"})
}

func TestAWatchThatHasEndedTellsNothing(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	w := watchFileDrop(t, d)
	put(t, d, "answers/w_q1.txt", "a\n")
	w.next()
	w.end()
	put(t, d, "answers/w_q2.txt", "b\n")
	w.wants()
}

func TestTellMayUseTheFileDrop(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	put(t, d, "answers/w_q1.txt", "a\n")
	err := d.Watch(ctx, func(e Event) {
		defer cancel()
		if err := errors.Join(d.Consume(e.ID), d.Post(postedQuestion), d.Close(postedQuestion.ID, givenAnswer)); err != nil {
			t.Error(err)
		}
	})
	if err != nil || len(lies(t, d)) != 2 {
		t.Errorf("%v (%v)", lies(t, d), err)
	}
}

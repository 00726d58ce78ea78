package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/news"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// attached is a person who looks at a run that somebody else supervises, or at one of its agents, answers what that
// asks, and writes to it.
type attached struct {
	reader   view.Reader
	log      view.RunLog // of all of the run, or of the agent that is looked at
	to       string      // whom messages are for, as it was typed
	printer  *terminal.Printer
	client   client.Client
	prompter *terminal.Prompter // nil: nothing can be typed
	first    bool               // nothing was seen yet; of the goroutine that looks
	does     news.Seen          // what was done last; so is it
	asked    chan struct{}      // closed once nothing is asked any more

	mu   sync.Mutex
	line terminal.Status // what is done now
}

func newAttached(r view.Reader, log view.RunLog, to string, plain, marks bool) (*attached, error) {
	a := &attached{
		reader: r, log: log, to: to, first: true, asked: make(chan struct{}),
		printer: terminal.NewPrinter(os.Stdout, os.Stderr, terminal.Look{Plain: plain, Getenv: os.Getenv}),
	}
	if _, inside := doctor.InsideAgent(os.Environ()); !terminal.Attended() || inside {
		return a, nil
	}
	var err error
	if a.client, err = openClient(); err != nil {
		return nil, err
	}
	a.prompter = terminal.NewPrompter(os.Stdin, a.printer, a.submit)
	a.prompter.Keeps(terminal.Drafts{Folder: a.client.Dirs.RunDir})
	a.prompter.Reminds(asking.Reminds(acting))
	a.prompter.Marks(marks)
	a.prompter.Messages(terminal.Addressee{Run: log.Run, Agent: log.Agent}, func(ctx context.Context, text string) {
		sayAbove(ctx, a.printer, a.client, a.to, text, at(time.Now()), terminal.Who("attach"))
	})
	return a, nil
}

// recently is how much of what was said before is shown.
const recently = 20

// errLeft ends the looking of a person who has seen enough.
var errLeft = errors.New("left")

// show shows the run until it goes on no more, and gives its exit code as an error; nil if the person leaves before.
func (a *attached) show(ctx context.Context) error {
	if a.prompter != nil {
		defer func() { _ = a.client.Close() }() // what was left is on disk
		if away := runs.Away(here{}.Look(ctx)); away != "" {
			a.printer.Notice(away)
		}
	}
	ctx, stop, err := terminal.UntilLeft(ctx)
	if err != nil {
		return err
	}
	defer stop()
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	var last view.RunView
	told := make(chan struct{})
	stays := context.AfterFunc(ctx, func() { // who waits for a reader that stands still must not
		defer close(told)
		select {
		case <-a.asked: // and has said what stays open
		case <-time.After(terminal.LeavingPatience):
		}
		at := cmp.Or(a.log.Agent, a.log.Run)
		a.printer.Notice("\nDetached; " + at + " continues. To follow it again, run:\n  claude-supervise attach " + at)
		_ = closed(a.printer)
	})
	err = a.watch(ctx, leave, &last)
	if !stays() {
		<-told
		if a.prompter != nil { // until now they looked
			here{}.Look(context.WithoutCancel(ctx))
		}
		return nil
	}
	if err != nil {
		return errors.Join(err, closed(a.printer))
	}
	end := view.AwaitedAs(last, a.log.Agent)
	a.printer.Notice(strings.TrimSpace(runs.StateOf(end) + "\n" + thisProgram.NextFor(end)))
	if err := closed(a.printer); err != nil {
		return err
	}
	if code := end.Code(); code != exit.Success {
		return exitcode.Error(code)
	}
	return nil
}

// watch shows all that goes on, and takes what is typed, until the run or the agent goes on no more (last is how the
// run was left then), the person leaves or ctx ends.
func (a *attached) watch(ctx context.Context, leave context.CancelCauseFunc, last *view.RunView) error {
	printed := view.NewKeepingUp()
	follow, err := a.begin(ctx, printed)
	if err != nil {
		return err
	}
	asking, still := context.WithCancel(ctx)
	defer still()
	group, ctx := errgroup.WithContext(ctx)
	looking, live := errgroup.WithContext(ctx)
	looking.Go(func() (err error) {
		*last, err = follow(live)
		return err
	})
	looking.Go(func() error {
		err := a.reader.Attend(live, a.log.Run, func(s view.Snapshot) error {
			printed.Wait(live)
			return a.see(live, s)
		})
		if errors.Is(err, errOver) {
			return nil
		}
		return err
	})
	group.Go(func() error {
		defer still()
		return looking.Wait()
	})
	group.Go(func() error {
		defer close(a.asked)
		if a.prompter == nil {
			return nil
		}
		group.Go(func() error { a.tick(asking); return nil })
		a.prompter.Leaves(func() { leave(errLeft) })
		if err := a.prompter.Run(asking); err != nil {
			a.printer.Notice("Nothing can be typed here: " + err.Error())
		}
		return nil
	})
	return group.Wait()
}

// errOver ends the looking at a run once the agent that is looked at has ended.
var errOver = errors.New("over")

// begin shows what was said last, and gives what shows the rest.
func (a *attached) begin(ctx context.Context,
	printed view.KeepingUp) (follow func(context.Context) (view.RunView, error), err error) {
	said, log, err := a.log.Recent(ctx, recently)
	if err == nil {
		err = a.said(said...)
	}
	prose := log.Prose()
	log.KeepingUp = printed
	return func(ctx context.Context) (view.RunView, error) {
		return log.Follow(ctx, func(line view.LogLine) error { return a.said(prose(line)...) })
	}, err
}

// names has the agents' names shown each in a colour, where several are looked at.
func (a *attached) names(run view.RunView) {
	if a.log.Agent != "" || len(run.Agents) < 2 {
		return
	}
	for _, of := range run.Agents {
		a.printer.Names(of.ID, of.Who)
	}
}

// said shows what the log or the supervisor says.
func (a *attached) said(texts ...string) error {
	for _, text := range texts {
		if err := a.printer.Said(text); err != nil {
			return err
		}
	}
	return nil
}

// see shows what has happened to the run, and asks what is open.
func (a *attached) see(ctx context.Context, s view.Snapshot) error {
	s = a.ofAgent(s)
	a.names(s.Run)
	var texts []string
	if a.first && s.Run.GoesOn() {
		texts = append(texts, a.asItStands(s))
	}
	a.first = false
	for _, n := range s.News {
		if text := a.words(n); text != "" {
			texts = append(texts, text)
		}
	}
	if err := a.said(texts...); err != nil {
		return err
	}
	agent, is := s.Run.Agent(a.log.Agent)
	a.live(s)
	if a.prompter != nil {
		a.prompter.Set(toAsk(ctx, a.client, views(a.client.Reader(), s.Open)))
	}
	if is && agent.ExitCode != nil {
		return errOver
	}
	return nil
}

// live keeps the line above that for messages at what the run or the agent does now, or how it stands.
func (a *attached) live(s view.Snapshot) {
	line := a.does.Line(s, a.log.Agent)
	a.mu.Lock()
	a.line = line
	a.mu.Unlock()
	a.hint(time.Now())
}

// hint shows the live line.
func (a *attached) hint(now time.Time) {
	a.mu.Lock()
	line := a.line
	a.mu.Unlock()
	if a.prompter != nil {
		a.prompter.Hint(line.Line(now, a.printer.Columns()-1))
	}
}

// tick keeps the live line at the time, while it moves.
func (a *attached) tick(ctx context.Context) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case now := <-second.C:
			a.mu.Lock()
			moves := !a.line.Since.IsZero()
			a.mu.Unlock()
			if moves {
				a.hint(now)
			}
		case <-ctx.Done():
			return
		}
	}
}

// ofAgent returns as much of a sight as is of the agent that is looked at.
func (a *attached) ofAgent(s view.Snapshot) view.Snapshot {
	if a.log.Agent == "" {
		return s
	}
	s.Open = slices.DeleteFunc(slices.Clone(s.Open), func(q *supervisor.Question) bool { return q.Agent != a.log.Agent })
	s.News = slices.DeleteFunc(slices.Clone(s.News),
		func(n notice.Notification) bool { return n.Agent != a.log.Agent && n.Agent != "" })
	return s
}

// asItStands says how what is looked at stands, and since when.
func (a *attached) asItStands(s view.Snapshot) string {
	if agent, is := s.Run.Agent(a.log.Agent); is {
		return at(agent.Since) + runs.StateOf(view.AwaitedAs(s.Run, a.log.Agent))
	}
	return at(s.Run.Since) + runs.State(s.Run)
}

// words says a notice as it stands between what the agent says; "" for what is shown elsewhere.
func (a *attached) words(n notice.Notification) string {
	var text string
	switch n.Type {
	case notice.QuestionOpen:
		if a.prompter != nil { // which asks it
			return ""
		}
		return "\n" + terminal.Render(asking.Shown(a.client.Reader().View(n.Question)), a.printer.Columns(), time.Now())
	case notice.QuestionDone:
		if a.prompter != nil { // which tells of it, unless it was answered there
			a.prompter.Gone(n.Question.ID, asking.Gone(view.View(n.Question)))
			return ""
		}
		text = news.Words(n)
	case notice.RunStarted:
		text = "supervised again"
	case view.MessageLeft:
		if n.By != terminal.Who("attach") { // that was shown when it was typed
			text = "message of " + n.By + ": " + n.Text
		}
	case view.MessageRead:
		text = "the agent reads: " + n.Text
		if n.Text == "" {
			text = "the agent reads a message that was left before"
		}
	default:
		if text = news.Words(n); n.Trouble {
			text = "! " + text
		}
	}
	if text == "" {
		return ""
	}
	return at(n.Time) + text
}

// at begins a line of ours between those of the log, which begin with their times, too.
func at(t time.Time) string { return view.Stamp(t) + " -- " }

// submit leaves an answer as the answer command does. What is begun is ended, whatever becomes of ctx: as soon as the
// answer is kept the run may go on to its end, which ends the asking.
func (a *attached) submit(ctx context.Context, id string, r terminal.Reply) error {
	with := service.Replied(r.Text, r.Decline, r.Change)
	with.By = terminal.Who("attach")
	kept, err := service.Reply(context.WithoutCancel(ctx), a.client, id, with)
	if kept.Also != "" {
		a.printer.Notice(kept.Also)
	}
	return err
}

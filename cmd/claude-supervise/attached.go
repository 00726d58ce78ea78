package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/view"
)

// attached is a person who looks at a run that somebody else supervises, or at one of its agents, and writes to that.
type attached struct {
	reader  view.Reader
	log     view.RunLog // of all of the run, or of the agent that is looked at
	to      string      // whom messages are for, as it was typed
	printer *terminal.Printer
	talk    *terminal.Talk // nil: nothing can be typed
	first   bool           // nothing was seen yet; of the goroutine that looks

	mu        sync.Mutex
	open      []*supervisor.Question
	asked     map[string]int // the numbers that the talk gave the open questions when they were shown
	undecided string         // what was typed, and is an answer or a message
	about     []string       // the ids of the questions that it may be an answer to
	choice    int            // the number of the question which of the two it is
}

func newAttached(r view.Reader, log view.RunLog, to string, plain bool) *attached {
	a := &attached{
		reader: r, log: log, to: to, first: true, asked: map[string]int{},
		printer: terminal.NewPrinter(os.Stdout, os.Stderr, terminal.Look{Plain: plain, Getenv: os.Getenv}),
	}
	if _, inside := doctor.InsideAgent(os.Environ()); onTerminal() && !inside {
		a.talk = terminal.NewTalk(os.Stdin, a.printer)
	}
	return a
}

// recently is how much of what was said before is shown.
const recently = 20

// errLeft ends the looking of a person who has seen enough.
var errLeft = errors.New("left")

// show shows the run until it goes on no more, and gives its exit code as an error; nil if the person leaves before.
func (a *attached) show(ctx context.Context) error {
	ctx, stop, err := untilLeft(ctx)
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
		at := cmp.Or(a.log.Agent, a.log.Run)
		a.printer.Notice("\nDetached; " + at + " goes on as it was. Back with:\n  claude-supervise attach " + at)
		_ = a.closed()
	})
	err = a.watch(ctx, leave, &last)
	if !stays() {
		<-told
		return nil
	}
	if err != nil {
		return errors.Join(err, a.closed())
	}
	end := awaited(last, a.log.Agent)
	a.printer.Notice(strings.TrimSpace(stateOf(end) + "\n" + whatNextFor(end)))
	if err := a.closed(); err != nil {
		return err
	}
	if code := end.Code(); code != supervisor.ExitSuccess {
		return exitError(code)
	}
	return nil
}

// closed writes what is still to be shown, if somebody takes it.
func (a *attached) closed() error {
	ctx, cancel := context.WithTimeout(context.Background(), leavingPatience)
	defer cancel()
	return a.printer.Close(ctx)
}

// watch shows all that goes on, and takes what is typed, until the run or the agent goes on no more (last is how the
// run was left then), the person leaves or ctx ends.
func (a *attached) watch(ctx context.Context, leave context.CancelCauseFunc, last *view.RunView) error {
	printed := view.NewKeepingUp()
	follow, err := a.begin(ctx, printed)
	if err != nil {
		return err
	}
	typing, still := context.WithCancel(ctx)
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
			return a.see(s)
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
	if a.talk != nil {
		group.Go(func() error {
			if err := a.talk.Run(typing, func(ctx context.Context, text string, asked int) {
				a.typed(ctx, text, asked, leave)
			}); err != nil {
				a.printer.Notice("Nothing can be typed here: " + err.Error())
			} else if typing.Err() == nil {
				leave(errLeft)
			}
			return nil
		})
	}
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

// said shows what the log or the supervisor says.
func (a *attached) said(texts ...string) error {
	for _, text := range texts {
		if err := a.printer.Said(text); err != nil {
			return err
		}
	}
	return nil
}

// see shows what has happened to the run, and what can be typed now.
func (a *attached) see(s view.Snapshot) error {
	s = a.ofAgent(s)
	a.mu.Lock()
	dropped := len(s.Open) == 0 && a.undecided != ""
	if dropped {
		a.undecided = ""
	}
	a.open = s.Open
	a.mu.Unlock()
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
	a.number(s.Open)
	if dropped {
		a.printer.Notice("What you typed was not sent: the question is no longer open.")
	}
	agent, is := s.Run.Agent(a.log.Agent)
	if is && agent.ExitCode != nil {
		return errOver
	}
	if a.talk != nil && s.Run.GoesOn() {
		a.talk.Hint(string(cmp.Or(agent.Status, s.Run.Status)) + " · " + canType(s.Open))
	}
	return nil
}

// number takes note that questions were shown: what was typed before is no answer to them.
func (a *attached) number(open []*supervisor.Question) {
	if a.talk == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	asked := map[string]int{}
	for _, q := range open {
		if asked[q.ID] = a.asked[q.ID]; asked[q.ID] == 0 {
			asked[q.ID] = a.talk.Asked()
		}
	}
	a.asked = asked
}

// ofAgent gives as much of a sight as is of the agent that is looked at.
func (a *attached) ofAgent(s view.Snapshot) view.Snapshot {
	if a.log.Agent == "" {
		return s
	}
	s.Open = slices.DeleteFunc(slices.Clone(s.Open), func(q *supervisor.Question) bool { return q.Agent != a.log.Agent })
	s.News = slices.DeleteFunc(slices.Clone(s.News),
		func(n supervisor.Notification) bool { return n.Agent != a.log.Agent && n.Agent != "" })
	return s
}

// asItStands says how what is looked at stands, and since when.
func (a *attached) asItStands(s view.Snapshot) string {
	if agent, is := s.Run.Agent(a.log.Agent); is {
		return at(agent.Since) + stateOf(awaited(s.Run, a.log.Agent))
	}
	return at(s.Run.Since) + state(s.Run)
}

// canType says what can be typed while these questions are open.
func canType(open []*supervisor.Question) string {
	switch len(open) {
	case 0:
		return "type a message · /help · Ctrl-D leaves"
	case 1:
		return open[0].ID + " is open: /answer VALUE · /say MESSAGE · /help"
	}
	return fmt.Sprintf("%d questions are open: /answer ID VALUE · /say MESSAGE · /help", len(open))
}

// words says a notice as it stands between what the agent says; "" for what is shown elsewhere.
func (a *attached) words(n supervisor.Notification) string {
	var text string
	switch n.Type {
	case supervisor.QuestionOpen:
		return "\n" + terminal.Render(shown(n.Question), a.printer.Columns(), time.Now())
	case supervisor.RunStarted:
		text = "supervised again"
	case view.MessageLeft:
		if n.By != who("attach") { // that was shown when it was typed
			text = "message of " + n.By + ": " + n.Text
		}
	case view.MessageRead:
		text = "the agent reads: " + n.Text
		if n.Text == "" {
			text = "the agent reads a message that was left before"
		}
	default:
		if text = words(n); n.Trouble {
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

// typed does what a line asks for. asked is the number of the last question that it can be an answer to.
func (a *attached) typed(ctx context.Context, line string, asked int, leave context.CancelCauseFunc) {
	a.mu.Lock()
	open, undecided, about := a.open, a.undecided, a.about
	var seen []*supervisor.Question // when the line was begun
	for _, q := range open {
		if n := a.asked[q.ID]; n > 0 && n <= asked || asked == terminal.Unknown {
			seen = append(seen, q)
		}
	}
	early := undecided != "" && asked < a.choice
	if !early {
		a.undecided = ""
	}
	a.mu.Unlock()
	if early && understood(line, nil, undecided).kind != understood(line, nil, "").kind {
		a.printer.Notice("That was typed before it was asked, and decides nothing. Type a, m, or n for neither.")
		return
	}
	ids := make([]string, len(seen))
	for i, q := range seen {
		ids[i] = q.ID
	}
	if asked == terminal.Unknown {
		seen = nil
	}
	switch w := understood(line, ids, undecided); w.kind {
	case toSay:
		a.say(ctx, w.text)
	case toAnswer:
		// another may have taken its place meanwhile
		if undecided != "" && w.text == undecided && len(about) == 1 && asked != terminal.Unknown {
			w.question = about[0]
		}
		a.answer(ctx, open, seen, w)
	case toChoose:
		a.mu.Lock()
		a.undecided, a.about, a.choice = w.text, ids, 0
		a.mu.Unlock()
		if asked == terminal.Unknown {
			a.printer.Notice("Is that the answer to " + strings.Join(ids, " or ") +
				", or a message? Type m for a message, n for neither, or\n  /answer " + ids[0] + " VALUE")
			return
		}
		a.printer.Notice("Is that the answer to " + strings.Join(ids, " or ") +
			", or a message? Type a, m, or n for neither.")
		a.mu.Lock()
		a.choice = a.talk.Asked()
		a.mu.Unlock()
	case toDrop:
		a.printer.Notice("Dropped; nothing was sent.")
	case toDetach:
		leave(errLeft)
	case toHelp:
		a.printer.Notice(attachHelp)
	default:
		a.printer.Notice("There is no " + w.text + ". To send it as a message: /say " + line + "\n" + attachHelp)
	}
}

const attachHelp = `  MESSAGE            is for the agent, while no question is open
  /say MESSAGE       is for the agent, and answers nothing
  /answer VALUE      answers the question that was open when you began to type
  /answer ID VALUE   answers one of several
  /detach, Ctrl-D    leaves; the run goes on`

func (a *attached) say(ctx context.Context, text string) {
	if text == "" {
		a.printer.Notice("Type the message behind it: /say MESSAGE")
		return
	}
	a.printer.Notice(at(time.Now()) + "you: " + text) // before the agent may reply
	becomes, err := a.sent(ctx, text)
	if err != nil {
		becomes = "Not sent: " + err.Error()
	}
	a.printer.Notice(becomes)
}

func (a *attached) sent(ctx context.Context, text string) (becomes string, err error) {
	c, err := openClient()
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // what was left is on disk
	return say(ctx, c, a.to, text, who("attach"))
}

// answer answers a question as the answer command does. seen are those of the open ones that the line can be an answer
// to unless it names another by its whole id, which nobody types before they have read it.
func (a *attached) answer(ctx context.Context, open, seen []*supervisor.Question, w typedLine) {
	if err := a.answered(ctx, open, seen, w); err != nil {
		a.printer.Notice("Not taken: " + err.Error())
	}
}

func (a *attached) answered(ctx context.Context, open, seen []*supervisor.Question, w typedLine) error {
	if i := slices.IndexFunc(open, func(q *supervisor.Question) bool {
		return q.ID == w.question || q.ID == "q-"+w.question
	}); i >= 0 {
		seen = open[i : i+1]
	} else if len(open) > 0 && len(seen) == 0 {
		return fmt.Errorf("%s may have come after you began to type: name it, as in /answer %s VALUE", open[0].ID, open[0].ID)
	}
	q, err := oneOf(seen, w.question)
	if err != nil {
		return err
	}
	if w.text == "" {
		return errors.New("type the answer behind it: /answer VALUE")
	}
	c, err := openClient()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what was left is on disk
	cwd, err := folderOf(ctx, c, q)
	if err != nil {
		return err
	}
	value, err := terminal.Choose(shown(q), w.text, cwd)
	if err != nil {
		return fmt.Errorf("%w; %s stays open", err, q.ID)
	}
	return c.Answer(ctx, q.ID, client.Answer{Text: value, By: who("attach")})
}

// oneOf gives the open question that an id or its start names; "" names the only one.
func oneOf(open []*supervisor.Question, id string) (*supervisor.Question, error) {
	var meant []*supervisor.Question
	for _, q := range open {
		if strings.HasPrefix(q.ID, id) || strings.HasPrefix(q.ID, "q-"+id) {
			meant = append(meant, q)
		}
	}
	switch {
	case len(open) == 0:
		return nil, errors.New("no question is open")
	case len(meant) == 0:
		return nil, fmt.Errorf("%s is not open here", id)
	case len(meant) > 1:
		return nil, fmt.Errorf("%d questions are open: name the one, as in /answer %s VALUE", len(meant), meant[0].ID)
	}
	return meant[0], nil
}

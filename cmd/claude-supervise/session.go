package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/oklog/run"
	"github.com/rs/zerolog"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/news"
	"claude-supervise/cmd/internal/notices"
	"claude-supervise/cmd/internal/notify"
	"claude-supervise/cmd/internal/programs"
	"claude-supervise/cmd/internal/request"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/filedrop"
	"claude-supervise/supervisor/host"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// A session is one supervisor with the person that it serves: the printer, the prompt, the signals of the system.
type session struct {
	client.Client
	printer  *terminal.Printer
	prompter *terminal.Prompter
	notices  *notices.Channels // set by supervise
	asks     bool              // there is a terminal to ask on
	reads    bool              // a person reads what is shown
	asJSON   bool
	working  news.Working
	prompted map[string]bool // the questions that the prompt was given
	printed  map[string]bool // those that were printed, where there is no prompt
}

func newSession(f request.Session) (*session, error) {
	client, err := openClient()
	if err != nil {
		return nil, err
	}
	var out, trouble io.Writer = os.Stdout, os.Stderr
	if f.Aside {
		out, trouble = io.Discard, io.Discard
	}
	s := &session{
		Client:  client,
		printer: terminal.NewPrinter(out, trouble, terminal.Look{Plain: f.Plain, Quiet: f.Quiet, Getenv: os.Getenv}),
		asJSON:  f.AsJSON, prompted: map[string]bool{}, printed: map[string]bool{},
	}
	keyboard := os.Stdin
	if f.StdinRead && !terminal.IsTerminal(keyboard) && terminal.IsTerminal(os.Stderr) {
		if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil { // who typed the command sits there
			keyboard = tty
		}
	}
	s.reads = !f.Aside && !f.Quiet && !f.AsJSON && terminal.IsTerminal(os.Stderr)
	s.asks = !f.Aside && terminal.IsTerminal(keyboard) && terminal.IsTerminal(os.Stderr)
	s.prompter = terminal.NewPrompter(keyboard, s.printer, s.submit)
	s.prompter.Keeps(terminal.Drafts{Folder: s.Dirs.RunDir})
	s.prompter.Reminds(asking.Reminds(acting))
	s.prompter.EndsSilently() // the run's last words name them
	return s, nil
}

// close writes what is still to be shown; a terminal that stands still does not keep the program.
func (s *session) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(s.printer.Close(ctx), s.Close())
}

// policy returns what becomes of questions that are not answered in time, where the person did not say.
func (s *session) policy(asked conf.OnQuestion) conf.OnQuestion {
	switch {
	case asked != "":
		return asked
	case s.asks, request.InBackground():
		return conf.Ask
	}
	return conf.Park
}

// supervise runs do with all that a supervisor needs of its person, and gives how it left the run.
func (s *session) supervise(ctx context.Context, f request.Session, cwd string, to snapshotting,
	do func(context.Context, engine.Supervisor) (supervisor.Outcome, error)) (supervisor.Outcome, error) {
	logger, closeLog, err := diagnostics(f.Log)
	if err != nil {
		return supervisor.Outcome{}, err
	}
	defer closeLog()
	self, err := programs.Own()
	if err != nil {
		return supervisor.Outcome{}, err
	}
	claude, err := filedrop.ClaudeFolder(os.Getenv)
	if err != nil {
		return supervisor.Outcome{}, err
	}
	if s.notices, err = s.openNotices(f, cwd, self, logger); err != nil {
		return supervisor.Outcome{}, err
	}
	leave := make(chan string)
	machine := host.Machine{Dirs: s.Dirs, Store: s.Store, Env: environment(), Self: self, Claude: claude, Log: logger,
		Guarded: guarded(), Working: func(text string) (done func()) { return s.printer.Working(text).Done }}
	sent := startTelemetry(logger)
	if sent != nil {
		defer sent.Close()
		machine.LaunchEnv = sent.Env
	}
	sup := machine.Supervisor(engine.Supervisor{
		Program:    programFor(self, cwd),
		Interrupts: leave, At: s.At, Tell: s.tell, Open: s.open,
		Notify: func(ctx context.Context, q *supervisor.Question) { s.notices.Told(ctx, q) }, // of what open has shown
		Announce: func(ctx context.Context, command []string, n notice.Notification) error {
			if f.NoNotify {
				return nil
			}
			return notify.Send(ctx, command, news.Event(n))
		},
	})
	if sent != nil {
		sup.Store = sent.Store(sup.Store)
	}
	s.prompter.In(cwd)
	taker, err := s.takeSnapshots(&sup, to)
	if err != nil {
		return supervisor.Outcome{}, err
	}
	defer func() {
		taker.Close()
		if taker.Folder != nil {
			taker.Folder.Close()
		}
	}()
	ready := make(chan struct{})
	if taker.Folder != nil {
		sup.SnapshotReady = ready
	}

	var out supervisor.Outcome
	var actors run.Group
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	actors.Add(func() (err error) {
		defer func() {
			if bug := recover(); bug != nil {
				err = fmt.Errorf("%w: %v; what was saved is safe: resume continues\n\n%s", supervisor.ErrBug, bug, debug.Stack())
			}
		}()
		out, err = do(ctx, sup)
		return err
	}, func(error) {})
	if taker.Folder != nil {
		priming, stop := context.WithCancel(ctx)
		actors.Add(func() error {
			taker.Prime(priming, to.run, cwd)
			close(ready)
			<-priming.Done()
			return nil
		}, func(error) { stop() })
	}
	if s.asks {
		asking, stop := context.WithCancel(ctx)
		actors.Add(func() error {
			if err := s.prompter.Run(asking); err != nil {
				s.printer.Notice("Questions cannot be asked here: " + err.Error() + ". Answer them from another terminal.")
			}
			<-asking.Done()
			return nil
		}, func(error) { stop() })
	}
	if !f.Aside {
		listening, stop := context.WithCancel(ctx)
		actors.Add(func() error { s.listen(listening, leave); return nil }, func(error) { stop() })
	}
	err = actors.Run()
	s.notices.Left(out)
	return out, err
}

// envNotifyURL is --notify-url where everybody must not see it, as the arguments of a process.
const envNotifyURL = "CLAUDE_SUPERVISE_NOTIFY_URL"

// notifySecrets are those of the channels by the network that the environment has.
func notifySecrets() map[string]string {
	secrets := map[string]string{}
	for _, of := range notify.Networks {
		secrets[of.Variable] = os.Getenv(of.Variable)
	}
	return secrets
}

// openNotices opens the channels by which the person of a run in a folder is told. What the environment has for them is
// taken out of it: agents have no use for it.
func (s *session) openNotices(f request.Session, cwd, self string, log zerolog.Logger) (*notices.Channels, error) {
	p := notices.Person{Client: s.Client, URL: cmp.Or(f.NotifyURL, os.Getenv(envNotifyURL)), Secrets: notifySecrets(),
		Screen: terminal.IsTerminal(os.Stderr) || request.InBackground(), Banner: []string{self, bannerCommand},
		Printer: s.printer, Log: log, Event: func(n notice.Notification) any { return news.Event(n) }}
	taken := []string{envNotifyURL}
	for _, of := range notify.Networks {
		taken = append(taken, of.Variable)
	}
	if f.Aside {
		taken = nil
	}
	for _, name := range taken {
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
	}
	if f.NoNotify {
		return &notices.Channels{}, nil
	}
	var err error
	if p.Config, err = request.OwnConfig(); err != nil {
		return nil, err
	}
	s.prompter.Marks(!p.Config.Notify.Unmarked)
	if cwd != "" { // else the run is not there, which is told soon
		if _, err := p.Config.For(cwd); err != nil {
			return nil, exitcode.UsageError{Err: err}
		}
	}
	return notices.Open(p)
}

// slowLeaving is how long leaving takes until it is said that it does.
const slowLeaving = time.Second

// listen turns the system's signals into wishes to leave, until ctx ends.
func (s *session) listen(ctx context.Context, leave chan<- string) {
	arrived := make(chan os.Signal, 4)
	// A reader of our output that goes away must not end the run; taken note of, unlike ignored, SIGPIPE keeps its
	// meaning for the agents.
	wanted := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		wanted = append(wanted, syscall.SIGHUP)
	}
	// To the program's end: what is still to be written then has a bound of its own, and one Ctrl-C more must not cut it.
	signal.Notify(arrived, wanted...)
	var known terminal.Interrupts
	for told := false; ; {
		select {
		case sig := <-arrived:
			switch {
			case sig == syscall.SIGPIPE, !known.Wish(sig, time.Now()):
				continue
			}
			select {
			case leave <- sig.String():
				if !told { // most have left by then
					time.AfterFunc(slowLeaving, func() {
						s.printer.Notice("Leaving: saving the state, questions stay open. Ctrl-C again ends at once.")
					})
				}
				told = true
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// submit leaves the terminal's answer where every answer goes: in the inbox. An empty one skips the question.
func (s *session) submit(ctx context.Context, id string, r terminal.Reply) error {
	a := service.Replied(r.Text, r.Decline, r.Change)
	a.By = terminal.Who("terminal")
	_, err := service.Reply(ctx, s.Client, id, a)
	return err
}

func (s *session) open(state supervisor.State, open []*supervisor.Question) {
	s.notices.Open(open)
	var waits []string // agents, which nobody is asked for here
	for _, q := range open {
		switch { // here, and not with its notice: so it stands before all that becomes of it
		case s.printed[q.ID]:
			continue
		case s.asJSON:
			s.print(news.Event(notice.Asking(q)))
		case !s.asks:
			asked := asking.Shown(s.Reader().View(q))
			asked.Advance = "" // the run's last words say it
			s.printer.Notice("\n" + terminal.Render(asked, s.printer.Columns(), time.Now()))
			waits = append(waits, q.Agent)
		}
		s.printed[q.ID] = true
	}
	slices.Sort(waits)
	for _, agent := range slices.Compact(waits) {
		if text := patience(state, agent); text != "" {
			s.printer.Notice(text)
		}
	}
	if !s.asks {
		return
	}
	for _, q := range open {
		s.prompted[q.ID] = true
	}
	s.prompter.Set(toAsk(context.Background(), s.Client, views(s.Reader(), open)))
}

// patience says how long an agent is waited for where nobody is asked, and what then; "" where that is now.
func patience(s supervisor.State, agent string) string {
	hold, ends := s.Patience(agent)
	const begins = "No terminal to ask on: the run waits "
	switch {
	case s.Config.Policy == conf.Fail, !s.Abilities().TakesInput: // a command asks with its last words
		return ""
	case !ends, s.Config.Policy == conf.Ask:
		return begins + "until it is answered."
	case hold < time.Second:
		return ""
	}
	return begins + strings.TrimSuffix(terminal.Duration(hold), " 00s") + ", then parks (exit 75)."
}

// print writes one event of --json. A pipe that is gone does not end the run: it is told of at the end.
func (s *session) print(v any) { _ = s.printer.JSON(v) }

func views(r view.Reader, qs []*supervisor.Question) []view.QuestionView {
	views := make([]view.QuestionView, len(qs))
	for i, q := range qs {
		views[i] = r.View(q)
	}
	return views
}

// toAsk is questions as a prompt asks them: each with how many were asked together, of which run it is where it is
// known by more than its id, and where paths in its answer begin.
func toAsk(ctx context.Context, c client.Client, qs []view.QuestionView) []terminal.Question {
	sizes := map[string]int{}
	for _, q := range qs {
		sizes[q.Group] = max(sizes[q.Group], q.Index+1)
	}
	all := make([]terminal.Question, len(qs))
	for i, q := range qs {
		all[i] = asking.Placed(q)
		all[i].Of, all[i].Folder = sizes[q.Group], pathsBegin(ctx, c, q)
	}
	return all
}

// pathsBegin is where paths in the answer to a question begin: a child may have a worktree of its own. It is "" where
// none is asked for, and where that cannot be read.
func pathsBegin(ctx context.Context, c client.Client, q view.QuestionView) string {
	if q.Validate != "path" || q.Run == "" { // most: nothing is read for them
		return ""
	}
	folder, err := c.FolderOf(ctx, q.Run, q.Agent)
	if err != nil {
		return ""
	}
	return folder
}

// diagnostics opens the log that --log names: JSON lines, never mixed with progress.
func diagnostics(path string) (zerolog.Logger, func(), error) {
	if path == "" {
		return zerolog.Nop(), func() {}, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return zerolog.Nop(), nil, usage("the log cannot be written: %w", err)
	}
	return zerolog.New(f).With().Timestamp().Int("pid", os.Getpid()).Logger(), func() { _ = f.Close() }, nil
}

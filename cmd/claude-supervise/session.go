package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/oklog/run"
	"github.com/rs/zerolog"

	"claude-supervise/cmd/internal/programs"
	"claude-supervise/cmd/internal/questions"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/host"
	"claude-supervise/supervisor/view"
)

// A session is one supervisor with the person that it serves: the printer, the prompt, the signals of the system.
type session struct {
	client.Client
	printer  *terminal.Printer
	prompter *terminal.Prompter
	caller   *caller // set by supervise
	phone    *phone  // so is this
	asks     bool    // there is a terminal to ask on
	asJSON   bool
	working  working
	prompted map[string]bool // the questions that the prompt was given
	printed  map[string]bool // those that were printed as JSON
}

// sessionFlags are those that run and resume share.
type sessionFlags struct {
	plain, asJSON, quiet, noNotify bool
	log, notifyURL                 string
	stdinRead                      bool // the task was read from stdin
}

func newSession(f sessionFlags) (*session, error) {
	client, err := openClient()
	if err != nil {
		return nil, err
	}
	s := &session{
		Client:  client,
		printer: terminal.NewPrinter(os.Stdout, os.Stderr, terminal.Look{Plain: f.plain, Quiet: f.quiet, Getenv: os.Getenv}),
		asJSON:  f.asJSON, prompted: map[string]bool{}, printed: map[string]bool{},
		working: working{spent: map[string]spending{}},
	}
	keyboard := os.Stdin
	if f.stdinRead && !terminal.IsTerminal(keyboard) && terminal.IsTerminal(os.Stderr) {
		if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil { // who typed the command sits there
			keyboard = tty
		}
	}
	s.asks = terminal.IsTerminal(keyboard) && terminal.IsTerminal(os.Stderr)
	s.prompter = terminal.NewPrompter(keyboard, s.printer, s.submit)
	return s, nil
}

// onTerminal reports whether there is a person to ask: one that can type, and sees what is asked.
func onTerminal() bool { return terminal.IsTerminal(os.Stdin) && terminal.IsTerminal(os.Stderr) }

// close writes what is still to be shown; a terminal that stands still does not keep the program.
func (s *session) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(s.printer.Close(ctx), s.Close())
}

// policy gives what becomes of questions that are not answered in time, where the person did not say.
func (s *session) policy(asked supervisor.OnQuestion) supervisor.OnQuestion {
	switch {
	case asked != "":
		return asked
	case s.asks, inBackground():
		return supervisor.Ask
	}
	return supervisor.Park
}

// supervise runs do with all that a supervisor needs of its person, and gives how it left the run.
func (s *session) supervise(ctx context.Context, f sessionFlags, cwd string, to snapshotting,
	do func(context.Context, engine.Supervisor) (supervisor.Outcome, error)) (supervisor.Outcome, error) {
	logger, closeLog, err := diagnostics(f.log)
	if err != nil {
		return supervisor.Outcome{}, err
	}
	defer closeLog()
	self, err := programs.Own()
	if err != nil {
		return supervisor.Outcome{}, err
	}
	claude, err := view.ClaudeFolder(os.Getenv)
	if err != nil {
		return supervisor.Outcome{}, err
	}
	s.caller = newCaller(f.noNotify, self, s.printer, logger, s.Answer)
	if s.phone, err = newPhone(f, cwd, s); err != nil {
		return supervisor.Outcome{}, err
	}
	leave := make(chan string)
	sent := startTelemetry(logger)
	defer sent.close()
	machine := host.Machine{Dirs: s.Dirs, Store: s.Store, Env: environment(), Self: self, Claude: claude, Log: logger,
		Guarded: guarded(), LaunchEnv: sent.env(),
		Working: func(text string) (done func()) { return s.printer.Working(text).Done }}
	sup := machine.Supervisor(engine.Supervisor{
		Program:    programFor(self, cwd),
		Interrupts: leave, At: s.At, Tell: s.tell, Open: s.open, Notify: s.notify, Announce: s.caller.announce,
		Choose: func(q *supervisor.Question, typed string) (string, error) {
			folder := cmp.Or(pathsBegin(context.Background(), s.Client, view.View(q)), cwd)
			value, err := terminal.Choose(shown(q), typed, folder)
			if err == nil {
				err = supervisor.CheckDecision(q, value, folder)
			}
			return value, err
		},
	})
	sup.Store = sent.store(sup.Store)
	s.prompter.In(cwd)
	taker, err := s.takeSnapshots(&sup, to)
	if err != nil {
		return supervisor.Outcome{}, err
	}
	defer taker.close()
	primed := make(chan struct{})
	if taker.Folder != nil {
		sup.Primed = primed
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
			close(primed)
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
	listening, stop := context.WithCancel(ctx)
	actors.Add(func() error { s.listen(listening, leave); return nil }, func(error) { stop() })
	err = actors.Run()
	s.caller.left(context.WithoutCancel(ctx), out)
	s.phone.left(out)
	return out, err
}

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
	var known interrupts
	for told := false; ; {
		select {
		case sig := <-arrived:
			switch {
			case sig == syscall.SIGPIPE, !known.wish(sig, time.Now()):
				continue
			}
			select {
			case leave <- sig.String():
				if !told {
					s.printer.Notice("Leaving: saving the state, questions stay open. Ctrl-C again ends at once.")
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
	return s.Answer(ctx, id, client.Answer{
		Text: r.Text, Skip: r.Text == "" && !r.Decline, Decline: r.Decline, Change: r.Change, By: terminal.Who("terminal"),
	})
}

func (s *session) open(open []*supervisor.Question) {
	s.caller.closed(open)
	s.phone.set(open)
	for _, q := range open {
		if s.asJSON && !s.printed[q.ID] { // here, and not with its notice: so it stands before all that becomes of it
			s.printed[q.ID] = true
			s.print(event(supervisor.Asking(q)))
		}
	}
	if !s.asks {
		return
	}
	for _, q := range open {
		s.prompted[q.ID] = true
	}
	s.prompter.Set(toAsk(context.Background(), s.Client, views(open)))
}

// notify gives a question's one notice. On a terminal the prompt is the notice.
func (s *session) notify(ctx context.Context, q *supervisor.Question) {
	defer s.caller.call(ctx, q)
	if !s.asJSON && !s.asks {
		asked := shown(q)
		asked.Advance = "" // the run's last words say it
		s.printer.Notice("\n" + terminal.Render(asked, s.printer.Columns(), time.Now()))
	}
}

// print writes one event of --json. A pipe that is gone does not end the run: it is told of at the end.
func (s *session) print(v any) { _ = s.printer.JSON(v) }

func views(qs []*supervisor.Question) []view.QuestionView {
	views := make([]view.QuestionView, len(qs))
	for i, q := range qs {
		views[i] = view.View(q)
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
		all[i] = questions.Placed(q)
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

// shown is a question as the terminal shows it.
func shown(q *supervisor.Question) terminal.Question { return questions.Shown(view.View(q)) }

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

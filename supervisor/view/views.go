package view

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// A Reader answers what a person or a program asks about runs, from the database and the locks. It changes nothing,
// and disturbs no supervisor.
type Reader struct {
	Dirs  checkpoints.Dirs
	Store *checkpoints.Store
}

// OpenReader opens the state of this user to look at it. It creates nothing: where there is none, all lists are empty.
func OpenReader() (Reader, error) {
	dirs, err := checkpoints.DefaultDirs()
	if err != nil {
		return Reader{}, err
	}
	store, err := checkpoints.OpenReadOnly(dirs)
	if err != nil {
		return Reader{}, err
	}
	return Reader{Dirs: dirs, Store: store}, nil
}

// OpenExistingReader is OpenReader for who knows that there is a state: where it is gone, that is an error that Gone
// knows.
func OpenExistingReader() (Reader, error) {
	r, err := OpenReader()
	if err != nil {
		return r, err
	}
	if err := r.Dirs.Gone(); err != nil { // it was not read, or from where nobody finds it again
		return Reader{}, errors.Join(err, r.Close())
	}
	return r, nil
}

// Gone reports whether an error says that the database was there, and is not any more.
func Gone(err error) bool { return errors.Is(err, checkpoints.ErrGone) }

// Close lets the database go.
func (r Reader) Close() error { return r.Store.Close() }

// State returns the records of a run as the core reads them.
func State(ctx context.Context, store *checkpoints.Store, run string) (supervisor.State, error) {
	l, err := store.Load(ctx, run)
	if err != nil {
		return supervisor.State{}, err
	}
	return supervisor.Loaded(l)
}

// RunView is a run as `ps --json` shows it; fields may be added, never renamed.
type RunView struct {
	ID            string            `json:"id"`
	Name          string            `json:"name"`
	Status        supervisor.Status `json:"status"`
	Reason        string            `json:"reason"`
	Since         time.Time         `json:"since"`
	ExitCode      *int              `json:"exit_code"`
	Cwd           string            `json:"cwd"`
	StartedAt     time.Time         `json:"started_at"`
	EndedAt       *time.Time        `json:"ended_at"`
	CostUSD       float64           `json:"cost_usd"`
	SupervisorPID int               `json:"supervisor_pid"` // 0: nobody supervises it
	Suspended     bool              `json:"suspended"`      // its supervisor is, as by Ctrl-Z
	Agents        []AgentView       `json:"agents"`
	OpenQuestions []string          `json:"open_questions"`
	FromPack      string            `json:"from_pack"` // the file it came out of
	Worker        string            `json:"-"`         // of a fleet, that has it; "": none, or no fleet has it
	Snapshot      *RunSnapshot      `json:"snapshot"`  // nil: none are taken
	Forked        *ForkView         `json:"forked"`    // nil: it was not begun by another answer to a question

	Summary    string `json:"-"` // of one that has ended, by its first agent, for people; "": none
	Packed     bool   `json:"-"` // it goes on where its pack file is unpacked
	FolderGone bool   `json:"-"` // its folder is not there any more: see LookForFolder
	left       string // why its last supervisor has left, if it has, on purpose
}

// A ForkView is the question of another run from which a run goes on, and the answer that it had there.
type ForkView struct {
	Run      string `json:"run"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// InWords says where a run comes from, for people.
func (f ForkView) InWords() string { return f.Question + " of " + f.Run + " answered differently" }

// HowToContinue says what lets a suspended supervisor go on.
func (v RunView) HowToContinue() string {
	return fmt.Sprintf("to continue: fg on its terminal, or kill -CONT %d", v.SupervisorPID)
}

// AgentView is an agent as `ps --json` shows it.
type AgentView struct {
	ID            string            `json:"id"`
	Parent        string            `json:"parent"`
	Depth         int               `json:"depth"`
	Task          string            `json:"task"`
	Status        supervisor.Status `json:"status"`
	Reason        string            `json:"reason"`
	Since         time.Time         `json:"since"`
	SessionID     string            `json:"session_id"`
	PID           int               `json:"pid"` // 0: no process
	Launches      int               `json:"launches"`
	Priority      string            `json:"priority"`
	CostUSD       float64           `json:"cost_usd"`
	InputTokens   int64             `json:"input_tokens"`
	OutputTokens  int64             `json:"output_tokens"`
	CacheRead     int64             `json:"cache_read_tokens"`     // of the input: what came from a cache,
	CacheCreation int64             `json:"cache_creation_tokens"` // and what was put into one
	ServiceTier   string            `json:"service_tier"`          // "": not said
	// SilentSince is set while nothing is heard of an agent at work; the reason says what it was doing.
	SilentSince *time.Time `json:"silent_since"`

	Who           string     `json:"who"`          // in a few words, for people
	Name          string     `json:"name"`         // as a task file calls it
	Independence  string     `json:"independence"` // of a child
	ToolUses      int        `json:"tool_uses"`
	LimitedUntil  *time.Time `json:"limited_until"` // nil: no usage limit holds it
	QueuedSince   *time.Time `json:"queued_since"`  // since when it waits for a slot
	EndedAt       *time.Time `json:"ended_at"`
	ExitCode      *int       `json:"exit_code"` // once it has ended
	Cwd           string     `json:"cwd"`       // where it works, if not where the run does
	OpenQuestions []string   `json:"open_questions"`
}

// QuestionView is a question as `questions --json` shows it.
type QuestionView struct {
	ID            string                    `json:"id"`
	Run           string                    `json:"run"`
	Agent         string                    `json:"agent"`
	RunName       string                    `json:"run_name"` // this and cwd are not in `show`
	Cwd           string                    `json:"cwd"`
	Who           string                    `json:"who"` // the agent in a few words, where the run has several
	Kind          checkpoints.QuestionKind  `json:"kind"`
	State         checkpoints.QuestionState `json:"state"`
	Header        string                    `json:"header"`
	Question      string                    `json:"question"`
	Context       string                    `json:"context"`
	Image         *ImageView                `json:"image"` // that it shows; nil: none
	Options       []checkpoints.Option      `json:"options"`
	MultiSelect   bool                      `json:"multi_select"`
	Optional      bool                      `json:"optional"` // it can be skipped
	Urgent        bool                      `json:"urgent"`
	Validate      string                    `json:"validate"`
	AskedAt       time.Time                 `json:"asked_at"`
	Asker         *AskerView                `json:"asker"`  // nil: the main conversation
	Answer        *string                   `json:"answer"` // or why it was declined
	Skipped       bool                      `json:"skipped"`
	Declined      bool                      `json:"declined"`
	AnsweredAt    *time.Time                `json:"answered_at"`
	AnsweredBy    string                    `json:"answered_by"`
	Images        []ImageView               `json:"images"` // that belong to the answer
	AnswerCommand string                    `json:"answer_command"`
	Remark        string                    `json:"remark"` // what else became of it: who has withdrawn it
	Task          string                    `json:"task"`   // of a delegation: what the other agent is to do
	// of a delegation: the id that the other agent gets, or has
	Child string `json:"child"`
	// of one that does not stop the work: what its agent goes on with, the paths that it makes under that, and what has
	// become of it: open, confirmed, corrected, left (not answered, so it stands) or withdrawn
	Assumption string   `json:"assumption"`
	Affects    []string `json:"affects"`
	Verdict    string   `json:"assumption_state"`
	// of a permission: the --allow that permits it in advance; "": none can
	AllowRule string          `json:"allow_rule"`
	Folder    string          `json:"-"`     // where it is made, if not in the agent's own folder; "?": unknown
	Tool      string          `json:"tool"`  // of a permission: the tool that is called,
	Input     json.RawMessage `json:"input"` // and its input, exactly as it is

	Session *SessionView `json:"session"` // of an outside session; nil: of a run or a script

	Group string `json:"-"` // those that were asked together share it
	Index int    `json:"-"` // its place among them, from 0
}

// AskerView is the subagent that asks, as `questions --json` shows it.
type AskerView struct {
	ID    string `json:"id"` // the CLI's own; "" where the release does not say it
	Type  string `json:"type"`
	Task  string `json:"task"`
	Depth int    `json:"depth"` // 1: started by the main conversation
}

// Asks returns the text of a question as a person is asked.
func (v QuestionView) Asks() string { return questions.KindOf(v.Kind).Asks(v.Question) }

// Final reports whether a question takes no other answer.
func (v QuestionView) Final() bool {
	return v.State == checkpoints.QuestionDelivered || v.State == checkpoints.QuestionWithdrawn
}

// View returns a question as it is shown.
func View(q *supervisor.Question) QuestionView {
	v := QuestionView{
		ID: q.ID, Run: q.Run, Agent: q.Agent, Who: q.Who, Kind: q.Kind, State: q.State, Header: q.Header, Question: q.Text,
		Context: q.Context, Options: q.Options, MultiSelect: q.MultiSelect, Urgent: q.Urgent, Validate: q.Validate,
		Optional: q.Optional, AskedAt: q.AskedAt,
		AnsweredAt: q.AnsweredAt, AnsweredBy: q.AnsweredBy, AnswerCommand: AnswerCommand(q),
		Skipped: q.Skipped, Declined: q.Declined, Group: q.Group, Index: q.Index, Remark: q.Remark,
	}
	from := q.From
	if q.Tool != nil {
		from = q.Tool.From
	}
	if from != nil {
		v.Asker = &AskerView{ID: from.ID, Type: from.Type, Task: from.Task, Depth: from.Depth}
	}
	if v.Affects = []string{}; q.Assumed != nil {
		v.Assumption, v.Affects = q.Assumed.Text, append(v.Affects, q.Assumed.Affects...)
		v.Verdict = string(questions.VerdictOf(q))
	}
	if questions.TakesOptionsOnly(q) {
		v.Validate = "choice"
	}
	if v.Options == nil {
		v.Options = []checkpoints.Option{}
	}
	if q.Image != nil {
		v.Image = &ImageView{Image: *q.Image}
	}
	v.Images = make([]ImageView, len(q.Images))
	for i, image := range q.Images {
		v.Images[i].Image = image
	}
	if q.AnsweredAt != nil {
		v.Answer = &q.Answer
	}
	if q.State == checkpoints.QuestionWithdrawn { // nobody waits for it
		v.AnswerCommand = ""
	}
	switch kind := questions.KindOf(q.Kind); {
	case kind.Ruled: // one that an older release has saved may hide something
		v.Question, v.Context = text.Shown(v.Question), text.Shown(v.Context)
		v.AllowRule = q.Rule
		if q.Tool != nil {
			v.Tool, v.Input, v.Folder = q.Tool.Name, q.Tool.Input, q.Tool.Cwd
		}
	case kind.Hands:
		v.Task, v.Child = ask.WorkIn(q).Task, q.Child
	}
	return v
}

// Terms are what an answer to the question is judged by.
func (v QuestionView) Terms() questions.Terms {
	return questions.Terms{Kind: v.Kind, Options: questions.Offered(v.Options), MultiSelect: v.MultiSelect,
		Validate: v.Validate, Assumption: v.Assumption}
}

// Declinable reports whether a person can refuse to answer a question, as no answer to it. A permission and its like
// are denied, and a script that belongs to no run takes any text for an answer.
func Declinable(q QuestionView) bool {
	return (q.Run != "" || q.Session != nil) && !questions.KindOf(q.Kind).Lets
}

// AnswerCommand is what to type, on any terminal of this user, to answer the question.
func AnswerCommand(q *supervisor.Question) string {
	id := q.ID
	if strings.HasPrefix(id, "-") { // a question file's name
		id = "-- " + id
	}
	return "claude-supervise answer " + id + " VALUE"
}

// Runs returns the runs that have not ended, or all, oldest first. One whose supervisor is gone without a word is
// orphaned: that is concluded here and stored nowhere.
func (r Reader) Runs(ctx context.Context, all bool) (views []RunView, err error) {
	err = asOne(ctx, r.Store.AsOne, func(ctx context.Context) error {
		runs, err := r.Store.Runs(ctx, all)
		if err == nil {
			views, err = r.views(ctx, runs)
		}
		return err
	})
	return views, err
}

// goingOn returns the runs that have not ended, as Runs does, and all open questions, as Questions does. Each is read
// once, for those who follow thousands.
func (r Reader) goingOn(ctx context.Context, memory *checkpoints.Memory) (views []RunView, questions []QuestionView,
	err error) {
	read := func(ctx context.Context, work func(context.Context) error) error {
		return memory.AsOne(ctx, r.Store, work)
	}
	err = asOne(ctx, read, func(ctx context.Context) error {
		runs, err := r.Store.Runs(ctx, false)
		if err != nil {
			return err
		}
		open, err := openQuestions(ctx, r.Store, runs)
		if err != nil {
			return err
		}
		questions = r.questionViews(open, runs)
		views, err = r.viewsWith(ctx, runs, open)
		return err
	})
	return views, questions, err
}

// PastRuns returns runs that have ended, the latest first: at most most of them, after the first skip.
func (r Reader) PastRuns(ctx context.Context, skip, most int) (views []RunView, err error) {
	err = r.Store.AsOne(ctx, func(ctx context.Context) error {
		runs, err := r.Store.PastRuns(ctx, skip, most)
		if err == nil {
			views, err = r.views(ctx, runs)
		}
		return err
	})
	return views, err
}

// Run returns one run.
func (r Reader) Run(ctx context.Context, id string) (view RunView, err error) {
	err = asOne(ctx, r.Store.AsOne, func(ctx context.Context) error {
		run, err := r.Store.Run(ctx, id)
		if err != nil {
			return err
		}
		views, err := r.views(ctx, []supervisor.Run{run})
		if err == nil {
			view = views[0]
		}
		return err
	})
	return view, err
}

func (r Reader) views(ctx context.Context, runs []supervisor.Run) ([]RunView, error) {
	open, err := openQuestions(ctx, r.Store, runs)
	if err != nil {
		return nil, err
	}
	return r.viewsWith(ctx, runs, open)
}

func (r Reader) viewsWith(ctx context.Context, runs []supervisor.Run, open []*supervisor.Question) ([]RunView, error) {
	ids := make([]string, len(runs))
	views := make([]RunView, len(runs))
	at := map[string]*RunView{}
	var supervised []string
	for i, run := range runs {
		view, err := r.view(ctx, run)
		if err != nil {
			return nil, err
		}
		ids[i], views[i], at[run.ID] = run.ID, view, &views[i]
		if view.SupervisorPID != 0 {
			supervised = append(supervised, run.ID)
		}
	}
	agents, err := r.Store.Agents(ctx, ids...)
	if err != nil {
		return nil, err
	}
	launches, err := r.Store.LiveLaunches(ctx, supervised...) // what another may have left behind is no agent at work
	if err != nil {
		return nil, err
	}
	asked := map[string][]string{} // ids of open questions by agent
	for _, q := range open {
		if v := at[q.Run]; v != nil {
			v.OpenQuestions = append(v.OpenQuestions, q.ID)
			asked[q.Agent] = append(asked[q.Agent], q.ID)
		}
	}
	live := map[string]supervisor.Launch{}
	for _, l := range launches {
		live[l.Agent] = l
	}
	slices.SortFunc(agents, asTheyCame)
	labels := labelsByRun(agents)
	for _, a := range agents {
		v := at[a.Run]
		l := live[a.ID]
		v.CostUSD += a.CostUSD
		if a.Parent == "" && a.Report != nil && v.EndedAt != nil {
			v.Summary = a.Report.Summary
		}
		v.Agents = append(v.Agents, agentView(a, l, labels[a.Run].Who(&a), asked[a.ID]))
	}
	return views, nil
}

// asTheyCame orders the agents of a run, parents before their children.
func asTheyCame(a, b supervisor.Agent) int {
	return cmp.Or(a.Depth-b.Depth, a.Seq-b.Seq, strings.Compare(a.ID, b.ID))
}

// UnusualTier is at which tier the API has served the agent's requests, "" for the standard one or if nobody says.
func (v AgentView) UnusualTier() string {
	if v.ServiceTier == "standard" {
		return ""
	}
	return v.ServiceTier
}

// labelsByRun name the agents of several runs.
func labelsByRun(agents []supervisor.Agent) map[string]label.Labels {
	of := map[string][]supervisor.Agent{}
	for _, a := range agents {
		of[a.Run] = append(of[a.Run], a)
	}
	labels := map[string]label.Labels{}
	for run, all := range of {
		labels[run] = label.Of(all)
	}
	return labels
}

// agentView returns an agent as it is shown, by its label, with its process, if it has one, and the ids of what it
// asks.
func agentView(a supervisor.Agent, l supervisor.Launch, who string, asks []string) AgentView {
	v := AgentView{
		ID: a.ID, Parent: a.Parent, Depth: a.Depth, Task: a.Task, Status: a.Status, Reason: a.Reason, Since: a.Since,
		SessionID: a.SessionID, PID: l.PID, Launches: a.Launches, Priority: a.Priority,
		CostUSD: a.CostUSD, InputTokens: a.InputTokens, OutputTokens: a.OutputTokens, SilentSince: silentSince(l),
		CacheRead: a.CacheRead, CacheCreation: a.CacheCreation, ServiceTier: a.ServiceTier,
		Who: who, ToolUses: a.ToolUses, QueuedSince: a.QueuedAt, EndedAt: a.EndedAt, Cwd: a.Cwd,
		OpenQuestions: append([]string{}, asks...),
	}
	if a.Status == checkpoints.Limited {
		v.LimitedUntil = a.NotBefore
	}
	if a.Status.Ended() {
		code := exit.Code(&a)
		v.ExitCode = &code
	}
	if a.Delegated != nil {
		v.Name, v.Independence = a.Delegated.Name, string(a.Delegated.Independence)
	}
	return v
}

// Agent returns an agent of the run by its id; false if it has none of that id.
func (v RunView) Agent(id string) (AgentView, bool) {
	at := slices.IndexFunc(v.Agents, func(a AgentView) bool { return a.ID == id })
	if at < 0 {
		return AgentView{}, false
	}
	return v.Agents[at], true
}

func silentSince(l supervisor.Launch) *time.Time {
	if l.Stalled == nil {
		return nil
	}
	return &l.Stalled.Since
}

func (r Reader) view(ctx context.Context, run supervisor.Run) (RunView, error) {
	owned := run.Left == "" && r.Dirs.Owned(run.ID)
	if run.Left == "" && !owned && run.EndedAt == nil {
		noteFree(ctx, run.ID)
	}
	v := RunView{
		ID: run.ID, Name: run.Name, Status: run.Status, Reason: run.Reason, Since: run.Since, ExitCode: run.ExitCode,
		Cwd: run.Cwd, StartedAt: run.StartedAt, EndedAt: run.EndedAt, Agents: []AgentView{}, OpenQuestions: []string{},
		left: run.Left, FromPack: run.FromPack,
	}
	var err error
	if f := run.Forked; f != nil {
		v.Forked = &ForkView{f.Run, f.Question, f.Before}
	}
	if v.Snapshot, err = runSnapshot(run); err != nil {
		return v, err
	}
	switch {
	case owned:
		v.SupervisorPID, v.Suspended = run.PID, procs.Suspended(run.PID)
		if v.Suspended {
			v.Reason = "suspended; " + v.HowToContinue()
		}
	case run.Left == "" && run.EndedAt == nil:
		v.Status = checkpoints.Orphaned
		v.Reason = "its supervisor is gone; to continue, run: claude-supervise resume " + run.ID
	}
	if run.Packed != "" {
		v.Packed, v.Reason = true, "packed into "+run.Packed+"; resume it where that file is unpacked"
		if over := run.TakenOver; over != nil {
			v.Reason = fmt.Sprintf("continues elsewhere: %s took it over, by the snapshots in %s", over.By, over.In)
		}
	}
	return v, nil
}

// Questions returns the questions that wait for an answer, oldest first.
func (r Reader) Questions(ctx context.Context) ([]QuestionView, error) {
	var views []QuestionView
	err := r.Store.AsOne(ctx, func(ctx context.Context) error {
		runs, err := r.Store.Runs(ctx, false)
		if err != nil {
			return err
		}
		open, err := openQuestions(ctx, r.Store, runs)
		views = r.questionViews(open, runs)
		return err
	})
	return views, err
}

// Asked returns the questions that are open no more, those asked last first: at most most of them.
func (r Reader) Asked(ctx context.Context, most int) (views []QuestionView, err error) {
	err = r.Store.AsOne(ctx, func(ctx context.Context) error {
		runs, err := r.Store.Runs(ctx, true)
		if err != nil {
			return err
		}
		qs, err := r.Store.Questions(ctx, checkpoints.QuestionFilter{})
		if err != nil {
			return err
		}
		var closed []*supervisor.Question
		for i := range qs {
			if q := &qs[len(qs)-1-i]; q.State != supervisor.Open && len(closed) < most {
				closed = append(closed, q)
			}
		}
		views = r.questionViews(closed, runs)
		return nil
	})
	return views, err
}

func (r Reader) questionViews(open []*supervisor.Question, runs []supervisor.Run) []QuestionView {
	views := []QuestionView{}
	of := map[string]supervisor.Run{}
	for _, run := range runs {
		of[run.ID] = run
	}
	for _, q := range open {
		v := r.View(q)
		v.RunName, v.Cwd = of[q.Run].Name, of[q.Run].Cwd
		views = append(views, v)
	}
	return views
}

// OpenQuestions returns the questions of all runs that nobody has answered, oldest first. Those of a packed run are
// asked wherever it is unpacked.
func OpenQuestions(ctx context.Context, store *checkpoints.Store) ([]*supervisor.Question, error) {
	return openQuestions(ctx, store, nil)
}

// openQuestions does so with runs that have been read already: of the others each is.
func openQuestions(ctx context.Context, store *checkpoints.Store, read []supervisor.Run) ([]*supervisor.Question,
	error) {
	qs, err := store.Questions(ctx, checkpoints.QuestionFilter{Undelivered: true})
	if err != nil {
		return nil, err
	}
	var open []*supervisor.Question
	packed := map[string]bool{} // runs by id
	for _, run := range read {
		packed[run.ID] = run.Packed != ""
	}
	for i := range qs {
		q := &qs[i]
		if q.State != supervisor.Open {
			continue
		}
		elsewhere, known := packed[q.Run]
		if !known {
			run, err := store.Run(ctx, q.Run)
			if err != nil {
				return nil, err
			}
			elsewhere = run.Packed != ""
			packed[q.Run] = elsewhere
		}
		if !elsewhere {
			open = append(open, q)
		}
	}
	return open, nil
}

// Question returns the question of this id.
func Question(ctx context.Context, store *checkpoints.Store, id string) (*supervisor.Question, error) {
	qs, err := store.Questions(ctx, checkpoints.QuestionFilter{ID: id})
	if err != nil {
		return nil, err
	}
	if len(qs) == 0 {
		return nil, &checkpoints.UnknownError{ID: id}
	}
	return &qs[0], nil
}

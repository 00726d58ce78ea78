package supervisor

import (
	"context"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
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

// Close lets the database go.
func (r Reader) Close() error { return r.Store.Close() }

// RunView is a run as `ps --json` shows it; fields may be added, never renamed.
type RunView struct {
	ID            string      `json:"id"`
	Name          string      `json:"name"`
	Status        Status      `json:"status"`
	Reason        string      `json:"reason"`
	Since         time.Time   `json:"since"`
	ExitCode      *int        `json:"exit_code"`
	Cwd           string      `json:"cwd"`
	StartedAt     time.Time   `json:"started_at"`
	EndedAt       *time.Time  `json:"ended_at"`
	CostUSD       float64     `json:"cost_usd"`
	SupervisorPID int         `json:"supervisor_pid"` // 0: nobody supervises it
	Agents        []AgentView `json:"agents"`
	OpenQuestions []string    `json:"open_questions"`
}

// AgentView is an agent as `ps --json` shows it.
type AgentView struct {
	ID           string    `json:"id"`
	Parent       string    `json:"parent"`
	Depth        int       `json:"depth"`
	Task         string    `json:"task"`
	Status       Status    `json:"status"`
	Reason       string    `json:"reason"`
	Since        time.Time `json:"since"`
	SessionID    string    `json:"session_id"`
	PID          int       `json:"pid"` // 0: no process
	Launches     int       `json:"launches"`
	Priority     string    `json:"priority"`
	CostUSD      float64   `json:"cost_usd"`
	InputTokens  int64     `json:"input_tokens"`
	OutputTokens int64     `json:"output_tokens"`
}

// QuestionView is a question as `questions --json` shows it.
type QuestionView struct {
	ID            string                    `json:"id"`
	Run           string                    `json:"run"`
	Agent         string                    `json:"agent"`
	Kind          checkpoints.QuestionKind  `json:"kind"`
	State         checkpoints.QuestionState `json:"state"`
	Header        string                    `json:"header"`
	Question      string                    `json:"question"`
	Context       string                    `json:"context"`
	Options       []checkpoints.Option      `json:"options"`
	MultiSelect   bool                      `json:"multi_select"`
	Validate      string                    `json:"validate"`
	AskedAt       time.Time                 `json:"asked_at"`
	Answer        *string                   `json:"answer"`
	AnsweredAt    *time.Time                `json:"answered_at"`
	AnsweredBy    string                    `json:"answered_by"`
	AnswerCommand string                    `json:"answer_command"`
}

// View gives a question as it is shown.
func View(q *Question) QuestionView {
	v := QuestionView{
		ID: q.ID, Run: q.Run, Agent: q.Agent, Kind: q.Kind, State: q.State, Header: q.Header, Question: q.Text,
		Context: q.Context, Options: q.Options, MultiSelect: q.MultiSelect, Validate: q.Validate, AskedAt: q.AskedAt,
		AnsweredAt: q.AnsweredAt, AnsweredBy: q.AnsweredBy, AnswerCommand: AnswerCommand(q),
	}
	if v.Options == nil {
		v.Options = []checkpoints.Option{}
	}
	if q.AnsweredAt != nil {
		v.Answer = &q.Answer
	}
	return v
}

// AnswerCommand is what to type, on any terminal of this user, to answer the question.
func AnswerCommand(q *Question) string { return "claude-supervise answer " + q.ID + " VALUE" }

// Runs gives the runs that have not ended, or all, oldest first. One whose supervisor is gone without a word is orphaned:
// that is concluded here and stored nowhere.
func (r Reader) Runs(ctx context.Context, all bool) ([]RunView, error) {
	runs, err := r.Store.Runs(ctx, all)
	if err != nil {
		return nil, err
	}
	return r.views(ctx, runs)
}

// Run gives one run.
func (r Reader) Run(ctx context.Context, id string) (RunView, error) {
	run, err := r.Store.Run(ctx, id)
	if err != nil {
		return RunView{}, err
	}
	views, err := r.views(ctx, []Run{run})
	if err != nil {
		return RunView{}, err
	}
	return views[0], nil
}

func (r Reader) views(ctx context.Context, runs []Run) ([]RunView, error) {
	var ids, going []string
	for _, run := range runs {
		ids = append(ids, run.ID)
		if run.EndedAt == nil {
			going = append(going, run.ID)
		}
	}
	agents, err := r.Store.Agents(ctx, ids...)
	if err != nil {
		return nil, err
	}
	launches, err := r.Store.LiveLaunches(ctx, going...)
	if err != nil {
		return nil, err
	}
	open, err := openQuestions(ctx, r.Store)
	if err != nil {
		return nil, err
	}
	pids := map[string]int{}
	for _, l := range launches {
		pids[l.Agent] = l.PID
	}
	views := make([]RunView, len(runs))
	at := map[string]*RunView{}
	for i, run := range runs {
		if views[i], err = r.view(ctx, run); err != nil {
			return nil, err
		}
		at[run.ID] = &views[i]
	}
	for _, a := range agents {
		v := at[a.Run]
		pid := pids[a.ID]
		if v.Status == checkpoints.Orphaned {
			pid = 0
		}
		v.CostUSD += a.CostUSD
		v.Agents = append(v.Agents, AgentView{
			ID: a.ID, Parent: a.Parent, Depth: a.Depth, Task: a.Task, Status: a.Status, Reason: a.Reason, Since: a.Since,
			SessionID: a.SessionID, PID: pid, Launches: a.Launches, Priority: a.Priority,
			CostUSD: a.CostUSD, InputTokens: a.InputTokens, OutputTokens: a.OutputTokens,
		})
	}
	for _, q := range open {
		if v := at[q.Run]; v != nil {
			v.OpenQuestions = append(v.OpenQuestions, q.ID)
		}
	}
	for i := range views {
		slices.SortFunc(views[i].Agents, func(a, b AgentView) int {
			if a.Depth != b.Depth {
				return a.Depth - b.Depth
			}
			return strings.Compare(a.ID, b.ID)
		})
	}
	return views, nil
}

func (r Reader) view(ctx context.Context, run Run) (RunView, error) {
	owned := run.Left == "" && r.Dirs.Owned(run.ID)
	if run.Left == "" && !owned && run.EndedAt == nil {
		// It may have left on purpose since the record was read: its lock is freed after its last transaction.
		again, err := r.Store.Run(ctx, run.ID)
		if err != nil {
			return RunView{}, err
		}
		run = again
	}
	v := RunView{
		ID: run.ID, Name: run.Name, Status: run.Status, Reason: run.Reason, Since: run.Since, ExitCode: run.ExitCode,
		Cwd: run.Cwd, StartedAt: run.StartedAt, EndedAt: run.EndedAt, Agents: []AgentView{}, OpenQuestions: []string{},
	}
	switch {
	case owned:
		v.SupervisorPID = run.PID
	case run.Left == "" && run.EndedAt == nil:
		v.Status = checkpoints.Orphaned
		v.Reason = "its supervisor is gone; go on with: claude-supervise resume " + run.ID
	}
	return v, nil
}

// Questions gives the questions that wait for an answer, oldest first.
func (r Reader) Questions(ctx context.Context) ([]QuestionView, error) {
	open, err := openQuestions(ctx, r.Store)
	if err != nil {
		return nil, err
	}
	views := []QuestionView{}
	for _, q := range open {
		views = append(views, View(q))
	}
	return views, nil
}

// openQuestions gives the questions of all runs that nobody has answered, oldest first.
func openQuestions(ctx context.Context, store *checkpoints.Store) ([]*Question, error) {
	qs, err := store.Questions(ctx, checkpoints.QuestionFilter{Undelivered: true})
	if err != nil {
		return nil, err
	}
	var open []*Question
	for i := range qs {
		if qs[i].State == Open {
			open = append(open, &qs[i])
		}
	}
	return open, nil
}

// question gives the question of this id.
func question(ctx context.Context, store *checkpoints.Store, id string) (*Question, error) {
	qs, err := store.Questions(ctx, checkpoints.QuestionFilter{ID: id})
	if err != nil {
		return nil, err
	}
	if len(qs) == 0 {
		return nil, &checkpoints.UnknownError{ID: id}
	}
	return &qs[0], nil
}

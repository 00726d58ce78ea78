package view

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/task"
)

// Details is all that `show` tells: one question, or a run with its agents, questions and reports.
type Details struct {
	Run       RunView                        `json:"run"`
	Questions []QuestionView                 `json:"questions"`
	Reports   map[string]*checkpoints.Report `json:"reports"` // by agent
	// by agent: the file of what it printed
	Logs      map[string]string           `json:"logs"`
	Criteria  map[string][]task.Criterion `json:"success_criteria"` // by agent
	Rules     []PermissionView            `json:"rules"`            // what runs unasked
	Worktrees map[string]WorktreeView     `json:"worktrees"`        // by agent
	// what became of the findings that its agents shared
	Merged *checkpoints.Merged     `json:"merged"`
	Agents map[string]AgentDetails `json:"agents"`
	// of a run that is a pool, or nothing but its tasks
	Tasks    *notice.Table `json:"tasks"`
	Result   string        `json:"-"` // the command that gets what was written, where that is not here
	Pool     bool          `json:"-"` // they are alike, and may be many
	Agent    string        `json:"-"` // the one that was named; "": the run
	Question *QuestionView `json:"-"`
}

// WorktreeView is an agent's git worktree as `show --json` shows it.
type WorktreeView struct {
	State  checkpoints.WorktreeState `json:"state"`
	Path   string                    `json:"path"` // "" where there is none (any more)
	Branch string                    `json:"branch"`
	Base   string                    `json:"base"`  // the commit that it began at
	Left   string                    `json:"left"`  // what is left in it, or why there is none, for people
	Merge  []string                  `json:"merge"` // commands that take over what is left in it, in order
	Drop   []string                  `json:"drop"`  // and that remove it
}

// worktreeViews returns the worktrees of a run's agents.
func worktreeViews(run supervisor.Run, agents []supervisor.Agent) map[string]WorktreeView {
	s, views := records.FoldersIn(run, agents), map[string]WorktreeView{}
	for _, a := range agents {
		if a.Worktree != nil {
			w := asItIs(*a.Worktree)
			merge, drop := s.Commands(&a, w)
			views[a.ID] = WorktreeView{
				State: w.State, Path: w.Path, Branch: w.Branch, Base: w.Base, Left: label.LeftIn(&w),
				Merge: append([]string{}, merge...), Drop: append([]string{}, drop...),
			}
		}
	}
	return views
}

// asItIs returns a worktree as a person may have left it, who has taken over what was in it and removed its folder
// since.
func asItIs(w checkpoints.Worktree) checkpoints.Worktree {
	if w.State != checkpoints.WorktreeKept || w.Path == "" {
		return w
	}
	if _, err := os.Lstat(w.Path); errors.Is(err, fs.ErrNotExist) {
		w.Path, w.Loose, w.Problem = "", 0, "its folder has been removed since"
	}
	return w
}

// Show returns what is known of the run, agent or question that an id or its start names.
func (r Reader) Show(ctx context.Context, id string) (Details, error) {
	kind, full, err := r.Store.Resolve(ctx, id)
	if NoSuchID(err) {
		if v, wrong := r.FindQuestion(ctx, id); wrong == nil { // of no run
			return Details{Question: &v}, nil
		}
	}
	if err != nil {
		return Details{}, err
	}
	filter := checkpoints.QuestionFilter{Run: full}
	run, named := full, ""
	switch kind {
	case checkpoints.KindQuestion:
		q, err := Question(ctx, r.Store, full)
		if err != nil {
			return Details{}, err
		}
		v := r.View(q)
		return Details{Question: &v}, nil
	case checkpoints.KindAgent:
		if run, err = r.Store.RunOf(ctx, full); err != nil {
			return Details{}, err
		}
		filter = checkpoints.QuestionFilter{Agent: full}
		named = full
	}
	d := Details{Agent: named, Agents: map[string]AgentDetails{}, Questions: []QuestionView{},
		Reports: map[string]*checkpoints.Report{}, Logs: map[string]string{},
		Criteria: map[string][]task.Criterion{}}
	if d.Run, err = r.Run(ctx, run); err != nil {
		return Details{}, err
	}
	permissions, err := r.Permissions(ctx, run)
	if err != nil {
		return Details{}, err
	}
	d.Rules = permissions.Rules
	qs, err := r.Store.Questions(ctx, filter)
	if err != nil {
		return Details{}, err
	}
	for i := range qs {
		d.Questions = append(d.Questions, r.View(&qs[i]))
	}
	s, err := State(ctx, r.Store, run)
	if err != nil {
		return Details{}, err
	}
	var agents []supervisor.Agent
	for _, a := range s.AllAgents() {
		agents = append(agents, *a)
		d.Logs[a.ID] = r.Dirs.AgentLog(run, a.ID)
		if a.Report != nil {
			d.Reports[a.ID] = a.Report
		}
		if len(a.SuccessCriteria) > 0 {
			d.Criteria[a.ID], _ = task.MatchCriteria(a)
		}
		pid := 0
		if v, is := d.Run.Agent(a.ID); is && (named == "" || named == a.ID) {
			pid = v.PID
		}
		d.Agents[a.ID] = agentDetails(s, a, pid, checkpoints.Now())
	}
	d.Tasks, d.Pool = s.Table(), s.Pool()
	d.Worktrees, d.Merged = worktreeViews(*s.Run, agents), s.Run.Merged
	return d, nil
}

// AgentDetails is what `show` tells of an agent beside what `ps` does.
type AgentDetails struct {
	Children  []string               `json:"children"`
	Delegated *checkpoints.Delegated `json:"delegated"` // how it came about; nil for the root
	Budget    *checkpoints.Budget    `json:"budget"`    // what it and all below it may use
	Progress  *checkpoints.Progress  `json:"progress"`  // as it last told it
	// what its subagents have reported of their parts
	SubagentReports []checkpoints.PartReport `json:"subagent_reports"`
	Worked          float64                  `json:"worked_seconds"` // how long its processes have lived
	CPU             float64                  `json:"cpu_seconds"`
	RSS             int64                    `json:"rss_bytes"` // of all of its processes; 0: it has none
	GoesOnFrom      string                   `json:"goes_on_from"`
	ContinuedBy     string                   `json:"continued_by"` // the agent that goes on with its conversation
}

// agentDetails returns what is known of an agent. It looks at the processes of one whose run is supervised.
func agentDetails(s supervisor.State, a *supervisor.Agent, pid int, at time.Time) AgentDetails {
	d := AgentDetails{
		Delegated: a.Delegated, Budget: a.Budget, Progress: a.Progress, Worked: workedFor(s, a, at).Seconds(),
		ContinuedBy: a.ContinuedBy,
		GoesOnFrom:  goesOnFrom(s, a),
		Children:    []string{}, SubagentReports: append([]checkpoints.PartReport{}, a.Parts...),
	}
	for _, c := range s.Children(a.ID) {
		d.Children = append(d.Children, c.ID)
	}
	if pid != 0 {
		if cpu, rss, err := procs.Resources(pid); err == nil { // else it has just ended
			d.CPU, d.RSS = cpu.Seconds(), rss
		}
	}
	return d
}

// workedFor is how long the processes of an agent have lived, that which lives included.
func workedFor(s supervisor.State, a *supervisor.Agent, at time.Time) time.Duration {
	sum := s.Duration(a)
	if l := s.Live(a.ID); l != nil && l.StartedAt != nil {
		sum += max(at.Sub(*l.StartedAt), 0)
	}
	return sum
}

// goesOnFrom names the agent whose conversation one goes on with, by its session where it is of another run; "" if it
// began empty.
func goesOnFrom(s supervisor.State, a *supervisor.Agent) string {
	if a.From == "" {
		return ""
	}
	agents := s.AllAgents()
	if at := slices.IndexFunc(agents, func(b *supervisor.Agent) bool { return b.SessionID == a.From }); at >= 0 {
		return agents[at].ID
	}
	return "session " + a.From
}

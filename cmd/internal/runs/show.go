package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// A factSheet is what is known of something, a line each: a name, and what stands behind it, which may have lines of
// its own.
type factSheet struct {
	strings.Builder
	program Program
	width   int // of a terminal; what does not fit is folded. 0: nothing is
}

// nameColumn is the width of the names.
const nameColumn = 12

// line adds a fact; one without anything behind its name is left out.
func (s *factSheet) line(name, format string, args ...any) {
	text := strings.TrimSpace(terminal.Clean(fmt.Sprintf(format, args...)))
	if text == "" {
		return
	}
	for i, row := range strings.Split(text, "\n") {
		if i > 0 {
			name = ""
		}
		s.WriteString(strings.TrimRight(terminal.Fact(fmt.Sprintf("%-*s ", nameColumn, name), row, s.width), " ") + "\n")
	}
}

func (s *factSheet) gap() { s.WriteString("\n") }

// Show tells all about a run, or one of its agents. A run of one agent and that agent are the same story.
func (p Program) Show(width int, d view.Details) string {
	s := factSheet{program: p, width: min(width, 80)}
	var agents []view.AgentView
	several := len(d.Run.Agents) > 1
	switch {
	case !several:
		s.run(d)
		agents = d.Run.Agents
	case d.Agent == "":
		s.run(d)
		s.tree(width, d)
	default:
		s.line("Run", "%s %s", d.Run.ID, d.Run.Name)
		if a, is := d.Run.Agent(d.Agent); is {
			agents = append(agents, a)
		}
	}
	for _, a := range agents {
		s.gap()
		s.agent(d, a)
	}
	s.questions(d.Questions, several && d.Agent == "")
	return s.String()
}

func (s *factSheet) run(d view.Details) {
	r := d.Run
	s.line("Run", "%s %s", r.ID, r.Name)
	s.line("Status", "%s, since %s", r.Status, terminal.When(r.Since))
	s.line("Why", "%s", Stands(r))
	s.line("Folder", "%s", r.Cwd)
	s.line("Result", "%s", d.Result)
	s.line("Started", "%s", terminal.When(r.StartedAt))
	if r.FromPack != "" {
		s.line("Came", "out of a pack file: %s", r.FromPack)
	}
	if f := r.Forked; f != nil {
		s.line("Continues", "from %s; there the answer was %q", f.InWords(), f.Answer)
	}
	if b := r.Snapshot; b != nil {
		last := "none yet"
		if b.At != nil {
			last = "the last of " + terminal.When(*b.At)
		}
		s.line("Snapshots", "%s, in %s", last, b.Folder)
		if b.Problem != "" {
			s.line("", "the next could not be taken: %s", b.Problem)
		}
	}
	if r.EndedAt != nil {
		s.line("Ended", "%s, exit code %d", terminal.When(*r.EndedAt), *r.ExitCode)
	}
	if r.SupervisorPID != 0 {
		s.line("Supervisor", "pid %d", r.SupervisorPID)
	}
	for _, rule := range d.Rules {
		s.line("Unasked", "%s, by %s", rule.Rule, rule.From)
	}
	if m := d.Merged; m != nil {
		for _, f := range m.Files {
			s.line("Shared", "%s", supervisor.MergedInWords(f))
		}
		s.line("Not merged", "%s", m.Problem)
	}
}

// tree tells of a run of several agents: their sums, each of them in a row, what the first has reported, and what is
// left to merge.
func (s *factSheet) tree(width int, d view.Details) {
	agents := d.Run.Agents
	var worked time.Duration
	var in, out int64
	var uses int
	for _, a := range agents {
		in, out, uses = in+a.InputTokens, out+a.OutputTokens, uses+a.ToolUses
		worked += seconds(d.Agents[a.ID].Worked)
	}
	s.line("Agents", "%d: %s", len(agents), Tally(agents))
	s.line("Spent", "%s, %s tokens in, %s out", terminal.Money(d.Run.CostUSD), terminal.Tokens(in), terminal.Tokens(out))
	s.line("Worked", "%s in all, tool uses: %d", terminal.Duration(worked), uses)
	s.report(d, agents[0].ID)
	s.gap()
	if d.Pool {
		s.WriteString(Tasks(width, d.Tasks) + "\n")
	} else {
		s.WriteString(agentTree(width, "AGENT", "TASK", agentRows(d.Run, time.Now())))
	}
	for _, a := range agents {
		if w, own := d.Worktrees[a.ID]; own && len(w.Drop) > 0 {
			s.gap()
			s.line("Worktree", "of %s, %s\n%s", a.Who, cmp.Or(w.Path, "branch "+w.Branch), w.Left)
			s.mending(w)
		}
	}
	s.gap()
	s.line("More", "%[1]s show AGENT\n%[1]s logs AGENT", s.program)
}

func (s *factSheet) agent(d view.Details, a view.AgentView) {
	more := d.Agents[a.ID]
	s.line("Agent", "%s %s", a.ID, a.Name)
	s.line("Parent", "%s", a.Parent)
	s.line("Children", "%s", strings.Join(more.Children, "\n"))
	s.line("Task", "%s", a.Task)
	s.line("Status", "%s, since %s", a.Status, terminal.When(a.Since))
	s.line("Why", "%s", view.Because(a.Reason))
	if a.LimitedUntil != nil {
		s.line("Continues", "at %s", terminal.When(*a.LimitedUntil))
	}
	s.delegation(a, more)
	s.line("Continues from", "%s", more.GoesOnFrom)
	s.line("Continued by", "%s", more.ContinuedBy)
	s.line("Folder", "%s", a.Cwd)
	s.line("Session", "%s", a.SessionID)
	s.line("Launches", "%d", a.Launches)
	s.line("Worked", "%s, tool uses: %d", terminal.Duration(seconds(more.Worked)), a.ToolUses)
	s.line("Spent", "%s, %s tokens in, %s out", terminal.Money(a.CostUSD), terminal.Tokens(a.InputTokens),
		terminal.Tokens(a.OutputTokens))
	if a.CacheRead > 0 || a.CacheCreation > 0 {
		s.line("Cache", "%s of the tokens in read from it, %s written to it", terminal.Tokens(a.CacheRead),
			terminal.Tokens(a.CacheCreation))
	}
	s.line("Service tier", "%s", terminal.CleanLine(a.UnusualTier(), 40))
	if more.RSS > 0 {
		s.line("Processes", "%.1f s of processor time, %s of memory, from pid %d on",
			more.CPU, humanize.IBytes(uint64(more.RSS)), a.PID)
	}
	s.line("Log", "%s", d.Logs[a.ID])
	if w, own := d.Worktrees[a.ID]; own {
		on := ", branch " + w.Branch
		if w.Branch == "" {
			on = ", a copy"
		}
		s.line("Worktree", "%s, %s%s\n%s", w.State, cmp.Or(w.Path, "no folder"), on, w.Left)
		s.mending(w)
	}
	s.report(d, a.ID)
}

// delegation says how an agent came about, and what was said of its work.
func (s *factSheet) delegation(a view.AgentView, more view.AgentDetails) {
	said := more.Delegated
	if said == nil {
		return
	}
	s.line("Priority", "%s, %s", a.Priority, said.Independence)
	s.line("Asked in", "%s", said.Question)
	s.line("After", "%s", strings.Join(said.After, "\n"))
	s.line("Because", "%s", said.Reason)
	s.line("Context", "%s", said.Context)
	s.line("Coordinate", "%s", said.Coordination)
	s.line("Estimated", "%s", said.Estimated)
	s.line("Kind", "%s", strings.TrimSpace(said.Type+" "+said.Model))
}

// mending gives the commands that end a worktree in one way or the other.
func (s *factSheet) mending(w view.WorktreeView) {
	s.line("To merge", "%s", strings.Join(w.Merge, "\n"))
	s.line("To drop", "%s", strings.Join(w.Drop, "\n"))
}

func (s *factSheet) report(d view.Details, agent string) {
	for _, part := range d.Agents[agent].SubagentReports {
		s.line("Subagent", "%s\nreports %s: %s", part.By.Name(), part.Status, part.Summary)
		s.line("Files", "%s", part.Deliverables)
		s.line("Missing", "%s", strings.Join(part.Missing, "\n"))
	}
	report := d.Reports[agent]
	if report == nil {
		return
	}
	s.line("Report", "%s: %s", report.Status, report.Summary)
	s.line("Files", "%s", report.Deliverables)
	s.line("Missing", "%s", strings.Join(report.Missing, "\n"))
	s.line("Criteria", "%s", Criteria(d.Criteria[agent]))
	s.line("Metrics", "%s", report.Metrics)
	s.line("Issues", "%s", report.Issues)
	s.line("Advice", "%s", report.Recommendations)
	s.line("Took", "%s", report.Duration)
}

// questions tells of what was asked; only of what is open, where that is all that a person looks for.
func (s *factSheet) questions(asked []view.QuestionView, onlyOpen bool) {
	if onlyOpen {
		asked = slices.DeleteFunc(asked, func(q view.QuestionView) bool { return q.State != supervisor.Open })
	}
	for i, q := range asked {
		s.gap()
		if onlyOpen && i == MaxChildren {
			s.line("Questions", "and %d more: %s questions", len(asked)-i, s.program)
			return
		}
		s.line("Question", "%s (%s)", q.ID, q.State)
		s.line("Of", "%s", q.Who)
		s.line("Text", "%s", q.Asks())
		if q.Image != nil {
			s.line("Shows", "%s", q.Image)
		}
		if q.Answer != nil {
			s.line("Answer", "%s, by %s", asking.Given(q), q.AnsweredBy)
			for _, i := range q.Images {
				s.line("Image", "%s", i)
			}
		} else if q.State == supervisor.Open {
			s.line("Answer it", "%s", q.AnswerCommand)
		}
	}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

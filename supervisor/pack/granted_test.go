package pack

import (
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/questions"
)

// granted tells what is granted in the records of a run that has come out of a pack file and that nobody has resumed;
// "" if nothing.
func granted(s supervisor.State) string {
	cfg := s.Config
	_, loose := claude.HarmlessFlags(cfg.Flags)
	switch {
	case len(loose) > 0:
		return fmt.Sprintf("the flags %q", loose)
	case len(cfg.Allow) > 0, cfg.AllowProject, cfg.AllowSessions, len(s.Rules()) > 0:
		return fmt.Sprintf("the rules %q and %v, the project %v", cfg.Allow, s.Rules(), cfg.AllowProject)
	case len(cfg.Answers) > 0:
		return fmt.Sprintf("the answers %v", cfg.Answers)
	case len(cfg.Exec) > 0 && !slices.Equal(cfg.Exec, []string{""}), DemoIsFile(cfg.Demo), cfg.KeepProcesses:
		return fmt.Sprintf("the programs %q %q", cfg.Exec, cfg.Demo)
	case slices.Contains(cfg.Delegate, conf.AutoDelegations), cfg.Delegate.At(1) == conf.AutoDelegations:
		return "delegations"
	case cfg.MaxAgents <= 0 || cfg.MaxAgents > conf.DefaultMaxAgents, cfg.MaxDepth <= 0 ||
		cfg.MaxDepth > conf.DefaultMaxDepth,
		cfg.MaxParallel <= 0 || cfg.MaxParallel > conf.DefaultMaxParallel, cfg.Retries < 0 ||
			cfg.Retries > DefaultRetries:
		return fmt.Sprintf("the limits %+v", cfg)
	}
	for _, q := range s.FindQuestions(func(*supervisor.Question) bool { return true }) {
		started := q.Child != "" && s.Agents.Get(q.Child) != nil
		switch {
		case q.ForAllLike:
			return q.ID + " answers all like it"
		case q.Ran != nil && !q.Ran.Done:
			return q.ID + " runs a command"
		case questions.Grants(q) && q.Revoked == "" && !started:
			return fmt.Sprintf("%s: the answer %q to a %s", q.ID, q.Answer, q.Kind)
		}
	}
	for ls := range s.Launches.Values() {
		for _, l := range ls {
			if l.PID != 0 || l.Transcript != "" || len(l.Replies) > 0 || l.Gate != nil {
				return fmt.Sprintf("launch %d of %s reaches a process or a file here", l.N, l.Agent)
			}
		}
	}
	return grantedNext(s)
}

// grantedNext tells what the next supervisor would do at once that a person has to let happen.
func grantedNext(s supervisor.State) string {
	next, err := supervisor.Step(s,
		supervisor.Happened{At: time.Unix(0, 0), Event: supervisor.Opened{Policy: conf.Park}})
	if err != nil {
		return err.Error()
	}
	for _, e := range supervisor.Plan(next) {
		if e.Do == effect.Run || e.Do == effect.Drop || e.Do == effect.Reclaim {
			return fmt.Sprintf("the effect %+v", e)
		}
		if v := next.Deliveries.Get(e.Delivery); e.Do == effect.Deliver && v.Tool != nil {
			return fmt.Sprintf("the reply %s to a call", v.Reply)
		}
	}
	for id := range next.Agents.All() {
		if s.Agents.Get(id) == nil {
			return "the agent " + id
		}
	}
	for q := range next.Questions.Values() {
		if q.State != checkpoints.QuestionOpen && q.Revoked == "" && s.Questions.Get(q.ID) != nil &&
			s.Questions.Get(q.ID).IsOpen() && questions.Grants(q) {
			return q.ID + " is answered " + q.Answer
		}
	}
	return ""
}

package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
)

// looksThrough is a subagent as the stream shows it.
var looksThrough = &checkpoints.Subagent{ID: "sub1", ToolUse: "toolu_1", Task: "look through", Depth: 1}

// saysInside is a signal in the text of a subagent.
func saysInside(sub *checkpoints.Subagent, sig signals.Signal) SignalRead {
	sig.AgentID, sig.Inside, sig.By = Root, true, signals.Source(sub.ToolUse)
	return SignalRead{Agent: Root, Launch: 1, Named: Named{Signal: sig, From: sub}}
}

func completion(status, summary, deliverables string) signals.Signal {
	return signals.Signal{Kind: signals.Completion, Dialect: signals.Block, Fields: []signals.Field{
		{Name: "status", Value: status}, {Name: "summary", Value: summary}, {Name: "deliverables", Value: deliverables},
	}}
}

// However a subagent reports, and whatever: the agent that has the task reports itself, or is unreported.
func TestASubagentsReportIsNeverTheAgentsOwn(t *testing.T) {
	for name, says := range map[string]func(*Story, string){
		"by a block": func(s *Story, status string) {
			s.Do(saysInside(looksThrough, completion(status, "a part", "- found.txt")))
		},
		"by its tool": func(s *Story, status string) {
			s.calls("r-"+status, "report_completion",
				`{"status":"`+status+`","summary":"a part","deliverables":["found.txt"]}`, looksThrough)
			s.reply("r-" + status)
		},
		"by WORKFLOW_COMPLETE": func(s *Story, _ string) {
			s.Do(saysInside(looksThrough, signals.Signal{Kind: signals.WorkflowComplete, Dialect: signals.Marker}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			says(s, "success")
			s.plans("check " + Root + " 1 part 1")
			s.Do(Checked{Agent: Root, Part: 1, Missing: []string{"found.txt"}})
			says(s, "failed") // again: the last counts
			s.Do(Checked{Agent: Root, Part: 2})
			a := s.State.Agents.Get(Root)
			if a.Report != nil || len(a.Parts) != 1 || a.Parts[0].N != 2 || a.Parts[0].By.Task != "look through" {
				t.Fatalf("the report is %+v, those of subagents are %+v", a.Report, a.Parts)
			}
			s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1"})
			if block := s.State.Launch(Root).Gate.Block; !strings.Contains(block, "Your subagent look through has reported") ||
				!strings.Contains(block, "call report_completion") {
				t.Fatalf("the agent is told at the end of its turn: %q", block)
			}
			s.turnEnds()
			s.Ends()
			s.Rests(true)
			s.is(checkpoints.Unreported)
			s.exits(6)
		})
	}
}

func TestASubagentsReportNeitherFailsTheAgentNorDropsItsQuestion(t *testing.T) {
	s := Begin(t, nil)
	s.Do(saysInside(looksThrough, completion("failed", "a part", "")))
	s.Do(GateAsked{Agent: Root, Launch: 1, Request: "g1"})
	if !s.endsWith(updateDocs) {
		t.Fatal("the question that the agent ends with is dropped")
	}
	s.turnEnds()
	s.is(checkpoints.Waiting)
	s.Answers("q-1", "no")
	s.Delivers(1)
	s.Do(TurnBegun{Agent: Root, Launch: 1})
	s.reports("success", "")
	s.Do(saysInside(looksThrough, completion("failed", "a part, late", ""))) // after the agent has reported
	s.turnEnds()
	s.Do(Checked{Agent: Root, Part: 2})
	s.Do(Checked{Agent: Root})
	s.Ends()
	s.is(checkpoints.Succeeded)
	if parts := s.State.Agents.Get(Root).Parts; len(parts) != 1 || parts[0].Summary != "a part, late" {
		t.Errorf("the reports of subagents are %+v", parts)
	}
}

func TestWhatASubagentSaysOfItsPartIsNotTheAgentsProgress(t *testing.T) {
	s := Begin(t, nil)
	s.calls("r1", "report_progress", `{"percent":90,"step":"searching"}`, looksThrough)
	if got, want := s.State.Agents.Get(Root).Reason, "at work, its subagent look through, 90 %: searching"; got != want {
		t.Errorf("the reason is %q, want %q", got, want)
	}
	s.calls("r2", "report_progress", `{"percent":40,"step":"migrating"}`, nil)
	s.calls("r3", "report_progress", `{"percent":100,"step":"searched"}`, looksThrough)
	if got, want := s.State.Agents.Get(Root).Reason, "at work, 40 %: migrating"; got != want {
		t.Errorf("the reason is %q, want %q", got, want)
	}
	done := signals.Signal{Kind: signals.Stop, Dialect: signals.Block,
		Fields: []signals.Field{{Name: "stop_reason", Value: "completion"}}}
	if s.try(saysInside(looksThrough, done)) {
		t.Error("a subagent that has done its part has the agent asked for a report")
	}
}

// An older release took a subagent's report for the agent's until that reported itself.
func TestASubagentsReportOfAnOlderReleaseIsNoReport(t *testing.T) {
	goes := &Agent{ID: Root, Status: checkpoints.Running}
	goes.Report = &checkpoints.Report{Status: "success", Summary: "a part", Checked: true, BySubagent: true}
	ended := *goes
	ended.Status = checkpoints.Succeeded
	goes.OwnReport()
	(&ended).OwnReport()
	if goes.Report != nil || len(goes.Parts) != 1 || goes.Parts[0].Summary != "a part" || ended.Report == nil {
		t.Errorf("it is %+v; one that has ended %+v", goes.Reporting, ended.Reporting)
	}
}

// What a subagent's transcript shows of a lost turn is heard once: a report that was saved is not another.
func TestASubagentsReportInALostTurnIsHeardOnce(t *testing.T) {
	for _, saved := range []bool{true, false} {
		s := Begin(t, nil)
		said := saysInside(looksThrough, completion("success", "a part", "- found.txt"))
		if saved {
			s.Do(said)
			s.Do(Checked{Agent: Root, Part: 1})
		}
		s.Do(Opened{PID: 2, Waker: "/tmp/wake-up", Policy: conf.Ask})
		s.dies(crash())
		s.Do(Surveyed{Agent: Root, Launch: 1, Unread: []Named{said.Named}})
		if parts := s.State.Agents.Get(Root).Parts; len(parts) != 1 || parts[0].N != 1 || parts[0].Checked != saved {
			t.Errorf("saved %v: %+v", saved, parts)
		}
	}
}

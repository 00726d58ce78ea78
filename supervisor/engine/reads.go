package engine

import (
	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/listen"
)

// readUsage reads what a request has used.
func readUsage(c *listen.Listener, m procs.Usage) supervisor.Spent {
	b := supervisor.Spent{Agent: c.Agent, Launch: c.Launch, InputTokens: m.InputTokens + m.CacheRead + m.CacheCreation,
		OutputTokens: m.OutputTokens}
	if m.Parent == "" {
		b.Turns = 1
	}
	return b
}

// readExit tells how a process went.
func readExit(c *listen.Listener, survivors []procs.Survivor) supervisor.Ended {
	b := supervisor.Ended{Agent: c.Agent, Launch: c.Launch, Outcome: listen.ExitInWords(c.Exit), Foreign: c.Foreign,
		Failure: claude.Classify(c.Result, c.Exit),
		CostUSD: c.Exit.CostUSD, InputTokens: c.Exit.InputTokens, OutputTokens: c.Exit.OutputTokens,
		CacheRead: c.Exit.CacheRead, CacheCreation: c.Exit.CacheCreation}
	for _, s := range survivors {
		b.Survivors = append(b.Survivors, s.String())
	}
	return b
}

// pictures returns images as a process takes them, which belong to an agent.
func pictures(agent string, images []checkpoints.Image) (pictures []procs.Image) {
	for _, i := range images {
		pictures = append(pictures, procs.Image{File: i.File(agent), Hash: i.Hash})
	}
	return pictures
}

// callResults returns the results of a delivery as a process takes them.
func callResults(v *checkpoints.Delivery) (results []procs.CallResult) {
	for _, r := range v.Results {
		results = append(results, procs.CallResult{ToolUse: r.ToolUse, Text: r.Text, IsError: r.IsError, Blocks: r.Served,
			Images: pictures(v.Agent, r.Images)})
	}
	return results
}

// readPeer reads a message of another session.
func readPeer(c *listen.Listener, m procs.Peer) supervisor.SessionMessage {
	return supervisor.SessionMessage{Agent: c.Agent, Launch: c.Launch, With: m.From, Text: m.Text}
}

// readStopHook reads the Stop hook, with what the scanner would make of the turn if it ended now.
func readStopHook(c *listen.Listener, m procs.StopHook) supervisor.GateAsked {
	g := supervisor.GateAsked{
		Agent: c.Agent, Launch: c.Launch, Request: m.Request, Transcript: m.Transcript,
		Background: listen.Tasks(m.Background), WakeUps: m.Crons, EndUnreported: c.Talk.EndUnreported,
		Unfiled: c.Signals.Scanner.Unfiled(),
	}
	for _, src := range c.Signals.Scanner.Unheard() {
		g.Unheard = append(g.Unheard, c.Talk.Named(string(src)))
	}
	for _, s := range c.Signals.Scanner.AtEnd() {
		switch {
		case s.Foreign:
		case s.Kind == signals.Completion, s.Kind == signals.WorkflowComplete:
			g.Report = g.Report || !s.Inside
		case s.Kind == signals.Clarification, s.Kind == signals.Stop, s.Kind == signals.Delegate:
			g.Ask = true
		}
	}
	return g
}

package supervisor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"claude-supervise/procs"
)

// doSweep follows an exit that nobody asked for: whatever the process left behind is ended before the launch counts
// as ended. It is not planned, since only a living supervisor sees the exit; after a crash DoRecover does the same.
const doSweep Deed = "sweep"

// effect gives what carries an effect out. What it needs of the state is read here, in the engine's goroutine; the
// function that it returns runs outside it, may block, and gives the event that tells what came of it.
func (e *engine) effect(f Effect) func(context.Context) result {
	c := e.children[f.Agent]
	switch f.Do {
	case DoLaunch:
		return e.launch(f)
	case DoEnd:
		l := e.state.launch(f.Agent)
		how := endings[l.End]
		if l.End == endFinish && e.state.Config.KeepProcesses {
			how |= procs.KeepProcesses
		}
		return e.end(c, how)
	case doSweep:
		return e.end(c, procs.Park) // the process is gone; what it started may not be
	case DoRecover:
		return e.recover(f)
	case DoDeliver:
		return e.deliver(c, e.state.Deliveries[f.Delivery])
	case DoGate:
		block := e.state.launch(f.Agent).Gate.Block
		return e.write(c, func() error { return c.process.Gate(f.Request, block) },
			GateReplied{Agent: f.Agent, Launch: f.Launch, Request: f.Request})
	case DoConfirm:
		return e.confirm(e.state.Deliveries[f.Delivery], e.state.Agents[f.Agent], e.state.launch(f.Agent))
	case DoSurvey:
		return e.survey(f)
	case DoCheck:
		cwd, report := e.state.Run.Cwd, e.state.Agents[f.Agent].Report
		return func(context.Context) result {
			return result{body: Checked{Agent: f.Agent, Missing: missing(cwd, report.Files)}}
		}
	case DoNotify:
		q := e.state.Questions[f.Question]
		return func(context.Context) result {
			e.Notify(q)
			return result{body: Noticed{Question: q.ID}}
		}
	case DoHold:
		return waitUntil(f.Until, HoldEnded{Agent: f.Agent, Launch: f.Launch})
	case DoRetry:
		return waitUntil(f.Until, RetryDue{Agent: f.Agent})
	}
	panic(fmt.Sprintf("supervisor: no way to do %q", f.Do))
}

// launch starts the process of a launch. The engine learns of the child before its first message.
func (e *engine) launch(f Effect) func(context.Context) result {
	a, l := e.state.Agents[f.Agent], e.state.launch(f.Agent)
	cfg := e.state.Config
	c := &child{
		agent: a.ID, launch: l.N, ears: newEars(a.ID, cfg.AcceptIDs), known: make(chan struct{}), gone: make(chan struct{}),
	}
	spec := procs.Spec{
		Path: cfg.Claude, Flags: cfg.Flags, Without: a.Without, Dir: e.state.Run.Cwd, Env: e.Env,
		Marker: procs.Marker{Run: e.run, Agent: a.ID, Launch: l.N}, SessionID: a.SessionID, Resume: l.Resume,
		Extra: e.extraEnv(),
	}
	if cfg.Demo != "" {
		spec.Path, spec.Prefix = e.Self, []string{"stand-in", cfg.Demo}
	}
	path := e.Dirs.AgentLog(e.run, a.ID)
	return func(context.Context) result {
		out, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return result{body: notStarted(f, fmt.Errorf("cannot start claude: its log cannot be written: %w", err))}
		}
		spec.Log, c.output = out, out
		c.process, err = procs.Start(spec, func(m procs.Message) {
			select {
			case <-c.known:
			case <-e.done:
				return
			}
			select {
			case e.heard <- heard{child: c, message: m}:
			case <-e.done:
			}
		})
		if err != nil {
			_ = out.Close() // nothing was written
			return result{body: notStarted(f, err)}
		}
		return result{
			finish: func() Body {
				e.children[a.ID] = c
				close(c.known)
				return Started{Agent: a.ID, Launch: l.N, PID: c.process.PID(), StartTicks: c.process.StartTicks()}
			},
			undo: func() { c.process.End(context.Background(), procs.Kill) },
		}
	}
}

func notStarted(f Effect, err error) Ended {
	return Ended{
		Agent: f.Agent, Launch: f.Launch, Outcome: "never ran",
		Failure: procs.Failure{Kind: procs.NotStarted, Reason: err.Error()},
	}
}

// extraEnv is what the agent's environment has on top of ours. In a demo the stand-in's transcripts stay out of the
// person's own.
func (e *engine) extraEnv() []string {
	if e.state.Config.Demo == "" {
		return nil
	}
	return []string{"CLAUDE_CONFIG_DIR=" + filepath.Join(e.Dirs.RunDir(e.run), "claude")}
}

// endings says how each end of a launch is brought about.
var endings = map[string]procs.Ending{
	endFinish: procs.Finish, endPark: procs.Park, endRetry: procs.Park, endFail: procs.Park,
	endStop: procs.Stop, endInterrupt: procs.Park,
}

// end ends a process by the stop ladder, and all that it left behind.
func (e *engine) end(c *child, how procs.Ending) func(context.Context) result {
	return func(ctx context.Context) result {
		survivors := c.process.End(ctx, how)
		if !e.knowsExit(c) {
			return result{}
		}
		return result{finish: func() Body {
			delete(e.children, c.agent)
			return c.ended(survivors)
		}}
	}
}

// recover ends what is left of a launch of an earlier supervisor.
func (e *engine) recover(f Effect) func(context.Context) result {
	marker := procs.Marker{Run: e.run, Agent: f.Agent, Launch: f.Launch}
	return func(context.Context) result {
		if _, err := procs.Sweep(marker); err != nil {
			e.log.Error().Err(err).Msg("sweep")
		}
		return result{body: Ended{Agent: f.Agent, Launch: f.Launch, Outcome: "lost with its supervisor"}}
	}
}

// ended tells how the child's process went.
func (c *child) ended(survivors []procs.Survivor) Ended {
	b := Ended{Agent: c.agent, Launch: c.launch, Outcome: outcome(c.exit), Failure: procs.Classify(c.result, c.exit)}
	for _, s := range survivors {
		b.Survivors = append(b.Survivors, s.String())
	}
	return b
}

// knowsExit waits until the engine has heard the process's exit; false if it ended before.
func (e *engine) knowsExit(c *child) bool {
	select {
	case <-c.gone:
		return true
	case <-e.done:
		return false
	}
}

// outcome says in words how a process ended.
func outcome(x *procs.Exit) string {
	if x.Signal != "" {
		return "ended by " + x.Signal
	}
	return fmt.Sprintf("exit %d", x.Code)
}

// deliver writes a delivery to the process.
func (e *engine) deliver(c *child, d *Delivery) func(context.Context) result {
	return e.write(c, func() error {
		if d.Tool == nil {
			return c.process.Send(d.UUID, d.Text)
		}
		var r reply
		if err := json.Unmarshal(d.Reply, &r); err != nil {
			return err
		}
		if r.Behavior == allow {
			return c.process.Allow(d.Tool.Request, r.UpdatedInput)
		}
		return c.process.Deny(d.Tool.Request, r.Message, false)
	}, Sent{UUID: d.UUID, Launch: d.Launch})
}

// write writes to the process. Where that fails the process is dying, and its end tells what follows: the effect
// then stays in flight until the end is known, so that it is not begun again and again.
func (e *engine) write(c *child, do func() error, body Body) func(context.Context) result {
	return func(context.Context) result {
		if err := do(); err != nil {
			e.knowsExit(c)
			return result{}
		}
		return result{body: body}
	}
}

// confirm looks whether a delivery had reached the conversation before its launch ended.
func (e *engine) confirm(d *Delivery, a *Agent, l *Launch) func(context.Context) result {
	transcript := e.transcript(a, l)
	return func(context.Context) result {
		found := false
		path, err := transcript()
		switch {
		case err != nil:
		case d.Tool != nil:
			_, found, err = procs.AnsweredIn(path, d.Tool.ToolUse)
		default:
			found, err = procs.HeardIn(path, d.UUID)
		}
		if err != nil {
			// Without a transcript it was not delivered; sent again, a conversation that has it ignores it.
			e.log.Info().Err(err).Str("delivery", d.Key).Msg("no transcript to confirm it by")
		}
		return result{body: Confirmed{UUID: d.UUID, Found: found}}
	}
}

// transcript finds the transcript of an agent: where the CLI said that it is, else by the session's id.
func (e *engine) transcript(a *Agent, l *Launch) func() (string, error) {
	env, path, session := slices.Concat(e.Env, e.extraEnv()), l.Transcript, a.SessionID
	return func() (string, error) {
		if path != "" {
			return path, nil
		}
		return procs.Transcript(env, session)
	}
}

// waitUntil waits for a time of the wall clock, which is looked at again at least once a minute: a laptop sleeps,
// and a clock jumps.
func waitUntil(until time.Time, body Body) func(context.Context) result {
	return func(ctx context.Context) result {
		for {
			left := until.Sub(now())
			if left <= 0 {
				return result{body: body}
			}
			timer := time.NewTimer(min(left, look))
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return result{}
			}
		}
	}
}

package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// doSweep follows an exit that nobody asked for: whatever the process left behind is ended before the launch counts
// as ended. It is not planned, since only a living supervisor sees the exit; after a crash DoRecover does the same.
const doSweep Deed = "sweep"

// acts says how each deed is done. What an effect needs of the state is read here, in the engine's goroutine; the
// function that is given back runs outside it, may block, and gives the event that tells what came of it.
var acts = map[Deed]func(*engine, Effect) func(context.Context) result{
	DoLaunch:    (*engine).launch,
	DoEnd:       (*engine).end,
	doSweep:     (*engine).sweep,
	DoRecover:   (*engine).recover,
	DoDeliver:   (*engine).deliver,
	DoConfirm:   (*engine).confirm,
	DoGate:      (*engine).gate,
	DoReply:     (*engine).reply,
	DoSurvey:    (*engine).survey,
	DoCheck:     (*engine).check,
	DoPlace:     (*engine).place,
	DoTidy:      (*engine).tidy,
	DoMerge:     (*engine).merge,
	DoPrepare:   (*engine).prepare,
	DoRun:       (*engine).runCommand,
	DoDrop:      (*engine).drop,
	DoReclaim:   (*engine).reclaim,
	DoNotify:    (*engine).notify,
	DoHold:      (*engine).hold,
	DoWatch:     (*engine).watch,
	DoRetry:     (*engine).rest,
	DoOverdue:   (*engine).waitOverdue,
	DoClock:     (*engine).clock,
	DoEase:      (*engine).ease,
	DoAskBudget: (*engine).askBudget,
	DoAnnounce:  (*engine).announce,
}

// launch starts the process of a launch. The engine learns of the child before its first message.
func (e *engine) launch(f Effect) func(context.Context) result {
	a, l := e.state.Agents[f.Agent], e.state.launch(f.Agent)
	cfg := e.state.Config
	c := &child{
		agent: a.ID, launch: l.N, ears: newEars(a.ID, cfg.AcceptIDs, e.escalated), pulse: pulse{begun: time.Now()},
		known: make(chan struct{}), gone: make(chan struct{}),
	}
	spec := procs.Spec{
		Path: cfg.Claude, Flags: cfg.Flags, Without: a.Without, Dir: e.state.folder(a.ID), Env: e.Env,
		Marker: procs.Marker{Run: e.run, Agent: a.ID, Launch: l.N}, SessionID: a.SessionID, Resume: l.Resume,
		Extra: append(demoEnv(e.Dirs, e.state), EnvShared+"="+shared(e.Dirs, e.run)), Allowed: cfg.Allow,
	}
	e.state.asChild(&spec, a)
	spec.BudgetUSD, spec.MaxTurns = l.ShareUSD, l.MaxTurns
	if a.From == "" {
		spec.SpentUSD = a.CostUSD
	}
	for _, rule := range cfg.Deny {
		spec.Flags = append(slices.Clip(spec.Flags), "--disallowedTools="+rule)
	}
	if e.state.serves() {
		spec.Tools = served()
	}
	if e.state.execs() {
		spec.Command, spec.Prompt = cfg.Exec, e.state.promptOf(a.ID, l.N)
		spec.Extra = append(spec.Extra, e.handed(a, l)...)
	}
	if cfg.Demo != "" {
		spec.Path, spec.Prefix = e.Self, []string{"stand-in", cfg.Demo}
	}
	path, cwd, grounds := e.Dirs.AgentLog(e.run, a.ID), e.state.folder(a.ID), e.state.groundsOf(a.ID)
	return func(context.Context) result {
		if err := grounds.hold(cwd); err != nil {
			return result{body: notStarted(f, err)}
		}
		var project fromProject
		if cfg.Demo == "" && len(spec.Command) == 0 {
			project = closeProject(cwd, e.Claude, cfg)
			spec.Flags, spec.Extra = append(slices.Clip(spec.Flags), project.flags...), append(spec.Extra, project.env...)
			spec.SettingsStay = project.stays
		}
		if spec.Path == "" && len(spec.Command) == 0 { // it came out of a pack file, which may not name programs
			found, err := procs.Find("", e.Env)
			if err != nil {
				return result{body: notStarted(f, err)}
			}
			spec.Path = found
		}
		out, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return result{body: notStarted(f, fmt.Errorf("cannot start claude: its log cannot be written: %w", err))}
		}
		spec.Log, c.output = out, out
		e.makeShared()
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
				if project.told != "" && l.N == 1 {
					e.tell(c, Notice{Type: Progress, Trouble: true, Text: project.told})
				}
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

// demoEnv is what the agents' environment has on top of ours: in a demo the stand-in's transcripts stay out of the person's
// own.
func demoEnv(dirs checkpoints.Dirs, s State) []string {
	if s.Config.Demo == "" {
		return nil
	}
	return []string{"CLAUDE_CONFIG_DIR=" + filepath.Join(dirs.RunDir(s.Run.ID), "claude")}
}

// endings says how each end of a launch is brought about.
var endings = map[string]procs.Ending{
	endFinish: procs.Finish, endPark: procs.Park, endRetry: procs.Park, endFail: procs.Park,
	endStop: procs.Stop, endInterrupt: procs.Park, endBudget: procs.Stop,
}

// end ends a process in the way that the record of its launch says.
func (e *engine) end(f Effect) func(context.Context) result {
	l := e.state.launch(f.Agent)
	how := endings[l.End]
	if l.End == endFinish && e.state.Config.KeepProcesses {
		how |= procs.KeepProcesses
	}
	return e.climb(e.children[f.Agent], how)
}

// sweep ends what a process that is gone has left behind.
func (e *engine) sweep(f Effect) func(context.Context) result {
	return e.climb(e.children[f.Agent], procs.Park)
}

// climb ends a process by the stop ladder, and all that it left behind.
func (e *engine) climb(c *child, how procs.Ending) func(context.Context) result {
	return func(ctx context.Context) result {
		survivors := c.process.End(ctx, how)
		if !e.knowsExit(c) {
			return result{}
		}
		return result{finish: func() Body {
			if e.children[c.agent] == c { // another end of this launch may have been faster, and the next one begun
				delete(e.children, c.agent)
			}
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
	b := Ended{Agent: c.agent, Launch: c.launch, Outcome: outcome(c.exit), Failure: procs.Classify(c.result, c.exit),
		CostUSD: c.exit.CostUSD, InputTokens: c.exit.InputTokens, OutputTokens: c.exit.OutputTokens}
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
func (e *engine) deliver(f Effect) func(context.Context) result {
	c, d := e.children[f.Agent], e.state.Deliveries[f.Delivery]
	sent := Sent{UUID: d.UUID, Launch: d.Launch}
	late := Body(sent)
	if d.Tool != nil { // the news that it was withdrawn may be on its way
		late = AskCancelled{Agent: f.Agent, Launch: d.Launch, Request: d.Tool.Request}
	}
	return e.write(c, func() error {
		if d.Tool == nil {
			return c.process.Send(d.UUID, d.Text)
		}
		var r reply
		if err := json.Unmarshal(d.Reply, &r); err != nil {
			return err
		}
		if d.Tool.Served {
			return c.process.Return(d.Tool.Request, r.Message, false)
		}
		if r.Behavior == allow {
			return c.process.Allow(d.Tool.Request, r.UpdatedInput)
		}
		return c.process.Deny(d.Tool.Request, r.Message, false)
	}, sent, late)
}

// gate replies to the Stop hook.
func (e *engine) gate(f Effect) func(context.Context) result {
	c, block := e.children[f.Agent], e.state.launch(f.Agent).Gate.Block
	replied := GateReplied{Agent: f.Agent, Launch: f.Launch, Request: f.Request}
	return e.write(c, func() error { return c.process.Gate(f.Request, block) }, replied, replied)
}

// reply replies to a call of a tool of ours that nobody has to be asked about.
func (e *engine) reply(f Effect) func(context.Context) result {
	c, l := e.children[f.Agent], e.state.launch(f.Agent)
	r := l.Replies[replyAt(l, f.Request)]
	replied := Replied{Agent: f.Agent, Launch: f.Launch, Request: f.Request}
	return e.write(c, func() error { return c.process.Return(r.Request, r.Text, r.IsError) }, replied, replied)
}

// check looks for the deliverables of a report.
func (e *engine) check(f Effect) func(context.Context) result {
	cwd, named := e.state.folder(f.Agent), due(e.state.Agents[f.Agent])
	return func(context.Context) result {
		return result{body: Checked{Agent: f.Agent, Missing: missing(cwd, named)}}
	}
}

// notify gives a question's one notice.
func (e *engine) notify(f Effect) func(context.Context) result {
	q, command := e.state.Questions[f.Question], e.state.Config.Notify
	return func(ctx context.Context) result {
		e.Notify(ctx, q)
		return result{body: Noticed{Question: q.ID, Problem: e.announceTo(ctx, command, Asking(q))}}
	}
}

// announcePatience is how long the person's own command is given.
const announcePatience = 30 * time.Second

// announce tells the person's own command how the run is left. A command that fails changes nothing of that.
func (e *engine) announce(Effect) func(context.Context) result {
	s := e.state
	return func(ctx context.Context) result {
		return result{body: Announced{Leaving: s.Run.Leaving, Problem: e.announceTo(ctx, s.Config.Notify, runDone(s, now()))}}
	}
}

// announceTo tells the person's own command, if there is one, and gives the reason if that fails.
func (e *engine) announceTo(ctx context.Context, command []string, n Notice) (problem string) {
	if len(command) == 0 {
		return ""
	}
	ctx, cancel := context.WithTimeoutCause(ctx, announcePatience, fmt.Errorf("it took longer than %v", announcePatience))
	defer cancel()
	if err := e.Announce(ctx, command, n); err != nil {
		return err.Error()
	}
	return ""
}

// write writes to the process, which gives body; late, if the process does not wait for it any more. Where writing fails the
// process is dying, and its end tells what follows: the effect then stays in flight until the end is known, so that it is not
// begun again and again.
func (e *engine) write(c *child, do func() error, body, late Body) func(context.Context) result {
	return func(context.Context) result {
		switch err := do(); {
		case errors.Is(err, procs.ErrNotWaiting):
			return result{body: late}
		case err != nil:
			e.knowsExit(c)
			return result{}
		}
		return result{body: body}
	}
}

// confirm looks whether a delivery had reached the conversation before its launch ended.
func (e *engine) confirm(f Effect) func(context.Context) result {
	d, transcript := e.state.Deliveries[f.Delivery], e.transcript(e.state.Agents[f.Agent], e.state.launch(f.Agent))
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
	env, path, session := transcriptEnv(e.Env, e.Dirs, e.state), l.Transcript, a.SessionID
	return func() (string, error) {
		if path != "" {
			return path, nil
		}
		return procs.Transcript(env, session)
	}
}

// hold waits until a process was held long enough. It goes by a clock that neither jumps nor runs while the machine
// sleeps: a person has the whole of it to answer in. A hold does not outlive its supervisor, so no other clock is needed.
func (e *engine) hold(f Effect) func(context.Context) result {
	left := f.Until.Sub(now()) // it begins now, in the moment it was saved
	return func(ctx context.Context) result {
		if !sleep(ctx, left) {
			return result{}
		}
		return result{body: HoldEnded{Agent: f.Agent, Launch: f.Launch}}
	}
}

// rest waits until an agent may be launched again.
func (e *engine) rest(f Effect) func(context.Context) result {
	return e.until(f, RetryDue{Agent: f.Agent, Until: f.Until})
}

// until waits until the wall clock says that it is time, which may have been set by an earlier supervisor, and the machine may have
// slept; or as long as it was to be, should the clock have been put back. The wall clock is looked at once a minute at least.
func (e *engine) until(f Effect, then Body) func(context.Context) result {
	whole := f.Until.Sub(now())
	return func(ctx context.Context) result {
		for begun := time.Now(); ; {
			left := restLeft(f.Until, now(), whole-time.Since(begun))
			if left <= 0 {
				return result{body: then}
			}
			if !sleep(ctx, min(left, look)) {
				return result{}
			}
		}
	}
}

// restLeft is how long a rest goes on: until a time by the wall clock, but no longer than by one that does not jump.
func restLeft(until, wall time.Time, steady time.Duration) time.Duration {
	return min(until.Sub(wall), steady)
}

// sleep waits, and tells whether ctx has let it.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

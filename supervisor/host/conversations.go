package host

import (
	"context"
	"sync"
	"time"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/text"
)

// freshenEvery is how often the conversation of a process that lives is made young: the shortest that the CLI can be
// told to keep one (cleanupPeriodDays) is a day.
const freshenEvery = 6 * time.Hour

// layBack puts back what the CLI has removed of an agent's conversation, and of the one that it begins with. What fails
// is logged: the launch says itself that there is no conversation, and begins a new one with the checkpoint.
func (m Machine) layBack(s supervisor.State, a *supervisor.Agent) {
	for _, session := range []string{a.SessionID, a.From} {
		if session == "" {
			continue
		}
		err := claude.LayBackConversation(client.TranscriptEnv(m.Env, m.Dirs, s), session,
			client.KeptConversations(m.Dirs, s.Run.ID))
		if err != nil {
			m.Log.Error().Err(err).Str("agent", a.ID).Msg("the conversation cannot be laid back")
		}
	}
}

// placeOf returns the line at which the conversation of a launch is continued so that it can be told of results; "" if
// it is not to be. The error says why it cannot.
func (m Machine) placeOf(s supervisor.State, a *supervisor.Agent, l *supervisor.Launch) (string, error) {
	v := s.ResultsFor(a.ID, l.N)
	if v == nil {
		return "", nil
	}
	path, err := client.Transcript(m.Env, m.Dirs, s, a.SessionID)
	if err != nil {
		return "", err
	}
	var calls []string
	for _, r := range v.Results {
		calls = append(calls, r.ToolUse)
	}
	return claude.PlaceOf(path, calls)
}

// fork copies the conversation with which the root of a fork begins, for the folder in which it goes on. It says why it
// cannot, for people.
func (m Machine) fork(s supervisor.State, a *supervisor.Agent, cwd string) (why string) {
	from := s.Run.Forked
	if !s.ForkDue(a) {
		return ""
	}
	env := client.TranscriptEnv(m.Env, m.Dirs, s)
	if _, err := claude.Transcript(env, a.SessionID); err == nil {
		return "" // from an earlier try, or it has gone on
	}
	asked := s.FindQuestionsOf(a.ID, func(q *supervisor.Question) bool { return q.Tool != nil })[0]
	origin := supervisor.State{Records: records.Records{Run: &supervisor.Run{ID: from.Run}}, Config: s.Config}
	path, err := client.Transcript(m.Env, m.Dirs, origin, from.Session)
	if err == nil {
		err = claude.ForkConversation(path, env, a.SessionID, cwd, []string{asked.Tool.ToolUse})
	}
	if err != nil {
		return text.FirstLine(err.Error())
	}
	return ""
}

// lateness is how long after a message the conversation is looked for again, where it was not there: the CLI writes it
// up to 100 ms late, and says nothing more while it waits for a person.
const lateness = 100 * time.Millisecond

// A keeper keeps the conversation of one process, from its first message to its end.
type keeper struct {
	machine Machine
	env     []string
	session string
	folder  string
	leave   context.CancelFunc // ends tend; nil: it has not begun
	tending sync.WaitGroup

	mu         sync.Mutex // held while files are linked
	transcript string     // once it is there
}

func (m Machine) keeps(s supervisor.State, a *supervisor.Agent) *keeper {
	return &keeper{machine: m, env: client.TranscriptEnv(m.Env, m.Dirs, s), session: a.SessionID,
		folder: client.KeptConversations(m.Dirs, s.Run.ID)}
}

// read looks whether there is anything to keep where files may have come to it: those of the conversation itself, which
// from then on is kept as it grows, and of subagents.
func (k *keeper) read(message procs.Message) {
	switch message.(type) {
	case procs.Ask, procs.Call, procs.StopHook, procs.Result, procs.Exit:
	default:
		return
	}
	k.keep()
	_, ended := message.(procs.Exit)
	switch {
	case ended && k.leave != nil:
		k.leave()
		k.tending.Wait()
	case !ended && k.leave == nil:
		var ctx context.Context
		ctx, k.leave = context.WithCancel(context.Background())
		k.tending.Go(func() { k.tend(ctx) })
	}
}

// keep reports whether the conversation is there.
func (k *keeper) keep() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.transcript == "" {
		path, err := claude.Transcript(k.env, k.session)
		if err != nil {
			return false // it is written a little later
		}
		k.transcript = path
	}
	if err := claude.KeepConversation(k.transcript, k.folder); err != nil {
		k.machine.Log.Error().Err(err).Str("session", k.session).Msg("the conversation cannot be kept")
	}
	return true
}

// tend keeps a conversation that is written late, and from then on young, until ctx ends.
func (k *keeper) tend(ctx context.Context) {
	again := time.NewTicker(lateness)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			if k.keep() {
				_ = claude.FreshenConversation(k.transcript) // it is tried again
				again.Reset(freshenEvery)
			}
		case <-ctx.Done():
			return
		}
	}
}

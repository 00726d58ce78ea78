package supervisor

import (
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/text"
)

// give takes what the person gives the run, and answers what it decides of the questions that are open.
func (d *transition) give(g conf.Given) {
	if g.IsZero() {
		return
	}
	g.Amend(&d.Config, d.refusedFlags)
	if g.Budget != (conf.Budget{}) {
		root := d.agent(d.Run.Root)
		root.Budget = conf.Bounding(conf.Rebound(conf.BoundsOf(root), g.Budget))
		d.indexAnew()
	}
	d.run().Config = text.JSON(d.Config)
	d.decideGiven(g)
}

// BlamesFlag reports whether claude could not be started because of a flag that it was given.
func BlamesFlag(a *Agent) bool {
	return a.Fault == string(procs.RefusedFlag) || strings.Contains(a.Reason, ": error: option '")
}

// NeedsLogin reports whether an agent has failed because claude is not logged in, or has a key that is not accepted.
func NeedsLogin(a *Agent) bool { return a.Fault == string(procs.Login) }

// refusedFlags are the flags that claude did not know when it was last started.
func (d *transition) refusedFlags() []string {
	var flags []string
	for _, a := range d.AllAgents() {
		if words := strings.Fields(a.Reason); a.Fault == string(procs.RefusedFlag) && len(words) > 0 {
			flags = append(flags, words[len(words)-1])
		}
	}
	return flags
}

// decideGiven answers the open questions whose answer the person has just given: a rule permits what is asked, or
// nobody is asked.
func (d *transition) decideGiven(g conf.Given) {
	var given []rules.Rule
	for _, text := range g.Allow {
		if r, err := rules.Parse(text); err == nil {
			given = append(given, r)
		}
	}
	for _, q := range d.FindQuestions((*checkpoints.Question).IsOpen) {
		note := InboxEntry{Question: q.ID, At: d.at}
		switch kind := questions.KindOf(q.Kind); {
		case kind.Ruled:
			call, err := rules.Parse(q.Rule)
			switch folder := d.Folder(q.Agent); {
			case g.Permissions == conf.DenyPermissions:
				note.Value, note.By = Deny+" "+prompts.PermissionsDenied, "--permissions deny"
			case q.Rule != "" && err == nil && questions.Allowable(q) &&
				rules.Covered(ask.GivenIn(given, ask.CwdOf(q)), call.From(folder), folder):
				note.Value, note.By = Allow, "--allow"
			}
		case kind.Hands:
			if a := d.Agents.Get(q.Agent); len(g.Delegate) > 0 && a != nil {
				note.Value, note.By = d.verdict(a, ask.WorkIn(q))
			}
		}
		if note.Value != "" {
			d.answer(note)
		}
	}
}

// FormerIDs are those that count as an agent's own beside its id: the person's, and of the agents whose conversation it
// continues, which has them.
func (s State) FormerIDs(agent string) []string {
	ids := slices.Clone(s.Config.AcceptIDs)
	for again := true; again; {
		again = false
		for _, a := range s.AllAgents() {
			if a.ContinuedBy == agent && a.ContinuedBy != "" && a.ID != agent && !slices.Contains(ids, a.ID) {
				ids, agent, again = append(ids, a.ID), a.ID, true
				break
			}
		}
	}
	return ids
}

package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

type (
	// Packed says that the run is now in a file, and goes on wherever that is unpacked.
	Packed struct{ File string }

	// Unpacked says that the run has come out of a file, or that its person takes the packing back.
	Unpacked struct {
		From, Cwd string // the run's folder before, and from now on
		Same      bool   // it is the machine on which it was packed
		Work      bool   // the uncommitted work has come along
		Config    Config // from now on: a file may not name programs to run here
		Back      bool   `json:",omitempty"` // nothing was moved: the packing is taken back
	}
)

func (Packed) event()   {}
func (Unpacked) event() {}

// aside tells whether an event happens to a run that nobody supervises: nothing follows from it before somebody does.
func aside(b Body) bool {
	switch b.(type) {
	case Packed, Unpacked:
		return true
	}
	return false
}

// unpacked makes the records those of a run on this machine. Agents whose conversations tell of another place are told.
func (d *draft) unpacked(b Unpacked, at time.Time) {
	r := d.run()
	r.Packed, r.PID, r.Bell, r.Cwd = "", 0, "", b.Cwd
	d.Config, r.Config = b.Config, encode(b.Config)
	if !b.Same {
		for _, q := range d.questions(grantsRule) {
			if q.State == checkpoints.QuestionAnswered {
				d.question(q.ID).Answer = allow // the agent has yet to hear it
			} else {
				d.question(q.ID).Revoked = "unpack" // nobody has given this rule here
			}
		}
	}
	if b.Back {
		return
	}
	own := map[string]string{}     // folders that only one agent had, and that are not here
	for _, a := range d.agents() { // a file may not name folders to work in, or to remove
		if a.Cwd != "" || a.Placed || a.Placing || a.Worktree != nil {
			folder := d.folder(a.ID)
			if a = d.agent(a.ID); unplace(a, b.From, b.Cwd) {
				own[a.ID] = folder
			}
		}
	}
	if b.Same && b.From == b.Cwd && len(own) == 0 {
		return
	}
	for _, a := range d.agents() {
		if !slices.ContainsFunc(d.Launches[a.ID], func(l *Launch) bool { return l.Heard }) {
			continue
		}
		for i, l := range d.Launches[a.ID] {
			if l.Transcript != "" {
				d.forgetTranscript(a.ID, i)
			}
		}
		if !a.Status.Ended() || Revivable(a) {
			a := d.agent(a.ID)
			a.Sayings = append(slices.Clip(a.Sayings), checkpoints.Saying{
				Key: fmt.Sprintf("moved %d.%d", r.Epoch, len(a.Sayings)), Text: moved(b, own[a.ID]), At: at,
			})
		}
	}
}

// forgetTranscript forgets where the transcript of the agent's ith launch was: it is looked for by its session.
func (d *draft) forgetTranscript(agent string, i int) {
	l := *d.Launches[agent][i]
	l.Transcript = ""
	launches := slices.Clone(d.Launches[agent])
	launches[i] = &l
	copied(&d.owns.launches, &d.Launches)[agent] = launches
}

// harmless gives a configuration that comes from a file without what names programs to run, files to read, or what runs
// without being asked about.
func harmless(cfg Config) Config {
	cfg.Claude, cfg.Notify = "", nil
	cfg.Allow, cfg.AllowProject = nil, false
	cfg.Flags, _ = procs.WithoutPrograms(cfg.Flags)
	if len(cfg.Exec) > 0 {
		cfg.Exec = []string{""} // it goes on with a command that the person gives
	}
	if demoIsFile(cfg.Demo) {
		cfg.Demo = ""
	}
	return cfg
}

// demoIsFile tells whether a scenario is a file of the person's, not one that is built in.
func demoIsFile(demo string) bool { return strings.ContainsAny(demo, "/\\.") }

// moved is what an agent reads whose conversation tells of another place.
func moved(b Unpacked, own string) string {
	if own != "" {
		return fmt.Sprintf(`## MOVED

You have been moved, and go on in another place than this conversation tells of.
Old folder: %s, which was yours alone and did not come along, nor did what you committed there.
New folder: the one in which your commands run now. Look at what is on disk before you go on.
Processes that you started are gone.`, own)
	}
	work := "Uncommitted changes came along; files that git ignores did not."
	if !b.Work {
		work = "Uncommitted changes did not come along: look at what is on disk before you go on."
	}
	return fmt.Sprintf(`## MOVED

You have been moved, and go on in another place than this conversation tells of.
Old folder: %s
New folder: %s
What this conversation calls by a path under the old folder is at the same place under the new one; use only the new one. %s
Processes that you started are gone, and so is what you left outside the folder, in /tmp for one.`, b.From, b.Cwd, work)
}

// The points that packing and unpacking pass beside those of their events.
const (
	packWritten   = "after pack written"  // all is written, and may not be on the disk yet
	unpackPlanned = "before unpack files" // nothing is changed yet
	unpackKept    = "after unpack logs"   // logs and transcripts are in place, the work is not
)

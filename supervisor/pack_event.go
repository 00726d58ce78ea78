package supervisor

import (
	"fmt"
	"maps"
	"slices"

	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/text"
)

// moved is what an agent reads whose conversation tells of another place: of that where it works, and of the worktrees
// of its children.
func (d *transition) moved(b Unpacked, a *Agent, own, along string) string {
	said := prompts.Moved(b.From, b.Cwd, b.Work)
	switch {
	case along != "":
		said = prompts.MovedTree(a, along, b.From, b.Cwd)
	case own != "":
		said = prompts.MovedAlone(own)
	}
	for _, child := range d.Children(a.ID) {
		if w, along := b.Worktrees[child.ID]; along {
			said += fmt.Sprintf("\nThe worktree of %s is now %s, on the branch %s.", child.ID, w.Worktree.Path,
				w.Worktree.Branch)
		}
	}
	return said
}

// Packed says that the run is now in a file, and goes on wherever that is unpacked.
type Packed struct{ File string }

var _ = kind[Packed]("packed")

func (e Packed) apply(d *transition) error {
	d.run().Packed = e.File
	return nil
}

func (Packed) unsupervised() {}

// Unpacked says that the run has come out of a file, or that its person takes the packing back.
type Unpacked struct {
	From, Cwd string      // the run's folder before, and from now on
	Same      bool        // it is the machine on which it was packed
	Work      bool        // the uncommitted work has come along
	Config    conf.Config // from now on: see pack.Harmless
	Back      bool        `json:",omitempty"` // nothing was moved: the packing is taken back

	File  string                  `json:",omitempty"` // that it came from, for people
	Seen  map[string]ask.SeenCall `json:",omitempty"` // what is shown of calls that ask for permission, by question
	Given conf.Given              `json:",omitzero"`  // what the person who unpacks it gives it

	Vouched bool `json:",omitempty"` // whoever unpacks it has authenticated the file: see pack.Harmless

	Conversations []string `json:",omitempty"` // sessions that came along

	Worktrees map[string]CameAlong `json:",omitempty"` // by agent

	// Keyed has what people say from now on go under keys that name when they said it. Its conversation may have had more
	// than the file knows of, and the CLI takes each key once.
	Keyed bool `json:",omitempty"`

	Epoch int `json:",omitempty"` // that was taken beside its snapshots; 0: the file is no snapshot in its folder
}

var _ = kind[Unpacked]("unpacked")

// apply makes the records those of a run on this machine, in which nothing is granted that was not granted here. Agents
// whose conversations tell of another place are told.
func (e Unpacked) apply(d *transition) error {
	r := d.run()
	r.Packed, r.PID, r.Waker, r.Program, r.Cwd = "", 0, "", "", e.Cwd
	r.TakenOver, r.Unleased, r.Snapshots, r.Epoch = nil, "", nil, max(r.Epoch, e.Epoch)
	d.Config, r.Config = e.Config, text.JSON(e.Config)
	if e.Back {
		return nil
	}
	r.FromPack = e.File
	if at := d.at; e.Keyed && r.KeyedSince == nil {
		r.KeyedSince = &at
	}
	along := map[string]string{}      // folders of those whose worktrees have come along
	own := map[string]string{}        // folders that only one agent had, and that are not here
	for _, a := range d.AllAgents() { // a file may not name folders to work in, or to remove
		if a.Cwd != "" || a.Placed || a.Placing || a.Worktree != nil {
			folder := d.Folder(a.ID)
			a = d.agent(a.ID)
			if came, is := e.Worktrees[a.ID]; is {
				came.settleIn(a)
				along[a.ID] = folder
			} else if a.Unplace(e.From, e.Cwd) {
				own[a.ID] = folder
			}
		}
	}
	d.distrust(e)
	d.give(e.Given)
	d.saysParked()
	if e.Same && e.From == e.Cwd && len(own) == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(along)),
		func(id string) bool { return along[id] != d.Folder(id) }) {
		return nil
	}
	d.tellMoved(func(a *Agent) string { return d.moved(e, a, own[a.ID], along[a.ID]) })
	return nil
}

func (Unpacked) unsupervised() {}

package service

import (
	"context"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/view"
)

// A Looker knows when the person looked last.
type Looker interface {
	// Look says that the person looks now, and gives what has happened since they looked last, if that is at least
	// Absence ago. It is cheap where it is not, so that each key may say it. What it cannot read or write it leaves:
	// nobody is kept from what they came for.
	Look(ctx context.Context) view.Away
}

// Absence is for how long a person does not look until they are away.
const Absence = 5 * time.Minute

// lookedEvery is how exactly it is remembered when a person looked.
const lookedEvery = 5 * time.Second

// Look is of all runs of this user on this machine. Where there is no state, nobody has looked at anything.
func (m Machine) Look(ctx context.Context) view.Away {
	dirs, err := checkpoints.DefaultDirs()
	if err != nil {
		return view.Away{}
	}
	last, now := client.Looked.At(dirs), checkpoints.Now()
	ago := now.Sub(last)
	if ago >= 0 && ago < lookedEvery {
		return view.Away{}
	}
	if err := client.Looked.Set(dirs, now); err != nil || last.IsZero() || ago < Absence {
		return view.Away{}
	}
	away, err := Read(m, func(r view.Reader) (view.Away, error) { return r.Away(ctx, last) })
	if err != nil || !away.Happened() {
		return view.Away{}
	}
	return away
}

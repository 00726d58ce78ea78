package board

import (
	"slices"

	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// past is what was: shown where a person asks for it (e), or looks for its words (/).
type past struct {
	ended   []view.RunView      // while the board was open
	runs    []view.RunView      // that had ended before, the latest first; nil: not read
	settled []view.QuestionView // that are open no more, the latest first
	all     bool                // those that have ended are shown whatever their words
}

type (
	pastRuns  []view.RunView
	pastAsked []view.QuestionView
)

const (
	maxEnded  = 20   // runs that have ended before the person's eyes and are kept there
	maxPast   = 100  // runs that are shown of those that have ended before
	maxSought = 1000 // runs and questions that are looked through for words
)

// fetchPast reads what was. Questions take longer and are read by themselves.
func (b *Board) fetchPast() {
	b.start(func() any {
		runs, err := b.config.Service.Past(b.ctx, 0, maxSought)
		if err != nil {
			return err
		}
		return pastRuns(runs)
	})
	if archive, is := b.config.Service.(service.Archive); is {
		b.start(func() any {
			asked, err := archive.Asked(b.ctx, maxSought)
			if err != nil {
				return err
			}
			return pastAsked(asked)
		})
	}
}

// only shows nothing but what has these words: of what was, too.
func (b *Board) only(words string) {
	if b.filter == "" && words != "" && !b.all {
		b.fetchPast()
	}
	b.filter = words
	b.relist()
}

// togglePast shows the runs that have ended, or hides them.
func (b *Board) togglePast() {
	if b.all = !b.all; b.all {
		b.fetchPast()
		return
	}
	b.runs, b.ended = nil, nil
	b.relist()
}

// over returns the runs that have ended and are shown, each once, and none that has been resumed since.
func (b *Board) over() (runs []view.RunView) {
	known := map[string]bool{}
	for i := range b.now.Runs {
		known[b.now.Runs[i].ID] = true
	}
	before := b.runs
	switch {
	case b.filter != "":
	case b.all:
		before = before[:min(len(before), maxPast)]
	default:
		before = nil
	}
	for _, r := range slices.Concat(b.ended, before) {
		if !known[r.ID] {
			known[r.ID] = true
			runs = append(runs, r)
		}
	}
	return runs
}

// answers returns the questions that are open no more and are looked for.
func (b *Board) answers() []view.QuestionView {
	if b.filter == "" {
		return nil
	}
	return b.settled
}

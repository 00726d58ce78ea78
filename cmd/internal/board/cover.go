package board

import (
	"fmt"

	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// A cover is a text that has the whole screen, over all else, until a key leads back.
type cover struct {
	rows func(width int) []string
	left func() // nil: nothing follows
}

// inCover scrolls the text where it is longer than the screen, or leaves it.
func (b *Board) inCover(key string) {
	switch key {
	case "down", "j", "pgdown":
		b.scroll++
	case "up", "k", "pgup":
		b.scroll--
	default:
		left := b.cover.left
		if b.cover, b.scroll = nil, 0; left != nil {
			left()
		}
	}
}

// showMeanwhile has the person read what happened since they were last told. Once they leave it they were told.
func (b *Board) showMeanwhile() {
	if b.lacks("S") {
		return
	}
	reporter := b.config.Service.(service.Reporter)
	b.note = "…"
	b.start(func() any {
		what, err := reporter.Meanwhile(b.ctx)
		if err != nil {
			return err
		}
		return what
	})
}

func (b *Board) onMeanwhile(what view.Meanwhile) {
	reporter := b.config.Service.(service.Reporter)
	b.note, b.scroll = "", 0
	b.cover = &cover{
		rows: func(width int) []string { return b.wrapped(b.config.Meanwhile(width, what), width) },
		left: func() {
			b.start(func() any {
				if err := reporter.Told(b.ctx, what.To); err != nil {
					return fmt.Errorf("it is told again next time: %w", err)
				}
				return nil
			})
		},
	}
}

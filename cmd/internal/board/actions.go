package board

import (
	"cmp"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
)

// has reports whether there is something behind a key that not every board has.
func (c Config) has(key string) bool {
	has, optional := map[string]bool{
		"w": service.Can[service.Messenger](c.Service), "r": service.Can[service.Resumer](c.Service),
		"R": service.Can[service.Retrier](c.Service), "p": service.Can[service.Pruner](c.Service),
		"n": service.Can[service.Starter](c.Service),
		"o": service.Can[service.Opener](c.Service), "m": service.Can[service.Merger](c.Service),
		"d": service.Can[service.Differ](c.Service), "S": service.Can[service.Reporter](c.Service),
		"A": service.Can[service.Forker](c.Service),
		"=": service.Can[service.Forker](c.Service), "K": service.Can[service.Forker](c.Service)}[key]
	return has || !optional
}

// lacks says that there is nothing behind a key, where that is so.
func (b *Board) lacks(key string) bool {
	if b.config.has(key) {
		return false
	}
	b.note = "This board has no key " + key + "; ? shows those that it has."
	return true
}

// answer answers a question with what was replied in its form, and says what becomes of it.
func (b *Board) answer(id string, r terminal.Reply) (string, error) {
	a := service.Replied(r.Text, r.Decline, r.Change)
	a.By = b.config.By
	kept, err := b.config.Service.Answer(b.ctx, id, a)
	switch also := cmp.Or(kept.Also, id+" is answered."); {
	case err != nil:
		return "", err
	case kept.Alone:
		return also + " Nobody supervises " + kept.Question.Run + ": r resumes it.", nil
	default:
		return cmp.Or(kept.Note, also), nil
	}
}

package web

import "sync"

// A drawing is what was made of the desk after one change, for all who ask for it before the next: a hundred readers
// that come at once, as after a restart of the server, cost what one costs. The zero value has none yet.
type drawing struct {
	mu   sync.Mutex
	at   string // the change, as desk.id says it
	text []byte
}

// of returns what draw makes of the desk as it was after a change. Others wait meanwhile.
func (d *drawing) of(at string, draw func() []byte) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.text == nil || d.at != at {
		d.at, d.text = at, draw()
	}
	return d.text
}

package supervisor

import "strings"

// This file is the image that a question shows. The engine has kept it before it was asked (engine/keep_image.go).

// show gives a question the image that it names, or says there why it has none.
func (n Naming) show(q *Question) {
	if q.Index >= len(n.Images) {
		return
	}
	shown := n.Images[q.Index]
	if q.Image = shown.Image; shown.Unshown != "" {
		q.Context = strings.TrimSpace(q.Context + "\n" + shown.Unshown)
	}
}

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

// sameImage reports whether two questions show the same image, or none.
func sameImage(a, b *Question) bool {
	return a.Image == nil && b.Image == nil || a.Image != nil && b.Image != nil && a.Image.Hash == b.Image.Hash
}

// ImageBytes is how many bytes the images have that the questions of a run show.
func (s State) ImageBytes() (sum int) {
	seen := map[string]bool{}
	for q := range s.Questions.Values() {
		if q.Image != nil && !seen[q.Image.File(q.Agent)] {
			seen[q.Image.File(q.Agent)] = true
			sum += q.Image.Bytes
		}
	}
	return sum
}

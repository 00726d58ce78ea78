package engine

import (
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/images"
	"claude-supervise/supervisor/text"
)

// maxRunImages bounds the images that the questions of a run show, in bytes.
const maxRunImages = 150_000_000

// keepImages keeps the images that questions of an agent name, before they are asked: what they show is what it was
// then. nil if they name none.
func (e *engine) keepImages(agent string, qs []signals.Question) (shown []supervisor.ShownImage) {
	kept, sum := 0, 0
	for i, q := range qs {
		if q.Image == "" {
			continue
		}
		if shown == nil {
			shown = make([]supervisor.ShownImage, len(qs))
		}
		image, err := e.keepImage(agent, q.Image, kept, sum)
		if err != nil {
			shown[i].Unshown = fmt.Sprintf("It was to show the image %s, which is not shown: %v.",
				text.Line(q.Image, text.MaxNamed), err)
			continue
		}
		shown[i].Image = &image
		kept, sum = kept+1, sum+image.Bytes
	}
	return shown
}

// keepImage keeps an image, beside so many, of so many bytes, of the same signal.
func (e *engine) keepImage(agent, path string, kept, sum int) (checkpoints.Image, error) {
	switch {
	case kept == images.MaxMany:
		return checkpoints.Image{}, fmt.Errorf("what is asked at once shows %d at most", images.MaxMany)
	case sum+e.state.ImageBytes() > maxRunImages:
		return checkpoints.Image{}, fmt.Errorf("the questions of this run have shown %d MB already", maxRunImages/1_000_000)
	}
	state := e.state
	return read(&e.disk, func() (checkpoints.Image, error) { return e.Files.KeepImage(state, agent, path) })
}

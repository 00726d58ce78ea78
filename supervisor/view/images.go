package view

import (
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/images"
	"claude-supervise/supervisor/text"
)

// An ImageView is an image that a question shows, or that belongs to an answer.
type ImageView struct {
	checkpoints.Image
	Path string `json:"path"` // of the copy that is kept with the run; "" where that is not known
}

// View returns a question as View does, with the paths of its images.
func (r Reader) View(q *supervisor.Question) QuestionView {
	v := View(q)
	at := func(i *ImageView) {
		if file := i.File(v.Agent); file != "" && v.Run != "" {
			i.Path = r.Dirs.RunFile(v.Run, file)
		}
	}
	if v.Image != nil {
		at(v.Image)
	}
	for i := range v.Images {
		at(&v.Images[i])
	}
	return v
}

// InWords says what an image is.
func (i ImageView) InWords() string {
	return fmt.Sprintf("%s (%s, %d×%d pixels, %.1f kB)", text.Line(i.Name, text.MaxNamed), images.Kind(i.Type), i.Width,
		i.Height, float64(i.Bytes)/1e3)
}

// String says what an image is, and on a line of its own where its copy is.
func (i ImageView) String() string { return strings.TrimSpace(i.InWords() + "\n" + i.Path) }

// ShowsImage says which image a question shows.
const ShowsImage = "It shows the image "

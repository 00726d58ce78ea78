package prompts

import (
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/text"
)

// WithImages says in a text which images it comes with.
func WithImages(said string, images []checkpoints.Image) string {
	if len(images) == 0 {
		return said
	}
	var names []string
	for i, image := range images {
		name := text.CleanLine(image.Name, text.MaxNamed)
		names = append(names, strings.TrimSpace(fmt.Sprintf("%d. %s", i+1, name)))
	}
	return fmt.Sprintf("%s\n\n(With it: %s, in this order: %s)", said,
		text.Plural(len(images), "image", "images"), strings.Join(names, "; "))
}

// ImagesBeside is said with images that belong to the answer to a call whose result cannot show them.
func ImagesBeside(group []*checkpoints.Question) string {
	return "The user answers your question with what is shown here: " + text.Line(group[0].Text, text.MaxNamed)
}

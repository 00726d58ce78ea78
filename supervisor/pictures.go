package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/prompts"
)

// This file is how the images of an answer reach their agent, with its words: in the message or the result that has
// those. The answer to AskUserQuestion is made of texts alone while its process waits: there they are said as a
// message, just before the answer, so that both are in the next request. Should the process end in between, the answer
// is told in another way, which shows them, and the message is not said again.

// showImages says the images of answers that are about to be given to a call, and cannot be in its result.
func (d *transition) showImages(a *Agent, l *Launch, group []*Question) {
	images := d.ImagesOf(group)
	if len(images) == 0 || group[0].Tool == nil || group[0].Tool.Served {
		return
	}
	a.Enqueue(checkpoints.OutboxItem{Key: d.ImagesKey(group), Beside: group[0].Group, Images: images,
		Text: prompts.ImagesBeside(group), From: fromUser, At: d.at})
	for _, q := range group {
		d.question(q.ID).Delivering = true // as it is from here on
	}
	d.flushNow(a, l)
}

// imagesIn returns the images that a delivery shows. Those of an answer to a call that takes texts alone are said
// beside it.
func (s State) imagesIn(v delivering) (images []checkpoints.Image) {
	if v.tool != nil && !v.tool.Served {
		return nil
	}
	for _, id := range v.groups {
		images = append(images, s.ImagesOf(s.Group(id))...)
	}
	for _, m := range v.messages {
		images = append(images, m.Images...)
	}
	return images
}

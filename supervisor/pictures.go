package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// This file is how the images of an answer reach their agent, with its words: in the message or the result that has
// those. The answer to AskUserQuestion is made of texts alone while its process waits: there they are said as a
// message, just before the answer, so that both are in the next request. Should the process end in between, the answer
// is told in another way, which shows them, and the message is not said again.

// ScriptAsks is why the answer to a question that a script asks can have no images.
const ScriptAsks = "a script asks it by a file, and reads the words of an answer alone"

// TakesImages says why the answer to a question can have no images; empty if it can.
func TakesImages(q *Question, abilities procs.Abilities) string {
	switch {
	case q.Run == "" || q.File != nil:
		return ScriptAsks
	case !questions.KindOf(q.Kind).Images:
		return "it is a decision, and takes no images"
	case !abilities.TakesInput:
		return "the run's command reads the words of an answer alone"
	case q.From != nil || q.Tool != nil && q.Tool.From != nil:
		return "a subagent has asked it, which can be told the words of an answer alone"
	}
	return ""
}

// imagesOf returns the images of the answers of a group that its agent has not seen.
func (s State) imagesOf(group []*Question) (images []checkpoints.Image) {
	for _, q := range group {
		for _, i := range q.Images {
			if !slices.ContainsFunc(images, func(other checkpoints.Image) bool { return other.Hash == i.Hash }) {
				images = append(images, i)
			}
		}
	}
	if len(images) == 0 {
		return nil
	}
	said := func(o checkpoints.OutboxItem) bool { return o.Beside != "" && o.Key == s.imagesKey(group) }
	if len(s.FindDeliveries(group[0].Agent, func(v *Delivery) bool {
		return v.State == checkpoints.DeliveryDelivered && slices.ContainsFunc(v.Messages, said)
	})) > 0 {
		return nil
	}
	return images
}

func (s State) imagesKey(group []*Question) string { return "images " + s.answerKey(group) }

// showImages says the images of answers that are about to be given to a call, and cannot be in its result.
func (d *transition) showImages(a *Agent, l *Launch, group []*Question) {
	images := d.imagesOf(group)
	if len(images) == 0 || group[0].Tool == nil || group[0].Tool.Served {
		return
	}
	enqueue(a, checkpoints.OutboxItem{Key: d.imagesKey(group), Beside: group[0].Group, Images: images,
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
		images = append(images, s.imagesOf(s.Group(id))...)
	}
	for _, m := range v.messages {
		images = append(images, m.Images...)
	}
	return images
}

// shownWithAnswer reports whether what waits to be said is images whose answer waits, too, and shows them.
func (d *transition) shownWithAnswer(o checkpoints.OutboxItem) bool {
	if o.Beside == "" {
		return false
	}
	first := d.Group(o.Beside)[0]
	return first.State != checkpoints.QuestionDelivered && !first.Delivering
}

// Pictures returns images as a process takes them, which belong to an agent.
func Pictures(agent string, images []checkpoints.Image) (pictures []procs.Image) {
	for _, i := range images {
		pictures = append(pictures, procs.Image{File: i.File(agent), Hash: i.Hash})
	}
	return pictures
}

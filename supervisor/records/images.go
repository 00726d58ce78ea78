package records

import (
	"slices"

	"claude-supervise/checkpoints"
)

// ImagesOf returns the images of the answers of a group that its agent has not seen.
func (s Records) ImagesOf(group []*checkpoints.Question) (images []checkpoints.Image) {
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
	said := func(o checkpoints.OutboxItem) bool { return o.Beside != "" && o.Key == s.ImagesKey(group) }
	if len(s.FindDeliveries(group[0].Agent, func(v *checkpoints.Delivery) bool {
		return v.State == checkpoints.DeliveryDelivered && slices.ContainsFunc(v.Messages, said)
	})) > 0 {
		return nil
	}
	return images
}

// ImagesKey is the key of the images of the answers of a group.
func (s Records) ImagesKey(group []*checkpoints.Question) string {
	return "images " + s.AnswerKey(group)
}

// ShownWithAnswer reports whether what waits to be said is images whose answer waits, too, and shows them.
func (s Records) ShownWithAnswer(o checkpoints.OutboxItem) bool {
	if o.Beside == "" {
		return false
	}
	first := s.Group(o.Beside)[0]
	return first.State != checkpoints.QuestionDelivered && !first.Delivering
}

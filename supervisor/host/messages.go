package host

import (
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
)

// unread reads in a transcript what the agent said since the last prompt that has reached it, when its supervisor died:
// some of it nobody has read, or read and not saved. What is known comes again and changes nothing. whole tells that
// the turn had come to its end: the last that was said is a text with a signal.
func unread(transcript string, prompts []*supervisor.Delivery, h supervisor.SignalReader) (found []signals.Signal,
	whole bool, err error) {
	prompt, reached := "", false
	for i := len(prompts) - 1; i >= 0 && !reached; i-- {
		prompt = prompts[i].UUID
		if reached, err = procs.ReceivedIn(transcript, prompt); err != nil {
			return nil, false, err
		}
	}
	err = procs.SaidAfter(transcript, prompt, func(m procs.Message) {
		read := h.Read(m)
		found = append(found, read...)
		_, text := m.(procs.Text)
		whole = text && len(read) > 0
	})
	if last := h.Scanner.EndTurn(""); len(last) > 0 {
		found, whole = append(found, last...), true
	}
	return found, whole, err
}

package terminal

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Drafts keeps what is typed as an answer or a message and not sent, so that it is there when the question is asked
// again, or the run is looked at again, after a kill too: a file for each question and each agent that is written to,
// in the folder of its run. It holds what a person typed and no word of an agent,
// is only ever shown in the field that it was typed in, and is bounded by what an answer can be. It is a convenience:
// what cannot be written or read is no draft. The zero value keeps nothing.
type Drafts struct {
	Folder func(run string) string // of a run; what is not there is not made
}

// draftsName begins the names of the files.
const draftsName = "draft."

// file is where the draft of a question is kept; "" where none is. Of what looks like a secret, nothing is written
// down.
func (d Drafts) file(q Question) string {
	if q.Secret {
		return ""
	}
	return d.fileIn(q.Run, q.ID)
}

func (d Drafts) fileIn(run, of string) string {
	if d.Folder == nil || run == "" || filepath.Base(of) != of {
		return ""
	}
	return filepath.Join(d.Folder(run), draftsName+of)
}

// keep puts drafts in the place of those that were kept. None at all removes the file.
func (d Drafts) keep(q Question, drafts []savedDraft) { writeDrafts(d.file(q), drafts) }

func writeDrafts(file string, drafts []savedDraft) {
	if file == "" {
		return
	}
	if len(drafts) == 0 {
		_ = os.Remove(file)
		return
	}
	data, err := json.Marshal(drafts)
	if err != nil || len(data) > maxSaved {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(file), draftsName+"*.new") // 0600
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

// Drop removes the draft of a question: it is answered, or asked no more.
func (d Drafts) Drop(run, question string) { d.keep(Question{ID: question, Run: run}, nil) }

// maxSaved bounds a file of drafts: JSON needs up to six bytes for one.
const maxSaved = 8 * maxText

// An Addressee is whom a message is for: an agent of a run, or for "" the run's first.
type Addressee struct{ Run, Agent string }

func (d Drafts) messageFile(to Addressee) string { return d.fileIn(to.Run, cmp.Or(to.Agent, to.Run)) }

// Message is what was typed as a message and not sent; "" if nothing was.
func (d Drafts) Message(to Addressee) string { return whole(readDrafts(d.messageFile(to))) }

// KeepMessage puts a text in the place of what Message gives.
func (d Drafts) KeepMessage(to Addressee, text string) { writeDrafts(d.messageFile(to), asDraft(text)) }

// of returns the drafts of a question.
func (d Drafts) of(q Question) []savedDraft { return readDrafts(d.file(q)) }

func readDrafts(file string) []savedDraft {
	if file == "" {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSaved))
	var drafts []savedDraft
	if err != nil || json.Unmarshal(data, &drafts) != nil {
		return nil
	}
	for i, kept := range drafts {
		drafts[i].Text = Clean(kept.Text)
		for at, paste := range kept.Pastes {
			kept.Pastes[at] = Clean(paste)
		}
	}
	return drafts
}

// A savedDraft is a draft, and what it was written for.
type savedDraft struct {
	For      writing
	Decision string `json:",omitempty"`
	Text     string
	Pastes   []string `json:",omitempty"`
}

// whole is what the drafts say.
func whole(drafts []savedDraft) string {
	texts := make([]string, len(drafts))
	for i, d := range drafts {
		texts[i] = draft{d.Text, d.Pastes}.whole()
	}
	return strings.Join(texts, "\n")
}

// unsent is what was typed in a form and not sent: in the field, in it before, and in the list.
func (f *form) unsent() []savedDraft {
	all := maps.Clone(f.drafts)
	if all == nil {
		all = map[purpose]draft{}
	}
	if f.writing != nothing {
		delete(all, f.purpose())
		if f.words.Value() != f.began {
			all[f.purpose()] = draft{f.words.Value(), f.pastes}
		}
	}
	if own := (purpose{writing: ownAnswer}); f.choices != nil && f.ownAllowed() && f.choices.filter != "" {
		typed := all[own]
		typed.text = strings.TrimPrefix(typed.text+"\n"+f.choices.filter, "\n")
		all[own] = typed
	}
	var drafts []savedDraft
	for of, d := range all {
		if strings.TrimSpace(d.text) != "" {
			drafts = append(drafts, savedDraft{of.writing, of.decision, d.text, d.pastes})
		}
	}
	slices.SortFunc(drafts, func(a, b savedDraft) int {
		return cmp.Or(cmp.Compare(a.For, b.For), cmp.Compare(a.Decision, b.Decision))
	})
	return drafts
}

// restore puts drafts back where they were typed. Nothing of them is sent without Enter.
func (f *form) restore(drafts []savedDraft) {
	for _, d := range drafts {
		if d.For > nothing && d.For <= declining && (d.For != ownAnswer || f.ownAllowed()) {
			f.keepDraft(purpose{d.For, d.Decision}, draft{d.Text, d.Pastes})
		}
	}
	if len(f.drafts) == 0 {
		return
	}
	if f.choices == nil {
		f.write(ownAnswer, f.before)
	}
	f.say("What you typed before, and did not send, is here again.")
}

// gathered is what was typed for the current question and not sent, as far as it was read.
func (a *promptState) gathered() []savedDraft {
	if a.form != nil {
		return a.form.unsent()
	}
	return asDraft(strings.Join(a.entry.lines, "\n"))
}

// unsent takes what was typed for the current question and not sent. In lines, the terminal has the last of them.
func (a *promptState) unsent() []savedDraft {
	if a.form != nil {
		return a.form.unsent()
	}
	return asDraft(strings.Join(append(slices.Clone(a.entry.lines), a.halfLine()), "\n"))
}

func asDraft(text string) []savedDraft {
	if text = strings.TrimSpace(Clean(text)); text == "" {
		return nil
	}
	return []savedDraft{{For: ownAnswer, Text: text}}
}

// restoreDraft returns what was typed before for the question that is asked now, where it was not sent.
func (a *promptState) restoreDraft() []savedDraft {
	if a.saved = nil; a.earlier == 0 {
		a.saved = a.drafts.of(*a.current)
	}
	return a.saved
}

// saveDraft keeps what has been typed so far.
func (a *promptState) saveDraft() {
	if a.current == nil || a.earlier > 0 {
		return
	}
	drafts := a.gathered()
	if slices.EqualFunc(drafts, a.saved, savedDraft.equal) {
		return
	}
	a.saved = drafts
	a.drafts.keep(*a.current, drafts)
}

func (d savedDraft) equal(e savedDraft) bool {
	return d.For == e.For && d.Decision == e.Decision && d.Text == e.Text && slices.Equal(d.Pastes, e.Pastes)
}

// notSent says that what was typed was not sent; "" if nothing was.
func (a *promptState) notSent(drafts []savedDraft) string {
	if text := strings.TrimSpace(whole(drafts)); text != "" {
		return a.wrap("Not sent: " + CleanLine(text, 200))
	}
	return ""
}

// cutOff keeps, and says, what Ctrl-C, Ctrl-Z or Ctrl-\ has cut off in lines.
func (a *promptState) cutOff(typed string) {
	drafts := asDraft(strings.Join(append(slices.Clone(a.entry.lines), typed), "\n"))
	switch {
	case len(drafts) == 0:
	case a.current == nil:
		a.drafts.KeepMessage(a.to, whole(drafts))
		a.tellNotSent(drafts)
	default:
		if a.earlier == 0 {
			a.saved = drafts
			a.drafts.keep(*a.current, drafts)
		}
		a.again("\n" + a.notSent(drafts))
	}
}

// tellNotSent says it where no prompt is closed by that.
func (a *promptState) tellNotSent(drafts []savedDraft) {
	if text := a.notSent(drafts); text != "" {
		a.out.Notice(text)
	}
}

// quit ends asking for good. What was typed is said, and kept for when its question is asked again.
func (a *promptState) quit() {
	if a.current != nil {
		q, earlier, drafts := *a.current, a.earlier, a.unsent()
		if earlier == 0 && len(drafts) > 0 {
			a.drafts.keep(q, drafts)
		}
		stays := a.stays(q)
		if a.silent {
			stays = ""
		}
		a.close("\n" + stays + a.notSent(drafts))
	}
	for _, q := range a.open {
		if f := a.kept[q.ID]; f != nil {
			a.tellNotSent(f.unsent())
		}
	}
}

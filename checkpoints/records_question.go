package checkpoints

import (
	"encoding/json"
	"slices"
	"time"
)

// This file is what is recorded of a question and its answer.

// QuestionKind is what sort of decision is asked for. Package questions has the table of them.
type QuestionKind string

// QuestionState is how far a question has got.
type QuestionState string

// The states of a question: open → answered → delivered, or withdrawn.
const (
	QuestionOpen      QuestionState = "open"
	QuestionAnswered  QuestionState = "answered"
	QuestionDelivered QuestionState = "delivered"
	QuestionWithdrawn QuestionState = "withdrawn"
)

// A Question is one thing a person answers. Questions of one signal or call share a Group.
type Question struct {
	ID      string        `json:"id"`
	Run     string        `json:"run"`
	Agent   string        `json:"agent"`
	Who     string        `json:"who,omitempty"` // the agent in a few words, for people, where the run has several
	Group   string        `json:"group"`
	Index   int           `json:"index"` // place in the group, from 0
	Own     string        `json:"own"`   // the agent's own id of it, e.g. Q1
	Kind    QuestionKind  `json:"kind"`
	State   QuestionState `json:"state"`
	AskedAt time.Time     `json:"asked_at"`

	Wording
	Origin
	Response
	Grant
	Handling
}

// Closed reports whether nobody can answer the question any more, nor change its answer: the answer is on its way, or
// has had its effect, or the question is withdrawn.
func (q *Question) Closed() bool {
	return q.Delivering || q.State == QuestionDelivered || q.State == QuestionWithdrawn
}

// ByHook is who has answered where a hook of the person's own settings was faster than who was asked here.
const ByHook = "a hook of yours"

// A Wording is what a question asks.
type Wording struct {
	Header      string   `json:"header,omitempty"`
	Text        string   `json:"text"`
	Context     string   `json:"context,omitempty"`
	Truncated   string   `json:"cut,omitempty"` // what of it was too much to be kept, in words
	Options     []Option `json:"options,omitempty"`
	MultiSelect bool     `json:"multi_select,omitempty"`
	Validate    string   `json:"validate,omitempty"`
	Optional    bool     `json:"optional,omitempty"`
	Urgent      bool     `json:"urgent,omitempty"`
	OwnWords    bool     `json:"own_words,omitempty"` // an answer file may hold what is none of the options
	Assumed     *Assumed `json:"assumed,omitempty"`   // of one that does not stop the work; nil: its agent waits
	Image       *Image   `json:"image,omitempty"`     // that it shows, as it was when it was asked
}

// Assumed is what an agent goes on with until its question is answered.
type Assumed struct {
	Text    string   `json:"text"`
	Affects []string `json:"affects,omitempty"` // paths in the agent's folder, of what it makes under it

	// What was changed under them from the question to its answer, by its path in the folder, and what is not known of
	// that, in words. Looked for once an answer contradicts.
	Made    []string `json:"made,omitempty"`
	Unknown string   `json:"unknown,omitempty"`
}

// An Origin is what a question came from, and what it is about beside its words.
type Origin struct {
	Fingerprint string          `json:"fingerprint"`        // of the signal or call, without its time
	Signal      json.RawMessage `json:"signal,omitempty"`   // the signal it came from
	Tool        *ToolCall       `json:"tool,omitempty"`     // the call it came from
	From        *Subagent       `json:"from,omitempty"`     // who has said its signal; nil: the main conversation
	File        *FileAsked      `json:"file,omitempty"`     // the agent's own file that it stands in
	Kept        *Kept           `json:"kept,omitempty"`     // the checkpoint that its signal names
	Asker       string          `json:"asker,omitempty"`    // of a command: the question whose answer wants it
	Child       string          `json:"child,omitempty"`    // of a delegation, or a stop answered by one: the child's id
	Told        []OutboxItem    `json:"told,omitempty"`     // what people have said to a child that is asked about anew
	Nested      *Nested         `json:"nested,omitempty"`   // of a delegation that a run inside the agent asks for
	Exceeded    *Exceeded       `json:"exceeded,omitempty"` // of a budget
}

// A Response is what a person, or who speaks for one, has answered.
type Response struct {
	Answer     string     `json:"answer,omitempty"`
	Skipped    bool       `json:"skipped,omitempty"`
	Declined   bool       `json:"declined,omitempty"` // the person will not answer it; Answer says why
	AnsweredAt *time.Time `json:"answered_at,omitempty"`
	AnsweredBy string     `json:"answered_by,omitempty"`
	Images     []Image    `json:"images,omitempty"`    // that belong to the answer
	ForAllLike bool       `json:"for_alike,omitempty"` // its answer is that of every question of the run that is alike
	Like       string     `json:"like,omitempty"`      // the question whose answer it has, "": its own
}

// An Image is a picture that a question shows, or that belongs to an answer. Its bytes are in the folder of the run
// (Image.File), and are looked at anew whenever they are used: what stands here is for people.
type Image struct {
	Hash   string `json:"hash"`           // SHA-256 of its bytes, in hex
	Name   string `json:"name,omitempty"` // as who has given it calls it
	Type   string `json:"type"`           // image/png, image/jpeg, image/gif or image/webp
	Width  int    `json:"width"`          // pixels
	Height int    `json:"height"`
	Bytes  int    `json:"bytes"`
}

// File names its file in the folder of the run: those of the agent that asks. It is empty where the hash is none.
func (i Image) File(agent string) string {
	if !isHex(i.Hash, 64) {
		return ""
	}
	return agent + ImageMark + i.Hash
}

// ImageMark stands before the hash in the name of the file of an image.
const ImageMark = ".image-"

// A Grant is what an answer permits beyond its call.
type Grant struct {
	Rule       string `json:"rule,omitempty"`        // of a permission: the rule that allows exactly this in the whole run
	GrantSpent bool   `json:"grant_spent,omitempty"` // a permission given while parked was used by the relaunch
	ByRule     bool   `json:"by_rule,omitempty"`     // a rule has answered it, nobody was asked
	Revoked    string `json:"revoked,omitempty"`     // who took the rule back that its answer gave
}

// A Handling is how far a question and its answer are on their way.
type Handling struct {
	Noticed    int      `json:"noticed,omitempty"`    // epoch in which its one notice was given
	Delivering bool     `json:"delivering,omitempty"` // its delivery has begun: the answer can no longer be changed
	Prepared   bool     `json:"prepared,omitempty"`   // of the first of a group: what its answer needs is done
	Gone       []string `json:"gone,omitempty"`       // of a stop: what its snapshot names and is not on disk
	Ran        *Ran     `json:"ran,omitempty"`        // of a command: what came of it
	Remark     string   `json:"remark,omitempty"`     // what its state does not say of what became of it, for people

	// of the first of a call: the work as it was when it was asked, by the id of a git.Moment; or why it was not kept, for
	// people
	Moment   string `json:"moment,omitempty"`
	NoMoment string `json:"no_moment,omitempty"`
}

// Kept is the checkpoint file that a signal names, and the copy of it as it was at that moment.
type Kept struct {
	Path string `json:"path"`           // as the agent named it
	Copy string `json:"copy,omitempty"` // the copy's name in the folder of the run
	Form string `json:"form,omitempty"` // hybrid, skill or markdown
	// where the agent finds it again: Path, or the copy's path where that is gone
	Hand    string `json:"hand,omitempty"`
	Problem string `json:"problem,omitempty"` // why there is no copy, for people
}

// Ran is what came of a command that a person let run for an agent.
type Ran struct {
	Epoch  int    `json:"epoch"`            // of the supervisor that ran it; saved before it runs
	Done   bool   `json:"done,omitempty"`   // its end is known
	Exit   string `json:"exit,omitempty"`   // in words: "exit 0", "killed"
	Output string `json:"output,omitempty"` // the end of what it printed, bounded
}

// FileAsked is the question file of an agent's own script.
type FileAsked struct {
	ID    string `json:"id"`
	Polls bool   `json:"polls,omitempty"` // the script looks for its answer file by itself: the answer goes there
	Drop  Drop   `json:"drop,omitempty"`  // how far the answer has got there
	Ran   bool   `json:"ran,omitempty"`   // a process of the agent's was seen to run the script
	Lost  bool   `json:"lost,omitempty"`  // the script waits no more, and had no answer: it is gone, or has given up
}

// Drop is how far an answer has got that a script takes from its answer file.
type Drop string

// The states of a drop, after the zero one. Begun is saved before the file is written.
const (
	DropBegun Drop = "begun" // it may lie there
	DropDone  Drop = "done"  // it was put there, and may have been taken since
)

// An Option is one offered answer.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Preview     string `json:"preview,omitempty"` // what choosing it would look like: code, a layout
}

// WaitsForFile reports whether a script waits for the answer to a question in its answer file.
func (q *Question) WaitsForFile() bool {
	return q.File != nil && q.File.Polls && (q.State == QuestionOpen || q.State == QuestionAnswered)
}

// SameImage reports whether two questions show the same image, or none.
func (q *Question) SameImage(other *Question) bool {
	return q.Image == nil && other.Image == nil ||
		q.Image != nil && other.Image != nil && q.Image.Hash == other.Image.Hash
}

// IsOpen reports whether a question waits for its answer.
func (q *Question) IsOpen() bool { return q.State == QuestionOpen }

// AskedBy returns the subagent that a question came from; nil: the main conversation.
func (q *Question) AskedBy() *Subagent {
	if q.Tool != nil {
		return q.Tool.From
	}
	return q.From
}

// SetMade takes note of what was made under the assumption of a question.
func (q *Question) SetMade(made []string, unknown string) {
	if q.Assumed == nil {
		return
	}
	assumed := *q.Assumed
	assumed.Made, assumed.Unknown = slices.Clip(made), unknown
	q.Assumed = &assumed
}

// SetFile says who looks for the answer to a question in its file, and how far the answer has got there. From its drop
// on the answer cannot be changed.
func (q *Question) SetFile(polls bool, drop Drop) {
	file := *q.File
	file.Polls, file.Drop = polls, drop
	q.File, q.Delivering = &file, drop != ""
}

package checkpoints

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"claude-supervise/checkpoints/files"
)

// The forms of a checkpoint, each as one of the source documents prints it.
const (
	FormHybrid   = "hybrid"   // JSON of the hybrid document, "Checkpoint File Format"
	FormSkill    = "skill"    // JSON of the skill, "Example 3: Simple File-Based State"
	FormMarkdown = "markdown" // Markdown of the skill, "Example 1", step 1
)

// A Checkpoint is what a relaunch needs so that nothing is done twice. Agents write such files more or less in one of
// the three forms: whatever else stands in one is kept in Other or Sections, and written back as it was.
type Checkpoint struct {
	Form string // FormHybrid, FormSkill or FormMarkdown; "" is FormHybrid

	// Of the hybrid form.
	WorkflowID     string
	WorkflowType   string
	CurrentStep    string
	CompletedSteps []string
	PendingSteps   []string
	Files          map[string]string // name to absolute path
	StateVariables map[string]json.RawMessage
	UserAnswer     *string

	// Of the hybrid and the Markdown form.
	Context    string // where the work stands, for people
	NextAction string // what to do once there is an answer

	// Of the skill's and the Markdown form.
	Agent     string
	Timestamp string // as written
	Progress  string
	FileList  []string // the files that were looked at
	Decision  string   // what is to be decided

	Question *Pending // of the skill's form

	// Of the Markdown form.
	Title    string    // its first heading, such as "mutation-agent Checkpoint"
	Task     string    // one line
	Preamble string    // what else stands before the first section
	Sections []Section // the other ones, in their order

	// Other holds what else stands in a JSON form, by name: unknown members, and known ones whose value has another type.
	Other map[string]json.RawMessage
}

// Pending is the question that an agent left in its state.
type Pending struct {
	Text    string
	Options []Option
	Other   map[string]json.RawMessage // as Checkpoint.Other
}

// A Section is one of a Markdown checkpoint, from its heading of the second level to the next one.
type Section struct{ Title, Text string }

// checkpointMax bounds a checkpoint file, in bytes.
const checkpointMax = 16 << 20

// What reading or writing a checkpoint refuses, besides what the file system says.
var (
	errNotCheckpoint = errors.New("not a checkpoint")
	errOutside       = errors.New("outside of the folders where an agent may leave one")
)

// parseCheckpoint reads a checkpoint of any form: a JSON object with at least one of the members that make a
// checkpoint, or Markdown under a heading that says so or with two of the document's headings. errNotCheckpoint, with
// the reason, is the error for anything else, such as a package.json or a question file, which may be overwritten by
// nobody's answer, for half a file, and for one with two members of the same name: which of them was meant is not ours
// to guess.
func parseCheckpoint(text []byte) (*Checkpoint, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	start := bytes.TrimLeft(text, " \t\r\n")
	var c *Checkpoint
	var err error
	switch {
	case len(start) == 0:
		err = errors.New("it is empty")
	case !utf8.Valid(text):
		err = errors.New("it is not UTF-8 text")
	case start[0] == '{':
		c, err = parseJSON(text)
	default:
		c, err = parseMarkdown(string(text))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotCheckpoint, err)
	}
	return c, nil
}

// encode writes the checkpoint in its form. JSON: an object with a member to a line, those of the document in its
// order, then the others by name; a member in Other stands in for a field of its name that is not set. Markdown: as the
// document prints it, then the other sections. What parseCheckpoint gave is read again as the same. The error is
// errTooLarge, or that a value given as JSON is none, or the form.
func (c *Checkpoint) encode() ([]byte, error) {
	var text []byte
	var err error
	switch c.Form {
	case FormHybrid, FormSkill, "":
		text, err = encodeObject(c.members(c.Form), c.Other, "\n  ", "\n")
	case FormMarkdown:
		text = c.encodeMarkdown()
	default:
		err = fmt.Errorf("encode a checkpoint: there is no form %q", files.Shorten(c.Form))
	}
	if err == nil && len(text) > checkpointMax {
		err = fmt.Errorf("encode a checkpoint: %w: more than %d MiB", files.ErrTooLarge, checkpointMax>>20)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

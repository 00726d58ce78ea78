// Package skill is what `claude-supervise init` gives to a person's Claude Code: a skill, a slash command, a section
// of CLAUDE.md, and a Stop hook in settings.json. It puts each into the text of a file, and takes it out again so
// that the rest is, byte by byte, what it was.
//
// What we write is sealed: its last line of ours holds a digest of the text. So a later release knows an older text of
// ours from one that a person has edited, with no record kept elsewhere.
//
// The package is pure. It neither reads nor writes files, and does not decide whether a person agrees.
package skill

import (
	"claude-supervise/supervisor/text"

	"crypto/sha256"
	_ "embed" // the texts
	"encoding/hex"
	"strings"
)

// A Standing says what a file holds of ours.
type Standing int

// The standings. Foreign is a whole file in the place of ours, that is not ours.
const (
	Absent Standing = iota
	Current
	Older
	Edited
	Foreign
)

// A Part is one thing of ours in one file. Both functions take the file's text, "" where there is none, and give the
// text that it should have, with what the file holds of ours now. Take gives "" where nothing would be left. An error
// says why the text cannot be changed safely, and what a person can do.
type Part struct {
	Put  func(text string) (string, Standing, error)
	Take func(text string) (string, Standing, error)
}

//go:embed SKILL.md
var skillText string

//go:embed section.md
var sectionText string

//go:embed command.md
var commandText string

// Skill is the whole file SKILL.md of a skill, and Command that of a slash command by which the agent of an interactive
// session has work done in the background. Both are as Claude Code reads them: front matter, then text for the model.
var (
	Skill   = wholeFile(&skillText)
	Command = wholeFile(&commandText)
)

// wholeFile is a file that holds nothing but a text of ours.
func wholeFile(ours *string) Part {
	return Part{
		Put: func(text string) (string, Standing, error) {
			whole := *ours + seal(*ours, "") + "\n"
			standing := fileStanding(text, whole)
			if standing == Current {
				return text, standing, nil
			}
			return whole, standing, nil
		},
		Take: func(text string) (string, Standing, error) {
			standing := fileStanding(text, *ours+seal(*ours, "")+"\n")
			if standing == Foreign {
				return text, standing, nil
			}
			return "", standing, nil
		},
	}
}

func fileStanding(text, whole string) Standing {
	text = unix(text)
	at := sealed().FindAllStringSubmatchIndex(text, -1)
	switch {
	case text == "":
		return Absent
	case text == whole:
		return Current
	case len(at) == 0:
		return Foreign
	}
	last := at[len(at)-1]
	if strings.TrimSpace(text[last[1]:]) == "" && text[last[2]:last[3]] == digest(text[:last[0]]) {
		return Older
	}
	return Edited
}

// sealed is the line that seals a text: its digest, and for a section what was put before it.
var sealed = text.Lazily("(?m)^<!-- written by `claude-supervise init`; seal ([0-9a-f]{16})(?:-([0-9]))? -->$")

func seal(text, more string) string {
	return "<!-- written by `claude-supervise init`; seal " + digest(text) + more + " -->"
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// unix returns a text with the line ends that ours have.
func unix(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

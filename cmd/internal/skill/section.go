package skill

import (
	"errors"
	"strconv"
	"strings"
)

// Section is the section of CLAUDE.md that tells every conversation of the skill. It looks like this:
//
//	<!-- claude-supervise:begin -->
//	the text
//	<!-- written by `claude-supervise init`; seal DIGEST-GAP -->
//	<!-- claude-supervise:end -->
//
// It is put at the end of the file, after GAP newlines that are ours as well, and stays where a person moves it.
var Section = Part{Put: putSection, Take: takeSection}

const (
	begin = "<!-- claude-supervise:begin -->"
	end   = "<!-- claude-supervise:end -->"
)

var (
	errUnclosed = errors.New("a line " + begin + " has no " + end + " after it: fix that by hand")
	errUnopened = errors.New("a line " + end + " has no " + begin + " before it: fix that by hand")
	errTwice    = errors.New("it holds two sections of ours: take one out by hand")
)

func putSection(text string) (string, Standing, error) {
	from, to, err := find(text)
	if err != nil {
		return "", Absent, err
	}
	if from < to {
		standing, gap := sectionStanding(text[from:to])
		if standing == Current {
			return text, standing, nil
		}
		return text[:from] + section(gap, lineEnd(text), text[to:] != "" || strings.HasSuffix(text, "\n")) + text[to:],
			standing, nil
	}
	gap, nl := 0, lineEnd(text)
	for gap < 2 && text != "" && !strings.HasSuffix(text+strings.Repeat(nl, gap), nl+nl) {
		gap++
	}
	return text + strings.Repeat(nl, gap) + section(gap, nl, true), Absent, nil
}

func takeSection(text string) (string, Standing, error) {
	from, to, err := find(text)
	if err != nil || from == to {
		return text, Absent, err
	}
	standing, gap := sectionStanding(text[from:to])
	before, after := text[:from], text[to:]
	if after != "" {
		return before + after, standing, nil // the gap keeps apart what is left
	}
	for nl := lineEnd(text); gap > 0 && strings.HasSuffix(before, nl); gap-- {
		before = strings.TrimSuffix(before, nl)
	}
	return before, standing, nil
}

// section returns the section as it stands in a file whose lines end in nl.
func section(gap int, nl string, closed bool) string {
	text := begin + "\n" + sectionText + seal(sectionText, "-"+strconv.Itoa(gap)) + "\n" + end
	if closed {
		text += "\n"
	}
	return strings.ReplaceAll(text, "\n", nl)
}

// find returns where our section begins, and where the line after it does; the same place twice where there is none.
func find(text string) (from, to int, err error) {
	from, to = -1, -1
	at := 0
	for line := range strings.Lines(text) {
		switch strings.TrimSpace(line) {
		case begin:
			switch {
			case from >= 0 && to < 0:
				return 0, 0, errUnclosed
			case to >= 0:
				return 0, 0, errTwice
			}
			from = at
		case end:
			if from < 0 || to >= 0 {
				return 0, 0, errUnopened
			}
			to = at + len(line)
		}
		at += len(line)
	}
	switch {
	case from < 0:
		return 0, 0, nil
	case to < 0:
		return 0, 0, errUnclosed
	}
	return from, to, nil
}

// sectionStanding judges a section, and gives how many newlines before it are ours.
func sectionStanding(text string) (Standing, int) {
	text = strings.TrimSuffix(unix(text), "\n")
	body := strings.TrimSuffix(strings.TrimPrefix(text, begin+"\n"), "\n"+end)
	at := sealed().FindAllStringSubmatchIndex(body, -1)
	if len(at) == 0 {
		return Edited, 0
	}
	last := at[len(at)-1]
	gap := 0
	if last[4] >= 0 {
		gap = min(int(body[last[4]]-'0'), 2)
	}
	switch written := body[:last[0]]; {
	case last[1] != len(body) || body[last[2]:last[3]] != digest(written):
		return Edited, gap
	case written == sectionText:
		return Current, gap
	}
	return Older, gap
}

// lineEnd is how the lines of a text end.
func lineEnd(text string) string {
	if at := strings.IndexByte(text+"\n", '\n'); at > 0 && text[at-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

package main

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed topics
var topicFiles embed.FS

// A topic is a page of `help TOPIC`: Markdown that fits 80 columns. The man pages are made of the same texts.
type topic struct {
	name  string // that of its file
	about string // a line; the page begins with "# name: about"
	text  string // what follows
}

// topics returns all topics, by name.
func topics() []topic {
	files, err := topicFiles.ReadDir("topics")
	if err != nil {
		panic(err) // they are embedded
	}
	var all []topic
	for _, file := range files {
		text, err := topicFiles.ReadFile("topics/" + file.Name())
		if err != nil {
			panic(err)
		}
		title, rest, _ := strings.Cut(string(text), "\n")
		name, about, _ := strings.Cut(strings.TrimPrefix(title, "# "), ": ")
		all = append(all, topic{name, about, rest})
	}
	return all
}

// listTopics returns a line for each topic, as the help of the program shows them.
func listTopics() string {
	var lines []string
	for _, t := range topics() {
		lines = append(lines, fmt.Sprintf("  %-12s %s", t.name, t.about))
	}
	return strings.Join(lines, "\n")
}

// plain returns the page as a person reads it: the Markdown without its marks for headings, bold words and sessions.
func (t topic) plain() string {
	var b strings.Builder
	b.WriteString(strings.ToUpper(t.name) + " - " + t.about + "\n")
	session := false
	for line := range strings.Lines(t.text) {
		heading, isHeading := strings.CutPrefix(line, "## ")
		switch {
		case strings.HasPrefix(line, "```"):
			session = !session
			continue
		case session:
		case isHeading:
			line = strings.ToUpper(heading)
		default:
			line = strings.ReplaceAll(line, "**", "")
		}
		b.WriteString(line)
	}
	return b.String()
}

// Package install is what `claude-supervise init` does to the files of a project or a person: it looks at all of them
// before it changes any, asks about what is there already, and follows no symlink. What it puts into a text is package
// skill's.
package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/skill"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/filedrop"
)

// Flags say what Install does.
type Flags struct {
	User bool // for all projects of the person, in the folder of Claude Code
	Dry  bool // it is only shown
	Undo bool // what is installed is removed
	Yes  bool // every question is answered with yes
	Hook bool // a Stop hook, too
	// Sessions is what becomes of the questions of ordinary sessions, by package sessions; "": this is not about them.
	// All else that init installs stays as it is then.
	Sessions string
}

// A change is what init wants of one file or link. Nothing is done before all that is in the way was looked for.
type change struct {
	shown string // its path, as a person would type it
	verb  verb
	said  string // what follows its path in what is said of it: where it stays as it is, why
	note  string // more about it, for people, once it is done
	lines string // what changes, for a person to agree to
	ask   string // the question, empty where none is asked
	need  bool   // without a terminal --yes is needed for it
	do    func() error
}

// A verb says what becomes of a file.
type verb struct{ would, did string }

var (
	creates = verb{"create", "created"}
	changes = verb{"change", "changed"}
	removes = verb{"remove", "removed"}
	links   = verb{"link", "linked"}
	stays   = verb{}
)

// Install tells agents of a project how to ask a person, or with Undo no more. Before a file that is there is changed
// it asks on the terminal.
func Install(f Flags) error {
	wants := wantsFiles
	if f.Sessions != "" {
		wants = wantsSessions
	}
	wanted, err := wants(f)
	if used := new(exitcode.UsageError); errors.As(err, used) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w\nnothing was changed", err)
	}
	if f.Dry {
		return tellInit(wanted, f)
	}
	switch {
	case f.Yes:
	case terminal.Attended():
		err = errors.Join(announce(wanted), askFor(wanted))
	default:
		err = needsAsking(wanted, f)
	}
	if err != nil {
		return err
	}
	for i, c := range wanted {
		if c.verb == stays {
			continue
		}
		if err := c.do(); err != nil {
			told := tellInit(wanted[:i], f)
			return errors.Join(
				fmt.Errorf("%s: %w\nThis file is unchanged, and nothing after it was done.\nRun init again to do the rest",
					c.shown, err), told)
		}
	}
	return tellInit(wanted, f)
}

// wantsFiles is what is to be done to tell agents how to ask.
func wantsFiles(f Flags) ([]change, error) {
	place, err := initPlace(f.User)
	if err != nil {
		return nil, err
	}
	return place.wanted(f)
}

// wanted looks at all the files, and gives what is to be done to each. It changes nothing.
func (p place) wanted(f Flags) ([]change, error) {
	files := []personsFile{
		{place: p, rel: p.skill, part: skill.Skill},
		{place: p, rel: p.command, part: skill.Command},
		{place: p, rel: "CLAUDE.md", part: skill.Section},
	}
	if f.Hook || f.Undo {
		files = append(files, personsFile{place: p, rel: p.settings, part: skill.Hook})
	}
	var all []change
	var bad []error
	for _, file := range files {
		c, err := file.wanted(f.Undo)
		switch {
		case err != nil && f.Undo && !f.Hook && file.rel == p.settings: // most have no hook of ours
			c.verb, c.said = stays, "stays as it is: "+err.Error()
		case err != nil:
			bad = append(bad, err)
		}
		all = append(all, c)
	}
	return append(all, answerLink(f.Undo)), errors.Join(bad...)
}

// announce says what is about to be done, before anything is asked or done.
func announce(wanted []change) error {
	var lines strings.Builder
	for _, c := range wanted {
		if c.verb != stays {
			lines.WriteString("\n  " + c.verb.would + " " + c.shown)
		}
	}
	if lines.Len() == 0 {
		return nil
	}
	return terminal.Print(func(p *terminal.Printer) error { p.Notice("init is about to:" + lines.String()); return nil })
}

// askFor asks for each change of what is there already; what the person does not agree to stays.
func askFor(wanted []change) error {
	for i, c := range wanted {
		if c.ask == "" {
			continue
		}
		if c.lines != "" {
			if err := terminal.Print(func(p *terminal.Printer) error { p.Notice(c.lines); return nil }); err != nil {
				return err
			}
		}
		if !terminal.Confirmed(terminal.CleanLine(c.ask, 70)) {
			wanted[i] = change{shown: c.shown, said: "stays as it is"}
		}
	}
	return nil
}

// needsAsking is the error of a process that would have to ask and cannot, nil where it need not.
func needsAsking(wanted []change, f Flags) error {
	var about string
	for _, c := range wanted {
		if c.need {
			about += "  " + c.shown + "\n"
		}
	}
	if about == "" {
		return nil
	}
	return fmt.Errorf("there is no terminal to ask you about changing\n%s"+
		"Nothing was changed. --dry-run shows the changes; to make them, run:\n  %s", about, initCommand(f, "--yes"))
}

// tellInit says what was done, or would be.
func tellInit(all []change, f Flags) error {
	return terminal.Print(func(p *terminal.Printer) error {
		done := false
		for _, c := range all {
			line := c.shown + " " + c.said
			switch {
			case c.verb == stays:
			case f.Dry:
				line = strings.TrimRight("would "+c.verb.would+" "+c.shown+c.said+"\n"+c.lines, "\n")
			default:
				line = c.verb.did + " " + c.shown + c.said
				done = true
			}
			if c.verb != stays && c.note != "" {
				line += "\n  " + c.note
			}
			if err := p.Result(line); err != nil {
				return err
			}
		}
		switch {
		case f.Dry:
			return p.Result("Nothing was changed.")
		case done && !f.Undo:
			return p.Result("To undo it, run: " + initCommand(f, "--undo"))
		}
		return nil
	})
}

// initCommand is the command line with these flags, and one more.
func initCommand(f Flags, more string) string {
	words := "claude-supervise init"
	for _, flag := range []struct {
		on   bool
		word string
	}{{f.Sessions != "", " --sessions=" + f.Sessions}, {f.User, " --user"}, {f.Hook && more != "--undo", " --hook"},
		{f.Undo, " --undo"}} {
		if flag.on {
			words += flag.word
		}
	}
	return words + " " + more
}

// wanted returns what is to be done to a file. The error says what is in the way.
func (f personsFile) wanted(undo bool) (change, error) {
	c := change{shown: f.shown()}
	now, err := f.look()
	if err != nil {
		return c, err
	}
	turn := f.part.Put
	if undo {
		turn = f.part.Take
	}
	next, standing, err := turn(now.text)
	if err != nil {
		return c, fmt.Errorf("%s: %w", c.shown, err)
	}
	c.do = func() error { return f.write(now, next) }
	switch {
	case undo && standing == skill.Foreign:
		c.said = "is not init's and stays"
		return c, nil
	case next == now.text && undo:
		c.said = "holds nothing of init's"
		return c, nil
	case next == now.text:
		c.said = "is up to date"
		return c, nil
	case !now.there:
		c.verb, c.said = creates, fmt.Sprintf(" (%d lines)", strings.Count(next, "\n"))
	case next == "":
		c.verb = removes
	default:
		c.verb = changes
	}
	if err := f.room(); err != nil {
		return c, err
	}
	if c.verb == changes || standing == skill.Edited || standing == skill.Foreign {
		c.need, c.lines = true, difference(c.shown, now.text, next)
		c.ask = strings.ToUpper(c.verb.would[:1]) + c.verb.would[1:] + " " + c.shown + "?"
		switch standing {
		case skill.Edited:
			c.lines = "init's text in " + c.shown + " was edited since; the edits would be lost:\n" + c.lines
		case skill.Foreign:
			c.lines = c.shown + " is not init's; it would be replaced:\n" + c.lines
		}
	}
	return c, nil
}

// difference shows what changes as a unified diff.
func difference(path, from, to string) string {
	return strings.TrimRight(udiff.Unified(path, path+", after init", from, to), "\n")
}

// homeFolder is the person's home.
func homeFolder() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return "", errors.New("your home folder is not known: set HOME to an absolute path")
	}
	return home, nil
}

// initPlace returns where init puts its files.
func initPlace(user bool) (place, error) {
	home, err := homeFolder()
	if user {
		folder, err := filedrop.ClaudeFolder(os.Getenv)
		if err != nil {
			return place{}, err
		}
		return place{base: folder, home: home, skill: filepath.Join("skills", "claude-supervise", "SKILL.md"),
			command: filepath.Join("commands", "supervise.md"), settings: "settings.json", uid: os.Geteuid()}, nil
	}
	here, wrong := os.Getwd()
	if wrong != nil {
		return place{}, fmt.Errorf("the current folder is not known: %w", wrong)
	}
	if err == nil && sameFile(here, home) {
		return place{}, exitcode.Usage(
			"this folder is your home, not a project: `claude-supervise init --user` is for all projects")
	}
	return place{
		base: here, home: home, project: true, uid: os.Geteuid(),
		skill:    filepath.Join(".claude", "skills", "claude-supervise", "SKILL.md"),
		command:  filepath.Join(".claude", "commands", "supervise.md"),
		settings: filepath.Join(".claude", "settings.json"),
	}, nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

package permission

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"claude-supervise/supervisor/rules"
)

// Each session of the person's starts the prompts that .claude/scheduled_tasks.json of its folder has, when they are
// due, and asks nobody (measured on 2.1.332: also from a file that CronCreate has not written). So a call that could
// write one, in any folder, is asked about as one that could write to the config is. CronCreate itself is refused one
// (supervisor/reach.go). A file of that name that a program brings (git, tar) is not found, as there.
const (
	scheduleFolder = ".claude"
	scheduleFile   = "scheduled_tasks.json"
)

// WhySchedule is what a person is told of a call that could write a schedule.
const WhySchedule = "It names a .claude/scheduled_tasks.json: later sessions of yours in its folder start the " +
	"prompts in it."

// schedules are those that a call could write, as seen from a folder.
type schedules struct {
	cwd   string
	links []string // where links lead that are in the place of one
}

func schedulesFrom(cwd string) schedules {
	s := schedules{cwd: cwd}
	for _, dir := range withAbove(cwd) {
		at := filepath.Join(dir, scheduleFolder, scheduleFile)
		if to, err := os.Readlink(at); err == nil && to != "" {
			if real, known := follow(at); known {
				s.links = append(s.links, real)
			}
		}
	}
	return s
}

// has reports whether a path is of one, or of a file of that name, which could be moved there.
func (s schedules) has(name string) bool {
	if len(name) > maxPath || strings.ContainsRune(name, 0) {
		return false
	}
	if !filepath.IsAbs(name) {
		name = s.cwd + "/" + name
	}
	if folded(path.Base(name)) == folded(scheduleFile) {
		return true
	}
	real, known := follow(name)
	return known && (folded(path.Base(real)) == folded(scheduleFile) || slices.Contains(s.links, real))
}

// named reports whether a call of a tool that writes files names one.
func (s schedules) named(g Guarded, in map[string]json.RawMessage) (found bool) {
	eachText(in, func(name string) { found = found || name != "" && s.has(g.expanded(name)) })
	return found
}

// inLine reports whether a command line does, of which named is what it names.
func (s schedules) inLine(g Guarded, line string, named rules.NamedLine) bool {
	if strings.Contains(folded(line), folded(strings.TrimSuffix(scheduleFile, ".json"))) {
		return true
	}
	words := g.candidates(named.Words)
	isFolder := func(word string) bool { // one that no pattern for other folders is taken for
		name := path.Base(word)
		return strings.HasPrefix(name, ".") && nameMatches(name, scheduleFolder)
	}
	goesThere := isFolder(s.cwd) || slices.ContainsFunc(words, isFolder)
	goesBelow := goesThere || slices.ContainsFunc(words, func(word string) bool { return isFolder(path.Dir(word)) })
	for _, word := range words {
		if plain, is := unquoted(word); is {
			if s.has(plain) {
				return true
			}
			continue
		}
		dir, could := path.Dir(word), false
		switch {
		case dir == ".":
			could = goesThere
		case path.Base(dir) == "..":
			could = goesBelow
		default:
			could = isFolder(dir)
		}
		if could && nameMatches(path.Base(word), scheduleFile) {
			return true
		}
	}
	return slices.ContainsFunc(named.Moves, func(operands []string) bool { // cp -r made .claude
		return slices.ContainsFunc(operands, isFolder) && slices.ContainsFunc(operands, func(operand string) bool {
			if !filepath.IsAbs(operand) {
				operand = filepath.Join(s.cwd, operand)
			}
			_, err := os.Lstat(filepath.Join(operand, scheduleFile))
			return err == nil && !isFolder(operand)
		})
	})
}

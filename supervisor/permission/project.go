package permission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/text"
)

// What comes with a folder (its .claude, .mcp.json and CLAUDE.md, those of the folders above it, and those of the main
// checkout of a worktree) was written by whoever wrote the repository. Without a terminal Claude Code lets much of it
// grant and run: hooks, helpers, servers, plugins, allowed rules, permission modes, commands in skills.
//
// So claude is always started in one way in which no such file grants or runs anything, at any moment of its life:
//
//   - --setting-sources user: no settings, rules, hooks, servers, plugins, agents, skills or commands of the folder are
//     read, at the start or when any settings change. The program does not look for what is dangerous, so nothing can
//     be missed.
//   - --add-dir with keepMemory, of a folder of ours: CLAUDE.md is handed over all the same. It is text.
//   - --settings: what the folder's settings narrow (deny and ask rules) holds, and the settings that only shape what
//     is said (launch_settings.go).
//   - --agents: the folder's agents, of which only the members are handed over that neither grant nor run anything.
//   - git asks no program of .git/config what has changed (noMonitor).
//
// The rest is lost, and the person is told so in one line. --allow project gives all of it back: then none of this is
// done. e2e/attack_test.go shows for each source that it fires in bare claude, and not here, on each measured release.

// keepMemory is the environment in which claude reads the CLAUDE.md of a folder given with --add-dir (2.1.100 and
// later).
const keepMemory = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1"

// maxArgument bounds a flag that is made of a folder's files, in bytes: one argument holds 128 KiB.
const maxArgument = 64 << 10

// A ProjectFolder says whose files are looked at.
type ProjectFolder struct {
	Cwd    string   // where the agent works
	Env    []string // of its process
	Claude string   // the person's own .claude, which is no project's
	// the folder in which their CLAUDE.md is left that claude itself does not read now; made if there is one
	Memory string
	ByFlag bool // the release does not read the CLAUDE.md of a folder given with --add-dir
}

// ProjectStart is how a process is started in a folder whose files grant nothing.
type ProjectStart struct {
	Flags []string
	// what the folder narrows, for SettingsFile
	Settings map[string]any
	Env      []string
	Lost     string // what the person is told; "" if nothing is lost
}

// InFolder is what is found in the files of a folder.
type InFolder struct {
	Narrowing
	agents map[string]map[string]any // as --agents takes them

	allowed, servers         int
	skills, commands, styles int
	mode                     bool
	lost                     []string // what else is not in force, for people
}

// StartInProject looks at the files of the agent's folder and returns how claude is started there. It reads files of
// bounded size and number, writes the memory folder, and blocks for as long as that takes. An error is one of the
// memory folder.
func StartInProject(f ProjectFolder, cfg conf.Config) (ProjectStart, error) {
	if cfg.AllowProject || hasFlag(cfg.Flags, "--setting-sources") { // the person has said which files count
		return ProjectStart{}, nil
	}
	p := LookInFolder(f, cfg)
	start := ProjectStart{Flags: []string{"--setting-sources", "user"},
		Env: append(noMonitor(f.Env), keepMemory)}
	if err := p.handMemory(&start, f, cfg.Flags); err != nil {
		return ProjectStart{}, err
	}
	start.Settings = p.settings()
	p.handAgents(&start, cfg.Flags)
	start.Lost = p.LostInWords()
	return start, nil
}

// LookInFolder reads the files of a folder, of bounded size and number.
func LookInFolder(f ProjectFolder, cfg conf.Config) *InFolder {
	p := &InFolder{Narrowing: Narrowing{Shape: map[string]any{}}, agents: map[string]map[string]any{}}
	repo := checkoutOf(f.Cwd)
	p.readSettings(f, repo, cfg.Allow)
	p.readAgents(f, repo)
	p.countRest(f, repo)
	return p
}

// hasFlag reports whether a flag is among those that are handed on.
func hasFlag(flags []string, flag string) bool {
	return slices.ContainsFunc(flags, func(f string) bool { return f == flag || strings.HasPrefix(f, flag+"=") })
}

// withAbove lists a folder and those above it, the folder first.
func withAbove(dir string) []string {
	all := []string{dir}
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		all = append(all, up)
	}
	return all
}

// isPersons reports whether a .claude is the person's own.
func (f ProjectFolder) isPersons(claude string) bool {
	if claude == f.Claude {
		return true
	}
	one, err := os.Stat(claude)
	other, err2 := os.Stat(f.Claude)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// countRest counts what is not read at all, so that the person can be told.
func (p *InFolder) countRest(f ProjectFolder, repo checkout) {
	dirs := []string{f.Cwd}
	if repo.root != "" && repo.root != f.Cwd {
		dirs = append(dirs, repo.root)
	}
	for _, dir := range dirs {
		claude := filepath.Join(dir, ".claude")
		if f.isPersons(claude) {
			continue
		}
		p.skills += countIn(filepath.Join(claude, "skills"))
		p.commands += countIn(filepath.Join(claude, "commands"))
		p.styles += countIn(filepath.Join(claude, "output-styles"))
	}
}

// countIn counts what a folder holds, up to a bound.
func countIn(dir string) int {
	f, err := os.Open(dir)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }() // only read
	names, _ := f.Readdirnames(maxDefinitions)
	return len(names)
}

// LostInWords is the line that says what is not in force.
func (p *InFolder) LostInWords() string {
	var what []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{p.allowed, "allowed rule", "allowed rules"}, {p.servers, "MCP server", "MCP servers"},
		{p.skills, "skill", "skills"}, {p.commands, "command", "commands"}, {p.styles, "output style", "output styles"},
	} {
		if c.n > 0 {
			what = append(what, text.Plural(c.n, c.one, c.many))
		}
	}
	if p.mode {
		what = append(what, "a permission mode")
	}
	what = append(what, uniq(p.lost)...)
	if len(what) == 0 {
		return ""
	}
	return "not taken from the folder's own files: " + foundInWords(what) + "; --allow project takes it"
}

func uniq(all []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}

// foundInWords lists what was found on one line that a terminal can show: a repository made it up.
func foundInWords(what []string) string {
	const most = 5
	if more := len(what) - most; more > 0 {
		what = append(slices.Clip(what[:most]), "and "+text.Plural(more, "more", "more"))
	}
	for i, w := range what {
		what[i] = text.Truncate(strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return '?'
			}
			return r
		}, w), 60)
	}
	return strings.Join(what, ", ")
}

// handAgents hands the folder's agents over.
func (p *InFolder) handAgents(start *ProjectStart, flags []string) {
	switch doc := string(text.JSON(p.agents)); {
	case len(p.agents) == 0:
	case hasFlag(flags, "--agents"):
		p.lost = append(p.lost, text.Plural(len(p.agents), "agent", "agents")+" (your --agents holds)")
	case len(doc) > maxArgument:
		p.lost = append(p.lost, text.Plural(len(p.agents), "agent", "agents")+" (too long)")
	default:
		start.Flags = append(start.Flags, "--agents", doc)
	}
}

package permission

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"claude-supervise/supervisor/text"
)

// Of CLAUDE.md and what belongs to it claude reads by --add-dir what lies in the folder itself. What it would read
// besides, in the folders above and in CLAUDE.local.md, is left for it in a folder of ours, as one text. A CLAUDE.md
// below the folder, which it would read with the first file from there, is not: `help limits` says so.

// The bounds of what is read of it, in bytes: of one file, and of all.
const (
	maxMemoryFile = 64 << 10
	maxMemory     = 256 << 10
)

// handMemory hands over the texts that claude does not read by itself now. Of a release that reads none by --add-dir it
// hands over all, as a part of the system prompt.
func (p *InFolder) handMemory(start *ProjectStart, f ProjectFolder, flags []string) error {
	s := f.texts(f.ByFlag)
	if f.ByFlag {
		if hasFlag(flags, "--append-system-prompt") && s != "" {
			p.lost = append(p.lost, "CLAUDE.md (your --append-system-prompt holds)")
		} else if s != "" {
			start.Flags = append(start.Flags, "--append-system-prompt", text.Truncate(s, maxArgument))
		}
		return nil
	}
	if s == "" {
		return nil
	}
	if err := os.MkdirAll(f.Memory, 0o700); err != nil {
		return fmt.Errorf("keep the CLAUDE.md of the folders above: %w", err)
	}
	if err := os.WriteFile(filepath.Join(f.Memory, "CLAUDE.md"), []byte(s), 0o600); err != nil {
		return fmt.Errorf("keep the CLAUDE.md of the folders above: %w", err)
	}
	start.Flags = append(start.Flags, "--add-dir="+f.Memory)
	return nil
}

// texts puts together what the folder and those above it have, the furthest first as claude does. Of the folder itself
// it takes CLAUDE.local.md alone, unless all is wanted.
func (f ProjectFolder) texts(all bool) string {
	var b strings.Builder
	for _, dir := range slices.Backward(withAbove(f.Cwd)) {
		names := []string{"CLAUDE.local.md"}
		if claude := filepath.Join(dir, ".claude"); (all || dir != f.Cwd) && !f.isPersons(claude) {
			rules, _ := filepath.Glob(filepath.Join(quoteGlob(claude), "rules", "*.md")) // the pattern is right
			names = []string{"CLAUDE.md", ".claude/CLAUDE.md"}
			for _, rule := range rules[:min(len(rules), maxDefinitions)] {
				names = append(names, filepath.Join(".claude", "rules", filepath.Base(rule)))
			}
			names = append(names, "CLAUDE.local.md")
		} else if dir != f.Cwd && dir == filepath.Dir(f.Claude) {
			names = []string{"CLAUDE.md", "CLAUDE.local.md"} // ~/.claude is read as the person's own
		}
		for _, name := range names {
			path := filepath.Join(dir, name)
			text, err := readWithin(dir, path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				fmt.Fprintf(&b, "%s cannot be read: %v\n\n", path, err)
			case b.Len()+len(text) > maxMemory:
				fmt.Fprintf(&b, "%s is left out: it is too long.\n\n", path)
			default:
				fmt.Fprintf(&b, "Contents of %s:\n\n%s\n\n", path, strings.TrimSpace(text))
			}
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

var errElsewhere = errors.New("it leads out of its folder, or belongs to somebody else")

// readWithin reads a text of dir. A link is followed within dir: a repository must not name a file of the person's for
// the model to read. The file must be the person's, root's, or its folder's owner's.
func readWithin(dir, path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	home, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	file, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !text.Under(real, home) ||
		!slices.Contains([]uint32{uint32(os.Getuid()), 0, owner(home)}, file.Sys().(*syscall.Stat_t).Uid) {
		return "", errElsewhere
	}
	return readText(real, maxMemoryFile)
}

// owner returns the user whose folder it is.
func owner(dir string) uint32 {
	info, err := os.Stat(dir)
	if err != nil {
		return 0
	}
	return info.Sys().(*syscall.Stat_t).Uid
}

// quoteGlob takes a path as it is in a pattern.
func quoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

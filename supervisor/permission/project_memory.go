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

	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/text"
)

// CLAUDE.md and what belongs to it is left for claude in a folder of ours, as one text: what the folder has, those
// above it, and what they import (@path). Claude itself would follow a link out of the folder: a repository could have
// any file of the person's read and sent. A CLAUDE.md below the folder, which it would read with the first file from
// there, is not: `help limits` says so.

// The bounds of what is read of it, in bytes: of one file, and of all.
const (
	maxMemoryFile = 64 << 10
	maxMemory     = 256 << 10
)

// handMemory hands over these texts. Of a release that reads none by --add-dir they are a part of the system prompt.
func (p *InFolder) handMemory(start *ProjectStart, f ProjectFolder, flags []string) error {
	s, refused := f.texts()
	for _, name := range refused {
		p.lost = append(p.lost, name+" that leads out of its folder")
	}
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
		return fmt.Errorf("keep the CLAUDE.md of the folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(f.Memory, "CLAUDE.md"), []byte(s), 0o600); err != nil {
		return fmt.Errorf("keep the CLAUDE.md of the folder: %w", err)
	}
	start.Flags = append(start.Flags, "--add-dir="+f.Memory)
	return nil
}

// texts puts together what the folder and those above it have, the furthest first as claude does, and what the folder's
// own files import. refused are the names of files that lead out of their folder.
func (f ProjectFolder) texts() (all string, refused []string) {
	m := memory{folder: f.Cwd, seen: map[string]bool{}}
	for _, dir := range slices.Backward(withAbove(f.Cwd)) {
		names := []string{"CLAUDE.local.md"}
		if claude := filepath.Join(dir, ".claude"); !f.isPersons(claude) {
			found, _ := filepath.Glob(filepath.Join(rules.QuotePattern(claude), "rules", "*.md")) // the pattern is right
			names = []string{"CLAUDE.md", ".claude/CLAUDE.md"}
			for _, rule := range found[:min(len(found), maxDefinitions)] {
				names = append(names, filepath.Join(".claude", "rules", filepath.Base(rule)))
			}
			names = append(names, "CLAUDE.local.md")
		} else if dir == filepath.Dir(f.Claude) {
			names = []string{"CLAUDE.md", "CLAUDE.local.md"} // ~/.claude is read as the person's own
		}
		for _, name := range names {
			m.add(dir, filepath.Join(dir, name), 0)
		}
	}
	return strings.TrimRight(m.b.String(), "\n"), uniq(m.refused)
}

// maxImports bounds how deep files import others, as claude does.
const maxImports = 5

// A memory is the text that is put together.
type memory struct {
	b       strings.Builder
	folder  string // whose files may be imported
	seen    map[string]bool
	refused []string
}

// add adds a file of a folder, after what it imports.
func (m *memory) add(dir, path string, depth int) {
	if m.seen[path] {
		return
	}
	m.seen[path] = true
	text, err := readWithin(dir, path)
	switch {
	case errors.Is(err, fs.ErrNotExist), depth > 0 && err != nil && !errors.Is(err, errElsewhere):
		return // of an import: whatever was meant by it, it names no text
	case errors.Is(err, errElsewhere):
		m.refused = append(m.refused, filepath.Base(path))
		fallthrough
	case err != nil:
		fmt.Fprintf(&m.b, "%s cannot be read: %v\n\n", path, err)
		return
	case m.b.Len()+len(text) > maxMemory:
		fmt.Fprintf(&m.b, "%s is left out: it is too long.\n\n", path)
		return
	}
	text, imported := takeImports(text)
	for _, name := range imported {
		if depth == maxImports || strings.HasPrefix(name, "~") {
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		m.add(m.folder, filepath.Clean(name), depth+1)
	}
	fmt.Fprintf(&m.b, "Contents of %s:\n\n%s\n\n", path, strings.TrimSpace(text))
}

var (
	importIn = text.Lazily(`(^|\s)@((?:[^\s\\` + "`" + `]|\\ )+)`)
	codeSpan = text.Lazily("`[^`]*`")
	fence    = text.Lazily("^ {0,3}(```|~~~)")
)

// takeImports returns what a text imports (@path, but not in code), and the text with that written as code: claude is
// to import nothing of it again.
func takeImports(doc string) (rest string, imported []string) {
	var b strings.Builder
	take := func(part string) {
		b.WriteString(importIn().ReplaceAllStringFunc(part, func(found string) string {
			at := strings.IndexByte(found, '@')
			name, _, _ := strings.Cut(strings.ReplaceAll(found[at+1:], `\ `, " "), "#")
			imported = append(imported, name, strings.TrimRight(name, ".,;:!?)"))
			return found[:at] + "`" + found[at:] + "`"
		}))
	}
	fenced := ""
	for line := range strings.Lines(doc) {
		mark := fence().FindString(line)
		switch mark = strings.TrimLeft(mark, " "); {
		case mark != "" && fenced == "":
			fenced = mark
		case mark != "" && fenced == mark:
			fenced = ""
		case fenced == "":
			end := 0
			for _, span := range codeSpan().FindAllStringIndex(line, -1) {
				take(line[end:span[0]])
				b.WriteString(line[span[0]:span[1]])
				end = span[1]
			}
			take(line[end:])
			continue
		}
		b.WriteString(line)
	}
	return b.String(), uniq(slices.DeleteFunc(imported, func(name string) bool { return name == "" }))
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

// leadsOut reports whether the links of a path of dir lead out of it. Like a file of the memory, nothing there is read.
func leadsOut(dir, path string) bool {
	real, known := follow(path)
	home, _ := follow(dir)
	return !known || !text.Under(real, home)
}

// owner returns the user whose folder it is.
func owner(dir string) uint32 {
	info, err := os.Stat(dir)
	if err != nil {
		return 0
	}
	return info.Sys().(*syscall.Stat_t).Uid
}

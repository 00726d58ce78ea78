package procs

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// The bounds of a look at what processes run: the arguments that may be a script's path, the bytes of a script, and the
// paths that are tried for one process.
const (
	scriptArgs = 4
	scriptMax  = 256 << 10
	scriptsMax = 24
)

// A Script is a process of this user's as the text that it runs.
type Script struct {
	Marker Marker // of the launch that it belongs to; zero: of none
	Text   string // its arguments, the script that one of them names, and the scripts that these source
	env    []string
}

// Getenv returns a variable of the environment that the process was started with, or the one above it where it has
// none.
func (s Script) Getenv(name string) string { return Lookup(s.env, name) }

// Scripts returns the processes of this user that run, and in whose text, its arguments or the script that these name,
// a word stands. The processes above this one are not among them. It reads the process table, and files that others
// name: a disk that does not answer holds it.
func Scripts(word string) ([]Script, error) {
	all, err := table(0)
	if err != nil {
		return nil, err
	}
	own := map[int]bool{}
	for _, id := range lineage() {
		own[id.pid] = true
	}
	var found []Script
	for _, p := range all {
		if p.ended || own[p.pid] || isForeign(p.pid) {
			continue
		}
		env := environOf(p)
		if env == nil {
			continue
		}
		if text := textOf(arguments(p.pid), folderOf(p.pid), Lookup(env, "HOME")); strings.Contains(text, word) {
			m := placeOf(env, p.parent).marker
			found = append(found, Script{m, text, env})
		}
	}
	return found, nil
}

// textOf returns what a process with these arguments runs, as far as that can be read off them.
func textOf(args []string, folder, home string) string {
	type part struct{ text, folder string } // folder: of its file
	parts := []part{{strings.Join(args, " "), ""}}
	read := map[string]bool{}
	take := func(folder, path string) {
		if path = inFolder(folder, path); path == "" || read[path] || len(read) == scriptsMax {
			return
		}
		read[path] = true
		if text := scriptAt(path); text != "" {
			parts = append(parts, part{text, filepath.Dir(path)})
		}
	}
	for _, arg := range args[:min(len(args), scriptArgs)] {
		take(folder, arg)
	}
	var all strings.Builder
	for i := 0; i < len(parts); i++ { // it grows
		all.WriteString(parts[i].text + "\n")
		for _, path := range sourced(parts[i].text) {
			for _, folder := range []string{folder, parts[i].folder, home} {
				take(folder, path)
			}
		}
	}
	return all.String()
}

// environOf returns the environment of a process; where it has none, or has ended since it was listed, that of the
// first one above it that has one. nil: nobody is left who could say where it belongs.
func environOf(p process) []string {
	for {
		if env := environ(p.pid); env != "" {
			return strings.Split(env, "\x00")
		}
		if p.parent < 1 {
			return nil
		}
		above, err := read(p.parent)
		if err != nil {
			return nil // gone
		}
		p = above
	}
}

// inFolder returns a path as it is meant in a folder; "" where it is none, or the folder is not known.
func inFolder(folder, path string) string {
	switch {
	case filepath.IsAbs(path):
		return path
	case path == "" || path[0] == '-' || folder == "":
		return ""
	}
	return filepath.Join(folder, path)
}

// scriptAt returns the beginning of the script at a path; "" where there is none.
func scriptAt(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, scriptMax))
	if err != nil || strings.ContainsRune(string(text), 0) { // a program, and no script
		return ""
	}
	return string(text)
}

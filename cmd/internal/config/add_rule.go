package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"claude-supervise/cmd/internal/yamlfile"
)

// AddRule returns where the person's file lies, and its text with a rule among what their runs in a folder are
// allowed, and every other byte as it is. The file need not be there. It is an error if nothing of it counts, or if
// it is written in a way in which a line cannot be put into it: the error says what to write by hand.
func AddRule(env []string, cwd, rule string) (path string, text []byte, err error) {
	c, err := Load(env)
	if err != nil {
		return "", nil, err
	}
	if path = Path(env); path == "" {
		return "", nil, errors.New("no place for a config is known: set HOME to an absolute path")
	}
	if c.Path != "" {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			text, err = read(path)
		}
		if err != nil {
			return "", nil, err
		}
	}
	added, err := withRule(path, text, cwd, rule)
	if err == nil {
		again := Config{home: c.home}
		err = again.parse(added)
	}
	return path, added, err
}

func withRule(path string, text []byte, cwd, rule string) ([]byte, error) {
	var r yamlfile.Reader
	top := r.Optional(text)
	at, put := place(top, cwd)
	whole := string(text)
	if whole != "" && !strings.HasSuffix(whole, "\n") {
		whole += "\n"
	}
	lines := strings.SplitAfter(whole, "\n")
	if at < 0 || at > len(lines) {
		return nil, fmt.Errorf("no line can be put into %s as it is written; add to its folders:\n  %s:\n    allow: [%s]",
			path, scalar(cwd), scalar(rule))
	}
	added := strings.ReplaceAll(put, "RULE", scalar(rule))
	return []byte(strings.Join(slices.Insert(lines, at, added), "")), nil
}

// place says behind how many lines of a file what stands for a rule of a folder is put; -1: nowhere.
func place(top *yaml.Node, cwd string) (at int, put string) {
	folder := scalar(cwd)
	switch {
	case top == nil:
		return 0, "folders:\n  " + folder + ":\n    allow:\n      - RULE\n"
	case !block(top, yaml.MappingNode):
		return -1, ""
	}
	key, folders := member(top, "folders")
	if key == nil {
		first := top.Content[0]
		return first.Line - 1, "folders:\n  " + folder + ":\n    allow:\n      - RULE\n"
	}
	if !block(folders, yaml.MappingNode) || len(folders.Content) == 0 {
		return -1, ""
	}
	in := strings.Repeat(" ", folders.Content[0].Column-1)
	for i := 0; i+1 < len(folders.Content); i += 2 {
		k, v := folders.Content[i], folders.Content[i+1]
		if expanded(k.Value) != filepath.Clean(cwd) {
			continue
		}
		if !block(v, yaml.MappingNode) || len(v.Content) == 0 {
			return -1, ""
		}
		in = strings.Repeat(" ", v.Content[0].Column-1)
		allow, list := member(v, "allow")
		switch {
		case allow == nil:
			return k.Line, in + "allow:\n" + in + "  - RULE\n"
		case !block(list, yaml.SequenceNode) || len(list.Content) == 0 || list.Content[0].Line == allow.Line:
			return -1, ""
		}
		dash := strings.Repeat(" ", list.Content[0].Column-3)
		return allow.Line, dash + "- RULE\n"
	}
	return key.Line, in + folder + ":\n" + in + "  allow:\n" + in + "    - RULE\n"
}

func block(n *yaml.Node, kind yaml.Kind) bool {
	return n.Kind == kind && n.Style&yaml.FlowStyle == 0 && n.Anchor == ""
}

func member(of *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == name {
			return of.Content[i], of.Content[i+1]
		}
	}
	return nil, nil
}

// expanded is a folder of the file, which may begin with ~.
func expanded(folder string) string {
	if rest, is := strings.CutPrefix(folder, "~/"); is {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return filepath.Clean(folder)
}

// scalar writes a text as YAML that means that text and nothing else.
func scalar(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

package main

import (
	"go/parser"
	"go/token"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestFloorInitializesWhatTheProgramImports(t *testing.T) {
	const ours = "claude-supervise"
	out, err := exec.Command("go", "list", "-deps", "-f",
		`{{if .Module}}{{if .Module.Main}}{{join .Imports "\n"}}{{end}}{{end}}`, ours+"/cmd/claude-supervise").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(strings.Fields(string(out)), func(path string) bool {
		return path == ours || strings.HasPrefix(path, ours+"/")
	})
	slices.Sort(want)
	file, err := parser.ParseFile(token.NewFileSet(), "libraries.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range file.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, path)
	}
	slices.Sort(got)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("the floor imports\n%q, the program\n%q", got, want)
	}
}

package supervisor

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"claude-supervise/procs"
	"claude-supervise/supervisor/conf"
)

// tellsAgents are the files that may look whether a command is run: the one that tells agents apart, and those that put
// another command in its place.
var tellsAgents = []string{"abilities.go", "event_run.go", "harmless.go"}

func TestEachAbilityIsAskedAndNoneAsksWhichAgentItIs(t *testing.T) {
	asked := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr: // cfg.Abilities().X, or can.X
				switch of := n.X.(type) {
				case *ast.Ident:
					asked[n.Sel.Name] = asked[n.Sel.Name] || of.Name == "can"
				case *ast.CallExpr:
					f, ok := of.Fun.(*ast.SelectorExpr)
					asked[n.Sel.Name] = asked[n.Sel.Name] || ok && f.Sel.Name == "Abilities"
				}
			case *ast.CallExpr: // len(cfg.Exec)
				f, ok := n.Fun.(*ast.Ident)
				if !ok || f.Name != "len" || slices.Contains(tellsAgents, filepath.Base(path)) {
					return true
				}
				if of, ok := n.Args[0].(*ast.SelectorExpr); ok && of.Sel.Name == "Exec" {
					t.Errorf("%s asks which agent it is, and not what that can do", path)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(asked, func(_ string, is bool) bool { return !is })
	for _, ability := range reflect.VisibleFields(reflect.TypeFor[procs.Abilities]()) {
		if !asked[ability.Name] {
			t.Errorf("nothing asks for the ability %s", ability.Name)
		}
		claude := reflect.ValueOf(procs.OfClaude).FieldByIndex(ability.Index)
		if claude.Equal(reflect.ValueOf(procs.OfCommand).FieldByIndex(ability.Index)) {
			t.Errorf("both agents have the same %s: nothing shows that it is asked for", ability.Name)
		}
	}
}

func TestAgentsUnderstandTheFlagsThatTheyHaveTheAbilityFor(t *testing.T) {
	claude, command := conf.Config{}, conf.Config{Exec: []string{"/bin/agent"}}
	for _, flag := range []string{"--demo", "--claude", "--model", conf.HandedOn, "--allow", "--permissions",
		"--max-cost-usd",
		"--max-tokens", "--max-turns"} {
		if !claude.Understands(flag) || command.Understands(flag) {
			t.Errorf("%s: claude %v, a command %v", flag, claude.Understands(flag), command.Understands(flag))
		}
	}
	for _, flag := range []string{"--exec", "--max-time", "--hold", "--retries"} {
		if !claude.Understands(flag) || !command.Understands(flag) {
			t.Errorf("%s: claude %v, a command %v", flag, claude.Understands(flag), command.Understands(flag))
		}
	}
}

func TestAnAgentStaysWhichItIsWhateverProgramItIsGiven(t *testing.T) {
	s := execAgent(t)
	s.Do(Opened{PID: 2, Policy: conf.Ask, Exec: []string{"/bin/other"}})
	if exec := s.State.Config.Exec; !slices.Equal(exec, []string{"/bin/other"}) {
		t.Errorf("the command is %q", exec)
	}
	s = &Story{T: t}
	s.Do(Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "Choose a database"})
	s.Do(Opened{PID: 1, Policy: conf.Ask, Exec: []string{"/bin/other"}})
	if exec := s.State.Config.Exec; len(exec) > 0 {
		t.Errorf("claude became the command %q", exec)
	}
}

package supervisor

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pure lists what the core may call of the packages that do I/O, and of sync. Types and constants of theirs are free.
var pure = map[string][]string{
	"procs": {"CallKey"},
	"claude": {"AnsweredIn", "AnsweredText", "Classify", "HarmlessFlags", "RefusedByHook", "ReleaseOf", "ReplaceFlags",
		"StartsSubagent", "WithoutFlags", "WithoutPlanMode"},
	"checkpoints": {"PlainID"},
	"sync":        {"OnceValue"},
}

// conversions are calls of a type.
var conversions = map[string][]string{
	"procs":       {"FailureKind", "Task", "Tool"},
	"checkpoints": {"Independence", "Task"},
}

func TestTheCoreDoesNoIO(t *testing.T) {
	for _, dir := range []string{".", "ask", "conf", "effect", "exit", "label", "listen", "notice", "pace",
		"records", "task"} {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatal(dir, err)
		}
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") {
				isPure(t, name)
			}
		}
	}
}

func isPure(t *testing.T, name string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	imported := map[string]bool{}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		imported[path[strings.LastIndexByte(path, '/')+1:]] = true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s starts a goroutine", fset.Position(n.Pos()))
		case *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
			t.Errorf("%s uses a channel", fset.Position(n.Pos()))
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "sync" && imported["sync"] &&
				!slices.Contains(pure["sync"], n.Sel.Name) {
				t.Errorf("%s uses sync.%s", fset.Position(n.Pos()), n.Sel.Name)
			}
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := f.X.(*ast.Ident)
			if !ok || !imported[x.Name] || x.Obj != nil || pure[x.Name] == nil {
				return true
			}
			if !slices.Contains(pure[x.Name], f.Sel.Name) && !slices.Contains(conversions[x.Name], f.Sel.Name) {
				t.Errorf("%s calls %s.%s, which is not listed as pure", fset.Position(n.Pos()), x.Name, f.Sel.Name)
			}
		}
		return true
	})
}

package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A goroutine is one of a group (errgroup, sync.WaitGroup, run.Group) that somebody waits for. Where it cannot be, such
// as a blocking read of a terminal, a comment beside its go statement says why: it has the words "waited for".
func TestEveryGoroutineIsWaitedFor(t *testing.T) {
	eachFile(t, func(f file) {
		if f.isTest {
			return
		}
		for _, bare := range bareGoroutines(f) {
			t.Errorf("%s: start it in a group that is waited for, or say beside it why it is not waited for", f.at(bare))
		}
	})
}

// A command's package that starts goroutines is given to the race detector: it stands in RACY of the Makefile.
func TestACommandsPackageThatStartsGoroutinesIsRaced(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, racy, _ := strings.Cut(string(makefile), "cmd/internal/,")
	racy, _, _ = strings.Cut(racy, ")")
	eachFile(t, func(f file) {
		name, inside := strings.CutPrefix(filepath.Dir(f.path), "cmd/internal/")
		if !inside || f.isTest || slices.Contains(strings.Fields(racy), name) {
			return
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			_, starts := n.(*ast.GoStmt)
			if s, ok := n.(*ast.SelectorExpr); starts || ok && s.Sel.Name == "Go" {
				t.Errorf("%s starts a goroutine: add %s to RACY of the Makefile", f.at(n.Pos()), name)
			}
			return true
		})
	})
}

// bareGoroutines finds the go statements of which no comment says how they are waited for.
func bareGoroutines(f file) (bare []token.Pos) {
	said := map[int]bool{} // lines of go statements that a comment speaks of
	for _, c := range f.Comments {
		if strings.Contains(strings.ToLower(c.Text()), "waited for") {
			end := f.set.Position(c.End()).Line
			said[end], said[end+1] = true, true
		}
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok && !said[f.set.Position(g.Pos()).Line] {
			bare = append(bare, g.Pos())
		}
		return true
	})
	return bare
}

func TestAGoStatementWithoutAReasonIsFound(t *testing.T) {
	for code, want := range map[string]int{
		"go f()": 1,
		"go f() // not waited for: it ends by itself":   0,
		"// Not waited for: it blocks.\n\tgo f()":       0,
		"// It reads.\n\tgo f()":                        1,
		"// Not waited for: it blocks.\n\n\tgo f()":     1,
		"go f() // waited for by done\n\tgo f()\n":      0,
		"go f() // waited for by done\n\tx()\n\tgo f()": 1,
	} {
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, "x.go", "package x\n\nfunc x() {\n\t"+code+"\n}\n", parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(bareGoroutines(file{File: parsed, set: set})); got != want {
			t.Errorf("%q: %d, want %d", code, got, want)
		}
	}
}

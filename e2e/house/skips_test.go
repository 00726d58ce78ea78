package house

import (
	"go/ast"
	"strings"
	"testing"
)

// A test that is skipped for want of something fails in CI (machinetest.Lacks). What is skipped there, too, says so
// beside it with the words "in CI".
func TestNoTestIsSkippedInCIUnnoticed(t *testing.T) {
	eachFile(t, func(f file) {
		said := map[int]bool{}
		for _, c := range f.Comments {
			said[f.set.Position(c.Pos()).Line] = strings.Contains(c.Text(), "in CI")
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || name.Sel.Name != "Skip" && name.Sel.Name != "Skipf" && name.Sel.Name != "SkipNow" {
				return true
			}
			if !strings.HasPrefix(f.path, "e2e/machinetest/") && !said[f.set.Position(call.End()).Line] {
				t.Errorf("%s: skip it by machinetest.Lacks, or say beside it that it is skipped in CI, too", f.at(call.Pos()))
			}
			return true
		})
	})
}

package serving

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/supervisor/service"
)

func TestARunIsStartedOnlyInTheFoldersOfThePage(t *testing.T) {
	root, err := WholePath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ours/below", "ours2", "theirs/there"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"ours/out": "theirs", "in": "ours/below"} {
		if err := os.Symlink(filepath.Join(root, to), filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	ours := []string{filepath.Join(root, "ours")}
	for path, want := range map[string]string{"ours": "ours", "ours/below": "ours/below", "in": "ours/below"} {
		if got, err := Within(ours, "cwd", filepath.Join(root, path)); err != nil || got != filepath.Join(root, want) {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
	for path, want := range map[string]service.Reason{
		"theirs": service.Elsewhere, "theirs/there": service.Elsewhere, "theirs/gone": service.Elsewhere,
		"ours2": service.Elsewhere, "ours/out": service.Elsewhere, "ours/out/there": service.Elsewhere,
		"ours/../theirs": service.Elsewhere, "ours/gone": service.Unfit,
	} {
		var refusal *service.Refusal
		_, err := Within(ours, "cwd", root+"/"+path)
		if !errors.As(err, &refusal) || refusal.Reason != want || refusal.Field != "cwd" {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Within(ours, "cwd", "ours"); err == nil || !strings.Contains(err.Error(), "a path from the root") {
		t.Errorf("a path from anywhere: %v", err)
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Folders("--folder", []string{ours[0], filepath.Join(root, "file")}); err == nil {
		t.Error("a file is taken for a folder")
	}
}

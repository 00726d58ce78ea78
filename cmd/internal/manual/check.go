package manual

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"claude-supervise/e2e/machinetest"
)

// Check writes the pages and has man read those in want, by the names of their files: each has all of its texts,
// whatever the line breaks, and man warns of nothing. The pages of a release are what is left of it, in the folder
// $CLAUDE_SUPERVISE_MAN, dated $SOURCE_DATE_EPOCH (make manual).
func (m Manual) Check(t *testing.T, want map[string][]string) {
	t.Helper()
	folder, date := os.Getenv("CLAUDE_SUPERVISE_MAN"), time.Unix(1800000000, 0).UTC()
	if folder == "" {
		folder = t.TempDir()
	} else {
		seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
		if err != nil {
			t.Fatal("SOURCE_DATE_EPOCH: ", err)
		}
		date = time.Unix(seconds, 0).UTC()
	}
	if err := m.Write(folder, date); err != nil {
		t.Fatal(err)
	}
	for page, want := range want {
		text := shown(t, filepath.Join(folder, "man"+page[len(page)-1:], page))
		for _, want := range want {
			if !strings.Contains(text, want) && !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
				t.Errorf("%s lacks %q:\n%s", page, want, text)
			}
		}
	}
}

// shown returns a page as man shows it, 80 columns wide and without hyphens.
func shown(t *testing.T, page string) string {
	t.Helper()
	if _, err := exec.LookPath("man"); err != nil {
		machinetest.Lacks(t, "CI reads the man pages by man: %v", err)
	}
	man := exec.Command("man", "--warnings", "--nh", "--nj", "-l", page)
	man.Env = append(os.Environ(), "MANWIDTH=80", "LC_ALL=C.UTF-8", "MANPAGER=cat", "GROFF_NO_SGR=1",
		"MAN_KEEP_FORMATTING=")
	var warned bytes.Buffer
	man.Stderr = &warned
	text, err := man.Output()
	if err != nil || warned.Len() > 0 {
		t.Errorf("man -l %s: %v %s", page, err, &warned)
	}
	return string(text)
}

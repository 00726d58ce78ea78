package web

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"slices"
	"testing"
	"time"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// A pastState has runs that have ended, the latest first.
type pastState struct {
	*fakeState
	past []view.RunView
}

func (s pastState) Past(_ context.Context, skip, most int) ([]view.RunView, error) {
	runs, _ := part(s.past, skip, most)
	return runs, nil
}

var (
	shownRuns = regexp.MustCompile(`id="run-(\w+-\d+)"`)
	nextOnes  = regexp.MustCompile(`rel="next" href="([^"]+)"`)
)

// Past runs are found by words of all that a person knows of them and by how they have ended, each once, on however
// many pages.
func TestPastRunsAreFound(t *testing.T) {
	state := pastState{newState(0), nil}
	at := time.Unix(1e9, 0)
	for i := range maxSearched + 300 {
		v := view.RunView{ID: fmt.Sprintf("r-%d", i), Status: ends[i%len(ends)], EndedAt: &at, Cwd: "/home/me/code",
			Agents: []view.AgentView{{ID: fmt.Sprintf("a-%d", i), Task: "Count the files."}}}
		if i%1000 == 7 {
			v.Name, v.Summary, v.Agents[0].Task = "Nightly & day", "all 17 files were counted", "Count <them>."
		}
		state.past = append(state.past, v)
	}
	server := serving(t, state)
	found := func(path string) (ids []string, pages int) {
		t.Helper()
		for path != "" {
			reply, text := call{method: "GET", path: path}.do(t, server)
			if reply.StatusCode != 200 {
				t.Fatalf("%s gets %d", path, reply.StatusCode)
			}
			for _, id := range shownRuns.FindAllStringSubmatch(text, -1) {
				ids = append(ids, id[1])
			}
			path = ""
			if next := nextOnes.FindStringSubmatch(text); next != nil {
				path = "/runs" + html.UnescapeString(next[1])
			}
			pages++
		}
		return ids, pages
	}
	nightly := []string{"r-7", "r-1007", "r-2007", "r-3007", "r-4007", "r-5007"}
	for path, want := range map[string][]string{
		"/runs?q=nightly+%26":           nightly,
		"/runs?q=COUNTED+17":            nightly,
		"/runs?q=%3Cthem%3E":            nightly,
		"/runs?q=nightly&end=failed":    nightly,
		"/runs?q=nightly&end=stopped":   nil,
		"/runs?q=a-4321":                {"r-4321"},
		"/runs?q=nothing+of+that+at+me": nil,
	} {
		if got, pages := found(path); !slices.Equal(got, want) || pages != 2 {
			t.Errorf("%s finds %q on %d pages, want %q on 2", path, got, pages, want)
		}
	}
	got, pages := found("/runs?end=partial&q=code")
	var want []string
	for _, v := range state.past {
		if v.Status == supervisor.Status("partial") {
			want = append(want, v.ID)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d runs are found on %d pages, want %d, each once", len(got), pages, len(want))
	}
	if got, _ := found(fmt.Sprintf("/runs?from=%d", maxSearched)); len(got) != 300 {
		t.Errorf("without words there are %d runs behind the first %d", len(got), maxSearched)
	}
}

package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"claude-supervise/supervisor/view"
)

// A page is told of what it shows, and of every change of the count.
func TestEachPageIsToldOfWhatItShows(t *testing.T) {
	state := newState(2)
	server := serving(t, state)
	other := question("q-other")
	other.Run = "r-other"
	for path, want := range map[string]string{
		"/live": "question q-other, question q-000001, run", "/live?run=r-aaaaaaaa": "count 3, question q-000001, run",
		"/live?question=q-000001": "count 3, question q-000001", "/live?agent=a-child": "count 3, count 2, agent a-child",
		"/live?count=only": "count 3, count 2",
	} {
		t.Run(path, func(t *testing.T) {
			state := newState(2)
			server := serving(t, state)
			events, _ := listen(t, server, path, "")
			if e := <-events; e.name != "state" {
				t.Fatalf("the first is %s", e.name)
			}
			state.do(func() { state.asked = append(state.asked, other) })
			state.do(func() { state.answer("q-000001", "x") })
			state.do(func() {
				state.runs = slices.Clone(state.runs)
				state.runs[0].Agents = slices.Clone(state.runs[0].Agents)
				state.runs[0].Agents[1].Status, state.runs[0].Reason = "running", "works"
			})
			var got []string
			for range strings.Count(want, ",") + 1 {
				e := <-events
				var c cardChange
				if err := json.Unmarshal(e.data, &c); err != nil {
					t.Fatal(err)
				}
				switch e.name {
				case "count":
					got = append(got, fmt.Sprint("count ", c.Count))
				case "run":
					got = append(got, "run")
				default:
					got = append(got, e.name+" "+c.ID)
				}
			}
			if told := strings.Join(got, ", "); told != want {
				t.Errorf("it is told %s, want %s", told, want)
			}
		})
	}
	for _, path := range []string{"/", "/runs", "/start", "/questions/q-000000", "/runs/r-aaaaaaaa"} {
		if _, text := (call{method: "GET", path: path}).do(t, server); !strings.Contains(text, "<title>(2) ") ||
			!strings.Contains(text, `href="/icon.svg?n=2"`) || !strings.Contains(text, `data-live="/live`) {
			t.Errorf("%s has no count, or is not live:\n%.600s", path, text)
		}
	}
}

// More agents than a page of several runs shows stay on the page of their run, however often that changes.
func TestThePageOfARunKeepsAllItsAgents(t *testing.T) {
	state := newState(0)
	for i := range pageAgents + 1 {
		state.runs[0].Agents = append(state.runs[0].Agents, view.AgentView{ID: fmt.Sprintf("a-%d", i), Parent: "a-root", Who: "x"})
	}
	server := serving(t, state)
	events, stop := listen(t, server, "/live?run=r-aaaaaaaa", "")
	defer stop()
	whole := <-events
	state.do(func() { state.runs = slices.Clone(state.runs); state.runs[0].Reason = "another" })
	changed := <-events
	for _, e := range []event{whole, changed} {
		data := string(e.data)
		if last := fmt.Sprintf("/agents/a-%d", pageAgents); !strings.Contains(data, last) || strings.Contains(data, "more agents") {
			t.Errorf("%s has no %s:\n%.300s", e.name, last, data)
		}
	}
	if changed.name != "run" {
		t.Errorf("its change is told as %s", changed.name)
	}
}

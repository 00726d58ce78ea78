package web

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claude-supervise/cmd/internal/markup/markuptest"
	"claude-supervise/supervisor/precedents"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

var update = flag.Bool("update", false, "write the golden files anew")

// hostile is a text that tries to be more than a text, wherever on a page it comes to stand. The place that it is for is
// named in it.
func hostile(place string) string {
	return place + ` "><script>alert(1)</script>' onload='x` + "`{{.}}` --></title></textarea></pre>]]>&amp;&lt;+=%22%zz?#" +
		"javascript:alert(1)\u202egnp.exe\x00\xff\u2028\n\tשלום"
}

// A hostileState is one of everything that the page can show; every text in it is what said gives for its place.
type hostileState struct {
	*fakeState
	said  func(place string) string
	cards map[string]Card
	past  []view.RunView
}

// Watch tells of a problem beside the state.
func (h hostileState) Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error {
	return h.fakeState.Watch(ctx, look, func(o view.Overview) error {
		o.Problems = []string{h.said("problem")}
		return each(o)
	})
}

// Run knows a run by its agents, too.
func (h hostileState) Run(_ context.Context, id string) (view.RunView, error) {
	for _, v := range h.runs {
		if _, is := v.Agent(id); is || v.ID == id {
			return v, nil
		}
	}
	return view.RunView{}, unknown(id)
}

func (h hostileState) Past(context.Context, int, int) ([]view.RunView, error) { return h.past, nil }

func (h hostileState) Answer(context.Context, string, service.Answer) (service.Kept, error) {
	return service.Kept{}, &service.Refusal{Reason: service.Unfit, Text: h.said("refused"), Command: h.said("refused command")}
}

func (h hostileState) Meanwhile(ctx context.Context) (view.Meanwhile, error) {
	run, err := h.Report(ctx, h.runs[0].ID)
	ended := run
	ended.Run.EndedAt, ended.Changes = &run.To, h.said("changes")
	return view.Meanwhile{Record: view.Record{From: run.From, To: run.To, Runs: []view.RunReport{run, ended}},
		Waits: []view.Waiting{{Decision: run.Asked[0], Of: run.Run, Holds: 2}}}, err
}

func (h hostileState) Told(context.Context, time.Time) error { return nil }

func (h hostileState) Stop(context.Context, string, string) (string, error) {
	return h.said("stopped"), nil
}

func (h hostileState) Look(context.Context) view.Away { return view.Away{Done: 1} }

func (h hostileState) Retry(context.Context, string) (string, error) { return h.said("retried"), nil }

func (h hostileState) Prune(context.Context, string) (string, error) { return h.said("pruned"), nil }

func (h hostileState) Diff(context.Context, string, bool) (string, error) {
	return h.said("agent") + "\n--- a\n+++ b\n@@ -1 +1 @@\n-" + h.said("removed") + "\n--- c\n+++ d\n@@ -0,0 +1 @@\n+" + h.said("added"), nil
}

func (h hostileState) Precedents(context.Context, string) ([]precedents.Precedent, error) {
	return []precedents.Precedent{{Run: h.said("run"), Asked: h.said("asked"), Answer: h.said("answer"), At: time.Unix(1e9, 0)}}, nil
}

func (h hostileState) Again(context.Context, string, service.Answer, bool) (service.Begun, error) {
	return service.Begun{Run: h.said("run"), Caution: h.said("caution")}, nil
}

func (h hostileState) Compare(_ context.Context, run, other string) ([2]service.Compared, error) {
	of := func(run string) service.Compared {
		return service.Compared{Run: run, Answer: h.said("answer"), Status: "running", Report: h.said("report"),
			Problem: h.said("problem"), Changed: map[string]string{h.said("path"): "changed"}}
	}
	return [2]service.Compared{of(run), of(other)}, nil
}

func (h hostileState) Keep(context.Context, string, bool) (string, error) { return h.said("kept"), nil }

func (h hostileState) Start(_ context.Context, s service.Start) (string, bool, error) {
	return "", false, &service.Refusal{Reason: service.Elsewhere, Text: h.said("start refused"),
		Command: h.said("start command"), Field: s.Name}
}

func (h hostileState) Log(context.Context, string) (service.Log, error) {
	said := func(place string) string { return strings.ToValidUTF8(h.said(place), "?") } // a line is JSON
	var text bytes.Buffer
	for _, place := range []string{"log 1", "log 2"} {
		line, _ := json.Marshal(map[string]any{"line": map[string]any{"type": "assistant",
			"message": map[string]any{"content": []any{map[string]any{"type": "text", "text": said(place)}}}}})
		text.Write(append(line, '\n'))
	}
	return hostileLog{memoryLog{text.Bytes()}, h.runs[0].ID, h.runs[0].Agents[0].ID}, nil
}

type hostileLog struct {
	memoryLog
	run, agent string
}

func (l hostileLog) Of() (run, agent string) { return l.run, l.agent }

func newHostileState(said func(place string) string) hostileState {
	at := time.Unix(1e9, 0)
	h := hostileState{newState(0), said, map[string]Card{}, nil}
	ask := func(name string, change func(*Card)) {
		id := said("q-" + name)
		q := question(id)
		q.Run, q.Agent = said("r-1"), said("a-1")
		c := Card{ID: id, Kind: said("kind"), State: "open", Run: q.Run, Agent: said("agent"), AgentID: q.Agent, AskedAt: at,
			Asker: said("asker"), Header: said("header"), Text: said("text"), Context: said("context"), Words: said("words")}
		change(&c)
		if c.State != "open" {
			q.State = "answered"
		}
		h.asked, h.cards[id] = append(h.asked, q), c
	}
	shown := []Picture{{Hash: said("hash"), Name: said("image"), Words: said("image, in words"), Width: 3, Height: 2}}
	ask("words", func(c *Card) {
		c.Shows = shown
		c.OwnWords, c.Rule, c.Urgent, c.Skippable, c.Declinable, c.Sharable = true, said("rule"), true, true, true, true
	})
	ask("options", func(c *Card) {
		c.Options = []Option{{0, said("label"), said("description"), said("preview"), false}, {1, said("label 2"), "", "", false}, {Blank: true}}
		c.OwnWords, c.Instead, c.Task = true, true, said("task")
	})
	ask("buttons", func(c *Card) {
		c.Options = []Option{{0, "allow", said("description"), "", false}, {1, said("label"), said("description 2"), "", false}, {Blank: true}}
		c.OwnWords, c.Buttons = true, true
	})
	ask("several", func(c *Card) { c.Options, c.MultiSelect, c.Run = []Option{{Place: 0, Label: said("label")}}, true, "" })
	ask("evidence", func(c *Card) {
		c.Evidence, c.Terminal, c.Command = true, true, said("command")
		c.Context = "--- a\n@@ -1 +1 @@\n-" + said("removed") + "\n+" + said("added") + "\n " + said("same")
	})
	ask("plan", func(c *Card) {
		c.Evidence, c.OwnWords, c.Options = true, true, []Option{{0, "approve", said("description"), "", false}}
		c.Context = "# " + said("title") + "\n\n- " + said("step") + "\n+ " + said("step 2")
	})
	ask("elsewhere", func(c *Card) { c.Terminal, c.Elsewhere, c.Header, c.Context = true, said("elsewhere"), c.Kind, "" })
	for _, state := range []string{"answered", "skipped", "declined", "withdrawn", "changeable"} {
		ask(state, func(c *Card) {
			c.State, c.By, c.Skipped, c.Declined = state, said("by"), state == "skipped", state == "declined"
			c.Changeable, c.OwnWords = state == "changeable", true
			if c.Again = state == "answered"; c.Again {
				c.Options = []Option{{Place: 0, Label: said("label")}}
			}
			if state == "answered" || state == "declined" {
				c.Answer, c.With = said("answer"), shown
			}
		})
	}
	agent := func(name, parent string) view.AgentView {
		return view.AgentView{ID: said(name), Parent: parent, Who: said("who"), Status: "running", Reason: said("why"), Since: at,
			Task: said("task"), OpenQuestions: []string{said("q-words"), said("q-options")}}
	}
	h.runs = []view.RunView{
		{ID: said("r-1"), Name: said("name"), Status: "running", Reason: said("reason"), Since: at, Cwd: "/home/ann/" + said("cwd") + "/last",
			Worker: said("worker"), CostUSD: 1.5, Agents: []view.AgentView{agent("a-1", ""), agent("a-2", said("a-1"))}},
		{ID: said("r-2"), Status: "orphaned", Since: at, Cwd: said("cwd"), OpenQuestions: []string{said("q-words")},
			Agents: []view.AgentView{agent("a-3", "")}},
	}
	h.runs[1].Forked = &view.ForkView{Run: said("r-1"), Question: said("q-answered")}
	h.past = []view.RunView{{ID: said("r-3"), Forked: h.runs[1].Forked, Name: said("name"), Summary: said("summary"), Status: "succeeded", Reason: said("reason"), Since: at,
		EndedAt: &at, Agents: []view.AgentView{agent("a-4", ""), agent("a-5", "")}}}
	return h
}

// TestMain has pages show times as they are in UTC, wherever the tests run. The servers of tests read it as they end.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	m.Run()
}

// pages returns every page, and every part of one that is sent alone, of a hostile state, by name.
func (h hostileState) pages(t *testing.T) map[string]string {
	t.Helper()
	t.Setenv("HOME", "/home/ann")
	said := h.said
	s := New(Config{Token: token, Port: 7433, Folders: []string{said("folder 1"), said("folder 2")}, Service: h,
		Program: said("program"), Stops: said("stops"), Clean: func(text string) string { return text },
		Away: func(view.Away) string { return said("away") },
		Card: func(q view.QuestionView) Card { return h.cards[q.ID] }})
	var following sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	following.Go(func() { s.Run(ctx) })
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close(); cancel(); following.Wait() })

	pages := map[string]string{}
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	filled := func(more ...string) string {
		v := url.Values{}
		for i := 0; i < len(more); i += 2 {
			v.Set(more[i], more[i+1])
		}
		return v.Encode()
	}
	id := func(name string) string { return url.PathEscape(said(name)) }
	for name, c := range map[string]call{
		"desk":           {method: "GET", path: "/", status: 200},
		"desk, answered": {method: "GET", path: "/?from=1&answered=" + url.QueryEscape(said("q-answered")), status: 200},
		"past":           {method: "GET", path: "/runs?from=50&end=succeeded&q=" + url.QueryEscape(said("name")), status: 200},
		"run":            {method: "GET", path: "/runs/" + id("r-1"), status: 200},
		"report":         {method: "GET", path: "/runs/" + id("r-1") + "/report", status: 200},
		"report, alone":  {method: "GET", path: "/runs/" + id("r-1") + "/report", status: 200, header: map[string]string{"X-Fragment": "1"}},
		"meanwhile":      {method: "GET", path: "/meanwhile", status: 200},
		"seen":           {method: "POST", path: "/meanwhile", status: 200, header: form, body: filled("until", "2026-11-21T10:00:00Z")},
		"not seen":       {method: "POST", path: "/meanwhile", status: 400, header: form, body: filled("until", said("until"))},
		"agent":          {method: "GET", path: "/agents/" + id("a-1"), status: 200},
		"agent, a part":  {method: "GET", path: "/agents/" + id("a-1") + "?after=0", status: 200},
		"no token":       {method: "GET", path: "/", status: 401, noToken: true},
		"nothing here":   {method: "GET", path: "/" + id("path"), status: 404},
		"sure":           {method: "POST", path: "/runs/" + id("r-1") + "/stop", status: 200, header: form},
		"sure, agent":    {method: "POST", path: "/runs/" + id("a-2") + "/stop", status: 200, header: form},
		"done":           {method: "POST", path: "/runs/" + id("r-1") + "/stop", status: 200, header: form, body: "sure=yes"},
		"sure, delete":   {method: "POST", path: "/runs/" + id("r-1") + "/prune", status: 200, header: form},
		"answered":       {method: "GET", path: "/questions/" + id("q-answered"), status: 200},
		"sure, again": {method: "POST", path: "/questions/" + id("q-answered") + "/again", status: 200, header: form,
			body: filled("option", "0", "words", said("given"))},
		"again":           {method: "POST", path: "/questions/" + id("q-answered") + "/again", status: 200, header: form, body: "option=0&sure=yes"},
		"sure, keep":      {method: "POST", path: "/runs/" + id("r-2") + "/keep", status: 200, header: form},
		"compare":         {method: "GET", path: "/runs/" + id("r-2") + "/compare", status: 200},
		"made":            {method: "GET", path: "/runs/" + id("r-1") + "/change", status: 200},
		"made, alone":     {method: "GET", path: "/runs/" + id("r-1") + "/change", status: 200, header: map[string]string{"X-Fragment": "1"}},
		"before":          {method: "GET", path: "/questions/" + id("q-words") + "/before", status: 200},
		"start":           {method: "GET", path: "/start", status: 200},
		"question":        {method: "GET", path: "/questions/" + id("q-words"), status: 200},
		"changeable":      {method: "GET", path: "/questions/" + id("q-changeable"), status: 200},
		"withdrawn":       {method: "GET", path: "/questions/" + id("q-withdrawn"), status: 200},
		"answer, refused": {method: "POST", path: "/questions/" + id("q-options"), status: 422, header: form, body: filled("words", said("given"), "instead", said("instead"), "option", "1")},
		"answer, alone": {method: "POST", path: "/questions/" + id("q-evidence"), status: 422, body: filled("words", said("given")),
			header: map[string]string{"Content-Type": form["Content-Type"], "X-Fragment": "1"}},
		"change, refused": {method: "POST", path: "/questions/" + id("q-changeable"), status: 422, header: form, body: filled("words", said("given"), "change", "yes")},
	} {
		reply, text := c.do(t, server)
		if reply.StatusCode != c.status {
			t.Errorf("%s gets %d:\n%.500s", name, reply.StatusCode, text)
		}
		pages[name] = text
	}
	for _, field := range []string{"", "prompt", "task", "cwd"} {
		reply, text := call{method: "POST", path: "/start", header: form, body: filled("prompt", said("prompt"), "task", said("task"),
			"folder", said("folder 2"), "below", said("below"), "key", said("key"), "name", field)}.do(t, server)
		if reply.StatusCode != http.StatusForbidden {
			t.Errorf("a start gets %d:\n%.500s", reply.StatusCode, text)
		}
		pages[strings.TrimSuffix("start, refused "+field, " ")] = text
	}
	for name, path := range map[string]string{"live": "/live", "live, agent": "/live?agent=" + url.QueryEscape(said("a-1"))} {
		events, stop := listen(t, server, path, "")
		var state liveState
		if err := json.Unmarshal((<-events).data, &state); err != nil {
			t.Fatal(err)
		}
		stop()
		var b strings.Builder
		for _, p := range slices.Concat(state.Cards, state.Runs, state.Agents) {
			fmt.Fprintln(&b, p.HTML)
		}
		pages[name] = b.String()
	}
	return pages
}

func TestWhatOthersWroteIsAsItWasLookedAt(t *testing.T) {
	pages := newHostileState(hostile).pages(t)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		golden := filepath.Join("testdata", "hostile", strings.NewReplacer(", ", "-", " ", "-").Replace(name)+".html")
		got := []byte(pages[name])
		if name == "start" { // which has a key that is new each time
			key := bytes.Index(got, []byte(`name="key" value="`)) + len(`name="key" value="`)
			got = append(got[:key:key], got[key+bytes.IndexByte(got[key:], '"'):]...)
		}
		if *update {
			if err := os.WriteFile(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not as it was (%v); -update writes it anew", name, err)
		}
	}
}

// Whatever stands in a text, the page has the elements and attributes that it has with a harmless one.
func TestWhatOthersWroteMakesNoElement(t *testing.T) {
	want := newHostileState(func(place string) string { return place + "\n." }).pages(t)
	for name, page := range newHostileState(hostile).pages(t) {
		if w, g := markuptest.Elements(t, want[name]), markuptest.Elements(t, page); w != g {
			t.Errorf("%s has\n%s\nwant\n%s", name, g, w)
		}
	}
}

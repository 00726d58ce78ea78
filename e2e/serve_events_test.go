package e2e

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// A servedEvent is one that serve has sent.
type servedEvent struct{ id, name, data string }

// events reads a stream of serve from the event after last, until next is called for the last time. The stream ends
// with stop, and with the test.
func (p *servedPage) events(path, last string) (next func() servedEvent, stop func()) {
	p.w.t.Helper()
	ctx, cancel := context.WithCancel(p.w.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address+path, nil)
	if err != nil {
		p.w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		p.w.t.Fatal(err)
	}
	if reply.StatusCode != http.StatusOK {
		p.w.t.Fatalf("%s gets %s", path, reply.Status)
	}
	lines := bufio.NewReader(reply.Body)
	next = func() (e servedEvent) {
		p.w.t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				p.w.t.Fatalf("%s ends with %v", path, err)
			}
			switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); {
			case name == "id":
				e.id = value
			case name == "event":
				e.name = value
			case name == "data":
				e.data = value
			case line == "\n" && e.name != "":
				return e
			}
		}
	}
	return next, func() { cancel(); _ = reply.Body.Close() }
}

// The page is live within a moment of what is saved: nothing is looked at again and again.
func TestThePageTellsOfAQuestionAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve("--listen", "127.0.0.1:0")
	next, stop := p.events("/api/events", "")
	defer stop()
	run := strings.TrimSpace(w.must("run", "--demo", "ask", "--detach"))
	for {
		e := next()
		if e.name != "question" {
			continue
		}
		q := parse[struct {
			Run     string
			AskedAt time.Time `json:"asked_at"`
		}](t, e.data)
		if q.Run != run {
			t.Errorf("it is told of %s", e.data)
		}
		t.Logf("told %v after it was asked", time.Since(q.AskedAt))
		return
	}
}

// A database that is moved away is said everywhere, and no other is made that would hide it; back again, all goes on.
func TestServeSaysThatTheDatabaseIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve("--listen", "127.0.0.1:0", "--folder", w.cwd)
	run := strings.TrimSpace(w.must("run", "--demo", "ask", "--detach", "--hold", "0", "--on-question", "park"))
	w.run("wait", run)
	q := w.questions()[0]
	next, stop := p.events("/api/events", "")
	defer stop()
	problems := func(want bool) {
		t.Helper()
		for {
			e := next()
			var told struct{ Problems []string }
			if e.name == "problems" || e.name == "state" {
				told = parse[struct{ Problems []string }](t, e.data)
			}
			if e.name == "problems" && (len(told.Problems) > 0) == want {
				return
			}
		}
	}
	database := w.home + "/.local/state/claude-supervise/state.db"
	if err := os.Rename(database, database+".away"); err != nil {
		t.Fatal(err)
	}
	problems(true)
	for path, body := range map[string]string{
		"GET /api/questions": "", "GET /api/runs": "", "GET /api/runs?ended=1": "", "GET /api/questions/" + q.ID: "",
		"GET /api/agents/" + q.Agent + "/log": "", "GET /runs": "", "GET /questions/" + q.ID: "", "GET /runs/" + run: "",
		"POST /api/questions/" + q.ID + "/answer": `{"value": "1"}`, "POST /api/runs/" + run + "/stop": "",
		"POST /api/runs/" + run + "/resume": "", "POST /api/agents/" + q.Agent + "/message": `{"text": "hello"}`,
		"POST /api/runs": `{"prompt": "x", "cwd": "` + w.cwd + `"}`, "POST /api/answer/" + q.ID + ".x": `{"option": 0}`,
	} {
		method, path, _ := strings.Cut(path, " ")
		status, text := p.send(method, path, body)
		if status != 503 || !strings.Contains(text, "state.db: moved away or removed") || !strings.Contains(text, "put it back") ||
			method == "POST" && !strings.Contains(text, "nothing was done") {
			t.Errorf("%s %s gets %d %.300s", method, path, status, text)
		}
	}
	if status, text := p.send("GET", "/", ""); status != 200 || !strings.Contains(text, q.ID) || !strings.Contains(text, "put it back") {
		t.Errorf("the page, which keeps what it has, is %d %s", status, text)
	}
	if _, err := os.Stat(database); err == nil {
		t.Fatal("another database was made")
	}
	if err := os.Rename(database+".away", database); err != nil {
		t.Fatal(err)
	}
	problems(false)
	if status, text := p.send("POST", "/api/questions/"+q.ID+"/answer", `{"value": "1"}`); status != 200 {
		t.Errorf("back again, an answer gets %d %s", status, text)
	}
}

package e2e

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// A servedEvent is one that serve has sent.
type servedEvent struct{ id, name, data string }

// A servedStream is a stream of events that is read. It ends with the test.
type servedStream struct {
	t     *testing.T
	body  io.ReadCloser
	lines *bufio.Reader
}

// events opens a stream of serve that goes on after the event last.
func (p *servedPage) events(path, last string) *servedStream {
	p.w.t.Helper()
	r, err := http.NewRequestWithContext(p.w.t.Context(), http.MethodGet, p.address+path, nil)
	noError(p.w.t, err)
	r.Header.Set("Authorization", "Bearer "+p.token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	reply, err := http.DefaultClient.Do(r)
	noError(p.w.t, err)
	if reply.StatusCode != http.StatusOK {
		p.w.t.Fatalf("%s gets %s", path, reply.Status)
	}
	return &servedStream{p.w.t, reply.Body, bufio.NewReader(reply.Body)}
}

// next waits for the next event.
func (s *servedStream) next() servedEvent {
	s.t.Helper()
	e, err := s.read()
	if err != nil {
		s.t.Fatalf("the stream ends with %v", err)
	}
	return e
}

func (s *servedStream) read() (e servedEvent, err error) {
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return e, err
		}
		switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); {
		case name == "id":
			e.id = value
		case name == "event":
			e.name = value
		case name == "data":
			e.data = value
		case line == "\n" && e.name != "":
			return e, nil
		}
	}
}

// The page is live within a moment of what is saved: nothing is looked at again and again.
func TestThePageTellsOfAQuestionAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve("--listen", "127.0.0.1:0")
	events := p.events("/api/events", "")
	run := strings.TrimSpace(w.must("run", "--demo", "ask", "--detach"))
	for {
		e := events.next()
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
	p := w.serve("--listen", "127.0.0.1:0", "--folder", w.Cwd)
	run := strings.TrimSpace(w.must("run", "--demo", "ask", "--detach", "--hold", "0", "--on-question", "park"))
	w.run("wait", run)
	q := w.questions()[0]
	events := p.events("/api/events", "")
	problems := func(want bool) {
		t.Helper()
		for {
			e := events.next()
			var told struct{ Problems []string }
			if e.name == "problems" || e.name == "state" {
				told = parse[struct{ Problems []string }](t, e.data)
			}
			if e.name == "problems" && (len(told.Problems) > 0) == want {
				return
			}
		}
	}
	database := w.Home + "/.local/state/claude-supervise/state.db"
	noError(t, os.Rename(database, database+".away"))
	problems(true)
	for path, body := range map[string]string{
		"GET /api/questions": "", "GET /api/runs": "", "GET /api/runs?ended=1": "", "GET /api/questions/" + q.ID: "",
		"GET /api/agents/" + q.Agent + "/log": "", "GET /runs": "", "GET /questions/" + q.ID: "", "GET /runs/" + run: "",
		"POST /api/questions/" + q.ID + "/answer": `{"value": "1"}`, "POST /api/runs/" + run + "/stop": "",
		"POST /api/runs/" + run + "/resume": "", "POST /api/agents/" + q.Agent + "/message": `{"text": "hello"}`,
		"POST /api/runs": `{"prompt": "x", "cwd": "` + w.Cwd + `"}`, "POST /api/answer/" + q.ID + ".x": `{"option": 0}`,
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
	noError(t, os.Rename(database+".away", database))
	problems(false)
	if status, text := p.send("POST", "/api/questions/"+q.ID+"/answer", `{"value": "1"}`); status != 200 {
		t.Errorf("back again, an answer gets %d %s", status, text)
	}
}

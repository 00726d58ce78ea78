package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"claude-supervise/e2e/machine"
	"claude-supervise/procs/pty"
)

// A page is the page of the fleet as a program uses it.
type page struct {
	t              *testing.T
	address, token string
	process        *process
}

// serves starts the page of the fleet.
func (s *site) serves() *page {
	s.t.Helper()
	p := s.starts(s.home, "?token=", "serve", "--listen", "127.0.0.1:0")
	address := regexp.MustCompile(`(http://\S+)/\?token=(\S+)`).FindStringSubmatch(p.said.String())
	if address == nil {
		s.t.Fatalf("it says no address: %s", p.said)
	}
	return &page{s.t, address[1], address[2], p}
}

// does sends a request with the token, and gives the reply.
func (p *page) does(method, path string, body, into any) (status int, text string) {
	p.t.Helper()
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			p.t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.address+path, &sent)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }() // only read
	content, err := io.ReadAll(reply.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(content, into)
	}
	if err != nil {
		p.t.Fatalf("%s: %v: %s", path, err, content)
	}
	return reply.StatusCode, string(content)
}

// shows waits until the page shows the question of a run, and gives its id.
func (p *page) shows(run string) string {
	p.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var open []struct{ ID, Run string }
		p.does("GET", "/api/questions", nil, &open)
		for _, q := range open {
			if q.Run == run {
				return q.ID
			}
		}
	}
	p.t.Fatalf("the question of %s is not shown", run)
	return ""
}

// past waits until the page shows a run among those that have ended, and gives its agent.
func (p *page) past(run string) string {
	p.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var runs []struct {
			ID     string
			Agents []struct{ ID string }
		}
		p.does("GET", "/api/runs?ended=1", nil, &runs)
		for _, r := range runs {
			if r.ID == run && len(r.Agents) == 1 {
				return r.Agents[0].ID
			}
		}
	}
	p.t.Fatalf("%s is not shown among the past", run)
	return ""
}

func value(text string) any { return map[string]string{"value": text} }

func TestQuestionsAreAnsweredOnThePageOfAFleet(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.serves()
	s.worker("one")
	for name, flags := range map[string][]string{"held": {"--hold", "forever"}, "parked": {"--hold", "0"}} {
		run := s.must(append([]string{"run", "--demo", "ask", "--lease", "3s", "--name", name}, flags...)...)
		q := p.shows(run)
		if name == "parked" {
			s.until(run, "parked", listed.parked)
		}
		var answered struct {
			State, Answer string
			By            string `json:"answered_by"`
		}
		if status, text := p.does("POST", "/api/questions/"+q+"/answer", value("JWT"), &answered); status != 200 ||
			answered.State != "answered" || answered.Answer != "JWT" || !strings.Contains(answered.By, "a person by the API") {
			t.Errorf("%s: an answer gets %d: %s", name, status, text)
		}
		if status, text := p.does("POST", "/api/questions/"+q+"/answer", value("Sessions"), &answered); status != 409 ||
			answered.Answer != "JWT" || !strings.Contains(answered.By, "a person by the API") {
			t.Errorf("%s: a second answer gets %d: %s", name, status, text)
		}
		if code, _, said := s.says("answer", q, "Sessions"); code != 1 || !strings.Contains(said, "a person by the API") {
			t.Errorf("%s: who is late at the command line gets %d: %s", name, code, said)
		}
		s.succeeds(run)
		if shown := s.must("show", run); !strings.Contains(shown, "JWT") {
			t.Errorf("%s: what was answered is not what it has: %s", name, shown)
		}
	}

	// Who is late on the page is told who was first, whether or not the page has seen it.
	run := s.asking()
	q := p.shows(run)
	s.must("answer", q, "JWT")
	var refused struct {
		Error, Answer string
		By            string `json:"answered_by"`
	}
	if status, text := p.does("POST", "/api/questions/"+q+"/answer", value("Sessions"), &refused); status != 409 ||
		refused.Answer != "JWT" || refused.By == "" || strings.Contains(refused.Error, "--change") {
		t.Errorf("who is late on the page gets %d: %s", status, text)
	}
	s.succeeds(run)
	agent := p.past(run)

	stopped := s.asking()
	p.shows(stopped)
	if status, text := p.does("POST", "/api/runs/"+stopped+"/stop", nil, nil); status != 200 {
		t.Errorf("a stop gets %d: %s", status, text)
	}
	s.ends(stopped, 5)
	var log struct{ Lines []struct{ Said []string } }
	p.does("GET", "/api/agents/"+agent+"/log", nil, &log)
	for _, path := range []string{"/", "/runs", "/runs/" + run, "/agents/" + agent, "/questions/" + q} {
		if status, text := p.does("GET", path, nil, nil); status != 200 {
			t.Errorf("%s gets %d: %s", path, status, text)
		}
	}
	if len(log.Lines) == 0 || !strings.Contains(log.Lines[0].Said[0], "I look at what there is first.") {
		t.Errorf("the log is %+v", log)
	}
	p.process.signal(syscall.SIGTERM)
	<-p.process.done
	if again := s.serves(); again.token != p.token {
		t.Error("the token is another the next time")
	}
}

// A seat is a person at a terminal of 100 by 30 that one command has to itself.
type seat struct {
	t    *testing.T
	tty  io.Writer
	said *machine.Output
	read int
	done chan struct{}
}

func (s *site) sits(args ...string) *seat {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(s.programs, "claude-supervise"), append([]string{"fleet"}, args...)...)
	cmd.Env = append(s.env(s.home), "TERM=xterm-256color", "NO_COLOR=1")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	sits := &seat{t: s.t, tty: tty, said: &machine.Output{}, done: make(chan struct{})}
	go func() {
		_, _ = io.Copy(sits.said, tty) // until the command has ended
		_ = cmd.Wait()
		close(sits.done)
	}()
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill() // or it has ended
		<-sits.done
		_ = tty.Close()
	})
	return sits
}

// sees waits until the terminal shows a text after what was seen before.
func (s *seat) sees(text string) {
	s.t.Helper()
	for timeout := time.After(patience); ; {
		all := s.said.String()
		if at := strings.Index(all[s.read:], text); at >= 0 {
			s.read += at + len(text)
			return
		}
		select {
		case <-s.said.More():
		case <-s.done:
			s.t.Fatalf("it ended without showing %q: %q", text, all)
		case <-timeout:
			s.t.Fatalf("%q is not shown: %q", text, all[s.read:])
		}
	}
}

func (s *seat) types(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, keys); err != nil {
		s.t.Fatal(err)
	}
}

func TestTheBoardOfAFleetAnswersAndShowsWhoDid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one")
	run := s.asking()
	s.asks(run, "one")
	b := s.sits("board")
	b.sees("claude-supervise fleet · 1 question · 1 run")
	b.sees("Which way of login")
	b.types("a")
	b.sees("Enter choose") // the grace is over
	b.types("2")
	b.sees("❯ 2) Sessions")
	b.types("\r")
	b.sees("0 questions")
	s.succeeds(run)
	if shown := s.must("show", run); !strings.Contains(shown, "Sessions") {
		t.Errorf("what was answered is not what it has: %s", shown)
	}

	second := s.must("run", "--demo", "ask", "--lease", "3s", "--hold", "0")
	s.until(second, "parked", listed.parked)
	b.sees("1 question · 1 run")
	b.types("a")
	b.sees("Enter choose")
	s.must("answer", s.until(second, "asking", func(l listed) bool { return len(l.Questions) == 1 }).Questions[0].ID, "JWT")
	b.sees("was answered by")
	b.sees("Keys count again") // what is typed on at a form that is gone is no command
	b.sees("q quit")
	s.succeeds(second)

	third := s.asking()
	s.asks(third, "one")
	b.sees("1 question · 1 run")
	b.types("/")
	b.sees("filter:")
	b.types(third)
	b.sees("filter: " + third)
	b.types("\r")
	b.sees("q quit")
	b.types("s")
	b.sees("what it started?")
	b.types("y")
	s.ends(third, 5)
	b.sees("0 questions")
	b.types("R")
	b.sees("Try again what has failed")
	b.types("y")
	b.sees("nothing in " + third + " has failed")
	b.types("r")
	b.sees("is submitted again")
	// Its question went with the stop, and the scripted agent knows no more to say.
	s.until(third, "resumed", func(l listed) bool {
		return l.Epoch == 2 && l.Status == "unreported" && strings.Contains(strings.Join(l.Notes, "\n"), "it is resumed by")
	})
	b.types("q")
	<-b.done
}

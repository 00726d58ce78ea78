package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"claude-supervise/supervisor/view"
)

// An event is one that a server has sent.
type event struct {
	id, name string
	data     []byte
}

// listen returns the events of a stream, until stop is called.
func listen(t testing.TB, server *httptest.Server, path, last string) (events <-chan event, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	reply, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if reply.StatusCode != http.StatusOK {
		t.Fatalf("%s gets %d", path, reply.StatusCode)
	}
	c := make(chan event, 10000)
	var done sync.WaitGroup
	done.Go(func() {
		defer close(c)
		defer func() { _ = reply.Body.Close() }()
		lines := bufio.NewReader(reply.Body)
		var e event
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			line = strings.TrimSuffix(line, "\n")
			name, value, _ := strings.Cut(line, ": ")
			switch {
			case name == "id":
				e.id = value
			case name == "event":
				e.name = value
			case name == "data":
				e.data = []byte(value)
			case line == "" && e.name != "":
				c <- e
				e = event{}
			}
		}
	})
	stop = func() { cancel(); done.Wait() }
	t.Cleanup(stop)
	return c, stop
}

// picture is what a reader of events knows: the state of each question.
type picture map[string]string

func (p picture) take(t testing.TB, e event) {
	t.Helper()
	var q view.QuestionView
	switch e.name {
	case "state":
		clear(p)
		var all struct{ Questions []view.QuestionView }
		if err := json.Unmarshal(e.data, &all); err != nil {
			t.Fatal(err)
		}
		for _, q := range all.Questions {
			p[q.ID] = string(q.State)
		}
	case "question":
		if err := json.Unmarshal(e.data, &q); err != nil {
			t.Fatal(err)
		}
		if p[q.ID] == string(q.State) {
			t.Errorf("%s is told as %s twice", q.ID, q.State)
		}
		p[q.ID] = string(q.State)
	}
}

func TestNothingIsLostOrDoubledOverReconnects(t *testing.T) {
	state := newState(0)
	server := serving(t, state)
	seen, last := picture{}, ""
	const questions = 60
	steps := make(chan struct{}, 5) // changes for each time that the reader comes, some of them once it has gone
	var asking sync.WaitGroup
	asking.Go(func() {
		for i := range questions {
			id := fmt.Sprintf("q-%06d", i)
			<-steps
			state.do(func() { state.asked = append(state.asked, question(id)) })
			<-steps
			state.do(func() { state.answer(id, "x") })
		}
		state.do(func() { state.asked = append(state.asked, question("q-last")) })
	})
	reconnects := 0
	for ; seen["q-last"] == ""; reconnects++ {
		events, stop := listen(t, server, "/api/events", last)
		for range cap(steps) - len(steps) {
			steps <- struct{}{}
		}
		for range 3 { // events, then the reader goes
			e := <-events
			seen.take(t, e)
			if last = e.id; seen["q-last"] != "" {
				break
			}
		}
		stop()
	}
	if reconnects < 20 {
		t.Errorf("there were only %d reconnects", reconnects)
	}
	asking.Wait()
	for id, state := range seen {
		if id != "q-last" && state != "answered" {
			t.Errorf("%s is known as %s at the end", id, state)
		}
	}
}

// A reader whose connection is cut at any byte, again and again, gets each change once, in order: their numbers have no
// gap.
func TestConnectionsThatAreCutAnywhereLoseNothing(t *testing.T) {
	state := newState(1)
	server := serving(t, state)
	numberOf := func(id string) int64 {
		_, digits, _ := strings.Cut(id, "-")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", id, err)
		}
		return n
	}
	events, stop := listen(t, server, "/api/events", "")
	last := (<-events).id
	stop()
	const changes = 400
	var changing sync.WaitGroup
	changing.Go(func() {
		for i := range changes {
			state.do(func() { state.asked[0].Question = fmt.Sprint("version ", i, strings.Repeat(".", i%700)) })
		}
		state.do(func() { state.asked[0].Question = "the last" })
	})
	defer changing.Wait()
	chance := rand.New(rand.NewPCG(1, 1))
	cuts := 0
	for over := false; !over; cuts++ {
		r, err := http.NewRequest(http.MethodGet, server.URL+"/api/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Last-Event-ID", last)
		reply, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		for until := 1 + chance.IntN(4000); len(got) < until && !over; {
			part := make([]byte, min(until-len(got), 512))
			n, err := reply.Body.Read(part)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, part[:n]...)
			over = strings.Contains(string(got), `"the last"`) && strings.HasSuffix(string(got), "\n\n")
		}
		_ = reply.Body.Close()
		whole := strings.Split(string(got), "\n\n")
		for _, e := range whole[:len(whole)-1] { // a browser drops what has no end
			if strings.HasPrefix(e, ":") {
				continue
			}
			id, rest, _ := strings.Cut(strings.TrimPrefix(e, "id: "), "\n")
			if numberOf(id) != numberOf(last)+1 || strings.HasPrefix(rest, "event: state\n") {
				t.Fatalf("after %s comes %.80q", last, e)
			}
			last = id
		}
	}
	if cuts < 30 || numberOf(last) < changes {
		t.Errorf("there were %d cuts, and %s is the last", cuts, last)
	}
}

func TestAReaderWithTheIDOfAnotherServerGetsTheWhole(t *testing.T) {
	server := serving(t, newState(2))
	for _, last := range []string{"", "OTHER-3", "nonsense", "-1", "ERA-99999999999999999999"} {
		events, stop := listen(t, server, "/api/events", last)
		if e := <-events; e.name != "state" {
			t.Errorf("with %q the first event is %s", last, e.name)
		}
		stop()
	}
}

func TestASlowReaderIsDroppedAndMissesNothing(t *testing.T) {
	d := newDesk(nil, New(Config{Service: newState(0), Card: plainCard, Clean: func(s string) string { return s }}))
	d.take(view.Overview{At: time.Now()})
	slow, whole, _, at, _, err := d.join("")
	if err != nil || !whole {
		t.Fatal(whole, err)
	}
	quick, _, _, _, _, _ := d.join("")
	o := view.Overview{At: time.Now()}
	for i := range maxBehind + 1 {
		o.Questions = append(slices.Clone(o.Questions), question(fmt.Sprintf("q-%06d", i)))
		d.take(o)
		if i < maxBehind {
			<-quick.changes
		}
	}
	if n := len(slow.changes); n != maxBehind || d.readers[slow] {
		t.Errorf("the slow one has %d changes before it, and is kept: %v", n, d.readers[slow])
	}
	if !d.readers[quick] {
		t.Error("the quick one was dropped")
	}
	_, whole, _, _, missed, _ := d.join(at)
	if whole || len(missed) != maxBehind+1 {
		t.Errorf("back again, it gets %d changes, the whole: %v", len(missed), whole)
	}
}

func TestWhatIsKeptForReadersIsBounded(t *testing.T) {
	d := newDesk(nil, New(Config{Service: newState(0), Card: plainCard, Clean: func(s string) string { return s }}))
	d.take(view.Overview{At: time.Now()})
	for i := range 300 {
		q := question("q-000000")
		q.Context = strings.Repeat(fmt.Sprint(i), 50<<10)
		d.take(view.Overview{At: time.Now(), Questions: []view.QuestionView{q}})
	}
	if d.size > maxKeptSize || len(d.kept) == 0 {
		t.Errorf("%d changes of %d bytes are kept", len(d.kept), d.size)
	}
}

func TestAStateThatCannotBeReadIsSaidAndComesBack(t *testing.T) {
	state := newState(1)
	state.err = errors.New("state.db: damaged")
	server := serving(t, state)
	if reply, text := (call{method: "GET", path: "/"}).do(t, server); reply.StatusCode != 503 ||
		!strings.Contains(text, "state.db: damaged") {
		t.Errorf("it gets %d:\n%s", reply.StatusCode, text)
	}
	state.do(func() { state.err = nil })
	for {
		if reply, _ := (call{method: "GET", path: "/api/questions"}).do(t, server); reply.StatusCode == 200 {
			break
		}
	}
}

// While the database is gone, the pages keep what they show and say so; programs are refused.
func TestPagesKeepWhatTheyShowWhileTheDatabaseIsGone(t *testing.T) {
	state := newState(1)
	server := serving(t, state)
	before, _ := listen(t, server, "/live?run=r-aaaaaaaa", "")
	<-before
	state.do(func() { state.gone = errors.New("it is gone") })
	if e := <-before; e.name != "problems" || string(e.data) != `{"problems":["it is gone"]}` {
		t.Errorf("who looked before is told %s %s", e.name, e.data)
	}
	after, stop := listen(t, server, "/live?run=r-aaaaaaaa", "")
	if e := <-after; e.name != "state" || !strings.HasPrefix(string(e.data), `{"cards":null,"runs":null,`) ||
		!strings.Contains(string(e.data), "it is gone") {
		t.Errorf("who comes after is told %s %s", e.name, e.data)
	}
	stop()
	if reply, text := (call{method: "GET", path: "/"}).do(t, server); reply.StatusCode != 200 ||
		!strings.Contains(text, "q-000000") || !strings.Contains(text, "it is gone") {
		t.Errorf("the page is %d %s", reply.StatusCode, text)
	}
	for _, path := range []string{"/api/questions", "/api/runs"} {
		if reply, text := (call{method: "GET", path: path}).do(t, server); reply.StatusCode != 503 || !strings.Contains(text, "it is gone") {
			t.Errorf("%s is %d %s", path, reply.StatusCode, text)
		}
	}
	state.do(func() { state.gone = nil })
	if e := <-before; e.name != "problems" || string(e.data) != `{"problems":[]}` {
		t.Errorf("back again, it is told %s %s", e.name, e.data)
	}
}

// The figures of the page at scale: 100 readers, 1,000 open questions.
func TestManyReadersOfManyQuestions(t *testing.T) {
	state := newState(1000)
	server := serving(t, state)
	began := time.Now()
	if reply, _ := (call{method: "GET", path: "/"}).do(t, server); reply.StatusCode != 200 {
		t.Fatal(reply.Status)
	}
	cold := time.Since(began)
	began = time.Now()
	_, text := call{method: "GET", path: "/"}.do(t, server)
	t.Logf("the page: %v cold, %v then, %d KiB", cold, time.Since(began), len(text)>>10)
	const readers, answers = 100, 20
	var streams []<-chan event
	for range readers {
		events, _ := listen(t, server, "/live", "")
		if e := <-events; e.name != "state" {
			t.Fatalf("the first event is %s", e.name)
		}
		streams = append(streams, events)
	}
	var took []time.Duration
	for i := range answers {
		began := time.Now()
		reply, text := call{method: "POST", path: fmt.Sprintf("/api/questions/q-%06d/answer", i), body: `{"value": "x"}`}.
			do(t, server)
		if reply.StatusCode != 200 {
			t.Fatal(text)
		}
		for _, events := range streams {
			e := <-events
			var c cardChange
			if err := json.Unmarshal(e.data, &c); err != nil || c.Open || c.ID != fmt.Sprintf("q-%06d", i) || c.Count != 1000-i-1 {
				t.Fatalf("%s is told, %v", e.data, err)
			}
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	t.Logf("an answer is seen by %d: median %v, p99 %v, last %v", readers, took[len(took)/2], took[len(took)*99/100],
		took[len(took)-1])
}

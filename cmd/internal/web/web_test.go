package web

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

const token = "the-token"

// A fakeState is a Service without a database.
type fakeState struct {
	service.Service
	mu      sync.Mutex
	before  view.Overview
	runs    []view.RunView
	asked   []view.QuestionView
	given   map[string]service.Answer
	started map[string]service.Start // by key
	changed chan func()
	err     error // the state cannot be read
	gone    error // the database is not there any more
	told    time.Time
}

func newState(questions int) *fakeState {
	s := &fakeState{given: map[string]service.Answer{}, started: map[string]service.Start{}, changed: make(chan func()),
		runs: []view.RunView{{ID: "r-aaaaaaaa", Status: "parked", Reason: "waits", Cwd: "/home/me", Agents: []view.AgentView{
			{ID: "a-root", Who: "the task", Status: "parked"}, {ID: "a-child", Parent: "a-root", Who: "a child", Status: "parked"}}}}}
	for i := range questions {
		s.asked = append(s.asked, question(fmt.Sprintf("q-%06d", i)))
	}
	return s
}

func question(id string) view.QuestionView {
	return view.QuestionView{ID: id, Run: "r-aaaaaaaa", Agent: "a-root", Kind: "clarification", State: "open",
		Question: "Which of them, " + id + "?", AskedAt: time.Unix(1e9, 0)}
}

// do changes the state as a supervisor would, once the change before was looked at.
func (f *fakeState) do(change func()) {
	done := make(chan struct{})
	f.changed <- func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		change()
		close(done)
	}
	<-done
}

func (f *fakeState) Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error {
	select {
	case change := <-f.changed: // while the state could not be read
		change()
	default:
	}
	for {
		f.mu.Lock()
		o, err := view.Overview{At: time.Now(), Runs: slices.Clone(f.runs)}, f.err
		for _, q := range f.asked {
			if q.State == "open" {
				o.Questions = append(o.Questions, q)
			}
		}
		for _, q := range f.before.Questions {
			if at := slices.IndexFunc(f.asked, func(now view.QuestionView) bool { return now.ID == q.ID }); f.asked[at].State != "open" {
				o.Closed = append(o.Closed, f.asked[at])
			}
		}
		if o.Gone = f.gone; f.gone != nil {
			o.Problems = []string{f.gone.Error()}
		}
		f.before = o
		f.mu.Unlock()
		if err != nil {
			return err
		}
		if err := each(o); err != nil {
			return err
		}
		select {
		case change := <-f.changed:
			change()
		case <-look:
		case <-ctx.Done():
			return nil
		}
	}
}

func (f *fakeState) Past(context.Context, int, int) ([]view.RunView, error) { return nil, nil }

func (f *fakeState) Run(_ context.Context, id string) (view.RunView, error) {
	if id != f.runs[0].ID {
		return view.RunView{}, unknown(id)
	}
	return f.runs[0], nil
}

func (f *fakeState) Report(ctx context.Context, id string) (view.RunReport, error) {
	v, err := f.Run(ctx, id)
	f.mu.Lock()
	defer f.mu.Unlock()
	r := view.RunReport{Run: v, From: time.Unix(1e9, 0), To: time.Unix(1e9+60, 0)}
	for _, q := range f.asked {
		r.Asked = append(r.Asked, view.Decision{QuestionView: q})
	}
	return r, err
}

func (f *fakeState) Meanwhile(ctx context.Context) (view.Meanwhile, error) {
	run, err := f.Report(ctx, f.runs[0].ID)
	return view.Meanwhile{Record: view.Record{From: run.From, To: run.To, Runs: []view.RunReport{run}}}, err
}

func (f *fakeState) Told(_ context.Context, until time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = until
	return nil
}

func (f *fakeState) Question(_ context.Context, id string) (view.QuestionView, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at := slices.IndexFunc(f.asked, func(q view.QuestionView) bool { return q.ID == id }); at >= 0 {
		return f.asked[at], nil
	}
	return view.QuestionView{}, unknown(id)
}

func (f *fakeState) Log(_ context.Context, id string) (service.Log, error) {
	return nil, unknown(id)
}

func unknown(id string) error {
	return &service.Refusal{Reason: service.NotThere, Text: "no run, agent or question " + id}
}

func (f *fakeState) Answer(_ context.Context, id string, a service.Answer) (kept service.Kept, err error) {
	if _, err := f.Question(context.Background(), id); err != nil {
		return kept, err
	}
	if a.Typed != nil && *a.Typed == "bad" {
		return kept, service.Refused("bad is not one of the options")
	}
	f.do(func() {
		if before, taken := f.given[id]; taken {
			err = &client.TakenError{Question: id, By: before.By, Answer: "first"}
			return
		}
		f.given[id] = a
		f.answer(id, "first")
	})
	return kept, err
}

// answer answers a question; the lock is held.
func (f *fakeState) answer(id, value string) {
	for i := range f.asked {
		if f.asked[i].ID == id {
			f.asked[i].State, f.asked[i].Answer, f.asked[i].AnsweredBy = "answered", &value, "somebody"
		}
	}
}

func (f *fakeState) Stop(context.Context, string, string) (string, error) {
	return "is being stopped", nil
}
func (f *fakeState) ImageTypes() []string { return []string{"image/png"} }
func (f *fakeState) Image(_ context.Context, _, hash string) ([]byte, string, error) {
	if hash != "5e3d" {
		return nil, "", &service.Refusal{Reason: service.NotThere, Text: "the question has no such image"}
	}
	return []byte("a picture"), "image/png", nil
}
func (f *fakeState) Resume(context.Context, string) (string, error) { return "continues", nil }
func (f *fakeState) Say(context.Context, string, string, string) (string, error) {
	return "is read", nil
}

func (f *fakeState) Start(_ context.Context, s service.Start) (string, bool, error) {
	if s.Cwd != "/home/me/code" {
		return "", false, &service.Refusal{Reason: service.Elsewhere, Text: "not in " + s.Cwd, Command: "serve --folder", Field: "cwd"}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, there := f.started[s.Key]
	f.started[s.Key] = s
	return "r-aaaaaaaa", !there || s.Key == "", nil
}

// refusing refuses every answer.
type refusing struct{ *fakeState }

func (refusing) Answer(context.Context, string, service.Answer) (service.Kept, error) {
	return service.Kept{}, service.Refused("none of the options")
}

func plainCard(q view.QuestionView) Card {
	c := Card{ID: q.ID, Kind: string(q.Kind), State: string(q.State), Run: q.Run, Text: q.Question, Context: q.Context,
		OwnWords: true, Words: "Your answer", Images: true, AskedAt: q.AskedAt, By: q.AnsweredBy, Changeable: q.State == "answered"}
	for i, o := range q.Options {
		c.Options = append(c.Options, Option{Place: i, Label: o.Label, Description: o.Description, Preview: o.Preview})
	}
	if q.Answer != nil {
		c.Answer = *q.Answer
	}
	return c
}

func newServer(state service.Service) *Server {
	return New(Config{Token: token, Hosts: []string{"desk.example.org"}, Port: 7433, Folders: []string{"/home/me/code"}, Service: state,
		Program: "claude-supervise",
		Stops:   "Processes are ended.", Card: plainCard, Clean: func(text string) string { return text }})
}

// serving serves a state until the test ends.
func serving(t testing.TB, state service.Service) *httptest.Server {
	t.Helper()
	s := newServer(state)
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { s.Run(ctx) })
	server := httptest.NewServer(s)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close(); cancel(); done.Wait() })
	return server
}

// A call is a request, and what it should get.
type call struct {
	method, path, body string
	header             map[string]string
	host               string
	noToken, chunked   bool
	status             int
	says               string // in the reply
}

func (c call) do(t *testing.T, server *httptest.Server) (*http.Response, string) {
	t.Helper()
	var body io.Reader = strings.NewReader(c.body)
	if c.chunked { // its length is not said
		body = io.MultiReader(body)
	}
	r, err := http.NewRequest(c.method, server.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	if r.URL, err = url.Parse(server.URL + c.path); err != nil {
		t.Fatal(err)
	}
	if c.host != "" {
		r.Host = c.host
	}
	if !c.noToken {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	reply, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply, string(text)
}

// A program that has seen something saved asks for a list next, and nobody has told the page yet.
func TestAListOfTheAPIHasWhatWasSavedBefore(t *testing.T) {
	state := newState(1)
	server := serving(t, state)
	for n := range 20 {
		id := fmt.Sprintf("q-later%d", n)
		state.mu.Lock()
		state.asked = append(state.asked, question(id))
		state.runs = append(state.runs, view.RunView{ID: fmt.Sprintf("r-later%d", n), Status: "running"})
		state.mu.Unlock()
		for path, want := range map[string]string{"/api/questions": id, "/api/runs": state.runs[n+1].ID} {
			if reply, text := (call{method: "GET", path: path}).do(t, server); !strings.Contains(text, `"`+want+`"`) {
				t.Errorf("%s gets %s without %s: %s", path, reply.Status, want, text)
			}
		}
	}
}

func TestTheFirstAnswerStands(t *testing.T) {
	state := newState(1)
	server := serving(t, state)
	answer := call{method: "POST", path: "/api/questions/q-000000/answer", body: `{"value": "x"}`}
	if reply, text := answer.do(t, server); reply.StatusCode != 200 || !strings.Contains(text, `"state":"answered"`) {
		t.Fatalf("the first gets %d: %s", reply.StatusCode, text)
	}
	reply, text := answer.do(t, server)
	var p problem
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	if reply.StatusCode != http.StatusConflict || p.Answer == nil || *p.Answer != "first" || p.AnsweredBy == "" {
		t.Errorf("the second gets %d: %s", reply.StatusCode, text)
	}
	form := call{method: "POST", path: "/questions/q-000000", body: "words=x&do=answer",
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}
	if reply, text := form.do(t, server); reply.StatusCode != http.StatusConflict || !strings.Contains(text, "first") {
		t.Errorf("the form gets %d: %s", reply.StatusCode, text)
	}
	// Whoever has answered sees it answered, without script, too.
	if _, text := (call{method: "GET", path: "/"}).do(t, server); !strings.Contains(text, "No</span> open") {
		t.Errorf("it is still open:\n%s", text)
	}
}

func TestWhatAnAgentWroteIsText(t *testing.T) {
	state := newState(1)
	hostile := `</h3><script>alert(1)</script><img src=x onerror=alert(1)>"'` + "`{{.}}"
	state.asked[0].Question, state.asked[0].Context, state.asked[0].Header = hostile, hostile, hostile
	state.asked[0].Options = slices.Grow(state.asked[0].Options, 1)[:1]
	option := &state.asked[0].Options[0]
	option.Label, option.Description, option.Preview = "a", "b", hostile
	state.runs[0].Name, state.runs[0].Reason, state.runs[0].Cwd = hostile, hostile, hostile
	state.runs[0].Agents[0].Who, state.runs[0].Agents[0].Reason = hostile, hostile
	server := serving(t, state)
	for _, path := range []string{"/", "/questions/q-000000", "/runs/r-aaaaaaaa", "/?answered=%3Cscript%3E", "/%3Cscript%3E"} {
		_, text := call{method: "GET", path: path}.do(t, server)
		if strings.Contains(text, "<script>") || strings.Contains(text, "<img") {
			t.Errorf("%s has it as HTML:\n%s", path, text)
		}
		if path == "/" && !strings.Contains(text, `<span class="preview">&lt;/h3&gt;&lt;script&gt;`) {
			t.Errorf("the preview of an option is not shown:\n%s", text)
		}
	}
}

func TestWhatARunCostsIsSaidAsOnATerminal(t *testing.T) {
	for cost, want := range map[float64]string{0: "$0.00", 0.004: "<$0.01", 1204.5: "$1,204.50"} {
		state := newState(1)
		state.runs[0].CostUSD = cost
		_, text := call{method: "GET", path: "/"}.do(t, serving(t, state))
		if !strings.Contains(html.UnescapeString(text), want) {
			t.Errorf("of $%v the page has no %s:\n%s", cost, want, text)
		}
	}
}

func TestTheTimesInAReasonAreByThePersonsClock(t *testing.T) {
	state, at := newState(1), time.Date(2025, 1, 2, 15, 4, 5, 0, time.Local)
	stored := at.UTC().Format(time.RFC3339)
	state.runs[0].Reason = "a limit; resumes at " + stored
	state.runs[0].Agents[0].Reason = "the root's limit; resumes at " + stored
	state.runs[0].Agents[1].Reason = "the child's limit; resumes at " + stored
	server := serving(t, state)
	for path, reasons := range map[string][]string{
		"/":                {"a limit", "the root's limit", "the child's limit"},
		"/runs/r-aaaaaaaa": {"a limit", "the root's limit", "the child's limit"},
	} {
		_, text := call{method: "GET", path: path}.do(t, server)
		text = html.UnescapeString(text)
		for _, reason := range reasons {
			if !strings.Contains(text, reason+"; resumes at 2025-01-02 15:04") ||
				strings.Contains(text, reason+"; resumes at "+stored) {
				t.Errorf("%s does not tell %q by the clock:\n%s", path, reason, text)
			}
		}
	}
}

func TestAFormThatWasRefusedKeepsWhatWasTyped(t *testing.T) {
	state := newState(1)
	server := serving(t, refusing{state})
	reply, text := call{method: "POST", path: "/questions/q-000000", body: "words=my+long+words&do=answer",
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}.do(t, server)
	if reply.StatusCode != 422 || !strings.Contains(text, ">my long words</textarea>") ||
		!strings.Contains(text, `role="alert"`) || !strings.Contains(text, "aria-invalid") {
		t.Errorf("it gets %d:\n%s", reply.StatusCode, text)
	}
}

func TestARunIsStartedOnceForAKey(t *testing.T) {
	server := serving(t, newState(0))
	start := call{method: "POST", path: "/api/runs", body: `{"prompt": "x", "cwd": "/home/me/code"}`,
		header: map[string]string{"Idempotency-Key": "k"}}
	for _, want := range []int{201, 200, 200} {
		if reply, text := start.do(t, server); reply.StatusCode != want || !strings.Contains(text, `"id":"r-aaaaaaaa"`) {
			t.Errorf("it gets %d, want %d: %s", reply.StatusCode, want, text)
		}
	}
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	c := call{method: "POST", path: "/start", body: "prompt=x&folder=/home/me&below=code", header: form}
	if reply, _ := c.do(t, server); reply.StatusCode != 303 || reply.Header.Get("Location") != "/runs/r-aaaaaaaa" {
		t.Errorf("the form gets %d to %s", reply.StatusCode, reply.Header.Get("Location"))
	}
	c.body = "prompt=my+words&folder=/home/me/code&below=sub&task=t&name=n&key=k1"
	_, text := c.do(t, server)
	for _, want := range []string{"my words</textarea>", `value="sub"`, `value="t"`, `value="n"`, `value="k1"`, `role="alert"`,
		`id="below" name="below" aria-invalid`} {
		if !strings.Contains(text, want) {
			t.Errorf("refused, the form has no %s:\n%s", want, text)
		}
	}
}

func TestAnAnswerThatHasNotArrivedIsChangedOnItsCard(t *testing.T) {
	state := newState(1)
	state.answer("q-000000", "first")
	server := serving(t, state)
	if _, text := (call{method: "GET", path: "/questions/q-000000"}).do(t, server); !strings.Contains(text,
		`<input type="hidden" name="change" value="yes">`) || strings.Contains(text, "<details open>") {
		t.Errorf("its card is\n%s", text)
	}
	change := call{method: "POST", path: "/questions/q-000000", body: "words=second&do=answer&change=yes",
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}
	if reply, text := change.do(t, server); reply.StatusCode != 303 || !state.given["q-000000"].Change {
		t.Errorf("the change gets %d, leaves %+v\n%s", reply.StatusCode, state.given, text)
	}
	reply, text := change.do(t, serving(t, refusing{state}))
	if reply.StatusCode != 422 || !strings.Contains(text, "<details open>") || !strings.Contains(text, ">second</textarea>") ||
		strings.Count(text, `role="alert"`) != 1 {
		t.Errorf("refused, it gets %d:\n%s", reply.StatusCode, text)
	}
}

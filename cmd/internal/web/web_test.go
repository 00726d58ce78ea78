package web

import (
	"context"
	"encoding/json"
	"fmt"
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
	"claude-supervise/supervisor/view"
)

const token = "the-token"

// A fakeState is a Source, and Actions on it, without a database.
type fakeState struct {
	mu      sync.Mutex
	before  view.Overview
	runs    []view.RunView
	asked   []view.QuestionView
	given   map[string]Answer
	started map[string]Start // by key
	changed chan func()
	err     error // the state cannot be read
	gone    error // the database is not there any more
}

func newState(questions int) *fakeState {
	s := &fakeState{given: map[string]Answer{}, started: map[string]Start{}, changed: make(chan func()),
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

func (f *fakeState) Question(_ context.Context, id string) (view.QuestionView, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at := slices.IndexFunc(f.asked, func(q view.QuestionView) bool { return q.ID == id }); at >= 0 {
		return f.asked[at], nil
	}
	return view.QuestionView{}, unknown(id)
}

func (f *fakeState) Log(_ context.Context, id string) (view.Log, error) {
	return view.Log{}, unknown(id)
}

func unknown(id string) error {
	return &Refusal{Status: http.StatusNotFound, Text: "no run, agent or question " + id}
}

func (f *fakeState) Answer(_ context.Context, id string, a Answer) (string, error) {
	if _, err := f.Question(context.Background(), id); err != nil {
		return "", err
	}
	if a.Value != nil && *a.Value == "bad" {
		return "", &Refusal{Status: http.StatusUnprocessableEntity, Text: "bad is none of the options"}
	}
	var err error
	f.do(func() {
		if before, taken := f.given[id]; taken {
			err = &client.TakenError{Question: id, By: before.By, Answer: "first"}
			return
		}
		f.given[id] = a
		f.answer(id, "first")
	})
	return "", err
}

// answer answers a question; the lock is held.
func (f *fakeState) answer(id, value string) {
	for i := range f.asked {
		if f.asked[i].ID == id {
			f.asked[i].State, f.asked[i].Answer, f.asked[i].AnsweredBy = "answered", &value, "somebody"
		}
	}
}

func (f *fakeState) Stop(context.Context, string) (string, error)   { return "is being stopped", nil }
func (f *fakeState) Resume(context.Context, string) (string, error) { return "goes on", nil }
func (f *fakeState) Say(context.Context, string, string, string) (string, error) {
	return "is read", nil
}

func (f *fakeState) Start(_ context.Context, s Start) (string, bool, error) {
	if s.Cwd != "/home/me/code" {
		return "", false, &Refusal{Status: http.StatusForbidden, Text: "not in " + s.Cwd, Command: "serve --folder", Field: "cwd"}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, there := f.started[s.Key]
	f.started[s.Key] = s
	return "r-aaaaaaaa", !there || s.Key == "", nil
}

// refusing refuses every answer.
type refusing struct{ *fakeState }

func (refusing) Answer(context.Context, string, Answer) (string, error) {
	return "", &Refusal{Status: http.StatusUnprocessableEntity, Text: "none of the options"}
}

func plainCard(q view.QuestionView) Card {
	c := Card{ID: q.ID, Kind: string(q.Kind), State: string(q.State), Run: q.Run, Text: q.Question, Context: q.Context,
		OwnWords: true, Words: "Your answer", AskedAt: q.AskedAt, By: q.AnsweredBy, Changeable: q.State == "answered"}
	for i, o := range q.Options {
		c.Options = append(c.Options, Option{Place: i, Label: o.Label, Description: o.Description, Preview: o.Preview})
	}
	if q.Answer != nil {
		c.Answer = *q.Answer
	}
	return c
}

// serving serves a state until the test ends.
func serving(t testing.TB, state interface {
	Source
	Actions
}) *httptest.Server {
	t.Helper()
	s := New(Config{Token: token, Hosts: []string{"desk.example.org"}, Port: 7433, Folders: []string{"/home/me/code"}, Source: state, Actions: state,
		Stops: "Processes are ended.", Card: plainCard, Clean: func(text string) string { return text }})
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

func TestNobodyElseIsLetIn(t *testing.T) {
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	with := func(header map[string]string, more ...string) map[string]string {
		all := map[string]string{}
		for name, value := range header {
			all[name] = value
		}
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	answer := call{method: "POST", path: "/api/questions/q-000000/answer", body: `{"value": "x"}`}
	for name, c := range map[string]call{
		"no token, page":             {method: "GET", path: "/", noToken: true, status: 401, says: "claude-supervise serve"},
		"no token, API":              {method: "GET", path: "/api/questions", noToken: true, status: 401, says: `"error"`},
		"no token, events":           {method: "GET", path: "/api/events", noToken: true, status: 401},
		"no token, answer":           {method: answer.method, path: answer.path, body: answer.body, noToken: true, status: 401},
		"no token, form":             {method: "POST", path: "/questions/q-000000", body: "words=x", header: form, noToken: true, status: 401},
		"no token, stop":             {method: "POST", path: "/api/runs/r-aaaaaaaa/stop", noToken: true, status: 401},
		"no token, nothing there":    {method: "GET", path: "/nothing", noToken: true, status: 401},
		"another token":              {method: "GET", path: "/api/questions", header: map[string]string{"Authorization": "Bearer the-tokem"}, status: 401},
		"an empty token":             {method: "GET", path: "/api/questions", header: map[string]string{"Authorization": "Bearer "}, status: 401},
		"the token as a password":    {method: "GET", path: "/api/questions", header: map[string]string{"Authorization": "Basic " + token}, status: 401},
		"the token as the cookie":    {method: "GET", path: "/", header: map[string]string{"Cookie": "claude-supervise-7433=" + token}, noToken: true, status: 401},
		"the cookie of another port": {method: "GET", path: "/", header: map[string]string{"Cookie": "claude-supervise-1=" + cookieValue(token)}, noToken: true, status: 401},
		"the cookie as the token":    {method: "GET", path: "/api/questions", header: map[string]string{"Authorization": "Bearer " + cookieValue(token)}, status: 401},
		"the token in the API's URL": {method: "GET", path: "/api/questions?token=" + token, noToken: true, status: 401},
		"a token in a form's URL":    {method: "POST", path: "/questions/q-000000?token=" + token, body: "words=x", header: form, noToken: true, status: 401},
		"a wrong token in the URL":   {method: "GET", path: "/?token=x", noToken: true, status: 401},
		"a rebound name":             {method: "GET", path: "/", host: "evil.example", status: 421, says: "evil.example"},
		"a rebound name, API":        {method: "POST", path: answer.path, body: answer.body, host: "evil.example:7433", status: 421},
		"a name that begins alike":   {method: "GET", path: "/", host: "localhost.evil.example", status: 421},
		"another machine's address":  {method: "GET", path: "/", host: "10.0.0.1", status: 421},
		"any address":                {method: "GET", path: "/", host: "0.0.0.0", status: 421},
		"another origin":             {method: "POST", path: answer.path, body: answer.body, header: map[string]string{"Origin": "https://evil.example"}, status: 403},
		"another site":               {method: "POST", path: answer.path, body: answer.body, header: map[string]string{"Sec-Fetch-Site": "cross-site"}, status: 403},
		"another port of this host":  {method: "POST", path: "/questions/q-000000", body: "words=x", header: with(form, "Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"), status: 403},
		"a sandboxed page":           {method: "POST", path: answer.path, body: answer.body, header: map[string]string{"Origin": "null"}, status: 403},
		"a body of 2 MiB":            {method: "POST", path: answer.path, body: `{"value": "` + strings.Repeat("x", 2<<20) + `"}`, status: 413},
		"a body of unknown length":   {method: "POST", path: answer.path, body: `{"value": "` + strings.Repeat("x", 2<<20) + `"}`, chunked: true, status: 413},
		"a form of 2 MiB":            {method: "POST", path: "/questions/q-000000", body: "words=" + strings.Repeat("x", 2<<20), header: form, status: 413},
		"a file of ours":             {method: "GET", path: "/static/..%2ftemplates%2fpage.html", status: 404},
		"a file of the machine":      {method: "GET", path: "/static/%2e%2e%2f%2e%2e%2fetc%2fpasswd", status: 404},
		"another method":             {method: "DELETE", path: "/api/questions/q-000000", status: 405},
		"no such question":           {method: "POST", path: "/api/questions/q-none/answer", body: answer.body, status: 404},
		"no such form":               {method: "POST", path: "/questions/q-none", body: "words=x", header: form, status: 404},
		"no JSON":                    {method: "POST", path: answer.path, body: "value=x", status: 400},
		"more than the JSON":         {method: "POST", path: answer.path, body: answer.body + answer.body, status: 400},
		"a field that is none":       {method: "POST", path: answer.path, body: `{"vaule": "x"}`, status: 400, says: "vaule"},
		"two answers in one":         {method: "POST", path: answer.path, body: `{"value": "x", "skip": true}`, status: 422},
		"no answer":                  {method: "POST", path: answer.path, body: `{}`, status: 422},
		"no token, start":            {method: "POST", path: "/api/runs", body: `{"prompt": "x", "cwd": "/home/me/code"}`, noToken: true, status: 401},
		"a start by another origin":  {method: "POST", path: "/start", body: "prompt=x&folder=/home/me/code", header: with(form, "Origin", "https://evil.example"), status: 403},
		"a start elsewhere":          {method: "POST", path: "/api/runs", body: `{"prompt": "x", "cwd": "/etc"}`, status: 403, says: `"command":"serve --folder"`},
		"a start elsewhere, form":    {method: "POST", path: "/start", body: "prompt=x&folder=/home/me/code&below=../..", header: form, status: 403, says: "not in /home"},
		"a program in a start":       {method: "POST", path: "/api/runs", body: `{"prompt": "x", "cwd": "/home/me/code", "claude": "/tmp/x"}`, status: 400, says: "claude"},
		"what does not fit":          {method: "POST", path: answer.path, body: `{"value": "bad"}`, status: 422, says: "none of the options"},
	} {
		t.Run(name, func(t *testing.T) {
			state := newState(1)
			reply, text := c.do(t, serving(t, state))
			if reply.StatusCode != c.status || !strings.Contains(text, c.says) {
				t.Errorf("it gets %d, want %d:\n%s", reply.StatusCode, c.status, text)
			}
			if len(state.given) > 0 || len(state.started) > 0 {
				t.Errorf("it was answered, %v, or started, %v", state.given, state.started)
			}
			if strings.Contains(text+fmt.Sprint(reply.Header), token) {
				t.Errorf("the token is in the reply:\n%v\n%s", reply.Header, text)
			}
			for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'",
				"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"} {
				if !strings.Contains(reply.Header.Get(name), want) {
					t.Errorf("%s is %q", name, reply.Header.Get(name))
				}
			}
		})
	}
}

func TestThePersonIsLetIn(t *testing.T) {
	server := serving(t, newState(1))
	for name, c := range map[string]call{
		"the token":             {method: "GET", path: "/", status: 200},
		"the cookie":            {method: "GET", path: "/", header: map[string]string{"Cookie": "claude-supervise-7433=" + cookieValue(token)}, noToken: true, status: 200},
		"localhost":             {method: "GET", path: "/", host: "localhost:7433", status: 200},
		"IPv6":                  {method: "GET", path: "/", host: "[::1]:7433", status: 200},
		"a name of --host":      {method: "GET", path: "/", host: "Desk.Example.ORG", status: 200},
		"the style, unasked":    {method: "GET", path: "/static/page.css", noToken: true, status: 200},
		"the manifest, unasked": {method: "GET", path: "/manifest.webmanifest", noToken: true, status: 200},
		"a tap in a notice":     {method: "GET", path: "/questions/q-000000", header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, status: 200},
	} {
		if reply, text := c.do(t, server); reply.StatusCode != c.status {
			t.Errorf("%s gets %d:\n%s", name, reply.StatusCode, text)
		}
	}
}

func TestTheTokenLeavesTheAddressForACookie(t *testing.T) {
	server := serving(t, newState(1))
	for path, want := range map[string]string{
		"/?token=" + token:                   "/",
		"/questions/q-1?a=b&token=" + token:  "/questions/q-1?a=b",
		"//evil.example/?token=" + token:     "/evil.example/",
		"/%5Cevil.example/?token=" + token:   "/%5Cevil.example/",
		"/%2F%2Fevil.example?token=" + token: "/%2F%2Fevil.example",
	} {
		reply, _ := call{method: "GET", path: path, noToken: true}.do(t, server)
		cookies := reply.Cookies()
		if reply.StatusCode != http.StatusSeeOther || reply.Header.Get("Location") != want || len(cookies) != 1 {
			t.Errorf("%s gets %d to %q, want %q", path, reply.StatusCode, reply.Header.Get("Location"), want)
			continue
		}
		if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure || c.Value == token {
			t.Errorf("the cookie is %v", c)
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

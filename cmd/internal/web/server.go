// Package web is the page and the API that `serve` serves: what waits for a person, the tree of runs, an agent's log,
// and the forms that answer. It reads through supervisor/view; what a person does there is done by [Actions], the same
// functions that the commands call, so an answer goes into the same inbox and the first one stands, wherever it came
// from. Any program that has these can serve the page.
//
//	browser ──GET──▶ walls ──▶ page, api ──▶ desk (what view tells of, once for all readers)
//	        ◀─SSE── stream ◀── desk
//	        ──POST─▶ walls ──▶ forms, api ──▶ Actions ──▶ the inbox
//
// Everything but the style sheet, the script and the icons needs the token (walls.go). The page works without script;
// page.js makes it live. What agents wrote is text in all of it: the draw files have no other way to write it
// (package markup), and the program's own Card and Clean have taken out, or made visible, what would not be seen.
package web

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"time"

	"claude-supervise/supervisor/view"
)

// A Config is what a server needs. All of it must be set but Hosts, and what the page is not to have.
type Config struct {
	Token   string   // who has it may do all that the page can
	Hosts   []string // names that it may be reached by, beside those of loopback
	Secure  bool     // it is reached over TLS
	Port    int      // that it listens on
	Folders []string // that runs may be started in; none: the page has no form for it
	// Program is how a person calls the program whose commands the texts name, such as `ps`.
	Program string
	Source  Source
	Actions Actions
	Stops   string                       // what a stop does, in the words of the command
	Card    func(view.QuestionView) Card // a question as a person may see it
	Clean   func(string) string          // what an agent said, without what a person would not see
}

// A Source is where the page reads.
type Source interface {
	// Watch is view.Reader.WatchOverview.
	Watch(ctx context.Context, look <-chan struct{}, each func(view.Overview) error) error
	// Past gives runs that have ended, the latest first: at most most of them, after the first skip.
	Past(ctx context.Context, skip, most int) ([]view.RunView, error)
	// Run gives the run that an id or its start names, or the run of the agent that it names.
	Run(ctx context.Context, id string) (view.RunView, error)
	// Question gives the question that an id or its start names.
	Question(ctx context.Context, id string) (view.QuestionView, error)
	// Log gives the log of the agent that an id or its start names.
	Log(ctx context.Context, id string) (Log, error)
}

// A Log is what one agent has printed. Places in it grow with it, and what they count is its own matter: a page that is
// loaded again asks for what is behind its place.
type Log interface {
	Of() (run, agent string)
	// Recent gives the last things that the agent said, at most n, and the place behind them.
	Recent(ctx context.Context, n int) (said []string, place int64, err error)
	// Part gives the whole lines from a place on, about most bytes of them, and the place behind them. There are none at
	// the end of what was printed by now.
	Part(ctx context.Context, place int64, most int) (lines []LogLine, next int64, more bool, err error)
	// Follow gives what is said from a place on, line by line with the place behind each, and what is said then, until
	// each gives an error or ctx ends. A line that says nothing may be given.
	Follow(ctx context.Context, place int64, each func(said []string, place int64) error) error
}

// A LogLine is a line of a log: as it was printed, which may be no JSON where a crash has cut it, and what it says.
type LogLine struct {
	Line []byte
	Said []string
}

// Actions are what a person can do on the page. What is nil the page does not have, nor the API. An error that tells
// what to do instead is a *Refusal.
type Actions struct {
	// Answer leaves an answer in the inbox. What it returns says what is to be known beside that, for people; "" for
	// nothing. *client.TakenError if another answer came first. It must be set, and so must Stop.
	Answer func(ctx context.Context, id string, a Answer) (note string, err error)
	// Stop stops a run or an agent, Resume goes on with a run, and Say leaves a message for an agent. They return what
	// becomes of it, for people.
	Stop   func(ctx context.Context, id string) (becomes string, err error)
	Resume func(ctx context.Context, run string) (becomes string, err error)
	Say    func(ctx context.Context, agent, text, by string) (becomes string, err error)
	// Start starts a run; made is false where one was started with this key before.
	Start func(ctx context.Context, s Start) (run string, made bool, err error)
	// Report gives what happened in the run that an id or its start names.
	Report func(ctx context.Context, id string) (view.RunReport, error)
	// Press answers as the button of a capability does, the one at a place from 0, and gives the id of the question. A
	// *Refusal of 404 if it is none.
	Press func(ctx context.Context, capability string, option int) (question string, err error)
}

// A Start is what a run is to be started with: either a prompt or a task file.
type Start struct {
	Prompt string `json:"prompt"`
	Task   string `json:"task"` // the path of the file, in Cwd if it does not begin at the root
	Cwd    string `json:"cwd"`
	Name   string `json:"name"`
	Key    string `json:"-"` // the same for a call that is made again; "": none is
}

// An Answer is what came by a form or by the API: exactly one of Value, Values, Form, Decline and Skip.
type Answer struct {
	Value   *string  // as it would be typed
	Values  []string // several options, as each would be typed
	Form    *Form
	Decline *string // why there will be no answer
	Skip    bool
	Change  bool // it takes the place of the answer given before
	AllLike bool // it is that of every question of the run that is alike
	By      string
}

// A Form is a filled in form: options by their places from 0, and words. For a denied delegation, Instead is what the
// agent is to do in its place.
type Form struct {
	Places         []int
	Words, Instead string
}

// A Refusal is why nothing was done, for the person who asked for it.
type Refusal struct {
	Status  int    // of HTTP
	Text    string // what happened, and what is possible
	Command string // what does it on a terminal; "" where nothing has to be done there
	Field   string // of a Start, by its name in JSON, that is to be filled in otherwise; "": of none alone
}

// Refused is a Refusal of what was sent, which cannot be done as it is.
func Refused(format string, args ...any) error {
	return &Refusal{Status: http.StatusUnprocessableEntity, Text: fmt.Sprintf(format, args...)}
}

// Error is the text.
func (r *Refusal) Error() string { return r.Text }

// A Card is a question as the page shows it. Its texts are safe to show.
type Card struct {
	ID, Kind, State   string
	Run, Agent, Asker string // Agent in a few words
	AgentID           string
	Header, Text      string
	Context           string
	Evidence          bool   // the texts are what a person permits: shown as they are, in full
	Task              string // of a delegation
	Options           []Option
	MultiSelect       bool
	OwnWords          bool   // it takes words, beside the options or alone
	Rule              string // what these have to be; "" for anything
	Words             string // what the words are for
	Instead           bool   // it takes what is to be done instead
	Skippable         bool
	Declinable        bool
	Sharable          bool // its answer can be that of all that are alike
	Terminal          bool // it is answered on a terminal only,
	Command           string
	Elsewhere         string // or neither here nor there: where it is
	Urgent            bool
	AskedAt           time.Time
	Answer, By        string // of one that is closed
	Skipped, Declined bool
	Changeable        bool // it is closed, and can be answered otherwise
}

// An Option is one of a card's. One that is Blank cannot be told from nothing, and is not offered.
type Option struct {
	Place                       int
	Label, Description, Preview string
	Blank                       bool
}

// Open reports whether the card waits for an answer.
func (c Card) Open() bool { return c.State == "open" }

//go:embed static
var staticFiles embed.FS

// A Server is the page and the API. Serve serves it; for another server it is a handler, and Run has to run meanwhile.
type Server struct {
	config Config
	cookie string // its name
	desk   *desk
	draws  drawer
	triers triers
	logs   chan struct{} // one value for each log that is followed

	drawnPage, drawnLive, drawnEvents drawing // of the first page, and what begins a reader's stream

	routes      *http.ServeMux
	connections *connections
}

// New makes a server of a config.
func New(c Config) *Server {
	s := &Server{config: c, cookie: cookieName(c.Port), logs: make(chan struct{}, maxLogs),
		connections: newConnections(connectionsHere())}
	s.draws = drawer{&s.config}
	s.desk = newDesk(c.Source, s)
	s.routes = s.routed()
	return s
}

// Run follows the state until ctx ends.
func (s *Server) Run(ctx context.Context) { s.desk.run(ctx) }

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.walled(s.routes).ServeHTTP(w, r)
}

func (s *Server) routed() *http.ServeMux {
	mux := http.NewServeMux()
	routes := map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /api/runs":                   s.apiRuns,
		"POST /api/runs/{id}/stop":        s.apiStop,
		"GET /api/questions":              s.apiQuestions,
		"GET /api/questions/{id}":         s.apiQuestion,
		"POST /api/questions/{id}/answer": s.apiAnswer,
		"GET /api/agents/{id}/log":        s.apiLog,
		"GET /api/events":                 s.apiEvents,
		"/api/":                           s.nothingHere,
		"GET /{$}":                        s.pageDesk,
		"GET /live":                       s.pageLive,
		"GET /questions/{id}":             s.pageQuestion,
		"POST /questions/{id}":            s.formAnswer,
		"GET /runs":                       s.pagePast,
		"GET /runs/{id}":                  s.pageRun,
		"POST /runs/{id}/stop":            s.formStop,
		"GET /agents/{id}":                s.pageAgent,
		"GET /agents/{id}/live":           s.pageLogLive,
		"GET /static/{name}":              s.static,
		"GET /icon.svg":                   s.icon,
		"GET /manifest.webmanifest":       s.manifest,
		"/":                               s.nothingHere,
	}
	a := s.config.Actions
	if a.Start != nil {
		routes["GET /start"], routes["POST /start"], routes["POST /api/runs"] = s.pageStart, s.formStart, s.apiStart
	}
	if a.Resume != nil {
		routes["POST /runs/{id}/resume"], routes["POST /api/runs/{id}/resume"] = s.formResume, s.apiResume
	}
	if a.Say != nil {
		routes["POST /agents/{id}/message"], routes["POST /api/agents/{id}/message"] = s.formMessage, s.apiMessage
	}
	if a.Report != nil {
		routes["GET /runs/{id}/report"] = s.pageReport
	}
	if a.Press != nil {
		routes["POST "+pressPath+"{capability}"] = s.apiPress
	}
	for pattern, handle := range routes {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := handle(w, r); err != nil {
				s.fail(w, r, err)
			}
		})
	}
	return mux
}

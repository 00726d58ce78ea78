// Package web is the page and the API that `serve` serves: what waits for a person, the tree of runs, an agent's log,
// and the forms that answer. What is seen and done there is that of a [service.Service], as everywhere else: an answer
// goes into the same inbox and the first one stands, wherever it came from. Any program that has one can serve the
// page.
//
//	browser ──GET──▶ walls ──▶ page, api ──▶ desk (what the service tells of, once for all readers)
//	        ◀─SSE── stream ◀── desk
//	        ──POST─▶ walls ──▶ forms, api ──▶ service ──▶ the inbox
//
// Everything but the style sheet, the script and the icons needs the token (walls.go). The page works without script;
// page.js makes it live. What agents wrote is text in all of it: the draw files have no other way to write it
// (package markup), and the program's own Card and Clean have taken out, or made visible, what would not be seen.
package web

import (
	"context"
	"embed"
	"net/http"
	"time"

	"claude-supervise/supervisor/service"
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
	Service service.Service
	Stops   string                       // what a stop does, in the words of the command
	Card    func(view.QuestionView) Card // a question as a person may see it
	Clean   func(string) string          // what an agent said, without what a person would not see
	Away    func(view.Away) string       // what has happened while the person did not look; "": nothing
}

// A refusal is why the page itself has done nothing, for the person who asked for it.
type refusal struct {
	Status int    // of HTTP
	Text   string // what happened, and what is possible
	Field  string // that has to be filled in otherwise; "": none alone
}

// Error is the text.
func (r *refusal) Error() string { return r.Text }

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
	Buttons           bool   // each option is a button: one press answers
	OwnWords          bool   // it takes words, beside the options or alone
	Rule              string // what these have to be; "" for anything
	Words             string // what the words are for
	Instead           bool   // it takes what is to be done instead
	Skippable         bool
	Shows             []Picture
	Images            bool // its answer may have some
	Assumes           bool // what its agent assumed can be accepted
	Declinable        bool
	Sharable          bool // its answer can be that of all that are alike
	Terminal          bool // it is answered on a terminal only,
	Command           string
	Elsewhere         string // or neither here nor there: where it is
	Urgent            bool
	Secret            bool // it looks like one for a secret: what is typed is kept nowhere
	AskedAt           time.Time
	Answer, By        string // of one that is closed
	With              []Picture
	Skipped, Declined bool
	Changeable        bool // it is closed, and can be answered otherwise
	Again             bool // it is closed for good, and can be answered otherwise in a new run
}

// A Picture is an image that a question shows, or that its answer has.
type Picture struct {
	Hash, Name    string
	Words         string // what it is, with its name
	Width, Height int    // pixels
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
	s.desk = newDesk(c.Service, s)
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
	if service.Can[service.Starter](s.config.Service) {
		routes["GET /start"], routes["POST /start"], routes["POST /api/runs"] = s.pageStart, s.formStart, s.apiStart
	}
	if service.Can[service.Resumer](s.config.Service) {
		routes["POST /runs/{id}/resume"], routes["POST /api/runs/{id}/resume"] = s.formResume, s.apiResume
	}
	if service.Can[service.Looker](s.config.Service) {
		routes["POST /look"] = s.formLook
	}
	if service.Can[service.Retrier](s.config.Service) {
		routes["POST /runs/{id}/retry"] = s.formRetry
	}
	if service.Can[service.Pruner](s.config.Service) {
		routes["POST /runs/{id}/prune"] = s.formPrune
	}
	if service.Can[service.Differ](s.config.Service) {
		routes["GET /runs/{id}/change"] = s.pageChange
	}
	if service.Can[service.Forker](s.config.Service) {
		routes["POST /questions/{id}/again"], routes["POST /runs/{id}/keep"] = s.formAgain, s.formKeep
		routes["GET /runs/{id}/compare"] = s.pageCompare
	}
	if service.Can[service.Reminder](s.config.Service) {
		routes["GET /questions/{id}/before"], routes["GET /api/questions/{id}/precedents"] = s.partBefore, s.apiPrecedents
	}
	if service.Can[service.Messenger](s.config.Service) {
		routes["POST /agents/{id}/message"], routes["POST /api/agents/{id}/message"] = s.formMessage, s.apiMessage
	}
	if service.Can[service.Imager](s.config.Service) {
		routes["GET /questions/{id}/image"] = s.image
	}
	if service.Can[service.Reporter](s.config.Service) {
		routes["GET /runs/{id}/report"] = s.pageReport
		routes["GET "+meanwhilePath], routes["POST "+meanwhilePath] = s.pageMeanwhile, s.formMeanwhile
	}
	if service.Can[service.Presser](s.config.Service) {
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

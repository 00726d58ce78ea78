package web

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"html/template"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"claude-supervise/supervisor/view"
)

// A frame is what every page has.
type frame struct {
	Title  string // "": that of the first page
	Count  int    // of open questions
	Live   string // where the page's changes are told; "": it has none
	Starts bool   // runs can be started here
	Place  string // the page's own address, where the menu has it

	Problems []string // with the state: what is shown may be old
}

// At are the attributes of the menu's link to an address.
func (f frame) At(address string) template.HTMLAttr {
	if f.Place != address {
		return ""
	}
	return ` aria-current="page"`
}

// countOnly tells the count of open questions.
const countOnly = "/live?count=only"

func (s *Server) frame(now view.Overview, title, live string) frame {
	return frame{Title: title, Count: len(now.Questions), Live: live, Starts: len(s.config.Folders) > 0,
		Problems: s.problems(now)}
}

// problems gives what is wrong with the state, for people. It is no null.
func (s *Server) problems(now view.Overview) []string {
	shown := []string{}
	for _, text := range now.Problems {
		shown = append(shown, s.config.Clean(text))
	}
	return shown
}

func (s *Server) html(name string, data any) template.HTML {
	var b bytes.Buffer
	if err := s.templates.ExecuteTemplate(&b, name, data); err != nil {
		panic(fmt.Sprintf("web: %s: %v", name, err)) // a bug: the templates are ours, and the buffer takes all
	}
	return template.HTML(b.String())
}

func (s *Server) page(w http.ResponseWriter, status int, name string, data any) error {
	return sendPage(w, status, []byte(s.html(name, data)))
}

func sendPage(w http.ResponseWriter, status int, text []byte) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // who has gone needs it no more
	return nil
}

// pageProblem shows what is wrong; to who has no token, where to write it.
func (s *Server) pageProblem(w http.ResponseWriter, status int, p problem) {
	enters := status == http.StatusUnauthorized
	title := http.StatusText(status)
	if enters {
		title = "Sign in"
	}
	_ = s.page(w, status, "problem", struct {
		frame
		problem
		Enters bool
	}{frame{Title: title}, p, enters})
}

// A folderPath is a path in two parts: where there is no room, the first one is cut.
type folderPath struct{ Whole, Above, Last string }

// folderOf gives the parts of a path; the person's home is ~.
func folderOf(path string) folderPath {
	p := folderPath{Whole: path}
	short := path
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		if below, in := strings.CutPrefix(path, home+"/"); in {
			short = "~/" + below
		}
	}
	last := strings.LastIndexByte(strings.TrimRight(short, "/"), '/')
	p.Above, p.Last = short[:max(last, 0)], short[max(last, 0):]
	return p
}

func version(v any) string {
	h := fnv.New64a()
	_, _ = h.Write(encoded(v)) // never fails
	return strconv.FormatUint(h.Sum64(), 36)
}

func (s *Server) funcs() template.FuncMap {
	return template.FuncMap{
		"clean": s.config.Clean,
		"line":  func(text string) string { return strings.Join(strings.Fields(s.config.Clean(text)), " ") },
		"path":  url.PathEscape,
		"why":   view.Because,
		"named": named,
		"when":  when,
		"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"money": func(usd float64) string { return fmt.Sprintf("$%.2f", usd) },
		"diff":  diffLines,

		"folder":  folderOf,
		"stops":   func() string { return s.config.Stops },
		"program": func() string { return s.config.Program },
		"resumes": func() bool { return s.config.Actions.Resume != nil },
		"says":    func() bool { return s.config.Actions.Say != nil },
		"reports": func() bool { return s.config.Actions.Report != nil },
	}
}

// when says a time by the clock of this machine.
func when(t time.Time) string {
	layout := "15:04, 2 Jan"
	if t = t.Local(); t.Year() != time.Now().Year() {
		layout += " 2006"
	}
	return t.Format(layout)
}

package web

import (
	"hash/fnv"
	"net/http"
	"os"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"claude-supervise/cmd/internal/markup"
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

// countOnly tells the count of open questions.
const countOnly = "/live?count=only"

func (s *Server) frame(now view.Overview, title, live string) frame {
	return frame{Title: title, Count: len(now.Questions), Live: live, Starts: len(s.config.Folders) > 0,
		Problems: s.problems(now)}
}

// problems returns what is wrong with the state, for people. It is no null.
func (s *Server) problems(now view.Overview) []string {
	shown := []string{}
	for _, text := range now.Problems {
		shown = append(shown, s.config.Clean(text))
	}
	return shown
}

// send sends a page, or a part of one.
func send(w http.ResponseWriter, status int, drawn g.Node) error {
	return sendText(w, status, []byte(markup.String(drawn)))
}

func sendText(w http.ResponseWriter, status int, text []byte) error {
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
	_ = send(w, status, s.draws.problem(frame{Title: title}, p, enters))
}

// A folderPath is a path in two parts: where there is no room, the first one is cut.
type folderPath struct{ Whole, Above, Last string }

// folderOf returns the parts of a path; the person's home is ~.
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

package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"claude-supervise/cmd/internal/report"
)

func (s *Server) static(w http.ResponseWriter, r *http.Request) error {
	text, err := staticFiles.ReadFile("static/" + r.PathValue("name"))
	if r.PathValue("name") == "report.css" {
		text, err = []byte(report.CSS), nil
	}
	if err != nil {
		return s.nothingHere(w, r)
	}
	kind := "text/css; charset=utf-8"
	if strings.HasSuffix(r.PathValue("name"), ".js") {
		kind = "text/javascript; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(text) // who has gone needs it no more
	return nil
}

// icon is a speech bubble with how many questions wait.
func (s *Server) icon(w http.ResponseWriter, r *http.Request) error {
	count := "?"
	if n, err := strconv.Atoi(r.URL.Query().Get("n")); err == nil && n > 0 {
		count = strconv.Itoa(min(n, 99))
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	_, _ = fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="512" height="512">`+
		`<path d="M8 8h48a6 6 0 0 1 6 6v28a6 6 0 0 1-6 6H30L16 60V48H8a6 6 0 0 1-6-6V14a6 6 0 0 1 6-6z" fill="#9a3412"/>`+
		`<text x="32" y="40" font-family="sans-serif" font-size="34" font-weight="bold" text-anchor="middle" fill="#fff">%s`+
		`</text></svg>`, count)
	return nil
}

// manifest makes the page one that a phone installs.
func (s *Server) manifest(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/manifest+json")
	_, _ = fmt.Fprintf(w, `{"name":%q,"short_name":"supervise","start_url":"/","display":"standalone",`+
		`"background_color":"#ffffff","theme_color":"#9a3412",`+
		`"icons":[{"src":"/icon.svg","sizes":"any","type":"image/svg+xml","purpose":"any"}]}`+"\n", s.config.Program)
	return nil
}

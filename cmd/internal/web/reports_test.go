package web

import (
	"strings"
	"testing"
)

func TestTheReportOfARunIsAPageAndAFragment(t *testing.T) {
	state := newState(1)
	run, hostile := state.runs[0].ID, `</div><script src="//evil.example"></script>`
	state.asked[0].Question = hostile
	server := serving(t, state)
	path := "/runs/" + run + "/report"

	reply, page := call{method: "GET", path: path}.do(t, server)
	if reply.StatusCode != 200 {
		t.Fatalf("the page: %s", reply.Status)
	}
	for _, want := range []string{`<div id="report">`, `data-live="/live?run=` + run + `"`, `href="/static/report.css"`,
		`id="` + state.asked[0].ID + `"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, hostile) || strings.Contains(page, "<style") || strings.Contains(page, " style=") {
		t.Error("the page has markup of an agent, or a style that its policy refuses")
	}

	reply, part := call{method: "GET", path: path, header: map[string]string{"X-Fragment": "1"}}.do(t, server)
	if reply.StatusCode != 200 || strings.Contains(part, "<main") || !strings.Contains(page, part) {
		t.Errorf("the fragment is not the report alone (%s)", reply.Status)
	}

	if reply, style := (call{method: "GET", path: "/static/report.css"}).do(t, server); reply.StatusCode != 200 ||
		!strings.HasPrefix(reply.Header.Get("Content-Type"), "text/css") || !strings.Contains(style, ".report") {
		t.Errorf("the style: %s %s", reply.Status, reply.Header.Get("Content-Type"))
	}
	if reply, _ := (call{method: "GET", path: "/runs/r-none/report"}).do(t, server); reply.StatusCode != 404 {
		t.Errorf("of no run: %s", reply.Status)
	}
	if reply, _ := (call{method: "GET", path: path, noToken: true}).do(t, server); reply.StatusCode != 401 {
		t.Errorf("without the token: %s", reply.Status)
	}
}

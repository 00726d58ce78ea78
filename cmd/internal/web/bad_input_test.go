package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// What is no request of ours is refused with a reason in plain words, without names of the program's source, and
// changes nothing.
func TestNonsenseIsRefusedInPlainWords(t *testing.T) {
	const answer, form = "/api/questions/q-000000/answer", "/questions/q-000000"
	urlencoded := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	typed := func(kind string) map[string]string { return map[string]string{"Content-Type": kind} }
	for name, c := range map[string]call{
		"a text":                {method: "POST", path: answer, body: `"x"`, status: 400, says: "it is a JSON string"},
		"a list":                {method: "POST", path: answer, body: `[]`, status: 400, says: "it is a JSON array"},
		"a number":              {method: "POST", path: answer, body: `12`, status: 400, says: "it is a JSON number"},
		"null":                  {method: "POST", path: answer, body: `null`, status: 422, says: "give one of"},
		"nothing":               {method: "POST", path: answer, status: 400, says: "there is none"},
		"half an object":        {method: "POST", path: answer, body: `{"value": "x"`, status: 400, says: "ends in the middle"},
		"a number for a text":   {method: "POST", path: answer, body: `{"value": 1}`, status: 400, says: "its value is a JSON number"},
		"a text for a list":     {method: "POST", path: answer, body: `{"values": "x"}`, status: 400, says: "its values is a JSON string"},
		"numbers in a list":     {method: "POST", path: answer, body: `{"values": [1]}`, status: 400, says: "its values is a JSON number"},
		"a text for yes or no":  {method: "POST", path: answer, body: `{"skip": "yes"}`, status: 400, says: "its skip is a JSON string"},
		"an object for a text":  {method: "POST", path: answer, body: `{"decline": {}}`, status: 400, says: "its decline is a JSON object"},
		"a deep nest":           {method: "POST", path: answer, body: strings.Repeat(`{"value":`, 100000), status: 400, says: "exceeded max depth"},
		"XML":                   {method: "POST", path: answer, body: "<value/>", header: typed("text/xml"), status: 400, says: "not the JSON object"},
		"no number of option":   {method: "POST", path: "/api/runs", body: `{"prompt": 3}`, status: 400, says: "its prompt is a JSON number"},
		"a message that is 3":   {method: "POST", path: "/api/agents/a-root/message", body: `{"text": 3}`, status: 400, says: "its text is a JSON number"},
		"a form of parts":       {method: "POST", path: form, body: "words=x", header: typed("multipart/form-data; boundary=x"), status: 400, says: "cannot be read"},
		"a form of parts again": {method: "POST", path: "/runs/r-aaaaaaaa/stop", body: "--x--", header: typed("multipart/form-data; boundary=x"), status: 415, says: "programs use /api/"},
		"JSON for a form":       {method: "POST", path: form, body: `{"value": "x"}`, header: typed("application/json"), status: 415},
		"a form of no kind":     {method: "POST", path: "/runs/r-aaaaaaaa/stop", body: "sure=yes", status: 415},
		"a form badly encoded":  {method: "POST", path: form, body: "words=%zz", header: urlencoded, status: 400, says: "%zz"},
		"an option by name":     {method: "POST", path: form, body: "option=x", header: urlencoded, status: 400, says: "not an option"},
		"a limit of words":      {method: "GET", path: "/api/runs?limit=many", status: 400, says: `not \"many\"`},
		"a negative offset":     {method: "GET", path: "/api/questions?offset=-1", status: 400, says: "takes a number"},
		"PUT":                   {method: "PUT", path: "/api/questions", status: 405, says: "takes GET, not PUT"},
		"DELETE of a run":       {method: "DELETE", path: "/api/runs", status: 405, says: "GET and POST"},
		"GET of an answer":      {method: "GET", path: answer, status: 405, says: "takes POST"},
		"POST to the page":      {method: "POST", path: "/", status: 405},
		"a method that is none": {method: "FOO", path: "/api/runs", status: 405},
		"TRACE":                 {method: "TRACE", path: "/", status: 405},
		"a path that is none":   {method: "POST", path: "/api/everything", status: 404, says: "there is no POST /api/everything"},
		"a zero byte":           {method: "GET", path: "/questions/%00", status: 404},
		"no UTF-8":              {method: "GET", path: "/questions/%ff%fe", status: 404},
		"a long path":           {method: "GET", path: "/questions/" + strings.Repeat("a", 10000), status: 404},
		"a path upwards":        {method: "GET", path: "/questions/..%2f..%2fetc%2fpasswd", status: 404},
		"a start of some ids":   {method: "GET", path: "/api/questions/q-%25", status: 404},
	} {
		t.Run(name, func(t *testing.T) {
			state := newState(1)
			reply, text := c.do(t, serving(t, state))
			if reply.StatusCode != c.status || !strings.Contains(text, c.says) {
				t.Errorf("it gets %d, want %d and %q:\n%.500s", reply.StatusCode, c.status, c.says, text)
			}
			for _, ours := range []string{"Go ", "struct", "[]string", "web.", "json:"} {
				if strings.Contains(text, ours) {
					t.Errorf("the reason names the source, %q:\n%.500s", ours, text)
				}
			}
			if (reply.StatusCode == 405) != (reply.Header.Get("Allow") != "") {
				t.Errorf("with %d, Allow is %q", reply.StatusCode, reply.Header.Get("Allow"))
			}
			if len(state.given)+len(state.started) > 0 {
				t.Errorf("it was answered, %v, or started, %v", state.given, state.started)
			}
		})
	}
}

// HEAD of a stream gets its header, and no stream.
func TestHeadOfAStreamEnds(t *testing.T) {
	server := serving(t, newState(1))
	for _, path := range []string{"/api/events", "/live", "/api/questions", "/"} {
		if reply, text := (call{method: "HEAD", path: path}).do(t, server); reply.StatusCode != 200 || text != "" {
			t.Errorf("%s gets %d %q", path, reply.StatusCode, text)
		}
	}
}

// A clock that jumps between what was saved and now changes nothing but the times that are shown.
func TestTimesFromBeforeAClockHasJumpedAreShown(t *testing.T) {
	state := newState(3)
	for i, at := range []time.Time{{}, time.Now().AddDate(80, 0, 0), time.Unix(0, 0)} {
		state.asked[i].AskedAt, state.runs[0].Since = at, at
	}
	server := serving(t, state)
	for _, path := range []string{"/", "/questions/q-000001", "/runs/r-aaaaaaaa", "/runs/r-aaaaaaaa/report", "/api/questions"} {
		if reply, text := (call{method: "GET", path: path}).do(t, server); reply.StatusCode != 200 {
			t.Errorf("%s gets %d:\n%.500s", path, reply.StatusCode, text)
		}
	}
	events, stop := listen(t, server, "/api/events", "")
	defer stop()
	<-events
	state.do(func() { state.asked[1].AskedAt = time.Now().AddDate(-80, 0, 0) })
	if e := <-events; e.name != "question" {
		t.Errorf("the jump is told as %s", e.name)
	}
}

// A body of 100 MiB is refused before it has come: by the length that is said, or once it is too long.
func TestALargeBodyIsRefusedBeforeItHasCome(t *testing.T) {
	server := serving(t, newState(1))
	for name, sent := range map[string]string{
		"its length said": "Content-Length: 104857600\r\n\r\n{",
		"in pieces": "Transfer-Encoding: chunked\r\n\r\n6400000\r\n" + `{"value": "` +
			strings.Repeat("x", maxBody),
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, "POST /api/questions/q-000000/answer HTTP/1.1\r\nHost: localhost\r\n"+
			"Authorization: Bearer "+token+"\r\n"+sent)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || reply.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s, it gets %v (%v)", name, reply, err)
		}
		_ = conn.Close()
	}
}

// A question of 100 KB with 500 options is shown whole, and is text.
func TestALargeQuestionIsShownWhole(t *testing.T) {
	state := newState(1)
	state.asked[0].Question = strings.Repeat("<b>\u202e", 100<<10/6) + "end of it"
	state.asked[0].Options = slices.Grow(state.asked[0].Options, 500)[:500]
	for i := range state.asked[0].Options {
		state.asked[0].Options[i].Label = fmt.Sprintf("<i>option-%d.", i)
	}
	server := serving(t, state)
	for _, path := range []string{"/", "/questions/q-000000"} {
		reply, text := call{method: "GET", path: path}.do(t, server)
		if reply.StatusCode != 200 || strings.Count(text, "&lt;i&gt;option-") != 500 || !strings.Contains(text, "end of it") ||
			strings.Contains(text, "<b>") {
			t.Errorf("%s gets %d: %.300s", path, reply.StatusCode, text)
		}
	}
}

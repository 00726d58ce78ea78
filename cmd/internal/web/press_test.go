package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// buttons is a state that is answered by buttons, too.
type buttons struct {
	service.Service
	press func(capability string, option int) (string, error)
}

func (b buttons) Press(_ context.Context, capability string, option int) (string, error) {
	return b.press(capability, option)
}

func TestWhoTriesWrongButtonsIsSlowedDownAndARightOneIsTaken(t *testing.T) {
	pressed := 0
	s := New(Config{Token: token, Card: plainCard, Clean: func(s string) string { return s },
		Service: buttons{newState(0), func(capability string, option int) (string, error) {
			if capability != "right" {
				return "", &service.Refusal{Reason: service.NotThere, Text: "none of ours"}
			}
			pressed += option
			return "q-000000", nil
		}}})
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() { s.Run(ctx) })
	defer following.Wait()
	defer cancel()
	press := func(from, capability string) int {
		r := httptest.NewRequest(http.MethodPost, pressPath+capability, strings.NewReader(`{"option":1}`))
		r.Host, r.RemoteAddr = "localhost", from+":1234"
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	wrong := map[int]int{}
	for range 3 * wrongBurst {
		wrong[press("192.0.2.1", "wrong")]++
	}
	if wrong[http.StatusNotFound] < wrongBurst || wrong[http.StatusTooManyRequests] < wrongBurst {
		t.Errorf("wrong ones get %v", wrong)
	}
	for range 3 * wrongBurst { // a right one never counts
		if status := press("192.0.2.2", "right"); status != http.StatusOK {
			t.Fatalf("a right one gets %d", status)
		}
	}
	if status := press("192.0.2.1", "right"); status != http.StatusOK || pressed != 3*wrongBurst+1 {
		t.Errorf("a right one from where wrong ones came gets %d, pressed is %d", status, pressed)
	}
	for i := range 2 * maxTriers { // and what is known of all of them has a bound
		s.triers.of(string(rune(i)))
	}
	if len(s.triers.by) > maxTriers {
		t.Errorf("%d addresses are known", len(s.triers.by))
	}
}

// Readers of the page need not wait for the look that finds what a button has answered: here nobody looks at all.
func TestAnAnswerByAButtonIsToldBeforeTheLookThatFindsIt(t *testing.T) {
	state := newState(1)
	s := New(Config{Token: token, Card: plainCard, Clean: func(s string) string { return s },
		Service: buttons{state, func(string, int) (string, error) {
			state.asked[0].State = "answered"
			return state.asked[0].ID, nil
		}}})
	s.desk.take(view.Overview{At: time.Now(), Questions: []view.QuestionView{question("q-000000")}})
	reader, _, _, _, _, err := s.desk.join("")
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel() // whoever has pressed does not wait for the look
	r := httptest.NewRequestWithContext(gone, http.MethodPost, pressPath+"right", strings.NewReader(`{"option":0}`))
	r.Host = "localhost"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	s.desk.leave(reader)
	told := ""
	for c := range reader.changes {
		told += string(c.api)
	}
	if w.Code != http.StatusOK || !strings.Contains(told, `"state":"answered"`) {
		t.Errorf("the button gets %d, and a reader is told %q", w.Code, told)
	}
}

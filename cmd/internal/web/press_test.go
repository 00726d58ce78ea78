package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

func TestWhoTriesWrongButtonsIsSlowedDown(t *testing.T) {
	pressed := 0
	s := New(Config{Token: token, Source: newState(0), Card: plainCard, Clean: func(s string) string { return s },
		Press: func(_ context.Context, capability string, option int) error {
			if capability != "right" {
				return &Refusal{Status: http.StatusNotFound, Text: "none of ours"}
			}
			pressed += option
			return nil
		}})
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
	if status := press("192.0.2.1", "right"); status != http.StatusTooManyRequests || pressed != 3*wrongBurst {
		t.Errorf("who has tried gets %d, pressed is %d", status, pressed)
	}
	for i := range 2 * maxTriers { // and what is known of all of them has a bound
		s.triers.of(string(rune(i)))
	}
	if len(s.triers.by) > maxTriers {
		t.Errorf("%d addresses are known", len(s.triers.by))
	}
}

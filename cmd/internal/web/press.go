package web

import (
	"net/http"
	"strings"
	"sync"

	"golang.org/x/time/rate"
)

// A button on a phone answers by POST /api/answer/CAPABILITY {"option": N}. It has no token of the page's: what it may
// do, the capability in its address says, which is one question and the answers that were on its buttons. The other
// walls stand before it. Whoever tries capabilities that are none is slowed down, by their address: each wrong one
// counts, a right one never does.
const (
	pressPath  = "/api/answer/"
	maxPress   = 4 << 10 // bytes of a body
	wrongRate  = rate.Limit(0.2)
	wrongBurst = 10
	maxTriers  = 1000 // addresses that are known; more, and all begin anew
)

// presses reports whether a request is that of a button.
func presses(r *http.Request) bool {
	capability, found := strings.CutPrefix(r.URL.Path, pressPath)
	return found && r.Method == http.MethodPost && !strings.Contains(capability, "/")
}

// triers are the addresses from which wrong capabilities came.
type triers struct {
	mu sync.Mutex
	by map[string]*rate.Limiter
}

func (t *triers) of(address string) *rate.Limiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by[address] == nil {
		if t.by == nil || len(t.by) >= maxTriers {
			t.by = map[string]*rate.Limiter{}
		}
		t.by[address] = rate.NewLimiter(wrongRate, wrongBurst)
	}
	return t.by[address]
}

func (s *Server) apiPress(w http.ResponseWriter, r *http.Request) error {
	trier := s.triers.of(hostName(r.RemoteAddr))
	if trier.Tokens() < 1 {
		w.Header().Set("Retry-After", "5")
		return &Refusal{Status: http.StatusTooManyRequests, Text: "too many wrong buttons; try again in a while"}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxPress)
	var body struct {
		Option *int `json:"option"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	option := -1
	if body.Option != nil {
		option = *body.Option
	}
	question, err := s.config.Actions.Press(r.Context(), r.PathValue("capability"), option)
	if err != nil {
		if status, _ := problemOf(err); status == http.StatusNotFound {
			trier.Allow()
		}
		return err
	}
	_, _ = s.answered(r, question, Answer{}) // it is answered, whether or not it can be read again
	return reply(w, http.StatusOK, struct {
		Text string `json:"text"`
	}{"answered"})
}

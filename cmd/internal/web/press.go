package web

import (
	"net/http"
	"strings"
	"sync"

	"golang.org/x/time/rate"

	"claude-supervise/supervisor/service"
)

// A button on a phone answers by POST /api/answer/CAPABILITY {"option": N}. It has no token of the page's: what it may
// do, the capability in its address says, which is one question and the answers that were on its buttons. The other
// walls stand before it. Whoever tries capabilities that are none is told to slow down, by their address: each wrong
// one counts. A right one never does, and is taken however many wrong ones came: behind a proxy all have one address,
// and nobody guesses the random bits of a capability, of which it has 130.
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
	question, err := s.config.Service.(service.Presser).Press(r.Context(), r.PathValue("capability"), option)
	if err != nil {
		if status, _ := problemOf(err); status == http.StatusNotFound {
			if !s.triers.of(hostName(r.RemoteAddr)).Allow() {
				w.Header().Set("Retry-After", "5")
				return &refusal{Status: http.StatusTooManyRequests, Text: "too many wrong buttons; try again in a while"}
			}
		}
		return err
	}
	_, _ = s.answered(r, question, service.Answer{}) // it is answered, whether or not it can be read again
	return reply(w, http.StatusOK, struct {
		Text string `json:"text"`
	}{"answered"})
}

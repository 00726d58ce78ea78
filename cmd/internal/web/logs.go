package web

import (
	"net/http"
	"net/url"
	"strconv"

	"claude-supervise/supervisor/view"
)

const (
	// maxLogs is how many logs are followed at once: the kernel gives a user few such watches.
	maxLogs  = 32
	pageLog  = 200       // texts that the page of an agent begins with
	logParts = 256 << 10 // about how much of a log one page, or one reply of the API, has, in bytes
)

// An agentPage is what an agent said and did.
type agentPage struct {
	frame
	view.AgentView
	In    view.RunView
	Ended bool
	Said  []string
	Whole bool   // it begins at the beginning
	Next  int64  // where the next part begins; -1: this is the end
	Log   string // where its growth is told; "": it is not
}

func (s *Server) pageAgent(w http.ResponseWriter, r *http.Request) error {
	log, err := s.config.Service.Log(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	of, agent := log.Of()
	run, err := s.config.Service.Run(r.Context(), of)
	if err != nil {
		return err
	}
	now, err := s.desk.overview(r.Context())
	if err != nil {
		return err
	}
	p := agentPage{In: run, Next: -1}
	p.AgentView, _ = run.Agent(agent)
	p.frame = s.frame(now, s.draws.agentCalled(p.AgentView), "/live?agent="+url.QueryEscape(agent))
	p.Ended = ended(p.AgentView)
	if text := r.URL.Query().Get("after"); text != "" {
		after, err := strconv.ParseInt(text, 10, 64)
		if err != nil || after < 0 {
			after = 0
		}
		lines, next, more, err := log.Part(r.Context(), after, logParts)
		if err != nil {
			return err
		}
		p.Whole = true
		for _, line := range lines {
			p.Said = append(p.Said, line.Said...)
		}
		if more {
			p.Next = next
		}
		return send(w, http.StatusOK, s.draws.agent(p))
	}
	said, place, err := log.Recent(r.Context(), pageLog)
	if err != nil {
		return err
	}
	p.Said = said
	p.Log = "/agents/" + agent + "/live?after=" + strconv.FormatInt(place, 10)
	return send(w, http.StatusOK, s.draws.agent(p))
}

// pageLogLive gives the texts of a log as it grows. The id of each is the place behind it.
func (s *Server) pageLogLive(w http.ResponseWriter, r *http.Request) error {
	log, err := s.config.Service.Log(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	place, err := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	if last, wrong := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); wrong == nil {
		place, err = last, nil
	}
	if err != nil || place < 0 {
		return &refusal{Status: http.StatusBadRequest, Text: "after takes a place in the log"}
	}
	select {
	case s.logs <- struct{}{}:
		defer func() { <-s.logs }()
	default:
		return errBusy
	}
	out := newStream(w)
	if r.Method == http.MethodHead {
		return nil
	}
	if out.send("", "", nil) != nil {
		return nil
	}
	_ = log.Follow(r.Context(), place, func(said []string, place int64) error { // ends with its reader
		if len(said) == 0 {
			return nil
		}
		clean := make([]string, len(said))
		for i := range said {
			clean[i] = s.config.Clean(said[i])
		}
		return out.send(strconv.FormatInt(place, 10), "said", encoded(clean))
	})
	return nil
}

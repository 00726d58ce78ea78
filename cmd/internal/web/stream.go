package web

import (
	"fmt"
	"net/http"
	"time"

	"claude-supervise/supervisor/view"
)

// Server-sent events, as the HTML standard has them. Each has the id that a reader says when it comes back.

const (
	// aliveAfter is how often a stream says that it is there, for what stands in between and ends quiet ones.
	aliveAfter = 30 * time.Second
	// takesAtMost is how long a reader may take for an event.
	takesAtMost = 10 * time.Second
)

// A stream writes events to one reader.
type stream struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func newStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy's
	return stream{w: w, rc: http.NewResponseController(w)}
}

// send writes an event whose data are one line; without a name a comment. An error says that the reader has gone, or
// does not read.
func (s stream) send(id, name string, data []byte) error {
	if err := s.rc.SetWriteDeadline(time.Now().Add(takesAtMost)); err != nil {
		return err
	}
	var err error
	switch {
	case name == "":
		_, err = fmt.Fprint(s.w, ": alive\n\n")
	case id == "":
		_, err = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, data)
	default:
		_, err = fmt.Fprintf(s.w, "id: %s\nevent: %s\ndata: %s\n\n", id, name, data)
	}
	if err != nil {
		return err
	}
	return s.rc.Flush()
}

// serveChanges tells one reader of the changes until it has gone, or is too slow: it comes back. The event `state` is
// the whole as it was after the change that at names; it comes first where the reader's last event is not known. form
// gives the event that a change is to this reader, "" for none.
func (s *Server) serveChanges(w http.ResponseWriter, r *http.Request, whole func(now view.Overview, at string) []byte,
	form func(*change) (name string, data []byte)) error {
	if _, err := s.desk.overview(r.Context()); err != nil {
		return err
	}
	reader, all, now, at, missed, err := s.desk.join(r.Header.Get("Last-Event-ID"))
	if err != nil {
		return err
	}
	defer s.desk.leave(reader)
	out := newStream(w)
	if r.Method == http.MethodHead {
		return nil
	}
	if all {
		err = out.send(at, "state", whole(now, at))
	} else {
		err = out.send("", "", nil) // that it is heard
	}
	tell := func(c *change) error {
		name, data := form(c)
		if name == "" {
			return nil
		}
		return out.send(c.id, name, data)
	}
	for _, c := range missed {
		if err == nil {
			err = tell(c)
		}
	}
	alive := time.NewTicker(aliveAfter)
	defer alive.Stop()
	for err == nil {
		select {
		case c, ok := <-reader.changes:
			if !ok {
				return nil
			}
			err = tell(c)
		case <-alive.C:
			err = out.send("", "", nil)
		case <-r.Context().Done():
			return nil
		}
	}
	return nil //nolint:nilerr // it has gone
}

package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// served serves a state as the program does, with room for so many connections.
func served(t *testing.T, state *fakeState, most int) (address string) {
	t.Helper()
	s := New(Config{Token: token, Port: 7433, Service: state, Card: plainCard,
		Clean: func(text string) string { return text }})
	s.connections.most = most
	return servedBy(t, s)
}

func servedBy(t *testing.T, s *Server) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(ctx, listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); serving.Wait() })
	return listener.Addr().String()
}

// dial opens a connection, and says something on it.
func dial(t *testing.T, address, says string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, says); err != nil {
		t.Fatal(err)
	}
	return conn
}

const asksTheAPI = "GET /api/questions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\n\r\n"

// A person is let in at the first try, and stays, whatever else connects and says nothing, or half of something.
func TestHalfOpenConnectionsKeepNobodyOut(t *testing.T) {
	const most = 20
	state := newState(1)
	address := served(t, state, most)
	stream := bufio.NewReader(dial(t, address, "GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+
		token+"\r\n\r\n"))
	if reply, err := http.ReadResponse(stream, nil); err != nil || reply.StatusCode != 200 {
		t.Fatal(reply, err)
	}
	var silent []net.Conn
	for i := range 5 * most {
		silent = append(silent, dial(t, address, []string{"", "GET / HT", asksTheAPI[:40],
			"POST /api/answer/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
			"GET /api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"}[i%5]))
	}
	for range 3 {
		reply, err := http.ReadResponse(bufio.NewReader(dial(t, address, asksTheAPI)), nil)
		if err != nil || reply.StatusCode != 200 {
			t.Fatalf("a person gets %v (%v)", reply, err)
		}
	}
	for _, conn := range silent[:len(silent)-most] { // the oldest are closed: reading ends, at once
		if _, err := io.Copy(io.Discard, conn); err != nil && !closedByPeer(err) {
			t.Fatal(err)
		}
	}
	state.do(func() { state.asked = append(state.asked, question("q-new")) })
	readUntil(t, stream, "event: question") // and the stream is there as before
}

// With the token, those that are used are kept: of the others the longest unused makes place.
func TestConnectionsOfThePersonAreClosedLast(t *testing.T) {
	const most = 4
	address := served(t, newState(1), most)
	ask := func(conn net.Conn) error {
		if _, err := io.WriteString(conn, asksTheAPI); err != nil {
			return err
		}
		reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil {
			_, err = io.Copy(io.Discard, reply.Body)
		}
		return err
	}
	var mine []net.Conn
	for range most - 1 {
		conn := dial(t, address, "")
		if err := ask(conn); err != nil {
			t.Fatal(err)
		}
		mine = append(mine, conn)
	}
	for range 3 * most {
		dial(t, address, "GET / HT")
	}
	for i, conn := range mine {
		if err := ask(conn); err != nil {
			t.Errorf("the %d. was closed for a stranger: %v", i, err)
		}
	}
	for range 2 {
		if err := ask(dial(t, address, "")); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(mine[0]); err == nil {
		t.Error("the one that was unused for longest is kept")
	}
	if err := ask(mine[2]); err != nil {
		t.Errorf("a later one was closed before it: %v", err)
	}
}

// closedByPeer reports whether a connection ended with what it was sent unread.
func closedByPeer(err error) bool { return errors.Is(err, syscall.ECONNRESET) }

// A reader that takes nothing of what it is sent is dropped, and holds up nobody.
func TestAReaderThatDoesNotReadIsDropped(t *testing.T) {
	state := newState(1)
	s := New(Config{Token: token, Port: 7433, Service: state, Card: plainCard,
		Clean: func(text string) string { return text }})
	address := servedBy(t, s)
	const events = "GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\n\r\n"
	deaf := dial(t, address, events)
	if _, err := io.ReadFull(deaf, make([]byte, 1)); err != nil { // it is heard, and reads no more
		t.Fatal(err)
	}
	quick := bufio.NewReader(dial(t, address, events))
	joined := func() int { s.desk.mu.Lock(); defer s.desk.mu.Unlock(); return len(s.desk.readers) }
	text := strings.Repeat("x", 100<<10)
	readUntil(t, quick, "event: state")
	for changes := 0; joined() > 1; changes++ {
		if changes > 10*maxBehind {
			t.Fatalf("it is kept after %d changes", changes)
		}
		state.do(func() { state.asked[0].Context = fmt.Sprint(changes, text) })
		readUntil(t, quick, fmt.Sprintf(`"context":"%dx`, changes))
	}
}

// readUntil reads lines until one has a text in it.
func readUntil(t *testing.T, lines *bufio.Reader, text string) {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, text) {
			return
		}
	}
}

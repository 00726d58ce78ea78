package web

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// Who opens thousands of connections and says nothing keeps nobody out. There is room for so many; where it is used up,
// the connection that has waited longest without the token makes place for the next one, else the one with it that is
// kept for later. One whose request is being answered is never closed for another.

// A connection is one of a server's. It is in one list of its server, or in none: then it is being used.
type connection struct {
	conn net.Conn
	uses int // by requests with the token
	in   *list.List
	at   *list.Element
}

type connections struct {
	most int

	mu        sync.Mutex
	of        map[net.Conn]*connection
	strangers list.List // those without the token, the oldest first
	kept      list.List // those with it that nobody uses, the longest first
}

func newConnections(most int) *connections {
	return &connections{most: most, of: map[net.Conn]*connection{}}
}

type connectionKey struct{}

// accept takes a connection of an [http.Server] in; it is its ConnContext.
func (c *connections) accept(ctx context.Context, conn net.Conn) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.of) >= c.most {
		oldest := c.strangers.Front()
		if oldest == nil {
			oldest = c.kept.Front()
		}
		if oldest == nil { // all are used
			hangUp(conn)
			return ctx
		}
		c.drop(oldest.Value.(*connection))
	}
	one := &connection{conn: conn}
	c.of[conn] = one
	c.move(one, &c.strangers)
	return context.WithValue(ctx, connectionKey{}, one)
}

// left forgets a connection that has ended; it is the server's ConnState.
func (c *connections) left(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := c.of[conn]; one != nil {
		c.move(one, nil)
		delete(c.of, conn)
	}
}

// use says that a request with the token is being answered, until done is called.
func (c *connections) use(ctx context.Context) (done func()) {
	one, _ := ctx.Value(connectionKey{}).(*connection)
	if one == nil { // it is served by another server than ours, as in tests
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	one.uses++
	c.move(one, nil)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if one.uses--; one.uses == 0 && c.of[one.conn] == one {
			c.move(one, &c.kept)
		}
	}
}

// drop ends a connection. The lock is held.
func (c *connections) drop(one *connection) {
	c.move(one, nil)
	delete(c.of, one.conn)
	hangUp(one.conn)
}

// move puts a connection at the end of a list; nil: into none. The lock is held.
func (c *connections) move(one *connection, to *list.List) {
	if one.in != nil {
		one.in.Remove(one.at)
	}
	if one.in = to; to != nil {
		one.at = to.PushBack(one)
	}
}

// hangUp closes a connection without a farewell, for which its other end would be waited for.
func hangUp(conn net.Conn) {
	if secure, is := conn.(*tls.Conn); is {
		conn = secure.NetConn()
	}
	_ = conn.Close() // its server finds out
}

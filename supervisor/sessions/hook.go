package sessions

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/procs"
	"claude-supervise/supervisor/text"
)

// MaxInput is the longest input of a hook that is read, in bytes. With more the screen decides.
const MaxInput = 2 << 20

const (
	// most of what is thrown away of a longer one, so that claude is not told that nobody reads it.
	drained = 64 << 20
	// ready is how long the disk may take before the screen decides alone: it asks meanwhile in any case.
	ready = 5 * time.Second
	// blindHold is how long an ask is held of which the screen shows no dialog meanwhile: that of a subagent in the
	// background, and that of an MCP server.
	blindHold = 10 * time.Second
	// maxProgram bounds the name of the program that has started claude, in cells.
	maxProgram = 40
	// maxClients is how many may be about to answer at once.
	maxClients = 16
)

// Hook is `claude-supervise hook`: it reads what claude asks, and writes what a person has answered here, if they do so
// before the screen. It blocks until then, or until nobody waits for it any more; ctx ends with SIGTERM. What keeps it
// from asking is no error: it writes nothing, and the screen decides. Asked is told what is asked here, and of what is
// asked no more where whoever told a person of it has not lived to take that back. It must not block; nil: nobody is
// told.
func Hook(ctx context.Context, d checkpoints.Dirs, env []string, look Look, asked func(*Ask), in io.Reader,
	out io.Writer) {
	doc, err := io.ReadAll(io.LimitReader(in, MaxInput+1))
	if err == nil && len(doc) > MaxInput {
		_, _ = io.CopyN(io.Discard, in, drained)
		return
	}
	var from input
	if err != nil || json.Unmarshal(doc, &from) != nil || !filepath.IsAbs(from.Cwd) {
		return
	}
	if _, inside := procs.Inside(env); inside || procs.Unmarked(env) {
		return // its supervisor asks
	}
	claude := procs.AboveHook()
	if claude == (procs.Other{}) {
		return
	}
	var w *waiting
	back, err := files.Within(ready, func() (err error) {
		modes, err := ReadModes(d)
		if mode := modes.Of(from.Cwd); err == nil && mode != ModeOff {
			_ = claude.Tag() // where there are no tags, who is above an answer has to do
			w, err = begin(d, from, procs.Lookup(env, "CLAUDE_CODE_ENTRYPOINT"), look, claude, mode)
		}
		return err
	})
	if errors.Is(err, files.ErrNoResponse) {
		// Not waited for: the disk may hold it for ever. It may be kept after all, and nobody must think that somebody
		// waits.
		go func() {
			if <-back; w != nil {
				w.end(Withdrawn)
			}
		}()
		return
	}
	if err != nil || w == nil {
		return
	}
	if asked != nil {
		asked(w.ask)
	}
	w.wait(ctx, out)
	for _, other := range tidy(d, time.Now()) {
		if asked != nil && other.ID != w.ask.ID && other.untold(d) {
			asked(other)
		}
	}
}

// A waiting is a hook that waits.
type waiting struct {
	dirs   checkpoints.Dirs
	ask    *Ask
	lock   *flock.Flock
	socket *net.UnixListener
	read   reading // of the conversation that has the call
	main   reading // of the main one
	blind  bool    // the screen has shown nothing for long enough

	guessed bool // the call is the last of the tool, of another input: claude may not have written ours yet
}

// begin keeps an ask, which others see from then on; nil: it is none.
func begin(d checkpoints.Dirs, asked input, program string, look Look, claude procs.Other,
	mode Mode) (*waiting, error) {
	a, err := newAsk(asked, look, checkpoints.Now(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if a.Server != "" && mode != ModeAsk {
		return nil, errNotAsked // the screen would show nothing meanwhile
	}
	a.Mode, a.Machine, a.Claude, a.Hook, a.Screen = mode, thisMachine(), claude, procs.This(), claude.Screen()
	a.Program = text.CleanLine(program, maxProgram)
	if err := files.MakePrivate(d.State); err != nil {
		return nil, err
	}
	if err := files.MakePrivate(Folder(d)); err != nil {
		return nil, err
	}
	if before, err := ids(d); err != nil || len(before) >= maxAsks {
		return nil, errors.Join(err, errNotAsked)
	}
	if a.Socket, err = d.Socket(a.ID); err != nil {
		return nil, err
	}
	w := &waiting{dirs: d, ask: a, lock: flock.New(pathOf(d, a.ID, ".lock"), flock.SetPermissions(0o600)),
		read: reading{path: a.conversation()}, main: reading{path: a.Transcript}}
	if got, err := w.lock.TryLock(); err != nil || !got {
		return nil, errors.Join(err, errNotAsked)
	}
	if w.socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: a.Socket, Net: "unix"}); err != nil {
		return nil, errors.Join(err, w.lock.Close(), os.Remove(pathOf(d, a.ID, ".lock")))
	}
	if err := a.save(d); err != nil {
		w.close()
		return nil, errors.Join(err, os.Remove(pathOf(d, a.ID, ".lock")))
	}
	return w, nil
}

func (w *waiting) close() {
	_ = w.socket.Close() // and removes it
	_ = w.lock.Close()   // gives it back
}

// end keeps what became of the ask, and lets everybody go. Where that cannot be kept, readers conclude it.
func (w *waiting) end(s State) {
	now := checkpoints.Now()
	w.ask.State, w.ask.EndedAt = s, &now
	_ = w.ask.save(w.dirs)
	w.close()
}

// A client is a process that gives an answer, and waits for what is said to it.
type client struct {
	given
	conn *net.UnixConn
}

// wait waits until the ask has an answer or nobody waits for one. All that it waits for the kernel tells.
func (w *waiting) wait(ctx context.Context, out io.Writer) {
	over, cancel := context.WithCancel(context.WithoutCancel(ctx))
	clients, gone := make(chan client), make(chan struct{})
	var group errgroup.Group
	defer func() { _ = group.Wait() }() // they give no errors
	defer cancel()                      // first: it ends them
	group.Go(func() error { return w.listen(over, clients) })
	group.Go(func() error {
		if w.ask.Claude.Wait(over) {
			close(gone)
		}
		return nil
	})
	names := []string{filepath.Base(w.read.path), filepath.Base(w.main.path), filepath.Base(modesFile(w.dirs))}
	var changed <-chan struct{} // nil: the kernel does not tell, and the dialog's end is seen by its other signs
	changes, err := files.NewWatch(func(name string) bool { return slices.Contains(names, name) },
		filepath.Dir(w.read.path), filepath.Dir(w.main.path), w.dirs.State)
	if err == nil {
		defer changes.Close()
		changed = changes.C
	}
	var held <-chan time.Time
	if w.ask.Screen != "" && (w.ask.Agent != "" || w.ask.Server != "") {
		hold := time.NewTimer(blindHold)
		defer hold.Stop()
		held = hold.C
	}
	for {
		if s, over := w.look(); over {
			w.end(s)
			return
		}
		select {
		case c := <-clients:
			if w.take(c, out) {
				return
			}
		case <-changed:
		case <-gone:
			w.look() // for the place of the call
			w.end(Ended)
			return
		case <-held:
			w.blind = true
		case <-ctx.Done():
			w.look()
			w.end(OnScreen)
			return
		}
	}
}

// look reports whether the screen has answered, or the person wants none of this any more.
func (w *waiting) look() (s State, over bool) {
	if modes, err := ReadModes(w.dirs); err == nil && modes.Of(w.ask.Cwd) == ModeOff {
		return Withdrawn, true
	}
	if w.blind && !w.inFront() {
		return Withdrawn, true
	}
	if w.ask.Server != "" || w.read.more() != nil {
		return "", false
	}
	if w.ask.Call == "" || w.guessed {
		c := w.read.find(w.ask.Tool, w.ask.Input, w.ask.Questions[0].AskedAt, w.taken())
		if c == nil {
			return "", false
		}
		if w.guessed = !sameJSON(c.input, w.ask.Input); c.id != w.ask.Call {
			w.ask.Call, w.ask.Line, w.ask.Version = c.id, c.line, c.version
			_ = w.ask.save(w.dirs) // it is found again
		}
	}
	for _, c := range w.read.calls {
		if c.id == w.ask.Call && c.outcome != None {
			return OnScreen, true
		}
	}
	return "", false
}

// inFront reports whether it is a subagent that asks, and the main conversation waits for that: such a one has its
// dialog on the screen meanwhile. Releases that do not say which call has started it (2.1.100) leave that open.
func (w *waiting) inFront() bool {
	folder, err := files.OpenFolder(filepath.Dir(w.read.path))
	if err != nil || w.ask.Agent == "" {
		return false
	}
	defer func() { _ = folder.Close() }() // only read
	var of struct {
		Call string `json:"toolUseId"`
	}
	doc, _, err := files.ReadIn(folder, strings.TrimSuffix(filepath.Base(w.read.path), ".jsonl")+".meta.json", maxModes)
	return err == nil && json.Unmarshal(doc, &of) == nil && w.main.more() == nil && w.main.pending(of.Call)
}

// taken reports which calls other hooks of the session wait for.
func (w *waiting) taken() func(id string) bool {
	of := map[string]bool{}
	names, _ := ids(w.dirs)
	for _, id := range names {
		if id == w.ask.ID {
			continue
		}
		if a, err := load(w.dirs, id); err == nil && a.Session == w.ask.Session {
			of[a.Call] = true
		}
	}
	return func(id string) bool { return of[id] }
}

// listen hands over who answers, until the socket is closed, and those who are about to have gone.
func (w *waiting) listen(over context.Context, to chan<- client) error {
	var clients errgroup.Group
	clients.SetLimit(maxClients)
	for {
		conn, err := w.socket.AcceptUnix()
		if err != nil {
			return clients.Wait()
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		if !clients.TryGo(func() error { return readClient(over, conn, to) }) {
			_ = conn.Close() // an agent may come as often as it likes
		}
	}
}

// readClient reads the answer of a client.
func readClient(over context.Context, conn *net.UnixConn, to chan<- client) error {
	stop := context.AfterFunc(over, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	c := client{conn: conn}
	if json.NewDecoder(io.LimitReader(conn, MaxInput)).Decode(&c.given) != nil {
		return conn.Close()
	}
	select {
	case to <- c:
		return nil
	case <-over.Done():
		return conn.Close()
	}
}

// take takes an answer, or refuses it. It reports whether the ask is over.
func (w *waiting) take(c client, out io.Writer) (over bool) {
	defer func() { _ = c.conn.Close() }() // all was said
	err := fromAPerson(c.conn)
	if err == nil && !w.ask.Claude.Alive() {
		err = ErrGone // which is about to be told
	}
	if err == nil {
		err = w.ask.answer(c.given, checkpoints.Now())
	}
	if err == nil {
		if w.ask.complete() {
			w.ask.State = Answered
		}
		if err = w.ask.save(w.dirs); err != nil { // nothing is told that is not kept
			q := w.ask.question(c.Question)
			w.ask.State, q.State, q.Response = Open, checkpoints.QuestionOpen, checkpoints.Response{}
		}
	}
	if err != nil || w.ask.State == Open {
		_ = json.NewEncoder(c.conn).Encode(reply(err)) // who has gone is told nothing
		return false
	}
	if _, err = out.Write(append(w.ask.decision(), '\n')); err != nil {
		_ = json.NewEncoder(c.conn).Encode(reply(ErrGone))
		w.end(Ended)
		return true
	}
	_ = json.NewEncoder(c.conn).Encode(reply(nil))
	w.end(Answered)
	return true
}

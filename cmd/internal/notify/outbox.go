package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// An Outbox sends messages by channels, in the background: whoever adds one waits for nothing. What is about one thing
// is sent in its order; what is about others does not wait for it. A message that a receiver does not take now is sent
// again, after a second, two, and so on up to maxRest, until it is taken, refused for good or the outbox is closed.
//
// What was taken is written down in the journal, a file of the run, after the reply: a message is told at least once by
// each channel, and a second time only if the supervisor was killed between the two. The other order would lose
// questions, and it is a second notice that a person survives: its ID is the same, and on a phone it takes the place of
// the first.
type Outbox struct {
	report func(text string)
	rest   func(ctx context.Context, attempt int, wanted time.Duration) // how long to wait, before another attempt

	lanes   []*lane
	sends   context.Context    // of all sending
	end     context.CancelFunc // of that
	rests   context.Context    // of all waiting for another attempt
	hurry   context.CancelFunc // of that
	working sync.WaitGroup
}

// A lane is a receiver with what is to be sent to it.
type lane struct {
	*Outbox
	to    Receiver
	slots chan struct{} // one value for each attempt under way

	mu      sync.Mutex
	journal *os.File
	path    string
	told    map[string]bool // by ID: sent, or refused for good
	queues  map[string][]Draft
	begun   map[string]bool          // by ID: there was an attempt
	shown   map[string]bool          // by what it is about: of what has begun, something was not taken back
	wakes   map[string]chan struct{} // of the workers, by what they send about: their queue has changed
	closing bool

	once    sync.Mutex // of the lock of what is sent once
	saying  sync.Mutex // until it is reported: what is reported last is so
	failing bool
}

// A Draft is a message that is made when it is sent: that may take a look at the state, or write a file.
type Draft struct {
	ID, About string
	Closes    bool // it takes back what was told about the same: it is not sent where nothing was
	// At is when it is sent at the earliest, or once the outbox is closed; zero: at once.
	At     time.Time
	Lapses bool // it is not sent where the outbox is closed before
	Once   bool // others may send the same now: one of them does, and where it is killed, whoever comes next
	// Replaces: what is to be said about the same is said by this one alone. It is made anew for each attempt, and sent
	// again where what was sent is not the state any more: by others, that tell of the same, something older may have
	// been sent after it.
	Replaces bool
	// Make makes it; ErrNothing: there is nothing to tell any more.
	Make func(ctx context.Context, to Network) (Message, error)
}

// ErrNothing means that a message has nothing to tell any more.
var ErrNothing = errors.New("there is nothing to tell")

const (
	firstRest = time.Second
	maxRest   = 5 * time.Minute
	atOnce    = 4 // attempts by a channel
	maxUntold = 5 // how many are named that were not told
	// maxJournal bounds what of a journal is read, in bytes: a run of some ten thousand questions.
	maxJournal = 4 << 20
)

// NewOutbox makes an outbox. report is told, once each time, that a channel fails and that it works again.
func NewOutbox(receivers []Receiver, report func(text string)) *Outbox {
	o := &Outbox{report: report, rest: rest}
	o.sends, o.end = context.WithCancel(context.Background())
	o.rests, o.hurry = context.WithCancel(o.sends)
	for _, to := range receivers {
		o.lanes = append(o.lanes, &lane{Outbox: o, to: to, told: map[string]bool{}, queues: map[string][]Draft{},
			begun: map[string]bool{}, shown: map[string]bool{}, wakes: map[string]chan struct{}{},
			slots: make(chan struct{}, atOnce)})
	}
	return o
}

// rest waits before another attempt: twice as long each time, or as long as the receiver wants.
func rest(ctx context.Context, attempt int, wanted time.Duration) {
	pause := min(firstRest<<min(attempt, 20), maxRest)
	pause = min(max(pause/2+rand.N(pause/2), wanted), maxRest)
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// Open reads the journal at path, and keeps it from now on. It returns the IDs of what was
// told. Messages are added after that.
func (o *Outbox) Open(path string) (told []string, err error) {
	text, err := readJournal(path)
	if err != nil {
		return nil, err
	}
	for _, l := range o.lanes {
		l.mu.Lock()
		l.path = path
		l.journal, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		for line := range strings.Lines(text) {
			name, id, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if name == l.to.Name && strings.HasSuffix(line, "\n") {
				about, _, _ := strings.Cut(id, ".")
				l.told[id], l.shown[about] = true, true
				told = append(told, id)
			}
		}
		l.mu.Unlock()
		if err != nil {
			return told, err
		}
	}
	return told, nil
}

func readJournal(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, maxJournal))
	return string(text), err
}

// Add has a message sent by each channel that has not told it.
func (o *Outbox) Add(d Draft) {
	for _, l := range o.lanes {
		l.add(d)
	}
}

// Close has everything sent that a receiver takes now, and then what is last, for at most until ctx ends, and sends
// nothing after that. It blocks so long, and reports what was not told.
func (o *Outbox) Close(ctx context.Context, last ...Draft) {
	for _, l := range o.lanes {
		l.mu.Lock()
		l.closing = true
		for about := range l.queues {
			l.wake(about)
		}
		l.mu.Unlock()
	}
	o.hurry()
	stop := context.AfterFunc(ctx, o.end)
	o.working.Wait()
	for _, d := range last {
		for _, l := range o.lanes {
			l.mu.Lock()
			l.queue(d)
			l.mu.Unlock()
		}
	}
	o.working.Wait()
	stop()
	o.end()
	for _, l := range o.lanes {
		if untold := slices.Sorted(maps.Keys(l.queues)); len(untold) > 0 { // no worker is left
			if more := len(untold) - maxUntold; more > 0 {
				untold = append(untold[:maxUntold], fmt.Sprintf("%d more", more))
			}
			o.report(fmt.Sprintf("! %s (%s) was not told of %s. What is open then is told when the run is resumed.",
				l.to.Name, l.to.Host(), strings.Join(untold, ", ")))
		}
		if l.journal != nil {
			_ = l.journal.Close() // each line was synced
		}
	}
}

// add queues a message, unless the outbox is closed.
func (l *lane) add(d Draft) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closing {
		l.queue(d)
	}
}

// queue queues a message, under mu; the first about something starts a worker for all about it. One that closes others
// takes out what of them was not sent.
func (l *lane) queue(d Draft) {
	queue, working := l.queues[d.About]
	if l.told[d.ID] || slices.ContainsFunc(queue, func(o Draft) bool { return o.ID == d.ID }) {
		return
	}
	queue = slices.DeleteFunc(queue, func(o Draft) bool { return (d.Replaces || d.Closes) && !l.begun[o.ID] })
	if !d.Closes || l.shown[d.About] {
		queue = append(queue, d)
	}
	switch {
	case working:
		l.queues[d.About] = queue
		l.wake(d.About)
	case len(queue) > 0:
		l.queues[d.About], l.wakes[d.About] = queue, make(chan struct{}, 1)
		l.working.Go(func() { l.work(d.About) })
	}
}

// wake has the worker of something look at its queue again, under mu.
func (l *lane) wake(about string) {
	select {
	case l.wakes[about] <- struct{}{}:
	default: // it is about to look
	}
}

// next returns the message that is to be sent next about something, and marks that it is attempted. It blocks while its
// time has not come.
func (l *lane) next(about string) (Draft, bool) {
	for {
		l.mu.Lock()
		queue := l.queues[about]
		if l.closing {
			queue = slices.DeleteFunc(queue, func(d Draft) bool { return d.Lapses && !l.begun[d.ID] })
			l.queues[about] = queue
		}
		if len(queue) == 0 {
			delete(l.queues, about)
			delete(l.wakes, about)
			l.mu.Unlock()
			return Draft{}, false
		}
		d, wakes := queue[0], l.wakes[about]
		early := time.Until(d.At)
		due := early <= 0 || l.closing
		l.begun[d.ID], l.shown[about] = l.begun[d.ID] || due, l.shown[about] || due
		l.mu.Unlock()
		if due {
			return d, true
		}
		timer := time.NewTimer(early)
		select {
		case <-timer.C:
		case <-wakes:
		}
		timer.Stop()
	}
}

// work sends what is to be sent about one thing. What is not taken when the outbox is closed the next supervisor sends.
func (l *lane) work(about string) {
	for {
		d, more := l.next(about)
		if !more {
			return
		}
		release, mine := l.claim(d)
		if !mine {
			release()
			l.drop(d)
			continue
		}
		err := l.send(d)
		var later *Temporary
		if errors.As(err, &later) || l.sends.Err() != nil && err != nil {
			release()
			return
		}
		l.done(d, err)
		release()
	}
}

// claim has others leave a message alone that they would send, too, until it is released: they see in the journal then
// that it was sent. It is not mine where one of them has it, or has sent it. The kernel releases what a process had
// that is killed.
func (l *lane) claim(d Draft) (release func(), mine bool) {
	if !d.Once {
		return func() {}, true
	}
	l.once.Lock()
	lock := flock.New(l.path+"."+l.to.Name, flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	release = func() {
		_ = lock.Close() // gives it back
		l.once.Unlock()
	}
	return release, (got || err != nil) && !Told(l.path, l.to.Name, d.ID)
}

// drop takes a message out that others send.
func (l *lane) drop(d Draft) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queues[d.About] = slices.DeleteFunc(l.queues[d.About], func(o Draft) bool { return o.ID == d.ID })
}

// Told reports whether a journal says that a message was told by a channel.
func Told(journal, channel, id string) bool {
	text, err := readJournal(journal)
	return err == nil && strings.Contains("\n"+text, "\n"+channel+" "+id+"\n")
}

// send sends a message until it is taken, or refused for good, or the outbox is closed.
func (l *lane) send(d Draft) error {
	m, err := d.Make(l.sends, l.to.Network)
	for attempt := 0; err == nil; attempt++ {
		l.slots <- struct{}{}
		err = l.to.Send(l.sends, m)
		<-l.slots
		var later *Temporary
		again := errors.As(err, &later) && l.sends.Err() == nil
		if again {
			l.fails(fmt.Sprintf("%v; it is tried again", err))
			l.rest(l.rests, attempt, later.After)
		}
		switch {
		case !again && (err != nil || !d.Replaces), again && l.rests.Err() != nil:
			return err
		case !d.Replaces:
			err = nil
			continue
		}
		sent := m.ID
		if m, err = d.Make(l.sends, l.to.Network); !again && m.ID == sent {
			return err
		}
	}
	return err
}

// done writes down that a message was sent, or refused for good.
func (l *lane) done(d Draft, err error) {
	switch {
	case err == nil:
		l.works()
	case !errors.Is(err, ErrNothing):
		l.fails(fmt.Sprintf("%v; %s is not told there", err, d.About))
	}
	l.mu.Lock()
	l.told[d.ID] = true
	l.queues[d.About] = slices.DeleteFunc(l.queues[d.About], func(o Draft) bool { return o.ID == d.ID })
	_, wrong := fmt.Fprintf(l.journal, "%s %s\n", l.to.Name, d.ID)
	if wrong == nil {
		wrong = l.journal.Sync()
	}
	l.mu.Unlock()
	if wrong != nil {
		l.report(fmt.Sprintf("! what %s was told is not written down: %v; it may be told again", l.to.Name, wrong))
	}
}

// fails reports that a channel fails, once until it works again.
func (l *lane) fails(why string) {
	l.saying.Lock()
	defer l.saying.Unlock()
	if !l.failing {
		l.report(fmt.Sprintf("! %s (%s): %s. Questions can be answered all the same.", l.to.Name,
			l.to.Host(), why))
	}
	l.failing = true
}

func (l *lane) works() {
	l.saying.Lock()
	defer l.saying.Unlock()
	if l.failing {
		l.report(fmt.Sprintf("%s (%s) takes notifications again", l.to.Name, l.to.Host()))
	}
	l.failing = false
}

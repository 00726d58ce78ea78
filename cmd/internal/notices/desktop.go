package notices

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"claude-supervise/cmd/internal/notify"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// A screen is the person's desktop, which shows banners. One with buttons stands until its question is closed.
type screen struct {
	silent
	banner []string      // the command that shows a banner
	delay  time.Duration // config.Notify
	client client.Client
	log    zerolog.Logger
	broken atomic.Bool

	looked  sync.Once
	presses bool // it has buttons

	mu      sync.Mutex
	buttons map[string]context.CancelFunc // banners that stand with their buttons, or wait to be shown, by question
	shown   sync.WaitGroup
}

// byButton names who has answered on the desktop.
const byButton = "a button on the desktop"

func desktop(p Person) (channel, error) {
	if !p.Screen || !hasDesktop(os.Getenv) {
		return nil, nil
	}
	return &screen{banner: p.Banner, delay: p.Config.Notify.Delay, client: p.Client, log: p.Log,
		buttons: map[string]context.CancelFunc{}}, nil
}

// bannerPatience is how long a desktop may take to show a banner: the next question is told of only then.
const bannerPatience = 5 * time.Second

// told shows a question, with how to answer it: not at once, if the person wants it so, and not if it is answered
// before.
func (s *screen) told(ctx context.Context, q *supervisor.Question) {
	if s.delay == 0 || q.Urgent {
		s.ask(ctx, q)
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.mu.Lock()
	s.buttons[q.ID] = cancel
	s.mu.Unlock()
	s.shown.Go(func() {
		defer cancel()
		select {
		case <-time.After(time.Until(q.AskedAt.Add(s.delay))):
			s.ask(ctx, q)
		case <-ctx.Done():
		}
	})
}

func (s *screen) ask(ctx context.Context, q *supervisor.Question) {
	b := Banner{Title: "claude-supervise asks", Urgent: q.Urgent}
	if q.Urgent {
		b.Title = "Urgent: " + b.Title
	}
	b.Body = inBanner(q)
	if !s.broken.Load() && offersButtons(q) && s.hasButtons(ctx) {
		for _, o := range q.Options {
			b.Buttons = append(b.Buttons, o.Label)
		}
		s.stand(ctx, q, b)
		return
	}
	s.show(ctx, b)
}

// inBanner is a question as a banner has it, with how to answer it.
func inBanner(q *supervisor.Question) string {
	v, how := view.View(q), " Answer: "+view.AnswerCommand(q)
	text := q.ID + ": " + v.Asks()
	for i, o := range q.Options {
		text += fmt.Sprintf(" %d) %s", i+1, o.Label)
	}
	if v.Image != nil {
		text += " " + view.ShowsImage + v.Image.InWords() + "."
	}
	if v.Assumption != "" {
		text += " " + view.AssumedInWords(v)
	}
	return terminal.CleanLine(text, maxBody-len(how)) + how
}

// offersButtons reports whether a question can be answered by a button: what is to be chosen stands in the banner as it
// is, and has nothing done.
func offersButtons(q *supervisor.Question) bool {
	for _, o := range q.Options {
		if !fitsButton(o.Label) {
			return false
		}
	}
	return questions.OnlyTells(q) && !q.MultiSelect && len(q.Options) > 0 && len(q.Options) <= maxButtons
}

// hasButtons reports whether the desktop has buttons, which is looked for once.
func (s *screen) hasButtons(ctx context.Context) bool {
	s.looked.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, bannerPatience)
		defer cancel()
		s.presses = notifySend(ctx) != ""
	})
	return s.presses
}

func (s *screen) parked(q *supervisor.Question) {
	s.shown.Go(func() {
		s.show(context.Background(), Banner{Title: "claude-supervise: parked, no process is running",
			Body: terminal.CleanLine(q.ID+": "+view.View(q).Asks(), maxBody/2) + " Answer: " + view.AnswerCommand(q)})
	})
}

// show shows a banner. A desktop that fails or hangs is not tried again: what it would tell is told elsewhere, too.
func (s *screen) show(ctx context.Context, b Banner) {
	if s.broken.Load() {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bannerPatience, errors.New("the desktop does not take it"))
	defer cancel()
	s.failed(ctx, notify.Send(ctx, s.banner, b))
}

func (s *screen) failed(ctx context.Context, err error) {
	if err != nil && !errors.Is(context.Cause(ctx), context.Canceled) {
		s.broken.Store(true)
		s.log.Info().Err(err).Msg("nothing more is shown on the desktop")
	}
}

// stand shows a banner with buttons, and takes the answer that one gives. It stands until its question is closed.
func (s *screen) stand(ctx context.Context, q *supervisor.Question, b Banner) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.mu.Lock()
	s.buttons[q.ID] = cancel
	s.mu.Unlock()
	s.shown.Go(func() {
		defer cancel()
		pressed, err := notify.Ask(ctx, s.banner, b)
		if err != nil || pressed < 0 || pressed >= len(q.Options) {
			s.failed(ctx, err)
			return
		}
		answer := service.Answer{Chosen: &q.Options[pressed].Label, By: byButton}
		if _, err := service.Reply(ctx, s.client, q.ID, answer); err != nil {
			s.log.Info().Err(err).Str("question", q.ID).Msg("a button came too late")
		}
	})
}

// open takes away the banners of questions that are not open any more.
func (s *screen) open(asked []*supervisor.Question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	still := map[string]bool{}
	for _, q := range asked {
		still[q.ID] = true
	}
	for id, cancel := range s.buttons {
		if !still[id] {
			cancel()
			delete(s.buttons, id)
		}
	}
}

func (s *screen) left(end *ending) {
	s.open(nil)
	s.shown.Wait()
	if end != nil {
		s.show(context.Background(), Banner{Title: end.title, Body: end.body})
	}
}

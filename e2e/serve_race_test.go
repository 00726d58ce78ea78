package e2e

import (
	"cmp"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A race for one answer, by all who can give it: the run's own terminal, a board, a form of the page, the API, a button
// on the phone, a file, and the command.

// A place is where a question is answered, each with an answer of its own.
type place struct {
	name, answer string
	gives        func() (won, told bool) // told: it says itself who has won
}

// form sends the page's form.
func (p *servedPage) form(path, body string) (status int, err error) {
	r, err := http.NewRequest(http.MethodPost, p.address+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Fragment", "1")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return reply.StatusCode, reply.Body.Close()
}

// places gets everybody ready to answer the question of a run, to the last key. The board goes with leave.
func (w *world) places(p *servedPage, run *screen, question string, phone ntfyAction) (all []place, leave func()) {
	w.t.Helper()
	board := w.sit([]string{"NO_COLOR=1", "ACCESSIBLE="}, "board")
	board.sees(`1 question`)
	board.types("a")
	board.sees(`↑↓ Enter choose`)
	board.types("2")
	board.sees(`❯ 2\) Sessions`)
	press := func(s *screen, keys string) func() (bool, bool) {
		return func() (bool, bool) {
			if _, err := io.WriteString(s.tty, keys); err != nil {
				w.t.Error(err)
			}
			return false, false
		}
	}
	status := func(send func() (int, error)) func() (bool, bool) {
		return func() (bool, bool) {
			got, err := send()
			if err != nil || got != 200 && got != 409 && got != 410 {
				w.t.Errorf("it gets %d (%v)", got, err)
			}
			return got == 200, true
		}
	}
	return []place{
		{"the run's terminal", "from the terminal", press(run, "from the terminal\r")},
		{"the board", "Sessions", press(board, "\r")},
		{"the page", "from the page", status(func() (int, error) {
			return p.form("/questions/"+question, "do=answer&words=from+the+page")
		})},
		{"the API", "from the API", status(func() (int, error) {
			got, _ := p.send("POST", "/api/questions/"+question+"/answer", `{"value": "from the API"}`)
			return got, nil
		})},
		{"the phone", "JWT", status(func() (int, error) { got, _ := phone.press(w.t, nil); return got, nil })},
		{"a file", "from a file", func() (bool, bool) {
			if err := os.WriteFile(w.answerFile(question), []byte("from a file\n"), 0o600); err != nil {
				w.t.Error(err)
			}
			return false, false
		}},
		{"the command", "from the command", func() (bool, bool) {
			code, _, stderr := w.run("answer", question, "from the command")
			if code != 0 && code != 1 {
				w.t.Errorf("the command exits %d: %s", code, stderr)
			}
			return code == 0, true
		}},
	}, func() { _ = board.cmd.Process.Kill(); _ = board.cmd.Wait() }
}

// One wins, wherever from; who is told so has won, and the agent gets that answer alone. make races has a hundred
// rounds.
func TestOneOfAllPlacesWinsARaceForAnAnswer(t *testing.T) {
	t.Parallel()
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv("CLAUDE_SUPERVISE_TEST_PLACES"), "2"))
	noError(t, err)
	seed, err := strconv.Atoi(cmp.Or(os.Getenv("CLAUDE_SUPERVISE_TEST_SEED"), "1"))
	noError(t, err)
	w, n := newWorld(t), newNtfyServer(t)
	p := w.serve("--listen", "127.0.0.1:0")
	w.withPhone(n, p.address, "")
	wins, chance := map[string]int{}, rand.New(rand.NewPCG(uint64(seed), 1))
	for round := range rounds {
		run := w.sit(nil, "run", "--demo", "ask", "--cwd", ".")
		question := run.asked("way of login")
		asked := n.next(t)
		for asked.SequenceID != question || len(asked.Actions) == 0 { // of the round before: the end
			asked = n.next(t)
		}
		places, leave := w.places(p, run, question, asked.Actions[0])
		var racing sync.WaitGroup
		start, won := make(chan struct{}), make([]bool, len(places))
		toldOf := make([]bool, len(places))
		for i, each := range places {
			late := time.Duration(chance.IntN(150)) * time.Millisecond // else the quickest way wins each time
			racing.Go(func() {
				<-start
				time.Sleep(late)
				won[i], toldOf[i] = each.gives()
			})
		}
		close(start)
		racing.Wait()
		leave()
		if err := run.cmd.Wait(); err != nil {
			t.Fatalf("round %d: the run ends with %v", round, err)
		}
		_, text := p.send("GET", "/api/questions/"+question, "")
		q := parse[questionView](t, text)
		winner := ""
		for i, each := range places {
			is := q.Answer != nil && *q.Answer == each.answer
			if is {
				winner = each.name
			}
			if toldOf[i] && won[i] != is {
				t.Errorf("round %d: %s is told that it won: %v; the answer is %s by %s", round, each.name, won[i], *q.Answer, q.AnsweredBy)
			}
		}
		if winner == "" {
			t.Fatalf("round %d: nobody's answer stands: %s", round, text)
		}
		if got := w.got("auth.txt"); !strings.Contains(got, *q.Answer) {
			t.Errorf("round %d: %s has won, with %s, and the agent was told\n%s", round, winner, *q.Answer, got)
		}
		wins[winner]++
	}
	t.Logf("%d rounds: %v", rounds, wins)
}

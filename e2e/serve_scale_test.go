package e2e

import (
	"bytes"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claude-supervise/e2e/usage"

	_ "modernc.org/sqlite" // to fill the database by the thousand
)

// How much the page is given in make test, and by make page-scale.
type pageScale struct {
	readers, questions, past int
	answers                  int
	events, inOne            int // changes of runs, and how many of them are saved in one transaction
	halfOpen                 int
	log                      int64 // bytes
}

func scaleOfPage() pageScale {
	if os.Getenv("CLAUDE_SUPERVISE_TEST_PAGE_SCALE") != "" {
		return pageScale{readers: 100, questions: 1000, past: 10_000, answers: 100, events: 3600, inOne: 20, halfOpen: 10_000,
			log: 1 << 30}
	}
	return pageScale{readers: 10, questions: 30, past: 100, answers: 5, events: 60, inOne: 10, halfOpen: 100, log: 2 << 20}
}

// copies fills the database with runs in the likeness of one: of its own id and its agent's and question's.
func (w *world) copies(run runView, question string, n int, mark string) (questions []string) {
	w.t.Helper()
	db := w.database()
	tx, err := db.BeginTx(w.t.Context(), nil)
	noError(w.t, err)
	const doc = `replace(replace(replace(doc, ?1, ?2), ?3, ?4), ?5, ?6)`
	const all = ` AND ?2 || ?3 || ?4 || ?5 || ?6 <> ''`
	for i := range n {
		to := fmt.Sprintf("%s%05d", mark, i)
		for _, query := range []string{
			`INSERT INTO runs (id, started, ended, taken, doc) SELECT ?2, started + 1, ended, 0, ` + doc + ` FROM runs WHERE id = ?1` + all,
			`INSERT INTO agents (run, id, doc) SELECT ?2, ?4, ` + doc + ` FROM agents WHERE run = ?1` + all,
			`INSERT INTO questions (run, id, state, doc) SELECT ?2, ?6, state, ` + doc + ` FROM questions WHERE run = ?1` + all,
			`INSERT INTO launches (run, agent, n, live, doc) SELECT ?2, ?4, n, live, ` + doc + ` FROM launches WHERE run = ?1` + all,
		} {
			if _, err := tx.ExecContext(w.t.Context(), query, run.ID, "r-"+to, run.Agents[0].ID, "a-"+to+"abcdef", question,
				"q-"+to); err != nil {
				w.t.Fatal(err)
			}
		}
		questions = append(questions, "q-"+to)
	}
	noError(w.t, tx.Commit())
	return questions
}

func (w *world) stateFolder() string {
	return filepath.Join(w.Home, ".local", "state", "claude-supervise")
}

func (w *world) database() *sql.DB {
	w.t.Helper()
	path := filepath.Join(w.stateFolder(), "state.db")
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "mode=rw&_busy_timeout=10000"}).String())
	noError(w.t, err)
	w.t.Cleanup(func() { _ = db.Close() })
	return db
}

// memory is what the served page has in memory, in bytes.
func (p *servedPage) memory() int64 {
	p.w.t.Helper()
	bytes, err := usage.Memory(p.cmd.Process.Pid)
	noError(p.w.t, err)
	return bytes
}

// processor is the processor's time that the served page has used.
func (p *servedPage) processor() time.Duration {
	p.w.t.Helper()
	used, err := usage.CPU(p.cmd.Process.Pid)
	noError(p.w.t, err)
	return used
}

func quantiles(took []time.Duration) string {
	slices.Sort(took)
	return fmt.Sprintf("median %v, p99 %v, last %v", took[len(took)/2].Round(100*time.Microsecond),
		took[len(took)*99/100].Round(100*time.Microsecond), took[len(took)-1].Round(100*time.Microsecond))
}

// Many look at much: each is told all, one that does not read holds nobody up, and nothing grows. make page-scale
// has the numbers that are promised, and its figures are in the log.
func TestThePageAtScale(t *testing.T) {
	t.Parallel()
	n := scaleOfPage()
	w := newWorldWith(t, plainProgram)
	past := strings.TrimSpace(w.must("run", "--demo", "ask", "--answer", "login=JWT", "--detach"))
	w.must("wait", past)
	ended := w.ps()
	parked := strings.TrimSpace(w.must("run", "--demo", "ask", "--detach", "--hold", "0", "--on-question", "park"))
	w.run("wait", parked)
	asks := w.questions()[0]
	waits := w.runs()[1]
	w.copies(ended, "q-none", n.past, "p")
	questions := w.copies(waits, asks.ID, n.questions-1, "o")
	p := w.serve("--listen", "127.0.0.1:0")

	deaf, err := net.Dial("tcp", strings.TrimPrefix(p.address, "http://")) // listens, and reads nothing
	noError(t, err)
	defer func() { _ = deaf.Close() }()
	if _, err := fmt.Fprintf(deaf, "GET /live HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", p.token); err != nil {
		t.Fatal(err)
	}
	var readers []*servedStream
	for range n.readers {
		reader := p.events("/live", "")
		if e := reader.next(); e.name != "state" {
			t.Fatalf("the first event is %s", e.name)
		}
		readers = append(readers, reader)
	}
	var took []time.Duration
	for range 50 {
		began := time.Now()
		if status, text := p.send("GET", "/", ""); status != 200 || !strings.Contains(text, fmt.Sprintf("<title>(%d) ", n.questions)) {
			t.Fatalf("the page is %d %.500s", status, text)
		}
		took = append(took, time.Since(began))
	}
	t.Logf("first paint, %d readers, %d questions, %d past runs: %s", n.readers, n.questions, n.past, quantiles(took))

	// seenByAll answers a question, and gives how long each reader has waited to see it, since began gave the moment.
	seenByAll := func(id string, answer func() (began time.Time)) (took []time.Duration) {
		seen := make(chan time.Time, len(readers))
		var seeing sync.WaitGroup
		for _, reader := range readers {
			seeing.Go(func() {
				for {
					e, err := reader.read()
					if err != nil {
						t.Errorf("a reader's stream ends with %v", err)
						return
					}
					if e.name == "question" && strings.Contains(e.data, `"id":"`+id+`"`) {
						seen <- time.Now()
						return
					}
				}
			})
		}
		began := answer()
		seeing.Wait()
		close(seen)
		for at := range seen {
			took = append(took, max(at.Sub(began), 0))
		}
		return took
	}
	took = nil
	idle := p.processor()
	for _, id := range questions[:n.answers] {
		took = append(took, seenByAll(id, func() time.Time {
			began := time.Now()
			if status, text := p.send("POST", "/api/questions/"+id+"/answer", `{"value": "1"}`); status != 200 {
				t.Fatalf("%s gets %d %s", id, status, text)
			}
			return began
		})...)
	}
	t.Logf("an answer by the page seen by each: %s; processor for one: %v", quantiles(took),
		((p.processor() - idle) / time.Duration(n.answers)).Round(time.Millisecond))
	took = nil
	for i := range n.answers / 5 {
		id := questions[len(questions)-1-i] // its run does not change below
		took = append(took, seenByAll(id, func() time.Time {
			w.must("answer", id, "1")
			return time.Now()
		})...)
	}
	t.Logf("an answer by the command seen by each, since it has ended: %s", quantiles(took))

	// An hour of events: one in a second.
	db := w.database()
	change := func(i int) {
		tx, err := db.BeginTx(t.Context(), nil)
		noError(t, err)
		for j := range n.inOne {
			if _, err := tx.ExecContext(t.Context(), `UPDATE runs SET doc = json_set(doc, '$.reason', ?) WHERE id = ?`,
				fmt.Sprintf("event %d.%d", i, j), fmt.Sprintf("r-o%05d", n.answers+j)); err != nil {
				t.Fatal(err)
			}
		}
		noError(t, tx.Commit())
		last := fmt.Sprintf("event %d.%d", i, n.inOne-1)
		for _, reader := range readers {
			for !strings.Contains(reader.next().data, last) {
			}
		}
	}
	began, before := time.Now(), int64(0)
	for i := range n.events / n.inOne {
		if change(i); i == n.events/n.inOne/3 { // what is kept for those who come back is full
			before = p.memory()
		}
	}
	after := p.memory()
	t.Logf("%d events to %d readers in %v: %d MiB after a third of them, %d MiB at the end", n.events, n.readers,
		time.Since(began).Round(time.Millisecond), before>>20, after>>20)
	if after > before*3/2 {
		t.Errorf("its memory grows from %d to %d MiB", before>>20, after>>20)
	}

	// Connections that say nothing keep nobody out.
	var silent []net.Conn
	for range n.halfOpen {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.address, "http://"))
		noError(t, err)
		silent = append(silent, conn)
	}
	began = time.Now()
	if status, _ := p.send("GET", "/api/questions/"+questions[len(questions)/2], ""); status != 200 {
		t.Errorf("behind %d of them a person gets %d", n.halfOpen, status)
	}
	t.Logf("behind %d half-open connections: %v, %d MiB", n.halfOpen, time.Since(began).Round(time.Millisecond), p.memory()>>20)
	for _, conn := range silent {
		_ = conn.Close()
	}
	w.pagesALog(p, ended, n.log)
}

// pagesALog makes a log long, and goes through it by parts.
func (w *world) pagesALog(p *servedPage, run runView, size int64) {
	w.t.Helper()
	path := filepath.Join(w.stateFolder(), "runs", run.ID, run.Agents[0].ID+".jsonl")
	text, err := os.ReadFile(path)
	noError(w.t, err)
	log, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	noError(w.t, err)
	defer func() { _ = log.Close() }()
	text = bytes.Repeat(text, max(1, (1<<20)/len(text)))
	written := int64(0)
	for written < size {
		n, err := log.Write(text)
		noError(w.t, err)
		written += int64(n)
	}
	info, err := log.Stat()
	noError(w.t, err)
	before, began := p.memory(), time.Now()
	at := "/api/agents/" + run.Agents[0].ID + "/log?after="
	type part struct {
		Lines []struct{}
		Next  int64
	}
	next, parts := int64(0), 0
	for _, from := range []int64{0, info.Size() / 2, info.Size() - 1<<20} {
		if from > 0 { // in the middle of a line: the rest of it is none
			next = from
		}
		for range 4 {
			status, text := p.send("GET", fmt.Sprint(at, next), "")
			got := parse[part](w.t, text)
			if status != 200 || len(text) > 4<<20 || got.Next <= next || len(got.Lines) == 0 {
				w.t.Fatalf("from %d the log is %d, %d bytes with %d lines, and continues at %d", next, status, len(text), len(got.Lines),
					got.Next)
			}
			next, parts = got.Next, parts+1
		}
	}
	if status, text := p.send("GET", "/agents/"+run.Agents[0].ID, ""); status != 200 || len(text) > 4<<20 {
		w.t.Errorf("the page of its agent is %d, %d bytes", status, len(text))
	}
	after := p.memory()
	w.t.Logf("a log of %d MiB: %d parts and a page in %v, %d MiB before, %d after", info.Size()>>20, parts,
		time.Since(began).Round(time.Millisecond), before>>20, after>>20)
	if after > before+64<<20 {
		w.t.Errorf("its memory grows from %d to %d MiB", before>>20, after>>20)
	}
}

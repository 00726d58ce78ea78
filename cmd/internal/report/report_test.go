package report

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"

	"claude-supervise/cmd/internal/markup/markuptest"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

var update = flag.Bool("update", false, "write the golden files anew")

func at(minute int) time.Time { return time.Date(2026, 11, 21, 10, minute, 0, 0, time.UTC) }

func answered(d view.Decision, answer, by string, minute int) view.Decision {
	when := at(minute)
	d.Answer, d.AnsweredBy, d.AnsweredAt, d.After = &answer, by, &when, when.Sub(d.AskedAt)
	d.State = "delivered"
	return d
}

func decision(id, question string, minute int) view.Decision {
	return view.Decision{QuestionView: view.QuestionView{ID: id, State: supervisor.Open, Question: question,
		AskedAt: at(minute)}, After: time.Hour}
}

// fill returns what a pointer is to point to.
func fill[T any](p **T) *T {
	*p = new(T)
	return *p
}

// sample is a run with one of everything, in which others' texts are what said gives.
func sample(said func(string) string) view.RunReport {
	ended := at(59)
	code := 0
	ran := answered(decision("q-4", said("make deploy"), 40), "run it", "ann", 41)
	ran.Ran = "exit 0"
	ruled := answered(decision("q-5", said("Bash: go test ./..."), 42), "allow", "--allow", 42)
	ruled.ByRule = true
	r := view.RunReport{
		Run: view.RunView{ID: "r-3f9a2c1b", Name: said("login"), Status: "succeeded",
			Reason: said("reported success"), Cwd: said("/home/ann/shop"), StartedAt: at(0), EndedAt: &ended, ExitCode: &code,
			CostUSD: 1.25},
		From: at(0), To: ended,
		Agents: []view.ReportedAgent{
			{AgentView: view.AgentView{ID: "a-7Qm2xK9fWb4T", Who: said("root"), Status: "succeeded",
				Task: said("Add a login"), CostUSD: 1, InputTokens: 12345, OutputTokens: 678, ToolUses: 9, Launches: 2,
				CacheRead: 9000, CacheCreation: 3000, ServiceTier: said("priority")},
				Worked: 30 * time.Minute,
				Spans: []view.Span{{From: at(0), To: at(10), Kind: view.SpanWorking, Reason: said("at work")},
					{From: at(10), To: at(12), Kind: view.SpanAsking, Reason: said("asks: Which?")},
					{From: at(12), To: at(50), Kind: view.SpanParked}, {From: at(50), To: at(59), Kind: view.SpanWorking}}},
			{AgentView: view.AgentView{ID: "a-Zp3rK9fWb4T1", Parent: "a-7Qm2xK9fWb4T", Depth: 1, Who: said("tests"),
				Status: "failed", Reason: said("API Error: 529"), CostUSD: 0.25},
				Spans: []view.Span{{From: at(5), To: at(6), Kind: view.SpanQueued}, {From: at(6), To: at(9), Kind: view.SpanLimited}},
				Worktree: &view.WorktreeView{State: "kept", Branch: said("claude-supervise/r/a"),
					Path: said("/tmp/tree"), Left: said("2 commits"), Merge: []string{said("git merge claude-supervise/r/a")}}, Changed: []string{said("auth.go"), said("old.go")}},
		},
		Asked: []view.Decision{
			answered(decision("q-1", said("Which way of login?"), 10), said("JWT"), said("ann"), 50),
			decision("q-2", said("The disk is full"), 51),
			answered(decision("q-3", said("Bash: rm -rf build"), 30), "deny", "`claude-supervise answer`, process 7", 31), ran, ruled,
		},
		Rules: []view.PermissionView{{Rule: said("Bash(go test:*)"), From: said("--allow")}},
	}
	r.Asked[0].Assumption, r.Asked[0].Verdict, r.Asked[0].Affects = said("JWT"), "confirmed", []string{said("auth.go")}
	for i, kind := range []string{"clarification", "blocker", "permission", "command", "permission"} {
		reflect.ValueOf(&r.Asked[i].Kind).Elem().SetString(kind)
	}
	report := fill(&r.Agents[0].Report)
	report.Status, report.Summary = "success", said("the login works")
	report.Deliverables, report.Missing = said("- auth.go\n- auth_test.go"), []string{said("notes.md")}
	return r
}

// meanwhile is what happened in two runs, of which one waits for a person.
func meanwhile(said func(string) string) view.Meanwhile {
	done, waits := sample(said), sample(said)
	done.Asked = done.Asked[2:]
	done.Changes = "a-7Qm2xK9fWb4T, in its worktree:\ndiff --git a/auth.go b/auth.go\n--- a/auth.go\n+++ b/auth.go\n" +
		"@@ -1,2 +1,2 @@\n-old\n--- no file\n+new\n+" + strings.ReplaceAll(said("newer"), "\n", " ") + "\n" +
		"--- a/gone.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
	waits.Run.ID, waits.Run.EndedAt, waits.Run.ExitCode, waits.Run.Status = "r-00000002", nil, nil, "parked"
	waits.Asked = waits.Asked[:2]
	asks := view.Waiting{Decision: waits.Asked[1], Of: waits.Run, Holds: 3}
	asks.AnswerCommand = "claude-supervise answer q-2 VALUE"
	return view.Meanwhile{Record: view.Record{From: at(0), To: at(59), Cwd: said("/home/ann"),
		Runs: []view.RunReport{done, waits}}, Waits: []view.Waiting{asks}, Spent: 2.5}
}

func asIs(s string) string { return s }

func TestAReportTellsTheTimesInAReasonByThePersonsClock(t *testing.T) {
	stored := at(30).UTC().Format(time.RFC3339)
	r := sample(func(string) string { return "limit; resumes at " + stored })
	r.Agents[0].Task, r.Agents[1].Report = "", nil
	local := "limit; resumes at " + view.Clock(at(30))
	for name, c := range map[string]struct {
		write   func(io.Writer) error
		reasons int // which it tells
	}{
		"a page":     {func(w io.Writer) error { return HTML(w, r) }, 4},
		"for CI":     {func(w io.Writer) error { return Markdown(w, r) }, 1},
		"a record":   {func(w io.Writer) error { return RecordHTML(w, view.Record{Runs: []view.RunReport{r}}) }, 1},
		"one for CI": {func(w io.Writer) error { return RecordMarkdown(w, view.Record{Runs: []view.RunReport{r}}) }, 1},
	} {
		var got strings.Builder
		if err := c.write(&got); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(html.UnescapeString(got.String()), local); n != c.reasons {
			t.Errorf("%s tells %d reasons by the clock, not %d:\n%s", name, n, c.reasons, got.String())
		}
	}
}

func TestTheReportIsAsItWasLookedAt(t *testing.T) {
	t.Setenv("TZ", "UTC")
	time.Local = time.UTC
	record := view.Record{From: at(0), To: at(59), Cwd: "/home/ann", Runs: []view.RunReport{sample(asIs)}}
	for name, write := range map[string]func(io.Writer) error{
		"run.html":         func(w io.Writer) error { return HTML(w, sample(asIs)) },
		"run.md":           func(w io.Writer) error { return Markdown(w, sample(asIs)) },
		"record.html":      func(w io.Writer) error { return RecordHTML(w, record) },
		"record.md":        func(w io.Writer) error { return RecordMarkdown(w, record) },
		"meanwhile.html":   func(w io.Writer) error { return MeanwhileHTML(w, meanwhile(asIs)) },
		"meanwhile.md":     func(w io.Writer) error { return MeanwhileMarkdown(w, meanwhile(asIs)) },
		"meanwhile.txt":    func(w io.Writer) error { _, err := io.WriteString(w, MeanwhileText(60, meanwhile(asIs))); return err },
		"hostile-run.html": func(w io.Writer) error { return HTML(w, sample(allHostile)) },
		"hostile-record.html": func(w io.Writer) error {
			return RecordHTML(w, view.Record{From: at(0), To: at(59), Cwd: allHostile(""), Runs: []view.RunReport{sample(allHostile)}})
		},
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s is not as it was (%v); -update writes it anew", name, err)
		}
	}
}

// hostile are texts that try to be more than text.
var hostile = []string{
	"</p><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "x' onload='alert(1)", "javascript:alert(1)",
	"\x1b]0;owned\a\x1b[2J", "\u202egnp.exe", "שלום עולם", "a\x00b\xff", "]]></style><style>*{display:none}",
	"[click](javascript:alert(1))", "| a | b |\n| --- | --- |", "```\n# heading\n```", "<!-- -->", "![x](http://evil.example/p.png)",
	"http://evil.example www.evil.example @everyone", "$x^2$ **bold** _it_ ~~s~~", "{{.}}", strings.Repeat("long ", 20<<10),
}

// allHostile says a text with all that is hostile but the length.
func allHostile(text string) string { return text + strings.Join(hostile[:len(hostile)-1], " ") }

func TestWhatOthersWroteIsTextInThePage(t *testing.T) {
	isTextInAPage(t, func(w io.Writer, said func(string) string) error { return HTML(w, sample(said)) })
	isTextInAPage(t, func(w io.Writer, said func(string) string) error { return MeanwhileHTML(w, meanwhile(said)) })
}

func isTextInAPage(t *testing.T, write func(io.Writer, func(string) string) error) {
	t.Helper()
	var want bytes.Buffer
	if err := write(&want, func(string) string { return "x" }); err != nil {
		t.Fatal(err)
	}
	for _, text := range hostile {
		var got bytes.Buffer
		if err := write(&got, func(string) string { return text }); err != nil {
			t.Fatal(err)
		}
		if w, g := markuptest.Elements(t, want.String()), markuptest.Elements(t, got.String()); w != g {
			t.Errorf("%.40q makes elements of its own:\n%s\nwant\n%s", text, g, w)
		}
		for _, hidden := range []string{"\x1b", "\u202e", "\x00", "\a", "\xff"} {
			if bytes.Contains(got.Bytes(), []byte(hidden)) {
				t.Errorf("%.40q leaves %q in the page", text, hidden)
			}
		}
		if got.Len() > 1<<20 {
			t.Errorf("%.20q makes a page of %d bytes", text, got.Len())
		}
	}
}

func TestWhatOthersWroteIsTextInMarkdown(t *testing.T) {
	isTextInMarkdown(t, func(w io.Writer, said func(string) string) error { return Markdown(w, sample(said)) })
	isTextInMarkdown(t, func(w io.Writer, said func(string) string) error { return MeanwhileMarkdown(w, meanwhile(said)) })
	if got := escape(strings.Repeat("x", 100<<10)); len(got) > maxCell+100 || !strings.Contains(got, "100352") &&
		!strings.Contains(got, "100400") {
		t.Errorf("a long text is cut to %d bytes: %s", len(got), got[len(got)-60:])
	}
}

func isTextInMarkdown(t *testing.T, write func(io.Writer, func(string) string) error) {
	t.Helper()
	var want bytes.Buffer
	if err := write(&want, func(string) string { return "x" }); err != nil {
		t.Fatal(err)
	}
	for _, text := range hostile {
		if strings.HasPrefix(text, "long") {
			continue // that it is cut is seen above
		}
		var got bytes.Buffer
		if err := write(&got, func(string) string { return text }); err != nil {
			t.Fatal(err)
		}
		// Whatever stands in the place of x, the page has the same elements.
		w, g := markuptest.Elements(t, rendered(t, want.String())), markuptest.Elements(t, rendered(t, got.String()))
		if w != g {
			t.Errorf("%.40q is markup of its own:\n%s\nwant\n%s", text, g, w)
		}
	}
}

// rendered is what a Markdown text becomes as a page, but for the breaks of lines.
func rendered(t *testing.T, text string) string {
	t.Helper()
	var page bytes.Buffer
	by := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(goldmarkhtml.WithUnsafe()))
	if err := by.Convert([]byte(strings.ReplaceAll(text, "<br>", " ")), &page); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// A text is itself in a line of Markdown, whatever characters it has side by side, and most of it can be read as it is.
func TestATextInMarkdownIsItself(t *testing.T) {
	const few = "Run: cd it_is && (make test)! \"Why?\" + 1"
	if got := escape(few); got != few {
		t.Errorf("what means nothing becomes %s", got)
	}
	pieces := strings.Split("a 1 _ __ * ** ` ~ ~~ : :/ :// http http://x.de www.x.de mailto: &amp; &lt &#60; & && < > <b> </b> <!-- --> [ ] ( ) "+
		"[x](y) ![ \\ \\\\ | # ## @ $ $$ + - = --- === 1. 2) . , ' \" { } {{ }} ^ ! é 漢 :smile: a@b.de - [x]", " ")
	random := rand.New(rand.NewPCG(1, 2))
	for range 4_000 {
		var b strings.Builder
		for range 1 + random.IntN(6) {
			b.WriteString(pieces[random.IntN(len(pieces))])
			if random.IntN(2) == 0 {
				b.WriteByte(' ')
			}
		}
		said := strings.TrimSpace(b.String())
		for i, in := range []string{"%s\n", "- %s\n", "| x |\n| --- |\n| %s |\n", "### %s\n", "x: %s, y\n"} {
			want := strings.Replace(rendered(t, fmt.Sprintf(in, "WHAT")), "WHAT", said, 1)
			escapes := escape
			if i < 2 {
				escapes = escapeFirst
			}
			got := html.UnescapeString(rendered(t, fmt.Sprintf(in, escapes(said))))
			if got != want {
				t.Fatalf("%q in %q becomes\n%s\nwant\n%s", said, in, got, want)
			}
		}
	}
}

func TestAnsweredByIsPlainTextAndARuleIsAsItIs(t *testing.T) {
	for _, test := range []struct {
		who, want string
		rule      bool
	}{
		{"`claude-supervise answer`, process 7", "claude-supervise answer, process 7", false},
		{"`claude-supervise serve`", "claude-supervise serve", false},
		{"ann `x`", "ann `x`", false},
		{"Bash(`claude-supervise ps`)", "a rule: Bash(`claude-supervise ps`)", true},
	} {
		var d view.Decision
		d.AnsweredBy, d.ByRule = test.who, test.rule
		if got := by(d); got != test.want {
			t.Errorf("%q is shown as %q, not %q", test.who, got, test.want)
		}
	}
}

func TestLongStretchesWithoutWorkAreDrawnShorter(t *testing.T) {
	r := view.RunReport{From: at(0), To: at(0).Add(7 * 24 * time.Hour), Agents: []view.ReportedAgent{{Spans: []view.Span{
		{From: at(0), To: at(3), Kind: view.SpanWorking},
		{From: at(3), To: at(0).Add(7*24*time.Hour - 3*time.Minute), Kind: view.SpanParked},
		{From: at(0).Add(7*24*time.Hour - 3*time.Minute), To: at(0).Add(7 * 24 * time.Hour), Kind: view.SpanWorking},
	}}}}
	bars := newTimeline(r).Bars(r.Agents[0])
	if len(bars) != 3 || bars[1].Width > 260 || bars[0].Width < 370 || bars[2].X+bars[2].Width < 999 {
		t.Errorf("the bars are %+v", bars)
	}
	if bars := newTimeline(view.RunReport{From: at(0), To: at(0)}).Bars(r.Agents[0]); len(bars) != 3 {
		t.Errorf("without a length the bars are %+v", bars)
	}
}

package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

const (
	ciGitHub = "../examples/ci/github-actions.yml"
	ciGitLab = "../examples/ci/gitlab-ci.yml"
)

// awkward is an answer that would do harm wherever it were taken for a part of a script.
const awkward = `JWT "; touch pwned; ' $(touch pwned) ` + "`touch pwned`" + ` ${{ secrets.ANTHROPIC_API_KEY }}`

var (
	askedID  = regexp.MustCompile(`q-[0-9A-Za-z]{6}\b`)
	packedID = regexp.MustCompile(`\br-[0-9a-z]{8}\b`)
)

// The real CLI works here, the stand-in at GitLab: the agent is one thing, the forge another.
func TestAGitHubWorkflowParksVanishesAndGoesOnWithEachAnswer(t *testing.T) {
	t.Parallel()
	f := newFleet(t, true)
	asked := f.github(ciGitHub, map[string]string{"task": "Add a login to the small web service in this folder."})
	run := wantAsked(t, asked, "Which way of login should the service use?")

	commitAll(t, addFile(t, f.origin), "the branch moves on while the person thinks")
	again := f.github(ciGitHub, map[string]string{
		"run": run, "packed-in": number(asked.run), "question": askedID.FindString(asked.summary), "answer": awkward,
	})
	if got := wantAsked(t, again, "How long should a login last?"); got != run {
		t.Errorf("it continues as %s, not %s", got, run)
	}
	if f.read("auth.txt") != "login by "+awkward+"\n" || f.read("notes.txt") != "seen by the first machine\n" {
		t.Errorf("auth.txt: %q, notes.txt: %q", f.read("auth.txt"), f.read("notes.txt"))
	}

	done := f.github(ciGitHub, map[string]string{
		"run": run, "packed-in": number(again.run), "question": askedID.FindString(again.summary), "answer": "-1 day",
	})
	if !done.ok || !strings.Contains(done.summary, "## Run "+run) || !strings.Contains(done.summary, "**succeeded**") ||
		!strings.Contains(done.summary, "-1 day") {
		t.Fatalf("it does not end well:\n%s\nsummary: %s", done.log, done.summary)
	}
	wantDone(t, f)
}

func TestAGitHubWorkflowThatFailsIsRed(t *testing.T) {
	t.Parallel()
	f := newFleet(t, false)
	if done := f.github(ciGitHub,
		map[string]string{"run": "r-12345678", "packed-in": "1", "question": "q-123456", "answer": "1"}); done.ok {
		t.Error("it is green without the packed run")
	}
	if done := f.github(ciGitHub, nil); done.ok || !strings.Contains(done.log, "the prompt is empty") {
		t.Errorf("it is green without a task: %s", done.log)
	}
}

func TestAGitLabPipelineParksVanishesAndGoesOnWithEachAnswer(t *testing.T) {
	t.Parallel()
	f := newFleet(t, false)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/projects/7/jobs/"), "/", 2)
		content, err := f.artifact(parts[0], r.URL.Path)
		if err != nil || r.Header.Get("JOB-TOKEN") != "job-token" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.Copy(w, content)
	}))
	t.Cleanup(server.Close)

	asked, warned := f.gitlab(ciGitLab, map[string]string{"TASK": "Add a login to the small web service in this folder."},
		server.URL)
	run := packedID.FindString(asked.log)
	if !warned || !strings.Contains(asked.log, "RUN="+run+" PACKED_IN="+number(asked.run)) {
		t.Fatalf("it is not parked:\n%s", asked.log)
	}
	again, warned := f.gitlab(ciGitLab, map[string]string{
		"RUN": run, "PACKED_IN": number(asked.run), "QUESTION": lastAsked(asked.log), "ANSWER": awkward,
	}, server.URL)
	if !warned {
		t.Fatalf("it is not parked again:\n%s", again.log)
	}
	if page := f.read("packed/report.html"); !strings.Contains(page, "How long should a login last?") {
		t.Errorf("the report is %.200q", page)
	}
	done, _ := f.gitlab(ciGitLab, map[string]string{
		"RUN": run, "PACKED_IN": number(again.run), "QUESTION": lastAsked(again.log), "ANSWER": "-1 day",
	}, server.URL)
	if !done.ok {
		t.Fatalf("it does not end well:\n%s", done.log)
	}
	wantDone(t, f)
}

// wantAsked reports whether a workflow ended green with a question in its summary, and gives the run.
func wantAsked(t *testing.T, f finished, question string) string {
	t.Helper()
	if !f.ok || !strings.Contains(f.summary, "    "+question) || !strings.Contains(f.log, "::notice title=Claude asks::") {
		t.Fatalf("it is not parked:\n%s\nsummary:\n%s", f.log, f.summary)
	}
	return packedID.FindString(f.summary)
}

func wantDone(t *testing.T, f *fleet) {
	t.Helper()
	for name, want := range map[string]string{
		"auth.txt": "login by " + awkward + "\n", "duration.txt": "for -1 day\n", "notes.txt": "seen by the first machine\n",
	} {
		if got := f.read(name); got != want {
			t.Errorf("%s holds %q, not %q", name, got, want)
		}
	}
	if status := git(t, f.workspace, "ls-files", "--others"); strings.Contains(status, "pwned") {
		t.Errorf("the answer was run as a script: %s", status)
	}
}

func lastAsked(log string) string {
	ids := askedID.FindAllString(log, -1)
	if len(ids) == 0 {
		return ""
	}
	return ids[len(ids)-1]
}

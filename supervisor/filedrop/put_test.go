package filedrop

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/internal/gittest"
	"claude-supervise/supervisor/internal/storetest"
	"claude-supervise/supervisor/questions"
)

// ownPending returns an empty folder for question files, in which this process looks for them.
func ownPending(t *testing.T) string {
	t.Helper()
	claude := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", claude)
	if _, err := OpenFolders(claude); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(claude, "questions", "pending")
}

func TestAQuestionFileThatARunHasTakenForItsOwnIsThatRunsQuestion(t *testing.T) {
	pending := ownPending(t)
	s := storetest.NewSaver(t, storetest.TestDirs(t), "r-fileasks")
	s.Save(checkpoints.Running, "works")
	mine := func(id string, index int, state checkpoints.QuestionState) *supervisor.Question {
		return &supervisor.Question{
			ID: id, Run: s.Run.ID, Agent: s.Run.Root, Group: "g-1", Index: index, Kind: questions.AskFile,
			State:   state,
			Wording: checkpoints.Wording{Text: "Which?"}, AskedAt: checkpoints.Now(),
			Origin: checkpoints.Origin{File: &checkpoints.FileAsked{ID: "taken", Polls: true}},
		}
	}
	s.Commit(checkpoints.Change{Questions: []*supervisor.Question{
		mine("q-aaaaaa", 0, checkpoints.QuestionAnswered), mine("q-bbbbbb", 1, supervisor.Open),
		mine("q-cccccc", 2, supervisor.Open),
	}})
	gittest.Put(t, filepath.Join(pending, "taken.json"), `{"question": "Which?"}`)
	gittest.Put(t, filepath.Join(pending, "free.json"), `{"question": "Which?", "asked_at": "2025-10-19T14:32:00Z"}`)
	gittest.Put(t, filepath.Join(pending, "earlier.json"), `{"question": "Which?", "asked_at": "2025-10-19T14:31:00Z"}`)

	open, problems, err := Unowned(t.Context(), s.Store)
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v", problems, err)
	}
	var ids []string
	for _, q := range open {
		ids = append(ids, q.ID)
	}
	if diff := cmp.Diff([]string{"earlier", "free"}, ids); diff != "" {
		t.Errorf("unowned are (-want +got)\n%s", diff)
	}
	if q, err := Named(t.Context(), s.Store, "taken"); err != nil || q.ID != "q-bbbbbb" {
		t.Errorf("the file is question %v (%v), want the first of the run's that is open", q, err)
	}
	if q, err := Named(t.Context(), s.Store, "free"); err != nil || q.ID != "free" || q.Run != "" {
		t.Errorf("the file is question %v (%v), want its own", q, err)
	}
}

func TestAQuestionFileOfOursIsNotAScriptsQuestion(t *testing.T) {
	pending := ownPending(t)
	drop, err := OpenFolders(filepath.Dir(filepath.Dir(pending)))
	if err != nil {
		t.Fatal(err)
	}
	if err := drop.Post(QuestionFile{ID: "q-aaaaaa", Question: "Which?", Run: "r-12345678",
		Agent: "a-7Qm2xK9fWb4T"}); err != nil {
		t.Fatal(err)
	}
	s := storetest.NewSaver(t, storetest.TestDirs(t), "r-fileours")
	s.Save(checkpoints.Running, "works")
	if open, problems, err := Unowned(t.Context(), s.Store); err != nil || len(open)+len(problems) > 0 {
		t.Errorf("unowned are %v, %v (%v)", open, problems, err)
	}
	if _, err := Named(t.Context(), s.Store, "q-aaaaaa"); !errors.As(err, new(*checkpoints.UnknownError)) {
		t.Errorf("its name gives %v", err)
	}
}

func TestAFileQuestionIsAskedAsOneWhateverTheFileHolds(t *testing.T) {
	at := time.Date(2025, 10, 19, 14, 32, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		file     QuestionFile
		text     string
		context  string
		options  []string
		validate string
	}{
		"one": {
			file: QuestionFile{Question: "Which?", Context: "Both fit.", Options: []string{"a", "b"},
				Validate: "choice"},
			text: "Which?", context: "Both fit.", options: []string{"a", "b"}, validate: "choice",
		},
		"one in a list": {
			file: QuestionFile{Context: "Both fit.", Questions: []FileQuestion{
				{ID: "q1", Question: "Which?", Context: "Say soon.", Options: []string{"a"}, Validate: "choice"},
			}},
			text: "Which?", context: "Both fit.\nSay soon.", options: []string{"a"}, validate: "choice",
		},
		"several": {
			file: QuestionFile{Questions: []FileQuestion{
				{ID: "q1", Question: "Which?", Options: []string{"a", "b"}, Validate: "choice"},
				{ID: "q2", Question: "Where?", Context: "A port."},
			}},
			text: "q1: Which? (a, b)\nq2: Where?\n    A port.\nAnswer all in one line.",
		},
		"several beside one": {
			file: QuestionFile{Question: "About the service:",
				Questions: []FileQuestion{{ID: "q1", Question: "Which?"}}},
			text: "About the service:\nq1: Which?\nAnswer all in one line.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.file.ID, c.file.AskedBy, c.file.AskedAt = "auth_q1", "auth-agent", at
			q := question(c.file)
			var labels []string
			for _, o := range q.Options {
				labels = append(labels, o.Label)
			}
			if q.ID != "auth_q1" || q.Run != "" || q.Agent != "auth-agent" || q.Kind != questions.AskFile ||
				q.State != supervisor.Open || !q.AskedAt.Equal(at) {
				t.Errorf("it is %+v", q)
			}
			if q.Text != c.text || q.Context != c.context || q.Validate != c.validate ||
				strings.Join(labels, ",") != strings.Join(c.options, ",") {
				t.Errorf("it asks %q (%q, %q, %q)", q.Text, q.Context, labels, q.Validate)
			}
		})
	}
}

func TestTheClaudeFolderIsTheOneThatClaudeCodeTakes(t *testing.T) {
	for env, want := range map[[2]string]string{
		{"/home/you", ""}:           "/home/you/.claude",
		{"/home/you", "/elsewhere"}: "/elsewhere",
		{"", "/elsewhere"}:          "/elsewhere",
		{"", ""}:                    "",
		{"home", ""}:                "",
	} {
		got, err := ClaudeFolder(func(name string) string {
			return map[string]string{"HOME": env[0], "CLAUDE_CONFIG_DIR": env[1]}[name]
		})
		if got != want || (err != nil) != (want == "") {
			t.Errorf("HOME=%q, CLAUDE_CONFIG_DIR=%q: %q (%v)", env[0], env[1], got, err)
		}
	}
}

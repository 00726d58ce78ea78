package terminal

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatWasTypedIsSaidWhenTheQuestionIsAnsweredElsewhere(t *testing.T) {
	t.Run("form", func(t *testing.T) {
		d := enterAble(t, question("q-1", "Red", "Green"), question("q-2", "Red", "Green"))
		d.sees("> next · " + formFoot)
		d.types("mine")
		d.sees("mine")
		d.prompter.Gone("q-1", "answered by the page: Red")
		d.sees("nswered by the page: Red")
		d.sees("Not sent: mine")
		d.sees("What about q-2?")
		d.sees(formFoot)
		d.types("\tother" + esc + esc) // put aside, where nobody takes messages: it stays
		d.prompter.Gone("q-2", "answered by the page: Red")
		d.sees("Not sent: other")
		d.leave()
		d.nothingTyped()
	})
	t.Run("lines", func(t *testing.T) {
		d := enterRaw(t, nil, question("q-1"), question("q-2"))
		d.sees("q-1> ")
		d.types("one\\\n")
		d.sees("... ")
		d.types("half")
		d.sees("half")
		d.prompter.Gone("q-1", "answered by the page: Red")
		d.sees("nswered by the page: Red")
		d.sees("Not sent: one half")
		d.sees("q-2> ")
		d.types("last")
		d.sees("last")
		d.leave()
		d.sees("Not sent: last")
		d.nothingTyped()
	})
	t.Run("a message in lines", func(t *testing.T) {
		d := enterRaw(t, nil)
		d.takesMessages()
		d.types("half")
		d.sees("half")
		d.prompter.Set([]Question{question("q-1")})
		d.sees("Not sent: half")
		d.sees("q-1> ")
	})
}

func TestADraftIsThereAgainAndIsSentByEnterAlone(t *testing.T) {
	for name, env := range map[string]map[string]string{"form": able(), "lines": {}} {
		t.Run(name, func(t *testing.T) {
			env = maps.Clone(env)
			folder := t.TempDir()
			env[draftsFolder] = folder
			draft := filepath.Join(folder, draftsName+"q-1")
			asked, foot := question("q-1"), "q-1> "
			if name == "form" {
				foot = formFoot
			}
			asked.Run = "r-1"
			d := enterRaw(t, env, asked)
			d.sees(foot)
			d.types("my words")
			d.sees("words")
			d.leave()
			d.sees("Not sent: my words")
			info, err := os.Stat(draft)
			if err != nil || info.Mode() != 0o600 {
				t.Fatalf("the draft: %v, %v", info, err)
			}

			d = enterRaw(t, env, asked)
			d.sees("my words")
			d.sees(foot)
			select {
			case a := <-d.answers:
				t.Fatalf("%+v was sent", a)
			default:
			}
			if name == "form" {
				d.types(" too\r")
				d.answered(submitted{ID: "q-1", Answer: "my words too"})
			} else {
				d.types(toSendDraft + "\n")
				d.answered(submitted{ID: "q-1", Answer: "my words"})
			}
			d.leave()
			if left, _ := os.ReadDir(folder); len(left) > 0 {
				t.Errorf("%s is left of a question that has its answer", left[0].Name())
			}
		})
	}
}

// A kill leaves nobody time to write: what was typed is kept at each key.
func TestADraftIsKeptAtEachKeyUntilItsQuestionIsGone(t *testing.T) {
	folder := t.TempDir()
	env := able()
	env[draftsFolder] = folder
	asked := question("q-1", "Deny", "Allow")
	asked.Run, asked.Kind = "r-1", "permission"
	hidden := question("q-2")
	hidden.Run, hidden.Secret = "r-1", true
	d := enterRaw(t, env, asked, hidden)
	d.sees(formFoot)
	d.types("1\r")
	d.sees("Enter sends")
	d.types("too risky")
	d.sees("risky")
	file := filepath.Join(folder, draftsName+"q-1")
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), `"Decision":"Deny"`) {
		t.Fatalf("the draft is %q, %v", data, err)
	}
	d.prompter.Gone("q-1", "no longer asked")
	d.sees("Not sent: too risky")
	d.sees("What about q-2?")
	d.sees(formFoot)
	d.types("hunter2")
	d.sees("hunter2")
	d.leave()
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

func TestAMessageThatIsNotSentIsThereAgain(t *testing.T) {
	for name, env := range map[string]map[string]string{"form": able(), "lines": {}} {
		t.Run(name, func(t *testing.T) {
			env = maps.Clone(env)
			env[draftsFolder] = t.TempDir()
			kept := func() string {
				return Drafts{Folder: func(string) string { return env[draftsFolder] }}.Message(Addressee{Run: "r-1"})
			}
			d := enterRaw(t, env)
			d.takesMessages()
			d.prompter.Hint("type a message")
			if name == "form" {
				d.sees("> ")
			}
			d.types("my words")
			d.sees("words")
			if name == "form" && kept() == "" {
				t.Error("it is not kept at each key")
			}
			d.leave()
			d.sees("Not sent: my words")
			if kept() != "my words" {
				t.Errorf("%q is kept", kept())
			}

			d = enterRaw(t, env)
			said := d.takesMessages()
			if name == "form" {
				d.sees("> my words")
				d.types(" too\r")
				d.says(said, "my words too")
			} else {
				d.sees("did not send it: my words (" + toSendDraft + " sends it)")
				d.types("others\n")
				d.says(said, "others")
				d.types(toSendDraft + "\n")
				d.says(said, "my words")
				d.types(toSendDraft + "\n")
				d.sees("Nothing that was typed before is kept.")
			}
			d.leave()
			if kept() != "" {
				t.Errorf("%q is left of what was sent", kept())
			}
		})
	}
}

func TestAFileOfDraftsIsRead(t *testing.T) {
	q := question("q-1", "Red", "Green")
	q.Run = "r-1"
	d := Drafts{Folder: func(string) string { return t.TempDir() }}
	folder := t.TempDir()
	d.Folder = func(string) string { return folder }
	for name, test := range map[string]struct{ file, want string }{
		"nonsense":  {"{", ""},
		"no such":   {`[{"For":77,"Text":"x"},{"For":-1,"Text":"y"}]`, ""},
		"a control": {`[{"For":1,"Text":"a\u001b[2Jb\u0007"}]`, "ab"},
	} {
		if err := os.WriteFile(d.file(q), []byte(test.file), 0o600); err != nil {
			t.Fatal(err)
		}
		f := newForm(q, false, "", newStyles(false))
		f.restore(d.of(q))
		if got := whole(f.unsent()); got != test.want {
			t.Errorf("%s: the draft is %q", name, got)
		}
	}
	for _, id := range []string{"../q-1", "a/b"} {
		if file := d.file(Question{ID: id, Run: "r-1"}); file != "" {
			t.Errorf("the draft of %s is %s", id, file)
		}
	}
	d.keep(q, []savedDraft{{For: ownAnswer, Text: strings.Repeat("x", maxSaved)}})
	if got := d.of(q); len(whole(got)) > 100 {
		t.Error("a draft that is longer than an answer is kept")
	}
}

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/e2e/sample"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/images"
)

// shows is a question that shows an image, by our tool and by what its agent says.
var shows = map[string]string{
	"ask_user": `tools: [{name: mcp__supervise__ask_user, input: {questions: [{id: A1, text: "Is it so?", image: %q}]}}]`,
	"text": `text: |-
          [CLARIFICATION_NEEDED]
          agent_id: {{agent}}
          timestamp: 2026-01-11T08:45:00Z
          questions:
            - question_id: A1
              text: Is it so?
              image: %s
          [/CLARIFICATION_NEEDED]`,
}

type shownImage struct {
	Hash, Name, Type, Path string
	Width                  int
}

// imageOf returns the image that a question shows, and what is shown with it; nil if it shows none.
func (w *world) imageOf(question string) (i *shownImage, context string) {
	w.t.Helper()
	q := parse[struct {
		Image   *shownImage
		Context string
	}](w.t, w.must("show", question, "--json"))
	return q.Image, q.Context
}

// A question shows the image as it was when it was asked, whatever becomes of its file and of the supervisor, until the
// run is pruned.
func TestAQuestionShowsAnImageAsItWasWhenItWasAsked(t *testing.T) {
	t.Parallel()
	played := sample.Pick(t.Name(), slices.Sorted(maps.Keys(shows))) // by the real CLI
	for way, asks := range shows {
		for _, real := range []bool{false, true} {
			if real && !slices.Contains(played, way) {
				continue
			}
			t.Run(fmt.Sprintf("%s, real %v", way, real), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				file, _ := w.picture("shot.png", 9)
				data, err := os.ReadFile(file)
				noError(t, err)
				own := filepath.Join(w.Cwd, "out")
				noError(t, os.Mkdir(own, 0o700))
				own = filepath.Join(own, "shot.png")
				noError(t, os.WriteFile(own, data, 0o600))
				path := w.scenario(fmt.Sprintf(asksForPicture, fmt.Sprintf(asks, "out/shot.png")))
				s := load(t, path)
				if w.agent = []string{"--demo", path, "--cwd", "."}; real {
					var requests bodies
					w.real(s, requests.take)
				}
				run := w.start(w.runArgs(s, "--hold", "forever", "--on-question", "ask", "--allow", "Bash")...)
				q := run.until("question").Question
				noError(t, os.WriteFile(own, []byte("changed"), 0o600))
				whole := func() string {
					t.Helper()
					shown, _ := w.imageOf(q.ID)
					if shown == nil || shown.Name != "shot.png" || shown.Type != "image/png" || shown.Hash != images.Hash(data) {
						t.Fatalf("it shows %+v", shown)
					}
					if got, err := os.ReadFile(shown.Path); err != nil || !bytes.Equal(got, data) {
						t.Errorf("kept is %q, %v", got, err)
					}
					return shown.Path
				}
				kept := whole()
				for _, command := range [][]string{{"questions"}, {"show", q.ID}} {
					said := w.must(command...)
					if !strings.Contains(said, "It shows the image shot.png (PNG, 1×1 pixels, 0.1 kB)") {
						t.Errorf("%q says %s", command, said)
					}
				}
				run.kill9()
				w.must("answer", q.ID, "yes", "--resume", "--image", file)
				w.must("wait", q.Run)
				whole()
				if said := w.must("show", q.ID); !strings.Contains(said, "With the image shot.png") {
					t.Errorf("it says %s", said)
				}
				w.must("prune", "--older-than", "0s")
				if _, err := os.Stat(kept); err == nil {
					t.Error("it is there after its run was pruned")
				}
			})
		}
	}
}

// The image of a question goes with its run. What a pack has in its place is not kept: a person would open it.
func TestTheImageOfAQuestionIsInThePackOfItsRun(t *testing.T) {
	t.Parallel()
	for _, forged := range []bool{false, true} {
		t.Run(fmt.Sprintf("forged %v", forged), func(t *testing.T) {
			t.Parallel()
			from, to := newWorld(t), newWorld(t)
			s := load(t, "picture")
			run, question := from.standIn(s).parked(s)
			if here, _ := from.imageOf(question); forged {
				noError(t, os.WriteFile(here.Path, []byte("#!/bin/sh\ntouch pwned\n"), 0o600))
			}
			file := filepath.Join(t.TempDir(), "run.pack")
			from.must("pack", run, "-o", file)
			to.must("unpack", file, "--cwd", to.Cwd)
			shown, context := to.imageOf(question)
			if shown == nil {
				t.Fatalf("it shows none: %s", context)
			}
			if _, err := os.Stat(shown.Path); (err == nil) == forged {
				t.Errorf("there is %v", err)
			} else if _, _, err := client.ReadImage(shown.Path, shown.Hash); err != nil && !forged {
				t.Error(err)
			}
		})
	}
}

// What cannot be shown loses no question: that says why.
func TestAQuestionIsAskedWithoutAnImageThatCannotBeShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good, _ := w.picture("good.png", 1)
	data, err := os.ReadFile(good)
	noError(t, err)
	put := func(name string, content []byte) {
		noError(t, os.WriteFile(filepath.Join(w.Cwd, name), content, 0o600))
	}
	put("good.png", data)
	put("half.png", data[:len(data)-8])
	put("drawing.svg", []byte("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"))
	put("large.png", nil)
	noError(t, os.Truncate(filepath.Join(w.Cwd, "large.png"), 100<<20))
	noError(t, syscall.Mkfifo(filepath.Join(w.Cwd, "pipe.png"), 0o600))
	noError(t, os.Symlink(good, filepath.Join(w.Cwd, "link.png")))
	noError(t, os.Symlink(filepath.Dir(good), filepath.Join(w.Cwd, "out")))
	noError(t, os.Mkdir(filepath.Join(w.Cwd, "folder.png"), 0o700))
	noError(t, os.Mkdir(filepath.Join(w.Home, ".ssh"), 0o700))
	cases := []struct{ path, why string }{
		{"good.png", ""},
		{"./nested/../good.png", ""},
		{"half.png", "no whole PNG"},
		{"drawing.svg", "no PNG, JPEG, GIF or WebP"},
		{"large.png", "104.9 MB"},
		{"pipe.png", "not a regular file"},
		{"link.png", "a symbolic link"},
		{"out/good.png", "outside"},
		{"../../../../../../../../etc/passwd", "outside"},
		{good, "outside"},
		{"~/.ssh/id_rsa", "outside"},
		{"folder.png", "not a regular file"},
		{"/dev/zero", "outside"},
		{"nothing\x1b[2J.png", "no such file"},
		{strings.Repeat("long", 240), "file name too long"},
	}
	var asked []map[string]string
	for i, c := range cases {
		asked = append(asked, map[string]string{"id": fmt.Sprintf("A%d", i), "text": "Is it so?", "image": c.path})
	}
	input, err := json.Marshal(map[string]any{"questions": asked})
	noError(t, err)
	path := w.scenario(fmt.Sprintf(asksForPicture, `tools: [{name: mcp__supervise__ask_user, input: `+string(input)+`}]`))
	s := load(t, path)
	w.agent = []string{"--demo", path, "--cwd", "."}
	run := w.start(w.runArgs(s, "--hold", "forever", "--on-question", "ask")...)
	for i, c := range cases {
		q := run.until("question").Question
		shown, context := w.imageOf(q.ID)
		if (shown != nil) != (c.why == "") || !strings.Contains(context, c.why) ||
			c.why != "" && !strings.Contains(context, "which is not shown: ") {
			t.Errorf("%d, %q: it shows %+v and says %q", i, c.path, shown, context)
		}
		if said := w.must("show", q.ID); strings.Contains(said, "\x1b") {
			t.Errorf("%q is printed as it is: %q", c.path, said)
		}
		w.must("answer", q.ID, "yes")
	}
}

// imagesWhole checks that each question of the run shows its image whole, however it was killed.
func (w *world) imagesWhole(int) {
	w.t.Helper()
	shown := parse[struct {
		Questions []struct {
			ID    string
			Image *shownImage
		}
	}](w.t, w.must("show", w.ps().ID, "--json"))
	for _, q := range shown.Questions {
		if q.Image == nil {
			w.t.Errorf("%s shows no image", q.ID)
		} else if _, _, err := client.ReadImage(q.Image.Path, q.Image.Hash); err != nil {
			w.t.Errorf("the image of %s: %v", q.ID, err)
		}
	}
	if len(shown.Questions) == 0 {
		w.t.Error("nothing was asked")
	}
}

package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/e2e/sample"
)

// pictured are the ways in which an agent can ask: by what it says, by AskUserQuestion, and by our tool.
var pictured = map[string]string{
	"text": `text: |-
          [CLARIFICATION_NEEDED]
          agent_id: {{agent}}
          timestamp: 2026-01-11T08:45:00Z
          questions:
            - question_id: Q1
              text: How shall it look?
          [/CLARIFICATION_NEEDED]`,
	"AskUserQuestion": `tools: [{name: AskUserQuestion, input: {questions: [{question: "Which ground?", header: Ground,
          multiSelect: false, options: [{label: White, description: plain}, {label: Black, description: dark}]}]}}]`,
	"ask_user": `tools: [{name: mcp__supervise__ask_user, input: {questions: [{id: A1, text: "Which accent?"}]}}]`,
}

const asksForPicture = `name: pictured
about: asks, and works on
prompt: Paint it.
expect: {status: succeeded}
turns:
  - when: "## YOUR TASK"
    replies:
      - %s
      - &note {tools: [{name: Bash, input: {command: "echo after >> effects", description: note}}]}
      - &report {tools: [{name: mcp__supervise__report_completion, input: {status: success, summary: painted}}]}
      - {text: done}
  - when: "## CLARIFICATION RESPONSE"
    replies: [*note, *report, {text: done}]
`

// hasImage has each answer given with an image.
func (w *world) hasImage() { w.image, _ = w.picture("shot.png", 7) }

// shownOnce checks that the conversation has the image of hasImage once. That of a stand-in has the words beside it.
func (w *world) shownOnce(int) {
	if _, encoded := w.picture("shot.png", 7); w.api {
		w.delivered(1, encoded)
	}
	w.delivered(1, "(With it: 1 image, in this order: 1. shot.png)")
}

// picture writes a picture of one pixel, and returns its bytes as the API has them.
func (w *world) picture(name string, shade uint8) (file, encoded string) {
	w.t.Helper()
	pixel := image.NewGray(image.Rect(0, 0, 1, 1))
	pixel.SetGray(0, 0, color.Gray{Y: shade})
	var b bytes.Buffer
	noError(w.t, png.Encode(&b, pixel))
	file = filepath.Join(w.t.TempDir(), name)
	noError(w.t, os.WriteFile(file, b.Bytes(), 0o600))
	return file, base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestTheImagesOfAnAnswerAreShownToItsAgentOnce(t *testing.T) {
	t.Parallel()
	for _, way := range sample.Pick(t.Name(), slices.Sorted(maps.Keys(pictured))) {
		for _, hold := range sample.Pick("pictured "+way, []string{"forever", "0"}) {
			t.Run(way+", hold "+hold, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				var requests bodies
				s := load(t, w.scenario(fmt.Sprintf(asksForPicture, pictured[way])))
				w.real(s, requests.take)
				run := w.start(w.runArgs(s, "--hold", hold, "--on-question", "ask", "--allow", "Bash")...)
				q := run.until("question").Question
				if hold == "0" {
					run.until("parked")
				}
				first, one := w.picture("first.png", 1)
				second, two := w.picture("second.png", 2)
				w.must("answer", q.ID, "Black", "--image", first, "--image", second)
				run.exits(0)
				last := requests.all[len(requests.all)-1]
				for name, encoded := range map[string]string{"first": one, "second": two} {
					if n := bytes.Count(last, []byte(encoded)); n != 1 {
						t.Errorf("the %s image is shown %d times in\n%s", name, n, last)
					}
				}
				if at, later := bytes.Index(last, []byte(one)), bytes.Index(last, []byte(two)); at > later {
					t.Error("they are shown in another order")
				}
				shown := parse[struct{ Images []struct{ Name, Type string } }](t, w.must("show", q.ID, "--json"))
				if len(shown.Images) != 2 || shown.Images[1].Name != "second.png" || shown.Images[1].Type != "image/png" {
					t.Errorf("it is shown with %+v", shown.Images)
				}
				if left, _ := filepath.Glob(filepath.Join(w.stateFolder(), "runs", q.Run, "*.image-*")); len(left) != 2 {
					t.Errorf("kept are %q", left)
				}
			})
		}
	}
}

// What is no image, or cannot be shown to who asks, is refused before anything is kept.
func TestAnAnswerWhoseImageCannotBeShownIsNotTaken(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	_, question := w.park()
	dir := t.TempDir()
	put := func(name, content string) string {
		file := filepath.Join(dir, name)
		noError(t, os.WriteFile(file, []byte(content), 0o600))
		return file
	}
	good, _ := w.picture("good.png", 1)
	data, err := os.ReadFile(good)
	noError(t, err)
	bomb := bytes.Clone(data)
	copy(bomb[16:], "\x00\x00\xff\xff\x00\x00\xff\xff")
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	large := put("large.png", "")
	noError(t, os.Truncate(large, 100<<20))
	pipe := filepath.Join(dir, "pipe.png")
	noError(t, syscall.Mkfifo(pipe, 0o600))
	for file, why := range map[string]string{
		put("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>"): "no PNG, JPEG, GIF or WebP",
		put("page.png", "<html><script>x</script>"):                     "no PNG, JPEG, GIF or WebP",
		put("half.png", string(data[:len(data)-8])):                     "no whole PNG",
		put("bomb.png", string(bomb)):                                   "65535×65535 pixels",
		put("odd\x1b[2J.png", "GIF89a"):                                 "no whole GIF",
		large:                                                           "104.9 MB",
		pipe:                                                            "no plain file",
		dir:                                                             "no plain file",
		filepath.Join(dir, "nothing.png"):                               "no such file",
	} {
		code, stdout, stderr := w.run("answer", question, "JWT", "--image", good, "--image", file)
		if code == 0 || !strings.Contains(stderr, why) || !strings.Contains(stderr, "nothing was kept") ||
			strings.Contains(stderr, "\x1b") {
			t.Errorf("%s: exit %d %q %q", file, code, stdout, stderr)
		}
	}
	many := []string{"answer", question, "JWT"}
	for range 9 {
		many = append(many, "--image", good)
	}
	for _, args := range [][]string{many, {"answer", question, "--decline", "no", "--image", good},
		{"answer", question, "JWT", "--all-like", "--image", good}, {"answer", "--again", question, "JWT", "--image", good}} {
		if code, _, stderr := w.run(args...); code == 0 {
			t.Errorf("%q is taken: %s", args, stderr)
		}
	}
	if open := w.questions(); len(open) != 1 || open[0].ID != question {
		t.Errorf("open are %+v", open)
	}
}

// An image that was given to a run that nobody supervises goes with the run.
func TestTheImageOfAnAnswerIsInThePackOfItsRun(t *testing.T) {
	t.Parallel()
	from, to := demoWorld(t), demoWorld(t)
	run, question := from.park()
	from.hasImage()
	from.must("answer", question, "JWT", "--image", from.image)
	file := filepath.Join(t.TempDir(), "run.pack")
	from.must("pack", run, "-o", file)
	to.must("unpack", file, "--cwd", to.Cwd)
	to.run("resume", run)
	to.shownOnce(0)
	kept, err := filepath.Glob(filepath.Join(to.stateFolder(), "runs", run, "*.image-*"))
	noError(t, err)
	data, err := os.ReadFile(from.image)
	noError(t, err)
	if len(kept) != 1 {
		t.Fatalf("unpacked are %q", kept)
	}
	if got, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(got, data) {
		t.Errorf("unpacked is %q, %v", got, err)
	}
}

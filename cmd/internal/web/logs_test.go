package web

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// A memoryLog is a log that lies in no file.
type memoryLog struct{ text []byte }

func (l memoryLog) Of() (run, agent string) { return "r-aaaaaaaa", "a-child" }

func (l memoryLog) Recent(_ context.Context, n int) (said []string, place int64, err error) {
	for line := range bytes.Lines(l.text) {
		said = append(said, view.Said(line)...)
	}
	return said[max(len(said)-n, 0):], int64(len(l.text)), nil
}

func (l memoryLog) Part(_ context.Context, place int64, _ int) (lines []service.LogLine, next int64, more bool, err error) {
	for line := range bytes.Lines(l.text[place:]) { // one at a time
		lines, place = append(lines, service.LogLine{Line: line, Said: view.Said(line)}), place+int64(len(line))
		break
	}
	return lines, place, place < int64(len(l.text)), nil
}

func (l memoryLog) Follow(ctx context.Context, place int64, each func(said []string, place int64) error) error {
	for line := range bytes.Lines(l.text[place:]) {
		place += int64(len(line))
		if err := each(view.Said(line), place); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// elsewhere is a state whose logs lie in no file.
type elsewhere struct {
	*fakeState
	log memoryLog
}

func (e elsewhere) Log(_ context.Context, id string) (service.Log, error) {
	if id != "a-child" {
		return nil, unknown(id)
	}
	return e.log, nil
}

func (e elsewhere) Run(ctx context.Context, _ string) (view.RunView, error) {
	return e.fakeState.Run(ctx, "r-aaaaaaaa")
}

// A program serves logs of elsewhere by what it gives as its Service: no database or file of this machine is read.
func TestALogOfElsewhereIsShownPartByPart(t *testing.T) {
	first := `{"line":{"type":"assistant","message":{"content":[{"type":"text","text":"one of them"}]}}}` + "\n"
	second := `{"line":{"type":"assistant","message":{"content":[{"type":"text","text":"two of them"}]}}}` + "\n"
	state := elsewhere{newState(1), memoryLog{[]byte(first + second)}}
	server := serving(t, state)
	for _, c := range []call{
		{method: "GET", path: "/agents/a-child", status: 200, says: "two of them"},
		{method: "GET", path: "/agents/a-child?after=0", status: 200, says: "one of them"},
		{method: "GET", path: "/agents/a-none", status: 404, says: "a-none"},
	} {
		if reply, text := c.do(t, server); reply.StatusCode != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s gets %d:\n%s", c.path, reply.StatusCode, text)
		}
	}
	_, text := call{method: "GET", path: "/api/agents/a-child/log"}.do(t, server)
	var part struct {
		Agent string
		Lines []apiLine
		Next  int64
	}
	if err := json.Unmarshal([]byte(text), &part); err != nil {
		t.Fatal(err)
	}
	if part.Agent != "a-child" || len(part.Lines) != 1 || part.Next != int64(len(first)) {
		t.Errorf("the first part is %s", text)
	}
	events, _ := listen(t, server, "/agents/a-child/live?after="+strconv.FormatInt(part.Next, 10), "")
	if e := <-events; e.name != "said" || !bytes.Contains(e.data, []byte("two of them")) || bytes.Contains(e.data, []byte("one")) {
		t.Errorf("what comes is %s %s", e.name, e.data)
	}
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"

	"claude-supervise/signals"
)

// ordinary is what agents print most of the time.
const ordinary = `I've looked at the authentication module and found three things worth knowing before we change it.

- ` + "`src/auth/oauth.ts`" + ` refreshes tokens in two places
- the session store is created per request, which defeats its cache

` + "```go" + `
	if t, ok := s.tokens[id]; ok && time.Until(t.Expiry) > s.slack {
		return t, nil
	}
` + "```" + `

What it costs: a caller that needs no refresh waits for one that does. A lock for each id would mend that.
Please tell me if you want it; the change is small. Two callers that come at once never fetch the same token twice.

It keeps the lock for the whole of the fetch, so two callers never fetch the same token; the tests cover that with a
fake clock. I ran them with the race detector, and they pass.

`

// How much text is scanned how often, and in pieces of what size it arrives.
const (
	textSize  = 32 << 20
	textTimes = 9
	pieceSize = 4 << 10
)

// scanner measures how fast text is read for signals, beside a pass that only looks at each byte, and how much memory is
// held at the end of it.
func (b *bench) scanner(context.Context) error {
	text := strings.Repeat(ordinary, textSize/len(ordinary))
	raw := []byte(text)
	var scans, passes samples
	var held int64
	for range textTimes {
		s := signals.NewScanner(signals.Config{AgentID: "a-7Qm2xK9fWb4T"})
		before := heap()
		began := clock()
		s.BeginMessage(signals.Main, "m")
		s.BeginBlock()
		for rest := text; rest != ""; {
			piece := rest[:min(pieceSize, len(rest))]
			rest = rest[len(piece):]
			if found := s.Text(piece); len(found) > 0 {
				return fmt.Errorf("%d signals were found in ordinary text", len(found))
			}
		}
		scans = append(scans, since(began, clock()))
		held = max(held, heap()-before)
		runtime.KeepAlive(s)
		began = clock()
		if bytes.Count(raw, []byte{0}) > 0 {
			return fmt.Errorf("there is a zero in ordinary text")
		}
		passes = append(passes, since(began, clock()))
	}
	speed := func(s samples) float64 { return float64(len(text)) / 1e6 / s.median() } // GB/s, of ms
	b.table.add(figure{name: "scanner", value: speed(scans), floor: speed(passes), unit: "GB/s", target: 1, bound: atLeast})
	b.table.add(figure{name: "scanner, memory held", value: float64(held) / (1 << 20), unit: "MiB", target: 1})
	return nil
}

// heap gives the bytes that live.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

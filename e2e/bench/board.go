package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"claude-supervise/e2e/usage"
	"claude-supervise/procs/pty"
)

const (
	boardAgents = 1000
	boardKeys   = 400
	// keyPause is how long there is between two keys: a person holds one down.
	keyPause = 25 * time.Millisecond
)

// board measures the time from a key that moves the cursor, on a terminal of 140 by 40, to the picture that has moved,
// beside so many agents; the floor is a program that answers each key with two rows.
func (b *bench) board(ctx context.Context) error {
	homes, err := b.homes("board")
	if err != nil {
		return err
	}
	bare, err := homes[0].sit(ctx, b.floor, "keys")
	if err != nil {
		return err
	}
	defer bare.leave()
	if err := bare.until("ready"); err != nil {
		return err
	}
	boards := make([]*sitting, len(homes))
	for i, h := range homes {
		if err := h.fill(ctx, boardAgents, 0); err != nil {
			return err
		}
		if boards[i], err = h.sit(ctx, h.program.path, "board"); err != nil {
			return err
		}
		defer boards[i].leave()
		if err := boards[i].until(fmt.Sprintf("%d runs", boardAgents)); err != nil {
			return err
		}
	}
	painted, echoed := make([]samples, len(homes)), samples{}
	for i := range boardKeys {
		key := byte('j')
		if i/30%2 == 1 { // down past the first screen, and up again
			key = 'k'
		}
		for _, which := range b.turn(i) {
			if err := boards[which].press(key, &painted[which]); err != nil {
				return err
			}
		}
		if err := bare.press(key, &echoed); err != nil {
			return err
		}
		time.Sleep(keyPause)
	}
	b.table.add(figure{name: "board, key to paint", unit: "ms", values: painted, floor: echoed})
	b.table.add(figure{name: "board, key to paint, p95", unit: "ms", quantile: 0.95, values: painted, floor: echoed,
		target: 16})
	return b.rest(boards, bare)
}

// boardRests is for how long nothing changes while it is counted how often the boards are woken.
const boardRests = 20 * time.Second

// rest counts the switches of what has nothing to do. The board looks at ages once a minute, and at nothing else.
func (b *bench) rest(boards []*sitting, bare *sitting) error {
	time.Sleep(settling)
	all := append(slices.Clone(boards), bare)
	count := func() (counts []map[string]int64, err error) {
		for _, s := range all {
			switches, err := usage.Switches(s.cmd.Process.Pid)
			if err != nil {
				return nil, err
			}
			counts = append(counts, switches)
		}
		return counts, nil
	}
	before, err := count()
	if err != nil {
		return err
	}
	time.Sleep(boardRests)
	after, err := count()
	if err != nil {
		return err
	}
	woken := make([]samples, len(all))
	for i := range all {
		n := 0.0
		for thread, switches := range after[i] {
			n += float64(switches - before[i][thread])
		}
		woken[i] = samples{n}
	}
	b.table.add(figure{name: "board, switches in 20 s at rest", unit: "", values: woken[:len(boards)],
		floor: woken[len(boards)], target: 20})
	return nil
}

// A sitting is a program that has a terminal for itself.
type sitting struct {
	cmd  *exec.Cmd
	tty  *os.File
	read chan []byte // what it writes, each as it comes; closed at its end
}

func (h home) sit(ctx context.Context, path string, args ...string) (*sitting, error) {
	s := &sitting{cmd: h.command(ctx, path, args...), read: make(chan []byte, 1<<10)}
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm-256color")
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: 140}); err != nil {
		return nil, err
	}
	// Not waited for: a read of a terminal cannot be called off, and ends with its program.
	go func() {
		defer close(s.read)
		for buffer := make([]byte, 1<<16); ; {
			n, err := s.tty.Read(buffer)
			if n > 0 {
				s.read <- bytes.Clone(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	return s, nil
}

// until waits until the program has written a text.
func (s *sitting) until(text string) error {
	var seen []byte
	for part := range s.read {
		if seen = append(seen, part...); bytes.Contains(seen, []byte(text)) {
			return nil
		}
	}
	return fmt.Errorf("it ended without writing %q: %.2000q", text, seen)
}

// press presses a key, and adds how long the program took to write what it does.
func (s *sitting) press(key byte, took *samples) error {
	for len(s.read) > 0 { // what came by itself, as when a log is read
		<-s.read
	}
	began := clock()
	if _, err := s.tty.Write([]byte{key}); err != nil {
		return err
	}
	if _, more := <-s.read; !more {
		return errors.New("it has ended")
	}
	took.add(since(began, clock()))
	return nil
}

func (s *sitting) leave() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	_ = s.tty.Close()
}

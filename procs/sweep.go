package procs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Survivor is a process that an agent has left behind.
type Survivor struct {
	PID     int
	Cmdline string // bounded
	Alive   bool   // it still runs: it was kept, or could not be ended
}

func (s Survivor) String() string { return fmt.Sprintf("%d %s", s.PID, s.Cmdline) }

// Sweep ends every process of this user that carries the marker, and what descends from those, and returns when
// nothing of it is left. It is for launches whose supervisor is gone; Process.End does the same for its own. It gives
// what it has ended. It blocks for the patience between SIGTERM and SIGKILL if something does not end by itself. The
// error says what could not be ended.
func Sweep(m Marker) ([]Survivor, error) {
	s := sweep{marker: m, patience: defaultPatience.term}
	return s.run(context.Background())
}

// A sweep finds and ends what belongs to one launch.
type sweep struct {
	marker   Marker
	since    uint64            // nothing that started earlier can carry the marker
	known    map[identity]bool // belongs to it for other reasons
	patience time.Duration     // between SIGTERM and SIGKILL
}

// sweepLimit is how long after its patience a sweep goes on trying. Only a process that the kernel cannot end, or that
// has become another user's, lasts so long.
const sweepLimit = 10 * time.Second

// run ends what it finds, again and again until it finds nothing: what is being ended may still start others.
func (s *sweep) run(ctx context.Context) (ended []Survivor, err error) {
	gentle, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	limit := time.Now().Add(s.patience + sweepLimit)
	seen := map[identity]bool{}
	for {
		found, err := s.members()
		if err != nil || len(found) == 0 {
			return ended, err
		}
		if time.Now().After(limit) {
			return s.givenUp(ended, found)
		}
		for _, id := range found {
			if !seen[id] {
				seen[id] = true
				ended = append(ended, survivor(id))
			}
		}
		if gentle.Err() == nil {
			err = endAll(gentle, found, unix.SIGTERM)
		} else {
			moment, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			err = endAll(moment, found, unix.SIGKILL)
			cancel()
		}
		if err != nil {
			return ended, err
		}
	}
}

// givenUp marks those that could not be ended.
func (s *sweep) givenUp(ended []Survivor, found []identity) ([]Survivor, error) {
	var left []string
	for i := range ended {
		ended[i].Alive = slices.ContainsFunc(found, func(id identity) bool { return id.pid == ended[i].PID })
		if ended[i].Alive {
			left = append(left, ended[i].String())
		}
	}
	return ended, fmt.Errorf("cannot end what launch %d of agent %s left behind, end it by hand: %s",
		s.marker.Launch, s.marker.Agent, strings.Join(left, "; "))
}

// endAll signals the processes, and waits until they have ended or ctx is done.
func endAll(ctx context.Context, found []identity, sig unix.Signal) error {
	var held []*handle
	defer func() {
		for _, h := range held {
			h.release()
		}
	}()
	for _, id := range found {
		h, err := hold(id)
		if errors.Is(err, os.ErrProcessDone) {
			continue
		} else if err != nil {
			return err
		}
		held = append(held, h)
		if err := h.signal(sig); err != nil && !errors.Is(err, unix.EPERM) { // a program with other rights: the limit tells
			return err
		}
	}
	for _, h := range held {
		if !h.wait(ctx) {
			break
		}
	}
	return nil
}

// find lists what lives, without ending it.
func (s *sweep) find() ([]Survivor, error) {
	found, err := s.members()
	var all []Survivor
	for _, id := range found {
		one := survivor(id)
		one.Alive = true
		all = append(all, one)
	}
	return all, err
}

// members gives the launch's processes that live now. What is known to belong to it only grows, so that a process is
// still found when what tied it to the launch is gone.
func (s *sweep) members() ([]identity, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	if s.known == nil {
		s.known = map[identity]bool{}
	}
	for _, p := range all {
		if p.start >= s.since && !p.ended && s.marker.on(environ(p.pid)) {
			s.known[p.identity] = true
		}
	}
	for _, id := range lineage(all) {
		delete(s.known, id) // a supervisor inside a launch does not end itself
	}
	addDescendants(s.known, all)
	var living []identity
	for _, p := range all {
		if s.known[p.identity] && !p.ended {
			living = append(living, p.identity)
		}
	}
	return living, nil
}

// addDescendants adds to a set of processes the children of its members, and theirs.
func addDescendants(set map[identity]bool, all []process) {
	byPID := make(map[int]identity, len(all))
	for _, p := range all {
		byPID[p.pid] = p.identity
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if parent, ok := byPID[p.parent]; ok && set[parent] && !set[p.identity] {
				set[p.identity] = true
				grown = true
			}
		}
	}
}

// lineage gives this process and those that it descends from.
func lineage(all []process) (line []identity) {
	byPID := make(map[int]process, len(all))
	for _, p := range all {
		byPID[p.pid] = p
	}
	for pid := os.Getpid(); ; {
		p, ok := byPID[pid]
		if !ok || slices.Contains(line, p.identity) {
			return line
		}
		line = append(line, p.identity)
		pid = p.parent
	}
}

func survivor(id identity) Survivor {
	return Survivor{PID: id.pid, Cmdline: cutLine(strings.ToValidUTF8(commandLine(id.pid), "\uFFFD"))}
}

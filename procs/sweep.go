package procs

import (
	"cmp"
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
// what it has ended, up to a hundred. It blocks for the patience between SIGTERM and SIGKILL if something does not end
// by itself. The error says what could not be ended.
func Sweep(m Marker) ([]Survivor, error) {
	s := sweep{marker: m, patience: defaultPatience.Term}
	return s.run(context.Background())
}

// A sweep finds and ends what belongs to one launch.
type sweep struct {
	marker   Marker
	since    uint64            // nothing that started earlier can carry the marker
	session  int               // the launch's own, while its number cannot be somebody else's; 0: not known
	known    map[identity]bool // has been found once
	excluded []identity        // this process and those that it descends from
	patience time.Duration     // between SIGTERM and SIGKILL
}

const (
	// sweepLimit is how long after its patience a sweep goes on trying. Only a process that the kernel cannot end, or
	// that has become another user's, lasts so long.
	sweepLimit = 10 * time.Second
	// gentleRounds is how often in a row a launch may be found to live on in others, after all that was found has
	// ended at SIGTERM. Who needs more is not waiting for an end.
	gentleRounds = 10
	// maxNamed bounds how many survivors are told.
	maxNamed = 100
)

// run ends what it finds, again and again until it finds nothing: what is being ended may still start others.
func (s *sweep) run(ctx context.Context) (ended []Survivor, err error) {
	gentle, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	limit := time.Now().Add(s.patience + sweepLimit)
	seen := map[identity]bool{}
	for round := 0; ; round++ {
		found, err := s.members()
		if err != nil {
			return ended, err
		}
		for _, p := range found {
			if !seen[p.identity] && len(ended) < maxNamed {
				seen[p.identity] = true
				ended = append(ended, survivor(p.identity))
			}
		}
		switch {
		case len(found) == 0:
			// Not even one that was too quick for a look at the whole table.
			if struck, err := s.killMarked(limit); err != nil || struck == 0 {
				return ended, err
			}
		case time.Now().After(limit):
			return s.givenUp(ended, found)
		case gentle.Err() == nil && round < gentleRounds:
			if err := endAll(gentle, found, unix.SIGTERM); err != nil {
				return ended, err
			}
		default:
			if _, err := s.killMarked(limit); err != nil {
				return ended, err
			}
			moment, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			err := endAll(moment, found, unix.SIGKILL)
			cancel()
			if err != nil {
				return ended, err
			}
		}
	}
}

// killMarked kills whatever has the tag of the launch, however quick.
func (s *sweep) killMarked(limit time.Time) (int, error) {
	return s.marker.tag().killListed(s.excluded, limit)
}

// givenUp marks those that could not be ended.
func (s *sweep) givenUp(ended []Survivor, found []process) ([]Survivor, error) {
	var left []string
	for _, p := range found[:min(len(found), maxNamed)] {
		left = append(left, survivor(p.identity).String())
	}
	for i := range ended {
		ended[i].Alive = slices.ContainsFunc(found, func(p process) bool { return p.pid == ended[i].PID })
	}
	return ended, fmt.Errorf("cannot end what launch %d of agent %s left behind, end it by hand: %s",
		s.marker.Launch, s.marker.Agent, strings.Join(left, "; "))
}

// endAll signals the processes, and waits until they have ended or ctx is done.
func endAll(ctx context.Context, found []process, sig unix.Signal) error {
	var held []*handle
	defer func() {
		for _, h := range held {
			h.release()
		}
	}()
	for _, p := range found {
		h, err := hold(p.identity)
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
	for _, p := range found[:min(len(found), maxNamed)] {
		one := survivor(p.identity)
		one.Alive = true
		all = append(all, one)
	}
	return all, err
}

// members returns the launch's processes that live now, as far as they are this user's. What is known to belong to it
// only grows, so that a process is still found when what tied it to the launch is gone.
func (s *sweep) members() ([]process, error) {
	v := views.ask(glance{s.since, s.marker})
	if v.err != nil {
		return nil, v.err
	}
	if s.known == nil {
		s.known = map[identity]bool{}
	}
	ties := v.ties()
	for _, p := range ties.of(s.marker, s.session) {
		// What began before the launch is no part of it, nor a link between two that are.
		if p.start >= s.since {
			s.known[p.identity] = true
		}
	}
	s.excluded = ties.lineage
	for _, id := range s.excluded {
		delete(s.known, id) // a supervisor inside a launch does not end itself
	}
	ties.addDescendants(s.known, s.since)
	var living []process
	for id := range s.known {
		if p, ok := ties.known[id]; ok && !p.ended && !isForeign(p.pid) {
			living = append(living, p)
		}
	}
	slices.SortFunc(living, func(a, b process) int { return cmp.Compare(a.pid, b.pid) })
	return living, nil
}

// isForeign reports whether a process is another user's: it cannot be signalled.
func isForeign(pid int) bool { return errors.Is(unix.Kill(pid, 0), unix.EPERM) }

// lineage returns this process and those that it descends from.
func lineage() (line []identity) {
	for pid := os.Getpid(); ; {
		p, err := read(pid)
		if err != nil || slices.Contains(line, p.identity) {
			return line
		}
		line = append(line, p.identity)
		pid = p.parent
	}
}

func survivor(id identity) Survivor {
	return Survivor{PID: id.pid, Cmdline: CutLine(strings.ToValidUTF8(commandLine(id.pid), "\uFFFD"))}
}

package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/e2e/machinetest"

	"golang.org/x/sys/unix"
)

func init() { childRoles["fill a small disk"] = fillASmallDisk }

// The real thing, where the kernel lets us mount: a disk of 1 MiB runs full under a store, gets more room, and is
// mounted read-only at last. Elsewhere the failing disk of faults_linux_test.go says as much.
func TestADiskRunsFullAndGetsRoomAgain(t *testing.T) {
	self, err := os.Executable()
	noError(t, err)
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childRole+"=fill a small disk", "XDG_STATE_HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	said, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EINVAL) ||
		strings.Contains(string(said), cannotMount) {
		machinetest.Lacks(t, "this kernel lets us mount nothing: %v", err)
	}
	if err != nil || !strings.Contains(string(said), "all is well") {
		t.Errorf("%v: %s", err, said)
	}
}

const cannotMount = "cannot mount"

func fillASmallDisk(d Dirs) error {
	mount := func(flags uintptr, options string) error {
		return unix.Mount("tmpfs", d.State, "tmpfs", flags, options+",mode=700")
	}
	if err := mount(0, "size=1m"); err != nil {
		fmt.Println(cannotMount, err)
		return nil
	}
	ctx := context.Background()
	s, err := Open(d)
	if err != nil {
		return err
	}
	c := firstChange()
	c.Agents[0].Task = strings.Repeat("all work and no play ", 500)
	save := func() error {
		c.Questions[0].ID = fmt.Sprintf("q-%06d", c.Event.Seq)
		c.Questions[0].Context = c.Agents[0].Task
		return s.Commit(ctx, c)
	}
	for err = save(); err == nil; err = save() {
		c.Event.Seq++
	}
	if !errors.Is(err, errFull) || !strings.Contains(err.Error(), "make room") {
		return fmt.Errorf("not said to be full: %w", err)
	}
	if l, err := s.Load(ctx, testRun); err != nil || l.LastEvent != c.Event.Seq-1 || len(l.Questions) != int(l.LastEvent) {
		return fmt.Errorf("on the full disk event %d of %d is found, %d questions: %w", l.LastEvent,
			c.Event.Seq-1, len(l.Questions), err)
	}
	if _, err := s.Answer(ctx, InboxEntry{Question: "q-000001", Value: c.Agents[0].Task, By: "me",
		At: noon}); err != nil && !errors.Is(err, errFull) {
		return fmt.Errorf("not said to be full: %w", err)
	}
	if err := mount(unix.MS_REMOUNT, "size=4m"); err != nil {
		return err
	}
	if err := save(); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	if err := s.Close(); err != nil {
		return err
	}

	if err := mount(unix.MS_REMOUNT|unix.MS_RDONLY, "size=4m"); err != nil {
		return err
	}
	if _, err := Open(d); !errors.Is(err, errUnwritable) {
		return fmt.Errorf("not said to be read-only: %w", err)
	}
	reader, err := OpenReadOnly(d)
	if err != nil {
		return fmt.Errorf("read a read-only disk: %w", err)
	}
	if l, err := reader.Load(ctx, testRun); err != nil || l.LastEvent != c.Event.Seq {
		return fmt.Errorf("on the read-only disk event %d of %d is found: %w", l.LastEvent, c.Event.Seq, err)
	}
	fmt.Println("all is well")
	return reader.Close()
}

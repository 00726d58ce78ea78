//go:build linux

// Package smalldisk gives a test disks of its own, of a few megabytes, that it can fill. They are mounted, so such a
// test runs in a namespace, and that takes a process of its own: the test's program once more, for the one test.
package smalldisk

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/e2e/machinetest"

	"golang.org/x/sys/unix"
)

// inside is set where the program runs in a namespace of its own, in which it may mount.
const inside = "CLAUDE_SUPERVISE_TEST_SMALL_DISK"

// cannotMount is what it says where it may not all the same.
const cannotMount = "this kernel lets us mount nothing"

// May reports whether the test may mount. Where it may not, it is run once more where it may, whose outcome is its own:
// there is nothing left for it to do.
func May(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inside) == "" {
		inNamespace(t)
		return false
	}
	return true
}

func inNamespace(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	said, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EINVAL),
		strings.Contains(string(said), cannotMount):
		machinetest.Lacks(t, "%s: %v", cannotMount, err)
	case err != nil || !strings.Contains(string(said), "--- PASS: "+t.Name()):
		t.Errorf("on the small disk: %v\n%s", err, said)
	}
}

// A Disk is small, and its folder is all of it.
type Disk struct{ Dir string }

// Mount returns a disk of a size, as mount has it (4m), until the test ends.
func Mount(t *testing.T, size string) Disk {
	t.Helper()
	d := Disk{t.TempDir()}
	if err := unix.Mount("tmpfs", d.Dir, "tmpfs", 0, "mode=700,size="+size); err != nil {
		t.Fatalf("%s: %v", cannotMount, err)
	}
	t.Cleanup(func() { _ = unix.Unmount(d.Dir, unix.MNT_DETACH) }) // the namespace ends with the test
	return d
}

func (d Disk) filler() string { return filepath.Join(d.Dir, "filler") }

// Fill leaves no room for another page.
func (d Disk) Fill(t *testing.T) {
	t.Helper()
	f, err := os.Create(d.filler())
	if err != nil {
		t.Fatal(err)
	}
	page := make([]byte, os.Getpagesize())
	for err == nil {
		_, err = f.Write(page)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// MakeRoom is what a person does who is told that the disk is full.
func (d Disk) MakeRoom(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.filler()); err != nil {
		t.Fatal(err)
	}
}

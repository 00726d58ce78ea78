package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"claude-supervise/e2e/machine"
)

// A program is a build of claude-supervise that is measured.
type program struct{ name, path string }

// asReleased are the flags with which a release is built.
var asReleased = []string{"-trimpath", "-buildvcs=false", "-ldflags", "-s -w"}

// buildPrograms builds the working tree's program, the floor's two, and the one of the commit base unless it is "".
func buildPrograms(ctx context.Context, dir, base string) ([]program, error) {
	if err := machine.Build(dir, asReleased, "cmd/claude-supervise"); err != nil {
		return nil, err
	}
	if err := build(ctx, filepath.Join(dir, "bare"), floorCommand); err != nil {
		return nil, fmt.Errorf("the bare floor does not build: %w", err)
	}
	if err := buildFloor(ctx, dir); err != nil {
		return nil, fmt.Errorf("the floor does not build: %w", err)
	}
	if err := buildIdle(ctx, dir); err != nil {
		return nil, fmt.Errorf("the program that only prints does not build: %w", err)
	}
	programs := []program{{"now", filepath.Join(dir, "claude-supervise")}}
	if base == "" {
		return programs, nil
	}
	source := filepath.Join(dir, "base")
	if err := checkOut(ctx, base, source); err != nil {
		return nil, fmt.Errorf("the source of %s: %w", base, err)
	}
	built := filepath.Join(dir, "claude-supervise-base")
	if err := build(ctx, built, "./cmd/claude-supervise", "-C", source); err != nil {
		return nil, fmt.Errorf("the program of %s does not build: %w", base, err)
	}
	return append(programs, program{"base", built}), nil
}

const (
	command      = "claude-supervise/cmd/claude-supervise"
	floorCommand = "claude-supervise/e2e/bench/floor"
)

// build builds a command as a release is built, with further flags of go build before the others.
func build(ctx context.Context, path, command string, flags ...string) error {
	args := slices.Concat([]string{"build"}, flags, asReleased, []string{"-o", path, command})
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// buildWith builds a command with a text in the place of one of its files, or as a further one.
func buildWith(ctx context.Context, path, command, file string, text []byte) error {
	instead, overlay := path+".go", path+".json"
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {file: instead}})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(instead, text, 0o600), os.WriteFile(overlay, replaced, 0o600)); err != nil {
		return err
	}
	return build(ctx, path, command, "-overlay", overlay)
}

// list returns what go list says of a package, by a template.
func list(ctx context.Context, template, of string, flags ...string) ([]string, error) {
	args := slices.Concat([]string{"list", "-f", template}, flags, []string{of})
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	return strings.Fields(string(out)), err
}

// buildFloor builds the floor with what packages of the program import, but ours: each is linked as far as its
// initialization reaches, and initialized.
func buildFloor(ctx context.Context, dir string) error {
	imports, err := list(ctx, `{{if .Module}}{{if .Module.Main}}{{join .Imports "\n"}}{{end}}{{end}}`, command, "-deps")
	if err != nil {
		return err
	}
	slices.Sort(imports)
	text := []byte("package main\n")
	for _, path := range slices.Compact(imports) {
		if !strings.HasPrefix(path, "claude-supervise/") {
			text = fmt.Appendf(text, "import _ %q\n", path)
		}
	}
	folder, err := list(ctx, "{{.Dir}}", floorCommand)
	if err != nil {
		return err
	}
	return buildWith(ctx, filepath.Join(dir, "floor"), floorCommand, filepath.Join(folder[0], "libraries.go"), text)
}

// onlyPrints is what buildIdle puts in the place of the program's main, which it keeps all the same.
const (
	programMain = "func main() {"
	onlyPrints  = programMain + `
		if len(os.Args) == 1 {
			_, _ = os.Stdout.WriteString("idle\n")
			return
		}
		`
)

// buildIdle builds the program once more, as dir/idle: with all that is linked into it and initialized, and no more to
// do without arguments than to print a line. So much of each command is the size of the program, and no doing of ours.
func buildIdle(ctx context.Context, dir string) error {
	folder, err := list(ctx, "{{.Dir}}", command)
	if err != nil {
		return err
	}
	main := filepath.Join(folder[0], "main.go")
	text, err := os.ReadFile(main)
	if err != nil {
		return err
	}
	if bytes.Count(text, []byte(programMain)) != 1 {
		return fmt.Errorf("%s has no %q", main, programMain)
	}
	return buildWith(ctx, filepath.Join(dir, "idle"), command, main,
		bytes.Replace(text, []byte(programMain), []byte(onlyPrints), 1))
}

// checkOut writes the files of a commit into a folder. The clone and its list of worktrees stay as they are.
func checkOut(ctx context.Context, commit, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	archive := exec.CommandContext(ctx, "git", "archive", commit)
	extract := exec.CommandContext(ctx, "tar", "-x", "-C", dir)
	archive.Stderr, extract.Stderr = os.Stderr, os.Stderr
	pipe, err := archive.StdoutPipe()
	if err != nil {
		return err
	}
	extract.Stdin = pipe
	if err := archive.Start(); err != nil {
		return err
	}
	return errors.Join(extract.Run(), archive.Wait())
}

// binary measures the size of the program, as a release has it.
func (b *bench) binary(context.Context) error {
	f := figure{name: "binary", unit: "MB", target: 25}
	for _, p := range b.programs {
		info, err := os.Stat(p.path)
		if err != nil {
			return err
		}
		f.values = append(f.values, samples{float64(info.Size()) / 1e6})
	}
	b.table.add(f)
	return nil
}

// turn returns the places of the programs in b.programs in the order in which the i-th sample of each is taken: the
// other way round each time, so that none of them always follows the same one.
func (b *bench) turn(i int) []int {
	order := make([]int, len(b.programs))
	for n := range order {
		order[n] = n
		if i%2 == 1 {
			order[n] = len(order) - 1 - n
		}
	}
	return order
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// save adds a line for each figure to a file, made if need be: date, commit, figure, value, floor and unit, with tabs
// between them. A commit with a + is one with changes beside it. A floor that was not measured is empty.
func (t *table) save(ctx context.Context, path string, at time.Time) error {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--exclude=*", "--dirty=+").Output()
	if err != nil {
		return fmt.Errorf("the commit that was measured: %w", err)
	}
	var lines bytes.Buffer
	for _, f := range t.figures {
		floor := ""
		if v := f.value(f.floor); !math.IsNaN(v) {
			floor = full(v)
		}
		fmt.Fprintf(&lines, "%s\t%s\t%s\t%s\t%s\t%s\n", at.UTC().Format(time.RFC3339), bytes.TrimSpace(commit), f.name,
			full(f.value(f.values[0])), floor, f.unit)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(lines.Bytes())
	return errors.Join(err, file.Close())
}

// full writes a number in so many digits that two of them can be compared.
func full(v float64) string { return fmt.Sprintf("%.5g", v) }

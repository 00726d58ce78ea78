package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

func newPs() *cobra.Command {
	var l listing
	var watch bool
	cmd := &cobra.Command{
		Use:     "ps",
		Aliases: []string{"ls"},
		Short:   "list unfinished runs and what each waits for",
		Long: `List the runs that have not ended, and what each waits for.

NEXT says what you have to do. A run whose NEXT is answer continues by itself
once it is answered. A run whose NEXT has resume is unsupervised. The table fits
the width of the terminal; in a pipe nothing is cut.

With --watch, the list is updated whenever something changes. On a terminal it
is updated in place, and q quits. In a pipe each update is a new table or a new
line of JSON.

Inside an agent, only its own run is listed.`,
		Example: "  claude-supervise ps --tree --watch\n" +
			"  claude-supervise ps --cwd .\n" +
			"  claude-supervise ps -a --json | jq '.[] | {id, status, exit_code}'",
		Args: exactly(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if l.ids && (l.tree || l.asJSON || watch) {
				return usage("-q prints ids alone: it does not go with --tree, --watch and --json")
			}
			if l.cwd != "" {
				folder, err := filepath.Abs(l.cwd)
				if err != nil {
					return err
				}
				l.cwd = folder
			}
			l.run, l.inside = doctor.InsideRun(os.Environ())
			return runPs(cmd.Context(), l, watch)
		},
	}
	cmd.Flags().BoolVarP(&l.all, "all", "a", false, "also list runs that have ended")
	cmd.Flags().BoolVar(&l.tree, "tree", false, "list the agents of each run below it")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "update the list when something changes")
	cmd.Flags().BoolVar(&l.asJSON, "json", false, "print a JSON array")
	cmd.Flags().BoolVarP(&l.ids, "ids", "q", false, "print only the ids, one per line")
	cmd.Flags().StringVar(&l.cwd, "cwd", "", "list only runs in or below `DIR`")
	completesFolder(cmd, "cwd")
	return cmd
}

func runPs(ctx context.Context, l listing, watch bool) error {
	r, err := view.OpenReader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	if watch {
		return watchRuns(ctx, r, l)
	}
	runs, err := r.Runs(ctx, l.all)
	if err != nil {
		return err
	}
	return print(func(p *terminal.Printer) error { return l.print(p, runs) })
}

// A listing is how runs are listed.
type listing struct {
	all, tree, asJSON, ids bool
	cwd                    string // absolute; "": wherever they run
	inside                 bool   // an agent lists: its own run alone
	run                    string
}

// of leaves out the runs that are not listed.
func (l listing) of(runs []view.RunView) []view.RunView {
	return slices.DeleteFunc(slices.Clone(runs), func(r view.RunView) bool {
		return l.inside && r.ID != l.run || l.cwd != "" && !text.Under(r.Cwd, l.cwd)
	})
}

// print lists the runs once.
func (l listing) print(p *terminal.Printer, runs []view.RunView) error {
	runs = l.of(runs)
	switch {
	case l.asJSON:
		return p.JSON(nonNil(runs))
	case l.ids:
		for _, r := range runs {
			if err := p.Result(r.ID); err != nil {
				return err
			}
		}
		return nil
	}
	return p.Result(l.text(p.Width(), runs, time.Now()))
}

// text lists the runs for people.
func (l listing) text(width int, runs []view.RunView, now time.Time) string {
	switch {
	case len(runs) == 0 && l.cwd != "":
		return "No run is in " + l.cwd + ". All there are: claude-supervise ps -a"
	case len(runs) == 0 && l.all:
		return "There are no runs yet. Start one with: claude-supervise run \"TASK\""
	case len(runs) == 0:
		return "Nothing runs. Ended runs: claude-supervise ps -a"
	case l.tree:
		return runTree(width, runs, now)
	}
	return runTable(width, runs, now)
}

// roomForTask is how many columns the task of a run or an agent needs at least to stand beside its numbers.
const roomForTask = 10

// runTable lists runs, without a limit of columns where width is 0: each in one row if nothing is cut by that. Else its
// folder and why it stands as it does are a row below, and on a narrow terminal its task, too, for no id, state or NEXT
// is ever cut.
func runTable(width int, runs []view.RunView, now time.Time) string {
	header := []string{"RUN", "STATUS", "SINCE", "ASKS", "COST", "NEXT", "TASK", "WHY", "FOLDER"}
	const whole, task = 6, 7 // the columns before TASK, and up to it
	rows, two, three := make([]terminal.TreeRow, len(runs)), make([]terminal.TreeRow, len(runs)), []terminal.TreeRow{}
	for i, r := range runs {
		next, folder, why := next(r), fromHome(r.Cwd), why(r)
		rows[i].Cells = []string{r.ID, status(r), terminal.Ago(r.Since, now), strconv.Itoa(len(r.OpenQuestions)),
			terminal.Money(r.CostUSD), next, title(r), why, folder}
		two[i] = terminal.TreeRow{Cells: rows[i].Cells[:task], Below: lastPart(folder) + " · " + why}
		three = append(three, terminal.TreeRow{Cells: []string{r.ID, status(r), next}, Below: title(r)},
			terminal.TreeRow{Below: why, Fold: true}, terminal.TreeRow{Below: folder, Fold: true})
	}
	switch {
	case width == 0 || terminal.TreeWidth(len(header), 0, header, rows) <= width:
		return terminal.Tree(width, len(header), header, rows)
	case terminal.TreeWidth(whole, roomForTask, header[:task], two) <= width:
		return terminal.Tree(width, whole, header[:task], two)
	}
	return terminal.Tree(width, 3, []string{"RUN", "STATUS", "NEXT"}, three)
}

// next is what a person does for a run to go on: one that somebody supervises goes on by itself once it is answered.
func next(r view.RunView) string {
	asks := len(r.OpenQuestions) > 0
	switch {
	case r.EndedAt != nil, r.Packed:
		return ""
	case r.Suspended:
		return "fg"
	case r.GoesOn() && asks:
		return "answer"
	case r.GoesOn():
		return ""
	case asks:
		return "answer, resume"
	}
	return "resume"
}

// longFolder is from how many bytes on the path of a folder leaves no room beside it.
const longFolder = 40

// lastPart is a folder, or where that is long its own name.
func lastPart(folder string) string {
	if len(folder) < longFolder {
		return folder
	}
	return "…/" + filepath.Base(folder)
}

// fromHome shortens a folder for people, as a shell does.
func fromHome(folder string) string {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return folder
	}
	if below, err := filepath.Rel(home, folder); err == nil && filepath.IsLocal(below) {
		return filepath.Join("~", below)
	}
	return folder
}

// status is where a run stands, in a word.
func status(r view.RunView) string {
	if r.Suspended {
		return "suspended"
	}
	return string(r.Status)
}

// why says why a run stands as it does. One whose agents wait for one another tells what a person is asked below: that
// ends it.
func why(r view.RunView) string {
	if i := slices.IndexFunc(r.Agents, func(a view.AgentView) bool { return len(a.OpenQuestions) > 0 }); i >= 0 &&
		r.Status == "blocked" {
		return view.Because(r.Agents[i].Reason)
	}
	return stands(r)
}

// stands is a run's own reason, unless all that it has asked was answered since.
func stands(r view.RunView) string {
	if r.Status == "parked" && len(r.OpenQuestions) == 0 {
		return "answered; no process is running"
	}
	return view.Because(r.Reason)
}

// title names a run for people: its name, else the first line of its task.
func title(r view.RunView) string {
	if r.Name != "" || len(r.Agents) == 0 {
		return r.Name
	}
	return firstLine(r.Agents[0].Task)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(terminal.Clean(text)), "\n")
	return line
}

// print shows what a command has found.
func print(show func(*terminal.Printer) error) error {
	p := terminal.NewPrinter(os.Stdout, os.Stderr, terminal.Look{Getenv: os.Getenv})
	err := show(p)
	if closing := p.Close(context.Background()); err == nil {
		err = closing
	}
	if err != nil && !errors.Is(err, view.ErrUnwatchable) {
		return fmt.Errorf("cannot write the output: %w", err)
	}
	return err
}

// whileWorking shows on a terminal how far something has got that may take long.
func whileWorking(text string, do func(progress func(done, total int64)) error) error {
	p := terminal.NewPrinter(os.Stdout, os.Stderr, terminal.Look{Getenv: os.Getenv})
	w := p.Working(text)
	err := do(w.Set)
	w.Done()
	return errors.Join(err, p.Close(context.Background()))
}

// nonNil makes an empty list print as [], never as null.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

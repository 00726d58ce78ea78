package commands

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// elsewhere is a service of runs of other machines, which are what it holds.
type elsewhere struct {
	service.Service
	runs    []service.Left
	stopped map[string]bool
	read    *service.LogReading
}

func (e elsewhere) List(_ context.Context, all bool) (runs []service.Run, err error) {
	for _, l := range e.runs {
		if all || l.View.EndedAt == nil {
			runs = append(runs, service.Run{RunView: l.View, JSON: l.JSON})
		}
	}
	return runs, nil
}

func (e elsewhere) Questions(context.Context) (open []view.QuestionView, notes []string, err error) {
	for _, l := range e.runs {
		for _, q := range l.View.OpenQuestions {
			open = append(open, view.QuestionView{ID: q, Run: l.View.ID, Question: "On which day?"})
		}
	}
	return open, []string{"! x.json cannot be read"}, nil
}

func (e elsewhere) Awaitable(_ context.Context, ids []string) (nodes []view.Node, err error) {
	for _, id := range ids {
		nodes = append(nodes, view.Node{Run: id})
	}
	return nodes, nil
}

func (e elsewhere) Await(ctx context.Context, nodes []view.Node, question bool, each func(service.Left) error,
	asks func(view.Awaited)) error {
	for _, n := range nodes {
		for _, l := range e.runs {
			switch {
			case l.View.ID != n.Run:
			case l.View.GoesOn() && !(question && len(l.Open()) > 0):
				asks(l.Awaited)
				<-ctx.Done()
				return context.Cause(ctx)
			default:
				if err := each(l); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (e elsewhere) ReadLog(_ context.Context, id string, r service.LogReading) (service.Left, error) {
	*e.read = r
	left := service.Left{Awaited: view.Awaited{Node: view.Node{Run: id}, View: view.RunView{ID: id, Status: "parked",
		OpenQuestions: []string{"q-7kq2mx"}}}, ByItself: true}
	if r.Follow {
		return left, r.Each(nil, []view.Remark{{Text: "said", Type: view.RemarkText}})
	}
	return left, fs.ErrNotExist
}

func (e elsewhere) End(_ context.Context, id string, only bool) (service.Stopped, error) {
	if id == "r-refused" {
		return service.Stopped{}, errors.New("r-refused cannot be stopped")
	}
	e.stopped[id] = only
	return service.Stopped{Run: id, ID: id, Status: "stopping", Text: id + " is being stopped."}, nil
}

// onDisk is a service of runs on this machine.
type onDisk struct{ elsewhere }

func (o onDisk) WatchRuns(ctx context.Context, all bool, each func([]service.Run) error) error {
	runs, err := o.List(ctx, all)
	return errors.Join(err, each(runs))
}

func (onDisk) Above(context.Context, string) ([]view.Node, error) {
	return []view.Node{{Run: "r-aaaaaaaa"}, {Run: "r-aaaaaaaa", Agent: "a-parent"}}, nil
}

func programOf(s service.Runs) Program {
	return Program{Name: "supervise", Of: " of the fleet", Can: s, NotInside: func(*cobra.Command) error { return nil },
		Open: func(context.Context) (service.Runs, func(), error) { return s, func() {}, nil }}
}

func left(id string, status supervisor.Status, code int, asks ...string) service.Left {
	v := view.RunView{ID: id, Status: status, Reason: "why", OpenQuestions: asks}
	if status == "running" {
		v.SupervisorPID = 1
	}
	return service.Left{Awaited: view.Awaited{Node: view.Node{Run: id}, View: v}, Code: code,
		JSON: map[string]string{"own": id}}
}

// typed runs a command, and gives what it prints on stdout and stderr together, and what it exits with.
func typed(t *testing.T, cmd *cobra.Command, args ...string) (printed string, code int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = file, file
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	if closed := file.Close(); closed != nil {
		t.Fatal(closed)
	}
	text, unread := os.ReadFile(path)
	if unread != nil {
		t.Fatal(unread)
	}
	var silent exitcode.Error
	if err != nil && !errors.As(err, &silent) {
		text = append(text, err.Error()+"\n"...)
	}
	return string(text), exitcode.Of(err)
}

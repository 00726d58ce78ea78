package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// A fleet gives CI jobs their machines, one after the other: each has a home and a clone of its own, and nothing of the
// one before but what was kept as an artifact. All clones stand at the same path, as those of hosted runners do.
type fleet struct {
	t         *testing.T
	bin       string   // with the agent as claude
	agent     []string // the environment that it needs
	origin    string
	workspace string
	keeping   sync.Mutex
	kept      map[string]string // artifacts: their folders by "RUN/NAME"
	runs      int
	home      string // of the machine that there is now
	temp      string
}

// newFleet makes a fleet whose claude is the stand-in or the real CLI, playing the scenario of testdata/ci.
func newFleet(t *testing.T, real bool) *fleet {
	t.Helper()
	path, err := filepath.Abs("testdata/ci/scenario.yaml")
	noError(t, err)
	f := &fleet{t: t, bin: t.TempDir(), workspace: filepath.Join(t.TempDir(), "work"), kept: map[string]string{}}
	agent := filepath.Join(f.bin, "claude")
	if real {
		s, err := examples.Load(path)
		noError(t, err)
		api := messagesapi.Serve(s, nil)
		t.Cleanup(api.Close)
		f.agent = claude.Environment("", api.URL)
		noError(t, os.Symlink(claude.Program(t), agent))
	} else {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' stand-in '%s' \"$@\"\n", program, path)
		noError(t, os.WriteFile(agent, []byte(script), 0o700))
	}
	f.origin = newOrigin(t)
	return f
}

// newOrigin makes a repository with one commit.
func newOrigin(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "origin")
	git(t, "", "init", "--quiet", "--initial-branch=main", dir)
	noError(t, os.WriteFile(filepath.Join(dir, "README"), []byte("a small web service\n"), 0o600))
	commitAll(t, dir, "the service")
	return dir
}

func commitAll(t *testing.T, dir, message string) {
	t.Helper()
	git(t, dir, "add", "--all")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--quiet", "-m", message)
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newMachine lets the machine that there was vanish.
func (f *fleet) newMachine() {
	f.t.Helper()
	for _, dir := range []string{f.workspace, f.home, f.temp} {
		if err := os.RemoveAll(dir); dir != "" && err != nil {
			f.t.Fatal(err)
		}
	}
	f.runs++
	f.home, f.temp = f.t.TempDir(), f.t.TempDir()
	git(f.t, "", "clone", "--quiet", f.origin, f.workspace)
}

// bash runs a script as a runner does, and gives what it printed.
func (f *fleet) bash(script string, env map[string]string) (output string, err error) {
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir = f.workspace
	cmd.Env = append(append([]string{}, f.agent...), "HOME="+f.home, "XDG_RUNTIME_DIR="+f.temp,
		"TMPDIR="+f.temp, "TERM=dumb", "LANG=C.UTF-8",
		"PATH="+f.bin+":"+filepath.Dir(program)+":/usr/local/bin:/usr/bin:/bin")
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// keep keeps a file or folder as an artifact of the present run.
func (f *fleet) keep(name, path string) {
	f.t.Helper()
	to := f.t.TempDir()
	from := path
	info, err := os.Stat(path)
	noError(f.t, err)
	if info.IsDir() {
		noError(f.t, os.CopyFS(to, os.DirFS(from)))
	} else {
		copyFile(f.t, from, filepath.Join(to, filepath.Base(from)))
	}
	f.keeping.Lock()
	defer f.keeping.Unlock()
	f.kept[fmt.Sprintf("%d/%s", f.runs, name)] = to
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	noError(t, err)
}

// read reads a file of the machine's clone.
func (f *fleet) read(name string) string {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.workspace, name))
	if err != nil {
		f.t.Error(err)
	}
	return string(text)
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	noError(t, err)
}

// A workflow is a GitHub Actions workflow, as far as examples/ci uses it.
type workflow struct {
	On struct {
		Dispatch struct {
			Inputs map[string]struct{ Description string }
		} `yaml:"workflow_dispatch"`
	} `yaml:"on"`
	Jobs map[string]struct{ Steps []step }
}

type step struct {
	ID, Name, If, Uses, Run string
	With, Env               map[string]string
}

// A finished is what a CI run looks like from outside.
type finished struct {
	ok           bool
	log, summary string
	run          int
}

// github plays the one job of a workflow on a new machine, with the inputs of a dispatch.
func (f *fleet) github(path string, inputs map[string]string) finished {
	f.t.Helper()
	var w workflow
	readYAML(f.t, path, &w)
	for name := range inputs {
		if _, known := w.On.Dispatch.Inputs[name]; !known {
			f.t.Fatalf("the workflow has no input %q", name)
		}
	}
	f.newMachine()
	values := map[string]string{
		"runner.temp": f.temp, "github.token": "token", "github.run_id": fmt.Sprint(f.runs),
		"secrets.ANTHROPIC_API_KEY": "scripted",
	}
	for name := range w.On.Dispatch.Inputs {
		values["inputs."+name] = inputs[name]
	}
	done := finished{ok: true, run: f.runs}
	for _, s := range w.Jobs["claude"].Steps {
		if !done.ok || s.If != "" && !conditionHolds(f.t, s.If, values) {
			continue
		}
		log, ok := f.githubStep(s, values)
		done.log, done.ok = done.log+log, ok
	}
	summary, err := os.ReadFile(filepath.Join(f.temp, "summary"))
	if err == nil {
		done.summary = string(summary)
	}
	return done
}

func (f *fleet) githubStep(s step, values map[string]string) (log string, ok bool) {
	with := map[string]string{}
	for name, text := range s.With {
		with[name] = expand(f.t, text, values)
	}
	switch action, _, _ := strings.Cut(s.Uses, "@"); action {
	case "actions/checkout": // the machine came with it
		return "", true
	case "actions/upload-artifact":
		f.keep(with["name"], with["path"])
		return "", true
	case "actions/download-artifact":
		from := f.kept[with["run-id"]+"/"+with["name"]]
		if from == "" {
			return "no such artifact: " + with["name"], false
		}
		noError(f.t, os.CopyFS(with["path"], os.DirFS(from)))
		return "", true
	case "":
	default:
		f.t.Fatalf("the runner does not know %s", s.Uses)
	}
	if strings.Contains(s.Run, "${{") {
		f.t.Errorf("step %q puts an expression into its script", s.Name)
	}
	output := filepath.Join(f.temp, "output")
	env := map[string]string{
		"RUNNER_TEMP": f.temp, "GITHUB_OUTPUT": output, "GITHUB_STEP_SUMMARY": filepath.Join(f.temp, "summary"),
		"GITHUB_RUN_ID": values["github.run_id"],
	}
	for name, text := range s.Env {
		env[name] = expand(f.t, text, values)
	}
	noError(f.t, os.WriteFile(output, nil, 0o600))
	log, err := f.bash(s.Run, env)
	text, readErr := os.ReadFile(output)
	if readErr != nil {
		f.t.Fatal(readErr)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values["steps."+s.ID+".outputs."+name] = value
	}
	return log, err == nil
}

var expression = regexp.MustCompile(`\$\{\{ *([\w.-]+) *\}\}`)

func expand(t *testing.T, text string, values map[string]string) string {
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		name := expression.FindStringSubmatch(e)[1]
		if _, known := values[name]; !known && !strings.HasPrefix(name, "vars.") && !strings.HasPrefix(name, "steps.") {
			t.Errorf("nothing is called %s", name)
		}
		return values[name]
	})
}

var comparison = regexp.MustCompile(`^([\w.-]+) (==|!=) '([^']*)'$`)

// conditionHolds evaluates a condition: comparisons with texts, joined by &&.
func conditionHolds(t *testing.T, condition string, values map[string]string) bool {
	t.Helper()
	for part := range strings.SplitSeq(condition, " && ") {
		c := comparison.FindStringSubmatch(part)
		if c == nil {
			t.Fatalf("the runner cannot read the condition %q", condition)
		}
		if (values[c[1]] == c[3]) != (c[2] == "==") {
			return false
		}
	}
	return true
}

// A pipeline is a GitLab CI file, as far as examples/ci uses it.
type pipeline struct {
	Claude struct {
		Variables    map[string]string
		BeforeScript []string `yaml:"before_script"`
		Script       []string
		AllowFailure struct {
			ExitCodes []int `yaml:"exit_codes"`
		} `yaml:"allow_failure"`
		Artifacts struct{ Paths []string }
	}
}

// gitlab plays the job of a pipeline with variables on a new machine; warned tells that its failure is allowed.
func (f *fleet) gitlab(path string, variables map[string]string, api string) (done finished, warned bool) {
	f.t.Helper()
	var p pipeline
	readYAML(f.t, path, &p)
	f.newMachine()
	env := map[string]string{
		"CI_JOB_ID": fmt.Sprint(f.runs), "CI_JOB_TOKEN": "job-token", "CI_API_V4_URL": api, "CI_PROJECT_ID": "7",
		"CI_PROJECT_URL": "https://gitlab.example.com/a/b", "ANTHROPIC_API_KEY": "scripted",
	}
	for _, more := range []map[string]string{p.Claude.Variables, variables} {
		for name, value := range more {
			env[name] = value
		}
	}
	script := strings.Join(append(p.Claude.BeforeScript, p.Claude.Script...), "\n")
	log, err := f.bash(script, env)
	for _, kept := range p.Claude.Artifacts.Paths {
		f.keep("artifacts", filepath.Join(f.workspace, kept))
	}
	done = finished{ok: err == nil, log: log, run: f.runs}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		for _, code := range p.Claude.AllowFailure.ExitCodes {
			warned = warned || exit.ExitCode() == code
		}
	}
	return done, warned
}

// artifact opens a file that a job has kept.
func (f *fleet) artifact(job, name string) (io.Reader, error) {
	f.keeping.Lock()
	folder := f.kept[job+"/artifacts"]
	f.keeping.Unlock()
	content, err := os.ReadFile(filepath.Join(folder, filepath.Base(name)))
	return bytes.NewReader(content), err
}

func number(n int) string { return fmt.Sprint(n) }

// addFile adds a file to a repository, and gives its folder.
func addFile(t *testing.T, dir string) string {
	t.Helper()
	noError(t, os.WriteFile(filepath.Join(dir, "CHANGES"), []byte("one\n"), 0o600))
	return dir
}

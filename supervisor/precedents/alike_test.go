package precedents

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// asks reads a question as it is written in the tables: "header | text | an option | another".
func asks(kind questions.Name, written string) *checkpoints.Question {
	parts := strings.Split(written, " | ")
	q := &checkpoints.Question{Kind: kind}
	q.Header, q.Text = parts[0], parts[1]
	for _, label := range parts[2:] {
		q.Options = append(q.Options, checkpoints.Option{Label: label})
	}
	return q
}

func TestWhatAsksTheSameIsFound(t *testing.T) {
	for _, pair := range [][2]string{
		{"Auth | Which auth method should I use? | JWT | Sessions", "Auth | Which auth method should I use? | JWT | Sessions"},
		{"Auth | Which auth method should I use? | JWT | Sessions", "auth | which auth  method should I use? | Sessions | JWT"},
		{"Auth | Which auth method should I use? | JWT | Sessions", "Auth | Which authentication? Choose an auth method. | JWT | Sessions"},
		{"Database | Which database do we use? | Postgres | SQLite", "DB | Which database should be used? | SQLite | Postgres"},
		{"Tests | Should I add tests for the new module? | Yes | No", "Tests | Shall I add tests for this new module? | Yes | No"},
		{"Style | Tabs or spaces for indentation? | Tabs | Spaces", "Indentation | Use tabs or spaces for the indentation? | Tabs | Spaces"},
		{"Deploy | To which environment should I deploy? | staging | production", "Deploy | Which environment do I deploy to? | staging | production"},
		{"Lib | Which logging library? | zerolog | slog", "Library | Which logging library should I use? | zerolog | slog | zap"},
		{"Cache | How long should sessions be cached? ", "Cache | For how long should the sessions be cached?"},
		{"Branch | What should the branches be named after? ", "Branches | What should branches be named after?"},
		{"Errors | How do you want errors reported to users? ", "Errors | How should errors be reported to the users?"},
		{"License | Which license do you want? | MIT | Apache-2.0", "License | Which license should I add? | MIT | Apache-2.0"},
		{"Format | Should I format config.yaml with prettier? | Yes | No", "Format | Should config.yaml be formatted with prettier? | Yes | No"},
		{"Version | Upgrade React to 19 for the dashboard? | Yes | Later", "Upgrade | Should I upgrade React to 19 for the dashboard? | Yes | Later"},
		{"Retry | How often should failed uploads be retried?", "Retries | How often should a failed upload be retried?"},
		{"Locale | Which language should error messages have? | English | German", "Language | In which language are the error messages? | German | English"},
		{"Migrations | Should old migrations be squashed?", "Migration | Should I squash the old migrations?"},
		{"Names | Do you prefer camel case or snake case for columns? | camel | snake", "Columns | Snake case or camel case for the columns? | snake | camel"},
		{"CI | Which CI service should run the checks? | GitHub | Buildkite", "CI | Which CI service runs our checks? | GitHub | Buildkite"},
		{"Queue | Where should jobs be queued? | Redis | Postgres | Kafka", "Jobs | Where should the jobs be queued? | Redis | Postgres"},
	} {
		a, b := asks(questions.AskClarification, pair[0]), asks(questions.AskClarification, pair[1])
		if compare(a, b) == other || compare(b, a) == other {
			t.Errorf("%q is not found for %q", pair[0], pair[1])
		}
	}
}

func TestWhatAsksSomethingElseIsNotFound(t *testing.T) {
	for _, c := range []struct {
		kind questions.Name
		a, b string
	}{
		{questions.AskClarification, "Auth | Which auth method should I use? | JWT | Sessions", "Auth | Which auth provider should I use? | Okta | Auth0"},
		{questions.AskClarification, "Auth | Which auth method should I use? | JWT | Sessions", "Database | Which database should I use? | Postgres | SQLite"},
		{questions.AskClarification, "File | Should I delete old.go? | Yes | No", "File | Should I delete new.go? | Yes | No"},
		{questions.AskClarification, "File | Should I keep the tests? | Yes | No", "File | Should I not keep the tests? | Yes | No"},
		{questions.AskClarification, "Port | Is port 8080 right? | Yes | No", "Port | Is port 9090 right? | Yes | No"},
		{questions.AskClarification, "Deploy | Deploy to staging? | Yes | No", "Deploy | Roll back production? | Yes | No"},
		{questions.AskClarification, "Upgrade | Upgrade React to 18? | Yes | No", "Upgrade | Upgrade React to 19? | Yes | No"},
		{questions.AskClarification, "Rename | Rename userId everywhere? | Yes | No", "Rename | Rename orderId everywhere? | Yes | No"},
		{questions.AskClarification, "Continue? | Continue? | Yes | No", "Continue? | Proceed with the migration? | Yes | No"},
		{questions.AskClarification, "Tests | Which tests should run?", "Tests | Which tests may be deleted?"},
		{questions.AskClarification, "Style | How should commit messages be written?", "Style | How should the release notes be worded?"},
		{questions.AskClarification, "Cache | How long should sessions be cached?", "Cache | Which cache should hold the pictures?"},
		{questions.AskClarification, "Env | Should FEATURE_A be on? | Yes | No", "Env | Should FEATURE_B be on? | Yes | No"},
		{questions.AskClarification, "Path | Where should /srv/a be moved?", "Path | Where should /srv/b be moved?"},
		{questions.AskPermission, "Bash | Allow Bash: rm -rf build? | allow | deny", "Bash | Allow Bash: rm -rf dist? | allow | deny"},
		{questions.AskPermission, "Bash | Allow Bash: git push? | allow | deny", "Bash | Allow Bash: git push --force? | allow | deny"},
		{questions.AskCommand, "Run | Run make deploy as you? | Run it | Leave it", "Run | Run make deploy now as you? | Run it | Leave it"},
		{questions.AskBudget, "Budget | Budget used up: 1.02 of 1.00 | raise | stop", "Budget | Budget used up: 2.02 of 2.00 | raise | stop"},
		{questions.AskDelegation, "Start | Write the docs of the parser | approve | deny", "Start | Write docs of the parser | approve | deny"},
		{questions.AskClarification, "Log | Log to a file or to stderr? | file | stderr", "Log | Log in JSON or in text? | JSON | text"},
	} {
		a, b := asks(c.kind, c.a), asks(c.kind, c.b)
		if compare(a, b) != other || compare(b, a) != other {
			t.Errorf("%q is found for %q", c.a, c.b)
		}
	}
	a, b := asks(questions.AskClarification, "Auth | Which?"), asks(questions.AskBlocker, "Auth | Which?")
	if compare(a, b) != other {
		t.Error("a question of another kind is found")
	}
}

// Of what a permission lets happen the call counts, not what is said of it.
func TestACallIsTheSameByItsInput(t *testing.T) {
	push := func(input string) *checkpoints.Question {
		q := asks(questions.AskPermission, "Bash | Allow Bash? | allow | deny")
		q.Tool = &checkpoints.ToolCall{Name: "Bash", Input: []byte(input)}
		q.Fingerprint = input
		return q
	}
	if compare(push(`{"command":"git push"}`), push(`{"command":"git push"}`)) != same {
		t.Error("the same call is not the same")
	}
	if compare(push(`{"command":"git push"}`), push(`{"command":"git push -f"}`)) != other {
		t.Error("another call is the same")
	}
}

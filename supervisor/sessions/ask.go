package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// State is how far an ask has got.
type State string

// The states of an Ask.
const (
	Open      State = "open"
	Answered  State = "answered"  // here
	OnScreen  State = "on_screen" // answered there, or turned down
	Withdrawn State = "withdrawn" // nobody waits here; the screen decides
	Ended     State = "ended"     // claude was gone before it had an answer
)

// schema is the version of the file of an Ask.
const schema = 1

// An Ask is one call that a session asks a person about, and what became of it.
type Ask struct {
	Schema     int         `json:"schema"`
	ID         string      `json:"id"` // that of its first question
	Session    string      `json:"session"`
	Transcript string      `json:"transcript"`
	Cwd        string      `json:"cwd"`
	Screen     string      `json:"screen,omitempty"`  // the terminal of claude, for people; "": it has none
	Program    string      `json:"program,omitempty"` // that has started claude, as that calls it (CLAUDE_CODE_ENTRYPOINT)
	Agent      string      `json:"agent,omitempty"`   // the subagent that asks; "": the main conversation
	AgentType  string      `json:"agent_type,omitempty"`
	Mode       Mode        `json:"mode"`
	Machine    string      `json:"machine,omitempty"` // that it is on, as procs.Machine has it
	Claude     procs.Other `json:"claude"`
	Hook       procs.Other `json:"hook"`
	Socket     string      `json:"socket"` // takes answers while the hook waits

	Server    string                  `json:"server,omitempty"` // of MCP, that asks in a call; "": claude asks
	Tool      string                  `json:"tool"`
	Input     json.RawMessage         `json:"input"`
	Offered   json.RawMessage         `json:"offered,omitempty"` // what claude suggests to permit for good
	Call      string                  `json:"call,omitempty"`    // the id of the call, once the transcript has it
	Line      string                  `json:"line,omitempty"`    // and the uuid of its line there
	Version   string                  `json:"version,omitempty"` // and the release of claude that wrote it
	State     State                   `json:"state"`
	Settled   bool                    `json:"settled,omitempty"` // its state is the last
	EndedAt   *time.Time              `json:"ended_at,omitempty"`
	Questions []*checkpoints.Question `json:"questions"`
}

// Far reports whether the ask is of another machine, which has this one's folders, too. What became of it is seen here
// by its file alone, and it is answered there.
func (a *Ask) Far() bool { return a.Machine != "" && thisMachine() != "" && a.Machine != thisMachine() }

var thisMachine = procs.Machine // but in tests

// conversation is the file of the conversation that has the call: a subagent has one of its own.
func (a *Ask) conversation() string {
	if a.Agent == "" {
		return a.Transcript
	}
	return filepath.Join(strings.TrimSuffix(a.Transcript, ".jsonl"), "subagents", "agent-"+filepath.Base(a.Agent)+".jsonl")
}

// An input is what claude writes to a hook. There is no id of the call.
type input struct {
	Event      string          `json:"hook_event_name"`
	Session    string          `json:"session_id"`
	Transcript string          `json:"transcript_path"`
	Cwd        string          `json:"cwd"`
	Tool       string          `json:"tool_name"`
	Input      json.RawMessage `json:"tool_input"`
	Offered    json.RawMessage `json:"permission_suggestions"`
	Agent      string          `json:"agent_id"`
	AgentType  string          `json:"agent_type"`

	claude.Elicitation // of the event of that name
}

// maxElicited is the longest of what a server asks, in bytes.
const maxElicited = 64 << 10

// elicits makes what an MCP server asks of an input: by the form of the question that a supervised claude hands over.
// What cannot be shown whole the screen shows.
func (in *input) elicits() []signals.Question {
	in.Withheld = claude.Withheld{} // ours to say
	in.Tool, in.Input = in.Server, text.JSON(in.Elicitation)
	asked := ask.Elicitation(in.Input)
	if in.Server == "" || len(in.Input) > maxElicited || ask.Withheld(asked) {
		return nil
	}
	return asked
}

// errNotAsked means that a call is not for here: the screen decides.
var errNotAsked = errors.New("not asked here")

// A Look shows a call so that a person can judge it, as package permission does.
type Look func(tool string, input json.RawMessage, site ask.CallSite) ask.CallView

// newAsk makes the ask of a hook's input.
func newAsk(in input, look Look, at time.Time, random io.Reader) (*Ask, error) {
	var server []signals.Question
	if in.Event == "Elicitation" {
		server = in.elicits()
	}
	if in.Event != "PermissionRequest" && server == nil || in.Tool == "" || in.Session == "" || len(in.Input) == 0 {
		return nil, errNotAsked
	}
	a := &Ask{Schema: schema, Session: in.Session, Transcript: in.Transcript, Cwd: in.Cwd, Agent: in.Agent,
		AgentType: in.AgentType, Tool: in.Tool, Input: in.Input, State: Open}
	kind, asked, rule := questions.AskPermission, []signals.Question(nil), ""
	var err error
	switch {
	case server != nil:
		kind, asked, a.Server = questions.AskElicitation, server, in.Server
	case in.Tool == ask.AskUserQuestion:
		kind = questions.AskClarification
		asked, err = ask.UserQuestions(in.Input)
	default:
		var q signals.Question
		q, rule = permissionOf(in, look)
		if rule != "" {
			a.Offered = in.Offered
		}
		asked = []signals.Question{q}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotAsked, err)
	}
	for i, one := range asked {
		q := ask.Question(kind, one)
		q.ID, q.Index, q.AskedAt = checkpoints.NewID(checkpoints.QuestionPrefix, random), i, at
		q.Rule = rule
		if questions.KindOf(kind).Ruled || a.Server != "" {
			q.Tool = &checkpoints.ToolCall{Name: in.Tool, Input: in.Input}
		}
		if i == 0 {
			a.ID = q.ID
		}
		q.Group = a.ID
		a.Questions = append(a.Questions, q)
	}
	return a, nil
}

// permissionOf makes the question of a permission, and says what claude suggests to permit for good; "": nothing that
// could be told to a person. No rule of ours is offered: a session has none.
func permissionOf(in input, look Look) (signals.Question, string) {
	q, _ := ask.Permission(procs.Ask{Name: in.Tool, Input: in.Input},
		look(in.Tool, in.Input, ask.CallSite{Folder: in.Cwd, Cwd: in.Cwd}))
	always := suggested(in.Offered)
	q.Context = strings.Replace(q.Context, "run's folder: ", "folder: ", 1)
	options := make([]signals.Option, 0, len(q.Options))
	allowable := false
	for _, o := range q.Options {
		switch o.Label {
		case questions.Allow:
			allowable = true
			options = append(options, o)
		case questions.Deny:
			if allowable && always != "" {
				options = append(options, signals.Option{Label: questions.AllowRun, Description: "always: " + always})
			}
			options = append(options, o)
		}
	}
	if q.Options = options; !allowable {
		always = ""
	}
	return q, always
}

// A suggestion is what claude would permit for good, as its own dialog offers it.
type suggestion struct {
	Type  string `json:"type"`
	Rules []struct {
		Tool string `json:"toolName"`
		Rule string `json:"ruleContent"`
	} `json:"rules"`
	Behavior    string   `json:"behavior"`
	Mode        string   `json:"mode"`
	Directories []string `json:"directories"`
	Destination string   `json:"destination"`
}

// destinations are where claude keeps what it permits, for people.
var destinations = map[string]string{
	"session": "in this session", "localSettings": "in this project, for you", "projectSettings": "in this project",
	"userSettings": "in all your projects", "cliArg": "in this session",
}

// suggested says what claude suggests, for people; "" if there is nothing, or anything that we do not know: what is not
// shown cannot be allowed.
func suggested(offered json.RawMessage) string {
	var all []suggestion
	if len(offered) == 0 || len(offered) > text.MaxPreview || json.Unmarshal(offered, &all) != nil {
		return ""
	}
	var said []string
	for _, s := range all {
		where := destinations[s.Destination]
		var what []string
		switch {
		case where == "":
			return ""
		case s.Type == "addRules" && s.Behavior == "allow" && len(s.Rules) > 0:
			for _, r := range s.Rules {
				rule := r.Tool
				if r.Rule != "" {
					rule += "(" + r.Rule + ")"
				}
				what = append(what, text.Shown(rule))
			}
		case s.Type == "setMode" && s.Mode == "acceptEdits":
			what = []string{"all edits in the folder"}
		case s.Type == "addDirectories" && len(s.Directories) > 0:
			for _, d := range s.Directories {
				what = append(what, "the folder "+text.Shown(d))
			}
		default:
			return ""
		}
		said = append(said, strings.Join(what, ", ")+" "+where)
	}
	return strings.Join(said, "; ")
}

// A TakenError says that a question has its answer already.
type TakenError struct{ ID, Answer, By string }

// Error says whose it is.
func (e *TakenError) Error() string {
	return fmt.Sprintf("question %s was already answered by %s: %s", e.ID, e.By, e.Answer)
}

// Request returns what was asked as a supervised claude asks it.
func (a *Ask) Request() procs.Ask { return procs.Ask{Name: a.Tool, Input: a.Input} }

// question returns the question of an id, nil if it is none of these.
func (a *Ask) question(id string) *checkpoints.Question {
	for _, q := range a.Questions {
		if q.ID == id {
			return q
		}
	}
	return nil
}

// answer gives a question its answer. The first counts.
func (a *Ask) answer(g given, at time.Time) error {
	q := a.question(g.Question)
	switch {
	case q == nil:
		return &checkpoints.UnknownError{ID: g.Question}
	case q.State != checkpoints.QuestionOpen:
		return &TakenError{ID: q.ID, Answer: q.Answer, By: q.AnsweredBy}
	case a.Mode != ModeAsk:
		return errors.New("it is only shown here")
	}
	if !g.Decline && !g.Skip {
		err := questions.Check(q, g.Answer, a.Cwd)
		if err == nil && a.Server != "" { // nobody looks at it again
			_, err = questions.Judge(q, g.Answer, questions.Place{})
		}
		if err != nil {
			return err
		}
	}
	if word, argument := questions.Decision(g.Answer); questions.KindOf(q.Kind).Ruled && !g.Decline {
		switch {
		case word == questions.DenyStop:
			return errors.New("a session is stopped on its screen; to refuse the call, type deny")
		case word == questions.AllowRun && argument != "":
			return errors.New("what is permitted for good is what claude suggests, and no other rule: type allow-run alone")
		case word == questions.AllowRun && len(a.Offered) == 0:
			return errors.New("claude suggests nothing that could be permitted for good: type allow")
		}
	}
	if g.Skip && !q.Optional {
		return errors.New("it is required, and cannot be skipped")
	}
	q.Answer, q.Declined, q.Skipped, q.AnsweredAt, q.AnsweredBy = g.Answer, g.Decline, g.Skip, &at, g.By
	q.State = checkpoints.QuestionAnswered
	return nil
}

// complete reports whether all its questions have their answers: one that is declined declines all.
func (a *Ask) complete() bool {
	for _, q := range a.Questions {
		if q.State == checkpoints.QuestionOpen {
			return a.declined() != nil
		}
	}
	return true
}

func (a *Ask) declined() *checkpoints.Question {
	for _, q := range a.Questions {
		if q.Declined {
			return q
		}
	}
	return nil
}

// A decision is what a hook prints.
type decision struct {
	Behavior string          `json:"behavior"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Grants   json.RawMessage `json:"updatedPermissions,omitempty"`
	Message  string          `json:"message,omitempty"`
}

// elicited is what a hook prints for an MCP server.
type elicited struct {
	Event   string          `json:"hookEventName"`
	Action  string          `json:"action"` // accept, decline
	Content json.RawMessage `json:"content,omitempty"`
}

// decision returns what the answers are, as claude takes it from a hook. The ask is complete.
func (a *Ask) decision() []byte {
	if a.Server != "" {
		told := ask.Elicited(a.Questions[0].Tool, a.Questions)
		return text.JSON(map[string]any{"hookSpecificOutput": elicited{"Elicitation", told.Action, told.Content}})
	}
	var d decision
	switch no := a.declined(); {
	case no != nil:
		d = decision{Behavior: "deny", Message: "The person declined to answer: " + no.Answer}
	case a.Tool == ask.AskUserQuestion:
		d = decision{Behavior: "allow", Input: ask.WithAnswers(a.Input, a.Questions)}
	default:
		word, why := questions.Decision(a.Questions[0].Answer)
		switch word {
		case questions.Allow:
			d = decision{Behavior: "allow", Input: a.Input}
		case questions.AllowRun:
			d = decision{Behavior: "allow", Input: a.Input, Grants: a.Offered}
		default:
			d = decision{Behavior: "deny", Message: "The person refused this."}
			if why != "" {
				d.Message += " " + why
			}
		}
	}
	return text.JSON(map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": "PermissionRequest", "decision": d}})
}

// Facts are what is to be seen of an ask beside its file.
type Facts struct {
	Waits  bool // its hook does
	Claude bool // claude lives
	Call   Outcome
}

// Conclude returns the state of an ask. Readers use it: a hook that was killed has written nothing.
func (a *Ask) Conclude(f Facts) State {
	switch {
	case a.State == Open && f.Waits:
		return Open
	case a.State == Answered && f.Call == ByScreen:
		return OnScreen // both at once: claude says whose answer it has taken
	case a.State == Answered && f.Call == None && !f.Claude:
		return Ended // it was gone before it read the answer
	case a.State == Answered:
		return Answered
	case f.Call != None:
		return OnScreen
	case f.Claude && a.State != Ended:
		if a.State == OnScreen {
			return OnScreen
		}
		return Withdrawn
	}
	return Ended
}

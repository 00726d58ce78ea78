package supervisor

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
)

// The stories of testdata/stories drive Step and Plan as a Story of Go does, and are read like a transcript: what
// happens, and what is decided after it. A story begins with "== ", its name, a test. Below it are its lines, from an
// agent at work on its first turn:
//
//	with KEY=VALUE…            the first line, if at all: what the run was started with (settings); with exec: a command
//	                           in claude's place, which has begun
//	EVENT KEY=VALUE…           an event by its stored name, of the root and its newest launch unless it says another
//	VERB WORD…                 one or more events that belong together (verbs)
//	not EVENT…                 the event is unwelcome
//	is STATUS, exits CODE, reason TEXT, leaves CODE            what the root is, and its supervisor leaves with
//	plans KEY, no KEY          an effect whose key begins so is planned, or none is
//	plan KEY, KEY…             these are planned, and nothing else
//	question ID STATE KEY=VALUE…    the record of a question; KEY~TEXT: it has the text in it; KEY.KEY: a field of a field
//	questions N                so many were ever asked
//	delivery KEY=VALUE…        what was last delivered
//	agent KEY=VALUE…, launch N KEY=VALUE…    the records of the root and of its newest launch
//	expected N, flags FLAGS    so many calls are allowed once; with which flags it is started
//	session anew                             its conversation is another than at the beginning
//	reads TEXT…, lacks TEXT…   what the prompt or the reply that was last delivered says, or does not
//	counts N TEXT              so often it says this
//	prompts N, said N TEXT     so many prompts have reached it (the last is read), so often it was told this
//	asked ID, answered ID TEXT…    a person is asked about a call of wants, or it has this reply
//	gate TEXT                  what the Stop hook tells the agent; "": it lets the turn end
//
//	child STATUS KEY=VALUE…    the record of the root's child; "no" where there is none
//
// A word with blanks stands in quotes, as in Go. The root is called root, its child child. A # begins a comment.
func TestStories(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "stories", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split("\n"+string(doc), "\n== ") {
			name, lines, _ := strings.Cut(part, "\n")
			if i > 0 {
				t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+name, func(t *testing.T) { tell(t, lines) })
			}
		}
	}
}

// A telling is a story under way.
type telling struct {
	*Story
	read    string // what was last delivered
	sent    string // its UUID
	session string // of the first launch
}

func tell(t *testing.T, lines string) {
	t.Helper()
	var s *telling
	at := ""
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("in the line: %s", at)
		}
	})
	for line := range strings.Lines(lines) {
		words := wordsOf(t, line)
		if len(words) == 0 {
			continue
		}
		if s == nil {
			settled := func(*conf.Config) {}
			if words[0] == "with" {
				settled = func(c *conf.Config) { settle(t, c, words[1:]) }
			}
			if s = (&telling{}); slices.Equal(words, []string{"with", "exec"}) {
				s.Story = execAgent(t)
			} else {
				s.Story = Begin(t, settled)
			}
			if s.session = s.State.Agents.Get(Root).SessionID; words[0] == "with" {
				continue
			}
		}
		at = strings.TrimSpace(line)
		if s.play(words); t.Failed() {
			return
		}
	}
}

// wordsOf splits a line into words, of which those in quotes are read as in Go.
func wordsOf(t *testing.T, line string) (words []string) {
	t.Helper()
	for line = strings.TrimSpace(line); line != "" && line[0] != '#'; line = strings.TrimSpace(line) {
		end := strings.IndexAny(line+" ", " \"`")
		word := line[:end]
		if line = line[end:]; line != "" && line[0] != ' ' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			text, _ := strconv.Unquote(quoted)
			word, line = word+text, line[len(quoted):]
		}
		words = append(words, word)
	}
	return words
}

// settle changes what a run is started with.
func settle(t *testing.T, c *conf.Config, pairs []string) {
	t.Helper()
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		rest, err := time.ParseDuration(value)
		switch key {
		case "hold":
			if value == "forever" {
				rest, err = conf.Forever, nil
			}
			c.Hold = rest
		case "max-held":
			c.MaxHeld, err = strconv.Atoi(value)
		case "on-question":
			c.OnQuestion, err = conf.OnQuestion(value), nil
		case "permissions":
			c.Permissions, err = conf.Permissions(value), nil
		case "relaunch":
			c.Relaunch, err = conf.Relaunch(value), nil
		case "delegate":
			c.Delegate, err = conf.ParseDelegates(value)
		case "flags":
			c.Flags, err = strings.Fields(value), nil
		case "silent-after":
			c.SilentAfter = rest
		case "on-silence":
			c.OnSilence, err = conf.OnSilence(value), nil
		case "cost":
			c.Budget.CostUSD, err = strconv.ParseFloat(value, 64)
		case "tokens":
			c.Budget.Tokens, err = strconv.ParseInt(value, 10, 64)
		case "turns":
			c.Budget.Turns, err = strconv.Atoi(value)
		case "time":
			c.Budget.Time = rest
		case "allow":
			c.Allow, err = strings.Split(value, ","), nil
		case "parallel":
			c.MaxParallel, err = strconv.Atoi(value)
		case "max-agents":
			c.MaxAgents, err = strconv.Atoi(value)
		case "notify":
			c.Notify, err = strings.Fields(value), nil
		default:
			t.Fatalf("no setting is called %s", key)
		}
		if err != nil {
			t.Fatalf("%s: %v", pair, err)
		}
	}
}

// verbs are events that belong together.
var verbs = map[string]func(s *telling, words []string){
	"asks":      func(s *telling, w []string) { s.Asks(w[0], w[1]) }, // by a signal, and its turn ends
	"says":      func(s *telling, w []string) { s.says(w[0]) },
	"answers":   func(s *telling, w []string) { s.Answers(w[0], w[1]) },
	"turn-ends": func(s *telling, _ []string) { s.turnEnds() },
	"reports":   func(s *telling, w []string) { s.reports(w[0], strings.Join(w[1:], "\n")) },
	"ends":      func(s *telling, _ []string) { s.Ends() },                             // as it was told to
	"crashes":   func(s *telling, _ []string) { s.dies(crash()) },                      // by itself
	"rests":     func(s *telling, w []string) { s.Rests(!slices.Contains(w, "lost")) }, // lost: what was said to it
	"launches":  func(s *telling, _ []string) { s.Launches(s.State.Launch(Root).N) },   // until it reads its prompt
	"delivers":  func(s *telling, w []string) { s.delivers(len(w) > 0) },               // anew: what was before, under another id
	"finds": func(s *telling, _ []string) { // the conversation has the prompt already
		for _, d := range s.State.FindDeliveries(Root, (*Delivery).Undelivered) {
			s.Do(Sent{UUID: d.UUID, Launch: s.State.Launch(Root).N})
			s.Do(Received{UUID: d.UUID, State: checkpoints.DeliveryDelivered})
		}
	},
	"relaunches": func(s *telling, _ []string) { // until its first prompt is sent
		n := s.State.Launch(Root).N
		s.Do(Started{Agent: Root, Launch: n, PID: 100 + n})
		s.delivers(false)
	},
	"tool": func(s *telling, w []string) { // REQUEST NAME INPUT ID…: a call of one of ours; NAME@SUB: by a subagent
		name, sub, isSub := strings.Cut(w[1], "@")
		var from *checkpoints.Subagent
		if isSub {
			from = &checkpoints.Subagent{ID: sub, ToolUse: "toolu_" + sub, Depth: 1}
		}
		if name == "delegate_work" {
			s.callsDelegate(w[0], w[3], childOne, w[2])
			return
		}
		s.calls(w[0], name, w[2], from, w[3:]...)
	},
	"replied": func(s *telling, w []string) { s.replies(w[0], false) }, // REQUEST: which needed nobody
	"refused": func(s *telling, w []string) { s.replies(w[0], true) },  // REQUEST: which is an error
	"assumes": func(s *telling, w []string) { // it asks q-1, and works on; REQUEST ID: it asks the same again
		if len(w) == 0 {
			s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.332"})
			w = []string{"r1", "q-1"}
		}
		s.calls(w[0], "ask_user", whichDatabase, nil, w[1])
	},
	"looks": func(s *telling, made []string) { // for what was made under the assumption of q-1
		s.looks(append([]string(nil), made...)...)
	},
	"refuses": func(s *telling, w []string) { // REASON: a hook refuses what was last delivered
		s.Do(PromptRefused{UUID: s.sent, Reason: w[0]})
	},
	"loses": func(s *telling, _ []string) { // the conversation has all but what was last delivered
		for _, d := range s.State.FindDeliveries(Root, (*Delivery).WaitsForReceipt) {
			s.Do(Confirmed{UUID: d.UUID, Found: d.UUID != s.sent})
		}
	},
	"starts":       func(s *telling, _ []string) { s.starts(s.State.Launch(Root).N) },            // a command, with its prompt
	"command-ends": func(s *telling, w []string) { s.commandEnds(s.State.Launch(Root).N, w...) }, // FAILURE, or well
	"is-lost":      func(s *telling, _ []string) { s.isLost() },                                  // with its supervisor; another ends what is left
	"starts-with": func(s *telling, w []string) { // TEXT…: of the prompt that a command is started with
		s.read = s.State.PromptOf(Root, s.State.Launch(Root).N)
		s.reads(w, true)
	},
	"is-refused": func(s *telling, w []string) { // ID COMMAND SUB: claude refuses a call, and the person is asked about it
		s.came(s.isRefused(w[0], w[1], subagent(w[2:])), true)
	},
	"stays-refused": func(s *telling, w []string) { s.came(s.isRefused(w[0], w[1], subagent(w[2:])), false) }, // nobody is
	"lets-through":  func(s *telling, w []string) { s.came(s.isLetThrough(w[0], w[1], subagent(w[2:])), true) },
	"holds-up":      func(s *telling, w []string) { s.came(s.isLetThrough(w[0], w[1], subagent(w[2:])), false) },
	"plans-it":      func(s *telling, w []string) { s.asksAboutPlan(w[0], w[1], s.State.Launch(Root).N) }, // ID PLAN
	"child-works":   func(s *telling, _ []string) { s.childWorks() },
	"child-ends":    func(s *telling, w []string) { s.childReports(w[0]) },  // STATUS, which it reports
	"result":        func(s *telling, _ []string) { s.read = s.returned() }, // of the call that waited
	"stops": func(s *telling, w []string) { // STOP ANSWER: its turn ends by a stop, which is answered
		s.stops(map[string]signals.Signal{"dependency": dependency, "too-much": tooMuch}[w[0]], w[1])
	},
	"returns": func(s *telling, w []string) { // what a call that waited returns
		s.read = s.returned()
		wants(s.T, "result", s.read, w[0])
	},
	"wants": func(s *telling, w []string) { // ID COMMAND SUB: a call, of a subagent of that id if there is one
		var from *checkpoints.Subagent
		if len(w) > 2 {
			from = &checkpoints.Subagent{ID: w[2], ToolUse: "toolu_" + w[0], Task: "test"}
		}
		s.wants(w[0], w[1], from)
	},
	"revokes": func(s *telling, w []string) { s.revokes(w[0]) },
	"later": func(s *telling, w []string) {
		d, err := time.ParseDuration(w[0])
		if err != nil {
			s.T.Fatal(err)
		}
		s.At = s.At.Add(d)
	},
	"confirms": func(s *telling, w []string) { // found, or lost: the answers of its calls
		for _, d := range s.State.FindDeliveries(Root, (*Delivery).WaitsForReceipt) {
			s.Do(Confirmed{UUID: d.UUID, Found: d.Tool == nil || w[0] == "found"})
		}
	},
	"receives": func(s *telling, w []string) { // the receipt of what was last delivered; all: of all that is on its way
		said := []string{s.sent}
		if len(w) > 0 {
			said = nil
			for _, d := range s.State.FindDeliveries(Root, (*Delivery).Undelivered) {
				said = append(said, d.UUID)
			}
		}
		for _, id := range said {
			s.Do(Received{UUID: id, State: checkpoints.DeliveryDelivered})
		}
	},
	"inbox": func(s *telling, w []string) { // KIND ID VALUE, of each note; of a stop KIND alone
		var notes []InboxEntry
		for ; len(w) > 0; w = w[min(len(w), 3):] {
			if n := (InboxEntry{Kind: w[0]}); n.Kind == EntryStop {
				notes, w = append(notes, n), append([]string{"", ""}, w...)
			} else {
				notes = append(notes, InboxEntry{Kind: n.Kind, Question: w[1], Value: w[2]})
			}
		}
		s.Notes(notes...)
	},
}

// opening are events of a question that is asked, under an id.
var opening = map[string]func(s *telling, words []string) Event{
	"signals": func(s *telling, w []string) Event { // ID TEXT ID TEXT…
		e := s.clarification(w[0], w[1])
		for i := 2; i < len(w); i += 2 {
			q := e.Signal.Questions[0]
			q.ID, q.Text = fmt.Sprintf("Q%d", i/2+1), w[i+1]
			e.Signal.Questions, e.IDs, e.Presets = append(e.Signal.Questions, q), append(e.IDs, w[i]), nil
		}
		return e
	},
	"blocks-not": func(s *telling, w []string) Event { // ID TEXT ASSUMPTION: a block that does not stop the work
		e := s.clarification(w[0], w[1])
		e.Signal.Fields = append(e.Signal.Fields, signals.Field{Name: "blocking", Value: "false"})
		e.Signal.Questions[0].Assumption = w[2]
		return e
	},
	"polls": func(s *telling, w []string) Event { // ID FILE: a script's question file, by which it waits for its answer
		return FileFound{Agent: Root, Launch: s.State.Launch(Root).N, Named: Named{Signal: fileSignal(w[1]),
			Naming: Naming{IDs: []string{w[0]}, Presets: []conf.Preset{{}}}}}
	},
	"escalates": func(s *telling, w []string) Event { // ID FILE: the same by a signal
		return SignalRead{Agent: Root, Launch: s.State.Launch(Root).N, Named: Named{Signal: fileSignal(w[1]),
			Naming: Naming{IDs: []string{w[0]}}}}
	},
	"delegates": func(s *telling, w []string) Event { // ID TASK INDEPENDENCE: by a signal
		fields := []signals.Field{{Name: "new_task_description", Value: w[1]}}
		if len(w) > 2 {
			fields = append(fields, signals.Field{Name: "independence", Value: w[2]})
		}
		return SignalRead{Agent: Root, Launch: 1, Named: Named{Naming: Naming{IDs: []string{w[0]}, Child: childOne},
			Signal: signals.Signal{Kind: signals.Delegate, AgentID: Root, Fields: fields}}}
	},
	"calls": func(_ *telling, w []string) Event { return askUser(w[0]) }, // AskUserQuestion
	"spends": func(s *telling, w []string) Event { // COST: its turn ends by what its launch may cost
		usd, err := strconv.ParseFloat(w[0], 64)
		if err != nil {
			s.T.Fatal(err)
		}
		return TurnEnded{Agent: Root, Launch: s.State.Launch(Root).N, CostUSD: usd,
			Failure: procs.Failure{Kind: procs.OverBudget, Reason: "Reached maximum budget"}}
	},
	"fails": func(s *telling, w []string) Event { // KIND REASON: its turn ends so
		f := procs.Failure{Kind: procs.FailureKind(w[0]), Reason: w[1], Passing: slices.Contains(w[2:], "passing")}
		return TurnEnded{Agent: Root, Launch: s.State.Launch(Root).N, Failure: f}
	},
}

// event makes the event of a line.
func (s *telling) event(words []string) Event {
	s.T.Helper()
	if make, ok := opening[words[0]]; ok {
		return make(s, words[1:])
	}
	kind, ok := kinds[words[0]]
	if !ok {
		s.T.Fatalf("nothing is called %s; there are %q, and the events %q", words[0],
			slices.Sorted(maps.Keys(verbs)), slices.Sorted(maps.Keys(kinds)))
	}
	fields := map[string]json.RawMessage{}
	if _, has := kind.FieldByName("Agent"); has {
		fields["Agent"] = raw(Root)
	}
	if _, has := kind.FieldByName("Launch"); has {
		fields["Launch"] = raw(s.State.Launch(Root).N)
	}
	for _, pair := range words[1:] {
		key, value, _ := strings.Cut(pair, "=")
		f, has := kind.FieldByName(key)
		if !has {
			s.T.Fatalf("%s has no %s", words[0], key)
		}
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			key = name // as it is stored
		}
		if fields[key] = json.RawMessage(value); f.Type.Kind() == reflect.String || !json.Valid(fields[key]) {
			fields[key] = raw(value)
		}
	}
	e, err := Recorded(checkpoints.Event{Run: RunID, Type: words[0], Doc: raw(fields)})
	if err != nil {
		s.T.Fatal(err)
	}
	return e.Event
}

func (s *telling) delivers(anew bool) {
	s.T.Helper()
	d := s.Delivers(s.State.Launch(Root).N)
	if anew && d.UUID == s.sent {
		s.T.Error("it has the same id")
	}
	s.read, s.sent = d.Text+string(d.Reply), d.UUID
}

// reads wants texts in what was last said, or wants them not.
func (s *telling) reads(texts []string, has bool) {
	s.T.Helper()
	for _, text := range texts {
		if strings.Contains(s.read, text) != has {
			s.T.Errorf("%q: it reads\n%s", text, s.read)
		}
	}
}

// subagent is that of the id that is given, if one is.
func subagent(id []string) *checkpoints.Subagent {
	if len(id) == 0 {
		return nil
	}
	return &checkpoints.Subagent{ID: id[0], Task: "test"}
}

// came wants what has come of an event.
func (s *telling) came(got, want bool) {
	s.T.Helper()
	if got != want {
		s.T.Errorf("it comes to %v", got)
	}
}

// replies plays what a call is told at once, as an error or not.
func (s *telling) replies(request string, refused bool) {
	s.T.Helper()
	r := s.reply(request)
	if s.read = r.Text; r.IsError != refused {
		s.T.Errorf("it is told %+v", r)
	}
}

func (s *telling) play(words []string) {
	s.T.Helper()
	verb, args := words[0], words[1:]
	rest := strings.NewReplacer("root", Root, "child", childOne).Replace(strings.Join(args, " "))
	switch verb {
	case "not":
		if s.try(s.event(args)) {
			s.T.Errorf("it was welcome")
		}
	case "is":
		s.is(Status(rest))
	case "exits":
		code, err := strconv.Atoi(rest)
		if err != nil {
			s.T.Fatal(err)
		}
		s.exits(code)
	case "reason":
		wants(s.T, "reason", s.State.Agents.Get(Root).Reason, args[0])
	case "leaves":
		wants(s.T, "exit code", fmt.Sprint(s.State.ExitCode()), rest)
	case "child":
		if c := s.State.Agents.Get(childOne); args[0] == "no" || c == nil {
			wants(s.T, "child", fmt.Sprint(c), "<nil>")
			wants(s.T, "status", args[0], "no")
		} else {
			wants(s.T, "child's status", string(c.Status), args[0])
			hasFields(s.T, c, args[1:])
		}
	case "agent":
		hasFields(s.T, s.State.Agents.Get(Root), args)
	case "expected":
		wants(s.T, "number of calls that are expected", fmt.Sprint(len(s.State.Expected(Root))), rest)
	case "flags":
		wants(s.T, "flags", strings.Join(s.State.FlagsOf(Root), " "), rest)
	case "session":
		if s.State.Agents.Get(Root).SessionID == s.session {
			s.T.Error("it is the same session")
		}
	case "plans":
		s.plans(rest)
	case "no":
		s.plansNot(rest)
	case "plan":
		wants(s.T, "plan", strings.Join(s.keys(), ", "), rest)
	case "question":
		q := s.State.Questions.Get(args[0])
		wants(s.T, "state", string(q.State), args[1])
		hasFields(s.T, q, args[2:])
	case "questions":
		wants(s.T, "number of questions", fmt.Sprint(s.State.Questions.Len()), rest)
	case "verdict":
		wants(s.T, "verdict", string(questions.VerdictOf(s.State.Questions.Get("q-1"))), rest)
	case "delivery":
		hasFields(s.T, s.State.Deliveries.Get(s.sent), args)
	case "launch":
		l := s.State.Launch(Root)
		wants(s.T, "launch", fmt.Sprint(l.N), args[0])
		hasFields(s.T, l, args[1:])
	case "reads", "lacks":
		s.reads(args, verb == "reads")
	case "counts":
		wants(s.T, "number of times", fmt.Sprint(strings.Count(s.read, args[1])), args[0])
	case "prompts":
		said := s.prompts()
		s.read = said[len(said)-1]
		wants(s.T, "number of prompts", fmt.Sprint(len(said)), rest)
	case "said":
		wants(s.T, "number of times", fmt.Sprint(strings.Count(strings.Join(s.prompts(), "\n"), args[1])), args[0])
	case "asked":
		wants(s.T, "reply", s.replied(args[0]), "")
	case "answered":
		for _, text := range args[1:] {
			if reply := s.replied(args[0]); !strings.Contains(reply, text) {
				s.T.Errorf("it is answered %q", reply)
			}
		}
	case "gate":
		if said := s.State.Launch(Root).Gate.Block; !strings.Contains(said, args[0]) || args[0] == "" && said != "" {
			s.T.Errorf("it says %q", said)
		}
	default:
		if play, ok := verbs[verb]; ok {
			play(s, args)
		} else {
			s.Do(s.event(words))
		}
	}
}

// hasFields checks fields of a record, given as KEY=VALUE.
func hasFields(t *testing.T, record any, pairs []string) {
	t.Helper()
	for _, pair := range pairs {
		at := strings.IndexAny(pair, "=~")
		f := reflect.ValueOf(record)
		for name := range strings.SplitSeq(pair[:at], ".") {
			if f = reflect.Indirect(f).FieldByName(name); !f.IsValid() {
				t.Fatalf("a %T has no %s", record, pair[:at])
			}
		}
		got, want := fmt.Sprint(f.Interface()), pair[at+1:]
		if pair[at] == '=' || !strings.Contains(got, want) {
			wants(t, pair[:at], got, want)
		}
	}
}

func wants(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("its %s is %q", what, got)
	}
}

package seal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
)

func keyIn(t *testing.T) *Key {
	t.Helper()
	k, err := MakeKey(filepath.Join(t.TempDir(), "fleet.key"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestAKeyIsMadeOnceAndKeptSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "fleet.key")
	if _, err := ReadKey(file); !errors.Is(err, ErrNoKey) {
		t.Fatalf("without a file: %v", err)
	}
	made, err := MakeKey(file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := MakeKey(file)
	if err != nil || again.identity.String() != made.identity.String() {
		t.Fatalf("the second time it is another: %v", err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKey(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others can read: %v", err)
	}
}

// Builds of before did not say what a payload is for. The file of a key says that none of theirs is opened: that of a
// new fleet, or by a line that is added once they are gone.
func TestAKeyOpensWhatBuildsOfBeforeHaveSealedUnlessItsFileSaysNo(t *testing.T) {
	for name, c := range map[string]struct {
		comment string
		opens   bool
	}{
		"of before":             {"# the key of a fleet of claude-supervise", true},
		"of age-keygen, before": {"# created: 2026-11-30T23:00:00+01:00", true},
		"of age-keygen, since":  {"# created: 2026-12-01T01:00:00+01:00\n# public key: age1", false},
		"with the line":         {"# created: 2026-01-01T00:00:00Z\r\n" + onlyBound + "\r", false},
		"of fleet dev":          {"", false},
	} {
		file := filepath.Join(t.TempDir(), "fleet.key")
		k, err := MakeKey(file)
		if err == nil && c.comment != "" {
			err = os.WriteFile(file, []byte(c.comment+"\n"+k.identity.String()+"\n"), 0o600)
		}
		if err == nil {
			k, err = ReadKey(file)
		}
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := old(k).ToPayload("said")
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := k.Converter().FromPayload(sealed, &got); (err == nil) != c.opens {
			t.Errorf("%s: it opens as %q, %v", name, got, err)
		}
	}
}

func TestAPayloadOpensOnlyWithTheKeyThatSealedIt(t *testing.T) {
	k, other := keyIn(t), keyIn(t)
	sealed, err := k.Converter().ToPayload("the secret")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed.Data, []byte("secret")) {
		t.Error("it can be read")
	}
	var got string
	if err := k.Converter().FromPayload(sealed, &got); err != nil || got != "the secret" {
		t.Errorf("it opens as %q, %v", got, err)
	}
	if err := other.Converter().FromPayload(sealed, &got); err == nil {
		t.Error("another key opens it")
	}
	plain, err := converter.GetDefaultDataConverter().ToPayload("forged")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Converter().FromPayload(plain, &got); err == nil {
		t.Error("one that nobody sealed is taken")
	}
}

func TestASealedFileOpensOnlyWholeAndUnderItsName(t *testing.T) {
	k := keyIn(t)
	var sealed bytes.Buffer
	if err := k.File("r-1/1", &sealed, strings.NewReader("a snapshot")); err != nil {
		t.Fatal(err)
	}
	open := func(k *Key, name string, content []byte) (string, error) {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Write(content); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err = k.Open(name, &out, f)
		return out.String(), err
	}
	if got, err := open(k, "r-1/1", sealed.Bytes()); err != nil || got != "a snapshot" {
		t.Fatalf("it opens as %q, %v", got, err)
	}
	turned := bytes.Clone(sealed.Bytes())
	turned[len(turned)/2] ^= 1
	for what, try := range map[string]func() (string, error){
		"another name":   func() (string, error) { return open(k, "r-2/1", sealed.Bytes()) },
		"another key":    func() (string, error) { return open(keyIn(t), "r-1/1", sealed.Bytes()) },
		"cut short":      func() (string, error) { return open(k, "r-1/1", sealed.Bytes()[:sealed.Len()-1]) },
		"nearly nothing": func() (string, error) { return open(k, "r-1/1", []byte("x")) },
		"a bit turned":   func() (string, error) { return open(k, "r-1/1", turned) },
	} {
		if got, err := try(); !errors.Is(err, ErrForged) || got != "" {
			t.Errorf("%s: it opens as %q, %v", what, got, err)
		}
	}
}

// An error crosses the fleet as what it is, and what was not sealed, or as another, decides nothing.
func TestAnErrorIsOfTheTypeThatItWasSealedAs(t *testing.T) {
	k := keyIn(t)
	k.bound = false
	ctx := converter.ActivitySerializationContext{Namespace: "n", WorkflowID: "r-aaaaaaaa", ActivityType: "a", TaskQueue: "q"}
	other := ctx
	other.WorkflowID = "r-bbbbbbbb"
	sealing := converter.WithFailureConverterSerializationContext(k.FailureConverter(), ctx)
	elsewhere := converter.WithFailureConverterSerializationContext(k.FailureConverter(), other)
	said := temporal.NewNonRetryableApplicationError("no such commit", "never", nil, "more")
	before := temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: old(k),
		EncodeCommonAttributes: true})
	clear := temporal.GetDefaultFailureConverter().ErrorToFailure(said)
	turned := sealing.ErrorToFailure(temporal.NewApplicationError("the disk is full", "for now"))
	turned.GetApplicationFailureInfo().Type = "never"
	for name, c := range map[string]struct {
		failure     *failurepb.Failure
		kind, words string
	}{
		"as it was sealed":      {sealing.ErrorToFailure(said), "never", "no such commit"},
		"by a build of before":  {before.ErrorToFailure(said), "never", "no such commit"},
		"in clear":              {clear, Unsealed, "not sealed by this fleet: no such commit"},
		"as another":            {turned, Unsealed, "not sealed by this fleet: the disk is full"},
		"of another run":        {elsewhere.ErrorToFailure(said), Unsealed, "not sealed by this fleet: Encoded failure"},
		"below one of a server": {&failurepb.Failure{Cause: clear, FailureInfo: activityFailed}, Unsealed, "not sealed by this fleet: no such commit"},
	} {
		var app *temporal.ApplicationError
		err := sealing.FailureToError(c.failure)
		if !errors.As(err, &app) || app.Type() != c.kind || app.Message() != c.words {
			t.Errorf("%s: it is %v", name, err)
		}
	}
	late := temporal.GetDefaultFailureConverter().ErrorToFailure(temporal.NewTimeoutError(enums.TIMEOUT_TYPE_HEARTBEAT, nil))
	if err := sealing.FailureToError(late); !temporal.IsTimeoutError(err) {
		t.Errorf("what a server says is %v", err)
	}
	if doc := sealing.ErrorToFailure(said).String(); strings.Contains(doc, "commit") || strings.Contains(doc, "more") {
		t.Errorf("it can be read: %s", doc)
	}
}

var activityFailed = &failurepb.Failure_ActivityFailureInfo{ActivityFailureInfo: &failurepb.ActivityFailureInfo{}}

// old converts as builds did that do not say what a payload is for.
func old(k *Key) converter.DataConverter {
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), oldCodec{k})
}

type oldCodec struct{ *Key }

func (o oldCodec) Encode(payloads []*commonpb.Payload) (sealed []*commonpb.Payload, err error) {
	for _, p := range payloads {
		one, err := o.seal(p)
		if err != nil {
			return nil, err
		}
		sealed = append(sealed, one)
	}
	return sealed, nil
}

func (o oldCodec) Decode(payloads []*commonpb.Payload) (opened []*commonpb.Payload, err error) {
	for _, p := range payloads {
		one, err := o.open(p)
		if err != nil {
			return nil, err
		}
		opened = append(opened, one)
	}
	return opened, nil
}

// ofRun is a value whose content names a run.
type ofRun struct {
	Mark `json:"-"`
	Run  string `json:"run"`
}

func (o ofRun) ForRun() string { return o.Run }

type sameForm struct {
	Mark `json:"-"`
	Run  string `json:"run"`
}

// What was sealed for one thing is no other: not of another run, namespace or activity, and not of another kind. What a
// build of before has sealed is taken where it names the run, and such a build opens what is sealed now.
func TestAPayloadIsOpenedOnlyAsWhatItWasSealedFor(t *testing.T) {
	k := keyIn(t)
	k.bound = false
	in := func(ctx converter.SerializationContext) converter.DataConverter {
		return converter.WithDataConverterSerializationContext(k.Converter(), ctx)
	}
	run := converter.WorkflowSerializationContext{Namespace: "n", WorkflowID: "r-aaaaaaaa"}
	act := converter.ActivitySerializationContext{Namespace: "n", WorkflowID: "r-aaaaaaaa", WorkflowType: "w",
		ActivityType: "stop", TaskQueue: "q"}
	is := func(change func(*converter.ActivitySerializationContext)) converter.SerializationContext {
		c := act
		change(&c)
		return c
	}
	value := ofRun{Mark: Mark{ID: "one", Execution: "first"}, Run: "r-aaaaaaaa"}
	for name, c := range map[string]struct {
		by, as converter.SerializationContext
		to     any
		opens  bool
	}{
		"of the workflow":           {run, run, &ofRun{}, true},
		"of the activity":           {act, act, &ofRun{}, true},
		"by nobody":                 {nil, nil, &ofRun{}, true},
		"of another run":            {run, converter.WorkflowSerializationContext{Namespace: "n", WorkflowID: "r-bbbbbbbb"}, &ofRun{}, false},
		"of another namespace":      {run, converter.WorkflowSerializationContext{Namespace: "m", WorkflowID: "r-aaaaaaaa"}, &ofRun{}, false},
		"as another kind":           {run, run, &sameForm{}, false},
		"of an activity elsewhere":  {act, is(func(c *converter.ActivitySerializationContext) { c.WorkflowID = "r-bbbbbbbb" }), &ofRun{}, false},
		"of an activity by itself":  {act, is(func(c *converter.ActivitySerializationContext) { c.WorkflowID = "" }), &ofRun{}, false},
		"of another activity":       {act, is(func(c *converter.ActivitySerializationContext) { c.ActivityType = "give" }), &ofRun{}, false},
		"on another queue":          {act, is(func(c *converter.ActivitySerializationContext) { c.TaskQueue = "p" }), &ofRun{}, false},
		"of a workflow as activity": {run, act, &ofRun{}, false},
		"by nobody for a workflow":  {nil, run, &ofRun{}, false},
		"for a workflow by nobody":  {run, nil, &ofRun{}, false},
	} {
		sealed, err := in(c.by).ToPayload(value)
		if err != nil {
			t.Fatal(err)
		}
		if err := in(c.as).FromPayload(sealed, c.to); (err == nil) != c.opens {
			t.Errorf("%s: %v", name, err)
		}
		if got, is := c.to.(*ofRun); c.opens && (!is || *got != value) {
			t.Errorf("%s: it is %+v", name, c.to)
		}
		var before ofRun
		if err := old(k).FromPayload(sealed, &before); err != nil || before.Run != value.Run {
			t.Errorf("%s: a build of before opens %+v, %v", name, before, err)
		}
	}
	sealed, err := old(k).ToPayload(value)
	if err != nil {
		t.Fatal(err)
	}
	var got ofRun
	if err := in(run).FromPayload(sealed, &got); err != nil || !got.Old || got.ID != "" {
		t.Errorf("what a build of before has sealed is %+v, %v", got, err)
	}
	run.WorkflowID = "r-bbbbbbbb"
	if err := in(run).FromPayload(sealed, &got); err == nil {
		t.Error("what a build of before has sealed is taken for another run")
	}
}

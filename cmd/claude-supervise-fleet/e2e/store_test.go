package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
)

const bucket = "snapshots"

// A blobStore speaks the protocol of S3, and does what stores may do.
type blobStore struct {
	t        *testing.T
	kept     *s3mem.Backend
	readOnly atomic.Bool // it refuses what is written
	forgets  atomic.Bool // it acknowledges what is written, and does not keep it
}

// inS3 has the snapshots of a site in such a store.
func (s *site) inS3() *blobStore {
	t := s.t
	t.Helper()
	b := &blobStore{t: t, kept: s3mem.New()}
	if err := b.kept.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	keeps := gofakes3.New(b.kept).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodPut:
			keeps.ServeHTTP(w, r)
		case b.readOnly.Load():
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
		case b.forgets.Load():
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("ETag", `"0123456789abcdef0123456789abcdef"`)
		default:
			keeps.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.store = "s3://" + bucket + "?region=us-east-1&use_path_style=true&endpoint=" + server.URL
	before := s.more
	s.more = func(home string) []string {
		env := []string{"AWS_ACCESS_KEY_ID=of-the-worker", "AWS_SECRET_ACCESS_KEY=secret", "AWS_MAX_ATTEMPTS=1"}
		if before != nil {
			env = append(env, before(home)...)
		}
		return env
	}
	return b
}

// snapshots returns the names of the snapshots of a run, oldest first.
func (b *blobStore) snapshots(run string) (names []string) {
	b.t.Helper()
	prefix := gofakes3.NewPrefix(new("runs/"+run+"/"), nil)
	list, err := b.kept.ListBucket(bucket, &prefix, gofakes3.ListBucketPage{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, o := range list.Contents {
		if strings.HasSuffix(o.Key, ".tar.gz.age") {
			names = append(names, o.Key)
		}
	}
	return names
}

func (b *blobStore) read(name string) []byte {
	b.t.Helper()
	o, err := b.kept.GetObject(bucket, name, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	content, err := io.ReadAll(o.Contents)
	if err := errors.Join(err, o.Contents.Close()); err != nil {
		b.t.Fatal(err)
	}
	return content
}

func (b *blobStore) write(name string, content []byte) {
	b.t.Helper()
	if _, err := b.kept.DeleteObject(bucket, name); err != nil { // with its checksum
		b.t.Fatal(err)
	}
	if _, err := b.kept.PutObject(bucket, name, map[string]string{}, bytes.NewReader(content), int64(len(content)), nil); err != nil {
		b.t.Fatal(err)
	}
}

// loses removes snapshots, and gives what they held.
func (b *blobStore) loses(names ...string) map[string][]byte {
	b.t.Helper()
	lost := map[string][]byte{}
	for _, name := range names {
		lost[name] = b.read(name)
		if _, err := b.kept.DeleteObject(bucket, name); err != nil {
			b.t.Fatal(err)
		}
	}
	return lost
}

// another waits until a run asks something else than it did.
func (s *site) another(run, than string) listed {
	s.t.Helper()
	return s.until(run, "asking another question", func(l listed) bool {
		return len(l.Questions) == 1 && l.Questions[0].ID != than
	})
}

func TestSnapshotsInS3CarryARunToAnotherWorker(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.inS3()
	one, run, q := s.holds()
	one.signal(syscall.SIGKILL)
	s.worker("two")
	s.must("answer", q, "JWT")
	s.succeeds(run)
	if code, shown, said := s.says("show", run); code != 0 || !strings.Contains(shown, "JWT") || said != "" {
		t.Errorf("it is shown as %s%s", shown, said)
	}
	for _, name := range b.snapshots(run) {
		if content := b.read(name); !bytes.HasPrefix(content, []byte("age-encryption.org/v1")) {
			t.Errorf("%s is not sealed: %.20q", name, content)
		}
	}
}

func TestAStoreThatCannotBeWrittenIsSaidAndWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.inS3()
	b.readOnly.Store(true)
	if _, err := s.begins(t.TempDir(), takesRuns, s.workerArgs("none")...); err == nil ||
		!strings.Contains(err.Error(), "the blob store cannot be written") || !strings.Contains(err.Error(), "Nothing was started") {
		t.Errorf("a worker whose store is read-only: %v", err)
	}
	for _, fault := range []*atomic.Bool{&b.readOnly, &b.forgets} {
		b.readOnly.Store(false)
		one := s.worker("one")
		fault.Store(true)
		run := s.asking()
		l := s.until(run, "told that nothing can be uploaded", func(l listed) bool {
			return strings.Contains(strings.Join(l.Notes, "\n"), "a snapshot cannot be uploaded, and is tried again")
		})
		if len(l.Questions) > 0 {
			t.Errorf("a question that is in no safe snapshot is listed: %+v", l.Questions)
		}
		if out := s.must("ps"); !strings.Contains(out, "cannot be uploaded") {
			t.Errorf("ps does not say so: %s", out)
		}
		fault.Store(false)
		s.must("answer", s.asks(run, "one"), "JWT")
		s.succeeds(run)
		one.leaves(t)
	}
}

// A snapshot that was acknowledged and is gone costs what came after the one before it, and that is said. A run that has
// none left is not begun anew.
func TestASnapshotThatTheStoreHasLostIsMissed(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1)
	b := s.inS3()
	one := s.worker("one")
	run := s.lays("--hold", "forever")
	first := s.asks(run, "one")
	before := b.snapshots(run)
	s.must("answer", first, "oak")
	s.another(run, first)
	one.signal(syscall.SIGKILL)
	newer := b.loses(b.snapshots(run)[len(before):]...)
	if len(newer) == 0 {
		t.Fatal("no snapshot was taken after the answer")
	}
	two := s.worker("two")
	l := s.until(run, "gone on with from an older one", func(l listed) bool { return l.Worker == "two" && len(l.Questions) == 1 })
	if !strings.Contains(strings.Join(l.Notes, "\n"), "cannot be used any more: the run continues from") {
		t.Errorf("nobody is told: %q", l.Notes)
	}
	two.signal(syscall.SIGKILL)
	all := b.loses(b.snapshots(run)...)
	s.worker("three")
	l = s.until(run, "without a snapshot", func(l listed) bool { return strings.Contains(l.Reason, "has no snapshot") })
	if l.Status != "queued" || !strings.Contains(l.Reason, "not begun anew") || !strings.Contains(l.Reason, "stop "+run) {
		t.Errorf("it is %s: %s", l.Status, l.Reason)
	}
	for name, content := range all {
		b.write(name, content)
	}
	s.must("resume", run)
	for asks := 1; asks < 3; asks++ { // the first question is answered, whatever was lost
		q := s.another(run, first)
		s.must("answer", q.Questions[0].ID, "elm")
		first = q.Questions[0].ID
	}
	s.succeeds(run)
}

func TestASnapshotThatIsNotWholeOrOfANewerReleaseIsSaid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.inS3()
	one, run, q := s.holds()
	one.signal(syscall.SIGKILL)
	names, kept := b.snapshots(run), map[string][]byte{}
	for _, name := range names {
		kept[name] = b.read(name)
	}
	newest := names[len(names)-1]
	key, err := seal.ReadKey(s.server().Key)
	if err != nil {
		t.Fatal(err)
	}
	b.write(newest, newer(t, key, newest, kept[newest]))
	s.worker("two")
	l := s.until(run, "refused as too new", func(l listed) bool { return strings.Contains(l.Reason, "unpacked here") })
	if !strings.Contains(l.Reason, "upgrade claude-supervise") {
		t.Errorf("it is not said why: %s", l.Reason)
	}
	for _, name := range names {
		b.write(name, kept[name][:100])
	}
	s.must("resume", run)
	l = s.until(run, "refused as cut short", func(l listed) bool { return strings.Contains(l.Reason, "not begun anew") })
	if !strings.Contains(l.Reason, "it is not whole, or was not sealed by this fleet") {
		t.Errorf("it is not said why: %s", l.Reason)
	}
	for name, content := range kept {
		b.write(name, content)
	}
	s.must("resume", run)
	s.must("answer", q, "JWT")
	s.succeeds(run)
}

// newer returns a snapshot as a newer release seals it, with a format that this one does not know.
func newer(t *testing.T, key *seal.Key, name string, sealed []byte) []byte {
	t.Helper()
	var packed, forged, out bytes.Buffer
	if err := key.Open(name, &packed, bytes.NewReader(sealed)); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	again := gzip.NewWriter(&forged)
	to := tar.NewWriter(again)
	format := regexp.MustCompile(`"format": *[0-9]+`)
	for from := tar.NewReader(z); ; {
		head, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		content = format.ReplaceAll(content, []byte(`"format": 99`))
		head.Size = int64(len(content))
		if err := to.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(to.Close(), again.Close(), key.File(name, &out, &forged)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

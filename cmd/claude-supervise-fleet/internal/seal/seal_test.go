package seal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/converter"
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

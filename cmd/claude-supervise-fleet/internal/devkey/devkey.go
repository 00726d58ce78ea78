// Package devkey is the key of the server of `fleet dev`: whoever has it is let in, and nobody else, other users of the
// machine included. It is a certificate that signs itself, and its private key, in two files beside the server's state.
// Server and clients have the same, and each wants the other to show it.
package devkey

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"time"
)

// host is where the server listens.
const host = "127.0.0.1"

// Files are those of a key: one certificate, and its private key.
type Files struct {
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
}

// Make makes the files, where they are not there.
func (f Files) Make() error {
	_, err := os.Stat(f.Key)
	_, err2 := os.Stat(f.Certificate)
	if err == nil && err2 == nil {
		return nil
	}
	if err := errors.Join(ignoreMissing(err), ignoreMissing(err2)); err != nil {
		return fmt.Errorf("the key of the server cannot be read: %w", err)
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	about := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "claude-supervise fleet dev"},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().AddDate(100, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA:        true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.ParseIP(host)}}
	certificate, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	for _, made := range []struct {
		file, kind string
		content    []byte
	}{{f.Certificate, "CERTIFICATE", certificate}, {f.Key, "PRIVATE KEY", key}} {
		doc := pem.EncodeToMemory(&pem.Block{Type: made.kind, Bytes: made.content})
		if err := os.WriteFile(made.file, doc, 0o600); err != nil {
			return fmt.Errorf("the key of the server cannot be kept: %w", err)
		}
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// TLS returns what both sides of a connection show, and want to see.
func (f Files) TLS() (*tls.Config, error) {
	certificate, err := tls.LoadX509KeyPair(f.Certificate, f.Key)
	if err != nil {
		return nil, fmt.Errorf("the key of the server of `fleet dev` cannot be read: %w", err)
	}
	known := x509.NewCertPool()
	known.AddCert(certificate.Leaf)
	return &tls.Config{Certificates: []tls.Certificate{certificate}, RootCAs: known, ClientCAs: known,
		ClientAuth: tls.RequireAndVerifyClientCert, ServerName: host, MinVersion: tls.VersionTLS13}, nil
}

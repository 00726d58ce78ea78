package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// said makes of an error of the server one for people.
func said(err error) error {
	var none *serviceerror.NamespaceNotFound
	var denied *serviceerror.PermissionDenied
	switch {
	case errors.As(err, &none):
		// A server that cannot read in time which namespaces it has says so, too.
		return fmt.Errorf("%w: it says that it has no namespace %s; if it has, it is too busy: try again. Else name "+
			"another with --namespace, or make this one: temporal operator namespace create -n %[2]s", ErrAway, none.Namespace)
	case away(err):
		return fmt.Errorf("%w: %w", ErrAway, err)
	case errors.As(err, &denied), status.Code(err) == codes.Unauthenticated:
		return fmt.Errorf("the fleet's server refuses: %w. If it takes an API key, name the key's file with --api-key, or "+
			"set TEMPORAL_API_KEY; and look whether --namespace is the one that the key is for", err)
	}
	return err
}

// away reports whether an error says that the server was not reached, or did not answer in time.
func away(err error) bool {
	var (
		unavailable *serviceerror.Unavailable
		late        *serviceerror.DeadlineExceeded
		cut         *serviceerror.Canceled // by the server, or on the way
	)
	return errors.As(err, &unavailable) || errors.As(err, &late) || errors.As(err, &cut) ||
		errors.Is(err, context.DeadlineExceeded)
}

// Unreached makes of an error of the first words with the server at an address one for people. It names what to change
// where the words of the network say what is wrong. overTLS reports whether the connection was to be encrypted.
func Unreached(address string, overTLS bool, err error) error {
	if told := said(err); !errors.Is(told, ErrAway) && told != err { //nolint:errorlint // whether it was told otherwise
		return told
	}
	words := err.Error()
	has := func(any ...string) bool {
		for _, a := range any {
			if strings.Contains(words, a) {
				return true
			}
		}
		return false
	}
	next := "is it up, and is this its address? Name another with --address or TEMPORAL_ADDRESS"
	switch {
	case has("x509:"):
		next = "its certificate is not the one that is trusted here: name the file of its CA in " +
			"TEMPORAL_TLS_SERVER_CA_CERT_PATH, and the name that is in its certificate in TEMPORAL_TLS_SERVER_NAME"
	case has("does not look like a TLS handshake"):
		next = "it speaks no TLS: set TEMPORAL_TLS=false, if the way to it is safe"
	case overTLS && has("remote error: tls:", "broken pipe", "connection reset", "EOF"):
		next = "it may want a certificate of yours: name its files in TEMPORAL_TLS_CLIENT_CERT_PATH and " +
			"TEMPORAL_TLS_CLIENT_KEY_PATH"
	case has("server preface", "connection reset", "EOF"):
		next = "it may speak TLS: set TEMPORAL_TLS=true"
	}
	return fmt.Errorf("the fleet's server at %s cannot be reached: %w; %s", address, err, next)
}

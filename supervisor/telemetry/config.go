package telemetry

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Config says where to send what. The zero value sends nothing.
type Config struct {
	traces, metrics target
	service         string
	resource        []attribute // of OTEL_RESOURCE_ATTRIBUTES
}

// Enabled reports whether anything is sent.
func (c Config) Enabled() bool { return c.traces.url != "" || c.metrics.url != "" }

// A target is where one of the signals goes.
type target struct {
	url     string // "": nowhere
	headers map[string]string
	timeout time.Duration // of one request
}

// Read reads the variables of the OpenTelemetry specification: OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT and
// _PROTOCOL, each also as OTEL_EXPORTER_OTLP_TRACES_… and _METRICS_…; OTEL_TRACES_EXPORTER and OTEL_METRICS_EXPORTER;
// OTEL_SDK_DISABLED, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES. Other than there, no endpoint means that nothing
// is sent. The error says which variable cannot be used; the other signal is sent all the same.
func Read(getenv func(string) string) (Config, error) {
	c := Config{service: "claude-supervise"}
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return c, nil
	}
	if name := getenv("OTEL_SERVICE_NAME"); name != "" {
		c.service = name
	}
	pairs, problem := readPairs(getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if problem != nil {
		problem = fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", problem)
	}
	for _, p := range pairs {
		if p[0] != "service.name" {
			c.resource = append(c.resource, attribute{p[0], p[1]})
		} else if getenv("OTEL_SERVICE_NAME") == "" {
			c.service = p[1]
		}
	}
	var err error
	if c.traces, err = readTarget(getenv, "TRACES", "v1/traces"); err != nil {
		problem = err
	}
	if c.metrics, err = readTarget(getenv, "METRICS", "v1/metrics"); err != nil {
		problem = err
	}
	return c, problem
}

// readTarget reads where one of the signals goes.
func readTarget(getenv func(string) string, signal, path string) (target, error) {
	exporter := "OTEL_" + signal + "_EXPORTER"
	if value := getenv(exporter); value != "" && !slices.Contains(strings.Split(value, ","), "otlp") {
		return target{}, nil
	}
	// variable returns the value for this signal, or else for all of them, and the name that it stands under.
	variable := func(what string) (value, name string) {
		name = "OTEL_EXPORTER_OTLP_" + signal + "_" + what
		if value = getenv(name); value != "" {
			return value, name
		}
		name = "OTEL_EXPORTER_OTLP_" + what
		return getenv(name), name
	}
	endpoint, name := variable("ENDPOINT")
	if endpoint == "" {
		return target{}, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return target{}, fmt.Errorf("%s is not an http:// or https:// address: nothing is sent to it", name)
	}
	if name == "OTEL_EXPORTER_OTLP_ENDPOINT" { // the base of all signals
		u = u.JoinPath(path)
	}
	if protocol, name := variable("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return target{}, fmt.Errorf("%s=%s: claude-supervise speaks http/protobuf only, and sends nothing", name, protocol)
	}
	t := target{url: u.String(), timeout: 10 * time.Second, headers: map[string]string{}}
	headers, name := variable("HEADERS")
	pairs, err := readPairs(headers)
	if err != nil {
		return target{}, fmt.Errorf("%s: %w", name, err)
	}
	for _, p := range pairs {
		t.headers[p[0]] = p[1]
	}
	if value, name := variable("TIMEOUT"); value != "" {
		ms, err := strconv.Atoi(value)
		if err != nil || ms <= 0 {
			return target{}, fmt.Errorf("%s is not a number of milliseconds: nothing is sent", name)
		}
		t.timeout = time.Duration(ms) * time.Millisecond
	}
	return t, nil
}

// readPairs reads key=value,key=value, the values percent-encoded.
func readPairs(text string) ([][2]string, error) {
	var pairs [][2]string
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || err != nil || key == "" {
			return nil, fmt.Errorf("entry %d is not KEY=VALUE", len(pairs)+1) // a value may be a secret
		}
		pairs = append(pairs, [2]string{key, decoded})
	}
	return pairs, nil
}

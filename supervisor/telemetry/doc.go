// Package telemetry sends what happens in runs to an OpenTelemetry collector: a span for a run, an agent, a launch and
// the wait of a question, and counters of questions, waits, tokens and cost. It is off unless an OTEL_* variable names
// a collector (Read): then no goroutine of it runs, and no record passes through it.
//
// It is told of records once they are saved (Store), and reads nothing else. It sends ids, states, times and numbers:
// no text of an agent, a task or a person.
//
// A span's id is derived from its run's and its own (ids.go). So whichever supervisor ends an agent, its span has the
// parent that an earlier one has sent, or a later one will. A span is sent when it ends, by the supervisor that sees
// its end; one that is killed then loses it.
//
// It speaks OTLP 1.x over HTTP with Protobuf, https://opentelemetry.io/docs/specs/otlp: ten messages, written with
// protowire. OpenTelemetry's own SDK does more than is needed here, and would make the program 9 MB larger; the
// generated messages alone, 1.6 MB. They are what the tests decode with.
package telemetry

package procs

import (
	"encoding/json"
	"testing"
)

func TestWhichMessagesCouldReachAnotherSession(t *testing.T) {
	for input, want := range map[string]string{
		`{"to":"a6f0f9602b86427d","recipient_kind":"agent"}`:           "",
		`{"to":"main","recipient_kind":"main"}`:                        "",
		`{"to":"a6f0f9602b86427d"}`:                                    "",
		`{"to":"main"}`:                                                "",
		`{"to":"helper"}`:                                              "helper",
		`{"to":"b-e1","recipient_kind":"name"}`:                        "b-e1",
		`{"to":"a6f0f9602b86427d","recipient_kind":"name"}`:            "a6f0f9602b86427d",
		`{"to":"uds:/tmp/cc-socks/1.sock","recipient_kind":"session"}`: "uds:/tmp/cc-socks/1.sock",
		`{"to":"main","recipient_kind":"tomorrow"}`:                    "main",
		`{"to":"uds:/tmp/cc-socks/1.sock"}`:                            "uds:/tmp/cc-socks/1.sock",
		`{"to":["a6f0f9602b86427d"],"recipient_kind":"agent"}`:         "nobody",
		`{"to":"a6f0f9602b86427d\n","recipient_kind":3}`:               "a6f0f9602b86427d\n",
		`{}`: "nobody",
		`[]`: "nobody",
	} {
		if got := (BeforeCall{Tool: "SendMessage", Input: json.RawMessage(input)}).ToSession(); got != want {
			t.Errorf("%s: %q, not %q", input, got, want)
		}
	}
	if got := (BeforeCall{Tool: "Bash", Input: json.RawMessage(`{"to":"b"}`)}).ToSession(); got != "" {
		t.Errorf("another tool: %q", got)
	}
}

func TestWhichSchedulesOutliveTheSession(t *testing.T) {
	for input, want := range map[string]bool{
		`{"cron":"* * * * *"}`: false, `{"durable":false}`: false, `{"durable":null}`: false, `{"durable":"False"}`: false,
		`{"durable":true}`: true, `{"durable":"true"}`: true, `{"durable":1}`: true, `{"durable":""}`: true, `[]`: true,
	} {
		if got := (BeforeCall{Tool: "CronCreate", Input: json.RawMessage(input)}).Outlives(); got != want {
			t.Errorf("%s: %v", input, got)
		}
	}
}

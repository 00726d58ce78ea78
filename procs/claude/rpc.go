package claude

import (
	"encoding/json"
	"errors"
	"fmt"
)

// JSON-RPC 2.0, of which a server of tools needs this little.

// An rpcRequest asks for something; without an id it tells something, and is not answered.
type rpcRequest struct {
	ID     rpcID
	Method string
	Params json.RawMessage
}

// An rpcID is the id of a request as the client wrote it: a number or a string; "" is none.
type rpcID string

// MarshalJSON gives it back as it came.
func (id rpcID) MarshalJSON() ([]byte, error) { return json.RawMessage(id), nil }

// UnmarshalJSON refuses what is neither number nor string. A null is no id.
func (id *rpcID) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case 'n':
		*id = ""
	case '"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		*id = rpcID(data)
	default:
		return errors.New("its id is neither a number nor a string")
	}
	return nil
}

// An rpcError is what a request has failed with.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// The codes of JSON-RPC.
const (
	rpcInvalidRequest = -32600
	rpcMethodNotFound = -32601
	rpcInvalidParams  = -32602
	rpcInternalError  = -32603
)

func (e *rpcError) Error() string { return e.Message }

const rpcVersion = "2.0"

// readRequest reads a message of the client; errNoRequest if it asks and tells nothing.
func readRequest(message json.RawMessage) (rpcRequest, error) {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      rpcID           `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	err := json.Unmarshal(message, &m)
	if err == nil && m.Version != rpcVersion {
		err = fmt.Errorf("its version is %.20q", m.Version)
	}
	switch {
	case err != nil:
		return rpcRequest{}, fmt.Errorf("this is not a JSON-RPC message: %w", err)
	case m.Method == "":
		return rpcRequest{}, errNoRequest
	}
	return rpcRequest{m.ID, m.Method, m.Params}, nil
}

// writeResponse answers a request with its result, or with the error that it failed with.
func writeResponse(id rpcID, result any, failed error) (json.RawMessage, error) {
	response := struct {
		Version string    `json:"jsonrpc"`
		ID      rpcID     `json:"id"`
		Result  any       `json:"result,omitempty"`
		Error   *rpcError `json:"error,omitempty"`
	}{Version: rpcVersion, ID: id}
	if failed == nil {
		response.Result = result
	} else if !errors.As(failed, &response.Error) {
		response.Error = &rpcError{rpcInternalError, failed.Error()}
	}
	return json.Marshal(response)
}

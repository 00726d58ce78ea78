package seal

import (
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// encoding is what a sealed payload calls its form.
const encoding = "binary/claude-supervise-fleet"

// Converter returns what turns arguments and results into payloads that only the fleet's key opens, each as what it was
// sealed for (binding.go).
func (k *Key) Converter() converter.DataConverter {
	return &boundConverter{DataConverter: converter.GetDefaultDataConverter(), key: k}
}

// Opened opens a payload whatever it is for, as for a tool that shows a history.
func (k *Key) Opened(sealed *commonpb.Payload) (*commonpb.Payload, error) { return k.open(sealed) }

// seal seals a payload.
func (k *Key) seal(plain *commonpb.Payload) (*commonpb.Payload, error) {
	content, err := proto.Marshal(plain)
	if err != nil {
		return nil, err
	}
	return &commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding)},
		Data:     k.payloads.Seal(nil, nil, content, []byte(encoding)),
	}, nil
}

// open opens a payload. One that was not sealed is refused: anybody who reaches the server can have put it there.
func (k *Key) open(sealed *commonpb.Payload) (*commonpb.Payload, error) {
	if is := sealed.GetMetadata()[converter.MetadataEncoding]; string(is) != encoding {
		return nil, fmt.Errorf("it was not sealed by a fleet (it is %q)", is)
	}
	content, err := k.payloads.Open(nil, nil, sealed.GetData(), []byte(encoding))
	if err != nil {
		return nil, fmt.Errorf("it was not sealed with this fleet's key: %w", err)
	}
	plain := &commonpb.Payload{}
	return plain, proto.Unmarshal(content, plain)
}

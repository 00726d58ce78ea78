package seal

import (
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// encoding is what a sealed payload calls its form.
const encoding = "binary/claude-supervise-fleet"

// Converter gives what turns arguments and results into payloads that only the fleet's key opens. Errors are sealed by
// the failure converter that is built on it.
func (k *Key) Converter() converter.DataConverter {
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codec{k})
}

// Codec gives what seals and opens payloads.
func (k *Key) Codec() converter.PayloadCodec { return codec{k} }

type codec struct{ *Key }

// Encode seals payloads.
func (c codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	sealed := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		sealed[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding)},
			Data:     c.payloads.Seal(nil, nil, plain, []byte(encoding)),
		}
	}
	return sealed, nil
}

// Decode opens payloads. One that was not sealed is refused: anybody who reaches the server can have put it there.
func (c codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	opened := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if string(p.GetMetadata()[converter.MetadataEncoding]) != encoding {
			return nil, fmt.Errorf("it was not sealed by a fleet (it is %q)", p.GetMetadata()[converter.MetadataEncoding])
		}
		plain, err := c.payloads.Open(nil, nil, p.GetData(), []byte(encoding))
		if err != nil {
			return nil, fmt.Errorf("it was not sealed with this fleet's key: %w", err)
		}
		opened[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(plain, opened[i]); err != nil {
			return nil, err
		}
	}
	return opened, nil
}

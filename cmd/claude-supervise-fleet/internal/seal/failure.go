package seal

import (
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"claude-supervise/supervisor/text"
)

// Unsealed is the type of an error that says what it is unsealed, or as another than it was sealed: somebody without
// the key may have said it, and nothing is decided by it.
const Unsealed = "unsealed"

// FailureConverter returns what seals errors: their words, and of which type they are.
func (k *Key) FailureConverter() converter.FailureConverter {
	return newFailures(k.Converter())
}

// failures seals errors with what they are for.
type failures struct {
	converter.FailureConverter // leaves the words as they are
	values                     converter.DataConverter
}

func newFailures(values converter.DataConverter) *failures {
	return &failures{values: values, FailureConverter: temporal.NewDefaultFailureConverter(
		temporal.DefaultFailureConverterOptions{DataConverter: values})}
}

// sealedFailure is what is sealed of an error: more than the SDK would, which leaves the type in clear.
type sealedFailure struct {
	Mark       `json:"-"`
	Message    string `json:"message"`
	StackTrace string `json:"stack_trace"`
	Type       string `json:"type,omitempty"`
}

// WithSerializationContext returns a converter of errors that are for something.
func (f *failures) WithSerializationContext(ctx converter.SerializationContext) converter.FailureConverter {
	return newFailures(converter.WithDataConverterSerializationContext(f.values, ctx))
}

// ErrorToFailure seals an error and its causes.
func (f *failures) ErrorToFailure(err error) *failurepb.Failure {
	whole := f.FailureConverter.ErrorToFailure(err)
	for one := whole; one != nil; one = one.Cause {
		if one.EncodedAttributes != nil {
			continue // by the activity that it comes from
		}
		sealed, err := f.values.ToPayload(sealedFailure{Message: one.Message, StackTrace: one.StackTrace,
			Type: one.GetApplicationFailureInfo().GetType()})
		if err != nil {
			panic(err) // as the SDK does: strings can be sealed
		}
		one.EncodedAttributes, one.Message, one.StackTrace = sealed, "Encoded failure", ""
	}
	return whole
}

// FailureToError opens an error and its causes. One of an application that was not sealed loses its type.
func (f *failures) FailureToError(failure *failurepb.Failure) error {
	if failure == nil {
		return nil
	}
	whole := proto.Clone(failure).(*failurepb.Failure)
	for one := whole; one != nil; one = one.Cause {
		var said sealedFailure
		info := one.GetApplicationFailureInfo()
		opens := one.EncodedAttributes != nil && f.values.FromPayload(one.EncodedAttributes, &said) == nil
		if opens {
			one.Message, one.StackTrace = said.Message, said.StackTrace
		}
		one.EncodedAttributes = nil
		// A build that does not say what a payload is for does not seal the type either.
		trusted := opens && (said.Old || said.Type == info.GetType())
		if !trusted && (info != nil || one.FailureInfo == nil) {
			one.Message, one.StackTrace = "not sealed by this fleet: "+text.Line(one.Message, text.MaxLine), ""
			one.FailureInfo = &failurepb.Failure_ApplicationFailureInfo{
				ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: Unsealed}}
		}
	}
	return f.FailureConverter.FailureToError(whole)
}

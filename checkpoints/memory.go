package checkpoints

import "context"

// A Memory keeps the records that one reader has decoded, by their documents, for a reader that looks at the same
// thousands again and again: what is byte for byte what it was is not decoded anew. So it is right whatever happens
// between two looks: a prune, a write of an older release, another database in the place of the first. It keeps the
// records of the last look alone. The zero value has seen nothing. One look at a time may use it.
//
// The records of one look are those of the next: nobody may change what they point to.
type Memory struct {
	known map[string]*memorized // by document
	looks int
}

type memorized struct {
	record any // a pointer to it
	look   int // the last that it was in
}

// remembering marks the context of what reads by a memory.
type remembering struct{}

// AsOne is Store.AsOne. The lists of runs, agents, launches and questions that work reads use the memory.
func (m *Memory) AsOne(ctx context.Context, s *Store, work func(ctx context.Context) error) error {
	if m.known == nil {
		m.known = map[string]*memorized{}
	}
	m.looks++
	if err := s.AsOne(context.WithValue(ctx, remembering{}, m), work); err != nil {
		return err // a look that was not whole is no reason to forget
	}
	for doc, one := range m.known {
		if one.look != m.looks {
			delete(m.known, doc)
		}
	}
	return nil
}

// recall returns the record of a document: the one that the context's memory has, or decodes it.
func recall[Record any](ctx context.Context, s *Store, doc []byte) (*Record, error) {
	m, _ := ctx.Value(remembering{}).(*Memory)
	if m != nil {
		if one := m.known[string(doc)]; one != nil {
			if record, is := one.record.(*Record); is { // two kinds may have the same document
				one.look = m.looks
				return record, nil
			}
		}
	}
	record := new(Record)
	if err := s.decode(doc, record); err != nil {
		return nil, err
	}
	if m != nil {
		m.known[string(doc)] = &memorized{record, m.looks}
	}
	return record, nil
}

package view

import "context"

// Pending are the questions that wait for a person in all runs and sessions, and whom they hold back.
type Pending struct {
	Questions []QuestionView // the longest first, those of sessions last
	Runs      int            // that ask them,
	Sessions  int            // and how many outside sessions
	Holding   int            // of the questions: how many hold back agents beside the one that asks
	Held      int            // the agents that go on only after one of those, with who asks
}

// Pending returns what waits for a person now.
func (r Reader) Pending(ctx context.Context) (p Pending, err error) {
	if p.Questions, err = r.Questions(ctx); err != nil {
		return p, err
	}
	held, of := map[string]bool{}, map[string][]string{}
	for _, q := range p.Questions {
		of[q.Run] = append(of[q.Run], q.ID)
	}
	for run, ids := range of {
		s, err := State(ctx, r.Store, run)
		if err != nil {
			return p, err
		}
		for _, id := range ids {
			q := s.Questions.Get(id)
			if q == nil {
				continue
			}
			agents := s.HeldBack(q)
			if len(agents) <= 1 {
				continue
			}
			p.Holding++
			for _, a := range agents {
				held[a.ID] = true
			}
		}
	}
	p.Runs, p.Held = len(of), len(held)
	asks := map[string]bool{}
	for _, q := range r.SessionQuestions(ctx, nil) {
		p.Questions, asks[q.Session.ID] = append(p.Questions, q), true
	}
	p.Sessions = len(asks)
	return p, nil
}

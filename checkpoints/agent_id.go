package checkpoints

import "crypto/rand"

// NewAgentID makes the id of an agent, which is also the nonce that makes its text signals genuine.
func NewAgentID() string { return NewID("a-", rand.Reader) }

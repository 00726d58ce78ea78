//go:build race

package engine

// fewer is by how much fewer schedules are played: the race detector makes each many times as slow, and a schedule has
// one goroutine.
const fewer = 10

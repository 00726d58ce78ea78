//go:build !race

package engine

const fewer = 1

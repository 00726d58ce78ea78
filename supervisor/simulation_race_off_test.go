//go:build !race

package supervisor

const fewer = 1

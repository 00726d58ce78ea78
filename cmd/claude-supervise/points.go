package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"claude-supervise/cmd/internal/request"
	"claude-supervise/supervisor/client"
)

// testPoints names the Unix socket of a test that wants to stop this program between any two of its effects, and on
// both sides of each save: our pid and the name of each point are written to it, and the program goes on when a line
// comes back.
const testPoints = "CLAUDE_SUPERVISE_TEST_POINTS"

// points returns what is called at each point, nil outside tests. That it is on is said, so that nobody has it
// unknowingly.
func points() (func(point string), error) {
	path := os.Getenv(testPoints)
	if path == "" {
		return nil, nil
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil, usage("%s is for tests and names no socket: %w", testPoints, err)
	}
	fmt.Fprintf(os.Stderr, "! %s is set: a test stops this program at will\n", testPoints)
	var mu sync.Mutex
	replies := bufio.NewReader(conn)
	return func(point string) {
		mu.Lock()
		defer mu.Unlock()
		if _, err := fmt.Fprintln(conn, os.Getpid(), point); err == nil {
			_, _ = replies.ReadString('\n') // a test that has gone lets us go on
		}
	}, nil
}

// openClient opens the state of this user, with the points of a test.
func openClient() (client.Client, error) { return clientBy(client.OpenClient) }

func clientBy(open func() (client.Client, error)) (client.Client, error) {
	at, err := points()
	if err != nil {
		return client.Client{}, err
	}
	c, err := open()
	c.At, c.Fresh = at, freshRun
	return c, err
}

// environment is what agents inherit of ours.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, testPoints+"=") || strings.HasPrefix(v, request.BackgroundRun+"=")
	})
}

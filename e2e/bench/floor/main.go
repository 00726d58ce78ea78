// Command floor is what the benchmarks measure the program against: the least that a program with the same libraries
// can do. It has cobra and SQLite; the benchmarks build it with all that the program imports, too.
//
//	floor version     prints a line
//	floor ps DB       opens the database and reads one row for each run that goes on
//	floor idle        waits for the end of its input
//	floor keys        writes two rows of a terminal for each key
package main

import (
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	_ "modernc.org/sqlite"
)

func main() {
	root := &cobra.Command{Use: "floor", SilenceUsage: true}
	root.AddCommand(
		&cobra.Command{Use: "version", RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "floor")
			return err
		}},
		&cobra.Command{Use: "ps DB", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			return list(cmd.OutOrStdout(), args[0])
		}},
		&cobra.Command{Use: "idle", RunE: func(*cobra.Command, []string) error {
			_, err := io.Copy(io.Discard, os.Stdin)
			return err
		}},
		&cobra.Command{Use: "keys", RunE: func(*cobra.Command, []string) error { return keys() }},
	)
	if err := root.Execute(); err != nil {
		os.Exit(1)
	}
}

func keys() error {
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString("ready"); err != nil {
		return err
	}
	rows := strings.Repeat("x", 2*140)
	for key := make([]byte, 1); ; {
		if _, err := os.Stdin.Read(key); err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString("\x1b[2;1H" + rows); err != nil {
			return err
		}
	}
}

func list(out io.Writer, path string) error {
	source := url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro"}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // only read
	rows, err := db.Query(`SELECT id FROM runs WHERE ended = 0 ORDER BY started`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, id); err != nil {
			return err
		}
	}
	return rows.Err()
}

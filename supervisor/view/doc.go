// Package view shows runs as they are: what ps, show, logs, wait and attach read. It reads the database, the locks and
// the agents' logs; it changes nothing and disturbs no supervisor.
//
//	database ──▶ Reader.Runs, Run, Questions, Show, Attend
//	AGENT.jsonl ──▶ Log, RunLog
//	locks ──▶ whether anybody supervises the run
package view

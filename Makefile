# make help lists the targets. Nothing needs to be installed first but Go, a C compiler (for the race detector), Node
# and npm (for the real CLI, which the tests run without an account or network).
SHELL := /usr/bin/env bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO ?= go
LINT := $(GO) tool -modfile=.ci/tools/go.mod golangci-lint
DARWIN := GOOS=darwin GOARCH=arm64
# How long each fuzz target and the benchmarks run.
FUZZTIME ?= 30s
BENCHTIME ?= 1s

.PHONY: help build test lint bench fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## bin/claude-supervise
	$(GO) build -trimpath -o bin/ ./cmd/claude-supervise

test: ## vet, compile for macOS too, and run all tests with the race detector and the real CLI
	$(GO) vet ./...
	$(DARWIN) $(GO) vet ./...
	compiled=$$(mktemp -d); trap 'rm -rf "$$compiled"' EXIT; $(DARWIN) $(GO) test -c -o "$$compiled/" ./...
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	$(GO) test -race -timeout 10m ./...

lint: ## golangci-lint in its pinned release
	$(LINT) run ./...

bench: ## all benchmarks
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

fuzz: ## each fuzz target for FUZZTIME
	for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' "$$package" | grep '^Fuzz' || true); do \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package"; \
		done; \
	done

clean: ## what make has built in the clone
	rm -rf bin

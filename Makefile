# make help lists the targets. Nothing needs to be installed first but Go, a C compiler (for the race detector), Node
# and npm (for the real CLI, which the tests run without an account or network).
SHELL := /usr/bin/env bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO ?= go
LINT := $(GO) tool -modfile=.ci/tools/go.mod golangci-lint
# As a release is built: it starts without the C library, and speaks HTTP/1.1 to all it calls.
RELEASED := CGO_ENABLED=0 GOFLAGS="$(GOFLAGS) -tags=nethttpomithttp2"
DARWIN := GOOS=darwin GOARCH=arm64
GORELEASER := $(GO) run github.com/goreleaser/goreleaser/v2@v2.16.0
# How long each fuzz target and the benchmarks run: a time, or a number of inputs such as 2000x.
FUZZTIME ?= 30s
# The folders whose fuzz targets make fuzz runs.
FUZZED ?= $$(grep -rl --include '*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u)
BENCHTIME ?= 1s

# How many tests of a package run beside each other: most wait, for a process or a person. What vet finds make lint says.
PARALLEL ?= 8
# The packages that start goroutines of their own: those that make race gives to the race detector.
RACY := ./supervisor/engine/... ./supervisor/filedrop ./supervisor/view ./procs/... ./checkpoints/... \
	./cmd/claude-supervise $(addprefix ./cmd/internal/,asking board notices notify terminal web)
# What the detector is not given: tests with one goroutine, of disks, screens, damaged files and planted faults, which it
# makes ten times as slow, and tests of many processes. make race plays them without it.
ALONE := AFailingDisk|APowerCut|ThePowerCut|WhatCannotBeCreated|ATruncated|ADamagedLog|TheLogOfAnother|WithADamaged
ALONE := $(ALONE)|DamageAmong|ThatNoDatabaseCanHaveHeld|BelowTheFold|WithinTheGraceAnswer|AClickSelects
ALONE := $(ALONE)|TheSimulationFinds|SchedulesThatBroke|WhenItIsPlayedAgain|AFindingIsMadeSmaller|HostileTextsFit
ALONE := $(ALONE)|TheHistoryOfEveryScenario|EightWhoAnswerAtOnce|AHundredSupervisors|ARunThatIsRemovedIsGone
ALONE := $(ALONE)|AKilledWriterLoses|ALargeCheckpoint|NoTrickOutlives
# The packages that these are in.
LONE := ./supervisor/engine ./procs ./checkpoints ./cmd/internal/board ./cmd/internal/terminal
# How many kills make torture makes, of which days, and of whom: AGENT=real kills the real CLI.
KILLS ?= 10000
SCHEDULES ?= 1000000
FROM ?= 1
ROUNDS ?= 10000
PLACES ?= 100
SEED ?= 1
AGENT ?=
# Where tests write. What measures a disk, or is killed with one, keeps that of all programs.
SCRATCH := TMPDIR="$$(.ci/scratch)"; export TMPDIR;
SHORT := CLAUDE_SUPERVISE_TEST_SEED=$(SEED) $(GO) test -short -vet off -parallel $(PARALLEL)

# How many trees make trees grows, each under kills of its own.
TREES ?= 100

# How many tasks make pool has.
TASKS ?= 1000

# What make bench compares the working tree with (a commit), the parts it measures (a part of their names, which are in
# e2e/bench/main.go), and the file that it adds its figures to.
BASE ?=
ONLY ?=
HISTORY ?=

# How long a person takes in make wait.
WAIT ?= 30m

# The releases of the real CLI that make releases tries, and what it runs on each. make test tries the pinned one (the
# last), and on the oldest a choice (e2e/releases_test.go). RELEASES=latest asks npm for the newest.
OLDEST := 2.1.7
RELEASES ?= $(OLDEST) 2.1.100 2.1.200 2.1.329 2.1.330 2.1.331 2.1.332
ON_EACH := TestEveryScenarioComesOutTheSame/.*/.*/real|TestAConversationThatIsGone/real|TestAReleaseDoes
ATTACKS := TestNoSourceOfSettings|TestAnAgentIsAskedAboutBefore|TestWhatIsShownOfAChange|TestEveryToolOfTheRelease
ATTACKS := $(ATTACKS)|TestACallIsAskedAboutByWhatItDoes|TestNoChangeIsMadeOf|TestClaudeWritesOver
ATTACKS := $(ATTACKS)|TestQuestionsOutlive|TestToolsThatThePerson|TestACallWhoseSupervisor
# Those by what only newer releases have.
NEWER := TestNoRunReaches|TestNoSessionOfThePerson|TestNoScheduleOutlives|TestACallThatWasPutOff|TestSettingsThatWould
NEWER := $(NEWER)|TestACommandIsAskedAboutInEach|TestARuleGivenElsewhere|TestNoRuleCoversACommand|TestNoFileOfThePersons
NEWER := $(NEWER)|TestNoMessageAttaches|TestAnAdministrators
ON_EACH := $(ON_EACH)|$(ATTACKS)|TestAllowProjectGives
ATTACKED := $(ATTACKS)|$(NEWER)|TestNoShellRuns|TestNoAgentAnswersForItsSession
# The last release that drops an open call, the first that is continued at one, the pinned one, and what each plays.
PARKED_ON ?= $(OLDEST) 2.1.260 2.1.270 2.1.332 latest
PLACED := TestAnAnswerAfterAPark|TestResultsAreRead|TestAQuestionIsAnsweredDifferently
PLACED := $(PLACED)|TestEveryScenarioComesOutTheSame/(ask-user-question|tool-ask)/.*/real
OUTSIDE := TestTheQuestionsOfASession|TestAScreenThatAnswersFirst|TestASessionThatIsKilled|TestNoAgentAnswersForIts
OUTSIDE := $(OUTSIDE)|TestAHook(That|OfAnother)|TestThePageAnswersASession|TestFiftySessions
OUTSIDE := $(OUTSIDE)|TestASession(I|Of|W)|TestA(Phone|Desktop)(IsToldThat|Shows)|TestWhatAServerAsksIn
OUTSIDE := $(OUTSIDE)|TestASubagent(OfASession|InFront)
TIMES ?= 100
ASKED_ON ?= 2.1.7 2.1.100
# What make test leaves out: CI has WITHOUT="attacks raced", for make attacks plays more of each, and make race the rest.
WITHOUT ?=

.PHONY: help build test matrices attacks releases places lint race kills simulation races page torture trees hybrid wait long \
	sessions pool bench scale microbench fuzz nightly manual release clean sizes
.PHONY: release-check page-scale fleet fleet-build fleet-unit fleet-histories fleet-ledger
.PHONY: fleet-ci fleet-parked fleet-costs fleet-upgrade

# claude-supervise-fleet is a Go module of its own. What imports the embedded server takes minutes to compile where
# nothing is cached: FLEET_UNIT are the packages that do not, which lint and CI look at.
FLEET := cmd/claude-supervise-fleet
FLEET_UNIT := $(addprefix ./internal/,commands desk devkey fleet flow runlog seal worker)
# The release whose histories make fleet-histories records, and the commit whose workers make fleet-upgrade begins with.
VERSION ?= next
OLDER ?= 84a900e

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## bin/claude-supervise
	$(RELEASED) $(GO) build -trimpath -o bin/ ./cmd/claude-supervise

fleet-build: build ## bin/claude-supervise-fleet, and beside it the server of fleet dev (5 min where nothing is cached)
	cd $(FLEET) && CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o ../../bin/ . ./$(notdir $(FLEET))-dev

fleet: fleet-build ## the tests of the fleet with the embedded server, workers that die included (8 min)
	cd $(FLEET) && $(GO) vet ./... && $(GO) tool -modfile=../../.ci/tools/go.mod golangci-lint run -c \
	../../.golangci.yml ./... && $(DARWIN) $(GO) vet ./... && \
	CI=true CLAUDE_SUPERVISE_TEST_CLAUDE="$$($(CURDIR)/e2e/claude/install)" \
	CLAUDE_SUPERVISE_TEST_PROGRAMS="$(CURDIR)/bin" $(GO) test -count 1 -timeout 20m ./...

fleet-ci: fleet-build ## a run of a fleet from its task to its end, and one whose worker is killed (1 min if cached)
	cd $(FLEET) && CI=true CLAUDE_SUPERVISE_TEST_PROGRAMS="$(CURDIR)/bin" $(GO) test -vet off -count 1 -timeout 5m \
	-run 'FromTheTaskToItsEnd|WhoseWorkerIsKilledGoesOn' ./e2e

fleet-ledger: RUNS = 200
fleet-ledger: KILLS = 1000
fleet-ledger: fleet-build ## RUNS runs of a fleet while KILLS blows befall its workers, from SEED (1 h)
	cd $(FLEET) && CLAUDE_SUPERVISE_TEST_RUNS=$(RUNS) CLAUDE_SUPERVISE_TEST_KILLS=$(KILLS) \
	CLAUDE_SUPERVISE_TEST_SEED=$(SEED) CLAUDE_SUPERVISE_TEST_PROGRAMS="$(CURDIR)/bin" \
	$(GO) test -count 1 -v -timeout 3h -run WhateverBefallsTheWorkers ./e2e

fleet-parked: RUNS = 10000
fleet-parked: fleet-build ## RUNS parked runs: who holds them, and what lists and answers take (15 min)
	cd $(FLEET) && CLAUDE_SUPERVISE_TEST_PARKED=$(RUNS) CLAUDE_SUPERVISE_TEST_PROGRAMS="$(CURDIR)/bin" \
	$(GO) test -count 1 -v -timeout 2h -run ParkedRunsAreHeldByNobody ./e2e

fleet-costs: PAIRS = 20
fleet-costs: RUNS = 40
fleet-costs: fleet-build ## PAIRS runs with and without a fleet, and with answers; RUNS by 1, 2 and 4 workers (6 min)
	cd $(FLEET) && CLAUDE_SUPERVISE_TEST_PAIRS=$(PAIRS) CLAUDE_SUPERVISE_TEST_RUNS=$(RUNS) \
	CLAUDE_SUPERVISE_TEST_PROGRAMS="$(CURDIR)/bin" \
	$(GO) test -count 1 -v -timeout 1h -parallel 1 -run \
	'ComesToTheEndOfALocalOne|MoreWorkersTakeMoreRuns|AnswerComesToTheAgentThatIsHeld' ./e2e

fleet-upgrade: RUNS = 20
fleet-upgrade: fleet-build ## workers of the commit OLDER are replaced one by one, while RUNS runs go on (5 min)
	older=$$(mktemp -d); trap 'rm -rf "$$older"' EXIT; git archive $(OLDER) | tar -x -C "$$older"; \
	$(MAKE) -C "$$older" build && (cd "$$older/$(FLEET)" && CGO_ENABLED=0 $(GO) build -trimpath -o ../../bin/ .) && \
	cd $(FLEET) && CLAUDE_SUPERVISE_TEST_OLDER="$$older/bin" CLAUDE_SUPERVISE_TEST_RUNS=$(RUNS) \
	CLAUDE_SUPERVISE_TEST_SEED=$(SEED) CLAUDE_SUPERVISE_TEST_PROGRAMS="$(CURDIR)/bin" \
	$(GO) test -count 1 -v -timeout 1h -run IsUpgradedWhileItsRunsGoOn ./e2e

fleet-histories: ## what the workflow of a fleet does, recorded for the release VERSION: later ones replay it
	mkdir -p $(FLEET)/internal/flow/testdata/$(VERSION)
	CLAUDE_SUPERVISE_TEST_HISTORIES="$(CURDIR)/$(FLEET)/internal/flow/testdata/$(VERSION)" $(MAKE) fleet

fleet-unit: ## the tests of the fleet that need no server (1 min where nothing is cached)
	cd $(FLEET) && $(GO) test -vet off $(FLEET_UNIT)

sizes: ## what each library adds to the program
	.ci/sizes

test: ## all tests, the real CLI included, with a sample of each long matrix (5 min)
	$(SCRATCH) \
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	CLAUDE_SUPERVISE_TEST_OLDEST_CLAUDE="$$(e2e/claude/install $(OLDEST))"; export CLAUDE_SUPERVISE_TEST_OLDEST_CLAUDE; \
	$(SHORT) -timeout 40m $(if $(filter attacks,$(WITHOUT)),-skip '$(ATTACKED)') \
	$(if $(filter raced,$(WITHOUT)),$$(grep -vxFf <($(GO) list $(RACY)) <($(GO) list ./...)),./...)

matrices: ## all of e2e but the page: scenarios, stories, kills and attacks, whole (20 min)
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	CLAUDE_SUPERVISE_TEST_OLDEST_CLAUDE="$$(e2e/claude/install $(OLDEST))"; export CLAUDE_SUPERVISE_TEST_OLDEST_CLAUDE; \
	$(GO) test -count 1 -timeout 1h -parallel $(PARALLEL) -skip InABrowser ./e2e/...

attacks: ## every attack to a run, and a sample to bare claude; make matrices plays all to both (1 min)
	$(SCRATCH) \
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	e2e/shells/install; CLAUDE_SUPERVISE_TEST_SHELLS=1 CLAUDE_SUPERVISE_TEST_EVERY_ATTACK=1 $(SHORT) -timeout 30m \
	-run '$(ATTACKED)' ./e2e ./e2e/claude ./supervisor/permission

race: ## the packages that start goroutines, under the race detector (3 min)
	$(SCRATCH) \
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	$(SHORT) -race -timeout 30m -skip '$(ALONE)' $(RACY)
	$(SHORT) -timeout 30m -run '$(ALONE)' $(LONE)

releases: ## all scenarios and attacks on each of RELEASES of the real CLI, and what procs holds of it
	for release in $(RELEASES); do \
		echo "Claude Code $$release"; \
		CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install "$$release")"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
		$(GO) test -count 1 -timeout 1h -run '$(ON_EACH)' ./e2e ./e2e/claude; \
	done

sessions: ## ordinary sessions of the real CLI, TIMES times: answered here, on their screens, killed, attacked (10 min)
	$(SCRATCH) \
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	$(GO) test -count 1 -run TestASessionThatAsksAllDay ./supervisor/sessions && \
	$(GO) test -count 1 -v -run TestAScreenAndAnAnswer ./e2e && \
	$(GO) test -count $(TIMES) -timeout 2h -run '$(OUTSIDE)' ./e2e && \
	for release in $(ASKED_ON); do \
		CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install $$release)" $(GO) test -count 1 -timeout 20m \
		-run 'TestTheQuestionsOfASession|TestAScreenThatAnswersFirst|TestACallThatASession|TestASessionThatIs' ./e2e || exit 1; \
	done

places: ## questions that are parked and answered, on each of PARKED_ON of the real CLI (10 min)
	for release in $(PARKED_ON); do \
		echo "Claude Code $$release"; \
		CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install "$$release")"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
		$(GO) test -count 1 -v -timeout 1h -run '$(PLACED)' ./e2e; \
	done

lint: ## golangci-lint in its pinned release, go vet within; for macOS all is vetted, and the programs linked (1 min)
	$(LINT) run ./...
	$(GO) test ./e2e/house
	cd $(FLEET) && $(GO) tool -modfile=../../.ci/tools/go.mod golangci-lint run -c ../../.golangci.yml $(FLEET_UNIT)
	$(DARWIN) $(GO) vet ./...
	linked=$$(mktemp -d); trap 'rm -rf "$$linked"' EXIT; $(DARWIN) $(GO) build -o "$$linked/" ./...

kills: ## every victim killed at every passing of every point, on the stand-in and around the real CLI
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	CLAUDE_SUPERVISE_TEST_EVERY_KILL=1 $(GO) test -count 1 -v -timeout 2h -run 'WhoeverDies|ASubagentWhoseProcess' ./e2e

simulation: ## SCHEDULES seeded orders of what can happen, from seed FROM on, through the engine itself
	CLAUDE_SUPERVISE_TEST_SCHEDULES=$(SCHEDULES) CLAUDE_SUPERVISE_TEST_FROM=$(FROM) \
	$(GO) test -count 1 -v -timeout 3h -run 'TestSimulation$$' ./supervisor/engine

page: ## the page of serve in a real Chromium, with axe; its pictures are kept in bin/page (2 min)
	installed=$$(e2e/page/install); mkdir -p bin/page; \
	CLAUDE_SUPERVISE_TEST_CHROMIUM=$$(head -1 <<<"$$installed") CLAUDE_SUPERVISE_TEST_AXE=$$(tail -1 <<<"$$installed") \
	CLAUDE_SUPERVISE_TEST_PICTURES=$$PWD/bin/page \
	$(GO) test -count 1 -timeout 10m -run 'InABrowser' ./e2e

page-scale: ## the server of the page under all that it is promised to bear (5 min)
	CLAUDE_SUPERVISE_TEST_PAGE_SCALE=1 $(GO) test -count 1 -v -timeout 20m -run 'TestThePageAtScale' ./e2e

races: ## eight processes answer one question, ROUNDS times, as many power cuts; all places race PLACES times
	CLAUDE_SUPERVISE_TEST_ROUNDS=$(ROUNDS) \
	$(GO) test -count 1 -v -timeout 1h -run 'AtOnce|NeverBoth|GoneOrWhole|PowerCut' ./checkpoints
	CLAUDE_SUPERVISE_TEST_PLACES=$(PLACES) $(GO) test -count 1 -v -timeout 1h -run 'OneOfAllPlaces' ./e2e

torture: ## scripted days under KILLS kills, from SEED; AGENT=real: with the real CLI
	@if [ -n "$(AGENT)" ]; then \
		CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; fi; \
	CLAUDE_SUPERVISE_TEST_KILLS=$(KILLS) CLAUDE_SUPERVISE_TEST_SEED=$(SEED) CLAUDE_SUPERVISE_TEST_AGENT=$(AGENT) \
	$(GO) test -count 1 -v -timeout 3h -run Acknowledged ./e2e/torture

trees: ## TREES trees of twenty agents under kills of their supervisors, from SEED; AGENT=real: with the real CLI
	@if [ -n "$(AGENT)" ]; then \
		CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; fi; \
	CLAUDE_SUPERVISE_TEST_TREES=$(TREES) CLAUDE_SUPERVISE_TEST_SEED=$(SEED) CLAUDE_SUPERVISE_TEST_AGENT=$(AGENT) \
	$(GO) test -count 1 -v -timeout 3h -run 'ATreeWhoseSupervisorIsKilled' ./e2e

hybrid: ## the hybrid document's script in its own time: it waits five minutes for an answer, and escalates
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	CLAUDE_SUPERVISE_TEST_SLEEP=real $(GO) test -count 1 -v -timeout 1h -parallel 16 -run 'TheHybridDocumentsScript' ./e2e

wait: ## a subagent and the main conversation of the real CLI wait WAIT for a person
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	CLAUDE_SUPERVISE_TEST_WAIT=$(WAIT) $(GO) test -count 1 -v -timeout 48h -run 'APersonTakesTheirTime' ./e2e

long: ## a hundred questions in a row, and twenty at once, on the real CLI
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	CLAUDE_SUPERVISE_TEST_AGENT=real $(GO) test -count 1 -v -run 'AHundredQuestions|TwentySubagents' ./e2e

pool: ## TASKS scripted tasks in one run: time, memory and processor for each
	CLAUDE_SUPERVISE_TEST_POOL=$(TASKS) $(GO) test -count 1 -v -timeout 1h -run 'APoolOfManyTasks' ./e2e

bench: ## what people and agents wait for, beside the machine's floors; BASE=REF: beside that commit, too
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	$(RELEASED) $(GO) run ./e2e/bench -base "$(BASE)" -only "$(ONLY)" -history "$(HISTORY)"

scale: ## one supervisor of 1 to 10,000 agents, and 1 to 1,000 supervisors on one database: where it bends
	$(RELEASED) $(GO) run ./e2e/bench -scale -only "$(ONLY)" -history "$(HISTORY)"

microbench: ## the benchmarks of all packages
	CLAUDE_SUPERVISE_TEST_CLAUDE="$$(e2e/claude/install)"; export CLAUDE_SUPERVISE_TEST_CLAUDE; \
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

fuzz: ## each fuzz target of FUZZED, for FUZZTIME
	built=$$(mktemp -d); trap 'rm -rf "$$built"' EXIT; cache="$$($(GO) env GOCACHE)/fuzz/$$($(GO) list -m)"; \
	for folder in $(FUZZED); do \
		$(GO) test -c -fuzz . -o "$$built/fuzz" "$$folder"; \
		targets=$$(cd "$$folder"; "$$built/fuzz" -test.list '^Fuzz'); \
		for target in $$targets; do \
			echo "$$folder $$target"; \
			(cd "$$folder"; "$$built/fuzz" -test.run '^$$' -test.fuzz "^$$target\$$" \
				-test.fuzztime $(FUZZTIME) -test.fuzzminimizetime 100x \
				-test.fuzzcachedir "$$cache/$${folder#./}"); \
		done; \
	done

nightly: ## all of these but microbench, one after the other; their figures are kept in bin/nightly (6 hours)
	.ci/nightly

manual: ## the man pages and the completions of a release, in bin/manual
	rm -rf bin/manual; mkdir -p bin/manual/claude-supervise/completions
	export CLAUDE_SUPERVISE_MAN=$$PWD/bin/manual/claude-supervise SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct); \
	$(GO) test -count 1 -run TestEachCommandAndTopicHasAManPage ./cmd/claude-supervise; \
	export CLAUDE_SUPERVISE_MAN=$$PWD/bin/manual/claude-supervise-fleet; \
	cd $(FLEET) && $(GO) test -count 1 -run TestEachCommandHasAManPage ./internal/commands
	for shell in bash/claude-supervise zsh/_claude-supervise fish/claude-supervise.fish; do \
		$(GO) run ./cmd/claude-supervise completion "$${shell%/*}" > bin/manual/claude-supervise/completions/"$${shell#*/}"; \
	done

release-check: ## the release of HEAD, built twice and compared, installed, tried and removed (10 min)
	.ci/release-check $(GORELEASER)

release: ## publishes the release of the tag at HEAD, where one of $GITHUB_TOKEN, $GITLAB_TOKEN and $GITEA_TOKEN lets it
	$(GORELEASER) release --clean

clean: ## what make has built in the clone
	rm -rf bin

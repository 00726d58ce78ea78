// Package supervisor decides: what a run's agents ought to be doing, what they are told, and when they are done. It is
// the core, and does nothing itself: it reads no clock, file, process or database and starts no goroutine
// (e2e/house, .golangci.yml and pure_test.go hold that). Times, ids and what was found on disk come inside the events.
//
// # Decide, save, act
//
//	        engine                     supervisor                  checkpoints
//	event ───────────▶ Step(state, event) ──▶ state ──▶ one transaction ──▶ notifications
//	  ▲                                                        │
//	  └──── effects  ◀─────────  Plan(state)  ◀────────────────┘
//
// The engine's one goroutine owns the state of a run. For each event it takes the step, saves the changed records with
// the event as history, tells what changed, and starts what the plan wants and is not yet under way. So nothing is
// shown, answered, launched or killed before it is saved, and a supervisor that takes over a run after a crash does
// nothing special: it loads the records and follows the plan.
//
// The files, from the lowest on; each uses those before it:
//
//	state.go             the state of one run (package records), and its transitions to the next
//	event.go             what can happen. Each event, and what it changes, is in the file of its subject
//	delivery.go, launch.go  what is on its way to an agent, and the process that it goes to
//	open.go, same_question.go  how a question is opened, answered, and shared
//	concern.go, and a file for each  what can hold an agent back: what it makes of the agent, plans and tells. hold.go
//	                     how long a process waits, speak.go what it is told
//	status.go            the one order of all concerns: that of an agent's status
//	plan.go, run.go, step.go  what ought to be under way; what follows from an event, for each agent and the run
//	changes.go, notice.go  what is to be saved, and told
//
// Subjects with files of their own:
//
//	called.go            calls of the tools that we serve; elicitation.go what an MCP server of the person's own asks in
//	                     a call, permission.go what is to be permitted; answered_by_hook.go what a hook of the person's
//	                     has answered; check_work.go, own_tree.go what an agent sees of its own run
//	subagent.go          what becomes of subagents that waited when their process ended; prompts/subagent.go what is
//	                     said of them
//	handler.go           what a kind of question has here beside its row in questions: permission.go, blocker.go, …
//	message.go           what is said to an agent that answers nothing; pictures.go how images go with an answer
//	pack.go              what of a run from elsewhere is believed
//	prompts.go           what of a state goes into what is said to an agent (package prompts)
//
// # The rooms
//
//	engine      the loop, what is done, what is saved
//	view        what readers see; client: what other processes leave for a run
//	filedrop    the folders of question and answer files; nested: runs started inside an agent
//	pack        a run as a file, and back; git, worktree: git plumbing, a folder of its own for an agent
//	permission  what a call does, what a project may not decide; rules: the rules engine
//	conf        what a person asks for with a run, and bounds it by; task: what is asked of agents in words
//	sessions    the questions of ordinary sessions, which nobody supervises
//	ask         what agents, claude and MCP servers ask, as questions; listen: what the messages of one process say
//	records     the records of one run as a value, and what they say by themselves of how all hangs together
//	pace        how long is waited before something is tried again
//	table       values by key: a copy costs nothing, and what differs between two is found by what they do not share
//	effect      what ought to be under way, in words; notice: what is told. label: how agents are named; exit: the codes
//	prompts     what is said to an agent: every text that it reads from us
//	images      what is a picture that an agent can be shown
//	questions   the law of questions: kinds, what an answer has to be, who may give it
//	findings    shared findings, merged; doctor: the check of the set-up; text: cutting, joining and showing text
//
// # Threat model
//
// Trusted are managed settings, the person's own settings, and the person's flags (conf/trust.go). By default nothing
// runs that Claude Code would ask a person for. This is who could want to change that, what each may do, what holds the
// rest, and the test that attacks it. TestEveryThreatHasItsCodeAndItsTest keeps the table true.
//
//	repository: may say anything to the model; may not grant or run by any settings
//		supervisor/permission/project.go, e2e TestNoSourceOfSettingsGrantsOrRunsAnything
//	repository: may narrow what is allowed; may not void the person's settings by that
//		supervisor/permission/project_settings.go, TestNothingOfAFolderIsInForceButWhatNarrowsOrShapes
//	settings: may permit and shape anything; may not break a promise of a run in silence
//		supervisor/permission/undercut.go, e2e TestQuestionsOutliveAHostileSetUp
//	settings: may deny our tools; may not have an agent told of tools that it does not have
//		supervisor/prompts/identity.go, e2e TestToolsThatThePersonDeniesAreNotNamed
//	settings: may be an administrator's, which win over ours; may not break a promise of a run in silence
//		supervisor/permission/undercut.go, e2e TestAnAdministratorsSettingsThatBreakAPromiseAreNamed
//	settings: may be new ones of a newer release; may not go by without somebody's decision
//		supervisor/permission/undercut.go, e2e/claude TestEverySettingOfTheReleaseIsDecidedAbout
//	settings: may be given by --settings; may not void ours
//		supervisor/permission/launch_settings.go, e2e TestSettingsThatWouldVoidOursAreRefused
//	settings: may have old conversations removed; may not take that of a run that waits
//		procs/claude/conversation_copy.go, e2e TestARunOutlivesTheCleanUpOfConversations
//	processes: may read the state; may not find the value of a key or a token there
//		procs/claude/whereabouts.go, TestNoValueOfAKeyOrATokenIsRemembered
//	other user: may share the machine; may not read the settings of an agent, or plant them
//		supervisor/permission/launch_settings.go, e2e TestQuestionsOutliveAHostileSetUp
//	repository: may define agents; may not give them hooks, servers or a mode
//		supervisor/permission/project_agents.go, TestNothingOfAFolderIsInForceButWhatNarrowsOrShapes
//	repository: may have a CLAUDE.md; may not have a file of the person's read by it
//		supervisor/permission/project_memory.go, e2e TestNoFileOfThePersonsIsSentByALinkOfARepository
//	model: may write anything; may not have a file of the person's attached to a message of ours by that
//		supervisor/permission/mention.go, e2e TestNoMessageAttachesAFileOfThePersons
//	repository: may have links; may not have an agent's write shown as one within the run's folder
//		supervisor/permission/locate.go, TestAFileIsShownWhereItIsWritten
//	model: may go to another folder; may not have a command shown as in the run's folder, or under a rule of another
//		supervisor/permission/preview.go, e2e TestACommandIsAskedAboutInEachFolder
//	repository: may have any file name; may not have its program run by a rule about another name
//		supervisor/rules/rules.go, e2e TestNoRuleCoversACommandWithWhiteSpaceOfItsOwn
//	repository: may be any bytes; may not hang or end a launch
//		supervisor/permission/project_settings.go, TestSettingsThatCannotBeReadAreSaid
//	repository: may have a .git/config; may not run a program by our calls of git
//		supervisor/git/shadow.go, TestNoProgramOfTheRepositoryRunsForASurvey
//	repository: may have a .git/config; may not run a program when its work tree is kept
//		supervisor/git/store.go, TestNothingOfTheRepositoryRunsForAMoment
//	repository: may have a .git/config; may not run a program by pack and unpack
//		supervisor/git/shadow.go, e2e TestNothingThatARepositoryNamesIsRun
//	repository: may name options, runs and files; may not run code when a shell completes them
//		cmd/internal/completion/completion.go, e2e TestNoShellRunsWhatItCompletes
//	model: may leave anything in its worktree; may not run anything by that when a person merges it on the board
//		supervisor/worktree/takeover.go, TestAMergeRunsNothingThatAnAgentHasChosen
//	repository: may have any file, and links to it; may not set or extend the person's config
//		cmd/internal/config/trusted.go, TestAFileThatTheAgentsOfTheRunCouldWriteIsRefused
//	model: may be let write anywhere by rules and modes; may not write to the person's config unasked
//		supervisor/permission/guarded.go, e2e TestAnAgentIsAskedAboutBeforeItWritesToThePersonsConfig
//	page: may start runs in the folders of --folder; may not start one elsewhere
//		cmd/internal/serving/folders.go, e2e TestARunIsStartedByThePage
//	task file: may narrow limits; may not raise them, or loosen
//		cmd/internal/request/request.go, TestATaskFileLoosensNothingUnlessThePersonLetsIt
//	pack: may carry work and answers; may not grant, run or answer for a person
//		supervisor/pack.go, e2e TestAForgedPackRunsNothing
//	pack: may have an agent's worktree; may not choose where it is made, nor on which branch
//		supervisor/pack/unpack_trees.go, TestAHostileWorktreeChoosesNothing
//	pack: may have any field; may not have one that nobody decided about
//		supervisor/pack/pack_trust.go, TestEveryFieldOfAPackFileIsDecidedAbout
//	pack: may have any file for an image; may not have shown what is none, or another
//		supervisor/client/images.go, TestAnImageThatWasKeptIsLookedAtAnew
//	pack: may have any file for an image; may not have a person open what is none
//		supervisor/pack/unpack.go, e2e TestTheImageOfAQuestionIsInThePackOfItsRun
//	model: may show an image of its folder with a question; may not show another file, nor one elsewhere
//		supervisor/host/host.go, e2e TestAQuestionIsAskedWithoutAnImageThatCannotBeShown
//	model: may give an image; may not have a browser take it for anything else
//		cmd/internal/web/picture.go, TestAnImageIsServedAsOne
//	model: may ask, report, delegate; may not forge a signal in a tool's output
//		signals/shell.go, TestAMarkerCountsOnlyIfItsCommandSurelyRuns
//	model: may quote signals; may not be taken for another agent
//		signals/machine.go, TestWhoseIDDecides
//	model: may make any call; may not hide what is permitted
//		supervisor/permission/preview.go, TestWhatIsShownOfACommandIsWhatRuns
//	model: may make any call; may not have it shown otherwise than it runs
//		supervisor/text/visible.go, e2e TestWhatACallHidesIsShownAndRunsAsShown
//	model: may say anything of a call; may not have it asked about, listed or audited by that
//		supervisor/calls/headline.go, TestNoHeadlineIsWhatTheModelSaysOfACall
//	model: may say anything of a call; may not have it named by that in any place
//		supervisor/ask/permission.go, e2e TestACallIsAskedAboutByWhatItDoesInAllPlaces
//	model: may call any tool of any release; may not have one permitted that nobody has decided about
//		supervisor/calls/tools.go, e2e/claude TestEveryToolOfTheReleaseIsDecidedAbout
//	model: may call any tool; may not have a rule offered that says less than it permits
//		supervisor/calls/tools.go, TestARuleIsOfferedWhereItSaysWhatItPermits
//	model: may change any file; may not have another change shown than claude makes
//		supervisor/permission/preview_edit.go, e2e/claude TestWhatIsShownOfAChangeIsWhatClaudeWrites
//	model: may have a file changed while a call waits; may not have it done to other than what was shown
//		supervisor/engine/effects.go, e2e TestNoChangeIsMadeOfAnotherFileThanWasShown
//	model: may write HTML and Markdown; may not have it be more than text in a report
//		cmd/internal/report/report.go, TestWhatOthersWroteIsTextInThePage
//	model: may write anything; may not add an element, an attribute or an address to the page
//		cmd/internal/web/draw.go, TestWhatOthersWroteMakesNoElement
//	model: may make a call of any length; may not have more permitted than is shown
//		supervisor/permission/preview.go, TestACallThatCannotBeShownWholeCanOnlyBeRefused
//	model: may be refused any call; may not have more let through than the call that was shown, once
//		supervisor/refused.go, TestStories/refusals
//	other session: may leave any process behind; may not have it answer what a session asks
//		supervisor/sessions/give.go, e2e TestNoAgentAnswersForItsSession
//	processes: may print any line; may not have another call asked about than the one that was refused
//		procs/claude/expected.go, TestARefusedCallIsToldWithWhatItWouldDo
//	model: may make any command; may not pass it under a rule that bash widens
//		supervisor/rules/command.go, TestRulesCoverNothingThatBashRunsBesides
//	model: may read of its own run unasked; may not run anything else, or read of another run, by that
//		supervisor/own_tree.go, TestNothingButReadingOnesOwnRunRunsUnasked
//	model: may print anything; may not write escapes to the terminal
//		supervisor/text/clean.go, TestCleanRemovesWhatATerminalWouldObeyOrHide
//	model: may name any path; may not have the disk walked, or stop delayed
//		supervisor/task/deliverables.go, e2e TestAReportThatNamesTheWholeDiskIsLookedAtInTheFolderOnly
//	model: may cause any effect; may not keep stop from working
//		supervisor/engine/giveup.go, TestEveryKindOfEffectHasABoundAndABlockade
//	model: may ask at any moment; may not have a key meant for another moment
//		cmd/internal/terminal/grace.go, TestNoKeysWithinTheGraceAnswerAQuestion
//	model: may ask for a command; may not have it run without the word run
//		cmd/internal/terminal/form.go, e2e TestACommandWantsTheWordRunAndNotASecondEnter
//	model: may phrase a question; may not have a preset permit a call
//		supervisor/conf/preset.go, supervisor TestAPresetGrantsNothing
//	MCP server: may ask for a form; may not look like the supervisor, or like the agent
//		supervisor/ask/elicitation.go, supervisor TestAServersTextLooksLikeNoneOfOursAndASecretIsWarnedOf
//	MCP server: may ask for a form; may not be answered by a preset, a file, or an answer given to another
//		supervisor/conf/preset.go, supervisor TestNoAnswerGivenInAdvanceAnswersAServer
//	MCP server: may ask for a secret; may not have it written down while it is typed
//		cmd/internal/terminal/unsent.go, TestADraftIsKeptAtEachKeyUntilItsQuestionIsGone
//	MCP server: may ask for anything; may not be told what no person has said
//		supervisor/ask/elicitation.go, supervisor TestAServerThatAsksForWhatNobodyCanAnswerIsToldOnlyWhatAPersonSays
//	MCP server: may ask at any length, and for any number of things; may not be told by that what no person has said
//		procs/claude/elicitation.go, e2e TestAServerThatAsksTooMuchIsToldWhatThePersonSays
//	MCP server: may wait while a run is left; may not be told by that what no person has said
//		procs/claude/dialogue.go, e2e TestAServerIsToldNothingWhenARunIsLeft
//	model: may make a call that a hook of the person's puts off; may not have it made by a relaunch
//		procs/claude/flags.go, e2e TestACallThatWasPutOffIsNotMadeAtTheRelaunch
//	model: may send its own subagents messages; may not send one to another session of the person
//		supervisor/conf/config.go, e2e TestNoRunReachesAnotherSessionOfThePerson
//	other session: may be the person's own; may not begin a turn in a run, or have an agent do anything
//		supervisor/permission/launch_settings.go, e2e TestNoSessionOfThePersonReachesARun
//	model: may write any file that it is let; may not write a schedule for later sessions of the person unasked
//		supervisor/permission/guarded_schedule.go, e2e TestNoScheduleIsWrittenUnasked
//	model: may work in a mode that asks nobody; may not do by that what a person is always asked about
//		procs/claude/before_call.go, e2e TestNoScheduleIsWrittenUnasked
//	repository: may have a schedule; may not keep a run from its end by that
//		supervisor/engine/child.go, e2e TestAScheduleOfTheFolderKeepsNoRunFromItsEnd
//	model: may send its own subagents messages; may not see which other sessions the person has
//		supervisor/conf/config.go, supervisor TestWhatReachesOtherSessionsIsForbiddenUnlessThePersonLetsIt
//	model: may schedule a prompt for its own session; may not leave one behind for later sessions of the person
//		supervisor/conf/config.go, e2e TestNoScheduleOutlivesARun
//	model: may start runs inside an agent; may not answer, stop or resume its own
//		procs/inside.go, e2e TestScripts
//	model: may start runs inside an agent; may not leave the tree and its budget
//		procs/inside.go, e2e TestARunInsideAnAgentCannotLeaveItsTreeByItsEnvironment
//	processes: may have any environment; may not have a config of theirs read
//		cmd/internal/config/config.go, TestInsideAnAgentNoConfigIsRead
//	processes: may daemonize, hide; may not outlive their launch
//		procs/sweep.go, TestNoTrickOutlivesAnEnd
//	processes: may ask by a question file; may not have another agent's question file taken for theirs, or removed
//		supervisor/records/asked.go, TestTheAskerOfAQuestionFileIsTheOneAgentThatCanHavePutItThere
//	other user: may share the machine; may not read state, or answer
//		checkpoints/dirs.go, TestAStateFolderThatIsOpenToOthersIsClosed
//	other user: may share the machine; may not have written the person's config
//		cmd/internal/config/trusted.go, TestAFileThatOthersCouldHaveWrittenIsRefused
//	network: may reach the page; may not answer without a button's secret, nor with it anything but its question, once
//		cmd/internal/notices/network.go, e2e TestAQuestionIsAnsweredByAButtonOnThePhone
//	network: may guess buttons; may not do so fast
//		cmd/internal/web/press.go, TestWhoTriesWrongButtonsIsSlowedDownAndARightOneIsTaken
//	network: may have a receiver that is slow or down; may not hold up a run
//		cmd/internal/notify/outbox.go, TestADeadReceiverHoldsNothingUp
//	network: may have a receiver that replies anything; may not have what is secret sent elsewhere
//		cmd/internal/notify/message.go, TestWhatAReceiverRepliesDecidesWhetherItIsTriedAgain
//	network: may have a receiver that replies anything; may not have its words shown as ours
//		cmd/internal/notify/message.go, TestTheReasonThatAReceiverGivesIsNotRepeated
//	other user: may share the machine; may not lead /tmp/workflows elsewhere
//		checkpoints/files/private.go, TestALinkInThePlaceOfTheFolderOfWorkflowsIsNotFollowed
//	other user: may share the machine; may not leave a question or an answer by file
//		supervisor/filedrop/folders.go, TestAQuestionIsReadFromARegularFileOfOursOnly
//	other user: may share the machine; may not keep runs from starting by a folder in /tmp
//		checkpoints/waker.go, TestAWakeUpSocketIsInAFolderOfOursOnly
//
//	server: may keep and repeat what was said in a fleet; may not have it taken for another run, or as another thing
//		cmd/claude-supervise-fleet/internal/seal/binding.go, TestAPayloadIsOpenedOnlyAsWhatItWasSealedFor
//	server: may begin a run over again by what it keeps; may not have any of it done again
//		cmd/claude-supervise-fleet/internal/worker/claim.go, cmd/claude-supervise-fleet/e2e TestWithoutTheKeyNothingIsDone
//	server: may repeat a stop or an answer; may not stop what was resumed since, or answer what is asked now
//		cmd/claude-supervise-fleet/internal/flow/workflow.go, TestAStopThatIsRepeatedStopsNothing
//	server: may take the task of a worker; may not say how the run has ended
//		cmd/claude-supervise-fleet/internal/flow/bound.go, cmd/claude-supervise-fleet/e2e TestAStolenTaskEndsNothing
//	server: may say that something has failed; may not say as what, in the name of a worker
//		cmd/claude-supervise-fleet/internal/seal/failure.go, TestAnErrorIsOfTheTypeThatItWasSealedAs
//	server: may put anything into the lists of a fleet; may not keep people from the rest of them
//		cmd/claude-supervise-fleet/internal/fleet/fleet.go, TestWhatOthersPutIntoTheListsKeepsNobodyFromThem
//	blob store: may keep and swap snapshots; may not have one taken for that of another run or epoch
//		cmd/claude-supervise-fleet/internal/seal/file.go, TestASealedFileOpensOnlyWholeAndUnderItsName
//	other user: may reach the ports of fleet dev; may not be let in by any of them
//		cmd/claude-supervise-fleet/internal/dev/server.go, cmd/claude-supervise-fleet/e2e TestFleetDevLetsInWhoHasItsKey
//
// What is not held: a determined program of the same user (it may write the database, or type into the terminal); what
// Claude Code itself does not ask about; programs that a folder's .git/config names for the git of the agent.
// `claude-supervise help limits` lists these.
package supervisor

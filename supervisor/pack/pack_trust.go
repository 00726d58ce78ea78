package pack

// What of a pack file is trusted for what. Anybody can have written one, and nothing authenticates it, not even one
// that was packed on this machine. So nothing in it grants, runs or answers anything here; what it grants is dropped or
// asked anew, and listed by unpack. The person grants it here, to unpack or resume.
//
// A fleet seals what it unpacks. It vouches for the file (UnpackOptions.Vouched): rules, those of answers included,
// answers in advance, answers for all like questions and retries hold then. Programs, files and the rest stay
// distrusted.
//
//	data      shown to people and told to agents, as any text of an agent's. What follows from it, a person lets follow
//	form      ids, order and states: checked to be those of a run (checkpoints.Exported.Check, checkRecords),
//	          else refused
//	narrow    taken where it lets the run do less than the person's own defaults, or here where it was started here
//	anew      answers to decisions: what they let happen and has not happened is asked anew, the rest is taken back
//	          (distrust)
//	sifted    what is known to be harmless is taken, the rest is dropped (harmless, distrust)
//	here      of another machine: dropped, or found here
//
// One line for each type and kind of trust. TestEveryFieldOfAPackFileIsDecidedAbout holds it to the types.
//
//	manifest      form    format run folder work git
//	manifest      data    program created
//	manifest      form    snapshot worktrees
//	snapshotManifest form number epoch base sum after removed
//	snapshotManifest data at lost
//	GitManifest   form    head prefix object_format
//	GitManifest   data    branch remotes
//	Exported      form    schema run agents launches questions deliveries events notes taken
//	Run           form    id root status epoch
//	Run           data    name reason since started_at ended_at exit_code leaving announced left limited limited_by
//	Run           data    pressure merged keyed_since
//	Run           here    cwd pid bell program packed from_pack
//	Run           sifted  config
//	Run           here    snapshots taken_over unleased
//	Run           data    forked
//	Forked        data    run agent question session before folder
//	Snapshots     here    number quiet covered at problem wanted failures tried_at too_large
//	WantedSnapshot here   seq agents
//	TakenOver     here    epoch by at in leased
//	Config        sifted  flags demo deny hold on_question relaunch on_silence silent_after
//	Config        here    claude exec notify policy trace_parent toolless where
//	Whereabouts   here    values named
//	Config        anew    answers allow allow_project allow_sessions keep_processes
//	Config        narrow  permissions delegate max_parallel max_depth max_agents budget retries
//	Config        here    snapshots
//	SnapshotTo    here    dir keep
//	Config        data    max_held accept_ids no_notify worktree
//	Preset        anew    key value by from_file demo
//	Pressure      data    parallel by at
//	Merged        data    done tries files problem
//	MergedFile    data    name merged lines broken aside
//	Agent         form    id run parent depth seq status launches exceeds continued_by
//	Agent         form    failures tool_uses turns cost_usd input_tokens output_tokens cache_read_tokens
//	Agent         form    cache_creation_tokens worked finish_by rejected estimate
//	Agent         data    task reason since not_before hold_until report sayings go_on fresh checkpoint stop_only
//	Agent         data    stop_wanted service_tier
//	Agent         data    fault fault_reason progress sent_on told_missing priority group queued_at ended_at
//	Agent         data    limited_by overdue
//	Agent         data    told_overdue success_criteria deliverables subagents parts
//	Agent         sifted  session_id kept delegated from
//	Agent         narrow  budget
//	Agent         here    without cwd placing placed tidying gone beyond worktree
//	Report        data    status summary deliverables files metrics issues recommendations duration checked missing
//	Report        data    by_subagent
//	PartReport    form    n
//	PartReport    data    by at status summary deliverables files metrics issues recommendations duration checked missing
//	PartReport    data    by_subagent
//	OutboxItem    form    group
//	OutboxItem    data    key text from at after_turn images beside
//	Kept          sifted  copy hand
//	Kept          data    path form problem
//	Progress      data    percent step eta of at
//	Delegated     anew    question
//	Delegated     sifted  type model
//	Delegated     data    independence name item after reason context coordination estimated max_turns fingerprint
//	Delegated     data    nested told
//	Nested        data    clients seen work
//	Turn          data    launch before
//	Budget        narrow  cost_usd tokens time turns
//	Worktree      form    state branch base
//	Worktree      here    path repo from tip moment
//	MomentOf      here    run id
//	Worktree      data    lacks loose commits problem
//	Launch        form    agent n epoch state turns cost_usd used share_usd max_turns
//	Launch        data    resume started_at ended_at turn heard version background wake_ups turn_due let_go excused
//	Launch        data    untold end agent_types
//	Launch        data    at not_at
//	Launch        data    end_reason outcome foreign surveyed silent besides
//	Launch        here    pid start_ticks gate transcript replies
//	Task          data    id name subagent
//	Gate          here    request block
//	Stall         data    since doing
//	Reply         here    request text is_error child await
//	Await         here    call agent children until
//	Used          form    input_tokens output_tokens turns reported
//	Question      form    id run agent group index kind state child signal asker
//	Question      data    who own header text context cut options multi_select validate optional urgent asked_at gone
//	Question      data    fingerprint own_words from remark assumed
//	Question      data    images image
//	Question      data    declined skipped answered_at answered_by delivering by_rule like revoked nested exceeded
//	Question      anew    answer rule grant_spent for_alike ran prepared
//	Question      sifted  tool kept file told
//	Question      here    noticed moment no_moment
//	Image         sifted  hash
//	Image         data    name type width height bytes
//	Assumed       data    text affects made unknown
//	Option        data    label description preview
//	ToolCall      form    launch
//	ToolCall      data    request tool_use name input served from line
//	ToolCall      sifted  cwd
//	Subagent      data    id tool_use type task prompt done depth by interrupted
//	Ran           anew    epoch done exit output
//	Exceeded      anew    what bound used
//	FileAsked     sifted  id polls drop ran lost
//	Delivery      form    uuid agent seq state launch turn groups file
//	Delivery      data    key text tool messages now created_at arrived_at
//	Delivery      anew    reply grant
//	Delivery      data    results images
//	CallResult    data    tool_use text is_error served images
//	Event         form    run seq type
//	Event         data    at doc
//	InboxEntry    form    seq run
//	InboxEntry    anew    kind question value alike images
//	InboxEntry    data    agent skip decline only by at doc
//
// What an open permission, delegation, command or budget shows is no data: it is written anew from what is decided
// about (showAnew), so that nobody allows one thing and another happens. Agents that the task itself states, and that
// have not begun, begin with resume like the task: no more than the run may have agents.

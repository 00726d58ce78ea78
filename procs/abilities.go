package procs

// Abilities are what an agent can do, as far as agents differ in it. They are data: who supervises an agent asks for an
// ability, and never which agent it is. Of one agent, releases differ too: see Release.
type Abilities struct {
	Flag string // of ours, that names its program; messages call the agent by it

	OnPath     bool // a program of a known name, looked for in $PATH; else only a person names it
	PlaysDemos bool // its protocol is that of the stand-in, which plays in its place

	// takes prompts at any time, and ends turns without ending; else each of its processes is one turn, begun by the
	// prompt that it is started with
	TakesInput      bool
	Resumes         bool // a later process continues its conversation; else each begins the work again
	KeepsTranscript bool // shows, once its process has ended, what had reached it
	UsesOurID       bool // what it signals has the id that we gave it, or is not its own; else it may have one of its own
	ServesTools     bool // calls tools of ours

	TakesFlags     bool // those of claude, which a person hands on
	ReadsSettings  bool // those of claude, of the person and of the folder
	AsksPermission bool // for calls that no rule permits
	ReportsUsage   bool // says what it costs while it works, and so can be held to a budget
}

// OfClaude are the abilities of the CLI.
var OfClaude = Abilities{
	Flag: "--claude", OnPath: true, PlaysDemos: true,
	TakesInput: true, Resumes: true, KeepsTranscript: true, UsesOurID: true, ServesTools: true,
	TakesFlags: true, ReadsSettings: true, AsksPermission: true, ReportsUsage: true,
}

// OfCommand are those of any command that is run in claude's place.
var OfCommand = Abilities{Flag: "--exec"}

package web

import (
	"cmp"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor/images"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
)

// card draws a question: what is asked, by whom, and the form that answers it, or what was answered.
func (d drawer) card(c shownCard) g.Node {
	return html.Article(html.Class(c.class()), html.ID("question-"+c.ID), markup.Attribute("data-id", c.ID),
		g.If(c.Run != "", markup.Attribute("data-run", c.Run)),
		g.If(c.Run != "" && c.AgentID != "", markup.Attribute("data-agent", c.AgentID)),
		markup.Attribute("data-v", c.Version()), g.If(c.Secret, markup.Flag("data-secret")),
		g.If(c.Open() && service.Can[service.Reminder](d.config.Service), markup.Flag("data-before")),
		markup.Aria("labelledby", "text-"+c.ID), html.TabIndex("-1"),
		markup.Lines(
			g.If(c.Open(), foldedTo(c)),
			d.whatAsks(c),
			questionText(c),
			g.If(c.Asker != "", paragraph("meta", c.Asker)),
			d.questionContext(c),
			d.pictures(c.ID, c.Shows...),
			g.If(c.Task != "", html.Details(html.Summary(g.Text("The task alone, to copy and change")),
				markup.Evidence("The task", g.Text(c.Task)))),
			html.P(html.Class("meta"), g.Text("asked "), html.A(markup.PathOf("/questions/", c.ID).Href(), html.Title(c.ID),
				moment(c.AskedAt))),
			g.If(c.Folder != "", d.folder(c.Folder)),
			d.whatBecomes(c),
			g.Iff(!c.Open() && c.AgentID != "" && service.Can[service.Messenger](d.config.Service),
				func() g.Node { return notSentForm(c) }),
		))
}

func (c shownCard) class() string {
	class := "card"
	if c.Urgent {
		class += " urgent"
	}
	if !c.Open() {
		class += " closed"
	}
	return class
}

// foldedTo draws the line that a question is on a phone while another one is open. The script shows it.
func foldedTo(c shownCard) g.Node {
	return html.Button(html.Type("button"), html.Class("line"), markup.Aria("expanded", "false"),
		html.Span(html.Class("label"), g.Text(strings.Join(strings.Fields(c.Text), " "))), small(c.RunName))
}

// whatAsks draws the line above a question: of what kind it is, and of which agent and run.
func (d drawer) whatAsks(c shownCard) g.Node {
	agent, run := markup.Some(c.Agent), g.Node(nil)
	if c.Run != "" {
		agent = g.If(c.Agent != "", named(markup.PathOf("/agents/", c.AgentID), c.AgentID, c.Agent))
		run = named(markup.PathOf("/runs/", c.Run), c.Run, c.RunName)
	}
	return html.P(html.Class("meta"), markup.Dotted(
		g.If(c.Urgent, html.Strong(g.Text("urgent"))),
		html.Span(html.Class("kind"), g.Text(c.Kind)),
		g.If(c.Header != c.Kind, markup.Some(c.Header)),
		agent,
		run,
	))
}

func questionText(c shownCard) g.Node {
	class := "text"
	if c.Evidence {
		class += " evidence"
	}
	return html.H3(html.Class(class), html.ID("text-"+c.ID), g.Text(c.Text))
}

// questionContext draws what was said with a question; of what is to be permitted, each line that a change adds or
// removes as such.
func (d drawer) questionContext(c shownCard) g.Node {
	switch {
	case c.Context == "":
		return nil
	case c.Evidence:
		return markup.Evidence("What is to be permitted", d.diff(c.Context))
	}
	return paragraph("text context", c.Context)
}

// whatBecomes draws the answer of a question, or how it is given.
func (d drawer) whatBecomes(c shownCard) g.Node {
	switch {
	case c.Open() && c.Terminal:
		return onTerminal(c)
	case c.Open():
		return d.answerForm(c)
	}
	return g.Group{
		g.If(!c.Changing && c.Error != "", alert(g.Text(c.Error))),
		outcome(c),
		g.If(c.Answer != "", paragraph("text reply", c.Answer)),
		d.pictures(c.ID, c.With...),
		g.Iff(c.Left && service.Can[service.Resumer](d.config.Service), func() g.Node {
			return g.Group{html.P(g.Text("Nobody supervises its run. The answer reaches the agent once it is resumed.")),
				resumeForm(c.Run, c.RunName)}
		}),
		g.Iff(c.Changeable, func() g.Node {
			return html.Details(g.If(c.Changing, markup.Flag("open")),
				html.Summary(g.Text("Change the answer, while it has not reached the agent")), markup.Lines(d.answerForm(c)))
		}),
		g.Iff(c.Again && !c.Changeable && service.Can[service.Forker](d.config.Service),
			func() g.Node { return againForm(c) }),
	}
}

// notSentForm offers what was typed for a question that others have answered as a message to the agent. The script
// knows what that is, and shows it.
func notSentForm(c shownCard) g.Node {
	return post(markup.PathOf("/agents/", c.AgentID, "/message"), "act unsent", markup.Flag("hidden"), markup.Lines(
		html.Label(html.For("unsent-"+c.ID), g.Text("What you typed was not sent. It can be a message to the agent")),
		textarea("unsent-"+c.ID, "text", 2, html.Required()),
		html.P(html.Class("buttons"), html.Button(g.Text("Send as a message")),
			html.Button(html.Class("quiet"), html.Type("button"), g.Text("Discard"))),
	))
}

// onTerminal says where a question is answered that the page does not answer.
func onTerminal(c shownCard) g.Node {
	where := g.Node(g.Group{g.Text("This runs as you, so it is answered on a terminal: "), command(c.Command)})
	switch {
	case c.Error != "":
		where = g.Text(c.Error)
	case c.Elsewhere != "":
		where = g.Text(c.Elsewhere)
	}
	return html.P(html.Class("error"), html.ID("error-"+c.ID), where)
}

// outcome says how a question was closed, and by whom.
func outcome(c shownCard) g.Node {
	text := "Answered"
	switch {
	case c.Skipped:
		text = "Skipped"
	case c.Declined:
		text = "Declined"
	case c.State == "withdrawn":
		text = "Withdrawn: nobody waits for its answer now"
	}
	if c.By != "" {
		text += " by " + c.By
	}
	if c.Answer != "" {
		text += ":"
	}
	return paragraph("outcome", text)
}

// answerForm draws what a question takes: options, words, or both.
func (d drawer) answerForm(c shownCard) g.Node {
	takes, shows := d.config.Service.(service.Imager)
	shows = shows && c.Images
	return post(markup.PathOf("/questions/", c.ID), "answer", g.If(shows, html.EncType(partsKind)), markup.Lines(
		g.If(!c.Open(), html.Input(html.Type("hidden"), html.Name("change"), html.Value("yes"))),
		g.Iff(!c.Buttons, func() g.Node { return options(c) }),
		ownWords(c),
		g.If(c.Instead, g.Group{
			html.Label(html.For("instead-"+c.ID), g.Text("Of a denial: what to do instead")),
			textarea("instead-"+c.ID, "instead", 1, g.Text(c.Given.Instead)),
		}),
		g.Iff(shows, func() g.Node { return imageField(c, takes.ImageTypes()) }),
		g.If(c.Misfilled(), alert(html.ID("error-"+c.ID), g.Text(c.Error))),
		g.If(c.Sharable, html.Label(html.Class("option"),
			html.Input(html.Type("checkbox"), html.Name("all_like"), html.Value("yes")),
			html.Span(g.Text("Also for all questions of this run that are like it, now and later")))),
		g.Iff(c.Buttons, func() g.Node { return optionButtons(c) }),
		g.If(!c.Buttons || c.Skippable, html.P(html.Class("buttons"), g.If(!c.Buttons, does("answer", "", "Answer")),
			g.If(c.Assumes, does("assumed", "quiet", "As assumed")),
			g.If(c.Skippable, does("skip", "quiet", "Continue without it")))),
		g.If(c.Declinable, html.Details(html.Summary(g.Text("Decline to answer")), markup.Lines(
			html.Label(html.For("why-"+c.ID), g.Text("Why")),
			textarea("why-"+c.ID, "why", 1),
			does("decline", "quiet", "Decline"),
		))),
	))
}

// imageField draws the field for images that belong to an answer. The script shows what is in it, and puts there what
// is pasted and dropped.
func imageField(c shownCard, types []string) g.Node {
	id := "image-" + c.ID
	if !c.Open() {
		id += "-change"
	}
	return html.Div(html.Class("images"), markup.Lines(
		html.Label(html.For(id), g.Text("Images for the agent")),
		html.Input(html.Type("file"), html.ID(id), html.Name(imagePart), html.Multiple(),
			html.Accept(strings.Join(types, ",")), markup.Attribute("data-bytes", strconv.Itoa(images.MaxBytes)),
			markup.Attribute("data-sum", strconv.Itoa(images.MaxSum)),
			markup.Attribute("data-many", strconv.Itoa(images.MaxMany))),
	))
}

func options(c shownCard) g.Node {
	if len(c.Options) == 0 {
		return nil
	}
	legend, kind := "Options", "radio"
	if c.MultiSelect {
		legend, kind = "Options, any number of them", "checkbox"
	}
	return html.FieldSet(html.Legend(html.Class("hidden"), g.Text(legend)),
		markup.Lines(g.Map(c.Options, func(o Option) g.Node { return option(o, kind, c.Checked(o.Place)) })))
}

func option(o Option, kind string, checked bool) g.Node {
	if o.Blank {
		return nil
	}
	return html.Label(html.Class("option"),
		html.Input(html.Type(kind), html.Name("option"), html.Value(strconv.Itoa(o.Place)), g.If(checked, html.Checked())),
		html.Span(
			html.Span(html.Class("label"), g.Text(o.Label)),
			small(o.Description),
			g.If(o.Preview != "", html.Span(html.Class("preview"), g.Text(o.Preview))),
		))
}

// decisions are the words of the page for what a permission can be answered with, and what they mean where that is not
// what the option itself says.
var decisions = map[string]struct{ label, means string }{
	questions.Allow:    {"Allow", ""},
	questions.AllowRun: {"Allow from now on", ""},
	questions.Deny:     {"Deny", "with what you have written"},
	questions.DenyStop: {"Deny and stop", "the agent ends"},
}

// optionButtons draws each option as a button that answers. None stands out.
func optionButtons(c shownCard) g.Node {
	return html.Div(html.Class("choices"), markup.Lines(g.Map(c.Options, func(o Option) g.Node {
		if o.Blank {
			return nil
		}
		shown, known := decisions[o.Label]
		if !known {
			shown.label = o.Label
		}
		return html.Button(html.Class("quiet"), html.Name("option"), html.Value(strconv.Itoa(o.Place)),
			html.Span(html.Class("label"), g.Text(shown.label)), small(cmp.Or(shown.means, o.Description)))
	})))
}

func small(text string) g.Node { return g.If(text != "", html.Small(g.Text(text))) }

// ownWords draws the field for what no option says.
func ownWords(c shownCard) g.Node {
	if !c.OwnWords {
		return nil
	}
	label := c.Words
	if c.Rule != "" {
		label += " (" + c.Rule + ")"
	}
	return g.Group{
		html.Label(html.For("words-"+c.ID), g.Text(label)),
		textarea("words-"+c.ID, "words", 2,
			g.If(c.Misfilled(), g.Group{markup.Aria("invalid", "true"), markup.Aria("describedby", "error-"+c.ID)}),
			g.Text(c.Given.Words)),
	}
}

func textarea(id, name string, rows int, more ...g.Node) g.Node {
	return html.Textarea(html.ID(id), html.Name(name), html.Rows(strconv.Itoa(rows)), g.Group(more))
}

// does draws a button that says what the form is to do.
func does(what, class, label string) g.Node {
	return html.Button(g.If(class != "", html.Class(class)), html.Name("do"), html.Value(what), g.Text(label))
}

package web

import (
	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
)

// problem draws what is wrong; for who has no token, the form that takes it.
func (d drawer) problem(f frame, p problem, enters bool) g.Node {
	shown := []g.Node{html.H1(g.Text(f.Title))}
	wrong := enters && p.Field == "token"
	if enters {
		shown = append(shown, g.If(wrong, alert(html.ID("error"), g.Text("That token is wrong: it is not that of this page, "+
			"or no longer."))),
			html.P(g.Text("This page needs the token: open the address that "),
				command(d.config.Program+" serve"), g.Text(" has printed, or give the token here.")))
	} else {
		shown = append(shown, alert(d.clean(p.Error)))
	}
	if p.Command != "" {
		shown = append(shown, html.P(g.Text("On a terminal: "), command(p.Command)))
	}
	if enters {
		shown = append(shown, tokenForm(wrong))
	} else {
		shown = append(shown, html.P(html.A(markup.Path("/").Href(), g.Text("Questions and runs"))))
	}
	return d.document(f, markup.Lines(content(shown...)))
}

func tokenForm(wrong bool) g.Node {
	return html.Form(markup.Path("/").Action(), markup.Lines(
		html.Label(html.For("token"), g.Text("The token, which is what follows token= in that address")),
		html.Input(html.ID("token"), html.Name("token"), html.Type("password"), html.AutoComplete("current-password"),
			html.Required(), g.If(wrong, g.Group{markup.Aria("invalid", "true"), markup.Aria("describedby", "error"),
				html.AutoFocus()})),
		html.P(html.Class("buttons"), html.Button(g.Text("Open the page"))),
	))
}

// done draws what becomes of something that was done.
func (d drawer) done(back markup.Address, becomes string) g.Node {
	return d.page(frame{Title: "Done"},
		html.H1(g.Text("Done")),
		html.P(html.Class("text"), d.clean(becomes)),
		html.P(html.A(back.Href(), g.Text("Continue"))),
	)
}

// sure asks whether something is to be done to a run or an agent, where no script asks. sent goes along with it.
func (d drawer) sure(does, who, asks, means string, to, back markup.Address, sent ...g.Node) g.Node {
	return d.page(frame{Title: does + " " + d.config.Clean(who) + "?"},
		html.H1(g.Text(does+" "+d.line(who)+asks)),
		html.P(html.Class("text"), d.clean(means)),
		post(to, "", markup.Lines(
			g.Group(sent),
			html.P(html.Class("buttons"),
				html.Button(html.Class("danger"), html.Name("sure"), html.Value("yes"), g.Text(does)), g.Text(" "),
				html.A(back.Href(), g.Text("Cancel"))),
		)),
	)
}

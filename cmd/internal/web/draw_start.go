package web

import (
	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
)

// start draws the form that starts a run.
func (d drawer) start(p startPage) g.Node {
	heading := html.H1(g.Text("Start a run"))
	if len(p.Folders) == 0 {
		return d.page(p.frame, heading, html.P(g.Text("Runs are started in folders that "),
			command(d.config.Program+" serve --folder DIR"), g.Text(" names; it names none.")))
	}
	return d.page(p.frame, heading, post(markup.Path("/start"), "", markup.Lines(
		html.Input(html.Type("hidden"), html.Name("key"), html.Value(p.Key)),
		d.wrong(p, ""),
		html.Label(html.For("prompt"), g.Text("The task")),
		textarea("prompt", "prompt", 6, p.invalid("prompt"), g.Text(p.Prompt)),
		d.wrong(p, "prompt"),
		html.Label(html.For("task"), g.Text("Or a task file")),
		html.Input(html.ID("task"), html.Name("task"), p.invalid("task"), html.Value(p.Task),
			html.Placeholder("release.yaml"), html.AutoComplete("off")),
		d.wrong(p, "task"),
		html.Label(html.For("folder"), g.Text("Folder")),
		d.folderChoice(p),
		html.Label(html.For("below"), g.Text("A folder in it, if not itself")),
		html.Input(html.ID("below"), html.Name("below"), p.invalid("cwd"), html.Value(p.Below), html.AutoComplete("off")),
		d.wrong(p, "cwd"),
		html.Label(html.For("name"), g.Text("A name for it, if you like")),
		html.Input(html.ID("name"), html.Name("name"), html.Value(p.Name), html.AutoComplete("off")),
		html.P(html.Class("buttons"), html.Button(g.Text("Start"))),
	)))
}

func (d drawer) folderChoice(p startPage) g.Node {
	return html.Select(html.ID("folder"), html.Name("folder"), g.Map(p.Folders, func(folder string) g.Node {
		return html.Option(g.If(folder == p.Folder, html.Selected()), html.Value(folder), g.Text(d.line(folder)))
	}))
}

// invalid marks the field that has to be filled in otherwise, which is named as in JSON.
func (p startPage) invalid(field string) g.Node {
	return g.If(field == p.Wrong.Field,
		g.Group{markup.Aria("invalid", "true"), markup.Aria("describedby", "error"), html.AutoFocus()})
}

// wrong says below a field what is wrong with it; for "", above all, what is wrong with none alone.
func (d drawer) wrong(p startPage, field string) g.Node {
	if field != p.Wrong.Field || p.Wrong.Error == "" {
		return nil
	}
	return html.P(html.Class("error"), html.Role("alert"), html.ID("error"), d.clean(p.Wrong.Error),
		g.If(p.Wrong.Command != "", g.Group{g.Text(": "), command(p.Wrong.Command)}))
}

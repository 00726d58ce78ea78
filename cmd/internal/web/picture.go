package web

import (
	"net/http"
	"strconv"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/supervisor/service"
)

// pictureRules let an image do nothing, whatever a browser takes it for.
const pictureRules = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"

// image serves an image of a question, which an agent has given, or of its answer. What it is its bytes have said.
func (s *Server) image(w http.ResponseWriter, r *http.Request) error {
	data, mediaType, err := s.config.Service.(service.Imager).Image(r.Context(), r.PathValue("id"),
		r.URL.Query().Get("hash"))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", pictureRules)
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	h.Set("Content-Disposition", "inline")
	h.Set("Cache-Control", "private, max-age=3600, immutable") // another image has another address
	_, _ = w.Write(data)                                       // who has gone needs it no more
	return nil
}

// pictures draws images of a question, each of which a click opens whole.
func (d drawer) pictures(question string, all ...Picture) g.Node {
	if len(all) == 0 || !service.Can[service.Imager](d.config.Service) {
		return nil
	}
	return g.Map(all, func(p Picture) g.Node {
		at := markup.PathOf("/questions/", question, "/image?").With("hash", p.Hash)
		return html.Figure(html.Class("picture"),
			html.A(at.Href(), html.Target("_blank"), html.Rel("noopener"),
				html.Img(at.Src(), html.Alt(p.Name), html.Loading("lazy"), html.Width(strconv.Itoa(p.Width)),
					html.Height(strconv.Itoa(p.Height)))),
			html.FigCaption(small(p.Words)))
	})
}

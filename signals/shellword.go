package signals

import "strings"

// readWord reads a word and takes its quotes off. What a substitution would put in is left out.
func (p *shell) readWord() string {
	var b strings.Builder
	for p.at < len(p.src) {
		c := p.src[p.at]
		switch c {
		case ' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')':
			return b.String()
		case '\'':
			p.at++
			p.single(&b)
		case '"':
			p.at++
			p.double(&b)
		case '\\':
			p.at++
			if p.at < len(p.src) {
				if p.src[p.at] != '\n' {
					b.WriteByte(p.src[p.at])
				}
				p.at++
			}
		case '$', '`':
			p.substitution(&b)
		default:
			b.WriteByte(c)
			p.at++
		}
	}
	return b.String()
}

func (p *shell) single(b *strings.Builder) {
	text, _, _ := strings.Cut(p.src[p.at:], "'")
	b.WriteString(text)
	p.at = min(p.at+len(text)+1, len(p.src))
}

func (p *shell) double(b *strings.Builder) {
	for p.at < len(p.src) {
		switch c := p.src[p.at]; c {
		case '"':
			p.at++
			return
		case '\\':
			p.at++
			if p.at == len(p.src) {
				return
			}
			if next := p.src[p.at]; strings.IndexByte("\"\\$`", next) >= 0 {
				b.WriteByte(next)
			} else if next != '\n' {
				b.WriteByte('\\')
				b.WriteByte(next)
			}
			p.at++
		case '$', '`':
			p.substitution(b)
		default:
			b.WriteByte(c)
			p.at++
		}
	}
}

// substitution takes what begins with $ or a backtick. The names of variables are kept as they stand.
func (p *shell) substitution(b *strings.Builder) {
	switch rest := p.src[p.at:]; {
	case rest[0] == '`':
		p.at++
		text, _, _ := strings.Cut(p.src[p.at:], "`")
		p.at = min(p.at+len(text)+1, len(p.src))
	case strings.HasPrefix(rest, "$("):
		p.at++
		p.skipParens()
	case strings.HasPrefix(rest, "$'"):
		p.at += 2
		for p.at < len(p.src) && !p.skip('\'') {
			if p.skip('\\') && p.at < len(p.src) {
				switch c := p.src[p.at]; c {
				case 'n':
					b.WriteByte('\n')
				case '\\', '\'', '"':
					b.WriteByte(c)
				default:
					b.WriteByte('\\')
					b.WriteByte(c)
				}
				p.at++
				continue
			}
			if p.at < len(p.src) {
				b.WriteByte(p.src[p.at])
				p.at++
			}
		}
	default:
		b.WriteByte(rest[0])
		p.at++
	}
}

// skipParens skips to the parenthesis that closes the one at hand.
func (p *shell) skipParens() {
	var none strings.Builder
	for depth := 0; p.at < len(p.src); {
		c := p.src[p.at]
		p.at++
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return
			}
		case '\\':
			p.at = min(p.at+1, len(p.src))
		case '\'':
			p.single(&none)
		case '"':
			for p.at < len(p.src) && p.src[p.at] != '"' {
				if p.src[p.at] == '\\' {
					p.at++
				}
				p.at++
			}
			p.at = min(p.at+1, len(p.src))
		}
	}
}
